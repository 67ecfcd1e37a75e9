"""What of a document is text, and what only defines: code, link targets, notes, lists of references.

Of Markdown (CommonMark with footnotes), or of the plain text of another format, where a line such as
"References" begins a list of references and "[1] …" an entry of one.
"""

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from vera.text.markdown import blocks, lines

Mode = Literal["plain", "bare", "gone"]

TARGET_LIMIT = 2000
"""Characters of a link's target."""

_NOTE_LIMIT = 2000
_NOTE_LINES = 40


class Part(NamedTuple):
    """A stretch of the document: `plain` is read, `bare` gives its links only, `gone` says nothing (code,
    definitions, notes, lists of references)."""

    start: int
    end: int
    mode: Mode


class Notes(NamedTuple):
    """What a document defines: link targets by label, the texts of footnotes (^1) and references (1)."""

    links: dict[str, str]
    texts: dict[str, str]


def outline(text: str, *, markdown: bool) -> tuple[list[Part], Notes]:
    """The parts of `text`, which together cover it, and what it defines. Linear in its length."""
    reader = _Outline(text, markdown)
    return list(_joined(reader.parts())), reader.notes


def key_of(label: str) -> str:
    """A label as it is looked up: case and white space do not count."""
    return " ".join(label.casefold().split())


def is_references(name: str) -> bool:
    """Whether a heading's words name a list of references."""
    return _REFERENCES.fullmatch(name.strip()) is not None


def is_references_heading(line: str) -> bool:
    """Whether a line is the heading of a list of references, with or without the marks of Markdown."""
    heading = _HEADING.match(line)
    return is_references(heading["name"] if heading else line)


def _joined(parts: Iterator[Part]) -> Iterator[Part]:
    """The parts, neighbours that are read in the same way as one: links may go on in the next line."""
    held: Part | None = None
    for part in parts:
        if held is not None and held.mode == part.mode and part.mode != "bare":
            held = held._replace(end=part.end)
            continue
        if held is not None:
            yield held
        held = part
    if held is not None:
        yield held


_HEADING = re.compile(r"[ \t]{0,3}#{1,6}[ \t]+(?P<name>[^\n]{1,200})")
_REFERENCES = re.compile(
    r"(?:\*\*|__)?(?:[0-9]{1,2}\.? {0,2})?(?:list of )?(?:references|sources|bibliography|literature"
    r"|works cited|literature cited|footnotes|endnotes|citations|quellen(?:verzeichnis)?"
    r"|literatur(?:verzeichnis)?|einzelnachweise|références|bibliographie|referencias"
    r"|bibliografía|fuentes)(?:\*\*|__)?:?[ \t#]{0,9}",
    re.IGNORECASE,
)
_DEFINITION = re.compile(
    r"[ ]{0,3}\[(?!\^)(?P<label>[^\[\]]{1,300})\]:[ \t]{0,9}(?P<target><[^<>]{1,2000}>|\S{1,2000})"
    r"(?:[ \t]{1,9}(?:\"[^\"]{0,400}\"|'[^']{0,400}'|\([^()]{0,400}\)))?[ \t]{0,9}"
)
_FOOTNOTE = re.compile(r"[ ]{0,3}\[\^(?P<label>[^\[\]\s]{1,100})\]:[ \t]{0,9}")
_ENTRY = re.compile(r"[ \t]{0,8}(?:[-*+][ \t]{1,3})?\[(?P<label>[0-9]{1,4})\][:.]?[ \t]{1,9}(?=\S)")
_LISTED = re.compile(r"[ \t]{0,8}(?P<label>[0-9]{1,4})[.)][ \t]{1,9}(?=\S)")
_ATTRIBUTION = re.compile(r"[ \t]{0,3}>[> \t]{0,8}(?:—|–|--)[ \t]")


class _Outline:
    """Reads a document line by line; `notes` are whole when all `parts` were given."""

    def __init__(self, text: str, markdown: bool) -> None:
        self.notes = Notes({}, {})
        self._text = text
        self._markdown = markdown
        self._note = ""
        self._note_lines = 0
        self._blank = True
        self._references = False

    def parts(self) -> Iterator[Part]:
        code = [(block.start, block.end) for block in blocks(self._text) if block.kind == "code"]
        front = self._front_matter()
        place = 0
        for start, line_end in lines(self._text):
            end = min(line_end + 1, len(self._text))
            while place < len(code) and code[place][1] <= start and code[place][1] < end:
                place += 1
            if end <= front:
                yield Part(start, end, "gone")
            elif self._markdown and place < len(code) and code[place][0] <= start < code[place][1]:
                self._note = ""
                yield Part(start, end, "gone")
            else:
                yield Part(start, end, self._mode(self._text[start:line_end]))

    def _front_matter(self) -> int:
        """Where the YAML head of a Markdown file ends, 0 for none."""
        if not self._markdown or not self._text.startswith("---\n"):
            return 0
        end = self._text.find("\n---\n", 3, 20_000)
        return end + 5 if end >= 0 else 0

    def _mode(self, line: str) -> Mode:
        blank, self._blank = self._blank, not line.strip()
        if self._blank:
            self._note_lines += 1
            return "gone" if self._references else "plain"
        if self._opens_references(line, blank):
            return "gone"
        if self._defines(line, blank):
            self._blank = True
            return "gone"
        if self._continues(line, blank):
            self._add(line)
            return "gone"
        self._note = ""
        if self._references:
            return "gone"
        # Of the line below a quote that says whose it is the links are read, and nothing else.
        return "bare" if self._markdown and _ATTRIBUTION.match(line) else "plain"

    def _opens_references(self, line: str, blank: bool) -> bool:
        """Whether the line is the heading of a list of references; another heading ends one."""
        heading = _HEADING.match(line)
        name = heading["name"] if heading else line if blank or not self._markdown else ""
        if name and is_references(name):
            self._references, self._note = True, ""
            return True
        if heading and self._markdown:
            self._references, self._note = False, ""
        return False

    def _defines(self, line: str, blank: bool) -> bool:
        """Whether the line begins the definition of a link, a footnote or an entry of the references."""
        if self._markdown and (found := _DEFINITION.fullmatch(line)) is not None:
            self.notes.links.setdefault(key_of(found["label"]), found["target"].strip("<>"))
            self._note = ""
            return True
        footnote = _FOOTNOTE.match(line) if self._markdown else None
        found = footnote or self._entry(line, blank)
        if found is None:
            return False
        key = ("^" if footnote else "") + key_of(found["label"])
        if key in self.notes.texts:
            self._note = ""
            return bool(footnote) or self._references
        self._note, self._note_lines = key, 0
        self.notes.texts[key] = ""
        self._add(line[found.end() :])
        return True

    def _entry(self, line: str, blank: bool) -> re.Match[str] | None:
        """The beginning of an entry of the references, where one may begin."""
        if not (blank or self._note or self._references):
            return None
        return _ENTRY.match(line) or (_LISTED.match(line) if self._references else None)

    def _continues(self, line: str, blank: bool) -> bool:
        """Whether the line goes on with the note that is open."""
        if not self._note or self._note_lines > _NOTE_LINES:
            return False
        return not blank or self._note_lines == 0 or (self._note[0] == "^" and line.startswith(("  ", "\t")))

    def _add(self, line: str) -> None:
        self._note_lines += 1
        held = self.notes.texts[self._note]
        if len(held) < _NOTE_LIMIT:
            self.notes.texts[self._note] = f"{held}\n{line}"[: _NOTE_LIMIT + TARGET_LIMIT].strip()
