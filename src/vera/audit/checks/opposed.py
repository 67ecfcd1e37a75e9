"""Sentences that say the opposite: not for is, may for must, up to for over, the other way round.

A claim is compared with the cited sentences that hold nearly all of its words, each kind of opposition by
itself. Where one such sentence agrees with the claim, nothing is said. These are hints: a rule about words
does not know what they mean. No kind is raised on more than 1 % of the supported pairs of any labelled set;
docs/verification.md has the figures of each.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby, islice, pairwise

from vera.audit.case import Case, CitedLines, statements
from vera.audit.literal import sentences_of
from vera.evidence.finding import Finding
from vera.text.language import differ
from vera.text.lexicon import is_verb, word_set
from vera.text.quantity import Quantity, quantities
from vera.text.words import STOPWORDS, Word, stem, stems, words

SHARED_PERCENT = 70
"""The share of a claim's content words that a sentence must hold before it is compared."""

MIN_WORDS = 3
"""Content words that a claim must have."""

MAX_LENGTH = 600
"""Characters of a claim and of a sentence that are read."""

CANDIDATES = 6
"""Lines of a source, the best for the claim, whose sentences are compared."""

NARROW_BYTES = 2000
"""Bytes of cited lines up to which each of their sentences is compared."""

_REACH = 3
"""Content words after a "not" or "may" among which one of the claim shows that it is meant."""

_NOT = word_set(
    """not never no none neither nor without cannot dont doesnt didnt isnt arent wasnt werent hasnt havent
    hadnt cant couldnt wont wouldnt shouldnt mustnt nicht kein keine keinen keinem keiner keines nie niemals
    ohne pas jamais aucun aucune sans ni"""
)
_MUST = word_set("must shall required mandatory obliged obligatory muss mussen doit doivent obligatoire")
_MAY = word_set(
    "may can could might optional permitted allowed voluntary darf durfen kann konnen peut peuvent"
)
_SHOULD = word_set("should recommended advised sollte sollten soll empfohlen devrait devraient recommande")
_ALL = word_set(
    "all every each always everyone everybody entirely alle jeder jede jedes immer tous toutes toujours"
)
_SOME = word_set(
    """some most many several few often sometimes usually partly mostly half einige manche viele meist oft
    manchmal certains certaines plusieurs souvent parfois"""
)
_CAUSED = word_set(
    """cause caused causes causing because due led leads results resulted verursacht verursachte wegen cause
    causee provoque"""
)
_LINKED = word_set(
    """associated linked correlated correlates correlation association link zusammenhang zusammenhangt assozie
    associee lie liee"""
)
_BEFORE = word_set("before until till prior vor bis avant")
_AFTER = word_set("after since following from nach ab apres depuis")
_CONTRARY = tuple(
    (frozenset(one.split()), frozenset(other.split()))
    for one, other in (
        ("more greater", "less fewer"),
        ("longer", "shorter"),
        ("higher", "lower"),
        ("larger bigger", "smaller"),
        ("older", "younger newer"),
        ("faster quicker", "slower"),
        ("better", "worse"),
        ("earlier", "later"),
        ("above", "below"),
        ("heavier", "lighter"),
        ("cheaper", "dearer costlier"),
        ("increase increased increases increasing", "decrease decreased decreases decreasing reduced"),
        (
            "rose rise rises risen soared grew grow grown climbed",
            "fell fall falls fallen dropped declined shrank sank flopped",
        ),
        ("gain gained gains", "loss lost losses lose"),
        ("won win wins", "lost lose loses"),
        ("accepted accept accepts", "rejected reject rejects refused"),
        ("approved approve approves", "rejected reject rejects"),
        ("allowed permitted allows permits", "forbidden prohibited banned prohibits forbids"),
        ("bought buy buys", "sold sell sells"),
        ("import imports imported", "export exports exported"),
        ("maximum", "minimum"),
        ("northern north", "southern south"),
        ("eastern east", "western west"),
        ("first", "last"),
        ("opened open opens", "closed close closes"),
        ("began begin begins started", "ended end ends stopped"),
        ("prequel", "sequel"),
        ("male", "female"),
        ("success successful", "failure unsuccessful"),
        ("included includes including include", "excluded excludes excluding exclude"),
        ("safe", "unsafe dangerous"),
        ("public", "private"),
        ("always", "never"),
        ("best", "worst"),
        ("largest biggest", "smallest"),
        ("highest", "lowest"),
        ("oldest", "youngest newest"),
        ("longest", "shortest"),
        ("hoher", "niedriger tiefer"),
        ("langer", "kurzer"),
        ("stieg gestiegen", "sank fiel gesunken gefallen"),
        ("plus", "moins"),
        ("hausse", "baisse"),
    )
)
_PASSIVE = re.compile(r"\b(?:by|was|were|been|is|are|being|wurde|wird|von|par|est|été)\b", re.I)
_SAID = (
    "said|says|wrote|told|added|argued|explained|announced|warned|stated|declared|sagte|erklärte|dit|déclare"
)
_NAME = r"[A-ZÀ-Þ][\w'’.-]{1,30}(?:\s[A-ZÀ-Þ][\w'’.-]{1,30}){0,3}"
_SPEAKER = re.compile(rf"(?P<one>{_NAME})\s(?:{_SAID})\b|\b(?:{_SAID})\s(?P<other>{_NAME})")
_BREAK = re.compile(r"[,;:]\s|\s(?:and|or|while|but|whereas|against|und|oder|während|aber|et|ou|tandis)\s")


