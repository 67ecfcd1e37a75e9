"""What lines must say before they surely answer a question.

To rank lines by the question's words is not to know that they answer it: the deposit of Quay Road 72 has
nearly all words of a question about the rent of Quay Road 27. So a sentence is held against what the question
demands: the names and numbers that it gives, exactly; what it asks about them; an expression of the kind that
it asks for. A sentence stands under headings and in a file whose name may say the first of these for it.
"""

import re
from collections.abc import Sequence

import msgspec

from vera.builtin import patterns
from vera.builtin.bare import is_bare
from vera.builtin.contraries import tells_of_another
from vera.builtin.defining import is_done_by_it
from vera.builtin.dimensions import is_of_another_dimension
from vera.builtin.documents import name_forms, spelled
from vera.builtin.expressions import NOTHING_AROUND, Around, denies, is_only_meant, is_open, strength, valued
from vera.builtin.lexicon import (
    ARTICLES,
    GENERIC,
    IMPLIED,
    LIGHT,
    NO_MODIFIERS,
    PRONOUNS,
    STOPWORDS,
)
from vera.builtin.question import (
    Kind,
    Question,
    asks_which,
    frame_words,
    identifiers_in,
    scaffolding,
    stems_of,
    value_stems,
)
from vera.builtin.slots import belongs_to_another, is_taken
from vera.builtin.term_weights import SAME_ROOT, SYNONYM, Lexis
from vera.builtin.words import Word, affinity, is_cjk, stem, words

ASKED_ABOUT = 0.8
"""The share of what is asked about (by weight) that a sentence and its headings have to hold."""
HALF = 0.5
"""A sentence that holds less of it answers nothing, and is no rival of one that may."""
ASKED_OF_A_FIELD = 0.54
"""The same where the question says all that a field or a sentence gives the value of."""
ITS_OWN = 0.78
"""The share that the sentence itself (with its file's name) has to hold: a heading says of what one may
speak, not what is said of it."""
A_FIELDS_OWN = 0.2
"""The same of a field or a row."""
PLAINLY = 0.95
"""How nearly a heading or a file's name has to have a word: a synonym does not do."""
OF_THE_KIND = 0.5
"""How plainly an expression has to be of the kind asked for."""
OF_A_UNIT = 0.8
"""The same of a count of something: a number of that unit."""
FAINTLY = 0.3
"""The same in a sentence that holds all (IN_ALL of it) that is asked in MANY words."""
MANY = 3
FEW = 2
"""So few words of what is asked all have to be there."""
IN_ALL = 0.99
NAME_WORDS = 0.5
"""The share of a name that the name of a file has to hold, numbers apart, to stand for it."""

LOST_BY_A_SYNONYM = 0.3
"""What is missing of a word of which only a synonym is there."""

MAX_BOUND_LENGTH = 16
"""The longest phrase that makes a number a bound, in characters."""

MAX_CLAUSES = 20
"""Clauses of a sentence that are looked at one by one; the rest counts as one."""

MAX_SENTENCE_LENGTH = 500
"""Characters: more than that is a list or a program, whose words need not belong together."""

_DIGIT = re.compile(r"(?<![\w-])\d")
_ALONE = frozenset((Kind.PERSON, Kind.NAME))
"""Of these kinds an expression is one only when it is a name."""

_FORMLESS = frozenset((Kind.ANY, Kind.NAME, Kind.CODE, Kind.PATH, Kind.METHOD))
"""Kinds of which an expression may have any form: whatever else a sentence says may answer."""

_NAMED_BY_SAYING_SO = frozenset((Kind.PERSON, Kind.PLACE))
"""Of these kinds a sentence that denies says nothing."""


class Demand(msgspec.Struct, frozen=True):
    """What a question demands of a sentence.

    `numbers` are those that belong to no name of it. `asked` are the terms of the question, by index, that
    say what is asked about its names; `restricting` those of them that say of which thing it is asked, as
    "active" does in "the active queue".
    """

    numbers: frozenset[str]
    asked: tuple[int, ...]
    restricting: tuple[int, ...] = ()


