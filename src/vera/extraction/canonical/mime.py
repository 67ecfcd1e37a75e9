"""MIME: a message as header fields and parts (RFC 5322, 2045, 2047, 2231), read as if it meant harm.

Never fails: what is broken is taken as it stands. Our own instead of the standard library's parser, whose
result differs between versions of Python (a text must be made again elsewhere) and which reads 5 MB/s.
"""

import binascii
import re
from collections.abc import Iterator, Mapping
from urllib.parse import unquote_to_bytes

import msgspec

from vera.extraction.canonical.encoding import text_codec, to_utf8

MAX_PARTS = 1000
"""Parts of a message that are read, all levels together."""

_DEEPEST = 10
_HEAD_BYTES = 1 << 18
_FIELD_BYTES = 1 << 14
_HEAD_END = re.compile(rb"\r?\n\r?\n|\A\r?\n")
_FOLD = re.compile(rb"\r?\n[ \t]")
_FIELD = re.compile(rb"([!-9;-~]{1,100})[ \t]{0,10}:[ \t]{0,100}")
_WORD = re.compile(r"=\?([^?\s]{1,60})\?([bBqQ])\?([^?]{0,2000})\?=(?:[ \t\r\n]{1,10}(?==\?))?")
_PARAMETER = re.compile(
    r';\s{0,100}([\w!#$%&+^`{}~.-]{1,40}\*?(?:\d{1,2}\*?)?)\s{0,10}=\s{0,10}("[^"]{0,2000}"|[^;\s]{0,2000})'
)
_SECTION = re.compile(r"([^*]{1,40})(?:\*(\d{1,2}))?(\*?)")
_NO_BASE64 = re.compile(rb"[^A-Za-z0-9+/]+")


class Part(msgspec.Struct, frozen=True):
    """A leaf of a message: its number (from 1, in order), its fields by lower-case name (the first of each),
    its encoded bytes, and whether an alternative of it stands before it."""

    number: int
    fields: Mapping[str, str]
    body: bytes
    media_type: str
    parameters: Mapping[str, str]

    @property
    def name(self) -> str:
        """The file name that it gives itself, '' for none; not to be trusted."""
        disposition = parameters_of(self.fields.get("content-disposition", ""))
        return decoded_words(disposition.get("filename") or self.parameters.get("name", "")).strip()

    @property
    def is_attachment(self) -> bool:
        """Whether it is a file beside the text of the message."""
        said = self.fields.get("content-disposition", "").lstrip()[:10].lower()
        return bool(said == "attachment" or self.name or not self.media_type.startswith("text/"))

    def content(self) -> bytes:
        """Its bytes without the transfer encoding."""
        match self.fields.get("content-transfer-encoding", "").strip().lower():
            case "base64":
                return _base64(self.body)
            case "quoted-printable":
                return binascii.a2b_qp(self.body)
        return self.body

    def text(self) -> tuple[bytes, str]:
        """Its content as UTF-8, and what decided how to read it."""
        return to_utf8(self.content(), self.parameters.get("charset", ""))


def head(data: bytes) -> tuple[dict[str, str], int]:
    """The header fields by lower-case name, and where the body begins."""
    end = _HEAD_END.search(data, 0, _HEAD_BYTES)
    lines = _FOLD.sub(b" ", data[: end.start() if end else min(len(data), _HEAD_BYTES)])
    fields: dict[str, str] = {}
    for line in re.split(rb"\r?\n", lines):
        if found := _FIELD.match(line):
            value = line[found.end() :][:_FIELD_BYTES]
            utf8 = value if value.isascii() else to_utf8(value)[0]
            fields.setdefault(found[1].decode("ascii").lower(), utf8.decode("utf-8", "replace"))
    return fields, end.end() if end else len(data)


def leaves(data: bytes) -> Iterator[Part]:
    """The parts of a message that hold no parts, in order, at most MAX_PARTS."""
    for number, (fields, body, media_type, parameters) in enumerate(_leaves(data, 0, "text/plain"), 1):
        if number > MAX_PARTS:
            return
        yield Part(number, fields, body, media_type, parameters)


