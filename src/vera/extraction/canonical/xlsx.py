"""Excel workbooks: the visible sheets, a row a line, cells between tabs.

Hidden rows and columns keep their place and are marked, as is what a cell strikes out, or shows in white on
nothing or in a format that shows nothing.
"""

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

from vera.extraction.canonical import dates
from vera.extraction.canonical.naming import bounded, extractor_name, file_title
from vera.extraction.canonical.package import PROGRAM, PROPERTIES, Package, Properties
from vera.extraction.canonical.rendered import TEXT_LIMIT, canonical
from vera.extraction.marks import HIDDEN, STRUCK, lifted, marked, unmarked
from vera.extraction.source import Extracted, Unreadable

RULES = 3

_S = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_R_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_RELATIONSHIP = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"
_COLUMN = re.compile(r"[A-Z]{1,3}")
_WIDEST_GAP = 50
# Number formats that mean dates: the built-in ones (ECMA-376 part 1, 18.8.30), and any own format with a
# letter of year, month, day or hour outside quotes, escapes and [conditions].
_DATE_FORMATS = frozenset((*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)))
_NO_CODE = re.compile(r'"[^"]*"|\\.|_.|\*.|\[[^\]]*\]')
_DATE_LETTER = re.compile(r"[ymdhs]", re.IGNORECASE)
_NOTHING = re.compile(r"0(?:\.0*)?")
_SHOWS_NOTHING = ";;;"
_TRUE = frozenset(("1", "true"))
_MAX_HIDDEN_COLUMNS = 1000
_SERIAL = re.compile(r"\d{1,7}(?:\.\d{1,20})?")


def extract(data: bytes, name: str) -> Extracted:
    """Values as they are stored, dates in ISO 8601; sheet names as headings when there are several.

    A number keeps the digits of the file (0.15 that Excel shows as 15 % is 0.15), a formula is its last
    value, hidden sheets are left out. Raises Unreadable for a broken file.
    """
    package = Package(data)
    workbook = _Workbook()
    package.parse("xl/workbook.xml", workbook)
    names = package.names()
    targets = _Targets()
    if "xl/_rels/workbook.xml.rels" in names:
        package.parse("xl/_rels/workbook.xml.rels", targets)
    strings, styles = _Strings(), _Styles()
    if "xl/sharedStrings.xml" in names:
        package.parse("xl/sharedStrings.xml", strings)
    if "xl/styles.xml" in names:
        package.parse("xl/styles.xml", styles)
    properties = Properties()
    if PROPERTIES in names:
        package.parse(PROPERTIES, properties)
    lines: list[str] = []
    for sheet in workbook.sheets:
        part = targets.parts.get(sheet.relation, "")
        if part not in names:
            continue
        rows = _Rows(strings.values, styles, workbook.epoch)
        package.parse(part, rows)
        if rows.lines and len(workbook.sheets) > 1:
            lines.append(unmarked(sheet.name))
        lines += rows.lines
    text, marks = lifted(canonical(lines))
    if not text:
        raise Unreadable("the workbook holds no text")
    return Extracted(
        text=text,
        title=bounded(file_title(name)),
        media_type="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        extractor=extractor_name("xlsx", PROGRAM, RULES),
        marks=marks,
        dated=dates.between(properties.created, properties.modified),
    )


class _Sheet(NamedTuple):
    name: str
    relation: str


class _Part:
    """A part whose text does not matter."""

    def end(self, tag: str) -> None:
        pass

    def data(self, text: str) -> None:
        pass


class _Workbook(_Part):
    """The sheets that can be seen, in order, and the day that dates count from."""

    def __init__(self) -> None:
        self.sheets: list[_Sheet] = []
        self.epoch = datetime(1899, 12, 30)

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag == f"{_S}sheet" and attributes.get("state", "visible") == "visible":
            self.sheets.append(_Sheet(attributes.get("name", ""), attributes.get(_R_ID, "")))
        elif tag == f"{_S}workbookPr" and attributes.get("date1904", "0") in ("1", "true"):
            self.epoch = datetime(1904, 1, 1)


