"""Word documents: paragraphs, tables, footnotes and endnotes.

Hidden text is left out. What is struck out, and what a recorded change deletes or moves away, a row or a cell
of a table too, is marked, as are hidden rows, letters of a point or two, and those in the colour of what is
behind them. Raised numbers are written in raised digits.
"""

from collections.abc import Iterable, Mapping

import msgspec

from vera.extraction.canonical import colours, dates
from vera.extraction.canonical.naming import extractor_name, first_line_title
from vera.extraction.canonical.package import PROGRAM, PROPERTIES, Package, Properties
from vera.extraction.canonical.rendered import canonical, raised_number, table_row
from vera.extraction.marks import HIDDEN, STRUCK, lifted, marked, unmarked
from vera.extraction.source import Extracted, Unreadable

RULES = 4

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_PARTS = ("word/document.xml", "word/footnotes.xml", "word/endnotes.xml")
_MARKS = {f"{_W}tab": "\t", f"{_W}br": "\n", f"{_W}cr": "\n", f"{_W}noBreakHyphen": "\u2011"}
_TEXT = frozenset((f"{_W}t", f"{_W}delText"))
_AWAY = frozenset((f"{_W}del", f"{_W}moveFrom"))
_ROW_AWAY = frozenset((f"{_W}del", f"{_W}cellDel", f"{_W}moveFrom"))
_PROPERTIES = frozenset(f"{_W}{name}Pr" for name in ("r", "p", "tc", "tr", "tbl", "sect"))
_STRIKES = frozenset((f"{_W}strike", f"{_W}dstrike"))
_PAPER = "#ffffff"
_UNSHADED = frozenset(("", "auto", "none", "clear"))
_LOOKS = frozenset((f"{_W}color", f"{_W}shd", f"{_W}highlight"))
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
    """The styles of the document that strike text out, hide it or give it a colour."""

    def __init__(self) -> None:
        self.default = ""
        """The style of paragraphs that name none."""
        self._own: dict[str, dict[str, bool]] = {}
        self._colours: dict[str, dict[str, str]] = {}
        self._bases: dict[str, str] = {}
        self._open = ""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag == f"{_W}style":
            self._open = attributes.get(f"{_W}styleId", "")
            is_default = attributes.get(f"{_W}default", "0") not in _FALSE
            if is_default and attributes.get(f"{_W}type") == "paragraph":
                self.default = self._open
        elif tag in _LOOKS:
            what = "colour" if tag == f"{_W}color" else "ground"
            self._colours.setdefault(self._open, {})[what] = _colour(attributes)
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

    def colour(self, style: str, what: str) -> str:
        """The colour of its text, or the `ground` behind it, by the style or the nearest it is based on."""
        for _ in range(_MAX_BASES):
            if style and what in self._colours.get(style, {}):
                return self._colours[style][what]
            style = self._bases.get(style, "")
        return ""


class _Run(msgspec.Struct):
    """What is said of the run of text that is open."""

    struck: bool = False
    vanished: bool = False
    tiny: bool = False
    raised: bool = False
    colour: str = ""
    ground: str = ""
    """The colour behind it, '' where the run says nothing of it."""


