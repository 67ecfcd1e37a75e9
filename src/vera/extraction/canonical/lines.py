"""The line rule: no line of a canonical text is longer than LINE_LIMIT characters.

Long paragraphs are cut at sentence ends, so that a citation by line is a citation of a sentence or two.
The rule prefers to turn one space into the newline, which moves no byte offset; only where a line offers
no space (Chinese, Japanese, minified code) is a newline inserted. Folding a folded text changes nothing.
"""

import codecs
import re
from collections.abc import Iterator

# Whoever changes what this file does raises RULES in every format: the extractor's name must tell.
LINE_LIMIT = 400
_SHORT = 80
_AHEAD = LINE_LIMIT + 32
_BLOCK = 1 << 20
# The mark stands first, so that the search runs from mark to mark; what stood before it is looked at then.
_SENTENCE_END = re.compile(
    r"[.!?…。！？｡]"
    r"(?:(?<=[。！？｡])[」』”’）》】]{0,4} ?(?=\S)"
    r"|(?<=[.!?…])"
    r"(?<![ (.][A-Za-z].)"  # initials, "e.g.", "i.e."
    r"(?<!\b(?:Mr|Ms|Dr|St|No|Nr|vs|cf|al|pp)\.)(?<!\b(?:Mrs|Art|Abs|Sec|Fig|Vol)\.)"
    r"[\"'”’»)\]]{0,4} {1,8}(?=[^\sa-zß-ÿ]))"
)
_DELIMITERS = ",;\t|/&>}"


def fold(text: bytes) -> bytes:
    """Cut each line of more than LINE_LIMIT characters; `text` is valid UTF-8 with newline line ends.

    A long line is cut after each sentence that brings its piece to 80 characters or more. A sentence that
    is longer than the limit is cut at the last space before it, else after a delimiter, else anywhere
    between two characters.
    """
    parts: list[bytes] = []
    done = 0
    for start, end in _lines_over(text, LINE_LIMIT):
        folded = "\n".join(_pieces(text[start:end])).encode()
        parts += (text[done:start], folded)
        done = end
    if not parts:
        return text
    parts.append(text[done:])
    return b"".join(parts)


def _lines_over(text: bytes, limit: int) -> Iterator[tuple[int, int]]:
    """The byte ranges of all lines of more than `limit` bytes.

    Looks back from `limit` bytes ahead for a newline: about one step for 400 bytes, however short the
    lines are (2 GB/s, where a regular expression over lines makes 0.1).
    """
    start, size = 0, len(text)
    while size - start > limit:
        newline = text.rfind(b"\n", start, start + limit + 1)
        if newline != -1:
            start = newline + 1
            continue
        end = text.find(b"\n", start)
        if end == -1:
            end = size
        yield start, end
        start = end + 1


def _pieces(line: bytes) -> Iterator[str]:
    """The pieces of one line, decoded block by block so that a line of any length needs little memory."""
    if len(line) <= 4 * LINE_LIMIT and len(short := line.decode()) <= LINE_LIMIT:
        yield short  # many bytes, but few enough characters
        return
    decoder = codecs.getincrementaldecoder("utf-8")()
    rest = ""
    for offset in range(0, len(line), _BLOCK):
        rest += decoder.decode(line[offset : offset + _BLOCK])
        last = offset + _BLOCK >= len(line)
        position = 0
        # A cut looks no further than _AHEAD characters: with as many at hand it falls where it would
        # fall if the whole line were.
        while (last or len(rest) - position > _AHEAD) and (cut := _cut(rest, position)):
            yield rest[position : cut[0]]
            position = cut[1]
        rest = rest[position:]
    yield rest


def _cut(line: str, position: int) -> tuple[int, int] | None:
    """Where the piece that begins at `position` ends and the next one begins; None for the last piece."""
    limit = position + LINE_LIMIT
    found = _SENTENCE_END.search(line, position + _SHORT, position + _AHEAD)
    if found:
        following = found.end()
        end = following - 1 if line[following - 1] == " " else following
        if end <= limit:
            return end, following
    if len(line) <= limit:
        return None
    middle = position + LINE_LIMIT // 2
    space = line.rfind(" ", middle, limit + 1)
    if space != -1:
        return space, space + 1
    delimiter = max(line.rfind(mark, middle, limit) for mark in _DELIMITERS)
    if delimiter != -1:
        return delimiter + 1, delimiter + 1
    space = line.rfind(" ", position + 1, middle)
    if space != -1:
        return space, space + 1
    return limit, limit
