"""The blocks of an answer written in Markdown, or in what models take for it."""

import re
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

from vera.text.late_regex import late_regex

Kind = Literal["paragraph", "item", "heading", "row", "header", "code", "quote"]

_FENCE = late_regex(r"[ \t]{0,16}(`{3,20}|~{3,20})")
_LANGUAGE = late_regex(r"[ \t]{0,16}[A-Za-z+#.-]{0,30}[ \t]{0,16}\r?\n?")
"""The name of a language behind a fence. Anything else there is text that the answer has."""

_QUOTE = late_regex(r"[ \t]{0,16}>")
_HEADING = late_regex(r"[ \t]{0,3}#{1,6}[ \t]+")
_BULLET = late_regex(r"[ \t]{0,40}(?:[-*+•◦▪‣]|\([a-z]\)|[a-z]\)|\(?[ivx]{1,5}\))[ \t]+(?:\[[ xX]\][ \t]+)?")
_NUMBERED = late_regex(r"([ \t]{0,40})\(?([0-9]{1,4})[.)][ \t]+")
_BOLD_LINE = late_regex(r"[ \t]{0,16}(\*\*|__)[^*_\n]{1,200}\1:?[ \t]{0,16}\r?")
_SECTION = late_regex(r"(?:[0-9]{1,2}\.){1,4}[ \t]+(?=\D)")
_RULES = frozenset("-*_= \t\r")
_ROW_RULES = frozenset("|:-= \t\r")

_LINK = late_regex(r"!?\[([^\[\]\n]{0,400})\]\([^()\s]{0,2000}\)")
_MARKUP = late_regex(r"(?<![^\W_])(?:\*{1,3}|_{1,3}|`{1,3})(?=\S)|(?<=\S)(?:\*{1,3}|_{1,3}|`{1,3})(?![^\W_])")
_ESCAPED = late_regex(r"\\([!-/:-@\[-`{-~])")
_BREAK = late_regex(r"<br\s{0,4}/?>", re.IGNORECASE)
# What no one sees, but for joiners within words that need them (of Persian, Hindi): s\u200beven is seven.
_HIDDEN = late_regex(
    r"[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]"
    r"|(?<=[\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?=[\x00-\x7f])"
    r"|(?<=[0-9])\ufe0f?\u20e3"
)
_LEFT_OVER = late_regex(r" (?=[.,;:!?)\]](?:\s|\Z))|\( ?\)")


class Block(NamedTuple):
    """A part of an answer: `start` to `end` in characters, its text from `body` on."""

    kind: Kind
    start: int
    body: int
    end: int


def blocks(text: str, stands_alone: Callable[[int, int], bool] = lambda start, end: False) -> Iterator[Block]:
    """The blocks of `text` in order: paragraphs, list items, headings, table rows, code and quotes.

    Blank lines, rules and the line below a table's head are left out. `stands_alone(start, end)` says of a
    plain line that it is its own paragraph. A number opens a list item only when it is 1 or follows
    the number before, so that "1997. " is no marker. Linear in the length.
    """
    scanner = _Scanner(text, stands_alone)
    yield from scanner.scan()


def plain(text: str) -> str:
    """`text` without emphasis, code marks, the addresses of links, characters that are not seen, and what
    removed citations left behind. What is struck through keeps its marks: it is not stated."""
    if not text.isascii():
        text = _HIDDEN.sub("", text)
    if "`" in text or "*" in text or "_" in text or "\\" in text or "<" in text or "](" in text:
        text = _MARKUP.sub("", _LINK.sub(r"\1", _BREAK.sub(" ", text)))
        text = _ESCAPED.sub(r"\1", text)
    return _LEFT_OVER.sub("", " ".join(text.split())).strip()