class _Sentence:
    """A sentence with what the rules look at. `about` are stems that its heads add: title, name of the file,
    headings."""

    def __init__(self, text: str, about: frozenset[str] = frozenset()) -> None:
        self.text = text
        self.words = list(words(text))
        self.content = [word for word in self.words if word.form not in STOPWORDS and word.form not in _NOT]
        self.about = about
        self.own = frozenset(stem(word.form) for word in self.content)
        self.stems = about | self.own

    def after(self, word: Word) -> frozenset[str]:
        """The stems of the next content words."""
        following = (stem(each.form) for each in self.content if each.start > word.start)
        return frozenset(islice(following, _REACH))

    def any_of(self, forms: frozenset[str]) -> list[Word]:
        return [word for word in self.words if word.form in forms and not self._is_month(word)]

    def _is_month(self, word: Word) -> bool:
        return word.form == "may" and word.start > 0 and self.text[word.start] == "M"


Rule = Callable[[_Sentence, _Sentence], str]
"""What a cited sentence has that turns the claim round, '' when it does not."""

_Segment = tuple[tuple[str, ...], frozenset[str]]
"""A part of a sentence: its numbers in their order, and its other stems."""


def opposed(case: Case) -> Iterator[Finding]:
    """`opposed` (soft), once for each statement, with the kind and what is there in `detail`."""
    for claim, cited in statements(case):
        ours = _Sentence(claim.text[:MAX_LENGTH])
        if not cited or len(ours.stems) < MIN_WORDS:
            continue
        near = [(place, line) for place in cited for line in _near(ours, place)]
        if found := _opposition(ours, [line for _, line in near]):
            kind, written, line = found
            place = next(place for place, other in near if other is line)
            yield Finding(
                code="opposed",
                label="misinterpretation",
                severity="soft",
                claim=claim.key,
                evidence=place.evidence.id,
                first=place.first,
                last=place.last,
                message=f"A cited sentence that is nearly the same has “{written}” ({kind}): read it again.",
                detail=f"{kind}: {written}",
            )


def _opposition(ours: _Sentence, near: Sequence[_Sentence]) -> tuple[str, str, _Sentence] | None:
    """The first kind of which every near sentence says the opposite, and of the first one its words."""
    for kind, rule in RULES.items() if near else ():
        said = [rule(ours, line) for line in near]
        if all(said):
            return kind, said[0], near[0]
    return None


def _near(ours: _Sentence, place: CitedLines) -> list[_Sentence]:
    """The sentences of the cited lines that hold nearly all words of the claim, the nearest ones only."""
    if place.evidence.tier == "observed":
        return []
    name = place.evidence.source.rpartition("/")[2]
    about = frozenset(stems(" ".join((place.evidence.title, name.replace(".", " "), *place.headings))))
    found: list[tuple[int, _Sentence]] = []
    for text in _texts(ours, place):
        for written in sentences_of(text):
            line = _Sentence(written[:MAX_LENGTH], about)
            if 100 * len(ours.stems & line.stems) >= SHARED_PERCENT * len(ours.stems):
                found.append((len(ours.stems & line.own), line))
    if not found or differ(ours.text, place.source.text):
        return []
    best = max(shared for shared, _ in found)
    return [line for shared, line in found if shared == best]


