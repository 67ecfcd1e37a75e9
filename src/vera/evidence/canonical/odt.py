"""Texts of OpenDocument (ISO/IEC 26300): paragraphs, tables and notes.

Hidden text, comments and what a recorded change deleted are left out. What is struck out is marked.
"""

from collections.abc import Mapping

from vera.evidence.canonical import dates
from vera.evidence.canonical.naming import bounded, extractor_name, first_line_title
from vera.evidence.canonical.package import PROGRAM, Package, Properties
from vera.evidence.canonical.rendered import canonical, table_row
from vera.evidence.marks import STRUCK, lifted, marked, unmarked
from vera.evidence.source import Extracted, Unreadable

RULES = 1

_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
_CREATED = "{urn:oasis:names:tc:opendocument:xmlns:meta:1.0}creation-date"
_CHANGED = "{http://purl.org/dc/elements/1.1/}date"
_PARAGRAPHS = frozenset((f"{_TEXT}p", f"{_TEXT}h"))
_STYLED = _PARAGRAPHS | {f"{_TEXT}span"}
_LEFT_OUT = frozenset(
    (
        f"{_OFFICE}annotation",
        f"{_TEXT}tracked-changes",
        f"{_TEXT}note-citation",
        f"{_TEXT}hidden-text",
        f"{_TEXT}hidden-paragraph",
    )
)
_CELLS = frozenset((f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"))
_MAX_BASES = 20
_MAX_SPACES = 1000


def extract(data: bytes, name: str) -> Extracted:
    """A paragraph a line, the cells of a table row between tabs, notes after the text.

    Raises Unreadable for a broken or encrypted file.
    """
    package = Package(data)
    names = package.names()
    if "content.xml" not in names:
        raise Unreadable("the OpenDocument file holds no text")
    styles, properties = _Styles(), Properties(_CREATED, _CHANGED)
    for part, handler in (("styles.xml", styles), ("content.xml", styles), ("meta.xml", properties)):
        if part in names:
            package.parse(part, handler)
    story = _Story(styles)
    package.parse("content.xml", story)
    text, marks = lifted(canonical([*story.lines, *story.notes]))
    if not text:
        raise Unreadable("the document holds no text")
    return Extracted(
        text=text,
        title=bounded(properties.title) or first_line_title(text, name),
        media_type="application/vnd.oasis.opendocument.text",
        extractor=extractor_name("odt", PROGRAM, RULES),
        marks=marks,
        dated=dates.between(properties.created, properties.modified),
    )


class _Styles:
    """The styles that strike text out or hide it."""

    def __init__(self) -> None:
        self._own: dict[str, dict[str, bool]] = {}
        self._bases: dict[str, str] = {}
        self._open = ""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag == f"{_STYLE}style":
            self._open = attributes.get(f"{_STYLE}name", "")
            self._bases[self._open] = attributes.get(f"{_STYLE}parent-style-name", "")
        elif tag == f"{_STYLE}text-properties" and self._open:
            own = self._own.setdefault(self._open, {})
            if (line := attributes.get(f"{_STYLE}text-line-through-style")) is not None:
                own["strike"] = line != "none"
            if (shown := attributes.get(f"{_TEXT}display")) is not None:
                own["hide"] = shown == "none"

    def end(self, tag: str) -> None:
        if tag == f"{_STYLE}style":
            self._open = ""

    def data(self, text: str) -> None:
        pass

    def says(self, style: str, what: str) -> bool | None:
        """What the style, or the nearest it is based on, says of this; None for nothing."""
        for _ in range(_MAX_BASES):
            if what in self._own.get(style, {}):
                return self._own[style][what]
            style = self._bases.get(style, "")
        return None


class _Story:
    """The body as its elements are read: paragraphs may hold notes and frames, which hold paragraphs."""

    def __init__(self, styles: _Styles) -> None:
        self._styles = styles
        self.lines: list[str] = []
        self.notes: list[str] = []
        self._paragraphs: list[list[str]] = []
        self._looks: list[tuple[bool, bool]] = [(False, False)]
        self._cells: list[list[str]] = []
        self._rows: list[list[list[str]]] = []
        self._in_note = 0
        self._skipped = 0

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag in _LEFT_OUT or self._skipped:
            self._skipped += 1
            return
        if tag in _STYLED:
            self._looks.append(self._look(attributes.get(f"{_TEXT}style-name", "")))
        if tag in _PARAGRAPHS:
            self._paragraphs.append([])
        elif tag == f"{_TEXT}s":
            count = attributes.get(f"{_TEXT}c", "1")
            self._write(" " * (min(int(count), _MAX_SPACES) if count.isdecimal() and len(count) < 6 else 1))
        elif tag == f"{_TEXT}tab":
            self._write("\t")
        elif tag == f"{_TEXT}line-break":
            self._write("\n")
        elif tag == f"{_TEXT}note":
            self._in_note += 1
        elif tag == f"{_TABLE}table-row":
            self._rows.append([])
        elif tag in _CELLS:
            self._cells.append([])

    def data(self, text: str) -> None:
        if not self._skipped:
            text = unmarked(text)
            self._write(marked(text, STRUCK) if self._looks[-1][0] else text)

    def end(self, tag: str) -> None:
        if self._skipped:
            self._skipped -= 1
            return
        if tag in _STYLED:
            self._looks.pop()
        if tag in _PARAGRAPHS:
            text = "".join(self._paragraphs.pop()).replace("\u00ad", "")
            self._add([line for line in text.split("\n") if line.strip()])
        elif tag == f"{_TEXT}note":
            self._in_note -= 1
        elif tag in _CELLS:
            cell = self._cells.pop()
            if self._rows:
                self._rows[-1].append(cell)
        elif tag == f"{_TABLE}table-row":
            self._add(table_row(self._rows.pop()))

    def _look(self, style: str) -> tuple[bool, bool]:
        """Whether text in an element of this style is struck out and hidden; the one around it decides what
        the style leaves open."""
        around = self._looks[-1]
        struck, hidden = (self._styles.says(style, what) for what in ("strike", "hide"))
        return around[0] if struck is None else struck, around[1] if hidden is None else hidden

    def _write(self, text: str) -> None:
        if self._paragraphs and not self._looks[-1][1]:
            self._paragraphs[-1].append(text)

    def _add(self, lines: list[str]) -> None:
        if self._in_note:
            self.notes.extend(lines)
        else:
            (self._cells[-1] if self._cells else self.lines).extend(lines)
