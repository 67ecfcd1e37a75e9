"""Quotations: finding them in a statement, and their place in a source, by bytes.

A quotation is found when it stands there, up to how it is set: white space, the kinds of quotation marks and
dashes, ligatures, invisible characters, hyphens at line ends, marks of emphasis and of footnotes. Nothing is
ever found by similarity: what differs by a letter or a digit is not there.
"""

import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from functools import cached_property, lru_cache
from typing import Literal

import msgspec

from vera.evidence.span import Lines

QUOTE_LIMIT = 4000
"""Characters of a quotation that are looked for; a longer one is no quotation but a copy."""

PART_LIMIT = 20
GAP_LIMIT = 2000
"""Parts of a quotation with ellipses, and the characters that one of them may leave out."""

MIN_WORDS = 3
MIN_CHARACTERS = 12
"""Shorter words in quotation marks are titles, terms or irony."""

_TRIES = 500
_CHAINS = 64


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

    `marked` is the quotation with each difference as `[-said-]` and `{+stands there+}`; `shared` the
    percentage of its words that stand in the passage, in order. `misspelt` says that word for word it is the
    same, but for letters or digits within some of them.
    """

    start: int
    end: int
    first: int
    last: int
    marked: str
    shared: int
    misspelt: bool = False


class Quotation(msgspec.Struct, frozen=True):
    """Words in quotation marks, or a block quotation: the `text` between the marks, and its place, marks
    included, in characters."""

    text: str
    start: int
    end: int


def locate(quote: str, text: str) -> Located | None:
    """The place of `quote` in `text`, None when it does not stand there. For many quotations of one source
    use `QuoteIndex`."""
    return QuoteIndex(text.encode("utf-8", "surrogateescape")).locate(quote)


def nearest(quote: str, text: str) -> Difference | None:
    """The passage of `text` that is nearest to `quote`, None when fewer than half of its words are near."""
    return QuoteIndex(text.encode("utf-8", "surrogateescape")).nearest(quote)


class QuoteIndex:
    """One canonical text, folded once for any number of quotations.

    `loose` is for text whose word spaces are not to be relied on (PDF): then white space between letters does
    not count either.
    """

    def __init__(self, data: bytes, *, loose: bool = False) -> None:
        self._data = data
        self._text = data.decode("utf-8", "surrogateescape")
        self._squeeze = _squeezed_loose if loose else _squeezed

    def locate(self, quote: str) -> Located | None:
        """The place of `quote`, of several the first; None when it does not stand there."""
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
    def _plain(self) -> "_Form":
        return _Form(self._text, _same)

    @cached_property
    def _folded(self) -> "_Form":
        return _Form(self._text, _typography)

    @cached_property
    def _squeezed(self) -> "_Form":
        return _Form(self._text, self._squeeze, glued=True)

    @cached_property
    def _tokens(self) -> list[tuple[str, int, int]]:
        return [(_key(word.group()), *word.span()) for word in _TOKEN.finditer(self._text)]

    @cached_property
    def _marks(self) -> list[int]:
        """The byte offset of every 4,096th character."""
        offsets, offset = [0], 0
        for start in range(0, len(self._text), _STRIDE):
            offset += len(self._text[start : start + _STRIDE].encode("utf-8", "surrogateescape"))
            offsets.append(offset)
        return offsets

    def _byte(self, character: int) -> int:
        """The byte offset of a character."""
        block = character // _STRIDE
        rest = self._text[block * _STRIDE : character]
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


# Folding: a text in another form, with the way back.

_STRIDE = 4096
_QUOTES = "'\"‘’‚‛“”„‟′″«»‹›「」『』＇＂"
_DASHES = "\u2010-\u2015\u2212\ufe58\ufe63\uff0d"
_INVISIBLE = "\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\x02\ufffe"
_ACCENTS = "\u0300-\u036f\u1dc0-\u1dff\u20d0-\u20ff\u3099\u309a"
# Compatibility characters that are the same letter or digit set otherwise. Superscripts and fractions are not
# among them: 10² is no 102.
_COMPATIBLE = (
    "\u00b5\u2080-\u208e\u2116\u2126\u212a\u212b\u2160-\u217f\u2f00-\u2fd5\uf900-\ufaff\ufb00-\ufb4f"
    "\ufb50-\ufdff\ufe70-\ufefc\uff01\uff03-\uff06\uff08-\uff0c\uff0e-\uff5e\uff66-\uff9f\U0001d400-\U0001d7ff"
)
_SPACE = rf"(?P<space>(?! [^\s{_INVISIBLE}])[\s{_INVISIBLE}]+)"
_TYPOGRAPHY = (
    rf"(?P<quote>''|[{_QUOTES}])|(?P<dash>--+|[{_DASHES}]+)|(?P<dots>…)|(?P<compatible>[{_COMPATIBLE}])"
)
_HYPHEN = r"(?P<hyphen>(?<=[^\W\d_])[-\u2010\u00ad][ \t]*\n\s*(?=[^\W\d_]))"
_LAYOUT = (
    rf"(?P<blank>(?:[\s{_INVISIBLE}]"
    r"|\[(?:[0-9]{1,3}|[a-z]|note [0-9]{1,2}|citation needed)\]"
    r"|(?<!\w)(?:\*{1,3}|_{1,2})(?=[\w(\[`])|(?<=[\w.,;:!?)\]`])(?:\*{1,3}|(?<!_)_{1,2})(?!\w)|`{1,3}"
    r"|^(?:>[> ]{0,8}|#{1,6} ))++)"
)
_CJK = "\u3000-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef"
_TOKEN = re.compile(r"[^\W_]+(?:['’.,-][^\W_]+){0,20}")


Pieces = Callable[[str], Iterator[tuple[int, int, str]]]
"""The pieces of a text that a form writes otherwise: from, to, and what it writes instead."""


def _same(text: str) -> Iterator[tuple[int, int, str]]:
    yield from ()


def _typography(text: str) -> Iterator[tuple[int, int, str]]:
    """White space of one kind, and one kind of quotation marks, dashes, letters."""
    for piece in _pattern("typography", _has_accents(text)).finditer(text):
        yield piece.start(), piece.end(), _folded(piece)


def _squeezed(text: str) -> Iterator[tuple[int, int, str]]:
    """As `_typography`; white space not between letters or digits is dropped, and so are marks of layout."""
    for piece in _pattern("layout", _has_accents(text)).finditer(text):
        kept = piece.lastgroup == "blank" and _spaced(piece, _is_letter)
        yield piece.start(), piece.end(), " " if kept else _folded(piece)


def _squeezed_loose(text: str) -> Iterator[tuple[int, int, str]]:
    """As `_squeezed`; white space is kept between digits only."""
    for piece in _pattern("layout", _has_accents(text)).finditer(text):
        kept = piece.lastgroup == "blank" and _spaced(piece, str.isdigit)
        yield piece.start(), piece.end(), " " if kept else _folded(piece)


@lru_cache
def _pattern(form: str, accents: bool) -> re.Pattern[str]:
    head = _SPACE if form == "typography" else f"{_HYPHEN}|{_LAYOUT}"
    marked = rf"|(?P<accents>[^\W\d_][{_ACCENTS}]+)" if accents else ""
    return re.compile(f"{head}|{_TYPOGRAPHY}{marked}", re.MULTILINE)


@lru_cache(maxsize=1)
def _accents() -> re.Pattern[str]:
    return re.compile(f"[{_ACCENTS}]")


def _has_accents(text: str) -> bool:
    return not text.isascii() and _accents().search(text) is not None


def _is_letter(char: str) -> bool:
    return char.isalnum() and not _CJK_CHARACTER.match(char)


def _spaced(piece: re.Match[str], joins: Callable[[str], bool]) -> bool:
    """Whether the piece holds white space and stands between two characters that it keeps apart."""
    before, after = (
        piece.string[piece.start() - 1 : piece.start()],
        piece.string[piece.end() : piece.end() + 1],
    )
    return bool(before and after) and joins(before) and joins(after) and any(map(str.isspace, piece.group()))


def _folded(piece: re.Match[str]) -> str:
    match piece.lastgroup:
        case "space":
            return " " if any(map(str.isspace, piece.group())) else ""
        case "quote":
            return "'"
        case "dash":
            return "-"
        case "dots":
            return "..."
        case "compatible" | "accents":
            return unicodedata.normalize("NFKC", piece.group())
    return ""


class _Form:
    """A text in a folded form, and where each of its characters came from. In one that is `glued` words run
    into each other, so that only the original tells where they end."""

    def __init__(self, text: str, pieces: Pieces, *, glued: bool = False) -> None:
        self._pieces = pieces
        self._original = text
        self._glued = glued
        chunks: list[str] = []
        self._at, self._from, length, position = [0], [0], 0, 0
        for start, end, instead in pieces(text):
            chunks += (text[position:start], instead)
            length += start - position
            self._at += (length, length + len(instead))
            self._from += (start, end)
            length += len(instead)
            position = end
        chunks.append(text[position:])
        self.text = "".join(chunks)

    def fold(self, quote: str) -> str:
        """`quote` in the same form."""
        out: list[str] = []
        position = 0
        for start, end, instead in self._pieces(quote):
            out += (quote[position:start], instead)
            position = end
        return "".join([*out, quote[position:]]).strip()

    def find(self, wanted: str, *, cut: bool = False) -> tuple[int, int] | None:
        """Start and end, in characters of the original, of the first place where `wanted` stands as whole
        words, or, when `cut`, from or to the middle of one."""
        found = self.find_folded(wanted, cut=cut)
        return self.original(*found) if found else None

    def find_folded(self, wanted: str, position: int = 0, *, cut: bool = False) -> tuple[int, int] | None:
        """The same in characters of the folded text, from `position`."""
        for _ in range(_TRIES if wanted else 0):
            start = self.text.find(wanted, position)
            if start < 0:
                return None
            end = start + len(wanted)
            if self._begins(start) and self._begins(end) and self._apart(start, end, cut=cut):
                return start, end
            position = start + 1
        return None

    def _apart(self, start: int, end: int, *, cut: bool) -> bool:
        """Whether no word or number goes on beyond the passage."""
        if any(_joined(self._original, at, cut=cut) for at in self.original(start, end)):
            return False
        return self._glued or not any(_joined(self.text, at, cut=cut) for at in (start, end))

    def original(self, start: int, end: int) -> tuple[int, int]:
        """The characters of the original that stand for the folded ones from `start` to `end`."""
        return self._source(start, last=True), self._source(end, last=False)

    def _source(self, offset: int, *, last: bool) -> int:
        """Where a folded offset came from. Dropped characters stand at one offset with what follows them: a
        passage begins after them (`last`) and ends before them."""
        index = bisect_right(self._at, offset) - 1
        if not last:
            while index > 0 and self._at[index - 1] == offset:
                index -= 1
        return self._from[index] + (offset - self._at[index])

    def _begins(self, offset: int) -> bool:
        """Whether no character of the original was folded to characters on both sides of `offset`."""
        index = bisect_right(self._at, offset) - 1
        inside = self._at[index] < offset
        return not inside or index % 2 == 0 or index + 1 >= len(self._at)


def _joined(text: str, at: int, *, cut: bool) -> bool:
    """Whether what stands before and after `at` is one word, or one number ("1" of "1.5", "5" of "-5"); two
    letters are let through when `cut`."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    if _CJK_CHARACTER.match(before) or _CJK_CHARACTER.match(after):
        return before.isdigit() and after.isdigit()
    if unicodedata.combining(after):
        return True
    if before.isalnum() and after.isalnum():
        return not (cut and before.isalpha() and after.isalpha())
    if before in "'’" and after.isalpha():
        return text[max(0, at - 2) : at - 1].isalnum()
    if after.isdigit() and before in ".,":
        return text[max(0, at - 2) : at - 1].isdigit()
    if after.isdigit() and before in "-+":
        return not text[max(0, at - 2) : at - 1].strip()
    return before.isdigit() and (after == "%" or (after in ".," and text[at + 1 : at + 2].isdigit()))


