"""Quotations: finding them in a statement, and their place in a source, by bytes.

A quotation is found when it is there, up to how it is set: white space, the kinds of quotation marks and
dashes, ligatures, invisible characters, hyphens at line ends, marks of emphasis and of footnotes. Nothing is
ever found by similarity: what differs by a letter or a digit is not there.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import cached_property
from typing import Literal

import msgspec

from vera.text.folded_text import STRIDE, FoldedText, as_written, squeezed, squeezed_loose, typography
from vera.text.quotation import QUOTE_LIMIT
from vera.text.span import Lines

PART_LIMIT = 20
GAP_LIMIT = 2000
"""Parts of a quotation with ellipses, and the characters that one of them may leave out."""

_CHAINS = 64
_TOKEN = re.compile(r"[^\W_]+(?:['’.,-][^\W_]+){0,20}")


class Located(msgspec.Struct, frozen=True, kw_only=True):
    """Where a quotation stands: bytes `start` to `end` of the canonical text, lines `first` to `last`.

    `form` is `exact` for the same characters, `folded` for the same up to how they are set. `parts` are the
    byte ranges of its parts, several where it has ellipses. It is not `whole` when it begins or ends inside a
    word ("supported" in "unsupported"): then its place is known, and it is no faithful quotation.
    """

    start: int
    end: int
    first: int
    last: int
    form: Literal["exact", "folded"]
    parts: tuple[tuple[int, int], ...]
    whole: bool = True


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """The passage that is nearest to a quotation, for a message only: its bytes and lines, and what differs.

    `marked` is the quotation with each difference as `[-said-]` and `{+is there+}`; `shared` the
    percentage of its words that are in the passage, in order. `misspelt` says that word for word it is the
    same, but for letters or digits within some of them.
    """

    start: int
    end: int
    first: int
    last: int
    marked: str
    shared: int
    misspelt: bool = False


def locate(quote: str, text: str) -> Located | None:
    """The place of `quote` in `text`, None when it is not there. For many quotations of one source
    use `QuoteIndex`."""
    return QuoteIndex(text.encode("utf-8", "replace")).locate(quote)


class QuoteIndex:
    """One canonical text, folded once for any number of quotations.

    `loose` is for text whose word spaces are not to be relied on (PDF): then white space between letters does
    not count either.
    """

    def __init__(self, data: bytes, *, loose: bool = False) -> None:
        self._data = data
        self._text = data.decode("utf-8", "surrogateescape")
        self._squeeze = squeezed_loose if loose else squeezed

    def locate(self, quote: str) -> Located | None:
        """The place of `quote`, of several the first; None when it is not there."""
        quote = quote.strip()
        if not quote or len(quote) > QUOTE_LIMIT:
            return None
        return self._plainly(quote) or self._in_parts(quote) or self._headed(quote) or self._cut(quote)

    def nearest(self, quote: str) -> Difference | None:
        """The nearest passage and what differs, None when fewer than half of the words are near."""
        said = [word.group() for word in _TOKEN.finditer(quote[:QUOTE_LIMIT])][:200]
        window = self._window(Counter(map(_key, said)), len(said))
        if window is None:
            return None
        stands = self._tokens[window[0] : window[1]]
        matcher = SequenceMatcher(
            None, [_key(word) for word in said], [key for key, _, _ in stands], autojunk=False
        )
        blocks = [block for block in matcher.get_matching_blocks() if block.size]
        shared = round(100 * sum(block.size for block in blocks) / len(said))
        if shared < 50:
            return None
        reach = stands[blocks[0].b : blocks[-1].b + blocks[-1].size]
        start, end = self._byte(reach[0][1]), self._byte(reach[-1][2])
        there = [self._text[a:b] for _, a, b in stands]
        return Difference(
            start=start,
            end=end,
            first=self._lines.number_at(start),
            last=self._lines.number_at(max(start, end - 1)),
            marked=_marked(said, there, matcher),
            shared=shared,
            misspelt=_misspelt(said, there, matcher),
        )

    @cached_property
    def _lines(self) -> Lines:
        return Lines(self._data)

    @cached_property
    def _plain(self) -> "FoldedText":
        return FoldedText(self._text, as_written)

    @cached_property
    def _folded(self) -> "FoldedText":
        return FoldedText(self._text, typography)

    @cached_property
    def _squeezed(self) -> "FoldedText":
        return FoldedText(self._text, self._squeeze, glued=True)

    @cached_property
    def _tokens(self) -> list[tuple[str, int, int]]:
        return [(_key(word.group()), *word.span()) for word in _TOKEN.finditer(self._text)]

    @cached_property
    def _marks(self) -> list[int]:
        """The byte offset of every 4,096th character."""
        offsets, offset = [0], 0
        for start in range(0, len(self._text), STRIDE):
            offset += len(self._text[start : start + STRIDE].encode("utf-8", "surrogateescape"))
            offsets.append(offset)
        return offsets

    def _byte(self, character: int) -> int:
        """The byte offset of a character."""
        block = character // STRIDE
        rest = self._text[block * STRIDE : character]
        return self._marks[block] + len(rest.encode("utf-8", "surrogateescape"))

    def _plainly(self, quote: str) -> Located | None:
        """The quotation as a whole."""
        exact = self._plain.find(quote)
        if exact is not None:
            return self._located([exact], "exact")
        for form in (self._folded, self._squeezed):
            for wanted in _variants(form.fold(quote)):
                place = form.find(wanted)
                if place is not None:
                    return self._located([place], "folded")
        return None

    def _in_parts(self, quote: str) -> Located | None:
        """The parts of a quotation with ellipses, in order."""
        parts = _parts(quote)
        if not 0 < len(parts) <= PART_LIMIT or parts == [quote]:
            return None
        for form in (self._folded, self._squeezed):
            chain = _chain(form, [form.fold(part) for part in parts])
            if chain:
                return self._located(chain, "folded")
        return None

    def _headed(self, quote: str) -> Located | None:
        """A heading and the text under it, quoted with a colon between them: "Scope: This page …"."""
        heading, colon, rest = quote.partition(":")
        if not colon or not heading.strip() or not rest.strip():
            return None
        form = self._folded
        place = form.find(f"{form.fold(heading)} {form.fold(rest)}")
        if place is None or "\n" not in self._text[place[0] + len(heading.strip()) : place[1]]:
            return None
        return self._located([place], "folded")

    def _cut(self, quote: str) -> Located | None:
        """The quotation from or to the middle of a word; a number is never cut."""
        form = self._folded
        place = form.find(form.fold(quote), cut=True)
        return msgspec.structs.replace(self._located([place], "folded"), whole=False) if place else None

    def _located(self, places: Sequence[tuple[int, int]], form: Literal["exact", "folded"]) -> Located:
        parts = tuple((self._byte(start), self._byte(end)) for start, end in places)
        start, end = parts[0][0], parts[-1][1]
        return Located(
            start=start,
            end=end,
            first=self._lines.number_at(start),
            last=self._lines.number_at(end - 1),
            form=form,
            parts=parts,
        )

    def _window(self, wanted: Counter[str], length: int) -> tuple[int, int] | None:
        """The tokens, from and to, of the window that holds most of the wanted words."""
        if not wanted:
            return None
        size = length + length // 4 + 2
        have: Counter[str] = Counter()
        count, best, place = 0, 0, None
        for index, (key, _, _) in enumerate(self._tokens):
            if key in wanted:
                have[key] += 1
                count += have[key] <= wanted[key]
            if index >= size and (gone := self._tokens[index - size][0]) in wanted:
                count -= have[gone] <= wanted[gone]
                have[gone] -= 1
            if count > best:
                best, place = count, (max(0, index - size + 1), index + 1)
        if place is None or 2 * best < length:
            return None
        return place[0], min(len(self._tokens), place[1] + size // 4)


_ELLIPSIS = re.compile(
    r"\s*(?:\[\s*(?:…|\.\s?\.\s?\.)\s*\]|\(\s*(?:…|\.\s?\.\s?\.)\s*\)|…|\.\s?\.\s?\.(?:\s?\.)?)\s*"
)
_BRACKETED = re.compile(r"\[([^\W\d_])\](?=\w)")


def _parts(quote: str) -> list[str]:
    """The parts between ellipses."""
    return [part for part in map(str.strip, _ELLIPSIS.split(quote)) if any(map(str.isalnum, part))]


def _variants(quote: str) -> Iterator[str]:
    """What the quotation may be called in the source: as it is; its first letter in the other case ("[T]he"
    too); without a comma, full stop or colon that belongs to the sentence around it."""
    plain = _BRACKETED.sub(r"\1", quote)
    for text in dict.fromkeys([plain, plain.rstrip(".,;: ")]):
        if text:
            yield text
            swapped = text[0].swapcase()
            if len(swapped) == 1 and swapped != text[0]:
                yield swapped + text[1:]


def _chain(form: FoldedText, parts: Sequence[str]) -> list[tuple[int, int]]:
    """The places of the parts, in order and near each other; empty when there are none."""
    position = 0
    for _ in range(_CHAINS):
        first = _earliest(form, parts[0], position)
        if first is None:
            return []
        places = [first]
        for part in parts[1:]:
            following = _earliest(form, part, places[-1][1])
            if following is None:
                return []
            if following[0] - places[-1][1] > GAP_LIMIT:
                break
            places.append(following)
        if len(places) == len(parts):
            return [form.original(*place) for place in places]
        position = first[0] + 1
    return []


def _earliest(form: FoldedText, part: str, position: int) -> tuple[int, int] | None:
    found = (form.find_folded(wanted, position) for wanted in _variants(part))
    return min((place for place in found if place), default=None)


# The nearest passage


def _key(word: str) -> str:
    return unicodedata.normalize("NFKC", word).replace("’", "'")


def _misspelt(said: Sequence[str], there: Sequence[str], matcher: "SequenceMatcher[str]") -> bool:
    changed = [(said[a:b], there[c:d]) for kind, a, b, c, d in _within(matcher) if kind != "equal"]
    return all(len(ours) == len(theirs) and all(map(_nearly, ours, theirs)) for ours, theirs in changed)


def _within(matcher: "SequenceMatcher[str]") -> list[tuple[str, int, int, int, int]]:
    """The steps without what the window holds before and after the passage."""
    steps = list(matcher.get_opcodes())
    if steps and steps[0][0] == "insert":
        steps = steps[1:]
    if steps and steps[-1][0] == "insert":
        steps = steps[:-1]
    return [_trimmed(step, first=step is steps[0], last=step is steps[-1]) for step in steps]


def _trimmed(
    step: tuple[str, int, int, int, int], *, first: bool, last: bool
) -> tuple[str, int, int, int, int]:
    """A replacement at an end of the quotation, with as many words of the window as it replaces."""
    kind, a, b, c, d = step
    if kind == "replace" and d - c > b - a and first != last:
        return (kind, a, b, d - (b - a), d) if first else (kind, a, b, c, c + (b - a))
    return step


def _nearly(said: str, there: str) -> bool:
    """Whether two words are one but for a letter or two, and not for case alone; two numbers always are."""
    if said.lower() == there.lower() or abs(len(said) - len(there)) > 1:
        return False
    both_numbers = said[0].isdigit() and there[0].isdigit()
    return both_numbers or SequenceMatcher(None, said, there, autojunk=False).ratio() >= 0.6


def _marked(said: Sequence[str], there: Sequence[str], matcher: "SequenceMatcher[str]") -> str:
    """The quotation with its differences, at most about 400 characters around them."""
    out: list[str] = []
    steps = matcher.get_opcodes()
    for number, (kind, a, b, c, d) in enumerate(steps):
        if kind == "equal":
            words = list(said[a:b])
            ends = (number == 0, number == len(steps) - 1)
            out.append(_shortened(words, *ends))
            continue
        if a < b:
            out.append(f"[-{' '.join(said[a:b])}-]")
        if c < d and (a < b or 0 < number < len(steps) - 1):
            out.append(f"{{+{' '.join(there[c : c + max(2 * (b - a), 12)][: d - c])}+}}")
    text = " ".join(out)
    return text if len(text) <= 500 else text[:497] + "…"


def _shortened(words: list[str], first: bool, last: bool) -> str:
    """Equal words, those far from a difference left out."""
    if len(words) <= 12:
        return " ".join(words)
    head = [] if first else words[:5]
    tail = [] if last else words[-5:]
    return " ".join([*head, "…", *tail])
