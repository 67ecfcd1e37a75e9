"""JSON: kept as it is when it has lines; a long single line is reformatted, token by token."""

import re
from collections.abc import Iterator

from vera.extraction.canonical import text as plain
from vera.extraction.canonical.encoding import to_utf8
from vera.extraction.canonical.lines import LINE_LIMIT
from vera.extraction.canonical.naming import extractor_name, file_title
from vera.extraction.source import Extracted

RULES = 1

_WIDTH = 100
_DEEPEST = 16
# Tokens keep their bytes: 1.10 stays 1.10, a key that stands twice stays twice. A flat container that is
# short is one token. A string that never ends is one token to the end, so the scan stays linear.
_TOKEN = re.compile(
    rb"""[\[{][^\[\]{}"]{0,80}[\]}]"""
    rb"""|"(?:[^"\\]|\\.)*+(?:"|\\?\Z)"""
    rb"""|[\[\]{},:]|[^\s\[\]{},:"]++""",
    re.DOTALL,
)


def extract(data: bytes, name: str) -> Extracted:
    """The text of a JSON document, with lines that can be cited."""
    utf8, program = to_utf8(data)
    body = utf8.strip()
    if len(body) > LINE_LIMIT and body[:1] in (b"{", b"[") and b"\n" not in body and b"\r" not in body:
        utf8 = b"".join(_laid_out(body))
    return Extracted(
        text=plain.canonical(utf8),
        title=file_title(name),
        media_type="application/json",
        extractor=extractor_name("json", program, RULES),
    )


def _laid_out(body: bytes) -> Iterator[bytes]:
    """The tokens of one line with line ends between them.

    A line ends after an opening bracket, before a closing one and after a comma, but short scalars of a
    list share a line. Indentation is two spaces a level and stops growing at sixteen levels, which bounds
    what a hostile document of brackets can become.
    """
    depth = width = 0
    previous = b""
    for match in _TOKEN.finditer(body):
        token = match[0]
        closes = token in (b"]", b"}")
        depth = max(depth - closes, 0)
        shares = previous == b"," and token[:1] not in b'"{[' and width + len(token) < _WIDTH
        if (previous in (b"[", b"{", b",") and not shares) or (previous and closes):
            indent = b"  " * min(depth, _DEEPEST)
            yield b"\n" + indent
            width = len(indent)
        elif shares or previous == b":":
            yield b" "
            width += 1
        yield token
        width += len(token)
        depth += token in (b"[", b"{")
        previous = token
