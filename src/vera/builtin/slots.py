"""Whether a sentence has another word in the place of one that is asked for.

"Normal kidney function" is there for "impaired kidney function", and "the seller pays" for "the buyer
pays": the word of the question is missing, and next to the same neighbour stands a word that the question
has not. A word that is only left out leaves its place empty.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache

from vera.builtin.lexicon import ARTICLES, POINTING, STOPWORDS, words_of
from vera.builtin.words import MIN_SHARED, Word, affinity, is_cjk, words
from vera.text.stopwords import LANGUAGES

SAME = 0.75
"""The least affinity of a word with a word of the question."""
MAX_GAP = 3
"""Small words between two neighbours."""
_LEAST_LENGTH = 3
_ALL_ARTICLES = ARTICLES | words_of("el los las lo il gli i o a os as uma um uno una")
_BREAKS = frozenset(',;:.()|\t\n"“”„«»‘')
"""Between two words they part them."""
_ENDS = re.compile(r"[?？](?!.*[?？])", re.DOTALL)
_HAVING = frozenset(("have", "has", "had"))
_LINKING = _HAVING | frozenset(("according",))
"""Small words whose neighbours tell nothing: "does the castle have"."""
_ASKING = words_of(
    "which what whose how many much welche welcher welches welchen welchem wie viel viele vielen"
)
_ASKING_RIGHT_BEFORE = _ASKING | words_of(
    """quel quelle quels quelles combien que cual cuales cuanto cuanta cuantos cuantas
    che quale quali quanto quanta quanti quante qual quais quantos quantas"""
)
"""In these languages an adjective stands behind its noun."""
_POINTING = POINTING | words_of(
    """diesem diesen dieser jene jener cet ces este esta estos estas ese esa dicho dicha questo questa questi
    queste quel quella esse essa esses essas isto"""
)
_AUXILIARIES = words_of(
    """is are was were has have had will ist sind war waren wurde wurden wird hat est sont fut etait a ont es
    son fue fueron era ha e sono fu foi foram"""
)
_WITHIN = words_of(
    """for in on at near behind under above beside with inside around opposite
    fur im auf bei beim neben hinter vor unter uber an am mit
    pour dans sur chez avec sous devant derriere para en con sobre bajo
    per nel nella nello su sul sulla sotto em com sob"""
)
"""What they lead in belongs to the noun before them."""


def is_taken(question: str, missing: Sequence[str], text: str) -> bool:
    """Whether another word has the place of one of the question's that are `missing` in a text. What is
    behind the question mark, words of the question that a follow-up goes on from, has no place in it."""
    asked, said = list(words(_ENDS.split(question)[0])), list(words(text))
    for place, word in enumerate(asked):
        if word.form in missing and not _is_of_the_answer(place, asked) and not is_cjk(word.form):
            taken = (_is_other(other, asked) for other in _in_place_of(place, asked, said, text))
            if any(taken):
                return True
    return False


def _is_of_the_answer(place: int, asked: Sequence[Word]) -> bool:
    """Whether a word says which answer is asked for: "SIGHUP" may take the place of "which signal"."""
    before = [word.form for word in asked[max(0, place - 2) : place]]
    return not _ASKING.isdisjoint(before) or (before != [] and before[-1] in _ASKING_RIGHT_BEFORE)


def belongs_to_another(subjects: Sequence[Word], question: str, text: str) -> bool:
    """Whether one of the words that are asked about only says where or what for something else is, of which
    the text speaks: "the gallery for the organ was built"."""
    asked, said = list(words(question)), list(words(text))
    for subject in subjects:
        places = [place for place, word in enumerate(said) if affinity(subject, word) >= SAME]
        owned = [_owner(place, said) for place in places]
        if owned and all(each is not None and _is_other(each, asked) for each in owned):
            return True
    return False


def _owner(place: int, said: Sequence[Word]) -> Word | None:
    """The noun that a word right before an auxiliary belongs to by a preposition."""
    if place + 1 >= len(said) or said[place + 1].form not in _AUXILIARIES:
        return None
    before = place - 1
    if before >= 0 and said[before].form in _ALL_ARTICLES:
        before -= 1
    return said[before - 1] if before >= 1 and said[before].form in _WITHIN else None


def _in_place_of(place: int, asked: Sequence[Word], said: Sequence[Word], text: str) -> Iterator[Word]:
    """The words of a text next to a neighbour that a word of the question has, with the same between them or,
    as a question turns subject and verb, on the other side."""
    for step in (1, -1):
        at = next(
            (
                each
                for each in range(place + step, place + step * (MAX_GAP + 2), step)
                if 0 <= each < len(asked) and (not _is_small(asked[each]) or asked[each].form in _LINKING)
            ),
            None,
        )
        if at is None:
            continue
        gap = [word.form for word in asked[min(place, at) + 1 : max(place, at)]]
        for found, word in enumerate(said):
            if _is_same(asked[at], word):
                yield from _beside(found, -step, gap, said, text)
                if set(gap) <= _ALL_ARTICLES:
                    yield from _beside(_end(found, step, asked, said), step, [], said, text)


def _beside(found: int, step: int, gap: Sequence[str], said: Sequence[Word], text: str) -> Iterator[Word]:
    """The word beside another one in a direction, if nothing but the `gap` is between them. "This part" is
    whatever was spoken of."""
    at = found + step * (len(gap) + 1)
    if 0 <= at < len(said):
        low, high = min(at, found), max(at, found)
        between = text[said[low].end : said[high].start]
        alike = [word.form for word in said[low + 1 : high]] == list(gap)
        points = at > 0 and said[at - 1].form in _POINTING
        if alike and not points and _BREAKS.isdisjoint(between) and " ’" not in between:
            yield said[at]


def _end(found: int, step: int, asked: Sequence[Word], said: Sequence[Word]) -> int:
    """The last word of the question in a row from a word on."""
    while step > 0 and found + 1 < len(said) and not _is_small(said[found + 1]):
        if not any(_is_same(word, said[found + 1]) for word in asked):
            break
        found += 1
    return found


def _is_same(one: Word, other: Word) -> bool:
    return affinity(one, other) >= SAME or (one.form in _HAVING and other.form in _HAVING)


def _is_other(word: Word, asked: Sequence[Word]) -> bool:
    """Whether a word says something that the question does not."""
    if _is_small(word) or word.form[0].isdigit():
        return False
    return all(
        affinity(other, word) < SAME
        and (len(other.form) <= MIN_SHARED or other.form[:MIN_SHARED] != word.form[:MIN_SHARED])
        for other in asked
    )


def _is_small(word: Word) -> bool:
    """Whether a word joins, in any language, or is the rest of one: the "l" of "l'heure"."""
    return len(word.form) < _LEAST_LENGTH or word.form in _small()


@cache
def _small() -> frozenset[str]:
    every = frozenset(word.form for language in LANGUAGES for entry in language for word in words(entry))
    return STOPWORDS | every | words_of("dell dall all nell sull quell")
