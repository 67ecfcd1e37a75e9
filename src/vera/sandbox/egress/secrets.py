"""Whether a known secret (a key of this run) is in something that is about to leave.

This catches accidents and plain theft: the secret itself, percent-encoded, in hexadecimal or in base64. A
program that splits or encrypts a secret is not caught; what keeps secrets safe is that none enters a box.
"""

import base64
import re
from collections.abc import Iterable
from urllib.parse import quote, unquote

MIN_LENGTH = 8
"""Shorter values are words: refusing what holds them would refuse everything."""

DECODINGS = 3
"""A value may be percent-encoded more than once."""


class Secrets:
    """A set of secrets to look for. Its repr shows their number only."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        known = {value.strip() for value in values}
        self._known = sum(len(value) >= MIN_LENGTH for value in known)
        self._forms = tuple(
            sorted({form for value in known if len(value) >= MIN_LENGTH for form in _forms(value)})
        )

    def __repr__(self) -> str:
        return f"Secrets({self._known})"

    def found_in(self, *texts: str) -> bool:
        """Whether one of the texts holds a secret in any of the forms; letter case is not looked at."""
        return bool(self._forms) and any(
            form in reading for text in texts for reading in _readings(text) for form in self._forms
        )


def _forms(value: str) -> set[str]:
    data = value.encode("utf-8", "surrogatepass")
    forms = {value, quote(value, safe=""), data.hex()}
    for shift in range(3):
        # What base64 makes of the value does not depend on what stands around it, but for a few letters at
        # both ends, which are left out.
        code = base64.b64encode(b"\0" * shift + data).decode()
        inner = code[-(-shift * 4 // 3) : (shift + len(data)) * 4 // 3]
        forms |= {inner, inner.replace("+", "-").replace("/", "_")}
    return {form.lower() for form in forms if len(form) >= MIN_LENGTH}


def _readings(text: str) -> set[str]:
    readings = {text}
    for _ in range(DECODINGS):
        plain = unquote(text.replace("+", " "), errors="replace")
        if plain == text:
            break
        readings |= {plain, unquote(text, errors="replace")}
        text = unquote(text, errors="replace")
    # Dots may cut a long value into the labels of a host name.
    return {form.lower() for reading in readings for form in (reading, re.sub(r"[.\s]", "", reading))}
