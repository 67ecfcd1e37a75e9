"""Sentences that say the opposite: not for is, may for must, up to for over, the other way round.

A claim is compared with the cited sentences that hold nearly all of its words, each kind of opposition by
itself. Where one such sentence agrees with the claim, nothing is said. Two sentences that follow each other
are compared as one where they hold more of the claim than any alone. These are hints: a rule about words
does not know what they mean. No kind is raised on more than 1 % of the supported pairs of any labelled set;
docs/verification.md has the figures of each.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise

import msgspec

from vera.audit.case import Case, CitedLines, language_of, statements
from vera.audit.literal import sentences_of
from vera.audit.oppositions import OF_TWO, RULES, Sentence, Turned, denials
from vera.evidence.claim import Claim
from vera.evidence.finding import Finding
from vera.text.language import differ
from vera.text.words import stems

SHARED_PERCENT = 70
"""The share of the words that a claim needs which a sentence must hold before it is compared."""

MIN_WORDS, MIN_NEEDED = 3, 2
"""Content words that a claim must have, and of those it needs (`Sentence.needed`)."""

MAX_LENGTH = 600
"""Characters of a claim and of a sentence that are read."""

CANDIDATES = 6
"""Lines of a source, the best for the claim, whose sentences are compared."""

NARROW_BYTES = 2000
"""Bytes of cited lines up to which each of their sentences is compared."""


class _Line(msgspec.Struct, frozen=True):
    """A sentence, or two that follow each other, and the lines of its source."""

    place: CitedLines
    first: int
    last: int
    sentence: Sentence


_Opposed = tuple[str, Turned, _Line]
"""The kind, what is turned round, and where."""


def opposed(case: Case) -> Iterator[Finding]:
    """`opposed` (soft), once for each statement, with the kind and what is there in `detail`."""
    for claim, cited in statements(case):
        ours = Sentence(claim.text[:MAX_LENGTH], language=language_of(cited))
        if len(ours.own) < MIN_WORDS or len(ours.needed) < MIN_NEEDED:
            continue
        single, double = _near(ours, cited)
        if found := _opposition(ours, single, RULES) or _in_two(ours, double):
            yield _finding(claim, *found)


def _finding(claim: Claim, kind: str, turned: Turned, line: _Line) -> Finding:
    lines = f"Line {line.first}" if line.first == line.last else f"Lines {line.first}-{line.last}"
    are = "is" if line.first == line.last else "are"
    has = "but without" if turned.of_claim else "but with"
    where = f"{lines} of {line.place.evidence.id} {are} nearly the same"
    return Finding(
        code="opposed",
        label="misinterpretation",
        severity="soft",
        claim=claim.key,
        evidence=line.place.evidence.id,
        first=line.first,
        last=line.last,
        message=f"{where}, {has} “{turned.written}” ({kind}): read it again.",
        detail=f"{kind}: {turned.written}",
    )


def _opposition(ours: Sentence, near: Sequence[_Line], kinds: Iterable[str]) -> _Opposed | None:
    """The first kind of which every near sentence says the opposite, and of the first one its words."""
    for kind in kinds if near else ():
        said = [RULES[kind](ours, line.sentence) for line in near]
        if said[0] and all(said):
            return kind, said[0], near[0]
    return None


def _in_two(ours: Sentence, double: Sequence[_Line]) -> _Opposed | None:
    """What two sentences together have against the claim. Where both deny, which of them does is unclear."""
    found = _opposition(ours, double, OF_TWO)
    return None if found and found[1].of_claim and denials(found[2].sentence) else found


def _near(ours: Sentence, cited: Sequence[CitedLines]) -> tuple[list[_Line], list[_Line]]:
    """The cited sentences that hold nearly all words of the claim, the nearest ones of each source, and pairs
    of sentences that hold still more."""
    single: list[_Line] = []
    double: list[_Line] = []
    for place in cited:
        if place.evidence.tier == "observed" or differ(ours.text, place.source.text):
            continue
        runs = [list(run) for run in _runs(ours, place)]
        singles = [line for run in runs for line in run]
        pairs = [_joined(*pair) for run in runs for pair in pairwise(run)]
        best, nearest = _nearest(ours, singles)
        more, nearest_pairs = _nearest(ours, pairs)
        single += nearest
        double += nearest_pairs if more > best else []
    return single, double


def _nearest(ours: Sentence, lines: Sequence[_Line]) -> tuple[int, list[_Line]]:
    """How near the nearest lines are that hold nearly all that the claim needs, and these lines."""
    needed = ours.needed
    near = [
        (len(ours.own & line.sentence.own), line)
        for line in lines
        if 100 * len(needed & line.sentence.stems) >= SHARED_PERCENT * len(needed)
    ]
    best = max((shared for shared, _ in near), default=0)
    return best, [line for shared, line in near if shared == best]


def _joined(one: _Line, other: _Line) -> _Line:
    sentence = Sentence(
        f"{one.sentence.text.rstrip()} {other.sentence.text}", one.sentence.about, one.sentence.language
    )
    return _Line(one.place, one.first, other.last, sentence)


def _runs(ours: Sentence, place: CitedLines) -> Iterator[Iterator[_Line]]:
    """The sentences of each run of cited lines that is read."""
    name = place.evidence.source.rpartition("/")[2]
    about = frozenset(stems(" ".join((place.evidence.title, name.replace(".", " "), *place.headings))))
    for first, text in _texts(ours, place):
        yield _lines(place, about, first, text)


def _lines(place: CitedLines, about: frozenset[str], first: int, text: str) -> Iterator[_Line]:
    """The sentences of a text that begins in line `first`."""
    flat, at = text.replace("\n", " "), 0
    for written in sentences_of(text):
        at = max(at, flat.find(written, at))
        top = first + text.count("\n", 0, at + len(written) - len(written.lstrip()))
        last = first + text.count("\n", 0, at + len(written.rstrip()))
        yield _Line(place, top, last, Sentence(written[:MAX_LENGTH], about, place.source.language))


def _texts(ours: Sentence, place: CitedLines) -> list[tuple[int, str]]:
    """The cited lines; of many the best for the claim, each with its neighbours. With each its first line."""
    start, end = place.source.lines.bounds(place.first, place.last)
    if end - start <= NARROW_BYTES:
        return [(place.first, place.span.text)]
    near = {
        number
        for each in place.source.passages.best(ours.text, CANDIDATES)
        for number in (each.first - 1, each.first, each.first + 1)
        if place.first <= number <= place.last
    }
    runs = groupby(enumerate(sorted(near)), lambda pair: pair[1] - pair[0])
    ranges = [[number for _, number in run] for _, run in runs]
    return [
        (each[0], place.source.lines.cut(each[0], each[-1]).decode("utf-8", "replace")) for each in ranges
    ]
