"""How two sentences that are nearly the same may say the opposite, one rule for each kind.

The rules know words, not what they mean: what they find is a hint.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, pairwise, permutations, product

import msgspec

from vera.text.lexicon import is_verb, word_set
from vera.text.quantity import Quantity, quantities
from vera.text.words import STOPWORDS, Word, stem, words

_HEDGED_WORDS, _REACH = 2, 3
"""Content words beside a "not" or "may" that show what it is said of."""

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
        (
            "increase increased increases increasing rose rise rises risen soared grew grow grown climbed",
            "decrease decreased decreases decreasing reduced fell fall falls fallen dropped declined shrank"
            " sank flopped",
        ),
        ("widened widens widen", "narrowed narrows narrow"),
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
        ("stieg gestiegen", "sank fiel gesunken gefallen zuruck zuruckgegangen"),
        ("hausse augmente", "baisse recule diminue"),
    )
)
_MORE = word_set("more greater mehr plus")
_LESS = word_set("less fewer weniger moins")
_PASSIVE = re.compile(r"\b(?:by|was|were|been|is|are|being|wurde|wird|von|par|est|été)\b", re.I)
_SAID = (
    "said|says|wrote|told|added|argued|explained|announced|warned|stated|declared|sagte|erklärte|dit|déclare"
)
_NAME = r"[A-ZÀ-Þ][\w'’.-]{1,30}(?:\s[A-ZÀ-Þ][\w'’.-]{1,30}){0,3}"
_SPEAKER = re.compile(rf"(?P<one>{_NAME})\s(?:{_SAID})\b|\b(?:{_SAID})\s(?P<other>{_NAME})")
_BREAK = re.compile(r"[,;:]\s|\s(?:and|or|while|but|whereas|against|und|oder|während|aber|et|ou|tandis)\s")
_ELISION = re.compile(r"\b(?:[cdjlmnst]|qu)['’](?=\w)", re.IGNORECASE)
_CLOSING_BRACKET = re.compile(r"\s\([^()]{0,80}\)?\W{0,3}\Z")
_SMALL = word_set(
    """der die das den dem des ein eine einen einem einer eines und oder ist sind war waren wird werden wurde
    wurden hat haben hatte hatten sein seine ihr ihre er sie es wir sich im am an auf aus bei beim mit von
    vom zu zum zur fur durch uber um unter als wie wenn dass so auch noch nur aber dies diese dieser
    dieses muss mussen darf durfen kann konnen konne konnte konnten soll sollen sollte sollten alle jeder
    jede jedes immer einige manche viele oft vor bis nach ab seit
    le la les un une du de au aux et ou mais est sont etait etaient a ont il elle ils elles on nous vous
    se son sa ses si leur leurs ce cet cette ces qui que ne dans sur sous pour par avec en y doit doivent
    peut peuvent devrait devraient tous toutes toujours certains certaines plusieurs souvent parfois avant
    apres depuis"""
)
"""Words of German and French that carry no content themselves."""
_HEDGED = word_set(
    """may might could probably possibly perhaps likely moglicherweise vielleicht wahrscheinlich vermutlich
    konne konnte konnten devrait devraient pourrait pourraient probablement"""
)
_ARTICLES = word_set("the a an le la les l un une")
_WHERE = word_set("in on at from since for to im am seit fur en dans a")
_THAN = word_set("than als de")
_PRONOUNS = word_set("he she they it we i er sie es wir il elle ils elles on nous")
_TELLING = frozenset(_SAID.split("|")) | word_set(
    "say according report reports reported show shows showed state states"
)
_NOT_NEEDED = frozenset(
    (
        *_MUST,
        *_MAY,
        *_SHOULD,
        *_ALL,
        *_SOME,
        *_CAUSED,
        *_LINKED,
        *_MORE,
        *_LESS,
        *_BEFORE,
        *_AFTER,
        *_HEDGED,
        *_TELLING,
    )
).union(*(one | other for one, other in _CONTRARY))


class Turned(msgspec.Struct, frozen=True):
    """What turns a sentence round, as it is written: in the cited sentence, or in the claim alone."""

    written: str
    of_claim: bool = False


class Sentence:
    """A sentence with what the rules look at. `about` are stems that its heads add: title, name of the file,
    headings. `language` is that of its source."""

    def __init__(self, text: str, about: frozenset[str] = frozenset(), language: str = "") -> None:
        self.text = text
        self.about = about
        self.language = language
        small = STOPWORDS | _SMALL if language in ("de", "fr") else STOPWORDS
        self.words = list(words(_ELISION.sub(lambda found: " " * len(found[0]), text)))
        self.content = [word for word in self.words if word.form not in small and word.form not in _NOT]
        self.own = frozenset(stem(word.form) for word in self.content)
        self.stems = about | self.own

    @property
    def needed(self) -> frozenset[str]:
        """The stems that a sentence about the same has: not those that a rule may find turned round, nor a
        number, which may be written otherwise, who tells it, or words in brackets at the end."""
        teller = range(*found.span()) if (found := _SPEAKER.search(self.text)) else range(0)
        end = found.start() if (found := _CLOSING_BRACKET.search(self.text)) else len(self.text)
        needed = (word for word in self.content if word.form not in _NOT_NEEDED and word.start < end)
        return frozenset(
            stem(word.form) for word in needed if not word.form[0].isdigit() and word.start not in teller
        )

    def written(self, word: Word) -> str:
        return self.text[word.start : word.end]

    def about_what(self, word: Word, reach: int = _REACH) -> frozenset[str]:
        """The stems of the next content words in the same part, at its end of those before it."""
        start, end = next(each for each in borders(self.text) if each[0] <= word.start < each[1])
        part = [each for each in self.content if start <= each.start < end and each is not word]
        following = [each for each in part if each.start > word.start]
        return frozenset(stem(each.form) for each in following[:reach] or part[-reach:])

    def any_of(self, forms: frozenset[str]) -> list[Word]:
        return [word for word in self.words if word.form in forms and not self._is_month(word)]

    def first(self, word: Word) -> str:
        """The stem of the next content word."""
        return next((stem(each.form) for each in self.content if each.start > word.start), "")

    def before(self, word: Word) -> str:
        """The small word right before a word, '' where there is none."""
        at = self.words.index(word)
        return "" if at == 0 or self.words[at - 1] in self.content else self.words[at - 1].form

    def parts(self) -> "list[Sentence]":
        return [Sentence(self.text[start:end], language=self.language) for start, end in borders(self.text)]

    def _is_month(self, word: Word) -> bool:
        return word.form == "may" and word.start > 0 and self.text[word.start] == "M"


Rule = Callable[[Sentence, Sentence], Turned | None]
"""What turns the claim, the first of the two, round; None where nothing does."""

Same = Callable[[Sentence, Word, Sentence, Word], bool]
"""Whether a word of one sentence and one of the other are said of the same."""

_Segment = tuple[tuple[str, ...], frozenset[str]]
"""A part of a sentence: its numbers in their order, and its other stems."""


def _negation(ours: Sentence, line: Sentence) -> Turned | None:
    """One of the two denies what both have."""
    mine, theirs = denials(ours), denials(line)
    if len(mine) % 2 == len(theirs) % 2:
        return None
    denying, other, found = (ours, line, mine) if mine else (line, ours, theirs)
    for word in found:
        if (about := denying.about_what(word)) and about <= other.stems:
            return Turned(denying.written(word), of_claim=denying is ours)
    return None


def denials(sentence: Sentence) -> list[Word]:
    """The words that deny, but those of a bound: "no more than"."""
    bounds = {
        one.start
        for one, _, than in zip(sentence.words, sentence.words[1:], sentence.words[2:], strict=False)
        if than.form in _THAN
    }
    return [word for word in sentence.any_of(_NOT) if word.start not in bounds]


def _modality(ours: Sentence, line: Sentence) -> Turned | None:
    """One obliges, the other allows or advises."""
    pairs = ((_MUST, _MAY), (_MAY, _MUST), (_MUST, _SHOULD), (_SHOULD, _MUST))
    return _replaced(ours, line, pairs, _share_words)


def _order_in_time(ours: Sentence, line: Sentence) -> Turned | None:
    """Before in one and after in the other, of the same."""
    return _replaced(ours, line, ((_BEFORE, _AFTER), (_AFTER, _BEFORE)), _share_next)


def _quantifier(ours: Sentence, line: Sentence) -> Turned | None:
    """All in one, some in the other."""
    return _replaced(ours, line, ((_ALL, _SOME), (_SOME, _ALL)), _share_next)


def _replaced(
    ours: Sentence,
    line: Sentence,
    pairs: Sequence[tuple[frozenset[str], frozenset[str]]],
    same: Same,
) -> Turned | None:
    """The claim has one word of a pair and the sentence the other one, of the same thing."""
    for one, other in pairs:
        for word in ours.any_of(one):
            kept = any(same(ours, word, line, each) for each in line.any_of(one))
            for there in () if kept else line.any_of(other):
                said = any(same(ours, each, line, there) for each in ours.any_of(other))
                if same(ours, word, line, there) and not said:
                    return Turned(line.written(there))
    return None


def _share_words(ours: Sentence, word: Word, line: Sentence, there: Word) -> bool:
    return bool(ours.about_what(word) & line.about_what(there))


def _share_next(ours: Sentence, word: Word, line: Sentence, there: Word) -> bool:
    return bool(ours.first(word)) and ours.first(word) == line.first(there)


def _hedge(ours: Sentence, line: Sentence) -> Turned | None:
    """What the sentence holds for possible the claim states flatly."""
    if ours.any_of(_HEDGED | _SHOULD):
        return None
    limited = [ours.about_what(word) for word in ours.any_of(_MAY)]
    for word in line.any_of(_HEDGED):
        about = line.about_what(word, _HEDGED_WORDS)
        if about and about <= ours.stems and not any(about & each for each in limited):
            return Turned(line.written(word))
    return None


def _bound(ours: Sentence, line: Sentence) -> Turned | None:
    """The same value is a lower bound in one and an upper bound in the other."""
    theirs = [quantity for quantity in quantities(line.text) if quantity.hedge in ("above", "below")]
    for quantity in quantities(ours.text) if theirs else ():
        if _is_denied(ours, quantity):
            continue
        for other in theirs:
            turned = {quantity.hedge, other.hedge} == {"above", "below"}
            if turned and (quantity.value, quantity.units) == (other.value, other.units):
                return Turned(_before(line.text, other))
    return None


def _is_denied(sentence: Sentence, quantity: Quantity) -> bool:
    """ "Never more than 5": another bound than its other words say."""
    before = [word for word in sentence.words if word.start < quantity.start]
    return any(word.form in _NOT for word in before[-_REACH:])


def _before(text: str, quantity: Quantity) -> str:
    return " ".join(f"{text[max(0, quantity.start - 14) : quantity.start]}{quantity.text}".split()[-4:])


def _contrary(ours: Sentence, line: Sentence) -> Turned | None:
    """A word in one, its contrary in the part of the other that is about the same."""
    if found := _replaced(ours, line, ((_MORE, _LESS), (_LESS, _MORE)), _share_next):
        return found
    theirs = line.parts()
    for part in ours.parts():
        shared = [len(part.own & other.own) for other in theirs]
        best = max(shared)
        if best and shared.count(best) == 1 and (found := _contraries(part, theirs[shared.index(best)])):
            return found
    return None


def _contraries(ours: Sentence, line: Sentence) -> Turned | None:
    for pair in _CONTRARY:
        for one, other in (pair, pair[::-1]):
            mine, theirs = ours.any_of(one), line.any_of(other)
            if mine and theirs and not ours.any_of(other) and not line.any_of(one):
                return Turned(line.written(theirs[0]))
    return None


def _cause(ours: Sentence, line: Sentence) -> Turned | None:
    """What the sentence only links is the cause in the claim."""
    found = line.any_of(_LINKED)
    turned = found and ours.any_of(_CAUSED) and not line.any_of(_CAUSED)
    return Turned(line.written(found[0])) if turned else None


def _roles(ours: Sentence, line: Sentence) -> Turned | None:
    """Who does it in one has it done to him in the other."""
    if _passive(ours) != _passive(line):
        return None
    found = _crossed(ours, line) or _exchanged(ours, line) or _crossed_parts(ours, line)
    return Turned(line.written(found)) if found else None


def _passive(sentence: Sentence) -> frozenset[str]:
    return frozenset(found[0].lower() for found in _PASSIVE.finditer(sentence.text))


def _crossed(ours: Sentence, line: Sentence) -> Word | None:
    """The verb that both have, with the words before it in one behind it in the other."""
    mine, theirs = _around_verbs(ours), _around_verbs(line)
    for verb, (_, before, after) in mine.items():
        if verb not in theirs:
            continue
        word, other_before, other_after = theirs[verb]
        crossed = before & other_after and after & other_before
        if crossed and not before & other_before and not after & other_after:
            return word
    return None


def _around_verbs(sentence: Sentence) -> dict[str, tuple[Word, frozenset[str], frozenset[str]]]:
    """The stem of each verb with the stems of the content words before it, and of those of its object."""
    found = {}
    for at, verb in enumerate(sentence.words):
        acts = verb in sentence.content and verb.form not in _TELLING
        if acts and (is_verb(verb.form) or verb.form.endswith("s")):
            before = [word for word in sentence.content if word.start < verb.start][-_REACH:]
            found[stem(verb.form)] = (
                verb,
                frozenset(stem(word.form) for word in before),
                frozenset(_object(sentence, sentence.words[at + 1 :])),
            )
    return found


def _object(sentence: Sentence, following: Sequence[Word]) -> Iterator[str]:
    """The stems of content words up to the first other word behind them."""
    begun = False
    for word in following:
        if word in sentence.content:
            begun = True
            yield stem(word.form)
        elif begun:
            return


def _exchanged(ours: Sentence, line: Sentence) -> Word | None:
    """Words that have changed places, while what is between them stays."""
    mine, theirs = _moved(_once(ours, line.own), _once(line, ours.own))
    if not (ours.needed <= line.own and mine and _one_part(ours, mine) and _one_part(line, theirs)):
        return None
    there = [stem(word.form) for word in theirs]
    for one, other in product(range(1, _REACH + 1), repeat=2):
        first, between, last = mine[:one], mine[one:-other], mine[-other:]
        turned = [stem(word.form) for word in (*last, *between, *first)] == there
        joined = len(between) > 1 or any(is_verb(word.form) for word in between)
        if joined and turned and not _moves(ours, line, (first[0], theirs[-one]), (last[0], theirs[0])):
            return theirs[0]
    return None


def _once(sentence: Sentence, shared: frozenset[str]) -> list[Word]:
    """The content words that both have and that stand once in the sentence, in order."""
    counts = Counter(stem(word.form) for word in sentence.content)
    return [word for word in sentence.content if counts[found := stem(word.form)] == 1 and found in shared]


def _moved(mine: list[Word], theirs: list[Word]) -> tuple[list[Word], list[Word]]:
    """Both without the words at their beginning and at their end that are the same."""
    common = {stem(word.form) for word in mine} & {stem(word.form) for word in theirs}
    mine, theirs = ([word for word in each if stem(word.form) in common] for each in (mine, theirs))
    same = [stem(one.form) == stem(other.form) for one, other in zip(mine, theirs, strict=True)]
    if all(same):
        return [], []
    start, end = same.index(False), len(same) - same[::-1].index(False)
    return mine[start:end], theirs[start:end]


def _one_part(sentence: Sentence, found: Sequence[Word]) -> bool:
    return any(start <= found[0].start and found[-1].start < end for start, end in borders(sentence.text))


def _moves(ours: Sentence, line: Sentence, *moved: tuple[Word, Word]) -> bool:
    """Whether the words that change places tell when or where, or bring their case along: "in May", "den"."""
    leads = [(ours.before(mine), line.before(theirs)) for mine, theirs in moved]
    adverbial = any(_WHERE.intersection(each) for each in leads)
    return adverbial or all(mine == theirs and mine and mine not in _ARTICLES for mine, theirs in leads)


def _crossed_parts(ours: Sentence, line: Sentence) -> Word | None:
    """Two parts that are about the same in both, with one word of each in the other one."""
    mine, theirs = _once_in_parts(ours, line.own), _once_in_parts(line, ours.own)
    for one, other in combinations(mine, 2):
        for like_one, like_other in permutations(theirs, 2):
            alone = len(one & like_other), len(other & like_one)
            if alone == (1, 1) and min(len(one & like_one), len(other & like_other)) >= 2:
                return next(word for word in line.content if stem(word.form) in one & like_other)
    return None


def _once_in_parts(sentence: Sentence, shared: frozenset[str]) -> list[frozenset[str]]:
    """The stems of each part that both have and that stand once in the sentence."""
    once = frozenset(stem(word.form) for word in _once(sentence, shared))
    return [part.own & once for part in sentence.parts()]


def _speaker(ours: Sentence, line: Sentence) -> Turned | None:
    """Somebody else says it."""
    mine, theirs = _SPEAKER.search(ours.text), _SPEAKER.search(line.text)
    if mine is None or theirs is None:
        return None
    name, other = ((found["one"] or found["other"]).rstrip(".") for found in (mine, theirs))
    said, there = ({word.form for word in words(each)} for each in (name, other))
    same = said & there or said <= _PRONOUNS or there <= _PRONOUNS or name in line.text
    return None if same else Turned(other)


def _pairing(ours: Sentence, line: Sentence) -> Turned | None:
    """A number that the sentence has for something else, while it has another for this."""
    parts = [part for part in _segments(line) if part[0]]
    if len(parts) < 2:
        return None
    common = frozenset.intersection(*(found for _, found in parts))
    telling = [(numbers, found - common) for numbers, found in parts]
    for values, stems_near in _segments(ours):
        for value in values:
            if _is_of_another(value, stems_near, telling):
                return Turned(value)
    return None


def _is_of_another(value: str, stems_near: frozenset[str], parts: Sequence[_Segment]) -> bool:
    """Whether only one part has a value and none of these stems, which another part has."""
    here = [found for numbers, found in parts if value in numbers]
    if len(here) != 1 or not here[0] or here[0] & stems_near:
        return False
    return any(found & stems_near for numbers, found in parts if value not in numbers)


def _segments(sentence: Sentence) -> list[_Segment]:
    """The parts of a sentence between commas and conjunctions."""
    found = [each for each in quantities(sentence.text) if each.kind not in ("date", "relative", "ordinal")]
    parts = []
    for start, end in borders(sentence.text):
        inside = [quantity for quantity in found if start <= quantity.start < end]
        values = tuple(f"{quantity.value.normalize():f}" for quantity in inside)
        places = [range(quantity.start, quantity.end) for quantity in inside]
        near = frozenset(
            stem(word.form)
            for word in sentence.content
            if start <= word.start < end and not any(word.start in place for place in places)
        )
        parts.append((values, near))
    return parts


def borders(text: str) -> list[tuple[int, int]]:
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
    "hedge": _hedge,
}
"""Every kind that is looked for, in the order in which one is told."""

OF_TWO = ("negation", "modality", "bound", "order in time", "quantifier", "contrary")
"""The kinds that are looked for in two sentences that follow each other."""
