"""What changed between two answers: their words, and their claims side by side."""

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import groupby, zip_longest

import msgspec

from vera.evidence.citation import find_citations
from vera.report.html.wording import named
from vera.report.view.model import CitedSource, ClaimView
from vera.text.words import STOPWORDS

MAX_WORDS = 6000
MAX_LINES = 2000
"""Longer answers are compared line by line, and those with more lines not at all."""

ALIKE = 0.6
"""The least share of the shorter claim's content words that the other one has, for one that was changed."""

FEWEST_ALIKE = 3
"""Content words that they must have in common, unless these are half of all that they have."""

LEAST_SAME = 0.4
"""The least share of the shorter answer's words that the other one has in the same order; of answers with
less in common each is shown as a whole."""

MAX_CLAIMS = 200

_WORDS = re.compile(r"\s+|\w+(?:[.,:-]\w+)*|[^\w\s]+")
_CONTENT = re.compile(r"\w+(?:[.,]\w+)*")
_END = re.compile(r"[^\w\s]+")
_LINES = re.compile(r"[^\n]*\n|[^\n]+\Z")


class Change(msgspec.Struct, frozen=True):
    """A stretch of text: `kind` is same, gone or new. One of a citation `cites`: its text is the name of a
    source and its lines."""

    kind: str
    text: str
    cites: bool = False


class _Cited(str):
    """A word that is a citation."""

    __slots__ = ()


class Pair(msgspec.Struct, frozen=True):
    """A claim of two answers; None where one of them does not have it."""

    before: ClaimView | None
    after: ClaimView | None


@lru_cache(maxsize=32)
def changes(
    before: str, after: str, cited: Sequence[CitedSource] = (), cited_after: Sequence[CitedSource] = ()
) -> tuple[Change, ...] | None:
    """What of `before` is gone in `after` and what is new, in order; None where they are too long for it.

    A citation is one word, in the form in which a reader knows it (`GPL-3.txt 258–261`): `cited` are the
    sources of `before`, `cited_after` those of `after`. The same lines of a source have other ids in another
    session.
    """
    left, right = _named(before, cited), _named(after, cited_after)
    for words, most in ((_words, MAX_WORDS), (_lines, MAX_LINES)):
        old, new = words(left), words(right)
        if max(len(old), len(new)) <= most:
            made = _slid(list(_changes(old, new)))
            same = sum(_said(each) for kind, each in made if kind == "same")
            if same < LEAST_SAME * min(_said(old), _said(new)):
                made = [("gone", old), ("new", new)]
            return tuple(each for kind, changed in made for each in _stretches(kind, changed))
    return None


def _said(words: Sequence[str]) -> int:
    """How many are no white space and no punctuation."""
    return sum(any(map(str.isalnum, word)) for word in words)


def _stretches(kind: str, words: Sequence[str]) -> Iterator[Change]:
    """The words as stretches, each citation as one."""
    for is_cited, run in groupby(words, lambda word: isinstance(word, _Cited)):
        texts = list(run)
        for text in texts if is_cited else ["".join(texts)]:
            yield Change(kind, str(text), is_cited)


def _named(text: str, cited: Sequence[CitedSource]) -> list[str]:
    """The pieces of a text: its citations by the names of their sources, and what is between them."""
    sources = {each.evidence: each for each in cited}
    made, at = list[str](), 0
    for (start, end), bracket in groupby(find_citations(text), lambda found: (found.start, found.end)):
        made.append(text[at:start])
        for number, each in enumerate(bracket):
            made += [" "] if number else []
            made.append(_Cited(named(each, sources.get(each.evidence))))
        at = end
    return [*made, text[at:]]


def _words(pieces: Sequence[str]) -> list[str]:
    return [
        word for piece in pieces for word in ([piece] if isinstance(piece, _Cited) else _WORDS.findall(piece))
    ]


def _lines(pieces: Sequence[str]) -> list[str]:
    return _LINES.findall("".join(f"[{piece}]" if isinstance(piece, _Cited) else piece for piece in pieces))


def _slid(made: list[tuple[str, list[str]]]) -> list[tuple[str, list[str]]]:
    """The stretches with the end of a sentence before what is new or gone, not behind it: of `a. b.` the new
    one is ` b.`, and not `. b`."""
    for at in range(1, len(made) - 1):
        (before, same), (_, moved), (behind, rest) = made[at - 1 : at + 2]
        if before == behind == "same" and moved[0] == rest[0] and _END.fullmatch(moved[0]):
            same.append(moved[0])
            moved[:] = [*moved[1:], rest.pop(0)]
    return made


def _changes(old: list[str], new: list[str]) -> Iterator[tuple[str, list[str]]]:
    first = _common(old, new)
    last = min(_common(old[::-1], new[::-1]), min(len(old), len(new)) - first)
    if first:
        yield "same", old[:first]
    old_end, new_end = len(old) - last, len(new) - last
    matcher = SequenceMatcher(None, old[first:old_end], new[first:new_end])
    for kind, i, j, k, m in matcher.get_opcodes():
        if kind == "equal":
            yield "same", old[first + i : first + j]
            continue
        if j > i:
            yield "gone", old[first + i : first + j]
        if m > k:
            yield "new", new[first + k : first + m]
    if last:
        yield "same", old[old_end:]


def _common(old: list[str], new: list[str]) -> int:
    """How many items two lists begin with alike."""
    for at, (left, right) in enumerate(zip_longest(old, new)):
        if left != right:
            return at
    return len(old)


def aligned(before: Sequence[ClaimView], after: Sequence[ClaimView]) -> tuple[Pair, ...]:
    """The claims of two answers in pairs, in the order of `after`, then those that are gone.

    The same text is the same claim; of the others those that share most words are taken together.
    """
    left = list(before[:MAX_CLAIMS])
    partners: dict[int, ClaimView] = {}
    by_text = {claim.text: claim for claim in reversed(left)}
    for number, claim in enumerate(after[:MAX_CLAIMS]):
        if (same := by_text.pop(claim.text, None)) is not None:
            partners[number] = same
            left.remove(same)
    words = {id(claim): _content(claim.text) for claim in (*left, *after)}
    for number, claim in enumerate(after[:MAX_CLAIMS]):
        if number not in partners and (near := _nearest(claim, left, words)) is not None:
            partners[number] = near
            left.remove(near)
    pairs = [Pair(partners.get(number), claim) for number, claim in enumerate(after[:MAX_CLAIMS])]
    return (*pairs, *(Pair(claim, None) for claim in left))


def _nearest(
    claim: ClaimView, left: Sequence[ClaimView], words: Mapping[int, frozenset[str]]
) -> ClaimView | None:
    """The one that shares most words with a claim; None where none has enough of them. `words` are by id."""
    if not left:
        return None
    near = max(left, key=lambda each: _alike(words[id(each)], words[id(claim)]))
    return near if _alike(words[id(near)], words[id(claim)]) >= ALIKE else None


def _content(text: str) -> frozenset[str]:
    """The content words among the first ones of a claim; all of them where it has no other."""
    words = frozenset(_CONTENT.findall(text[:2000].casefold())[:200])
    return (words - STOPWORDS) or words


def _alike(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of the smaller set that is in the other (the overlap coefficient); 0 where that is little. Of
    two that have as many in common the more similar one counts, by a hundredth of the Jaccard index."""
    common, both = len(one & other), len(one | other)
    if not common or (common < FEWEST_ALIKE and 2 * common < both):
        return 0.0
    return common / min(len(one), len(other)) + common / both / 100
