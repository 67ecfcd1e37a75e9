"""Which document a question is about, judged by the documents' names.

"… under the GPL version 3" wants `GPL-3.txt` and neither `GPL-2.txt` nor `LGPL-3.txt`; "the Mozilla Public
License" wants `MPL-2.0.txt` by its initials. A question that names no document wants none more than another.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

import msgspec

from vera.builtin.lexicon import STOPWORDS
from vera.builtin.question import Question
from vera.builtin.words import Word, affinity, words

_LETTERS_DIGITS = re.compile(r"(?<=[A-Za-z])v?(?=\d)|_+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_LETTERS = re.compile(r"[^\W\d_]+")
_FEWEST_INITIALS = 3
_MAX_RUN_LENGTH = 12
MAX_NAMES = 5000


class Match(msgspec.Struct, frozen=True):
    """How well a document fits what the question says of documents.

    `fit` is 1 for the one named (and for all, where none is named) and lower for its rivals; `answered` are
    the folded words of the question that its name answers: its passages need not hold them, as far as it is
    `certain` (0 to 1) that the question means a document by them.
    """

    fit: float = 1.0
    certain: float = 0.0
    answered: frozenset[str] = frozenset()


def match_names(question: Question, paths: Iterable[str]) -> dict[str, Match]:
    """The match of every path with the question."""
    names = {path: _name_words(path) for path in list(paths)[:MAX_NAMES]}
    spread = _spread(names.values())
    text = _apart(question.text)
    asked = [word for word in words(text) if word.form not in STOPWORDS]
    initials = _outermost([entry for entry in _initials(text) if entry[0] in spread])
    scored = {path: _score(found, asked, initials, spread, len(names)) for path, found in names.items()}
    best = max((score for score, _ in scored.values()), default=0.0)
    if best <= 0.0:
        return {}
    runs = _named_runs(text)
    sure = max(
        _certainty(names[path], answered, runs) for path, (score, answered) in scored.items() if score == best
    )
    return {
        path: Match(1.0 - sure * (1.0 - score / best), sure, _widened(answered, runs))
        for path, (score, answered) in scored.items()
    }


def _spread(names: Iterable[list[Word]]) -> Counter[str]:
    """In how many names each word is."""
    return Counter(form for name in names for form in {word.form for word in name})


def _certainty(name: list[Word], answered: frozenset[str], runs: list[frozenset[str]]) -> float:
    """How surely the question means this document: the share of the name that it says, less if in passing.

    A whole name in lower case ("xargs") may be one; a part of one in lower case is most likely none.
    """
    spoken = list(words(" ".join(sorted(answered))))
    said = sum(1 for word in name if any(affinity(word, other) >= 0.75 for other in spoken))
    share = min(1.0, max(said, 1) / max(len(name), 1))
    if any(answered & run for run in runs):
        return share
    return share * (0.75 if share == 1.0 else 0.5)


def _named_runs(text: str) -> list[frozenset[str]]:
    """Runs of capitalised words and numbers after the first word: "Apache License, Version 2.0"."""
    runs: list[list[str]] = [[]]
    previous_end = 0
    for index, word in enumerate(words(text)):
        first = text[word.start]
        if text[previous_end : word.start].strip() not in ("", ",", "-", "("):
            runs.append([])
        counted = runs[-1] and word.form in ("version", "v", "release")
        if first.isdigit() or counted or (index and first.isupper()):
            runs[-1].append(word.form)
        else:
            runs.append([])
        previous_end = word.end
    return [frozenset(run) for run in runs if run]


def _widened(answered: frozenset[str], runs: list[frozenset[str]]) -> frozenset[str]:
    """With a word of a name, the rest of the name is answered too; not a word that another name shares."""
    mine = [run for run in runs if run & answered]
    others = [run for run in runs if not run & answered]
    return answered.union(*mine).difference(*others) if mine else answered


def _apart(text: str) -> str:
    return _LETTERS_DIGITS.sub(" ", text)


def name_forms(path: str, text: str) -> frozenset[str]:
    """The folded words of a file's name, its ending left out, a version as it is said, too (3 for 3.0); and
    the words of `text` whose initials are there."""
    forms = {word.form for word in _name_words(path)}
    spelled = (entry[1] for entry in _initials(_apart(text)) if entry[0] in forms)
    whole = {form.removesuffix(".0") for form in forms if form[0].isdigit()}
    return frozenset(forms.union(whole, {f"{form}.0" for form in whole}, *spelled))


def spelled(path: str) -> tuple[str, ...]:
    """The folded words of a file's name in order, its ending left out."""
    return tuple(word.form for word in _name_words(path))