class _Targets(_Part):
    """The part that holds each sheet."""

    def __init__(self) -> None:
        self.parts: dict[str, str] = {}

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag == _RELATIONSHIP:
            target = attributes.get("Target", "")
            part = target[1:] if target.startswith("/") else f"xl/{target}"
            self.parts[attributes.get("Id", "")] = part


class _Strings:
    """The shared strings, without the phonetic guides of Japanese ones."""

    def __init__(self) -> None:
        self.values: list[str] = []
        self._open: list[str] = []
        self._in_text = False
        self._phonetic = False
        self._struck = False

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag == f"{_S}si":
            self._open = []
        elif tag == f"{_S}r":
            self._struck = False
        elif tag == f"{_S}strike":
            self._struck = _is_on(attributes)
        elif tag == f"{_S}rPh":
            self._phonetic = True
        elif tag == f"{_S}t":
            self._in_text = not self._phonetic

    def data(self, text: str) -> None:
        if self._in_text:
            text = unmarked(text)
            self._open.append(marked(text, STRUCK) if self._struck else text)

    def end(self, tag: str) -> None:
        if tag == f"{_S}si":
            self.values.append("".join(self._open))
            self._struck = False
        elif tag == f"{_S}rPh":
            self._phonetic = False
        elif tag == f"{_S}t":
            self._in_text = False


class _Styles(_Part):
    """For each cell style whether it shows a date, strikes its cells out, or shows nothing of them."""

    def __init__(self) -> None:
        self.dates: list[bool] = []
        self.struck: list[bool] = []
        self.unseen: list[bool] = []
        self._fonts: list[bool] = []
        self._white: list[bool] = []
        self._fills: list[bool] = []
        self._empty: set[str] = set()
        self._in_fonts = False
        self._own: dict[str, bool] = {}
        self._in_cell_styles = False

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag == f"{_S}numFmt":
            code = _NO_CODE.sub("", attributes.get("formatCode", "")[:1000])
            self._own[attributes.get("numFmtId", "")] = bool(_DATE_LETTER.search(code))
            if code.strip() == _SHOWS_NOTHING:
                self._empty.add(attributes.get("numFmtId", ""))
        elif tag == f"{_S}font":
            self._fonts.append(False)
            self._white.append(False)
        elif tag == f"{_S}color" and self._in_fonts and self._white:
            self._white[-1] = (
                attributes.get("rgb", "").upper() == "FFFFFFFF" or attributes.get("theme") == "0"
            )
        elif tag == f"{_S}patternFill":
            self._fills.append(attributes.get("patternType", "none") != "none")
        elif tag == f"{_S}strike" and self._fonts:
            self._fonts[-1] = _is_on(attributes)
        elif tag == f"{_S}fonts":
            self._fonts.clear()
            self._white.clear()
            self._in_fonts = True
        elif tag == f"{_S}cellXfs":
            self._in_cell_styles = True
        elif tag == f"{_S}xf" and self._in_cell_styles:
            number = attributes.get("numFmtId", "0")
            built_in = number.isascii() and number.isdigit() and len(number) < 4
            font = _index(attributes.get("fontId", "0"))
            fill = _index(attributes.get("fillId", "0"))
            filled = fill is not None and fill < len(self._fills) and self._fills[fill]
            white = font is not None and font < len(self._white) and self._white[font] and not filled
            self.unseen.append(white or number in self._empty)
            self.struck.append(font is not None and font < len(self._fonts) and self._fonts[font])
            self.dates.append(self._own.get(number, built_in and int(number) in _DATE_FORMATS))

    def end(self, tag: str) -> None:
        if tag == f"{_S}cellXfs":
            self._in_cell_styles = False
        elif tag == f"{_S}fonts":
            self._in_fonts = False


