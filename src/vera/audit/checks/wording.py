"""Wording: whether the cited lines are about what the claim says, and say it as strongly.

Hints, but for lines that hold next to nothing of what is said. How many of a claim's words stand together
near the cited lines tells most of all that can be told without a model; polarity and degree are compared only
where a few lines are cited, since a whole page has every "not" and "may" somewhere.
"""

import re
from collections.abc import Iterator, Sequence

from vera.audit.case import Case, CitedLines, statements
from vera.audit.checks.names import names_in
from vera.evidence.claim import Claim
from vera.evidence.finding import Finding
from vera.text.language import differ
from vera.text.words import STOPWORDS, folded, hedges, negations, stem, stems, words

COVERED_PERCENT = 48
"""The share of a claim's weighted words that must stand together. Chosen, with the weights and the window, on
the whole development split of WiCE, where F1 and balanced accuracy of all findings are flat from 45 to 50 and
balanced accuracy falls above."""

FLOOR_PERCENT = 20
"""Below this share of a claim's content words no judge is believed: it drops at most 2 % of the supported
pairs of WiCE (development split), FEVER and COVID-Fact, which weigh the same, in five folds
(`benchmarks/floor.py`)."""

FLOOR_WORDS = 3
FLOOR_LETTERS = 4

NAME_WEIGHT = 2
NUMBER_WEIGHT = 3
"""What a name and a number weigh, in plain words."""

WINDOW = 3
"""Consecutive lines that count as together."""

NEIGHBOURS = 2
"""Lines before and after the cited ones where a hint is not raised about what is there."""

NARROW = 12
NARROW_BYTES = 8000
"""Cited lines, and their bytes, up to which polarity is compared and degree looked for near them only."""

SAME_SUBJECT_PERCENT = 60
"""The share of a claim's words that one line must hold before its polarity and modality are the claim's."""

WORDS_LISTED = 12

_ABSOLUTES = {
    word: group
    for group in (
        ("only", "sole", "solely", "exclusive", "exclusively", "unique", "uniquely", "single"),
        ("first", "earliest", "1st", "pioneer", "pioneered", "debut", "inaugural", "maiden", "original"),
        ("all", "every", "entire", "entirely", "whole", "everyone", "everything", "each", "always", "both"),
        ("most", "best", "worst", "least", "largest", "biggest", "greatest", "smallest", "highest", "lowest",
         "longest", "shortest", "tallest", "oldest", "youngest", "newest", "fastest", "richest", "strongest",
         "deepest", "heaviest", "poorest", "majority", "mainly", "mostly", "top", "record", "leading"),
    )
    for word in group
}  # fmt: skip
_AT = re.compile(r"\bat[\s-]{1,3}(?:the\s)?\Z", re.IGNORECASE)
"""Before a word of degree it makes a bound ("at most", "at the least")."""

_LOOK_BACK = 12
_PATTERNS = {group: re.compile(rf"\b(?:{'|'.join(group)})\b") for group in set(_ABSOLUTES.values())}


def wording(case: Case) -> Iterator[Finding]:
    """The hints about each claim that cites something, in the order of the claims."""
    for claim, cited in statements(case):
        weights = _weights(claim.text)
        if not cited or not weights:
            continue
        yield from _words_absent(claim, cited, weights)
        yield from _degree(claim, cited)
        if all(_is_narrow(place) for place in cited):
            yield from _polarity(claim, cited, weights)


def _weights(text: str) -> dict[str, int]:
    """The stems of a text's content words, with what each of them weighs."""
    named = {name.start for name in names_in(text)}
    weights: dict[str, int] = {}
    for word in words(text):
        if word.form in STOPWORDS:
            continue
        key = stem(word.form)
        number = any(character.isdigit() for character in key)
        weight = NAME_WEIGHT if word.start in named else NUMBER_WEIGHT if number else 1
        weights[key] = max(weight, weights.get(key, 0))
    return weights


def _words_absent(claim: Claim, cited: Sequence[CitedLines], weights: dict[str, int]) -> Iterator[Finding]:
    held: set[str] = set()
    for place in cited:
        held |= place.source.passages.cover(weights, WINDOW, *_around(place)).held
        held |= weights.keys() & set(stems(_heads(place)))
    total = sum(weights.values())
    covered = 100 * sum(weights[stem] for stem in held) // total
    if covered >= COVERED_PERCENT:
        return
    share = floor_share(claim.text, cited)
    absent = dict.fromkeys(
        claim.text[word.start : word.end]
        for word in words(claim.text)
        if word.form not in STOPWORDS and stem(word.form) not in held
    )
    listed = ", ".join(list(absent)[:WORDS_LISTED])
    yield Finding(
        code="words_absent",
        label="wrong_evidence",
        severity="hard" if share is not None and share < FLOOR_PERCENT else "soft",
        message=f"The cited lines hold {covered} % of what the statement says; not together with the rest: "
        f"{listed}. Cite the lines that say it, or say what they say.",
        claim=claim.key,
        evidence=cited[0].evidence.id,
        first=cited[0].first,
        last=cited[0].last,
        detail=listed,
    )