_CJK_CHARACTER = re.compile(f"[{_CJK}]")
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


def _chain(form: _Form, parts: Sequence[str]) -> list[tuple[int, int]]:
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


def _earliest(form: _Form, part: str, position: int) -> tuple[int, int] | None:
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


# Quotations in a statement

_MARKS = re.compile(r"[“”„‟«»‹›「」『』\"‘’]")
_CLOSERS = {"“": "”", "„": "“”‟", "‟": "”", "«": "»", "»": "«", "「": "」", "『": "』", '"': '"', "‘": "’"}
_DEPTH = 4
_BLOCK = re.compile(r"(?m)^[ \t]{0,3}>[^\n]*(?:\n[ \t]{0,3}>[^\n]*){0,200}")
_MARGIN = re.compile(r"(?m)^[ \t]{0,3}>[> \t]{0,8}")


def find_quotations(text: str) -> tuple[Quotation, ...]:
    """The quotations of a statement, in order: in “ ”, " ", « », „ “, ‘ ’, 「 」, and lines beginning with >.

    Of nested ones the outer is given. Words in quotation marks with fewer than three words and twelve
    characters are none; an apostrophe and the sign for inches open none.
    """
    blocks = list(_block_quotes(text))
    pairs = [Quotation(text[start + 1 : end - 1].strip(), start, end) for start, end in _pairs(text)]
    found: list[Quotation] = []
    reached = 0
    for quotation in sorted([*blocks, *pairs], key=lambda quotation: (quotation.start, -quotation.end)):
        if quotation.start >= reached:
            reached = quotation.end
            if _telling(quotation.text):
                found.append(quotation)
    return tuple(found)


