"""Reading JSON from a server that promises nothing: each function takes anything and returns its type."""

import json
from typing import Any

import msgspec

from vera.decode_errors import DECODE_ERRORS


def decode(data: bytes) -> Any:
    """The JSON value in `data`, or None when there is none; broken UTF-8 becomes U+FFFD."""
    try:
        return msgspec.json.decode(data)
    except DECODE_ERRORS:
        pass
    try:
        return json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None


def mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def items(value: Any, most: int = 1000) -> list[Any]:
    return value[:most] if isinstance(value, list) else []


def text(value: Any) -> str:
    """`value` if it is text, safe to encode (a lone surrogate becomes '?'); else ''."""
    if not isinstance(value, str):
        return ""
    return value.encode("utf-8", "replace").decode()


def count(value: Any) -> int | None:
    """A whole number ≥ 0, also one written as a float; else None."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 2**53:
        return None
    return int(value)
