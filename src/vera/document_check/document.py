"""Any document as the audit reads an answer: its claims, and the sources that each of them names.

A sentence's sources are the links in it, wherever they are in it, and its notes. A sentence that is nothing
but links ("Source: [the report](…)."), at the end of a paragraph or list item, is the source of all sentences
of that paragraph that have no link themselves; standing alone below a sentence, quote or table it is the
source of that. Code, link definitions, notes and lists under a heading such as References are no claims, and
the words of a bracket that only cites ("(see [the report](…))") are no part of one.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import groupby
from typing import NamedTuple

import msgspec

from vera.audit.claims import CLAIM_LIMIT, readable, split
from vera.audit.edits import blanked
from vera.audit.sentences import sentences
from vera.document_check.links import (
    RESERVED,
    Linked,
    Named,
    citation,
    linked,
    only_points,
    without_citing_brackets,
)
from vera.evidence.citation import CITATION_LIMIT, find_citations
from vera.evidence.claim import Claim
from vera.text.markdown import Block, blocks
from vera.text.quotation import Quotation, find_quotations

LINK_LIMIT = CITATION_LIMIT
"""Links that are read as citations."""


class Document(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """A document as an answer: `text` with citations for links, its claims, and the sources it names.

    `lines` holds, for each line of `text`, the line of the document on which it stands; empty where they are
    the same. `unread` says in words what is more than is read of one document, '' for nothing.
    """

    text: str
    claims: tuple[Claim, ...]
    sources: tuple[Named, ...]
    lines: tuple[int, ...] = ()
    unread: str = ""

    @cached_property
    def _breaks(self) -> list[int]:
        return [found.start() for found in re.finditer("\n", self.text)]

    def line_of(self, place: int) -> int:
        """The line of the document on which a character of `text` stands."""
        number = bisect_left(self._breaks, place)
        return self.lines[min(number, len(self.lines) - 1)] if self.lines else number + 1


def read(
    text: str,
    *,
    markdown: bool = True,
    targets: Sequence[Sequence[str]] = (),
    lines: Sequence[int] = (),
) -> Document:
    """The claims and named sources of a document in Markdown, or of the text of another format.

    `targets` and `lines` come from `document_html`. At most LINK_LIMIT links and CLAIM_LIMIT claims are read.
    """
    if not targets:
        text = RESERVED.sub("\ufffd", text)
    found = without_citing_brackets(linked(text, markdown=markdown, targets=targets, most=LINK_LIMIT))
    answer = RESERVED.sub("", _gathered(found))
    claims = split(answer)
    sources = tuple(_placed(source, lines) for source in found.sources)
    document = Document(text=answer, claims=claims, sources=sources, lines=tuple(lines))
    unread = f"{found.unread} links after the first {LINK_LIMIT:,} were not read" if found.unread else ""
    if claims and (len(claims) == CLAIM_LIMIT or readable(answer)[1] < len(answer)):
        last = document.line_of(claims[-1].start)
        rest = f"nothing from line {last} on was read: it is too much for one document"
        unread = "; ".join(filter(None, (unread, rest)))
        claims = claims[:-1]
    return msgspec.structs.replace(document, claims=claims, unread=unread)


def _placed(source: Named, lines: Sequence[int]) -> Named:
    """The source with its line in the document itself."""
    if not lines:
        return source
    return msgspec.structs.replace(source, line=lines[min(source.line, len(lines)) - 1])


def unsourced_quotations(document: Document) -> list[tuple[Claim, Quotation]]:
    """The quotations of statements that name no source, each with the first claim that it is in."""
    spans = [(each.start, each.end) for each in find_citations(document.text)]
    starts = [claim.start for claim in document.claims]
    found: list[tuple[Claim, Quotation]] = []
    for quotation in find_quotations(blanked(document.text, spans), spans):
        first = max(0, bisect_right(starts, quotation.start) - 1)
        last = bisect_left(starts, quotation.end)
        claims = [claim for claim in document.claims[first:last] if claim.end > quotation.start]
        if claims and not any(claim.cites or claim.form == "absence" for claim in claims):
            found.append((claims[0], quotation))
    return found


class _Bracket(NamedTuple):
    """Citations in one bracket."""

    start: int
    end: int
    ids: tuple[str, ...]


class _Sentence(NamedTuple):
    start: int
    end: int
    brackets: Sequence[_Bracket]
    points: bool
    """Whether it holds nothing but links."""

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(each for bracket in self.brackets for each in bracket.ids))


def _gathered(found: Linked) -> str:
    """The text with the citations of each sentence at its end."""
    text = found.text
    brackets = [
        _Bracket(start, end, tuple(each.evidence for each in group))
        for (start, end), group in groupby(find_citations(text), lambda each: (each.start, each.end))
    ]
    edits: list[tuple[int, int, str]] = []
    quote: Block | None = None
    for block in blocks(text):
        if block.kind in ("paragraph", "item"):
            read = _sentences(block, found, brackets)
            if quote and _is_its_source(read, quote, brackets):
                edits.append((quote.end, quote.end, f" {citation(read[0].ids)}"))
                edits.append((block.body, block.end, _newlines(text, block.body, block.end, "")))
            else:
                edits += _block_edits(read, text)
        quote = block if block.kind == "quote" else None
    out: list[str] = []
    position = 0
    for start, end, instead in sorted(edits):
        out += (text[position:start], instead)
        position = max(position, end)
    return "".join([*out, text[position:]])


def _is_its_source(read: Sequence[_Sentence], quote: Block, brackets: Sequence[_Bracket]) -> bool:
    """Whether all that a block says is the source of the quote above it, which names none itself."""
    return len(read) == 1 and read[0].points and not _within(brackets, quote.start, quote.end)


def _sentences(block: Block, found: Linked, brackets: Sequence[_Bracket]) -> list[_Sentence]:
    own = _within(brackets, block.body, block.end)
    if not own:
        return []
    ends = {bracket.start: bracket.end for bracket in own}
    closed = frozenset(ends.values())
    read: list[_Sentence] = []
    for start, end in sentences(found.text, block.body, block.end, ends, closed):
        here = _within(own, start, end)
        cited = [(each.start, each.end) for each in here]
        read.append(_Sentence(start, end, here, bool(here) and only_points(found, start, end, cited)))
    return read


def _within(brackets: Sequence[_Bracket], start: int, end: int) -> Sequence[_Bracket]:
    low = bisect_left(brackets, start, key=lambda each: each.start)
    return brackets[low : bisect_left(brackets, end, key=lambda each: each.start)]


def _block_edits(read: Sequence[_Sentence], text: str) -> Iterator[tuple[int, int, str]]:
    if not read:
        return
    *before, last = read
    covering: tuple[str, ...] = ()
    if last.points:
        instead = "" if before else citation(last.ids)
        yield last.start, last.end, _newlines(text, last.start, last.end, instead)
        covering = last.ids
        open_ones = [each for each in before if not each.brackets]
        covered = {each.start for each in (open_ones or before[-1:])}
    else:
        before, covered = list(read), set()
    for sentence in before:
        ids = sentence.ids + (covering if sentence.start in covered else ())
        if ids:
            yield from _cited_at_end(sentence, ids, text)


def _cited_at_end(sentence: _Sentence, ids: Sequence[str], text: str) -> Iterator[tuple[int, int, str]]:
    """The edits by which a sentence has its citations at its end."""
    for bracket in sentence.brackets:
        start = bracket.start - (text[bracket.start - 1 : bracket.start] == " ")
        yield start, bracket.end, ""
    end = sentence.start + len(text[sentence.start : sentence.end].rstrip())
    yield end, end, f" {citation(tuple(dict.fromkeys(ids)))}"


def _newlines(text: str, start: int, end: int, instead: str) -> str:
    return instead + "\n" * text.count("\n", start, end)
