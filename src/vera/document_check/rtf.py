"""The links and notes of a Rich Text file, written into its text so that they outlive the making of it."""

import re

from vera.document_check.docx import Marked, addresses_or_words
from vera.document_check.links import WORDS_BEGIN, WORDS_CLOSE, WORDS_END

# Word writes groups of formatting, and data in hexadecimal, between the parts of a field.
_FIELD = re.compile(
    rb"\{\\field\b(?:(?!\\fldrslt\b).){0,2000}?HYPERLINK\s{0,9}\"(?P<target>[^\"{}\\]{1,2000}+)\""
    rb"(?:(?!\\field\b).){0,20000}?(?P<words>\{\\fldrslt\b)",
    re.DOTALL,
)
_NOTE = re.compile(rb"\{\\footnote\b")
_BEGINS = re.compile(rb"\{\\footnote\b|\{\\field\b")
_BRACE = re.compile(rb"\\[\\{}]|(?P<brace>[{}])")
_CONTROL = re.compile(rb"\\'[0-9a-fA-F]{2}|\\[a-zA-Z]{1,32}-?[0-9]{0,10} ?|\\[^a-zA-Z]|[{}\r\n]")
_GROUP_BYTES = 1 << 20


def marked(data: bytes) -> Marked:
    """The document with the words of its links marked and its notes taken out; a note stands for the
    addresses in it, or for its words (`note:`) where it holds none."""
    pieces: list[bytes] = []
    targets: list[tuple[str, ...]] = []
    position = 0
    while begins := _BEGINS.search(data, position):
        start = begins.start()
        field = _FIELD.match(data, start)
        inner = field.start("words") if field else start
        end = _group_end(data, inner)
        if end is None or not (field or _NOTE.match(data, start)):
            pieces.append(data[position : begins.end()])
            position = begins.end()
            continue
        if field:
            targets.append((field["target"].decode("latin-1"),))
            words = data[field.end("words") : end - 1].removeprefix(b" ")  # it ends the control word
            mark = _said(WORDS_BEGIN) + words + _close(len(targets) - 1)
            pieces += [data[position : field.end("words")], mark, b"}"]
        else:
            note = _CONTROL.sub(b" ", data[begins.end() : end - 1]).decode("latin-1")
            targets.append(addresses_or_words(note, []))
            pieces += [data[position:start], _said(WORDS_BEGIN), _close(len(targets) - 1)]
        position = end
    return Marked(b"".join([*pieces, data[position:]]), tuple(targets))


def _close(number: int) -> bytes:
    return _said(f"{WORDS_END}{number}{WORDS_CLOSE}")


def _said(text: str) -> bytes:
    r"""Characters in a group, each beyond ASCII as `\u`, which is signed."""
    codes = (f"\\u{ord(each) - 65536} " if ord(each) > 32767 else each for each in text)
    return f"{{\\uc0 {''.join(codes)}}}".encode()


def _group_end(data: bytes, start: int) -> int | None:
    """Where the group that begins at `start` ends, None when it is too long or has no end."""
    depth = 0
    for found in _BRACE.finditer(data, start, start + _GROUP_BYTES):
        depth += {b"{": 1, b"}": -1}.get(found["brace"], 0)
        if depth == 0:
            return found.end()
    return None
