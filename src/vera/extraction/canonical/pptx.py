"""Presentations of PowerPoint (ECMA-376, PresentationML): the text of each slide, a slide a page.

Speaker notes, comments, charts and SmartArt are left out. What is struck out is marked as struck, a hidden
slide, shape or group of shapes as hidden, and so is what stands off the slide.
"""

import posixpath
import re
from collections.abc import Mapping

from vera.extraction.canonical import dates
from vera.extraction.canonical.naming import bounded, extractor_name, first_line_title
from vera.extraction.canonical.package import PROGRAM, PROPERTIES, Package, Properties
from vera.extraction.canonical.rendered import TEXT_LIMIT, canonical_lines, table_row
from vera.extraction.marks import HIDDEN, STRUCK, lifted, marked, unmarked
from vera.extraction.source import Extracted, Unreadable

RULES = 3
SLIDE_LIMIT = 5000

_PRESENTATION = "ppt/presentation.xml"
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_RELATION = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_FALSE = frozenset(("0", "false", "off"))
_EMU = re.compile(r"-?[0-9]{1,12}")
_STRIKES = frozenset(("sngStrike", "dblStrike"))
_OF_GROUP = frozenset((f"{_P}nvGrpSpPr", f"{_P}grpSpPr"))
"""What is said of a group itself."""


def extract(data: bytes, name: str) -> Extracted:
    """A paragraph a line, the cells of a table row between tabs; `pages` holds the line on which each slide
    begins. Raises Unreadable for a broken file.
    """
    package = Package(data)
    names = package.names()
    order, targets, properties = _Order(), _Targets(), Properties()
    package.parse(_PRESENTATION, order)
    relations = "ppt/_rels/presentation.xml.rels"
    if relations in names:
        package.parse(relations, targets)
    if PROPERTIES in names:
        package.parse(PROPERTIES, properties)
    if len(order.slides) > SLIDE_LIMIT:
        raise Unreadable(f"it has {len(order.slides)} slides; at most {SLIDE_LIMIT} are read")
    lines: list[bytes] = []
    firsts: list[int] = []
    size = 0
    for slide in order.slides:
        firsts.append(len(lines) + 1)
        part = targets.of.get(slide, "")
        story = _Slide(order.size)
        if part in names:
            package.parse(part, story)
        added = canonical_lines(story.lines)
        lines += added
        size += sum(map(len, added)) + len(added)
        if size > TEXT_LIMIT:
            raise Unreadable(f"its text is larger than {TEXT_LIMIT >> 20} MB")
    text, marks = lifted(b"".join(line + b"\n" for line in lines))
    if not text.strip():
        raise Unreadable("the presentation holds no text")
    return Extracted(
        text=text,
        title=bounded(properties.title) or first_line_title(text, name),
        media_type="application/vnd.openxmlformats-officedocument.presentationml.presentation",
        extractor=extractor_name("pptx", PROGRAM, RULES),
        pages=tuple(firsts),
        marks=marks,
        dated=dates.between(properties.created, properties.modified),
    )


class _Order:
    """The slides in the order in which they are shown, by the ids of their relationships."""

    def __init__(self) -> None:
        self.slides: list[str] = []
        self.size = (9_144_000, 6_858_000)

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag == f"{_P}sldId":
            self.slides.append(attributes.get(f"{_R}id", ""))
        elif tag == f"{_P}sldSz":
            self.size = _number(attributes, "cx", self.size[0]), _number(attributes, "cy", self.size[1])

    def end(self, tag: str) -> None:
        pass

    def data(self, text: str) -> None:
        pass


class _Targets:
    """Relationship id → part of the package."""

    def __init__(self) -> None:
        self.of: dict[str, str] = {}

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag == _RELATION and attributes.get("TargetMode") != "External":
            target = posixpath.normpath(posixpath.join("/ppt", attributes.get("Target", "")))
            self.of[attributes.get("Id", "")] = target.lstrip("/")

    def end(self, tag: str) -> None:
        pass

    def data(self, text: str) -> None:
        pass