class _Rows:
    """The rows of one sheet as lines. An empty cell keeps its place between the tabs."""

    def __init__(self, strings: list[str], styles: _Styles, epoch: datetime) -> None:
        self.lines: list[str] = []
        self._strings, self._styles, self._epoch = strings, styles, epoch
        self._hidden_columns: list[tuple[int, int]] = []
        self._hidden_row = self._rows_hidden = False
        self._size = 0
        self._cells: list[str] = []
        self._column = 0
        self._type = self._style = ""
        self._value: list[str] = []
        self._in_value = False

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag == f"{_S}row":
            self._cells, self._column = [], 0
            flat = _NOTHING.fullmatch(attributes.get("ht", "")) is not None
            self._hidden_row = flat or attributes.get("hidden", "1" if self._rows_hidden else "0") in _TRUE
        elif tag == f"{_S}sheetFormatPr":
            self._rows_hidden = attributes.get("zeroHeight", "0") in _TRUE
        elif tag == f"{_S}col":
            self._look_at_columns(attributes)
        elif tag == f"{_S}c":
            column = _column(attributes.get("r", "")) or self._column + 1
            self._cells += [""] * min(max(column - self._column - 1, 0), _WIDEST_GAP)
            self._column = column
            self._type, self._style = attributes.get("t", "n"), attributes.get("s", "")
            self._value = []
        elif tag in (f"{_S}v", f"{_S}t"):
            self._in_value = True

    def _look_at_columns(self, attributes: Mapping[str, str]) -> None:
        """Remember columns that are hidden, or of no width."""
        if attributes.get("hidden", "0") in _TRUE or _NOTHING.fullmatch(attributes.get("width", "")):
            first, last = _index(attributes.get("min", "")), _index(attributes.get("max", ""))
            if first and last and len(self._hidden_columns) < _MAX_HIDDEN_COLUMNS:
                self._hidden_columns.append((first, last))

    def data(self, text: str) -> None:
        if self._in_value:
            self._value.append(unmarked(text))

    def end(self, tag: str) -> None:
        if tag in (f"{_S}v", f"{_S}t"):
            self._in_value = False
        elif tag == f"{_S}c":
            cell = " ".join(self._shown("".join(self._value)).split())
            # Counted here: one shared string of a megabyte may be in a million cells.
            self._size += len(cell) + 1
            if self._size > TEXT_LIMIT:
                raise Unreadable(f"its text is larger than {TEXT_LIMIT >> 20} MB")
            self._cells.append(self._seen(cell))
        elif tag == f"{_S}row" and (line := "\t".join(self._cells).rstrip("\t")):
            self.lines.append(line)

    def _seen(self, cell: str) -> str:
        """The cell with the mark that it gets."""
        if self._hidden_row or any(first <= self._column <= last for first, last in self._hidden_columns):
            return marked(cell, HIDDEN)
        style = _index(self._style)
        if style is None or style >= len(self._styles.struck):
            return cell
        if self._styles.unseen[style]:
            return marked(cell, HIDDEN)
        return marked(cell, STRUCK) if self._styles.struck[style] else cell

    def _shown(self, value: str) -> str:
        if self._type == "s":
            index = _index(value)
            return self._strings[index] if index is not None and index < len(self._strings) else ""
        if self._type == "b":
            return {"1": "TRUE", "0": "FALSE"}.get(value.strip(), value)
        if self._type == "n" and _SERIAL.fullmatch(value.strip()):
            style = _index(self._style)
            if style is not None and style < len(self._styles.dates) and self._styles.dates[style]:
                return _date(float(value), self._epoch)
        return value


def _is_on(attributes: Mapping[str, str]) -> bool:
    return attributes.get("val", "1") in _TRUE


def _index(digits: str) -> int | None:
    digits = digits.strip()
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 10 else None


def _column(reference: str) -> int:
    """The number of a cell's column (`C7` is in 3), 0 when the reference names none."""
    found = _COLUMN.match(reference)
    number = 0
    for letter in found[0] if found else "":
        number = number * 26 + ord(letter) - 64
    return number


def _date(serial: float, epoch: datetime) -> str:
    """A serial day number as ISO 8601: a date, a time of day (below 1), or both."""
    try:
        moment = epoch + timedelta(seconds=round(serial * 86400))
    except OverflowError:
        return str(serial)
    if serial < 1:
        return moment.time().isoformat()
    return moment.date().isoformat() if serial == int(serial) else moment.isoformat(sep=" ")
