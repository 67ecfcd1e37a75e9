"""What a correction puts in the place of a sentence: words, or the sentence with another value."""

from collections.abc import Iterator
from functools import lru_cache

from vera.evidence.superseding import MAX_CHARACTERS, tokens
from vera.evidence.superseding_words import CORRECTION
from vera.text.late_regex import late_regex

MAX_SENTENCES = 100
_BLOCK = 12
_SAME_TOKENS = 3
_SHARE = 0.6
"""Of both sentences, what must be the same words before and behind the one place where they differ."""

_SENTENCE = late_regex(r"(?<=[.!?])\s+|(?<=[。！？；])|[:：]\s")
_EARLIER = late_regex(
    r"(?i)\b(?:earlier|previous(?:ly)?|originally|former(?:ly)?|wrongly|incorrectly|mistakenly|stated|said"
    r"|instead of"
    r"|ursprünglich|früher\w{0,2}|fälschlich\w{0,2}|irrtümlich|statt|précédemment|initialement|par erreur"
    r"|au lieu"
    r"|anteriormente|originalmente|por error|precedentemente|per errore|erroneamente|por engano"
    r"|erradamente)\b"
    r"|原文|此前|误|错"
)
"""In a sentence of a correction, that it repeats what was wrong."""

_NUMBER = late_regex(
    r"\A[\s(*_#-]{0,12}(?:(?:[A-Za-zé§]{1,10}\.?\s)?\d{1,3}(?:\.\d{1,3}){0,3}[a-z]?[.):]"
    r"|\d{1,3}(?:\.\d{1,3}){1,3})\s+"
)
"""The number of the clause that a line begins."""

_HAN = late_regex(r"([一-鿿])")


@lru_cache(maxsize=64)
def corrected(text: str) -> tuple[tuple[int, str], ...]:
    """(line, sentence) of what the corrections of a text say, at most MAX_SENTENCES. Lines count from 1."""
    return tuple(
        each for each, _ in zip(_corrected(text[:MAX_CHARACTERS]), range(MAX_SENTENCES), strict=False)
    )


def _corrected(text: str) -> Iterator[tuple[int, str]]:
    lines = text.split("\n")
    left = 0
    for number, line in enumerate(lines, 1):
        if label := CORRECTION.match(line):
            left, line = _BLOCK, line[label.end() :]
        elif not line.strip() and left < _BLOCK:
            left = 0
        if left and line.strip():
            left -= 1
            for sentence in _SENTENCE.split(line):
                if sentence.strip() and not _EARLIER.search(sentence):
                    yield number, sentence.strip()


def takes_out(wording: tuple[str, str], span: str) -> bool:
    """Whether lines have the words that are taken out, and not those that are put there."""
    old, new = (_spaced(each) for each in wording)
    said = _spaced(span)
    return old.strip() != "" and old in said and not (old in new and new in said)


def differs(sentence: str, span: str) -> bool:
    """Whether a sentence is one of the lines again, but for one place where it says something else."""
    ours = _units(sentence)
    said = " ".join(_NUMBER.sub("", each) for each in span.split("\n"))
    return any(_differs(ours, _units(each)) for each in _SENTENCE.split(said))


def _differs(ours: tuple[str, ...], theirs: tuple[str, ...]) -> bool:
    shorter = min(len(ours), len(theirs))
    if ours == theirs or shorter <= _SAME_TOKENS:
        return False
    pairs = list(zip(ours, theirs, strict=False))
    head = next((n for n, (a, b) in enumerate(pairs) if a != b), shorter)
    backward = list(zip(ours[::-1], theirs[::-1], strict=False))[: shorter - head]
    tail = next((n for n, (a, b) in enumerate(backward) if a != b), len(backward))
    same = head + tail
    return same >= _SAME_TOKENS and same >= _SHARE * max(len(ours), len(theirs)) and same < shorter + 1


def _units(text: str) -> tuple[str, ...]:
    """Its words, and of Chinese each character."""
    return tokens(_HAN.sub(r" \1 ", text))


def _spaced(text: str) -> str:
    return f" {' '.join(_units(text))} "