def _name_words(path: str) -> list[Word]:
    pure = PurePosixPath(path)
    stem = pure.name
    suffix = pure.suffix
    if 1 < len(suffix) <= 6 and not suffix[1:].isdigit():
        stem = stem[: -len(suffix)]
    return [word for word in words(_CAMEL.sub(" ", _apart(stem))) if word.form not in STOPWORDS]


def _initials(text: str) -> list[tuple[str, frozenset[str]]]:
    """Initials of runs of capitalised words in the text, with the words they stand for."""
    found: list[tuple[str, frozenset[str]]] = []
    run: list[str] = []
    for token in [*_LETTERS.findall(text), ""]:
        if token[:1].isupper() and len(run) < _MAX_RUN_LENGTH:
            run.append(token.lower())
            continue
        if run and token in ("of", "for", "and", "the"):
            continue
        for first in range(len(run)):
            for last in range(first + _FEWEST_INITIALS, len(run) + 1):
                part = run[first:last]
                found.append(("".join(word[0] for word in part), frozenset(part)))
        run = []
    return found


def _outermost(initials: list[tuple[str, frozenset[str]]]) -> list[tuple[str, frozenset[str]]]:
    """Without those that stand within another: "Lesser General Public License" is LGPL, not GPL."""
    return [entry for entry in initials if not any(entry[1] < other[1] for other in initials)]


def _score(
    name: list[Word],
    asked: list[Word],
    initials: list[tuple[str, frozenset[str]]],
    spread: dict[str, int],
    total: int,
) -> tuple[float, frozenset[str]]:
    """Question words answered by the name, less what the name says beside the question."""
    score, named, answered = 0.0, False, set[str]()
    missed = 0.0
    # "Policy 2025" is no more about policy 2023 than about the weather.
    other_number = 0.9 if any(word.form[0].isdigit() for word in asked) else 0.35
    for word in name:
        rarity = 1.0 if total < 3 else 1.0 - 0.8 * (spread[word.form] - 1) / total
        digits = word.form[0].isdigit()
        worth, said = _worth(word, asked, initials)
        if said:
            score += worth * rarity
            named = named or not digits
            answered |= said
        else:
            missed += other_number if digits else 0.5
    if not named:
        return 0.0, frozenset()
    return max(score - min(missed, 0.8 * score), 0.0), frozenset(answered)


def _worth(
    word: Word, asked: list[Word], initials: list[tuple[str, frozenset[str]]]
) -> tuple[float, frozenset[str]]:
    """What a word of a name counts, and the words of the question that it answers, if any: one like it, or
    those whose initials it has."""
    exact = next((other for other in asked if _is_said(word, other)), None)
    if exact is not None:
        return (0.6 if word.form[0].isdigit() else 1.0), frozenset((exact.form,))
    spelled = next((answered for form, answered in initials if form == word.form), frozenset[str]())
    return 0.7 + 0.1 * len(spelled), spelled


def _is_said(word: Word, other: Word) -> bool:
    """Whether two words agree; of version numbers 3 and 3.0 do, 2 and 2.1 do not."""
    if word.form[0].isdigit() and other.form[0].isdigit():
        return word.form.removesuffix(".0") == other.form.removesuffix(".0")
    return affinity(word, other) >= 0.75


def names_of(matches: Mapping[str, Match], path: str) -> Match:
    """The match of a path that may not have been listed."""
    return matches.get(path, Match())
