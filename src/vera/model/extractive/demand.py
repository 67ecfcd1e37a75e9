"""What lines must say before they surely answer a question.

To rank lines by the question's words is not to know that they answer it: the deposit of Quay Road 72 has nearly
all words of a question about the rent of Quay Road 27. So a sentence is held against what the question demands:
the names and numbers that it gives, exactly; what it asks about them; an expression of the kind that it asks
for. A sentence stands under headings and in a file whose name may say the first of these for it.
"""

from collections.abc import Sequence

import msgspec

from vera.model.extractive.documents import name_forms
from vera.model.extractive.lexicon import GENERIC, PRONOUNS
from vera.model.extractive.lexis import SYNONYM, Lexis
from vera.model.extractive.question import Kind, Question, frame_words, scaffolding
from vera.model.extractive.words import Word, words

ASKED_ABOUT = 0.6
"""The share of what is asked about (by weight) that a sentence and its headings have to hold."""
OF_THE_KIND = 0.5
"""How plainly an expression has to be of the kind asked for."""
FAINTLY = 0.3
"""The same in a sentence that holds everything of a question of MANY words."""
MANY = 3
IN_ALL = 0.99
NAME_WORDS = 0.5
"""The share of a name that the name of a file has to hold, numbers apart, to stand for it."""

_ALONE = frozenset((Kind.PERSON, Kind.NAME))
"""Of these kinds an expression is one only when it is a name."""


class Demand(msgspec.Struct, frozen=True):
    """What a question demands of a sentence.

    `numbers` are those that belong to no name of it. `asked` are the terms of the question, by index, that say
    what is asked about its names.
    """

    numbers: frozenset[str]
    asked: tuple[int, ...]


def demand_of(question: Question) -> Demand:
    """The demand of a question."""
    spoken = list(words(question.text))
    named = {form for name in question.names for form in name}
    numbers = frozenset(word.form for word in spoken if word.form[0].isdigit()) - named
    given = named | numbers
    content = [index for index, term in enumerate(question.terms) if term.word.form not in given]
    plain = scaffolding()
    strong = [
        index
        for index in content
        if question.terms[index].weight >= 1.0 and question.terms[index].word.form not in GENERIC
    ]
    frame = frame_words(question.text)
    asked = [index for index in strong if question.terms[index].word.form not in frame]
    if not asked:
        asked = strong or [index for index in content if question.terms[index].word.form in frame]
    if not asked:
        asked = [index for index in content if question.terms[index].word.stem not in plain] or content
    return Demand(numbers, tuple(asked))


class Sentence(msgspec.Struct, frozen=True):
    """A sentence of a document, the headings above it, and what stands before it in its paragraph."""

    text: str
    above: tuple[str, ...] = ()
    before: str = ""


class Judge:
    """Says of the sentences of one file whether they surely answer."""

    def __init__(self, question: Question, demand: Demand, lexis: Lexis, path: str) -> None:
        self._question = question
        self._demand = demand
        self._lexis = lexis
        self._file = name_forms(path, question.text)

    def is_answer(self, sentence: Sentence, vector: Sequence[float], kind: float) -> bool:
        """Whether a sentence says what is asked of what is asked about.

        `vector` has the affinity of each term with the sentence and its headings, `kind` how plainly it holds
        an expression of the kind asked for.
        """
        return (
            self._is_of_the_kind(vector, kind)
            and all(self._is_named(name, sentence) for name in self._question.names)
            and self._has_numbers(sentence)
        )

    def _is_of_the_kind(self, vector: Sequence[float], kind: float) -> bool:
        """Whether a sentence has enough of what is asked about, and an answer to it.

        One that has all of many words need hold no plain expression: "as of the date such litigation is filed"
        says when.
        """
        asked = self._demand.asked
        held = self._share(vector)
        if not asked or held < ASKED_ABOUT:
            return False
        if self._question.kind is Kind.ANY:
            return held >= IN_ALL and len(asked) > 1
        if kind >= (1.0 if self._question.kind in _ALONE else OF_THE_KIND):
            return True
        return kind >= FAINTLY and held >= IN_ALL and len(asked) >= MANY

    def _share(self, vector: Sequence[float]) -> float:
        """The share of what is asked about, by weight, that is held."""
        weights = [self._lexis.weights[index] for index in self._demand.asked]
        held = [weight for index, weight in zip(self._demand.asked, weights, strict=True) if vector[index] >= SYNONYM]
        return sum(held) / (sum(weights) or 1.0)

    def _has_numbers(self, sentence: Sentence) -> bool:
        return self._demand.numbers <= _forms(sentence) | self._file

    def _is_named(self, name: Sequence[str], sentence: Sentence) -> bool:
        """Whether a name stands in the sentence, in a heading above, or in the name of the file."""
        if any(_stands(name, text) for text in (sentence.text, *sentence.above)):
            return True
        begins = next(words(sentence.text), None)
        if begins is not None and begins.form in PRONOUNS and _stands(name, sentence.before):
            return True
        return self._is_file(name, sentence)

    def _is_file(self, name: Sequence[str], sentence: Sentence) -> bool:
        """Whether the file's name has the numbers of a name, and most of its words; the rest may stand in the
        sentence or above it."""
        rest = [form for form in name if form not in self._file]
        if any(form[0].isdigit() for form in rest) or len(rest) > (1 - NAME_WORDS) * len(name):
            return False
        return _forms(sentence).issuperset(rest)


def _forms(sentence: Sentence) -> frozenset[str]:
    """The words of a sentence and of the headings above it."""
    return frozenset(word.form for text in (sentence.text, *sentence.above) for word in words(text))


def _stands(name: Sequence[str], text: str) -> bool:
    """Whether a name stands in a text and does not go on there, as Norton Cables does in "Norton Cables B"."""
    seen = list(words(text))
    size = len(name)
    for start in range(len(seen) - size + 1):
        if any(seen[start + place].form != form for place, form in enumerate(name)):
            continue
        last = seen[start + size - 1]
        following = text[last.end : last.end + 2]
        if not (following[:1] == " " and (following[1:].isupper() or following[1:].isdigit())):
            return True
    return False
