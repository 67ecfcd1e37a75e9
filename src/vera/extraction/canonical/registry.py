"""The formats that VERA reads, and how a file finds its own."""

from collections.abc import Callable
from typing import NamedTuple

from vera.extraction.canonical import (
    docx,
    epub,
    html,
    jsontext,
    mail,
    markdown,
    odt,
    pdf,
    picture,
    pptx,
    rows,
    rtf,
    text,
    xlsx,
)
from vera.extraction.canonical.naming import suffix_of
from vera.extraction.canonical.sniff import content_kind
from vera.extraction.source import Extracted, Unreadable


class Format(NamedTuple):
    """One format: `hostile` ones are parsed by large libraries and belong into their own process.

    `limit` is the largest file in bytes that is read. `seconds` of processor time and `memory` in bytes, the
    file itself not counted, are what such a process may spend on one file; None: what it has anyhow.
    `is_text`: the bytes are text, and only the suffix tells which; other formats are told by their bytes.
    `distribution`: the package of a plugin that brings the format, with its version; '' for ours.
    """

    name: str
    suffixes: tuple[str, ...]
    hostile: bool
    limit: int
    extract: Callable[[bytes, str], Extracted]
    seconds: float | None = None
    memory: int | None = None
    is_text: bool = False
    distribution: str = ""


_MB = 1 << 20

PLAIN = Format("txt", (".txt", ".text", ".log"), False, 256 * _MB, text.extract, is_text=True)

# A page of 10 MB takes 1.6 s and a PDF of 5000 pages 140 MB. The parser of pages takes quadratic time for
# tags that are nested deeply and for many attributes; PDFium keeps a whole content stream, which a small file
# may unfold to any size.
FORMATS: tuple[Format, ...] = (
    PLAIN,
    Format("md", (".md", ".markdown"), False, 256 * _MB, markdown.extract, is_text=True),
    Format("csv", (".csv",), False, 256 * _MB, rows.extract_csv, is_text=True),
    Format("tsv", (".tsv", ".tab"), False, 256 * _MB, rows.extract_tsv, is_text=True),
    Format("json", (".json", ".geojson", ".ipynb"), False, 256 * _MB, jsontext.extract, is_text=True),
    Format("jsonl", (".jsonl", ".ndjson"), False, 256 * _MB, rows.extract_jsonl, is_text=True),
    Format("html", (".html", ".htm", ".xhtml"), True, 32 * _MB, html.extract, seconds=5.0, is_text=True),
    Format("eml", (".eml",), True, 64 * _MB, mail.extract, seconds=5.0, is_text=True),
    Format("pdf", (".pdf",), True, 256 * _MB, pdf.extract, memory=256 * _MB),
    Format("docx", (".docx", ".docm"), True, 64 * _MB, docx.extract),
    Format("xlsx", (".xlsx", ".xlsm"), True, 64 * _MB, xlsx.extract),
    Format("pptx", (".pptx", ".pptm", ".ppsx"), True, 256 * _MB, pptx.extract),
    Format("odt", (".odt",), True, 64 * _MB, odt.extract),
    Format("rtf", (".rtf",), True, 64 * _MB, rtf.extract, seconds=30.0),
    Format("epub", (".epub",), True, 256 * _MB, epub.extract, seconds=20.0),
    Format("picture", (".png", ".jpg", ".jpeg", ".tif", ".tiff"), False, 64 * _MB, picture.extract),
)

_BY_NAME = {known.name: known for known in FORMATS}
_BY_SUFFIX = {suffix: known for known in FORMATS for suffix in known.suffixes}


def format_of(data: bytes, name: str) -> Format:
    """The format of a file: by its bytes where they tell, by the suffix of its name among kinds of text.

    Raises Unreadable for an empty file, one that is too large, and one that is no text.
    """
    kind = content_kind(data, name)
    suffix = _BY_SUFFIX.get(suffix_of(name))
    if kind in ("text", "page") and suffix is not None and suffix.is_text:
        found = suffix
    else:
        found = {"text": PLAIN, "page": _BY_NAME["html"]}.get(kind) or _BY_NAME[kind]
    if len(data) > found.limit:
        raise Unreadable(f"larger than {found.limit // _MB} MB")
    return found


def extract(data: bytes, name: str) -> Extracted:
    """The canonical text of a file. `name` (a path, or the path of a URL) helps to tell the format.

    Pure, and always an answer: whatever the bytes are, an Extracted or Unreadable. Hostile formats are
    better given to `vera.extraction.extractor.Extractor`, which bounds time and memory as well.
    """
    return extract_as(format_of(data, name), data, name)


def extract_as(chosen: Format, data: bytes, name: str) -> Extracted:
    """The canonical text of a file of a known format (from `format_of`)."""
    extracted = chosen.extract(data, name)
    if not extracted.text.strip():
        raise Unreadable("it holds no text")
    return extracted