def _texts(ours: _Sentence, place: CitedLines) -> list[str]:
    """The cited lines; of many the best for the claim, each with its neighbours."""
    start, end = place.source.lines.bounds(place.first, place.last)
    if end - start <= NARROW_BYTES:
        return [place.span.text]
    near = {
        number
        for each in place.source.passages.best(ours.text, CANDIDATES)
        for number in (each.first - 1, each.first, each.first + 1)
        if place.first <= number <= place.last
    }
    runs = groupby(enumerate(sorted(near)), lambda pair: pair[1] - pair[0])
    ranges = [[number for _, number in run] for _, run in runs]
    return [place.source.lines.cut(each[0], each[-1]).decode("utf-8", "replace") for each in ranges]


def _negation(ours: _Sentence, line: _Sentence) -> str:
    """One of the two denies what both have."""
    mine, theirs = ours.any_of(_NOT), line.any_of(_NOT)
    if len(mine) % 2 == len(theirs) % 2:
        return ""
    denying, other, found = (ours, line, mine) if mine else (line, ours, theirs)
    meant = [word for word in found if denying.after(word) and denying.after(word) <= other.stems]
    return meant[0].form if meant else ""


def _modality(ours: _Sentence, line: _Sentence) -> str:
    """One obliges, the other allows or advises."""
    for one, other in ((_MUST, _MAY), (_MAY, _MUST), (_MUST, _SHOULD), (_SHOULD, _MUST)):
        found = line.any_of(other)
        if ours.any_of(one) and not ours.any_of(other) and found and not line.any_of(one):
            return found[0].form if line.after(found[0]) & ours.stems else ""
    return ""


def _bound(ours: _Sentence, line: _Sentence) -> str:
    """The same value is a lower bound in one and an upper bound in the other."""
    theirs = [quantity for quantity in quantities(line.text) if quantity.hedge in ("above", "below")]
    for quantity in quantities(ours.text) if theirs else ():
        for other in theirs:
            turned = {quantity.hedge, other.hedge} == {"above", "below"}
            if turned and (quantity.value, quantity.units) == (other.value, other.units):
                return _before(line.text, other)
    return ""


def _before(text: str, quantity: Quantity) -> str:
    return " ".join(f"{text[max(0, quantity.start - 14) : quantity.start]}{quantity.text}".split()[-4:])


def _order_in_time(ours: _Sentence, line: _Sentence) -> str:
    """Before in one and after in the other, of the same."""
    for one, other in ((_BEFORE, _AFTER), (_AFTER, _BEFORE)):
        mine, theirs = ours.any_of(one), line.any_of(other)
        turned = mine and theirs and not ours.any_of(other) and not line.any_of(one)
        if turned and (_first(ours, mine[0]) or "-") == _first(line, theirs[0]):
            return theirs[0].form
    return ""


def _first(sentence: _Sentence, word: Word) -> str:
    return next((stem(each.form) for each in sentence.content if each.start > word.start), "")


def _quantifier(ours: _Sentence, line: _Sentence) -> str:
    """All in one, some in the other."""
    for one, other in ((_ALL, _SOME), (_SOME, _ALL)):
        mine, theirs = ours.any_of(one), line.any_of(other)
        turned = mine and theirs and not ours.any_of(other) and not line.any_of(one)
        if turned and _first(ours, mine[0]) == _first(line, theirs[0]):
            return theirs[0].form
    return ""


def _contrary(ours: _Sentence, line: _Sentence) -> str:
    """A word in one, its contrary in the part of the other that is about the same."""
    theirs = [_Sentence(part) for part in _parts(line.text)]
    for part in map(_Sentence, _parts(ours.text)):
        shared = [len(part.stems & other.stems) for other in theirs]
        best = max(shared)
        if best and shared.count(best) == 1 and (found := _turned(part, theirs[shared.index(best)])):
            return found
    return ""


def _turned(ours: _Sentence, line: _Sentence) -> str:
    for pair in _CONTRARY:
        for one, other in (pair, pair[::-1]):
            mine, theirs = ours.any_of(one), line.any_of(other)
            if mine and theirs and not ours.any_of(other) and not line.any_of(one):
                return theirs[0].form
    return ""


