"""A stored text with line numbers, and the lines of it that a card cites."""

import re
from collections.abc import Sequence

import msgspec

from vera.extraction.marks import told
from vera.report.html.wording import is_cited
from vera.report.printable import printable
from vera.report.view.model import CardView, ClaimView
from vera.store import Store, StoreError

MAX_BYTES = 32 << 20
CONTEXT = 40
"""Lines that are shown before and behind those that were asked for."""

MAX_LINES = 400
LINE = 4000
"""Characters of a line that are shown."""

MAX_SPANS = 200

_SHA256 = re.compile(r"[0-9a-f]{64}")

NOT_CITED = "No card of this page cites these lines, so none is marked."


class Row(msgspec.Struct, frozen=True):
    """A line: its number, from 1, and whether it is among those that were cited and hold."""

    number: int
    text: str
    marked: bool = False


class Span(msgspec.Struct, frozen=True):
    """Lines `first` to `last` of the text, with the first and the last one that a card cites, the claim's
    number on the page, its key and its text."""

    first: int
    last: int
    card: CardView
    claim: int
    key: str
    text: str = ""

    @property
    def whole(self) -> tuple[int, int]:
        """The lines that were read together, which have the hash of the card."""
        return self.card.first, self.card.last

    @property
    def label(self) -> str:
        """What tells it from other spans to a reader."""
        return f"{self.first}-{self.last} {self.card.relation} {self.key}"


class SourceText(msgspec.Struct, frozen=True, kw_only=True):
    """What is shown of a text of `lines` lines. `problem`: why nothing is marked, or nothing shown."""

    name: str
    rows: tuple[Row, ...] = ()
    lines: int = 0
    size: int = 0
    spans: tuple[Span, ...] = ()
    shown: Span | None = None
    problem: str = ""


def source_text(
    store: Store, sha256: str, claims: Sequence[ClaimView], first: int, last: int
) -> SourceText | None:
    """Lines `first` to `last` (0: from the beginning) with what stands around them.

    Of them those are marked that a card of `claims` cites, and only if its quotation was found to have the
    hash that was cited. None when the store has no such text.
    """
    if not _SHA256.fullmatch(sha256):
        return None
    spans = _spans(claims, sha256)
    name = spans[0].card.source if spans else ""
    data = _read(store, sha256)
    if data is None:
        return None
    if isinstance(data, str):
        return SourceText(name=name, spans=spans, problem=data)
    lines = _lines(data, spans)
    wanted = next((each for each in spans if (first, last) in (each.card.extent, each.whole)), None)
    problem = NOT_CITED if first and wanted is None else _problem(wanted)
    rows = tuple(
        Row(number, _shown(lines[number - 1]), not problem and _is_marked(wanted, number))
        for number in _numbers(first, last, len(lines))
    )
    return SourceText(
        name=name, rows=rows, lines=len(lines), size=len(data), spans=spans, shown=wanted, problem=problem
    )


def _lines(data: bytes, spans: Sequence[Span]) -> list[bytes]:
    lines = told(data, spans[0].card.marks if spans else ()).split(b"\n")
    if lines and not lines[-1]:
        lines.pop()
    return lines


def _problem(wanted: Span | None) -> str:
    """Why the cited lines are not marked, '' where they are or none are asked for."""
    if wanted is None or _holds(wanted.card):
        return ""
    return wanted.card.problem or "The cited lines could not be held against their hash."


def _numbers(first: int, last: int, count: int) -> range:
    """The lines that are shown of `count`."""
    begin = max(0, min(first, count) - 1 - CONTEXT) if first else 0
    end = min(count, (max(first, last) + CONTEXT if first else MAX_LINES), begin + MAX_LINES)
    return range(begin + 1, end + 1)


def _is_marked(wanted: Span | None, number: int) -> bool:
    return wanted is not None and is_cited(wanted.card, number)


def _holds(card: CardView) -> bool:
    return bool(card.quotation) and not card.problem


def _spans(claims: Sequence[ClaimView], sha256: str) -> tuple[Span, ...]:
    found = [
        Span(*card.extent, card, number, claim.key, claim.text)
        for number, claim in enumerate(claims, 1)
        for card in claim.cards
        if card.source_id == sha256
    ]
    return tuple(sorted(found, key=lambda span: (span.first, span.last))[:MAX_SPANS])


def _read(store: Store, sha256: str) -> bytes | str | None:
    """The bytes of the text, or why they are not shown; None when there are none."""
    try:
        if store.path(sha256).stat().st_size > MAX_BYTES:
            return f"The text is larger than {MAX_BYTES >> 20} MB, so it is not shown here."
        data = store.get(sha256)
    except FileNotFoundError:
        return None
    except StoreError:
        return "Its text in the store was altered, so nothing of it is shown."
    except (OSError, ValueError):
        return "Its text in the store cannot be read."
    return data if b"\0" not in data[:8192] else "This is no text, so it is not shown here."


def _shown(line: bytes) -> str:
    text = line[: 4 * LINE].decode("utf-8", "replace")
    return printable(text if len(text) <= LINE else text[:LINE] + "…")
