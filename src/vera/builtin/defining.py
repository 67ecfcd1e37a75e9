"""Whether a text defines the very thing that is asked about, or says what that thing does.

A longer name is another thing: neither reverse name resolution nor VACUUM INTO is what "name resolution" and
"VACUUM" ask about.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import islice, pairwise, takewhile

from vera.builtin import patterns
from vera.builtin.languages import language_of
from vera.builtin.lexicon import (
    ARTICLES,
    CLASS_NOUNS,
    NO_ADJECTIVES,
    POINTING,
    PRONOUNS,
    STOPWORDS,
    WHICH,
)
from vera.builtin.question import BREAKS, MAX_TERMS, Kind, Question, frame_words
from vera.builtin.words import Word, affinity, words
from vera.text.stopwords import GERMAN

SAME = 0.75
"""The least affinity of a word with a word of the term."""
BEGINS_EARLY = 40
"""Characters before a term that count as none."""
NO_DEFINITION = 0.4
"""What follows the term may explain it, but as well may not: a bracket, a dash, "is" alone."""
LATER = 0.7
LEAST_SAID = 3
"""Words behind a label below which it is an entry of an index."""
MAX_BEHIND = 240
MOST_ADJECTIVES = 3
"""Words between "are" and the noun that says what the things are."""
_NO_PLURAL = ("ss", "us", "is", "ways", "wards", "times", "haps", "sides", "selves", "thing")
"""Endings of words that are no plural: "always", "afterwards"."""

_FREE = re.compile(
    r"(?:^|[.,;:!?(|\t–—\n]|\b(?:and|but|that|because|since|where|und|oder|dass|et|que))[\s\"“'‘`*_]*$"
)
"""What may stand before a term that is not part of a longer name."""
_DOES = re.compile(
    r"^\W*(?:what (?:do|does|did|will)|was (?!ist|sind|war)\w{2,30}t|que \w{2,30})\W+(.{1,200})",
    re.DOTALL,
)
"""Asks what something does; the group begins with the thing."""
_VARIANT = frozenset(("with", "without", "mit", "ohne", "avec", "sans"))
"""Behind a name they make a variant of it: "VACUUM with an INTO clause"."""


def defined(question: Question, text: str) -> float:
    """How plainly a text defines the whole term: "X is a …", "X means …", or X alone as a label; early is
    better."""
    subjects = subjects_of(question)
    known = [term.word for term in question.terms]
    seen = list(words(text))
    best = 0.0
    for place, word in enumerate(seen):
        term = list(
            islice(takewhile(lambda one: _is_one_of(one, known), reversed(seen[: place + 1])), MAX_TERMS)
        )
        if not term or not all(_is_one_of(subject, term) for subject in subjects):
            continue
        first = place + 1 - len(term)
        worth = 1.0 if _is_called(text, seen, first, place) else _says_what(text, seen, first, place)
        best = max(best, worth * (1.0 if word.start < BEGINS_EARLY else LATER))
    return best


def _says_what(text: str, seen: Sequence[Word], first: int, last: int) -> float:
    """How plainly the words behind a term, `first` to `last` of those seen, say what it is."""
    behind = text[seen[last].end : seen[last].end + MAX_BEHIND]
    match = patterns.DEFINES.match(behind)
    if match is None:
        return 0.0
    says = len(seen) - last - 1 >= LEAST_SAID
    label = first == 0 and says and match.group().rstrip().endswith(":")
    plainly = match.group("strong") or label or _are_things(behind)
    return 1.0 if plainly and _is_free(text, seen, first) else NO_DEFINITION


def _are_things(behind: str) -> bool:
    """Whether a noun in the plural follows "are", with adjectives before it: "are small text files".

    Else what follows is only said of the things ("are slow"). A German noun has a capital.
    """
    are = patterns.ARE.match(behind)
    if are is None:
        return False
    place = are.end()
    german = are.group().split()[-1].lower() in ("sind", "waren")
    small = STOPWORDS | GERMAN
    for word in islice(words(behind[place:]), MOST_ADJECTIVES + 1):
        start, end = are.end() + word.start, are.end() + word.end
        spoken = behind[start:end].lower()
        if (
            behind[place:start].strip()
            or spoken in small | NO_ADJECTIVES
            or patterns.DENIES.fullmatch(spoken)
        ):
            return False
        if behind[start].isupper() if german else _is_plural(word.form):
            return german or patterns.GOES_ON_AS_DEFINITION.match(behind[end:]) is not None
        place = end
    return False


def _is_plural(form: str) -> bool:
    """Whether an English word looks like a noun in the plural."""
    return len(form) > 3 and form.endswith("s") and not form.endswith(_NO_PLURAL)


def _is_called(text: str, seen: Sequence[Word], first: int, last: int) -> bool:
    """Whether a text ends a definition with the term: "The process of … is called X"."""
    before = patterns.CALLED.search(text[max(0, seen[first].start - MAX_BEHIND) : seen[first].start])
    if before is None:
        return False
    said = [word for word in seen[:first] if word.end <= seen[first].start - len(before.group())]
    tells = len(said) > LEAST_SAID and said[0].form not in PRONOUNS | POINTING and said[-1].form not in WHICH
    denied = patterns.DENIES.search(text[: seen[first].start]) is not None
    following = seen[last + 1] if last + 1 < len(seen) else None
    ends = following is None or following.form in STOPWORDS or text[seen[last].end : following.start].strip()
    return bool(tells and ends and not denied)


def subjects_of(question: Question) -> list[Word]:
    """The words of the term that is asked about; "name" and "type" only right before one of these."""
    named, frame = question.named, frame_words(question.text)
    terms = [term for term in question.terms if term.word.form not in frame]
    strong = [term for term in terms if term.weight >= 1.0]
    subjects = [term for term in strong if term.word.form not in named] or strong
    leading = [
        one
        for one, other in pairwise(terms)
        if one not in subjects and other in subjects and other.word.start == one.word.end + 1
    ]
    return [term.word for term in (*leading, *subjects)]


def _is_one_of(word: Word, others: Sequence[Word]) -> bool:
    return any(affinity(other, word) >= SAME for other in others)


def _is_free(text: str, seen: Sequence[Word], first: int) -> bool:
    """Whether the words from `first` on begin a noun phrase: nothing but an article belongs to them."""
    if first and seen[first - 1].form in ARTICLES:
        first -= 1
    return _FREE.search(text[max(0, seen[first].start - MAX_BEHIND) : seen[first].start]) is not None


def is_done_by_it(question: Question, text: str, label: str) -> bool:
    """Of a question like "What does X do?": whether X is the subject of a text, or its whole `label`.

    True of every other question.
    """
    thing = thing_of(question.text) if question.kind is Kind.ANY else ()
    if not thing:
        return True
    return any(_begins_with(thing, each) for each in (text, label))


@lru_cache(maxsize=16)
def thing_of(question: str) -> tuple[str, ...]:
    """The words of X in "What does X do?" without those of its class, () for any other question."""
    lowered = " ".join(question.lower().split())
    asked = _DOES.match(lowered)
    if asked is None:
        return ()
    small = STOPWORDS | BREAKS | language_of(lowered)
    seen = list(words(asked.group(1)))
    start = 1 if seen and seen[0].form in ARTICLES else 0
    phrase = list(takewhile(lambda word: word.form not in small, seen[start:]))
    behind = seen[start + len(phrase)].form if start + len(phrase) < len(seen) else ""
    if lowered.startswith("what") and behind != "do":
        # The last word is what it does: "what does the filter remember".
        phrase = phrase[:-1]
    return tuple(word.stem for word in phrase if word.form not in CLASS_NOUNS)


def _begins_with(thing: Sequence[str], text: str) -> bool:
    """Whether a text begins with a thing, an article and a noun of its class apart, that does not go on."""
    seen = [word for word in words(text) if word.form not in CLASS_NOUNS]
    start = 1 if seen and seen[0].form in ARTICLES else 0
    own = seen[start : start + len(thing)]
    if [word.stem for word in own] != list(thing):
        return False
    last, following = own[-1], seen[start + len(own) :][:1]
    return not following or not _goes_on(text, last, following[0])


def _goes_on(text: str, last: Word, following: Word) -> bool:
    """Whether a word behind a name makes it another thing: INTO of "VACUUM INTO", "mode" of "name-mode"."""
    if following.form in _VARIANT:
        return True
    between = text[last.end : following.start]
    if between in ("-", "_", "."):
        return True
    alike = str.isupper if text[last.start : last.end].isupper() else str.istitle
    return (
        between == " " and alike(text[last.start : last.end]) and alike(text[following.start : following.end])
    )
