"""A run as a page of a terminal: status, claims with their verdicts, budgets, the last events."""

import time

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from vera.attestation.outcome import UNCHECKED, Outcome
from vera.attestation.report import counted
from vera.cli.list import took
from vera.report.printable import one_printable_line
from vera.report.standing import standing
from vera.report.view.fold import ViewFold
from vera.report.view.model import ClaimView, EventLine, Header
from vera.report.view.outcome import header_with, lines_with
from vera.state import RunState
from vera.store import Store

MAX_CLAIMS = 12
MAX_EVENTS = 12
MAX_TEXT = 300

COLOURS = {
    "supported": "green",
    "contradicted": "red",
    "disputed": "yellow",
    "unresolved": "yellow",
    "unchecked": "dim",
    "dropped": "red",
}
"""Of claims: beside the word, never instead of it."""


def view(
    fold: ViewFold,
    state: RunState,
    store: Store,
    *,
    session: str,
    alive: bool,
    now: float,
    height: int,
    outcome: Outcome | None = None,
) -> RenderableType:
    """All of it, in at most about `height` lines: claims and events give way. Without an `outcome` nothing is
    said of how the run ended."""
    said = outcome or Outcome(word=UNCHECKED if state.ended else "")
    header = header_with(fold.header(state, session=session, alive=alive), said)
    claims = fold.claims(state, store)
    room = max(4, height - 10)
    shown = min(MAX_CLAIMS, room // 2, len(claims))
    parts = [_status(header, now if alive else header.last_ts), Text()]
    if claims:
        parts += [_claims(claims, shown), Text()]
    parts.append(_budgets(fold.budgets(state, alive=alive, now=now)))
    parts += [Text(), _events(lines_with(fold.event_lines(limit=min(MAX_EVENTS, room - shown)), said))]
    return Group(*parts)


def verdict_words(claims: tuple[ClaimView, ...]) -> str:
    """How many claims came to what: `3 supported, 1 unresolved`; '' for none."""
    counts: dict[str, int] = {}
    for claim in claims:
        counts[claim.verdict] = counts.get(claim.verdict, 0) + 1
    return ", ".join(f"{count} {verdict}" for verdict, count in counts.items())


def _status(header: Header, now: float) -> RenderableType:
    line = Text(no_wrap=True, overflow="ellipsis")
    stands = standing(header.phase, header.verdict)
    line.append(f"{stands.sign} {stands.word}", style=stands.colour)
    line.append(f" · {header.session} · step {header.step}")
    if header.max_steps:
        line.append(f" of {header.max_steps}")
    line.append(f" · {counted(header.rounds, 'round')} · {counted(header.events, 'event')}")
    if header.started_ts:
        line.append(f" · {took(max(0.0, now - header.started_ts))}")
        if header.ended_ts is None and now > header.last_ts:
            line.append(f" · last event {took(now - header.last_ts)} ago")
    said = [_line(header.task)]
    for word, text in (("model", header.model), ("last call", header.last_call), ("because", header.reason)):
        if text:
            said.append(_line(f"{word}: {text}"))
    return Group(line, *said)


def _claims(claims: tuple[ClaimView, ...], shown: int) -> RenderableType:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, overflow="ellipsis")
    for claim in claims[:shown]:
        table.add_row(Text(claim.verdict, style=COLOURS.get(claim.verdict, "")), _line(claim.text))
    left = f", {len(claims) - shown} not shown" if len(claims) > shown else ""
    return Group(_line(f"Claims: {verdict_words(claims)}{left}"), table)


def _budgets(budgets: tuple[tuple[str, str, str], ...]) -> Text:
    return Text(" · ".join(f"{used} of {limit} {name}" for name, used, limit in budgets), style="dim")


def _events(lines: tuple[EventLine, ...]) -> RenderableType:
    table = Table.grid(padding=(0, 1, 0, 0), expand=True)
    for width in (8, 16):
        table.add_column(no_wrap=True, width=width, min_width=width, overflow="ellipsis", style="dim")
    table.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
    for line in lines:
        when = time.strftime("%H:%M:%S", time.localtime(line.ts))
        text = _line(("failed: " if line.failed else "") + line.text)
        table.add_row(when, one_printable_line(line.kind), text)
    return table


def _line(text: str) -> Text:
    """Untrusted text, on one line, without a meaning for the terminal or for rich."""
    return Text(one_printable_line(text[:MAX_TEXT]), no_wrap=True, overflow="ellipsis")
