"""Rich Text Format 1.9: paragraphs, rows of tables, notes after the text.

striprtf makes the text: destinations, characters, character sets. It knows nothing of formatting, so one pass
before it writes into the text which state each piece is in: struck out (`\\strike`, `\\striked`, and what a
recorded change deleted or moved away) or hidden (`\\v`).
"""

import re
from collections.abc import Iterator
from functools import cache
from importlib.metadata import version

import msgspec

from vera.extraction.canonical import dates
from vera.extraction.canonical.naming import extractor_name, first_line_title
from vera.extraction.canonical.rendered import TEXT_LIMIT, canonical
from vera.extraction.marks import HIDDEN, STRUCK, lifted, marked, unmarked
from vera.extraction.source import Extracted, Unreadable

RULES = 1
DEEPEST = 10_000
"""Groups within groups; Word writes less than a hundred."""

_TOKEN = re.compile(
    rb"\\(?P<word>[A-Za-z]{1,32})(?P<number>-?[0-9]{1,10})?[ ]?|\\'[0-9A-Fa-f]{2}|\\(?P<sign>[^A-Za-z])"
    rb"|(?P<brace>[{}])|(?P<text>[^\\{}]+)|\\\Z",
    re.DOTALL,
)
_HIGH = re.compile(rb"[\x80-\xff]")
_DATE = re.compile(rb"\\(creatim|revtim)\\yr([0-9]{4})\\mo([0-9]{1,2})\\dy([0-9]{1,2})")
_HEAD = 1 << 16
_STRIKES = frozenset((b"strike", b"striked", b"deleted", b"mvf"))
_CELLS = frozenset((b"cell", b"nestcell"))
# Pictures and embedded objects hold no text, and data that is not RTF.
_NO_TEXT = frozenset((b"pict", b"objdata", b"themedata", b"datastore", b"colorschememapping"))
_STATES = {(False, False): "\ufdd4", (True, False): "\ufdd5", (False, True): "\ufdd6", (True, True): "\ufdd7"}
"""(struck, hidden) → the noncharacter that says so of what follows."""

_STATED = re.compile("([\ufdd4-\ufdd7])")
_FOREIGN = re.compile("[\ufdd4-\ufdd7]")


class _Group(msgspec.Struct):
    """What an open group says of its text. Strikes are counted by word: `\\strike0` ends `\\strike` alone."""

    struck: frozenset[bytes] = frozenset()
    hidden: bool = False
    is_note: bool = False
    has_no_text: bool = False

    @property
    def state(self) -> tuple[bool, bool]:
        return bool(self.struck), self.hidden


def extract(data: bytes, name: str) -> Extracted:
    """A paragraph a line, the cells of a table row between tabs, footnotes and endnotes after the text.

    Headers, comments, text boxes, pictures and embedded objects are left out. Raises Unreadable for a file
    that striprtf cannot read or whose groups are too deep.
    """
    from striprtf.striprtf import rtf_to_text

    try:
        plain: str = rtf_to_text(_stated(data), errors="replace")  # type: ignore[no-untyped-call]  # it has no types
    except (ValueError, OverflowError, LookupError, TypeError) as error:
        raise Unreadable(f"the RTF document is damaged ({type(error).__name__})") from None
    # Characters outside the basic plane are two \u each.
    plain = plain.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").replace("\u00ad", "")
    if len(plain) > TEXT_LIMIT:
        raise Unreadable(f"its text is larger than {TEXT_LIMIT >> 20} MB")
    text, marks = lifted(canonical("".join(_marked(plain)).split("\n")))
    if not text:
        raise Unreadable("the document holds no text")
    made = {which: b"-".join(date).decode() for which, *date in _DATE.findall(data[:_HEAD])}
    return Extracted(
        text=text,
        title=first_line_title(text, name),
        media_type="application/rtf",
        extractor=extractor_name("rtf", f"striprtf-{_striprtf_version()}", RULES),
        marks=marks,
        dated=dates.between(dates.day(made.get(b"creatim", "")), dates.day(made.get(b"revtim", ""))),
    )


def _marked(plain: str) -> Iterator[str]:
    """The pieces of the text, each with the marks of the state that it is in, line by line."""
    state = (False, False)
    by_sign = {sign: each for each, sign in _STATES.items()}
    for piece in _STATED.split(plain):
        if piece in by_sign:
            state = by_sign[piece]
            continue
        piece = unmarked(piece)
        for kind, applies in ((STRUCK, state[0]), (HIDDEN, state[1])):
            if applies:
                piece = "\n".join(marked(line, kind) for line in piece.split("\n"))
        yield piece


def _stated(data: bytes) -> str:
    """The document with the state of each piece of text in it, with notes at its end, cells between tabs, and
    without pictures. Bytes beyond ASCII are written as RTF writes them, for the character set of their font.
    """
    body: list[str] = []
    notes: list[str] = []
    groups = [_Group()]
    position, told = 0, groups[0].state
    while token := _TOKEN.match(data, position):
        position = token.end()
        word, number = token["word"], token["number"]
        if token["brace"] == b"{":
            if len(groups) > DEEPEST:
                raise Unreadable(f"its groups are more than {DEEPEST} deep")
            groups.append(msgspec.structs.replace(groups[-1]))
        elif token["brace"]:
            closed = groups.pop()
            if len(groups) < 2:
                break  # the document ends with its outermost group
            if closed.is_note and not groups[-1].is_note:
                notes.append("}")
                told = groups[-1].state
                continue
        elif word == b"bin":  # the one place where bytes follow that are no RTF
            position += max(0, int(number or 0))
            continue
        elif word == b"footnote" and not groups[-1].is_note:
            _open_note(groups[-1], body, notes)
            continue
        elif word:
            _apply(groups[-1], word, number)
        if groups[-1].has_no_text and not token["brace"]:
            continue
        into = notes if groups[-1].is_note else body
        into.append(_written(token))
        if groups[-1].state != told:
            told = groups[-1].state
            into.append(_STATES[told])
    return "".join([*body, *notes, "}"])


def _open_note(group: _Group, body: list[str], notes: list[str]) -> None:
    """A note begins: what follows in its group stands after the text. Its group in the text is closed."""
    group.is_note = True
    body.append("}")
    notes.append(f"\\par {{{_STATES[group.state]}")


def _written(token: re.Match[bytes]) -> str:
    if token["word"] in _CELLS:
        return "\\tab "
    if token["brace"] == b"{":
        return "{\n"  # a line break is nothing in RTF; striprtf would write the addresses of links out
    if token["text"] is None:
        return _FOREIGN.sub("", token[0].decode("latin-1"))
    return _HIGH.sub(lambda byte: b"\\'%02x" % byte[0][0], token["text"]).decode("ascii")


def _apply(group: _Group, word: bytes, number: bytes | None) -> None:
    """What a control word says of the text behind it."""
    is_on = number is None or int(number) != 0
    if word in _STRIKES:
        group.struck = group.struck | {word} if is_on else group.struck - {word}
    elif word == b"v":
        group.hidden = is_on
    elif word == b"plain":
        group.struck, group.hidden = frozenset(), False
    elif word in _NO_TEXT:
        group.has_no_text = True


@cache
def _striprtf_version() -> str:
    return version("striprtf")