def floor_share(text: str, cited: Sequence[CitedLines]) -> int | None:
    """The percentage of the content words of a claim that are in the cited lines, in their title or in the
    headings over them; a word with the same first letters counts. None for what cannot be compared: a
    claim of few words, lines in another language, and what a command printed."""
    said = frozenset(stems(text))
    if len(said) < FLOOR_WORDS or any(place.evidence.tier == "observed" for place in cited):
        return None
    if any(differ(text, place.source.text) for place in cited):
        return None
    heads = " ".join(map(_heads, cited))
    there = frozenset(stems(heads)).union(*(place.span.all_stems for place in cited))
    starts = frozenset(found[:FLOOR_LETTERS] for found in there if len(found) >= FLOOR_LETTERS)
    held = sum(1 for key in said if key in there or key[:FLOOR_LETTERS] in starts)
    return 100 * held // len(said)


def _heads(place: CitedLines) -> str:
    """The title of the source, and the headings over the lines."""
    return " ".join((place.evidence.title, *place.headings))


def _degree(claim: Claim, cited: Sequence[CitedLines]) -> Iterator[Finding]:
    """Words such as only, first, all, largest that the source does not use, nor another of their kind."""
    used = [
        word
        for word in words(claim.text)
        if word.form in _ABSOLUTES and not _AT.search(claim.text, max(0, word.start - _LOOK_BACK), word.start)
    ]
    groups = {_ABSOLUTES[word.form] for word in used}
    there = {group for group in groups if any(_PATTERNS[group].search(_near(place)) for place in cited)}
    for word in used:
        if _ABSOLUTES[word.form] not in there:
            written = claim.text[word.start : word.end]
            yield _finding(
                claim,
                cited[0],
                "superlative",
                "overconfident",
                written,
                f'The statement says "{written}", the cited lines do not. Say it as they do.',
            )


def _polarity(claim: Claim, cited: Sequence[CitedLines], weights: dict[str, int]) -> Iterator[Finding]:
    """Negation on one side only, and a limit that the claim leaves out."""
    denied = negations(claim.text)
    if denied and not any(negations(_text(place, *_around(place))) for place in cited):
        written = claim.text[denied[0].start : denied[0].end]
        yield _finding(
            claim,
            cited[0],
            "negation",
            "misinterpretation",
            written,
            f'The statement denies ("{written}"), the cited lines do not. Read them again.',
        )
    lines = [line for place in cited if (line := _same_subject(place, weights))]
    if lines and not denied and all(negations(line) for line in lines):
        written = _first(lines[0], negations(lines[0])[0].form)
        yield _finding(
            claim,
            cited[0],
            "negation",
            "misinterpretation",
            written,
            f'The cited lines deny ("{written}"), the statement does not. Read them again.',
        )
    yield from _modality(claim, cited[0], lines)


def _modality(claim: Claim, place: CitedLines, lines: Sequence[str]) -> Iterator[Finding]:
    """A source that says may where the claim says is."""
    if lines and not hedges(claim.text) and all(hedges(line) for line in lines):
        written = _first(lines[0], hedges(lines[0])[0].form)
        yield _finding(
            claim,
            place,
            "modality",
            "overconfident",
            written,
            f'The cited lines say "{written}", the statement asserts it plainly. Keep the limit.',
        )


def _same_subject(place: CitedLines, weights: dict[str, int]) -> str:
    """The cited line that holds most of the claim's words, '' when it does not hold enough of them."""
    cover = place.source.passages.cover(weights, 1, place.first, place.last)
    share = 100 * sum(weights[stem] for stem in cover.held)
    if share < SAME_SUBJECT_PERCENT * sum(weights.values()):
        return ""
    return _text(place, cover.first, cover.last)


def _is_narrow(place: CitedLines) -> bool:
    start, end = place.source.lines.bounds(place.first, place.last)
    return place.last - place.first < NARROW and end - start <= NARROW_BYTES


def _near(place: CitedLines) -> str:
    """The cited lines and their neighbours, folded; the whole source when many lines are cited."""
    return folded(_text(place, *_around(place))) if _is_narrow(place) else place.source.folded


def _around(place: CitedLines) -> tuple[int, int]:
    return max(1, place.first - NEIGHBOURS), min(len(place.source.lines), place.last + NEIGHBOURS)


def _text(place: CitedLines, first: int, last: int) -> str:
    return place.source.lines.cut(first, last).decode("utf-8", "replace")


def _first(text: str, form: str) -> str:
    return next(text[word.start : word.end] for word in words(text) if word.form == form)


def _finding(claim: Claim, place: CitedLines, code: str, label: str, detail: str, message: str) -> Finding:
    return Finding(
        code=code,
        label=label,
        severity="soft",
        message=message,
        claim=claim.key,
        evidence=place.evidence.id,
        first=place.first,
        last=place.last,
        detail=detail,
    )