def demand_of(question: Question) -> Demand:
    """The demand of a question. One without a subject asks about nothing: no sentence answers it."""
    if is_bare(question):
        return Demand(frozenset(), ())
    spoken = list(words(question.text))
    named = question.named
    numbers = frozenset(word.form for word in spoken if word.form[0].isdigit()) - named
    given = named | numbers
    content = [index for index, term in enumerate(question.terms) if term.word.form not in given]
    frame = frame_words(question.text)
    if question.kind is Kind.DEFINITION and all(question.terms[each].word.form in frame for each in content):
        # Nothing but a name is asked about: "What is DHCP?"
        content = [index for index, term in enumerate(question.terms) if term.word.form not in frame]
    plain = scaffolding()
    strong = [
        index
        for index in content
        if question.terms[index].weight >= 1.0 and question.terms[index].word.form not in GENERIC
    ]
    modifying = _modifying(question, spoken)
    asked = [
        index
        for index in strong
        if question.terms[index].word.form not in frame
        and (index in modifying or question.terms[index].word.stem not in stems_of(LIGHT))
    ]
    if not asked:
        asked = strong or [index for index in content if question.terms[index].word.form in frame]
    if not asked:
        asked = [index for index in content if question.terms[index].word.stem not in plain] or content
    return Demand(numbers, tuple(asked), tuple(index for index in asked if index in modifying))


def _modifying(question: Question, spoken: Sequence[Word]) -> frozenset[int]:
    """The terms between an article and another term: "hold" in "the hold queue" is no verb."""
    terms = {term.word.stem: index for index, term in enumerate(question.terms) if term.weight >= 1.0}
    found = set()
    for article, word, head in zip(spoken, spoken[1:], spoken[2:], strict=False):
        together = question.text[article.end : head.start].count(" ") == 2
        known = word.stem in terms and head.stem in terms and word.stem not in stems_of(NO_MODIFIERS)
        if article.form in ARTICLES and together and known:
            found.add(terms[word.stem])
    return frozenset(found)


class Sentence(msgspec.Struct, frozen=True):
    """A sentence of a document, the headings above it (the head of a table, too), what stands before it in
    its paragraph, and how its document begins ('' where that was not seen). A field or a row has a `label`;
    a `heading` is a title, which names things and says nothing of them.
    """

    text: str
    above: tuple[str, ...] = ()
    before: str = ""
    label: str = ""
    opening: str = ""
    heading: bool = False


class Reading(msgspec.Struct, frozen=True):
    """What a sentence says of what is asked: the share that it holds by itself, the share of the question's
    weight that is `missing`, whether it surely `answers`, and whether it `may` by its expression."""

    own: float = 0.0
    missing: float = 1.0
    answers: bool = False
    may: bool = False


NOTHING_SAID = Reading()