def _pairs(text: str) -> Iterator[tuple[int, int]]:
    """The places of marks that open and close a quotation, marks included; inner ones before outer ones."""
    opened: list[int] = []
    for found in _MARKS.finditer(text):
        at = found.start()
        pair = _opener(text, opened, at)
        if pair is not None:
            yield opened[pair], at + 1
            del opened[pair:]
        elif _opens(text, at):
            opened = [*opened[-_DEPTH + 1 :], at]


def _opener(text: str, opened: Sequence[int], at: int) -> int | None:
    """Which of the opened marks the one at `at` closes."""
    if not _closes(text, at):
        return None
    for index in range(len(opened) - 1, -1, -1):
        if text[at] in _CLOSERS[text[opened[index]]] and at - opened[index] <= QUOTE_LIMIT:
            return index
    return None


def _block_quotes(text: str) -> Iterator[Quotation]:
    for block in _BLOCK.finditer(text):
        yield Quotation(_MARGIN.sub("", block.group()).strip(), *block.span())


def _telling(text: str) -> bool:
    if not any(map(str.isalnum, text)):
        return False
    return len(text) >= MIN_CHARACTERS or len(text.split()) >= MIN_WORDS or bool(_CJK_WORDS.search(text))


_CJK_WORDS = re.compile(f"[{_CJK}]{{6}}")


def _opens(text: str, at: int) -> bool:
    """Whether a mark may open a quotation: a word begins after it, and none ends before it."""
    mark = text[at]
    if mark not in _CLOSERS or at + 1 >= len(text) or (text[at + 1].isspace() and mark not in "«»"):
        return False
    before = text[at - 1] if at else " "
    if mark in "「『":
        return True
    return not before.isalnum() or bool(_CJK_CHARACTER.match(before))


def _closes(text: str, at: int) -> bool:
    if text[at] not in '"’':
        return True
    after = text[at + 1] if at + 1 < len(text) else " "
    return not text[at - 1].isspace() and (not after.isalnum() or bool(_CJK_CHARACTER.match(after)))
