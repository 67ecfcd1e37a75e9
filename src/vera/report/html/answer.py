"""The text of an answer as blocks: headings, paragraphs, lists and code, with its citations.

Not all of Markdown: what is not one of these stays as it was written, and nothing in it becomes markup.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby, islice

import msgspec

from vera.evidence.citation import Citation, find_citations, place_name
from vera.report.view.model import CardView, ClaimView

SHOWN = 100_000
"""Characters of an answer that are shown."""

MAX_BLOCKS = 2000
MAX_LEAD = 240
"""Characters of a paragraph that stands before the first cited lines on a phone: about six lines there."""

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*)")
_ITEM = re.compile(r" {0,9}[-*+•][ \t]+(.*)")
_NUMBERED = re.compile(r" {0,9}([0-9]{1,4}[.)][ \t]+.*)")
_END = re.compile(r"[.;!?。！？؟][\"'”’)]{0,3}(?=\s|\Z)|[。！？]")
"""The end of a sentence, right behind a citation."""

_EVIDENCE = re.compile(r"\bev_[0-9]{1,9}\b")
_FENCE = re.compile(r" {0,3}(?:`{3,20}|~{3,20})")


class Cited(msgspec.Struct, frozen=True):
    """One place that a citation names: as it is written (`ev_0002:12-14`), its lines (0 for the whole), the
    card that has them, and the number of a claim, from 1, that the card speaks of (0 for none). Without a
    card, `why` is what a finding of that claim says of the evidence, '' for nothing. In a report with notes,
    `note` is the number of its note and `mark` the id of the citation."""

    place: str
    first: int
    last: int
    card: CardView | None = None
    claim: int = 0
    why: str = ""
    note: int = 0
    mark: str = ""

    @property
    def evidence(self) -> str:
        return self.place.partition(":")[0]

    @property
    def preview(self) -> str:
        """The id of the element with its lines."""
        return f"peek-{self.place.replace(':', '-')}" if self.card else ""


class Inline(msgspec.Struct, frozen=True):
    """A piece of a line. That of a citation has each place that is `cited` in its bracket."""

    text: str
    cited: tuple[Cited, ...] = ()

    @property
    def cites(self) -> bool:
        return bool(self.cited)


class Block(msgspec.Struct, frozen=True):
    """`kind` is heading, paragraph, list, numbered (each part has its number) or code; lists have several
    `parts`, all else one."""

    kind: str
    parts: tuple[tuple[Inline, ...], ...]


def blocks(text: str, claims: Sequence[ClaimView]) -> tuple[Block, ...]:
    """The blocks of an answer; `claims` have the cards that its citations lead to."""
    cited = _Known(claims)
    shown = text[:SHOWN]
    made = [
        Block(kind, tuple(tuple(_inlines(part, cited)) for part in parts))
        for kind, parts in islice(_blocks(shown.split("\n")), MAX_BLOCKS)
    ]
    if len(text) > SHOWN:
        made.append(Block("paragraph", ((Inline(f"[… {len(text) - SHOWN} more characters]"),),)))
    return tuple(made)


def previews(made: Sequence[Block]) -> tuple[Cited, ...]:
    """The places that an answer cites and that have a card, each once, with just their lines cited."""
    found = {
        each.preview: msgspec.structs.replace(each, card=_of_place(each.card, each))
        for block in made
        for part in block.parts
        for inline in part
        for each in inline.cited
        if each.card is not None
    }
    return tuple(found.values())


def _of_place(card: CardView, cited: Cited) -> CardView:
    lines = max(card.first, cited.first), min(card.last, cited.last or cited.first)
    return msgspec.structs.replace(card, cited=(lines,)) if cited.first and lines[0] <= lines[1] else card


class _Known:
    """What the claims of an answer know of the places that it cites."""

    def __init__(self, claims: Sequence[ClaimView]) -> None:
        self._cards: defaultdict[str, list[tuple[CardView, int]]] = defaultdict(list)
        self._why: dict[str, tuple[str, int]] = {}
        for number, claim in enumerate(claims, 1):
            for card in claim.cards:
                self._cards[card.evidence].append((card, number))
            for finding in (claim.reason, *claim.findings):
                for evidence in _EVIDENCE.findall(finding):
                    self._why.setdefault(evidence, (finding, number))

    def of(self, found: Citation) -> Cited:
        """The place of a citation: cited lines were widened to whole sentences, so the card may have more."""
        first, last = found.first or 0, found.last or 0
        place = place_name(found.evidence, found.first, found.last)
        for card, number in self._cards.get(found.evidence, ()):
            if not first or card.first <= first <= card.last:
                return Cited(place, first, last, card, number)
        why, number = self._why.get(found.evidence, ("", 0))
        return Cited(place, first, last, claim=number, why=why)


def lead(made: Sequence[Block]) -> tuple[tuple[Block, ...], tuple[Block, ...]]:
    """The beginning of an answer, which the lines of its first citation follow on a phone, and the rest.

    The beginning is the first block with the headings over it: of a list its first item, of a long paragraph
    what goes up to its first citation.
    """
    at = next((at for at, block in enumerate(made) if block.kind != "heading"), len(made) - 1)
    first, behind = _divided(made[at]) if made else (None, None)
    begin = (*made[:at], *([first] if first else []))
    return begin, (*([behind] if behind else []), *made[at + 1 :])


def _divided(block: Block) -> tuple[Block, Block | None]:
    """A block as its beginning and what is behind it."""
    if block.kind in ("list", "numbered") and len(block.parts) > 1:
        return Block(block.kind, block.parts[:1]), Block(block.kind, block.parts[1:])
    return _divided_paragraph(block) if block.kind == "paragraph" else (block, None)


def _divided_paragraph(block: Block) -> tuple[Block, Block | None]:
    """A long paragraph up to the end of the sentence that its first citation is in, and the rest."""
    (part, *_) = block.parts
    if sum(len(each.text) for each in part) <= MAX_LEAD:
        return block, None
    cut = next((at for at, each in enumerate(part) if each.cites), len(part))
    rest = "".join(each.text for each in part[cut + 1 :])
    end = _END.match(rest)
    if cut + 1 >= len(part) or end is None or not rest[end.end() :].strip():
        return block, None
    after = part[cut + 1]
    begin = (*part[: cut + 1], Inline(after.text[: end.end()]))
    behind = (msgspec.structs.replace(after, text=after.text[end.end() :].lstrip()), *part[cut + 2 :])
    return Block(block.kind, (begin,)), Block(block.kind, (behind,))


def _blocks(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """(kind, texts of its parts)"""
    kind = ""
    parts: list[list[str]] = []
    for line in lines:
        within = kind
        of, text = _kind(line, within)
        begins = of in ("list", "numbered", "heading") or not parts
        if parts and (of in ("", "heading", "fence") or (of in ("list", "numbered") and of != kind)):
            yield kind, ["\n".join(part) for part in parts]
            kind, parts = "", []
        match of:
            case "fence":
                kind = "" if within == "code" else "code"
            case "heading":
                yield "heading", [text]
            case "list" | "numbered":
                kind = of
                parts.append([text])
            case "text" if begins:
                kind = kind or "paragraph"
                parts.append([text])
            case "text":
                parts[-1].append(text)
            case _:
                pass
    if parts:
        yield kind, ["\n".join(part) for part in parts]


def _kind(line: str, within: str) -> tuple[str, str]:
    """What a line is (fence, heading, list, numbered, text, or '' for the end of a block), and its text."""
    if _FENCE.match(line):
        return "fence", ""
    if within == "code":
        return "text", line
    if heading := _HEADING.match(line):
        return "heading", heading[2]
    if item := _ITEM.match(line):
        return "list", item[1]
    if numbered := _NUMBERED.match(line):
        return "numbered", numbered[1]
    return ("text", line) if line.strip() else ("", "")


def _inlines(text: str, known: _Known) -> Iterator[Inline]:
    at = 0
    for (start, end), bracket in groupby(find_citations(text), lambda found: (found.start, found.end)):
        if start > at:
            yield Inline(text[at:start])
        yield Inline(text[start:end], tuple(known.of(found) for found in bracket))
        at = end
    if at < len(text):
        yield Inline(text[at:])
