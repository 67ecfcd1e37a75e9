"""Places of documents that could carry a sub-claim, and which of them are worth citing."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from vera.audit import containment
from vera.audit.case import CitedLines
from vera.audit.checks.independence import is_web
from vera.audit.source_text import SourceText
from vera.events import Blob, Evidence
from vera.evidence.claim import Claim, Relation
from vera.evidence.independence import SourceDoc, clusters

PER_DOCUMENT = 3
"""Places of one document that are looked at for one sub-claim."""

_DECIDES: Mapping[Relation, int] = {"CONTRADICTS": 0, "SUPPORTS": 0, "QUALIFIES": 1, "IRRELEVANT": 2}


class Passage(msgspec.Struct, frozen=True, kw_only=True):
    """Lines of a document and what the rule says of them: of the file `path`, or ('') of the page that is
    the evidence `page`. `web`: it came from there. `outside`: it was published at a time that is not asked
    for, and is no evidence."""

    page: str
    path: str
    first: int
    last: int
    relation: Relation
    web: bool = False
    outside: bool = False

    @property
    def document(self) -> str:
        """What names its document."""
        return self.path or self.page


def finds_in(
    claim: Claim, evidence: Evidence, text: SourceText, *, path: str = "", outside: bool = False
) -> Iterator[Passage]:
    """The likeliest places of one document, best first, with what the rule says of each."""
    if not len(text.lines):
        return
    about = containment.about(evidence, text)
    for first, last in containment.spans(text, claim.text, PER_DOCUMENT, about):
        yield Passage(
            page="" if path else evidence.id,
            path=path,
            first=first,
            last=last,
            relation=containment.label(claim, CitedLines(evidence, text, first, last), about),
            web=is_web(evidence),
            outside=outside,
        )


def best(finds: Iterable[Passage], cluster_of: Mapping[str, int], most: int) -> list[Passage]:
    """At most `most` of the finds, those that the rule decides on first.

    Both sides get their turn, and of each side every independent source before a second place of one: copies
    of a text cannot crowd out the source that disagrees with it.
    """
    order = {find: rank for rank, find in enumerate(finds)}
    seen: dict[tuple[Relation, int | str], int] = {}
    spread: list[tuple[int, Passage]] = []
    for find in order:
        source = find.relation, cluster_of.get(find.document, find.document)
        spread.append((seen.get(source, 0), find))
        seen[source] = seen.get(source, 0) + 1
    spread.sort(key=lambda each: (each[1].outside, _DECIDES[each[1].relation], each[0]))
    turns: dict[tuple[bool, Relation], int] = {}
    ranked: list[tuple[bool, int, int, Passage]] = []
    for _, find in spread:
        side = find.outside, find.relation
        ranked.append((find.outside, _DECIDES[find.relation], turns.get(side, 0), find))
        turns[side] = turns.get(side, 0) + 1
    ranked.sort(key=lambda each: each[:3])
    return [find for *_, find in ranked[:most]]


def cluster_numbers(pages: Sequence[tuple[Evidence, SourceText]]) -> dict[str, int]:
    """Of each page, by its evidence id, the number of its cluster: pages with one number count as one."""
    docs = [
        SourceDoc(key=page.id, url=page.source if is_web(page) else "", text=text.text)
        for page, text in pages
    ]
    return {key: number for number, group in enumerate(clusters(docs)) for key in group.sources}


def file_evidence(path: str, title: str, text: SourceText, dated: str = "") -> Evidence:
    """A file of the corpus as the evidence that reading it would make."""
    return Evidence(
        id="ev_0000",
        call="",
        step=0,
        tool="read",
        tier="captured",
        source=path,
        summary="",
        text=Blob("", len(text.data)),
        lines=len(text.lines),
        first=1,
        last=len(text.lines),
        title=title,
        dated=dated,
    )
