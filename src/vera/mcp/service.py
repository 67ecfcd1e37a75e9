"""What a service works with, as the person who started it said."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from vera.config import Settings

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


class ServiceReply(msgspec.Struct, frozen=True, kw_only=True):
    """What a tool gives back: a JSON object, and text from a source that is to be beside it, fenced."""

    value: dict[str, Any]
    fenced: tuple[str, ...] = ()


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


def only(arguments: Arguments, known: Mapping[str, Any]) -> None:
    """Raises ToolError for an argument that the tool does not have."""
    unknown = sorted(arguments.keys() - known.keys())
    if unknown:
        names = ", ".join(known)
        raise ToolError(f"There is no argument {unknown[0][:80]!r}. Known are {names}.")
