"""The links and notes of OpenDocument texts, presentations and EPUB books, written into their text.

As `document_docx` does for Word documents: only the tags of links and notes are found in the XML here; the
document itself is parsed by the extractor in its own process.
"""

import io
import posixpath
import re
import zipfile
from collections.abc import Callable, Iterator
from html import unescape

from vera.document_check.docx import Marked, addresses_or_words, part_of, relations_of
from vera.document_check.links import WORDS_BEGIN, WORDS_CLOSE, WORDS_END
from vera.extraction.zip_errors import ZIP_ERRORS

MAX_PARTS = 20_000
MAX_BYTES = 128 << 20
"""Of all parts that hold text, unpacked."""

_KEPT = (".xml", ".rels", ".opf", ".xhtml", ".html", ".htm", "mimetype")
_ODT = re.compile(
    r"<text:a\b(?P<rest>[^<>]{0,4000}+)(?<!/)>|(?P<close></text:a>)"
    r"|<text:note\b[^<>]{0,1000}+(?<!/)>(?P<note>.{0,20000}?)</text:note>",
    re.DOTALL,
)
_CITATION = re.compile(r"<text:note-citation\b[^<>]{0,1000}+>.{0,200}?</text:note-citation>", re.DOTALL)
_HREF = re.compile(r"\b(?:xlink:)?href\s{0,3}=\s{0,3}[\"'](?P<value>[^\"'<>]{1,4000}+)[\"']")
_RUN = re.compile(r"<a:r>(?P<run>.{0,20000}?)</a:r>", re.DOTALL)
_CLICK = re.compile(r"<a:hlinkClick\b[^<>]{0,1000}?\br:id\s{0,3}=\s{0,3}[\"'](?P<id>[^\"'<>]{1,200})[\"']")
_WORDS = re.compile(r"(?P<open><a:t\b[^<>]{0,200}>)(?P<words>[^<>]{0,20000}+)</a:t>")
_ANCHOR = re.compile(r"<a\b(?P<rest>[^<>]{0,4000}+)(?<!/)>|(?P<close></a\s{0,9}>)", re.IGNORECASE)
_WEB = ("http://", "https://")

Targets = list[tuple[str, ...]]


def marked(data: bytes, kind: str) -> Marked | None:
    """The document of this kind (odt, pptx or epub) with its links marked and its notes taken out. None for a
    file that cannot be taken apart."""
    out, targets = io.BytesIO(), Targets()
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as package, zipfile.ZipFile(out, "w") as written:
            for name, content in _parts(package):
                mark = _marker(kind, name, package)
                text = mark(part_of(package, name), targets).encode("utf-8", "replace") if mark else content
                written.writestr(name, text)
    except (*ZIP_ERRORS, OSError):
        return None
    return Marked(out.getvalue(), tuple(targets))


def _parts(package: zipfile.ZipFile) -> Iterator[tuple[str, bytes]]:
    """The parts that may hold text, in their order. Raises ValueError for too many bytes."""
    left = MAX_BYTES
    for member in package.infolist()[:MAX_PARTS]:
        if not member.filename.lower().endswith(_KEPT):
            continue
        with package.open(member) as part:
            content = part.read(left + 1)
        left -= len(content)
        if left < 0:
            raise ValueError(member.filename)
        yield member.filename, content


def _marker(kind: str, name: str, package: zipfile.ZipFile) -> Callable[[str, Targets], str] | None:
    """What marks the links of a part; None for a part without links."""
    if kind == "odt" and name == "content.xml":
        return _odt
    if kind == "epub" and name.lower().endswith((".xhtml", ".html", ".htm")):
        return _page
    if kind == "pptx" and posixpath.dirname(name) == "ppt/slides":
        relations = relations_of(part_of(package, f"ppt/slides/_rels/{posixpath.basename(name)}.rels"))
        return lambda xml, targets: _slide(xml, relations, targets)
    return None


def _end(targets: Targets, target: tuple[str, ...]) -> str:
    targets.append(target)
    return f"{WORDS_END}{len(targets) - 1}{WORDS_CLOSE}"


def _linked(xml: str, targets: Targets, pattern: re.Pattern[str]) -> str:
    """The text with marks around what is between the tags of a link; a note is replaced by its mark."""
    opened = ""

    def mark(match: re.Match[str]) -> str:
        nonlocal opened
        if match["close"]:
            target, opened = opened, ""
            return _end(targets, (target,)) + match[0] if target else match[0]
        note = match.groupdict().get("note")
        if note is not None:
            return WORDS_BEGIN + _end(targets, addresses_or_words(_CITATION.sub("", note), _hrefs(note)))
        found = _HREF.search(match["rest"])
        # Of an OpenDocument file the document itself is the folder that a relative address starts from.
        opened = unescape(found["value"]).removeprefix("../") if found else ""
        opened = "" if opened.startswith("#") else opened
        return match[0] + (WORDS_BEGIN if opened else "")

    return pattern.sub(mark, xml)


def _hrefs(xml: str) -> list[str]:
    return [found for match in _HREF.finditer(xml) if (found := unescape(match["value"])).startswith(_WEB)]


def _odt(xml: str, targets: Targets) -> str:
    return _linked(xml, targets, _ODT)


def _page(html: str, targets: Targets) -> str:
    """A part of a book: what leads to another part of it is no source."""

    def keep_web(match: re.Match[str]) -> str:
        found = _HREF.search(match["rest"] or "")
        outside = match["close"] or (found and unescape(found["value"]).startswith(_WEB))
        return match[0] if outside else "<a>"

    return _linked(_ANCHOR.sub(keep_web, html), targets, _ANCHOR)


def _slide(xml: str, relations: dict[str, str], targets: Targets) -> str:
    def mark(match: re.Match[str]) -> str:
        click = _CLICK.search(match["run"])
        target = relations.get(click["id"], "") if click else ""
        if not target.startswith(_WEB) and "." not in target:
            return match[0]
        return _WORDS.sub(
            lambda words: f"{words['open']}{WORDS_BEGIN}{words['words']}{_end(targets, (target,))}</a:t>",
            match[0],
            count=1,
        )

    return _RUN.sub(mark, xml)
