"""Texts of OpenDocument (ISO/IEC 26300): paragraphs, tables and notes.

Hidden text, paragraphs and sections, comments and what a recorded change deleted are left out. What is struck
out is marked, as are white letters on nothing.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from vera.extraction.canonical import dates
from vera.extraction.canonical.naming import bounded, extractor_name, first_line_title
from vera.extraction.canonical.package import PROGRAM, Package, Properties
from vera.extraction.canonical.rendered import canonical, table_row
from vera.extraction.marks import HIDDEN, STRUCK, lifted, marked, unmarked
from vera.extraction.source import Extracted, Unreadable

RULES = 2

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
    )
)
_HIDES_PARAGRAPH = f"{_TEXT}hidden-paragraph"
_FO = "{urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0}"
_WHITE = re.compile(r"(?i)#f[c-f]f[c-f]f[c-f]")
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
            self._own.setdefault(self._open, {}).update(_said_of_text(attributes))
        elif tag == f"{_STYLE}paragraph-properties" and self._open:
            ground = attributes.get(f"{_FO}background-color", "transparent")
            if _is_coloured(ground):
                self._own.setdefault(self._open, {})["ground"] = True

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


def _said_of_text(attributes: Mapping[str, str]) -> dict[str, bool]:
    """What the properties of text say of its look; what they leave open is not in it."""
    own: dict[str, bool] = {}
    if (line := attributes.get(f"{_STYLE}text-line-through-style")) is not None:
        own["strike"] = line != "none"
    if (shown := attributes.get(f"{_TEXT}display")) is not None:
        own["hide"] = shown == "none"
    if (colour := attributes.get(f"{_FO}color")) is not None:
        own["white"] = _WHITE.fullmatch(colour) is not None
    if (ground := attributes.get(f"{_FO}background-color")) is not None:
        own["ground"] = _is_coloured(ground)
    return own


def _is_coloured(ground: str) -> bool:
    return ground != "transparent" and not _WHITE.fullmatch(ground)


class _Look(NamedTuple):
    """How text looks: `ground` says that there is a colour behind it."""

    struck: bool = False
    hidden: bool = False
    white: bool = False
    ground: bool = False


def _is_hidden_section(tag: str, attributes: Mapping[str, str]) -> bool:
    hidden = attributes.get(f"{_TEXT}is-hidden") == "true"
    return tag == f"{_TEXT}section" and (hidden or attributes.get(f"{_TEXT}display") == "none")


class _Story:
    """The body as its elements are read: paragraphs may hold notes and frames, which hold paragraphs."""

    def __init__(self, styles: _Styles) -> None:
        self._styles = styles
        self.lines: list[str] = []
        self.notes: list[str] = []
        self._paragraphs: list[list[str]] = []
        self._looks: list[_Look] = [_Look()]
        self._hidden: list[bool] = []
        self._cells: list[list[str]] = []
        self._rows: list[list[list[str]]] = []
        self._in_note = 0
        self._skipped = 0

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag in _LEFT_OUT or self._skipped or _is_hidden_section(tag, attributes):
            self._skipped += 1
            return
        if tag == _HIDES_PARAGRAPH and self._hidden:
            self._hidden[-1] = attributes.get(f"{_TEXT}is-hidden", "true") != "false"
        if tag in _STYLED:
            self._looks.append(self._look(attributes.get(f"{_TEXT}style-name", "")))
        if tag in _PARAGRAPHS:
            self._paragraphs.append([])
            self._hidden.append(False)
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
            text, look = unmarked(text), self._looks[-1]
            if look.white and not look.ground and not self._cells:
                text = marked(text, HIDDEN)  # a cell may have a colour behind it
            self._write(marked(text, STRUCK) if look.struck else text)

    def end(self, tag: str) -> None:
        if self._skipped:
            self._skipped -= 1
            return
        if tag in _STYLED:
            self._looks.pop()
        if tag in _PARAGRAPHS:
            text = "".join(self._paragraphs.pop()).replace("\u00ad", "")
            if self._hidden.pop():
                return
            self._add([line for line in text.split("\n") if line.strip()])
        elif tag == f"{_TEXT}note":
            self._in_note -= 1
        elif tag in _CELLS:
            cell = self._cells.pop()
            if self._rows:
                self._rows[-1].append(cell)
        elif tag == f"{_TABLE}table-row":
            self._add(table_row(self._rows.pop()))

    def _look(self, style: str) -> "_Look":
        """The look of text in an element of this style; the one around it decides what that leaves open."""
        own = {what: self._styles.says(style, what) for what in ("strike", "hide", "white", "ground")}
        around = self._looks[-1]
        return _Look(
            struck=around.struck if own["strike"] is None else own["strike"],
            hidden=around.hidden if own["hide"] is None else own["hide"],
            white=around.white if own["white"] is None else own["white"],
            ground=around.ground if own["ground"] is None else own["ground"],
        )

    def _write(self, text: str) -> None:
        if self._paragraphs and not self._looks[-1].hidden:
            self._paragraphs[-1].append(text)

    def _add(self, lines: list[str]) -> None:
        if self._in_note:
            self.notes.extend(lines)
        else:
            (self._cells[-1] if self._cells else self.lines).extend(lines)