class _Slide:
    """One slide as its elements are read."""

    def __init__(self, size: tuple[int, int]) -> None:
        self.lines: list[str] = []
        self._size = size
        self._place = (0, 0)
        self._groups: list[bool] = []
        self._of_group = False
        self._hidden = False
        self._shape_hidden = False
        self._struck = False
        self._in_text = False
        self._number = False
        self._skipped = 0
        self._paragraph: list[str] = []
        self._cell: list[str] | None = None
        self._row: list[list[str]] = []

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag == _FALLBACK or self._skipped:
            self._skipped += 1  # the same drawing once more, for older programs
        elif tag == f"{_P}sld":
            self._hidden = attributes.get("show", "1") in _FALSE
        elif tag == f"{_P}cNvPr":
            self._hide(hidden=attributes.get("hidden", "0") not in _FALSE)
        elif tag == f"{_P}grpSp":
            self._groups.append(any(self._groups[-1:]))
        elif tag in _OF_GROUP:
            self._of_group = bool(self._groups)
        elif tag == f"{_A}off" and self._is_placed():
            self._place = _number(attributes, "x", 0), _number(attributes, "y", 0)
        elif tag == f"{_A}ext" and "cx" in attributes and self._is_placed():
            if self._is_off(_number(attributes, "cx", 1), _number(attributes, "cy", 1)):
                self._hide(hidden=True)
        elif tag == f"{_A}fld":
            self._number = attributes.get("type", "") == "slidenum"
        elif tag in (f"{_A}r", f"{_A}br"):
            self._struck = False
            if tag == f"{_A}br":
                self._paragraph.append("\n")
        elif tag == f"{_A}rPr":
            self._struck = attributes.get("strike", "") in _STRIKES
        elif tag == f"{_A}t":
            self._in_text = True
        elif tag == f"{_A}tc":
            self._cell = []

    def _hide(self, *, hidden: bool) -> None:
        """What is said of the shape that is open, or of the group, and so of all that is in it."""
        if self._of_group:
            self._groups[-1] |= hidden
        else:
            self._shape_hidden = hidden

    def _is_placed(self) -> bool:
        """Whether places are told on the slide: within a group they are told in it."""
        return not self._groups or (self._of_group and len(self._groups) == 1)

    def _is_off(self, width: int, height: int) -> bool:
        """Whether a shape of this size, where it was said to stand, lies off the slide."""
        (x, y), (right, bottom) = self._place, self._size
        return x + width <= 0 or y + height <= 0 or x >= right or y >= bottom

    def data(self, text: str) -> None:
        if self._in_text and not self._number:
            text = unmarked(text)
            if self._hidden or self._shape_hidden or any(self._groups[-1:]):
                text = marked(text, HIDDEN)
            self._paragraph.append(marked(text, STRUCK) if self._struck else text)

    def end(self, tag: str) -> None:
        if self._skipped:
            self._skipped -= 1
        elif tag == f"{_A}t":
            self._in_text = False
        elif tag == f"{_P}grpSp":
            self._groups.pop()
        elif tag in _OF_GROUP:
            self._of_group = False
        elif tag == f"{_A}fld":
            self._number = False
        elif tag == f"{_A}p":
            self._end_paragraph()
        elif tag == f"{_A}tc":
            self._row.append(self._cell or [])
            self._cell = None
        elif tag == f"{_A}tr":
            self.lines += table_row(self._row)
            self._row = []

    def _end_paragraph(self) -> None:
        said = [line for line in "".join(self._paragraph).split("\n") if line.strip()]
        (self.lines if self._cell is None else self._cell).extend(said)
        self._paragraph = []


def _number(attributes: Mapping[str, str], name: str, otherwise: int) -> int:
    """A length in EMU."""
    value = attributes.get(name, "")
    return int(value) if _EMU.fullmatch(value) else otherwise