_Leaf = tuple[Mapping[str, str], bytes, str, Mapping[str, str]]


def _leaves(data: bytes, depth: int, default: str) -> Iterator[_Leaf]:
    fields, start = head(data)
    declared = fields.get("content-type", "")
    media_type = declared.partition(";")[0].strip().lower()
    if not re.fullmatch(r"[\w!#$&^.+-]{1,60}/[\w!#$&^.+-]{1,80}", media_type):
        media_type = default
    parameters = parameters_of(declared)
    boundary = parameters.get("boundary", "").encode("utf-8", "replace")
    if media_type.startswith("multipart/") and boundary and depth < _DEEPEST:
        inner = "message/rfc822" if media_type == "multipart/digest" else "text/plain"
        pieces = list(_pieces(data, start, boundary))
        for piece in pieces:
            yield from _leaves(piece, depth + 1, inner)
        if pieces:
            return
    if media_type.startswith("multipart/"):
        media_type = "text/plain"
    yield fields, data[start:], media_type, parameters


def _pieces(data: bytes, start: int, boundary: bytes) -> Iterator[bytes]:
    """What stands between the lines of a boundary; the last piece may lack its end."""
    line = re.compile(rb"(?:\A|\r?\n)--" + re.escape(boundary[:200]) + rb"(--)?[ \t]{0,100}(?=\r?\n|\Z)")
    body = data[max(start - 1, 0) :]
    begin = -1
    for count, found in enumerate(line.finditer(body)):
        if begin >= 0:
            yield body[begin : found.start()]
        begin = found.end() + (2 if body[found.end() : found.end() + 2] == b"\r\n" else 1)
        if found[1] or count >= MAX_PARTS:
            return
    if 0 <= begin < len(body):
        yield body[begin:]


def parameters_of(value: str) -> dict[str, str]:
    """The parameters of a field such as Content-Type by lower-case name, continued and encoded ones (RFC
    2231) put together."""
    sections: dict[str, dict[int, tuple[str, bool]]] = {}
    for match in _PARAMETER.finditer(value[:_FIELD_BYTES]):
        said = _SECTION.fullmatch(match[1])
        if said:
            plain = match[2][1:-1] if match[2].startswith('"') else match[2]
            own = sections.setdefault(said[1].lower(), {})
            own.setdefault(int(said[2] or 0), (plain, bool(said[3])))
    return {name: _joined(own) for name, own in sections.items()}


def _joined(sections: Mapping[int, tuple[str, bool]]) -> str:
    ordered = [sections[number] for number in sorted(sections)]
    if not ordered[0][1]:
        return "".join(value for value, _ in ordered)
    charset, _, rest = ordered[0][0].partition("'")
    first = rest.partition("'")[2]
    raw = b"".join(
        unquote_to_bytes(value) if encoded else value.encode()
        for value, encoded in [(first, True), *ordered[1:]]
    )
    return raw.decode(text_codec(charset) or "utf-8", "replace")


def decoded_words(value: str) -> str:
    """A field's text with its encoded words (RFC 2047) decoded."""
    return _WORD.sub(_decoded_word, value) if "=?" in value else value


def _decoded_word(match: re.Match[str]) -> str:
    charset, form, text = match[1].partition("*")[0], match[2], match[3].encode("utf-8", "replace")
    raw = _base64(text) if form in "bB" else binascii.a2b_qp(text, header=True)
    return raw.decode(text_codec(charset) or "utf-8", "replace")


def _base64(data: bytes) -> bytes:
    """Base64 as far as it is one: foreign characters are passed over, a missing end is made up for."""
    sound = _NO_BASE64.sub(b"", data.partition(b"=")[0] if b"=" in data[-8:] else data)
    sound = sound[: len(sound) - (len(sound) % 4 == 1)]
    return binascii.a2b_base64(sound + b"=" * (-len(sound) % 4))
