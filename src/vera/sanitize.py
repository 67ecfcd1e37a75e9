"""Text from outside, made fit to be in a line of ours."""

import re

NAME_SHOWN = 160
WHOLE_NAME = 8000
"""Characters of a name that is read back: longer than any path of a file as `printed_name` gives it."""

_UNSAFE_BLANK = re.compile(r"^ +| +$|(?<= ) +")
_ESCAPED = re.compile(r"<U\+([0-9A-F]{4,6})>")


def one_line(text: str, limit: int = NAME_SHOWN) -> str:
    """`text` on one line: no control characters, at most `limit` characters."""
    flat = " ".join(text.split())
    clean = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in flat[: limit + 1])
    return clean if len(clean) <= limit else clean[: limit - 1] + "…"


def printed_name(name: str) -> str:
    """The name of a file on one line, whole, so that `named` finds the name again.

    A character that would be lost on the way is written as `<U+00A0>`; a name without one stays as it is.
    """
    marked = name.replace("<U+", "<U+003C>U+")
    spaced = _UNSAFE_BLANK.sub(lambda found: "<U+0020>" * len(found[0]), marked)
    return "".join(c if c.isprintable() else f"<U+{ord(c):04X}>" for c in spaced)


def named(printed: str) -> str:
    """The name that `printed_name` gave so."""
    return _ESCAPED.sub(_character, printed)


def _character(found: re.Match[str]) -> str:
    number = int(found[1], 16)
    is_character = number <= 0x10FFFF and not 0xD800 <= number <= 0xDFFF
    return chr(number) if is_character else found[0]