def _cause(ours: _Sentence, line: _Sentence) -> str:
    """What the sentence only links is the cause in the claim."""
    found = line.any_of(_LINKED)
    return found[0].form if found and ours.any_of(_CAUSED) and not line.any_of(_CAUSED) else ""


def _roles(ours: _Sentence, line: _Sentence) -> str:
    """Who does it in one has it done to him in the other."""
    if _PASSIVE.search(ours.text) or _PASSIVE.search(line.text):
        return ""
    mine, theirs = _around_verbs(ours), _around_verbs(line)
    for verb, (before, after) in mine.items():
        if verb not in theirs:
            continue
        other_before, other_after = theirs[verb]
        crossed = before & other_after and after & other_before
        if crossed and not before & other_before and not after & other_after:
            return verb
    return ""


def _around_verbs(sentence: _Sentence) -> dict[str, tuple[frozenset[str], frozenset[str]]]:
    """The stem of each verb with the stems of the content words before it, and of those of its object."""
    found = {}
    for at, verb in enumerate(sentence.words):
        if verb in sentence.content and (is_verb(verb.form) or verb.form.endswith("s")):
            before = [word for word in sentence.content if word.start < verb.start][-_REACH:]
            found[stem(verb.form)] = (
                frozenset(stem(word.form) for word in before),
                frozenset(_object(sentence.words[at + 1 :])),
            )
    return found


def _object(following: Sequence[Word]) -> Iterator[str]:
    """The stems of content words up to the first other word behind them."""
    begun = False
    for word in following:
        if word.form not in STOPWORDS:
            begun = True
            yield stem(word.form)
        elif begun:
            return


def _speaker(ours: _Sentence, line: _Sentence) -> str:
    """Somebody else says it."""
    mine, theirs = _SPEAKER.search(ours.text), _SPEAKER.search(line.text)
    if mine is None or theirs is None:
        return ""
    name, other = (found["one"] or found["other"] for found in (mine, theirs))
    same = {word.form for word in words(name)} & {word.form for word in words(other)}
    return "" if same or name in line.text else other


def _pairing(ours: _Sentence, line: _Sentence) -> str:
    """A number that the sentence has for something else, while it has another for this."""
    parts = [part for part in _segments(line.text) if part[0]]
    if len(parts) < 2:
        return ""
    common = frozenset.intersection(*(found for _, found in parts))
    telling = [(numbers, found - common) for numbers, found in parts]
    for values, stems_near in _segments(ours.text):
        for value in values:
            if _is_of_another(value, stems_near, telling):
                return value
    return ""


def _is_of_another(value: str, stems_near: frozenset[str], parts: Sequence[_Segment]) -> bool:
    """Whether only one part has a value and none of these stems, which another part has."""
    here = [found for numbers, found in parts if value in numbers]
    if len(here) != 1 or not here[0] or here[0] & stems_near:
        return False
    return any(found & stems_near for numbers, found in parts if value not in numbers)


def _segments(text: str) -> list[_Segment]:
    """The parts of a sentence between commas and conjunctions."""
    found = [each for each in quantities(text) if each.kind not in ("date", "relative", "ordinal")]
    parts = []
    for start, end in _borders(text):
        inside = [quantity for quantity in found if start <= quantity.start < end]
        values = tuple(f"{quantity.value.normalize():f}" for quantity in inside)
        places = [range(quantity.start, quantity.end) for quantity in inside]
        near = frozenset(
            stem(word.form)
            for word in words(text[start:end])
            if word.form not in STOPWORDS and not any(start + word.start in place for place in places)
        )
        parts.append((values, near))
    return parts


def _parts(text: str) -> list[str]:
    return [text[start:end] for start, end in _borders(text)]


def _borders(text: str) -> list[tuple[int, int]]:
    """Where the parts of a sentence between commas and conjunctions begin and end."""
    return list(pairwise([0, *(each.end() for each in _BREAK.finditer(text)), len(text)]))


RULES: dict[str, Rule] = {
    "negation": _negation,
    "modality": _modality,
    "bound": _bound,
    "order in time": _order_in_time,
    "quantifier": _quantifier,
    "contrary": _contrary,
    "cause": _cause,
    "roles": _roles,
    "speaker": _speaker,
    "pairing": _pairing,
}
"""Every kind that is looked for, in the order in which one is told."""
