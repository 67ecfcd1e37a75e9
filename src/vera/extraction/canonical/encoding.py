"""From bytes of any encoding to UTF-8."""

import codecs
import re
from functools import cache
from importlib.metadata import version

_BYTE_ORDER_MARKS = (  # UTF-32 first: its mark begins with that of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_UTF8_MARKS = re.compile(rb"\A(?:\xef\xbb\xbf)+")
_BLOCK = 1 << 20
_SAMPLE = 8192
_LEAST_UTF16 = 16
_ASCII = bytes(range(128))
# What browsers do with a label: the superset that the pages really use (WHATWG Encoding Standard).
_SUPERSETS = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "euc_kr": "cp949",
    "shift_jis": "cp932",
    "big5": "big5hkscs",
    "tis-620": "cp874",
}
_TEXT_CODECS = re.compile(
    r"cp(125[0-8]|437|85[0258]|866|874|932|949|950)|iso8859-\d+|koi8-[rtu]|mac-(roman|cyrillic)|ptcp154"
    r"|big5(hkscs)?|gb18030|hz|euc_jp|euc_jis_2004|iso2022_(jp(_\d|_ext)?|kr)|johab|utf-8"
)


def to_utf8(data: bytes, declared: str = "") -> tuple[bytes, str]:
    """`data` as UTF-8 without byte order mark, and the name of what decided how to read it.

    In this order: a byte order mark; UTF-16 of Latin letters without one; valid UTF-8; the label `declared`
    by the document; UTF-8 with a few damaged places; detection on a sample of 8 kB. What cannot be read
    becomes U+FFFD.
    """
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return _recode(data, encoding), encoding[:6]
    if bare := bare_utf16(data):
        return _recode(data, bare), bare
    if is_utf8(data) and not declared.lower().startswith("iso-2022"):
        return _UTF8_MARKS.sub(b"", data), "utf-8"
    codec = text_codec(declared)
    if codec and codec != "utf-8":
        return _recode(data, codec), codec
    text = data.decode("utf-8", "replace")
    damaged = text.count("\ufffd")
    whole = len(text) - (len(data) - len(data.translate(None, _ASCII))) - damaged
    if whole > 4 * damaged:
        return _UTF8_MARKS.sub(b"", text.encode()), "utf-8"
    return _recode(data, _detected(data)), f"charset-normalizer-{_detector_version()}"


def bare_utf16(data: bytes) -> str:
    """The codec of text in UTF-16 without a byte order mark, '' for all else.

    Of the beginning at least four fifths of every second byte are NUL and no other byte is, and all of it
    decodes to text.
    """
    sample = data[:_SAMPLE]
    if len(data) % 2 or len(sample) < _LEAST_UTF16:
        return ""
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    if min(even, odd) or max(even, odd) * 10 < len(sample[::2]) * 8:
        return ""
    codec = "utf-16-be" if even else "utf-16-le"
    try:
        text = data.decode(codec)
    except UnicodeDecodeError:
        return ""
    return codec if _is_text(text[:_SAMPLE]) else ""


def _is_text(text: str) -> bool:
    """Whether nearly all characters can be printed or are white space."""
    odd = sum(not (char.isprintable() or char.isspace()) for char in text)
    return odd * 50 <= len(text)


def is_utf8(data: bytes) -> bool:
    """Whether all of `data` is valid UTF-8, tested in blocks: a str of it could need four times its size."""
    if data.isascii():
        return True
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for offset in range(0, len(data), _BLOCK):
            decoder.decode(data[offset : offset + _BLOCK])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def text_codec(label: str) -> str | None:
    """The codec that a declared charset means, None when it is unknown or no encoding of text."""
    if not re.fullmatch(r"[A-Za-z0-9_.:-]{1,40}", label):
        return None
    try:
        name = codecs.lookup(label).name
    except LookupError:
        return None
    name = _SUPERSETS.get(name, name)
    return name if _TEXT_CODECS.fullmatch(name) else None


def _recode(data: bytes, encoding: str) -> bytes:
    text = data.decode(encoding, "replace").lstrip("\ufeff")
    return text.encode("utf-8", "replace")


def _detected(data: bytes) -> str:
    """The most likely encoding, judged by the lines that are not plain ASCII; else Windows-1252."""
    import charset_normalizer

    telling = [line for line in data[:_BLOCK].split(b"\n") if not line.isascii()]
    sample = b"\n".join(telling)[:_SAMPLE]
    best = charset_normalizer.from_bytes(sample, enable_fallback=False).best() if sample else None
    return (best and text_codec(best.encoding)) or "cp1252"


@cache
def _detector_version() -> str:
    return version("charset-normalizer")