class Judge:
    """Says of the sentences of one file whether they surely answer."""

    def __init__(
        self,
        question: Question,
        demand: Demand,
        lexis: Lexis,
        path: str,
        around: Sequence[float] = (),
        plain: Around = NOTHING_AROUND,
    ) -> None:
        """`around` has the affinity of each term with any word of the lines seen of this file, `plain` what
        those say of their words."""
        self._question = question
        self._demand = demand
        self._lexis = lexis
        self._file = name_forms(path, question.text)
        self._spelled = spelled(path)
        self._plain = plain
        self._denies = patterns.DENIES.search(question.text) is not None
        self._taken_back = patterns.TAKEN_BACK.search(question.text) is not None
        self._set_apart = patterns.SETS_APART.search(question.text) is not None
        stems = {stem(form) for form in self._file}
        self._named_by_file = [float(term.word.stem in stems) for term in question.terms]
        self._is_chinese = any(is_cjk(term.word.form) for term in question.terms)
        self._told_here = [far >= SAME_ROOT for far in around]
        self._subject = [float(self._is_subject(index, around)) for index in range(len(question.terms))]

    def reading(
        self, sentence: Sentence, own: Sequence[float], above: Sequence[float], kind: float
    ) -> Reading:
        """What a sentence says of what is asked.

        `own` has the affinity of each term with the sentence, `above` that with its headings, `kind` how
        plainly it holds an expression of the kind asked for.
        """
        label = sentence.label or valued(sentence.text, counts=self._question.kind is Kind.COUNT)
        labelled = bool(label) and self._says(label)
        missing = self._missing(own, above)
        own = self._with_implied(own) if labelled else own
        said = self._said(own, above)
        if not self._speaks_of_it(sentence, said, label):
            return NOTHING_SAID
        share = self._share(list(map(max, own, self._named_by_file)))
        if not sentence.label and self._has_another(sentence.text, own):
            return Reading(own=share, missing=missing)
        return Reading(
            own=share,
            missing=missing,
            answers=self._answers(own, said, kind, label if labelled else "")
            and self._says_all(own, sentence.text),
            may=self._may_be_weighed(own, labelled=labelled) and self._is_of_the_kind(own, kind),
        )

    def _speaks_of_it(self, sentence: Sentence, said: Sequence[float], label: str) -> bool:
        """Whether a sentence may answer at all: it states something, and of what is asked about."""
        return (
            self._holds_half(said)
            and self._may_answer(sentence)
            and is_done_by_it(self._question, sentence.text, label)
        )

    def _has_another(self, text: str, own: Sequence[float]) -> bool:
        """Whether a sentence has another word in the place of one of the question's, which the text has
        elsewhere, or tells of something else that only belongs to what is asked about. A name may be called
        otherwise: "the ship" under the heading of its name."""
        if text.startswith("-") or self._question.identifiers:
            # What an option or a setting does is told without its name.
            return False
        terms = [term.word for term in self._question.terms]
        named = self._question.named
        missing = [
            term.form
            for term, here, told in zip(terms, own, self._told_here, strict=False)
            if told and here < SYNONYM and term.form not in named
        ]
        subjects = [terms[index] for index in self._demand.asked]
        return is_taken(self._question.text, missing, text) or belongs_to_another(
            subjects, self._question.text, text
        )

    def _said(self, own: Sequence[float], above: Sequence[float]) -> list[float]:
        """What a sentence, the headings above it, or its file's name say."""
        around = [far if far >= PLAINLY else 0.0 for far in above]
        return list(map(max, own, around, self._named_by_file))

    def _missing(self, own: Sequence[float], above: Sequence[float]) -> float:
        """The share, by weight, of the question's words that neither the sentence, nor what is above it, nor
        its file's name says; of a word with a synonym there a part is missing."""
        said = self._said(own, above)
        weights = [
            weight if term.weight >= 1.0 else 0.0
            for term, weight in zip(self._question.terms, self._lexis.weights, strict=True)
        ]
        lost = (
            weight * (1.0 if far < SYNONYM else LOST_BY_A_SYNONYM if far < SAME_ROOT else 0.0)
            for weight, far in zip(weights, said, strict=True)
        )
        return sum(lost) / (sum(weights) or 1.0)

    def _may_be_weighed(self, own: Sequence[float], *, labelled: bool) -> bool:
        """Whether a sentence says of which thing it speaks, and where little is asked, all of that: "granted"
        alone names no lender. A word that is asked about and that no text seen has is told nowhere."""
        own = list(map(max, own, self._named_by_file))
        if self._question.kind is Kind.PERSON and own[self._rarest] < SYNONYM:
            return False
        told = all(own[index] >= SYNONYM for index in self._lexis.nowhere.intersection(self._demand.asked))
        enough = len(self._demand.asked) > FEW or self._share(own) >= IN_ALL
        return told and enough and self._is_restricted(own, labelled=labelled)

    def _is_restricted(self, own: Sequence[float], *, labelled: bool) -> bool:
        """Whether a sentence itself says of which thing it speaks ("active" of "the active queue")."""
        return labelled or all(own[index] >= SAME_ROOT for index in self._demand.restricting)

    def _holds_half(self, said: Sequence[float]) -> bool:
        return self._demand.asked != () and self._share(list(map(max, said, self._subject))) >= HALF

    def _may_answer(self, sentence: Sentence) -> bool:
        """Whether a sentence speaks of the names and numbers of the question, and states something of
        them."""
        return (
            self._has_identifiers(sentence)
            and self._states(sentence)
            and not self._is_turned(sentence)
            and self._agrees(sentence.text)
            and all(self._is_named(name, sentence) for name in self._question.names)
            and self._has_numbers(sentence)
        )

    def _has_identifiers(self, sentence: Sentence) -> bool:
        """Whether a sentence speaks of all identifiers of the question, and of no other one."""
        asked = self._question.identifiers
        if not all(_holds(each, sentence, self._spelled) for each in asked):
            return False
        return not asked or not _is_of_another(asked, sentence)

    def _states(self, sentence: Sentence) -> bool:
        """Whether a sentence states something that may be what is asked, and that holds."""
        text = sentence.text
        return (
            not sentence.heading
            and len(text) <= MAX_SENTENCE_LENGTH
            and not is_open(text)
            and not is_of_another_dimension(self._question.text, text)
            and (self._taken_back or not patterns.TAKEN_BACK.search(text))
            and (self._set_apart or not patterns.SETS_APART.search(text))
            and not any(self._is_rejecting(title) for title in sentence.above)
        )

    def _is_rejecting(self, title: str) -> bool:
        """Whether a heading says that what is under it does not hold, and the question does not ask for
        that."""
        found = patterns.REJECTS.search(title)
        return found is not None and not {word.form for word in words(found.group())} <= self._question.spoken

    def _is_turned(self, sentence: Sentence) -> bool:
        """Whether a sentence says the contrary of what is asked, what only was to be, or an example's value.

        To ask whether something is so, its contrary is an answer.
        """
        if self._question.kind is Kind.PERMISSION:
            return False
        return tells_of_another(self._question.text, sentence.text, sentence.above) or is_only_meant(
            self._question, sentence.text
        )

    def _agrees(self, text: str) -> bool:
        """Whether a sentence denies as the question does; a denial names no person and no place."""
        if self._denies:
            return patterns.DENIES.search(text) is not None
        if self._question.kind not in _NAMED_BY_SAYING_SO:
            return True
        return not denies(self._question, text) and self._in_one_clause(text)

    def _in_one_clause(self, text: str) -> bool:
        """Whether a clause (up to a semicolon) with the rarest term of what is asked has the answer, too."""
        clauses = text.split(";", MAX_CLAUSES)
        if len(clauses) == 1 or not self._demand.asked:
            return True
        term = self._question.terms[self._rarest].word
        having = [each for each in clauses if any(affinity(term, word) >= SAME_ROOT for word in words(each))]
        wanted = 1.0 if self._question.kind in _ALONE else OF_THE_KIND
        return not having or any(strength(self._question, each, self._plain) >= wanted for each in having)

    def _with_implied(self, own: Sequence[float]) -> list[float]:
        """The affinities with what gives only a value, also those of what one does with such things."""
        implied = stems_of(IMPLIED)
        return [
            max(value, float(term.word.stem in implied))
            for value, term in zip(own, self._question.terms, strict=True)
        ]

    def _says(self, label: str) -> bool:
        """Whether the question says every word of a label, in its own words or in others."""
        light = stems_of(LIGHT)
        telling = [
            word
            for word in words(label)
            if word.form not in STOPWORDS and not word.form[0].isdigit() and word.stem not in light
        ]
        return bool(telling) and all(
            any(
                affinity(term.word, word) >= SYNONYM
                or word.stem in {other.stem for other in term.alternatives}
                for term in self._question.terms
            )
            for word in telling
        )

    def _answers(self, own: Sequence[float], said: Sequence[float], kind: float, label: str) -> bool:
        """Whether a sentence, or what is given under a `label`, has enough of what is asked about, and an
        answer to it.

        One that has all of many words need hold no plain expression: "as of the date such litigation is
        filed" says when.
        """
        held = self._share(list(map(max, said, self._subject)))
        if not self._holds_enough(own, said, held, label):
            return False
        if self._question.kind is Kind.ANY:
            return held >= IN_ALL and (label != "" or kind >= OF_THE_KIND)
        if self._holds_the_kind(own, kind):
            return True
        faint = self._question.kind is Kind.DATE and not self._question.exact
        return faint and kind >= FAINTLY and held >= IN_ALL and len(self._demand.asked) >= MANY

    def _holds_enough(self, own: Sequence[float], said: Sequence[float], held: float, label: str) -> bool:
        """Whether a sentence has enough of what is asked about. `held` is the share said there or above."""
        labelled = bool(label)
        its_own = self._share(list(map(max, own, self._named_by_file)))
        return (
            held >= (ASKED_OF_A_FIELD if labelled else ASKED_ABOUT)
            and its_own >= self._least_own(labelled=labelled)
            and self._is_restricted(own, labelled=labelled)
            and self._has_rarest(said, label)
        )

    def _has_rarest(self, said: Sequence[float], label: str) -> bool:
        """Whether the rarest term of what is asked about is there, or a `label` is an identifier of it."""
        if label and not set(identifiers_in(label)).isdisjoint(self._question.identifiers):
            return True
        return said[self._rarest] >= (SYNONYM if label else SAME_ROOT)

    def _says_all(self, own: Sequence[float], text: str) -> bool:
        """Whether a Chinese sentence has every pair of characters of a longer question, and neither denies
        nor doubts: its words are not known. True of every other language."""
        if not self._is_chinese:
            return True
        doubts = set(patterns.CHINESE_DOUBT.findall(text)) - set(
            patterns.CHINESE_DOUBT.findall(self._question.text)
        )
        asked = self._demand.asked
        return len(asked) >= MANY and not doubts and all(own[index] >= SAME_ROOT for index in asked)

    def _holds_the_kind(self, own: Sequence[float], kind: float) -> bool:
        """Whether a sentence holds an expression of the kind asked for, and of that value."""
        if self._question.kind is Kind.COUNT and not self._says_what_value(own):
            return False
        alone, units = self._question.kind in _ALONE, self._question.units
        return kind >= (1.0 if alone else OF_A_UNIT if units else OF_THE_KIND)

    def _is_of_the_kind(self, own: Sequence[float], kind: float) -> bool:
        """The same, where whatever a sentence says may be of a kind without a form."""
        formless = self._question.kind in _FORMLESS and not asks_which(self._question.text)
        return formless or self._holds_the_kind(own, kind)

    def _least_own(self, *, labelled: bool) -> float:
        """The share that the sentence itself has to hold; of a yes or no question all."""
        if self._question.kind is Kind.PERMISSION:
            return IN_ALL
        return A_FIELDS_OWN if labelled else ITS_OWN

    def _says_what_value(self, own: Sequence[float]) -> bool:
        """Whether a sentence itself says which value it gives, as the default.

        A heading may say it of another value ("Default: 10w").
        """
        return self._question.units != () or all(
            own[index] >= SYNONYM
            for index in self._demand.asked
            if self._question.terms[index].word.stem in value_stems()
        )

    @property
    def _rarest(self) -> int:
        """The term that weighs most of what is asked about."""
        return max(self._demand.asked, key=lambda index: self._lexis.weights[index])

    def _is_subject(self, index: int, around: Sequence[float]) -> bool:
        """Whether a term is what the whole text is about ("Borg" in its manual): no sentence need say it."""
        term = self._question.terms[index]
        plain = not term.word.form[0].isdigit() and term.word.stem not in value_stems()
        return bool(around) and plain and around[index] >= SAME_ROOT and self._lexis.is_common(index)

    def _share(self, vector: Sequence[float]) -> float:
        """The share of what is asked about, by weight, that is held."""
        weights = [self._lexis.weights[index] for index in self._demand.asked]
        held = [
            weight
            for index, weight in zip(self._demand.asked, weights, strict=True)
            if vector[index] >= SYNONYM
        ]
        return sum(held) / (sum(weights) or 1.0)

    def _has_numbers(self, sentence: Sentence) -> bool:
        """Whether the question's numbers are there, none as the opposite bound ("over 100", "up to 100")."""
        if not self._demand.numbers <= _forms(sentence) | self._file:
            return False
        asked, said = _bounds(self._question.text), _bounds(sentence.text)
        if not all(said.get(number, up) == up for number, up in asked.items()):
            return False
        wanted = _asked_bound(self._question.text)
        return wanted is None or not said or wanted in said.values()

    def _is_named(self, name: Sequence[str], sentence: Sentence) -> bool:
        """Whether a name is in the sentence, in a heading above, or in the name of the file."""
        versions = self._question.kind is Kind.VERSION
        if any(_stands(name, text, versions) for text in (sentence.text, *sentence.above, sentence.opening)):
            return True
        begins = next(words(sentence.text), None)
        if begins is not None and begins.form in PRONOUNS and _stands(name, sentence.before, versions):
            return True
        return self._is_file(name, sentence)

    def _is_file(self, name: Sequence[str], sentence: Sentence) -> bool:
        """Whether the file's name has the numbers of a name and most of its words, and does not go on.

        The rest, as License in Apache License 2.0, has to be in the sentence or above it as a common noun.
        """
        if self._goes_on(name):
            return False
        rest = [form for form in name if form not in self._file]
        if any(form[0].isdigit() for form in rest) or len(rest) > (1 - NAME_WORDS) * len(name):
            return False
        return not rest or _common(sentence).issuperset(map(stem, rest))

    def _goes_on(self, name: Sequence[str]) -> bool:
        """Whether the file's name has a letter or a number behind a word of a name, as norton-cables-b.txt
        has behind Norton Cables."""
        for place, form in enumerate(self._spelled[:-1]):
            after = self._spelled[place + 1]
            if form in name and after not in name and (len(after) == 1 or after[0].isdigit()):
                return True
        return False


