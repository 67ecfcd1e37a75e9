"""The notes of a report on one page: each citation of the answer has a number, each number a note."""

from collections import defaultdict
from collections.abc import Sequence

import msgspec

from vera.report.answer import Quote
from vera.report.footnotes import Footnotes, parts_of
from vera.report.html.answer import Block, Cited, Inline


class Note(msgspec.Struct, frozen=True):
    """`says` is the source with its lines and when they were read, `lines` are their words, and `marks` the
    ids of the citations that lead to it."""

    number: int
    says: str
    lines: tuple[str, ...]
    marks: tuple[str, ...]


def with_notes(made: Sequence[Block], quotes: Sequence[Quote]) -> tuple[tuple[Block, ...], tuple[Note, ...]]:
    """The blocks of an answer with numbers at their citations, and the notes; `quotes` are the places that
    it cites. Without them there are no notes."""
    if not quotes:
        return tuple(made), ()
    notes = Footnotes(quotes)
    marks: defaultdict[int, list[str]] = defaultdict(list)

    def marked(cited: Cited) -> Cited:
        number = notes.number(cited.evidence, cited.first or None, cited.last or None)
        mark = f"cited-{number}-{len(marks[number]) + 1}"
        marks[number].append(mark)
        return msgspec.structs.replace(cited, note=number, mark=mark)

    def inline(piece: Inline) -> Inline:
        return Inline(piece.text, tuple(map(marked, piece.cited)))

    blocks = tuple(
        Block(block.kind, tuple(tuple(map(inline, part)) for part in block.parts)) for block in made
    )
    return blocks, tuple(
        Note(number, *parts_of(text), tuple(marks[number])) for text, number in notes.numbers.items()
    )
