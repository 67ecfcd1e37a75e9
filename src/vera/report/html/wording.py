"""Values of a page as words: times, sizes, counts, and what a verdict means."""

import math
import re
from collections.abc import Iterator

from vera.attestation.outcome import WITHHELD
from vera.evidence.citation import place_name
from vera.report.moment import utc
from vera.report.view.model import CardView, Header

MARKS = {
    "supported": "✓",
    "contradicted": "✕",
    "disputed": "≠",
    "unresolved": "?",
    "unchecked": "–",
    "dropped": "∅",
}
"""A sign for each verdict, beside its word."""

RESULTS = {
    "VERIFIED": "Verified",
    "QUOTED": "Quoted",
    "PARTIAL": "Partial",
    "UNRESOLVED": "Unresolved",
    "DISPUTED": "Disputed",
    "REFUTED": "Refuted",
    "UNTRUSTED": "Unknown signer",
    "UNCHECKED": "Ended",
}
TONES = {
    "VERIFIED": "good",
    "QUOTED": "literal",
    "PARTIAL": "partial",
    "DISPUTED": "mixed",
    "REFUTED": "bad",
    "ALTERED": "bad",
    "UNSEALED": "mixed",
    "UNTRUSTED": "mixed",
}
_PHASES = {
    "new": "Not started",
    "working": "Working",
    "verifying": "Verifying",
    "ended": "Ended",
    "stopped": "Stopped",
}
_NO_LINE = re.compile(r"\[… [0-9]{1,12} more lines?\]")
"""The last line of a quotation that is cut says how much more there is."""


def headline(header: Header) -> str:
    """Where the run stands, in a word or two."""
    if header.verdict and (header.phase == "ended" or header.verdict in WITHHELD):
        return RESULTS.get(header.verdict, header.verdict.replace("_", " ").capitalize())
    return _PHASES.get(header.phase, "Unknown")


def tone(header: Header) -> str:
    """The class that colours the headline: good, literal, partial, mixed, bad, open or busy."""
    if header.phase in ("working", "verifying"):
        return "busy"
    decided = header.phase == "ended" or header.verdict in WITHHELD
    return TONES.get(header.verdict, "open") if decided else "open"


def short(text: str, length: int) -> str:
    """The beginning of `text`, at most `length` characters. What is written out is made printable later."""
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


def clock(ts: float) -> str:
    """The time of day in UTC: 14:03:59."""
    return utc(_finite(ts)).strftime("%H:%M:%S")


def day(ts: float) -> str:
    """The date and time in UTC: 2026-11-22 14:03."""
    return utc(_finite(ts)).strftime("%Y-%m-%d %H:%M")


def iso(ts: float) -> str:
    """The moment for `<time datetime>`."""
    return utc(_finite(ts)).strftime("%Y-%m-%dT%H:%M:%SZ")


def number(value: float) -> str:
    """A count with thin spaces between thousands."""
    return f"{value:,}".replace(",", "\u202f")


def place(card: CardView) -> str:
    """`ev_0003:12-14`"""
    return place_name(card.evidence, card.first, card.last)


def numbered(card: CardView) -> Iterator[tuple[int | None, str]]:
    """The lines of a card's quotation with their numbers in the source; None for the line that says that
    there is more."""
    last = len(card.quotation) - 1
    for at, line in enumerate(card.quotation):
        says_more = at == last and at > 0 and _NO_LINE.fullmatch(line)
        yield (None if says_more else card.first + at), line


def _finite(ts: float) -> float:
    return ts if math.isfinite(ts) else 0.0
