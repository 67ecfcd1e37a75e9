"""Texts of a run made safe to show: on one line, cut, without characters that act on who reads them."""

from collections.abc import Callable, Mapping
from itertools import islice
from typing import Any

import msgspec

from vera.decode_errors import DECODE_ERRORS
from vera.events import Blob, Text, text_size
from vera.report.printable import one_printable_line, printable
from vera.store import StoreError

Load = Callable[[Text], str]
"""Gives the string of a text, from the store where it lies there. Raises StoreError, OSError, ValueError."""

_UNITS = (("kB", 10**3), ("MB", 10**6), ("GB", 10**9))

LINE_SHOWN = 240
MAX_LOADED = 64 << 10
"""Bytes of a text that is read from the store to be shown on one line."""


def one_line(text: str, length: int = LINE_SHOWN) -> str:
    """The beginning of `text` on one line of at most `length` characters."""
    shown = one_printable_line(" ".join(text[: 4 * length].split()))
    return shown if len(shown) <= length and len(text) <= 4 * length else shown[: length - 1].rstrip() + "…"


def cut(text: str, length: int) -> str:
    """The beginning of `text`, its lines kept, with a line that says how much is left out."""
    if len(text) <= length:
        return printable(text)
    return f"{printable(text[:length])}\n[… {len(text) - length} more characters]"


def line_of_text(text: Text, load: Load, length: int = LINE_SHOWN) -> str:
    """As `one_line`; of a text that is large or cannot be read, in words what it is."""
    if isinstance(text, Blob):
        if text.size > MAX_LOADED:
            return f"({size_in_words(text.size)})"
        return one_line(read(text, load) or f"({size_in_words(text.size)} that cannot be read)", length)
    return one_line(text, length)


def call_line(tool: str, args: Text, load: Load) -> str:
    """A tool call on one line: its only argument as it is, several by name, as JSON what is no object."""
    given = read(args, load, MAX_LOADED)
    try:
        named = msgspec.json.decode(given, type=dict[str, Any])
    except DECODE_ERRORS:
        return f"{one_line(tool, 100)} {line_of_text(args, load)}"
    if len(named) == 1 and isinstance(only := next(iter(named.values())), str):
        return f"{one_line(tool, 100)} {one_line(only)}"
    shown = ", ".join(f"{name}: {one_line(str(value), 120)}" for name, value in islice(named.items(), 8))
    return f"{one_line(tool, 100)} {one_line(shown)}"


def read(text: Text, load: Load, most: int = 1 << 20) -> str:
    """The string of a text, '' for one that is not there, was altered, or is larger than `most` bytes."""
    if text_size(text) > most:
        return ""
    try:
        return load(text)
    except (StoreError, OSError, ValueError):
        return ""


def number(value: float) -> str:
    """A number with thin spaces between thousands: the one form of pages, pictures and reports."""
    return (f"{value:,}" if isinstance(value, int) else f"{value:,.10g}").replace(",", "\u202f")


def counted(count: int, what: str, many: str = "") -> str:
    """`1 claim`, `2 claims`; `many` is for a plural that is not `what` and an s."""
    return f"{number(count)} {what if count == 1 else many or what + 's'}"


def size_in_words(size: int) -> str:
    """Bytes as people read them: `812 bytes`, `3.4 MB` (of 1,000,000 bytes)."""
    if abs(size) < 1000:
        return counted(size, "byte")
    unit, parts = next((each for each in _UNITS if abs(size) < 1000 * each[1]), _UNITS[-1])
    return f"{size / parts:.1f} {unit}"


def points(hundredths: int | None) -> str:
    """A score in hundredths as people write it: 350 → 3.5."""
    return "none" if hundredths is None else f"{hundredths / 100:.2f}".rstrip("0").rstrip(".")


def limit_in(settings: Mapping[str, Any], section: str, name: str) -> float:
    """A number of logged settings; 0 where a foreign log has none there."""
    values = settings.get(section)
    found = values.get(name) if isinstance(values, Mapping) else None
    return found if isinstance(found, int | float) and not isinstance(found, bool) else 0
