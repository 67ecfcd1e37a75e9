"""What a judge replies when it labels spans, and what such a reply says of each span."""

from collections.abc import Sequence

import msgspec

from vera.evidence.claim import Relation

_MIN_FAVOURABLE: tuple[Relation, ...] = ("CONTRADICTS", "QUALIFIES", "IRRELEVANT", "SUPPORTS")
"""Of several readings the first in this order counts, so SUPPORTS only when all say so."""


class SpanReading(msgspec.Struct, frozen=True):
    """What one reading says of the span with this number."""

    index: int
    relation: Relation


class LabelReply(msgspec.Struct, frozen=True):
    """The form of a label call's reply."""

    spans: tuple[SpanReading, ...]


def relations(reply: LabelReply, count: int) -> dict[int, Relation]:
    """The relation of each of `count` spans by one reading: the least favourable when it says several, and
    IRRELEVANT of one that it leaves out. Numbers of no span are passed over."""
    said: dict[int, Relation] = {}
    for span in reply.spans:
        if 1 <= span.index <= count:
            said[span.index] = least([span.relation, said.get(span.index, "SUPPORTS")])
    return {index: said.get(index, "IRRELEVANT") for index in range(1, count + 1)}


def least(said: Sequence[Relation]) -> Relation:
    """The least favourable of several relations."""
    return min(said, key=_MIN_FAVOURABLE.index)
