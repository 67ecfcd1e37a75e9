"""PresentedEvidence: the lines that a judge is shown for a claim.

Lines that the answer cites and lines that a check captured can support the claim. Beside them stand the
passages of the cited sources that are most about the claim (BM25): they can contradict or qualify it, but
what no one cited supports nothing.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal

import msgspec

from vera.audit.case import Case, CitedLines, places, whole_place
from vera.events import Cited, VerifierCheck
from vera.evidence.claim import Claim
from vera.evidence.prompt_quoting import MAX_LINE_LENGTH, Row, fence
from vera.sanitize import one_line
from vera.text.passages import Passage, Passages

Kind = Literal["cited", "captured", "passage"]

MAX_CITED = 12
"""Cited places of one claim that are shown; so many again that checks captured."""

MAX_LINES = 40
"""A cited place with more lines is shown by its best passages."""

NEIGHBOURS = 2
"""Lines shown before and after a passage of a long place."""

MAX_TOUCHING = 4
"""Passages of one line each that are shown, and labelled, as one where they touch."""

MIN_ROOM = 400


class Exhibit(msgspec.Struct, frozen=True, kw_only=True):
    """Lines `first` to `last` of an evidence, as rows for a fence; `about` says what the evidence is."""

    evidence: str
    first: int
    last: int
    kind: Kind
    about: str
    rows: tuple[Row, ...]


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """An exhibit in a prompt: its fence, and the exhibit cut to the lines that it shows. `number` is the one
    that is in the fence's title."""

    exhibit: Exhibit
    text: str
    number: int


class PresentedEvidence:
    """Finds the evidence to present for the claims of one case; each source is indexed once.

    `load` gives an evidence by its id with its whole source, None when it cannot be read.
    """

    def __init__(self, case: Case, load: Callable[[str], CitedLines | None], passages: int) -> None:
        self._case = case
        self._load = load
        self._count = passages

    def of(self, claim: Claim, checks: Iterable[VerifierCheck], around: bool = True) -> list[Exhibit]:
        """Cited places first, then captured ones, then (when `around`) the best passages of cited sources."""
        cited = places(self._case, claim)[:MAX_CITED]
        captured = [place for check in checks for place in self._captured(check, claim)]
        found: dict[tuple[str, int, int], Exhibit] = {}
        for kind, group in (("cited", cited), ("captured", captured[:MAX_CITED])):
            for place in group:
                for exhibit in self._place(place, _kind(kind, place), claim.text):
                    found.setdefault((exhibit.evidence, exhibit.first, exhibit.last), exhibit)
        if around:
            for exhibit in self._around(cited, claim.text):
                found.setdefault((exhibit.evidence, exhibit.first, exhibit.last), exhibit)
        return list(found.values())

    def _captured(self, check: VerifierCheck, claim: Claim) -> list[CitedLines]:
        if check.question.claim != claim.key or check.answer == "unknown":
            return []
        return [place for cited in check.citations if (place := self._cited(cited)) is not None]

    def _cited(self, cited: Cited) -> CitedLines | None:
        place = self._load(cited.evidence)
        if place is None or cited.problem or not 1 <= cited.first <= cited.last <= len(place.source.lines):
            return None
        return whole_place(place.evidence, place.source, cited.first, cited.last)

    def _place(self, place: CitedLines, kind: Kind, query: str) -> Iterator[Exhibit]:
        """The place itself, or, when it is long, the lines of it that are most about the claim."""
        if place.last - place.first < MAX_LINES:
            yield _exhibit(place, kind, query)
            return
        within = _best(Passages(place.span.text), query, self._count)
        best = [(place.first + passage.first - 1, place.first + passage.last - 1) for passage in within]
        for first, last in merged(best, NEIGHBOURS, place.first, place.last, MAX_LINES):
            yield _exhibit(whole_place(place.evidence, place.source, first, last), kind, query)
        if not best:
            head = whole_place(place.evidence, place.source, place.first, place.first + MAX_LINES - 1)
            yield _exhibit(head, kind, query)

    def _around(self, cited: Sequence[CitedLines], query: str) -> Iterator[Exhibit]:
        """The best passages of each cited source that lie in no cited place."""
        for source in {place.evidence.text.sha256: place for place in cited}.values():
            within = [p for p in cited if p.evidence.text.sha256 == source.evidence.text.sha256]
            best = [
                (passage.first, passage.last)
                for passage in _best(self._index(source), query, self._count)
                if not any(place.first <= passage.first and passage.last <= place.last for place in within)
            ]
            for first, last in merged(best, 0, 1, len(source.source.lines), MAX_TOUCHING):
                yield _exhibit(whole_place(source.evidence, source.source, first, last), "passage", query)

    def _index(self, place: CitedLines) -> Passages:
        return place.source.passages


