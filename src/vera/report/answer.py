"""The answer as a person reads it: the text, then each cited place with its bytes cut from the store."""

from collections.abc import Mapping

import msgspec

from vera.events import Answer, Cited, Evidence
from vera.evidence.span import Lines
from vera.state import RunState
from vera.store import Store, StoreError

MAX_QUOTED_LINES = 24
"""Of a longer citation the beginning and the end are printed."""


class Quote(msgspec.Struct, frozen=True, kw_only=True):
    """One cited place: its lines as they stand in the store, or why they cannot be shown.

    `sha256` is that of the cited bytes, `text_sha256` names the stored text in which they are the lines
    `first` to `last`.
    """

    evidence: str
    first: int
    last: int
    source: str = ""
    tier: str = ""
    page: int | None = None
    lines: tuple[str, ...] = ()
    sha256: str = ""
    text_sha256: str = ""
    problem: str = ""

    @property
    def label(self) -> str:
        """The citation as the answer writes it."""
        if not self.first:
            return f"[{self.evidence}]"
        return f"[{self.evidence}:{self.first}{f'-{self.last}' if self.last > self.first else ''}]"


def quotes(answer: Answer, evidence: Mapping[str, Evidence], store: Store) -> list[Quote]:
    """What each citation of the answer points at, read from the store and verified against its hash."""
    return [_quote(cited, evidence.get(cited.evidence), store) for cited in answer.citations]


def _quote(cited: Cited, evidence: Evidence | None, store: Store) -> Quote:
    if cited.problem or evidence is None:
        problem = cited.problem or "there is no such evidence"
        return Quote(evidence=cited.evidence, first=cited.first, last=cited.last, problem=problem)
    try:
        lines = Lines(store.get(evidence.text.sha256))
        span = lines.span(evidence.text.sha256, cited.first, cited.last)
        problem = "" if span.sha256 == cited.sha256 else "the stored bytes are not those that were cited"
        cut = lines.cut(cited.first, cited.last).decode("utf-8", "replace")
    except (StoreError, IndexError) as error:
        return Quote(evidence=cited.evidence, first=cited.first, last=cited.last, problem=str(error))
    return Quote(
        evidence=cited.evidence,
        first=cited.first,
        last=cited.last,
        source=evidence.source,
        tier=evidence.tier,
        page=sum(1 for first in evidence.pages if first <= cited.first) or None,
        lines=() if problem else tuple(cut.split("\n")),
        sha256=cited.sha256,
        text_sha256=evidence.text.sha256,
        problem=problem,
    )


def markdown(state: RunState, task: str, text: str, quoted: list[Quote]) -> str:
    """answer.md: question, answer, cited bytes, and one line of figures."""
    parts = [f"# {task.strip()}", text.strip()]
    if quoted:
        parts.append("## Cited")
        parts += [_block(quote) for quote in quoted]
    parts += ["---", closing_line(state, quoted)]
    return "\n\n".join(parts) + "\n"


def plain(text: str, quoted: list[Quote]) -> str:
    """The answer for a terminal: the text, then each cited place."""
    return "\n\n".join([text.strip(), *(_block(quote) for quote in quoted)]) + "\n"


def closing_line(state: RunState, quoted: list[Quote]) -> str:
    """The status of the run and its figures, in one line."""
    lane = state.lane("main")
    good = sum(1 for quote in quoted if not quote.problem)
    match good, len(quoted):
        case _, 0:
            figures = "no citations"
        case 1, 1:
            figures = "its citation stands in the store"
        case all_of_them, count if all_of_them == count:
            figures = f"all {count} citations stand in the store"
        case some, count:
            figures = f"{some} of {count} citations stand in the store"
    status = f"{lane.status}: {lane.status_reason}" if lane.status_reason else lane.status
    return f"{status} · {figures}."


def _block(quote: Quote) -> str:
    if quote.problem:
        return f"{quote.label} cannot be shown: {quote.problem.rstrip('.')}."
    count = quote.last - quote.first + 1
    where = f"line{'s' if count > 1 else ''} {quote.label[1:-1].split(':')[1]}"
    page = f", page {quote.page}" if quote.page else ""
    head = f"{quote.label} {quote.source}, {where}{page} ({quote.tier}, store/{quote.text_sha256[:12]}…)"
    lines = list(quote.lines)
    if len(lines) > MAX_QUOTED_LINES:
        half = MAX_QUOTED_LINES // 2
        lines = [*lines[:half], f"[… {len(lines) - 2 * half} lines …]", *lines[-half:]]
    return "\n".join([head, *(f"> {line}".rstrip() for line in lines)])
