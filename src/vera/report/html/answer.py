"""The text of an answer as blocks: headings, paragraphs, lists and code, with its citations.

Not all of Markdown: what is not one of these stays as it was written, and nothing in it becomes markup.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

import msgspec

from vera.evidence.citation import find_citations
from vera.report.view.model import CardView, ClaimView

SHOWN = 100_000
"""Characters of an answer that are shown."""

MAX_BLOCKS = 2000

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*)")
_ITEM = re.compile(r" {0,9}[-*+•][ \t]+(.*)")
_NUMBERED = re.compile(r" {0,9}([0-9]{1,4}[.)][ \t]+.*)")
_FENCE = re.compile(r" {0,3}(?:`{3,20}|~{3,20})")


class Inline(msgspec.Struct, frozen=True):
    """A piece of a line. One that `cites` may have the card that it is about and the number of a claim, from
    1, that the card speaks of (0 for none)."""

    text: str
    cites: bool = False
    card: CardView | None = None
    claim: int = 0


class Block(msgspec.Struct, frozen=True):
    """`kind` is heading, paragraph, list, numbered (each part has its number) or code; lists have several
    `parts`, all else one."""

    kind: str
    parts: tuple[tuple[Inline, ...], ...]


def blocks(text: str, claims: Sequence[ClaimView]) -> tuple[Block, ...]:
    """The blocks of an answer; `claims` have the cards that its citations lead to."""
    cited: dict[tuple[str, int], tuple[CardView, int]] = {}
    for number, claim in enumerate(claims, 1):
        for card in claim.cards:
            cited.setdefault((card.evidence, card.first), (card, number))
            cited.setdefault((card.evidence, 0), (card, number))
    shown = text[:SHOWN]
    made = [
        Block(kind, tuple(tuple(_inlines(part, cited)) for part in parts))
        for kind, parts in islice(_blocks(shown.split("\n")), MAX_BLOCKS)
    ]
    if len(text) > SHOWN:
        made.append(Block("paragraph", ((Inline(f"[… {len(text) - SHOWN} more characters]"),),)))
    return tuple(made)


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


def _inlines(text: str, cited: Mapping[tuple[str, int], tuple[CardView, int]]) -> Iterator[Inline]:
    at = 0
    for found in find_citations(text):
        if found.start < at:
            continue
        if found.start > at:
            yield Inline(text[at : found.start])
        of = cited.get((found.evidence, found.first or 0)) or cited.get((found.evidence, 0))
        card, claim = of or (None, 0)
        yield Inline(text[found.start : found.end], cites=True, card=card, claim=claim)
        at = found.end
    if at < len(text):
        yield Inline(text[at:])
