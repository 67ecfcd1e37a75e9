"""One JSON object (RFC 8259) out of a model's text: where it ends, and what is repaired on the way.

Repaired are line breaks and other raw control characters inside strings, commas before a closing bracket
and lone surrogates. Nothing else is guessed at: an object that is broken in another way stays broken.
Time is linear in the length of the text.
"""

import json
import re
from itertools import pairwise
from typing import Any

import msgspec

MAX_DEPTH = 32
"""Objects and lists may stand this deep inside each other."""

MAX_DIGITS = 100
"""Longer whole numbers are no quantities, and some readers cannot take them."""

_TOO_LONG_NUMBER = f"a number in it has more than {MAX_DIGITS} digits (write it as a string)"
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"|[{}\[\]"]|,(?=\s*+[}\]])', re.DOTALL)
_CONTROL = re.compile(r"[\x00-\x1f]")
_SURROGATE = re.compile("[\ud800-\udfff]")


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """An object that was read; the text goes on at `end`. `repaired` names what had to be repaired."""

    value: dict[str, Any]
    end: int
    repaired: tuple[str, ...] = ()


class Broken(msgspec.Struct, frozen=True, kw_only=True):
    """No object could be read: a stable `code` (bad_json, too_deep) and the reason as half a sentence."""

    code: str
    reason: str


class _Extent(msgspec.Struct, frozen=True, kw_only=True):
    """Where an object ends, and its text without trailing commas."""

    end: int
    source: str
    raw_control: bool
    multi_line: bool
    trailing_comma: bool


def read_object(text: str, start: int, limit: int | None = None) -> Found | Broken:
    """The object that begins with the brace at `text[start]` and ends before `limit`. Never raises."""
    extent = _extent(text, start, len(text) if limit is None else limit)
    if isinstance(extent, Broken):
        return extent
    try:
        decoded = _DECODER.decode(extent.source)
        value = clean(decoded)
    except json.JSONDecodeError as error:
        return Broken(code="bad_json", reason=f"{error.msg} at its character {error.pos + 1}")
    except ValueError as error:
        return Broken(code="bad_json", reason=str(error))
    names = {
        "multi_line": extent.multi_line,
        "raw_control": extent.raw_control,
        "trailing_comma": extent.trailing_comma,
        "surrogates": value != decoded,
    }
    return Found(value=value, end=extent.end, repaired=tuple(name for name, done in names.items() if done))


def clean(value: Any) -> Any:
    """`value` as plain JSON that every reader takes: lone surrogates become U+FFFD, all else stays.

    Raises ValueError for what JSON cannot carry (NaN, infinity, other types, keys that are not text),
    for whole numbers of more than MAX_DIGITS digits and for more than MAX_DEPTH levels.
    """
    return _clean(value, MAX_DEPTH)


def scrub(text: str) -> str:
    """`text` with each lone surrogate, which UTF-8 cannot carry, replaced by U+FFFD."""
    return _SURROGATE.sub("\ufffd", text)


def _extent(text: str, start: int, limit: int) -> _Extent | Broken:
    depth = newlines = 0
    raw_control = False
    commas: list[int] = []
    for token in _TOKEN.finditer(text, start, limit):
        first = text[token.start()]
        if first == '"':
            if token.end() - token.start() == 1:
                return Broken(code="bad_json", reason="a string in it is never closed")
            if _CONTROL.search(text, token.start(), token.end()):
                raw_control = True
                newlines += text.count("\n", token.start(), token.end())
        elif first == ",":
            commas.append(token.start())
        elif first in "{[":
            depth += 1
            if depth > MAX_DEPTH:
                return Broken(code="too_deep", reason=f"it is nested more than {MAX_DEPTH} levels deep")
        else:
            depth -= 1
            if depth == 0:
                return _Extent(
                    end=token.end(),
                    source=_without(text, start, token.end(), commas),
                    raw_control=raw_control,
                    multi_line=text.count("\n", start, token.end()) > newlines,
                    trailing_comma=bool(commas),
                )
    return Broken(code="bad_json", reason="its closing brace is missing")


def _without(text: str, start: int, end: int, places: list[int]) -> str:
    edges = [start - 1, *places, end]
    return "".join(text[left + 1 : right] for left, right in pairwise(edges))


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return value


def _integer(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise ValueError(_TOO_LONG_NUMBER)
    return int(digits)


def _clean(value: Any, levels: int) -> Any:
    if isinstance(value, str):
        return scrub(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        if abs(value) >= 10**MAX_DIGITS:
            raise ValueError(_TOO_LONG_NUMBER)
        return value
    if isinstance(value, float):
        if value - value != 0:
            raise ValueError("a number in it is not finite")
        return value
    if levels == 0:
        raise ValueError(f"it is nested more than {MAX_DEPTH} levels deep")
    if isinstance(value, list | tuple):
        return [_clean(item, levels - 1) for item in value]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {scrub(key): _clean(item, levels - 1) for key, item in value.items()}
    raise ValueError("it holds something that is not JSON")


# strict=False lets raw control characters stand inside strings.
_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=_unique, parse_int=_integer)
