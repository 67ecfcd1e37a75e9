"""Values of a page as words: times, sizes, counts, and what a verdict means."""

import math
import re
from bisect import bisect_right
from collections.abc import Iterator
from textwrap import dedent

from vera.evidence.citation import Citation, place_name
from vera.report.html.answer import Cited
from vera.report.standing import standing
from vera.report.timestamps import utc
from vera.report.view.model import CardView, CitedSource, Header
from vera.text.quantity import quantities
from vera.text.words import STOPWORDS

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

AMOUNTS_IN = 2000
"""Characters of a claim and of a line in which amounts are looked for."""

LABEL_NAME = 36
"""Characters of the name of a source in a citation."""

_WORDS = re.compile(r"\w+(?:[.,]\d+)*")
_PIECES = re.compile(rf"{_WORDS.pattern}|\W+")
"""A number is one word: 2.0 has nothing in common with 5.2."""

_NO_LINE = re.compile(r"\[… [0-9]{1,12} more lines?\]")
"""The last line of a quotation that is cut says how much more there is."""


def headline(header: Header) -> str:
    """Where the run stands, in a word or two."""
    return standing(header.phase, header.verdict).word


def tone(header: Header) -> str:
    """The class that colours the headline."""
    return standing(header.phase, header.verdict).tone


def without_code(reason: str) -> str:
    """The reason of a result without the code before it: `REFUTED: the cited sources contradict it`."""
    code, colon, said = reason.partition(": ")
    return said[:1].upper() + said[1:] if colon and code.isupper() else reason


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


def place(card: CardView) -> str:
    """`ev_0003:12-14`"""
    return place_name(card.evidence, card.first, card.last)


def source_title(card: CardView) -> str:
    """The name of a source as a reader knows it: a file without its folders, a page without its scheme."""
    return title_of(card.source)


def title_of(source: str) -> str:
    """The same of an address or a name."""
    name = source or "unknown source"
    return name.partition("://")[2] if "://" in name else name.rstrip("/").rpartition("/")[2] or name


def cited_lines(card: CardView) -> str:
    """`lines 12–14, 20`: those that are cited; of a PDF with the page on which they begin"""
    page = f"page {card.pdf.page}, " if card.pdf else ""
    lines = [str(first) if first == last else f"{first}–{last}" for first, last in card.marked]
    return f"{page}{'line' if card.extent[0] == card.extent[1] else 'lines'} {', '.join(lines)}"


def is_cited(card: CardView, number: int, around: tuple[int, int] = (0, 0)) -> bool:
    """Whether a line of a card's source is one that is cited, or among so many before and behind one."""
    before, behind = around
    return any(first - before <= number <= last + behind for first, last in card.marked)


def sed_lines(card: CardView) -> str:
    """The cited lines as a script of `sed -n`: `12,14p;20p`"""
    return ";".join(f"{first}p" if first == last else f"{first},{last}p" for first, last in card.marked)


def cite_label(cited: Cited) -> tuple[str, ...]:
    """A cited place as a reader knows it, its name and its lines, each of which has a direction of writing:
    `GPL-3.txt` and `258–261`, of a PDF `manual.pdf` and `p. 2, 9–10`."""
    card = cited.card
    if card is None:
        return (cited.place,)
    return _label(card.source, card.pdf.page if card.pdf else 0, cited.first, cited.last)


def named(citation: Citation, source: CitedSource | None) -> str:
    """A citation as `cite_label` has it, with the source of its evidence; None for no such evidence."""
    if source is None:
        return "unknown source"
    first, last = citation.first or 0, citation.last or 0
    return " ".join(_label(source.source, bisect_right(source.pages, first), first, last))


def _label(source: str, page: int, first: int, last: int) -> tuple[str, ...]:
    place = [f"p. {page}"] if page else []
    if first:
        place.append(str(first) if last in (0, first) else f"{first}–{last}")
    return tuple(filter(None, (short(title_of(source), LABEL_NAME), ", ".join(place))))


def same_words(line: str, claim: str) -> Iterator[tuple[str, str]]:
    """The pieces of a line, each `same` when it is a word of the claim (function words are none), `other`
    when it is an amount of the unit of one of the claim's, and another one; else ''."""
    words = {word.casefold() for word in _WORDS.findall(claim)} - STOPWORDS
    at = 0
    for start, end in (*_other_amounts(line, claim), (len(line), len(line))):
        for piece in _PIECES.findall(line[at:start]):
            yield piece, "same" if piece.casefold() in words else ""
        if end > start:
            yield line[start:end], "other"
        at = end


def _other_amounts(line: str, claim: str) -> tuple[tuple[int, int], ...]:
    """Where the line has amounts with a unit of the claim's amounts, and none of their values."""
    if len(claim) > AMOUNTS_IN or len(line) > AMOUNTS_IN:
        return ()
    known = [each for each in quantities(claim) if each.units]
    values = {each.value for each in known}
    units = {unit for each in known for unit in each.units}
    return tuple(
        (each.start, each.end)
        for each in (quantities(line) if units else ())
        if units.intersection(each.units) and each.value not in values
    )


def numbered(
    card: CardView, *, indented: bool = True, around: tuple[int, int] | None = None
) -> Iterator[tuple[int | None, str]]:
    """The lines of a card's quotation with their numbers in the source; None for the line that says that
    there is more. Not `indented`: without the white space that all of them begin with. `around`: only the
    cited lines with so many before and behind them."""
    last = len(card.quotation) - 1
    lines = card.quotation if indented else dedent("\n".join(card.quotation)).split("\n")
    for at, line in enumerate(lines):
        number = card.first + at
        says_more = at == last and at > 0 and _NO_LINE.fullmatch(line)
        if around is None or is_cited(card, number, around):
            yield (None if says_more else number), line


def _finite(ts: float) -> float:
    return ts if math.isfinite(ts) else 0.0