class _Scanner:
    def __init__(self, text: str, stands_alone: Callable[[int, int], bool]) -> None:
        self._text = text
        self._stands_alone = stands_alone
        self._ordinals: dict[int, int] = {}
        self._open: Block | None = None
        self._fence = ""

    def scan(self) -> Iterator[Block]:
        for start, end in lines(self._text):
            yield from self._code(start, end) if self._fence else self._line(start, end)
        if self._open is not None:
            yield self._open

    def _line(self, start: int, end: int) -> Iterator[Block]:
        text = self._text
        content = text[start:end].strip()
        if self._is_rule(content):
            yield from self._rule(content)
        elif fence := _FENCE.match(text, start, end):
            self._fence = fence[1]
            is_named = _LANGUAGE.fullmatch(text, fence.end(), end) is not None
            yield from self._begin(Block("code", start, end if is_named else fence.end(), end))
        elif mark := _QUOTE.match(text, start, end):
            if not self._goes_on(("quote",), end):
                yield from self._begin(Block("quote", start, mark.end(), end))
        elif content[0] == "|":
            yield from self._begin(Block("row", start, start, end))
        elif body := self._heading(start, end):
            yield from self._alone(Block("heading", start, body, end))
        elif body := self._marker(start, end):
            yield from self._begin(Block("item", start, body, end))
        elif self._stands_alone(start, end):
            yield from self._alone(Block("paragraph", start, start, end))
        elif not self._goes_on(("paragraph", "item"), end):
            yield from self._begin(Block("paragraph", start, start, end))

    def _goes_on(self, kinds: tuple[Kind, ...], end: int) -> bool:
        """Whether the open block is of one of these kinds; it then goes on to `end`."""
        if self._open is None or self._open.kind not in kinds:
            return False
        self._open = self._open._replace(end=end)
        return True

    def _begin(self, block: Block) -> Iterator[Block]:
        if self._open is not None:
            yield self._open
        self._open = block

    def _alone(self, block: Block) -> Iterator[Block]:
        yield from self._begin(block)
        self._open = None
        yield block

    def _code(self, start: int, end: int) -> Iterator[Block]:
        assert self._open is not None
        mark = _FENCE.match(self._text, start, end)
        closes = (
            mark is not None and mark[1].startswith(self._fence) and not self._text[mark.end() : end].strip()
        )
        self._open = self._open._replace(end=end)
        if closes:
            self._fence = ""
            yield self._open
            self._open = None

    def _rule(self, content: str) -> Iterator[Block]:
        """Ends what is open; a rule below a single line makes it a heading, or a table's head."""
        block, self._open = self._open, None
        if block is None:
            return
        if content and block.kind == "row" and "|" in content:
            yield block._replace(kind="header")
        elif content and block.kind == "paragraph" and content[0] in "-=" and self._is_one_line(block):
            yield block._replace(kind="heading")
        else:
            yield block

    def _is_one_line(self, block: Block) -> bool:
        return self._text.find("\n", block.start, block.end) == -1

    @staticmethod
    def _is_rule(content: str) -> bool:
        """Blank lines, rules, and the line |---|---| below a table's head."""
        if len(content) < 3:
            return not content
        characters = set(content)
        return characters <= _RULES or ("-" in characters and characters <= _ROW_RULES)

    def _heading(self, start: int, end: int) -> int:
        mark = _HEADING.match(self._text, start, end)
        if mark is None:
            return start + 1 if _BOLD_LINE.fullmatch(self._text, start, end) else 0
        section = _SECTION.match(self._text, mark.end(), end)
        return section.end() if section else mark.end()

    def _marker(self, start: int, end: int) -> int:
        """Where the text of a list item begins, 0 when the line opens none."""
        mark = _BULLET.match(self._text, start, end)
        if mark is not None:
            return mark.end()
        numbered = _NUMBERED.match(self._text, start, end)
        if numbered is None:
            return 0
        indent, ordinal = len(numbered[1]), int(numbered[2])
        if ordinal != 1 and ordinal != self._ordinals.get(indent, -1) + 1:
            return 0
        self._ordinals[indent] = ordinal
        return numbered.end()


def lines(text: str) -> Iterator[tuple[int, int]]:
    """Where each line begins and ends, without its line break."""
    start = 0
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end == -1 else end
        yield start, end
        start = end + 1
