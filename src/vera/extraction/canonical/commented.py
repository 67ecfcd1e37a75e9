"""Settings and rows of a table that are commented out: a comment of the shape of the file's own records."""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from vera.extraction.marks import STRUCK, Mark
from vera.text.late_regex import late_regex
from vera.text.tables import delimiter_of

SETTINGS = (".conf", ".cfg", ".ini", ".toml", ".yaml", ".yml", ".env", ".properties")
"""Suffixes of files of settings."""

SAMPLE = 500
"""Rows from which the shape of a table is known."""

_COMMENT = re.compile(
    rb"^[ \t]*(?:#{1,3}|;{1,2}|//)(?P<gap>[ \t]*)(?P<rest>[^\s#;/][^\n]{0,2000})", re.MULTILINE
)
_RECORD = late_regex(
    r"[ \t]*(?:-[ \t]+|export[ \t]+)?(?P<key>[\w.\[\]\"'/-]{1,80})"
    r"[ \t]*(?P<sign>=|:(?=\s|\Z))[ \t]*(?P<value>.*)"
)
_IDENTIFIER = late_regex(
    r"[a-z][A-Za-z0-9]*(?:[_.-][A-Za-z0-9]+)+|[a-z]+(?:[A-Z][a-z0-9]*)+|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+"
)
"""max_retries, max-retries, maxRetries, MAX_RETRIES: no word of a sentence."""

_SHORT = late_regex(r"(?:\"[^\"]*\"|'[^']*'|[\[{(].*[\])}]|\S+(?:[ \t,]+\S+){0,2})?(?:\s+[#;].*)?")
_ENDED = late_regex(r"[^.]\.\Z")
_DIGITS, _LETTERS = re.compile(r"[0-9]"), re.compile(r"[^\W\d_]+")


def commented(text: bytes, suffix: str, media_type: str) -> Iterator[Mark]:
    """The lines of a file of settings, or of delimited values, that are commented out."""
    is_table = media_type != "text/plain"
    comments = list(_COMMENT.finditer(text)) if is_table or suffix in SETTINGS else []
    if comments:
        out = _rows(text, comments, media_type) if is_table else _settings(text, comments)
        yield from (Mark(STRUCK, comment.start(), comment.end()) for comment in out)


def _decoded(line: bytes) -> str:
    return line.decode("utf-8", "ignore")


def _settings(text: bytes, comments: Sequence[re.Match[bytes]]) -> Iterable[re.Match[bytes]]:
    """Comments that are a setting: of a key that the file also has without a comment, or of one that is no
    word of a sentence."""
    held = [found for line in _decoded(text).split("\n") if (found := _RECORD.fullmatch(line))]
    keys = frozenset(_key(record) for record in held)
    signs = frozenset(record["sign"] for record in held)
    for comment in comments:
        record = _RECORD.fullmatch(_decoded(comment["rest"]).rstrip())
        if record is None or record["sign"] not in signs or not _is_value(record["value"]):
            continue
        if _key(record) in keys or record["sign"] == "=" or _IDENTIFIER.fullmatch(_key(record)):
            yield comment


def _key(record: re.Match[str]) -> str:
    return record["key"].strip("\"'")


def _is_value(value: str) -> bool:
    """Whether a value is no sentence: a few words, a text between quotation marks, a list."""
    return _SHORT.fullmatch(value) is not None and _ENDED.search(value) is None


def _rows(text: bytes, comments: Sequence[re.Match[bytes]], media_type: str) -> Iterable[re.Match[bytes]]:
    """Comments below the head of a table that have as many fields as its rows. Where most lines begin so, it
    is how their values begin."""
    begins = frozenset(comment.start() for comment in comments)
    head, rows = _sample(text, begins)
    if len(rows) < 2:
        return ()
    delimiter = delimiter_of(rows[0], media_type)
    fields = [_fields(row, delimiter) for row in rows]
    width, _ = Counter(map(len, fields)).most_common(1)[0]
    shapes = frozenset(_shape(each[0]) for each in fields if each)
    out = [
        comment
        for comment in comments
        if comment.start() > head
        and _is_row(comment, _fields(_decoded(comment["rest"]), delimiter), width, shapes)
    ]
    return out if width > 1 and 3 * len(out) < text.count(b"\n") else ()


def _sample(text: bytes, comments: frozenset[int]) -> tuple[int, list[str]]:
    """Where the first line is that is no comment, and the first lines of these."""
    head, rows, position = -1, list[str](), 0
    while position < len(text) and len(rows) < SAMPLE:
        end = text.find(b"\n", position)
        end = len(text) if end == -1 else end
        line = text[position:end]
        if line.strip() and position not in comments:
            head = position if head == -1 else head
            rows.append(_decoded(line))
        position = end + 1
    return head, rows


def _is_row(comment: re.Match[bytes], fields: Sequence[str], width: int, shapes: frozenset[str]) -> bool:
    """Whether a comment is a row. A sign that stands directly before a word may belong to it: #one."""
    if len(fields) != width:
        return False
    shape = _shape(fields[0])
    return bool(comment["gap"]) or (shape in shapes and "9" in shape)


def _shape(field: str) -> str:
    """A value with its digits and words told by one sign each: 9999-99-99."""
    return _LETTERS.sub("a", _DIGITS.sub("9", field.strip()))


def _fields(text: str, delimiter: str) -> list[str]:
    """The values of a line; none where it is malformed."""
    try:
        return next(csv.reader([text], delimiter=delimiter), [])
    except csv.Error:
        return []