def _forms(sentence: Sentence) -> frozenset[str]:
    """The words of a sentence and of the headings above it."""
    return frozenset(word.form for text in (sentence.text, *sentence.above) for word in words(text))


def _bounds(text: str) -> dict[str, bool]:
    """The numbers that are bounds: whether from there up, or up to there."""
    found: dict[str, bool] = {}
    for word in words(text):
        if word.form[0].isdigit():
            before = text[max(0, word.start - MAX_BOUND_LENGTH) : word.start]
            least, most = patterns.AT_LEAST.search(before), patterns.AT_MOST.search(before)
            if least or most:
                found[word.form] = most is None or (least is not None and least.start() < most.start())
    return found


def _asked_bound(text: str) -> bool | None:
    """Whether a question asks for the least that is so (True) or for the most (False), None for neither."""
    least, most = patterns.ASKS_MIN.search(text), patterns.ASKS_MAX.search(text)
    return None if (least is None) == (most is None) else least is not None


def _is_of_another(identifiers: Sequence[str], sentence: Sentence) -> bool:
    """Whether a sentence stands under the term of another identifier than those of the question and names
    none of these before its number: then the value is the other's."""
    titled = {each.lower() for each in identifiers_in(sentence.above[-1])} if sentence.above else set()
    asked = [each.lower() for each in identifiers]
    if not titled or not titled.isdisjoint(asked):
        return False
    value = _DIGIT.search(sentence.text)
    before = sentence.text[: value.start()].lower() if value else ""
    return not any(each in before for each in asked)


