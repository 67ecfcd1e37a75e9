"""A document that is checked: its bytes, its text by format, and the lines of its file."""

from pathlib import Path
from typing import NamedTuple

from vera.agent.errors import SetupError
from vera.attestation.request import RequestError
from vera.document_check.document import Document, read
from vera.document_check.docx import marked as word_marked
from vera.document_check.html import marked, unmarked
from vera.document_check.links import without_marks
from vera.document_check.package import marked as package_marked
from vera.document_check.rtf import marked as rtf_marked
from vera.document_check.sources import FILE_BYTES
from vera.evidence.reading import read_regular
from vera.extraction.canonical.encoding import to_utf8
from vera.extraction.canonical.html import declared_charset
from vera.extraction.canonical.registry import format_of
from vera.extraction.extractor import Extractor
from vera.extraction.source import Unreadable

TEXT_LIMIT = 4_000_000
"""Characters of a document's text; a longer one is checked in parts by whoever has it."""

_PARAGRAPHS = "Lines are those of the document's text: a paragraph a line."
OF_TEXT = {
    **dict.fromkeys(("docx", "odt", "pptx", "epub", "rtf"), _PARAGRAPHS),
    "pdf": "Of a PDF only addresses that are written out are seen; lines are those of its text.",
}


class Written(NamedTuple):
    """A document, its format, and its text as written, for its references; '' of HTML and PDF, whose lines
    are those of a layout."""

    document: Document
    format: str
    text: str


def insist_on_text(text: str) -> None:
    """Raise RequestError for a report that was sent as Markdown and is empty, or no text."""
    if not text.strip() or "\0" in text:
        raise RequestError("The report is empty, or holds a zero byte. Give it as Markdown.")
    try:
        kind = format_of(text.encode("utf-8", "replace"), "report.md").name
    except Unreadable as error:
        raise RequestError(f"The report cannot be checked: {error}. Give it as Markdown.") from None
    if kind not in ("txt", "md", "html"):
        raise RequestError(f"The report cannot be checked: it is {kind}. Give it as Markdown.")


def document_bytes(path: Path) -> bytes:
    """The bytes of a document. Raises SetupError (2): no such file, or one that is too large."""
    try:
        real = path.resolve(strict=True)
        return read_regular(real.parent, real.name, FILE_BYTES)
    except Unreadable as error:
        raise SetupError(f"{path} cannot be read: {error}.", 2) from None
    except (OSError, RuntimeError):
        raise SetupError(f"There is no file {path}.", 2) from None


def lines_of(data: bytes, kind: str) -> list[str] | None:
    """The lines of a checked document's file, as its problems count them; None for a file that has none, such
    as docx and PDF."""
    if kind in OF_TEXT:
        return None
    encoding = declared_charset(data) if kind == "html" else ""
    text = to_utf8(data, encoding)[0].decode("utf-8", "replace")
    return (text if kind == "html" else _plain(text)).split("\n")


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_document(path: Path, data: bytes, extractor: Extractor) -> Written:
    """Read a document by its format. Raises SetupError (1): what is no document, or holds no text."""
    try:
        chosen = format_of(data, path.name)
        match chosen.name:
            case "txt" | "md":
                text = _plain(to_utf8(data)[0].decode("utf-8", "replace"))
                if path.suffix.lower() == ".bib":
                    _bounded(path, text)
                    return Written(Document(text=text, claims=(), sources=()), "bib", text)
                return Written(_read(path, text), chosen.name, text)
            case "html":
                page = marked(to_utf8(data, declared_charset(data))[0].decode("utf-8", "replace"))
                extracted = extractor.extract(page.html.encode("utf-8", "replace"), "page.html")
                text, lines = unmarked(extracted.text.decode("utf-8", "replace"))
                _bounded(path, text)
                document = read(text, markdown=False, targets=page.targets, lines=lines)
                return Written(document, chosen.name, "")
            case "docx" | "odt" | "pptx" | "epub" | "rtf":
                document, text = _paragraphs(path, data, chosen.name, extractor)
                return Written(document, chosen.name, text)
            case "pdf":
                text = extractor.extract(data, path.name).text.decode("utf-8", "replace")
                return Written(_read(path, text, markdown=False), chosen.name, "")
    except Unreadable as error:
        raise SetupError(f"{path} cannot be checked: {error}.", 1) from None
    raise SetupError(
        f"{path} cannot be checked: {chosen.name} is no document. Give Markdown, text, HTML, PDF, docx, odt, "
        "pptx, epub or rtf.",
        1,
    )


def _paragraphs(path: Path, data: bytes, kind: str, extractor: Extractor) -> tuple[Document, str]:
    """A document of which each paragraph is a line of its text, and that text without the marks of links."""
    match kind:
        case "docx":
            package = word_marked(data)
        case "rtf":
            package = rtf_marked(data)
        case _:
            package = package_marked(data, kind)
    text = extractor.extract(package.data if package else data, f"document.{kind}").text
    spaced = text.decode("utf-8", "replace").replace("\n", "\n\n")
    _bounded(path, spaced)
    lines = tuple(number // 2 + 1 for number in range(spaced.count("\n") + 1))
    targets = package.targets if package else ()
    return read(spaced, markdown=False, targets=targets, lines=lines), without_marks(spaced)


def _read(path: Path, text: str, *, markdown: bool = True) -> Document:
    _bounded(path, text)
    return read(text, markdown=markdown)


def _bounded(path: Path, text: str) -> None:
    if len(text) > TEXT_LIMIT:
        raise SetupError(
            f"{path} cannot be checked: its text is longer than {TEXT_LIMIT // 1_000_000} million "
            "characters. Check its parts.",
            1,
        )
    if not text.strip():
        raise SetupError(f"{path} cannot be checked: it holds no text.", 1)
