"""What a service works with, as the person who started it said."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from vera.config import Settings
from vera.connectors.values import MAX_SOURCES, NAME

Tell = Callable[[str], None]
"""Hears what goes on, in sentences."""

Arguments = Mapping[str, Any]
"""Of a call, as JSON gave them."""


class Service(msgspec.Struct, frozen=True, kw_only=True):
    """The folder that holds the sessions and that of the documents (None: there are none), both by their real
    paths, and the settings. Nothing else is read for a caller."""

    base: Path
    input_dir: Path | None
    settings: Settings


class ToolError(Exception):
    """A call that cannot be answered: one sentence for the model that made it."""


CONNECTORS: dict[str, Any] = {
    "type": "array",
    "items": {"type": "string", "pattern": f"^{NAME.pattern}$"},
    "maxItems": MAX_SOURCES,
    "description": "Names of sources that the person has configured, whose documents are read, too.",
}
"""An argument: names of connectors, never an address."""


class ServiceReply(msgspec.Struct, frozen=True, kw_only=True):
    """What a tool gives back: a JSON object, and fenced text of sources beside it (None: a tool without)."""

    value: dict[str, Any]
    fenced: tuple[str, ...] | None = None


def text_of(arguments: Arguments, name: str, most: int) -> str:
    """A text among the arguments, '' where there is none. Raises ToolError."""
    value = arguments.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ToolError(f"{name} is no text.")
    if len(value.encode("utf-8", "replace")) > most:
        raise ToolError(f"{name} is longer than {most} bytes.")
    return value


def connectors_of(arguments: Arguments) -> tuple[str, ...]:
    """The names of connectors among the arguments. Raises ToolError for anything else."""
    value = arguments.get("connectors")
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise ToolError("connectors is no list of names.")
    if len(value) > MAX_SOURCES or not all(NAME.fullmatch(each) for each in value):
        raise ToolError(f"connectors are at most {MAX_SOURCES} names of sources that the person configured.")
    return tuple(value)


def number_of(value: object, name: str) -> int:
    """A whole number from 0 on. Raises ToolError."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**53:
        raise ToolError(f"{name} is no whole number from 0 on.")
    return value


def only(arguments: Arguments, known: Mapping[str, Any]) -> None:
    """Raises ToolError for an argument that the tool does not have."""
    unknown = sorted(arguments.keys() - known.keys())
    if unknown:
        names = ", ".join(known)
        raise ToolError(f"There is no argument {unknown[0][:80]!r}. Known are {names}.")
