"""Values of a page as words: times, sizes, counts, and what a verdict means."""

import math
import re
from collections.abc import Iterator
from textwrap import dedent

from vera.attestation.outcome import WITHHELD
from vera.evidence.citation import place_name
from vera.evidence.words import STOPWORDS
from vera.report.timestamps import utc
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

SHARES = {
    "report.html": "report",
    "attestation.json": "attestation",
    "claims.csv": "claims as a table",
    "bundle.zip": "bundle with every byte",
}
"""What of a session can be shared: the file's name, and what it is called on the page."""

REVIEW_LABELS = {"agree": "Agree", "disagree": "Disagree", "unsure": "Unsure"}
"""What a person says of a claim, on a button and beside their name."""

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
_WORDS = re.compile(r"\w+")
_PIECES = re.compile(r"\w+|\W+")
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


def age(seconds: float) -> str:
    """How long ago, in one unit: `now`, `3 min`, `2 h`, `5 d`."""
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return "now"


def iso(ts: float) -> str:
    """The moment for `<time datetime>`."""
    return utc(_finite(ts)).strftime("%Y-%m-%dT%H:%M:%SZ")


def number(value: float) -> str:
    """A count with thin spaces between thousands."""
    return f"{value:,}".replace(",", "\u202f")


def place(card: CardView) -> str:
    """`ev_0003:12-14`"""
    return place_name(card.evidence, card.first, card.last)


def source_title(card: CardView) -> str:
    """The name of a source as a reader knows it: a file without its folders, a page without its scheme."""
    name = card.source or "unknown source"
    return name.partition("://")[2] if "://" in name else name.rstrip("/").rpartition("/")[2] or name


def cited_lines(card: CardView) -> str:
    """`lines 12–14`; of a PDF with the page on which they begin"""
    page = f"page {card.pdf.page}, " if card.pdf else ""
    lines = f"line {card.first}" if card.first == card.last else f"lines {card.first}–{card.last}"
    return page + lines


def citation(card: CardView) -> str:
    """A citation to paste: the source, its lines, when it was read, and the hash of its text."""
    read = f", read {day(card.at)} UTC" if card.at else ""
    return f"{card.source}, {cited_lines(card)}{read}, sha256 {card.source_id}"


def same_words(line: str, claim: str) -> Iterator[tuple[str, bool]]:
    """The pieces of a line, each with whether it is a word of the claim; function words are none."""
    words = {word.casefold() for word in _WORDS.findall(claim)} - STOPWORDS
    for piece in _PIECES.findall(line):
        yield piece, piece.casefold() in words


def numbered(card: CardView, *, indented: bool = True) -> Iterator[tuple[int | None, str]]:
    """The lines of a card's quotation with their numbers in the source; None for the line that says that
    there is more. Not `indented`: without the white space that all of them begin with."""
    last = len(card.quotation) - 1
    lines = card.quotation if indented else dedent("\n".join(card.quotation)).split("\n")
    for at, line in enumerate(lines):
        says_more = at == last and at > 0 and _NO_LINE.fullmatch(line)
        yield (None if says_more else card.first + at), line


def _finite(ts: float) -> float:
    return ts if math.isfinite(ts) else 0.0
