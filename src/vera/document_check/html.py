"""The links of an HTML document, written into its text so that they outlive the making of canonical text.

The page itself is parsed elsewhere, by the extractor in its own process. Here only its tags are found, as the
HTML standard tells them from text, and between them marks are put: around the words of links, at the start of
blocks (which line of the file it is), and at both ends of quotations.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from html import unescape
from typing import NamedTuple

from vera.audit.edits import edited
from vera.document_check.links import RESERVED, WORDS_BEGIN, WORDS_CLOSE, WORDS_END
from vera.text.html_tags import Tag
from vera.text.html_tags import tags as tags_of
from vera.text.lexicon import word_set

_LINE_BEGIN, _LINE_END, _QUOTE_BEGIN, _QUOTE_END = "\ue013", "\ue014", "\ue015", "\ue016"

_WANTED = frozenset(("href", "id", "name"))
_BLOCKS = word_set("""
    p li td th h1 h2 h3 h4 h5 h6 div dd dt blockquote pre figcaption caption section article aside summary
    """)
_NOTE_ID = re.compile(r"(?:fn|foot|note|cite|ref|bib|end|src|source)", re.IGNORECASE)
_NOTE_WORDS = re.compile(r"\W{0,4}(?:[0-9]{1,4}|[a-z]|[*†‡§]{1,3}|note [0-9]{1,3})\W{0,4}", re.IGNORECASE)
_TAGS = re.compile(r"<[^<>]{0,2000}>")
_NOTE_TAGS = 2000
_NOTE_LENGTH = 20_000
_MOST_NOTES = 2000
_MARKS = re.compile(
    f"{_LINE_BEGIN}([0-9]{{1,9}}){_LINE_END}|[{_LINE_BEGIN}{_LINE_END}{_QUOTE_BEGIN}{_QUOTE_END}]"
)


class _Anchor(NamedTuple):
    """A link: its tags, and where it points."""

    start: int
    inner: int
    inner_end: int
    end: int
    target: str


class Marked(NamedTuple):
    """A page with marks in it, and what the numbers in the marks of its links stand for."""

    html: str
    targets: tuple[tuple[str, ...], ...]


def marked(html: str) -> Marked:
    """The page with its links, lines and quotations marked.

    A link into the page itself is a note when its words or its target look like one; then the addresses in
    that note are its targets, or `note:` and the note's words where it holds none, and the note is taken out
    of the page. Linear in the length.
    """
    html = RESERVED.sub("\ufffd", html)
    tags = list(tags_of(html, _WANTED))
    anchors = list(_anchors(tags))
    notes = _Notes(html, tags, anchors)
    edits: list[tuple[int, int, str]] = [*_structure(html, tags)]
    targets: list[tuple[str, ...]] = []
    for anchor in anchors:
        words = _TAGS.sub("", html[anchor.inner : anchor.inner_end])
        if anchor.target.startswith("#"):
            found = notes.of(anchor.target[1:], words)
            if not found:
                continue
            mark = f"{WORDS_BEGIN}{WORDS_END}{len(targets)}{WORDS_CLOSE}"
            edits.append((anchor.inner, anchor.inner_end, mark))
        else:
            found = (anchor.target,)
            edits.append((anchor.inner, anchor.inner, WORDS_BEGIN))
            edits.append((anchor.inner_end, anchor.inner_end, f"{WORDS_END}{len(targets)}{WORDS_CLOSE}"))
        targets.append(found)
    edits += [(start, end, "") for start, end in notes.taken]
    return Marked(edited(html, sorted(edits, key=lambda edit: edit[:2])), tuple(targets))


def unmarked(canonical: str) -> tuple[str, tuple[int, ...]]:
    """The canonical text of a marked page as paragraphs and quotes of Markdown, and for each of its lines the
    line of the page."""
    out: list[str] = []
    lines: list[int] = []
    line, quoted = 1, 0
    for text in canonical.split("\n"):
        begins = text.lstrip().startswith((_LINE_BEGIN, _QUOTE_BEGIN))
        line = _page_line(text, begins, line)
        quoted += text.count(_QUOTE_BEGIN)
        plain = _MARKS.sub("", text).strip()
        if plain:
            if begins and out and not (quoted and out[-1].startswith(">")):
                out.append("")
                lines.append(line)
            out.append(f"> {plain}" if quoted else plain)
            lines.append(line)
        quoted = max(0, quoted - text.count(_QUOTE_END))
    return "\n".join(out), tuple(lines)


def _page_line(text: str, begins: bool, before: int) -> int:
    """The line of the page that its marks give a line of text; without one that of the line `before`."""
    found = [match[1] for match in _MARKS.finditer(text) if match[1]]
    if not found:
        return before
    return int(found[-1] if begins else found[0])


def _anchors(tags: Sequence[Tag]) -> Iterator[_Anchor]:
    """The links; one that is not closed ends where the next one begins."""
    opened: Tag | None = None
    for tag in tags:
        if tag.name != "a":
            continue
        if opened is not None:
            target = opened.attributes["href"]
            yield _Anchor(opened.start, opened.end, tag.start, tag.end if tag.close else tag.start, target)
        opened = None if tag.close or "href" not in tag.attributes else tag


def _structure(html: str, tags: Sequence[Tag]) -> Iterator[tuple[int, int, str]]:
    line, counted = 1, 0
    for tag in tags:
        if tag.name == "q":
            yield (tag.start, tag.start, "”") if tag.close else (tag.end, tag.end, "“")
        if tag.name == "blockquote" and tag.close:
            yield tag.start, tag.start, _QUOTE_END
        if tag.close or tag.name not in _BLOCKS:
            continue
        line += html.count("\n", counted, tag.end)
        counted = tag.end
        quote = _QUOTE_BEGIN if tag.name == "blockquote" else ""
        yield tag.end, tag.end, f"{_LINE_BEGIN}{line}{_LINE_END}{quote}"


class _Notes:
    """The notes of a page. `taken` is where they stand, once a link to one was followed."""

    def __init__(self, html: str, tags: Sequence[Tag], anchors: Sequence[_Anchor]) -> None:
        self._html = html
        self._tags = tags
        self._anchors = [anchor for anchor in anchors if not anchor.target.startswith("#")]
        self._starts = [anchor.start for anchor in self._anchors]
        self._places: dict[str, int] = {}
        for place, tag in enumerate(tags):
            for key in (tag.attributes.get("id"), tag.attributes.get("name") if tag.name == "a" else None):
                if key:
                    self._places.setdefault(key, place)
        self._known: dict[str, tuple[str, ...]] = {}
        self.taken: list[tuple[int, int]] = []

    def of(self, key: str, words: str) -> tuple[str, ...]:
        """The targets of the note with this id; none when it is a place in the page and no note."""
        if key not in self._places or not (_NOTE_WORDS.fullmatch(words.strip()) and _NOTE_ID.search(key)):
            return ()
        if key not in self._known:
            if len(self._known) == _MOST_NOTES:
                return ()
            self._known[key] = self._read(self._places[key])
        return self._known[key]

    def _read(self, place: int) -> tuple[str, ...]:
        start, end = self._reach(place)
        low = bisect_left(self._starts, start)
        found = [anchor.target for anchor in self._anchors[low : low + 20] if anchor.start < end]
        self.taken.append((start, end))
        if found:
            return tuple(dict.fromkeys(found))
        words = " ".join(unescape(_TAGS.sub(" ", self._html[start:end][:_NOTE_LENGTH])).split())
        return (f"note:{words[:500]}",)

    def _reach(self, place: int) -> tuple[int, int]:
        """Where the note stands: the block that bears the id, or what is left of the block around it."""
        tag = self._tags[place]
        depth = 1
        for other in self._tags[place + 1 : place + _NOTE_TAGS]:
            if tag.name in _BLOCKS:
                depth += (-1 if other.close else 1) if other.name == tag.name else 0
                if depth == 0:
                    return tag.end, other.start
            elif other.name in _BLOCKS:
                return tag.end, other.start
        return tag.end, tag.end
