"""Word documents: paragraphs, tables, footnotes and endnotes, without deleted and hidden text."""

from collections.abc import Mapping

from vera.evidence.canonical.naming import extractor_name, first_line_title
from vera.evidence.canonical.package import Package, lxml_version
from vera.evidence.canonical.rendered import canonical, table_row
from vera.evidence.source import Extracted, Unreadable

RULES = 1

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_PARTS = ("word/document.xml", "word/footnotes.xml", "word/endnotes.xml")
_MARKS = {f"{_W}tab": "\t", f"{_W}br": "\n", f"{_W}cr": "\n", f"{_W}noBreakHyphen": "\u2011"}
_FALSE = frozenset(("0", "false", "off", "none"))


def extract(data: bytes, name: str) -> Extracted:
    """A paragraph a line, the cells of a table row between tabs, notes after the text.

    Automatic numbers of headings and lists are drawn by Word and stand nowhere in the file: they are not
    in the text. Raises Unreadable for a broken file and where lxml is not installed.
    """
    package = Package(data)
    names = package.names()
    lines: list[str] = []
    for part in _PARTS:
        if part in names:
            story = _Story()
            package.parse(part, story)
            lines += story.lines
    text = canonical(lines)
    if not text:
        raise Unreadable("the document holds no text")
    return Extracted(
        text=text,
        title=first_line_title(text, name),
        media_type="application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        extractor=extractor_name("docx", f"lxml-{lxml_version()}", RULES),
    )


class _Story:
    """One part of the document as its elements come by."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._paragraphs: list[list[str]] = []
        self._cells: list[list[str]] = []
        self._rows: list[list[list[str]]] = []
        self._in_text = False
        self._skipped = 0
        self._vanished = False

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag == _FALLBACK or self._skipped:
            self._skipped += 1  # the same drawing once more, for older programs
        elif tag == f"{_W}p":
            self._paragraphs.append([])
        elif tag == f"{_W}r":
            self._vanished = False
        elif tag == f"{_W}vanish":
            self._vanished = attributes.get(f"{_W}val", "true") not in _FALSE
        elif tag == f"{_W}t":
            self._in_text = True
        elif tag in _MARKS:
            self._write(_MARKS[tag])
        elif tag == f"{_W}tr":
            self._rows.append([])
        elif tag == f"{_W}tc":
            self._cells.append([])

    def data(self, text: str) -> None:
        if self._in_text:
            self._write(text)

    def end(self, tag: str) -> None:
        if self._skipped:
            self._skipped -= 1
        elif tag == f"{_W}t":
            self._in_text = False
        elif tag == f"{_W}p":
            self._end_paragraph()
        elif tag == f"{_W}tc":
            self._end_cell()
        elif tag == f"{_W}tr":
            self._end_row()

    def _write(self, text: str) -> None:
        if self._paragraphs and not self._vanished:
            self._paragraphs[-1].append(text)

    def _end_paragraph(self) -> None:
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