def show(presented: Sequence[Exhibit], room: int) -> list[Shown]:
    """The pieces of evidence, fenced and numbered, in about `room` bytes at most, the first ones first.

    One that is cut is cut to the lines that are shown: a label says nothing of lines that no one read.
    """
    found: list[Shown] = []
    for index, exhibit in enumerate(presented, 1):
        if room < MIN_ROOM:
            break
        title = f"{_number(index)}{exhibit.kind} · {exhibit.evidence}"
        fenced = fence(title, (("source", exhibit.about), *exhibit.rows), max(MIN_ROOM, room // 2))
        room -= len(fenced.text.encode())
        if fenced.shown < 2:
            continue
        last = min(exhibit.last, exhibit.first + fenced.shown - 2)
        found.append(
            Shown(exhibit=msgspec.structs.replace(exhibit, last=last), text=fenced.text, number=index)
        )
    return found


def numbered(shown: Iterable[Shown]) -> list[str]:
    """The fences, numbered from 1 in the order in which they are given.

    A judge that repeats one reply, whatever it is shown, then says different things of one span in two
    orders.
    """
    return [
        span.text.replace(_number(span.number), _number(number), 1) for number, span in enumerate(shown, 1)
    ]


def _number(number: int) -> str:
    return f"span {number} · "


def _best(passages: Passages, query: str, count: int) -> list[Passage]:
    """The best passages that have a word of the query in them or beside them."""
    return [passage for passage in passages.best(query, count) if passage.score > 0]


def _kind(kind: str, place: CitedLines) -> Kind:
    """A search result leads somewhere; it supports nothing."""
    if place.evidence.lead:
        return "passage"
    return "cited" if kind == "cited" else "captured"


def _exhibit(place: CitedLines, kind: Kind, query: str) -> Exhibit:
    lines = place.told.split("\n")
    rows = tuple((str(number), _line(line, query)) for number, line in enumerate(lines, place.first))
    return Exhibit(
        evidence=place.evidence.id,
        first=place.first,
        last=place.last,
        kind=kind,
        about=one_line(place.evidence.summary or place.evidence.source),
        rows=rows,
    )


def _line(line: str, query: str) -> str:
    """A line that is too long to show, by its windows that are most about the claim."""
    if len(line) <= MAX_LINE_LENGTH:
        return line
    windows = sorted(_best(Passages([line]), query, 3), key=lambda passage: passage.start)
    return " … ".join(window.text for window in windows) or line


def merged(
    ranges: Iterable[tuple[int, int]], margin: int, lowest: int, highest: int, most: int
) -> Iterator[tuple[int, int]]:
    """The ranges, widened by `margin` lines, in order; those that touch as one, of at most `most` lines."""
    first = last = 0
    for begin, end in sorted(ranges):
        begin, end = max(lowest, begin - margin, last + 1), min(highest, end + margin)
        if end <= last:
            continue
        if first and begin == last + 1 and end - first < most:
            last = end
            continue
        if first:
            yield first, last
        first, last = begin, end
    if first:
        yield first, last
