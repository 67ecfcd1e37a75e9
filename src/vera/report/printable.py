"""What comes from a model, a page or a stranger's session, made safe to look at.

A control code may move the cursor, hide or rewrite what VERA says, or change the clipboard; marks of writing
direction show digits in another order than that in which they were checked.
"""

import json
import re
import unicodedata

_JOINERS = "\u200c\u200d"
"""Within words of Persian or Hindi, and within emoji."""

_NOT_ASCII_TEXT = re.compile(r"[^\n\t -~]")


def printable(text: str) -> str:
    """`text` with U+FFFD for each character that acts on a terminal or is not seen. Lines stay lines."""
    if text.isprintable():  # nearly all of it, and this says so much sooner
        return text
    return _NOT_ASCII_TEXT.sub(lambda found: found[0] if _is_shown(found[0]) else "\ufffd", text)


def one_printable_line(text: str) -> str:
    """`text` as `printable` has it, on one line."""
    return printable(text).replace("\n", " ")


def printable_json(value: object) -> str:
    """`value` as JSON for people and programs: nothing is lost, what is not shown is escaped."""
    return _NOT_ASCII_TEXT.sub(_escaped, json.dumps(value, ensure_ascii=False, indent=2))


def _is_shown(character: str) -> bool:
    if character.isprintable() or character in _JOINERS:
        return True
    return unicodedata.category(character) == "Zs"


def _escaped(found: re.Match[str]) -> str:
    return found[0] if _is_shown(found[0]) else json.dumps(found[0])[1:-1]
