"""Word documents: paragraphs, tables, footnotes and endnotes.

Hidden text is left out. What is struck out, and what a recorded change deletes or moves away, is marked, as
are letters of a point or two, and white ones on nothing.
"""

import re
from collections.abc import Mapping

import msgspec

from vera.extraction.canonical import dates
from vera.extraction.canonical.naming import extractor_name, first_line_title
from vera.extraction.canonical.package import PROGRAM, PROPERTIES, Package, Properties
from vera.extraction.canonical.rendered import canonical, table_row
from vera.extraction.marks import HIDDEN, STRUCK, lifted, marked, unmarked
from vera.extraction.source import Extracted, Unreadable

RULES = 3

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_PARTS = ("word/document.xml", "word/footnotes.xml", "word/endnotes.xml")
_MARKS = {f"{_W}tab": "\t", f"{_W}br": "\n", f"{_W}cr": "\n", f"{_W}noBreakHyphen": "\u2011"}
_TEXT = frozenset((f"{_W}t", f"{_W}delText"))
_AWAY = frozenset((f"{_W}del", f"{_W}moveFrom"))
_STRIKES = frozenset((f"{_W}strike", f"{_W}dstrike"))
_WHITE = re.compile(r"(?i)f[c-f]f[c-f]f[c-f]")
_PAPER = frozenset(("", "auto", "none", "clear"))
_TINIEST = 4
"""Half points: letters of two points are dots."""
_MAX_BASES = 20
_FALSE = frozenset(("0", "false", "off", "none"))


def extract(data: bytes, name: str) -> Extracted:
    """A paragraph a line, the cells of a table row between tabs, notes after the text.

    Automatic numbers of headings and lists are drawn by Word and are nowhere in the file: they are not
    in the text. Raises Unreadable for a broken file.
    """
    package = Package(data)
    names = package.names()
    styles, properties = _Styles(), Properties()
    if "word/styles.xml" in names:
        package.parse("word/styles.xml", styles)
    if PROPERTIES in names:
        package.parse(PROPERTIES, properties)
    lines: list[str] = []
    for part in _PARTS:
        if part in names:
            story = _Story(styles)
            package.parse(part, story)
            lines += story.lines
    text, marks = lifted(canonical(lines))
    if not text:
        raise Unreadable("the document holds no text")
    return Extracted(
        text=text,
        title=first_line_title(text, name),
        media_type="application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        extractor=extractor_name("docx", PROGRAM, RULES),
        marks=marks,
        dated=dates.between(properties.created, properties.modified),
    )


class _Styles:
    """The styles of the document that strike text out or hide it."""

    def __init__(self) -> None:
        self._own: dict[str, dict[str, bool]] = {}
        self._bases: dict[str, str] = {}
        self._open = ""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag == f"{_W}style":
            self._open = attributes.get(f"{_W}styleId", "")
        elif tag == f"{_W}basedOn":
            self._bases[self._open] = attributes.get(f"{_W}val", "")
        elif tag in _STRIKES or tag == f"{_W}vanish":
            self._own.setdefault(self._open, {})["vanish" if tag == f"{_W}vanish" else "strike"] = _is_on(
                attributes
            )

    def end(self, tag: str) -> None:
        if tag == f"{_W}style":
            self._open = ""

    def data(self, text: str) -> None:
        pass

    def says(self, style: str, what: str) -> bool:
        """Whether the style, or the nearest it is based on that says anything of it, does this."""
        for _ in range(_MAX_BASES):
            if what in self._own.get(style, {}):
                return self._own[style][what]
            style = self._bases.get(style, "")
        return False


class _Run(msgspec.Struct):
    """What is said of the run of text that is open."""

    struck: bool = False
    vanished: bool = False
    white: bool = False
    tiny: bool = False
    ground: bool = False
    """Whether it has a colour behind it."""


class _Story:
    """One part of the document as its elements are read."""

    def __init__(self, styles: _Styles) -> None:
        self._styles = styles
        self.lines: list[str] = []
        self._paragraphs: list[list[str]] = []
        self._cells: list[list[str]] = []
        self._rows: list[list[list[str]]] = []
        self._in_text = False
        self._skipped = 0
        self._away = 0
        self._paragraph_styles: list[str] = []
        self._run = _Run()

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag == _FALLBACK or self._skipped:
            self._skipped += 1  # the same drawing once more, for older programs
        elif tag == f"{_W}p":
            self._paragraphs.append([])
            self._paragraph_styles.append("")
        elif tag == f"{_W}pStyle" and self._paragraph_styles:
            self._paragraph_styles[-1] = attributes.get(f"{_W}val", "")
        elif tag == f"{_W}r":
            style = self._paragraph_styles[-1] if self._paragraph_styles else ""
            self._run = _Run(
                struck=self._styles.says(style, "strike"), vanished=self._styles.says(style, "vanish")
            )
        elif tag == f"{_W}rStyle":
            style = attributes.get(f"{_W}val", "")
            self._run.struck |= self._styles.says(style, "strike")
            self._run.vanished |= self._styles.says(style, "vanish")
        elif tag == f"{_W}vanish":
            self._run.vanished = _is_on(attributes)
        elif tag in _STRIKES:
            self._run.struck = _is_on(attributes)
        elif tag == f"{_W}color":
            self._run.white = _WHITE.fullmatch(attributes.get(f"{_W}val", "")) is not None
        elif tag == f"{_W}sz":
            size = attributes.get(f"{_W}val", "")
            self._run.tiny = size.isdecimal() and len(size) < 4 and int(size) <= _TINIEST
        elif tag in (f"{_W}shd", f"{_W}highlight"):
            fill = attributes.get(f"{_W}fill", attributes.get(f"{_W}val", "")).lower()
            self._run.ground = fill not in _PAPER and not _WHITE.fullmatch(fill)
        elif tag in _AWAY:
            self._away += 1
        elif tag in _TEXT:
            self._in_text = True
        elif tag in _MARKS:
            self._write(_MARKS[tag])
        elif tag == f"{_W}tr":
            self._rows.append([])
        elif tag == f"{_W}tc":
            self._cells.append([])

    def data(self, text: str) -> None:
        if self._in_text:
            text = unmarked(text)
            if self._run.tiny or (self._run.white and not self._run.ground and not self._cells):
                text = marked(text, HIDDEN)  # a table may have its colours from a style
            self._write(marked(text, STRUCK) if self._run.struck or self._away else text)

    def end(self, tag: str) -> None:
        if self._skipped:
            self._skipped -= 1
        elif tag in _TEXT:
            self._in_text = False
        elif tag in _AWAY:
            self._away -= 1
        elif tag == f"{_W}p":
            self._end_paragraph()
        elif tag == f"{_W}tc":
            self._end_cell()
        elif tag == f"{_W}tr":
            self._end_row()

    def _write(self, text: str) -> None:
        if self._paragraphs and not self._run.vanished:
            self._paragraphs[-1].append(text)

    def _end_paragraph(self) -> None:
        self._paragraph_styles.pop()
        text = "".join(self._paragraphs.pop()).replace("\u00ad", "")
        self._add([line for line in text.split("\n") if line.strip()])

    def _end_cell(self) -> None:
        cell = self._cells.pop()
        if self._rows:
            self._rows[-1].append(cell)
        else:
            self._add(cell)

    def _end_row(self) -> None:
        self._add(table_row(self._rows.pop()))

    def _add(self, lines: list[str]) -> None:
        (self._cells[-1] if self._cells else self.lines).extend(lines)


def _is_on(attributes: Mapping[str, str]) -> bool:
    return attributes.get(f"{_W}val", "true") not in _FALSE