class _Cell(msgspec.Struct):
    """What is said of a cell, or of a row, of a table that is open."""

    away: bool = False
    hidden: bool = False
    ground: str = ""


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
        self._properties: list[str] = []
        self._paragraph_styles: list[str] = []
        self._grounds: list[str] = []
        self._cell_looks: list[_Cell] = []
        self._row_looks: list[_Cell] = []
        self._run = _Run()

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag == _FALLBACK or self._skipped:
            self._skipped += 1  # the same drawing once more, for older programs
        elif tag == f"{_W}p":
            self._paragraphs.append([])
            self._paragraph_styles.append(self._styles.default)
            self._grounds.append("")
        elif tag == f"{_W}pStyle" and self._paragraph_styles:
            self._paragraph_styles[-1] = attributes.get(f"{_W}val", "")
        elif tag == f"{_W}r":
            style = self._paragraph_styles[-1] if self._paragraph_styles else ""
            self._run = _Run(
                struck=self._styles.says(style, "strike"),
                vanished=self._styles.says(style, "vanish"),
                colour=self._styles.colour(style, "colour"),
            )
        elif tag == f"{_W}rStyle":
            style = attributes.get(f"{_W}val", "")
            self._run.struck |= self._styles.says(style, "strike")
            self._run.vanished |= self._styles.says(style, "vanish")
            self._run.colour = self._styles.colour(style, "colour") or self._run.colour
            self._run.ground = self._styles.colour(style, "ground")
        elif tag == f"{_W}vanish":
            self._run.vanished = _is_on(attributes)
        elif tag in _STRIKES:
            self._run.struck = _is_on(attributes)
        elif tag == f"{_W}sz":
            size = attributes.get(f"{_W}val", "")
            self._run.tiny = size.isdecimal() and len(size) < 4 and int(size) <= _TINIEST
        elif tag == f"{_W}vertAlign":
            self._run.raised = attributes.get(f"{_W}val", "") == "superscript"
        elif tag in _LOOKS:
            self._look(tag, _colour(attributes))
        elif tag in _ROW_AWAY and self._is_of_table():
            self._of_table().away = True
        elif tag == f"{_W}hidden" and self._properties[-1:] == [f"{_W}trPr"]:
            self._of_table().hidden = _is_on(attributes)
        elif tag in _PROPERTIES:
            self._properties.append(tag)
        elif tag in _AWAY:
            self._away += 1
        elif tag in _TEXT:
            self._in_text = True
        elif tag in _MARKS:
            self._write(_MARKS[tag])
        elif tag == f"{_W}tr":
            self._rows.append([])
            self._row_looks.append(_Cell())
        elif tag == f"{_W}tc":
            self._cells.append([])
            self._cell_looks.append(_Cell())

    def _look(self, tag: str, colour: str) -> None:
        """A colour, of the run, the paragraph or the cell whose properties are open."""
        of = self._properties[0] if len(self._properties) == 1 else ""
        if of == f"{_W}rPr":
            if tag == f"{_W}color":
                self._run.colour = colour
            else:
                self._run.ground = colour or self._run.ground
        elif of == f"{_W}pPr" and self._grounds:
            self._grounds[-1] = colour
        elif of == f"{_W}tcPr" and self._cell_looks:
            self._cell_looks[-1].ground = colour

    def _is_of_table(self) -> bool:
        """Whether the properties of a row or a cell are open."""
        return self._properties[-1:] in ([f"{_W}trPr"], [f"{_W}tcPr"])

    def _of_table(self) -> "_Cell":
        """The row or the cell whose properties are open."""
        looks = self._row_looks if self._properties[-1] == f"{_W}trPr" else self._cell_looks
        return looks[-1] if looks else _Cell()

    def _ground(self) -> str:
        """The colour behind the run; '' in a table that may have one from its style."""
        style = self._paragraph_styles[-1] if self._paragraph_styles else ""
        own = self._run.ground or "".join(self._grounds[-1:]) or self._styles.colour(style, "ground")
        if own or not self._cells:
            return own or _PAPER
        return self._cell_looks[-1].ground

    def data(self, text: str) -> None:
        if self._in_text:
            text = unmarked(text)
            if self._run.raised:
                text = raised_number(text)
            table = (*self._row_looks, *self._cell_looks)
            if self._is_hidden(table):
                text = marked(text, HIDDEN)
            struck = self._run.struck or self._away or any(each.away for each in table)
            self._write(marked(text, STRUCK) if struck else text)

    def _is_hidden(self, table: Iterable[_Cell]) -> bool:
        """Whether the run cannot be seen in these rows and cells of tables."""
        return (
            self._run.tiny
            or any(each.hidden for each in table)
            or colours.alike(self._run.colour, self._ground())
        )

    def end(self, tag: str) -> None:
        if self._skipped:
            self._skipped -= 1
        elif tag in _TEXT:
            self._in_text = False
        elif tag in _PROPERTIES:
            self._properties.pop()
        elif tag in _AWAY and not self._is_of_table():
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
        self._grounds.pop()
        text = "".join(self._paragraphs.pop()).replace("\u00ad", "")
        self._add([line for line in text.split("\n") if line.strip()])

    def _end_cell(self) -> None:
        cell = self._cells.pop()
        self._cell_looks.pop()
        if self._rows:
            self._rows[-1].append(cell)
        else:
            self._add(cell)

    def _end_row(self) -> None:
        self._row_looks.pop()
        self._add(table_row(self._rows.pop()))

    def _add(self, lines: list[str]) -> None:
        (self._cells[-1] if self._cells else self.lines).extend(lines)


def _is_on(attributes: Mapping[str, str]) -> bool:
    return attributes.get(f"{_W}val", "true") not in _FALSE


def _colour(attributes: Mapping[str, str]) -> str:
    """The colour that an element gives, '' for none."""
    val = attributes.get(f"{_W}val", "")
    if f"{_W}fill" not in attributes:
        return "" if val in _UNSHADED else colours.read(val)
    given = attributes.get(f"{_W}color", "") if val == "solid" else attributes[f"{_W}fill"]
    return "" if given in _UNSHADED else colours.read(given)
