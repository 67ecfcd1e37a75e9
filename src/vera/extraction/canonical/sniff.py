"""What the bytes of a file say about its format."""

import re

from vera.extraction.canonical.encoding import bare_utf16
from vera.extraction.canonical.picture import kind_of
from vera.extraction.source import Unreadable

_SAMPLE = 1 << 16
_CONTROLS = bytes(byte for byte in range(256) if (byte < 32 and byte not in b"\t\n\f\r\x1b") or byte == 127)
_UNICODE_MARKS = (b"\xff\xfe", b"\xfe\xff", b"\xff\xfe\x00\x00", b"\x00\x00\xfe\xff")
_PAGE = re.compile(
    rb"(?:\xef\xbb\xbf)?\s{0,100}(?:<\?xml[^>]{0,200}>\s{0,100})?(?:<!--.{0,2000}?-->\s{0,100})?"
    rb"<(?:!doctype\s+html|html|head|body)\b",
    re.IGNORECASE | re.DOTALL,
)
_OTHER = (
    (b"GIF8", "a GIF picture"),
    (b"\x1f\x8b", "gzip data: unpack it"),
    (b"BZh", "bzip2 data: unpack it"),
    (b"\xfd7zXZ\x00", "xz data: unpack it"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive: unpack it"),
    (b"\x28\xb5\x2f\xfd", "zstd data: unpack it"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"\x7fELF", "a program"),
)
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED_PACKAGE = "EncryptedPackage".encode("utf-16-le")
_RTF = b"{\\rtf"
_ZIP = b"PK\x03\x04"
_ZIP_END = b"PK\x05\x06"
_PACKAGES = ((b"word/document.xml", "docx"), (b"xl/workbook.xml", "xlsx"), (b"ppt/presentation.xml", "pptx"))
_PARTS = b"[Content_Types].xml"
_OFFICE_SUFFIXES = (".docx", ".xlsx", ".pptx")
_OTHER_PACKAGES = (
    (b"mimetypeapplication/vnd.oasis.opendocument", "an OpenDocument file that is no text: save it as PDF"),
)
_MIME_TYPES = (
    (b"mimetypeapplication/vnd.oasis.opendocument.textPK", "odt"),
    (b"mimetypeapplication/epub+zipPK", "epub"),
)
"""The type of an OpenDocument file or a book is the first member of its zip, uncompressed, and another
member follows."""


def content_kind(data: bytes, name: str) -> str:
    """`pdf`, `docx`, `xlsx`, `pptx`, `odt`, `epub`, `rtf`, `picture`, `page` (markup of a web page) or
    `text`.

    Raises Unreadable, with the kind of file in the reason where it is known, for anything else.
    """
    if not data:
        raise Unreadable("it is empty")
    if _is_pdf(data, name):
        return "pdf"
    if data.startswith(_RTF):
        return "rtf"
    if kind_of(data):
        return "picture"
    if data.startswith(_ZIP):
        return _package_kind(data, name)
    _refuse_other(data)
    sample = data[:_SAMPLE]
    if not data.startswith(_UNICODE_MARKS) and is_binary(sample) and not bare_utf16(data):
        raise Unreadable("binary data, no text")
    return "page" if _PAGE.match(sample) else "text"


def _is_pdf(data: bytes, name: str) -> bool:
    return data.startswith(b"%PDF-") or (name.lower().endswith(".pdf") and b"%PDF-" in data[:1024])


def _refuse_other(data: bytes) -> None:
    """Raises Unreadable for the known formats that are not read."""
    if data.startswith(_OLE):
        if _ENCRYPTED_PACKAGE in data:
            raise Unreadable("an encrypted Office document: save it without a password")
        raise Unreadable("an Office document of the old binary format: save it as docx or xlsx")
    for magic, what in _OTHER:
        if data.startswith(magic):
            raise Unreadable(what)


def is_binary(sample: bytes) -> bool:
    """Whether more than 2 % of the bytes are control characters that no text needs."""
    return (len(sample) - len(sample.translate(None, _CONTROLS))) * 50 > len(sample)


def _is_cut_office(data: bytes, name: str) -> bool:
    """Whether a zip has no end, and is meant for an Office document by its name or its list of parts."""
    if _ZIP_END in data[-_SAMPLE - 22 :]:
        return False
    return name.lower().endswith(_OFFICE_SUFFIXES) or _PARTS in data[:_SAMPLE]


def _package_kind(data: bytes, name: str) -> str:
    """Names of a zip's members stand uncompressed in it, those of the outermost zip last."""
    for mark, kind in _MIME_TYPES:
        if mark in data[:200]:
            return kind
    for mark, what in _OTHER_PACKAGES:
        if mark in data[:200]:
            raise Unreadable(what)
    position, kind = max((data.rfind(member), kind) for member, kind in _PACKAGES)
    if position == -1:
        if _is_cut_office(data, name):
            raise Unreadable("a damaged Office document: get it again")
        raise Unreadable("a zip archive: unpack it")
    return kind