def _holds(identifier: str, sentence: Sentence, name: Sequence[str]) -> bool:
    """Whether an identifier is in a sentence, above it, right before it, or is the name of its file."""
    texts = (sentence.text, *sentence.above, sentence.before, sentence.opening)
    whole = re.compile(rf"(?<![\w-]){re.escape(identifier)}(?![\w-]|\.\w)", re.IGNORECASE)
    return any(whole.search(text) for text in texts) or [word.form for word in words(identifier)] == list(
        name
    )


def _common(sentence: Sentence) -> set[str]:
    """The stems of the words in small letters."""
    texts = (sentence.text, *sentence.above)
    return {word.stem for text in texts for word in words(text) if text[word.start].islower()}


def _stands(name: Sequence[str], text: str, versions: bool) -> bool:
    """Whether a name is in a text and does not go on there, as Norton Cables does in "Norton Cables B".

    "BIND version 9" has the name BIND 9.
    Behind a name whose version is asked for a number may follow.
    """
    left_out = GENERIC - set(name)
    seen = [word for word in words(text) if word.form not in left_out]
    size = len(name)
    for start in range(len(seen) - size + 1):
        if any(seen[start + place].form != form for place, form in enumerate(name)):
            continue
        last = seen[start + size - 1]
        following = text[last.end : last.end + 2]
        goes_on = following[1:].isupper() or (following[1:].isdigit() and not versions)
        if following[:1] != " " or not goes_on:
            return True
    return False
