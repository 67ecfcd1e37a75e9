"""Settings from the environment and from `.env` in the working folder."""

import io
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from vera.config.bounded import read_text
from vera.config.errors import ConfigError, plain, sentences
from vera.config.origin import Layer, Origin, SettingPlace, WrittenValue
from vera.config.schema import catalogue
from vera.config.suggestions import unknown_env

if TYPE_CHECKING:
    from dotenv.parser import Original

LARGEST_DOTENV = 64_000
"""Bytes of a `.env`."""

LONG_BLANK = re.compile(r"[^\S\r\n]{1000}")
"""python-dotenv looks for a comment from each blank of a line again: long runs would take it minutes."""

SHARED = {
    "HOST": re.compile(r"localhost|[0-9.]+|[0-9a-fA-F:.]*:[0-9a-fA-F:.]*"),
    "PORT": re.compile(r"[0-9]+"),
}
"""Names that other programs use too (csh sets HOST to the machine's name, web servers have their PORT in
`.env`), with what ours look like. Anything else under them, and any of them in `.env`, is not for VERA."""

NOT_SETTINGS = {"VERA_REQUIRE": "parts of the machine that the tests must not go without"}
"""Environment names that begin like a setting and are none."""

KUBERNETES = re.compile(r"VERA_SERVICE_(HOST|PORT(_\w+)?)|VERA_PORT_[0-9]+_(TCP|UDP|SCTP)(_\w+)?")
"""What Kubernetes sets in every pod beside a service called `vera` (and `VERA_PORT=tcp://…`)."""


def environment_layer(environ: Mapping[str, str]) -> tuple[Layer, list[str]]:
    """What the environment sets, and a sentence for each misspelt `VERA_…`. An empty value sets nothing."""
    ours = {
        name: (value, f"environment {plain(name)}")
        for name, value in environ.items()
        if name.startswith("VERA_") or name in _known()
    }
    return _layer(ours, SettingPlace.ENVIRONMENT)


def dotenv_layer(path: Path) -> tuple[Layer, list[str]]:
    """What `.env` sets, and a sentence for each misspelt `VERA_…`; other names belong to other programs.

    Nothing in it is expanded or executed, and no variable is set from it. Raises ConfigError for a file
    that cannot be read.
    """
    text = read_text(path, LARGEST_DOTENV)
    if text is None:
        return {}, []
    if LONG_BLANK.search(text):
        raise ConfigError(f"{path.name} has a line with a thousand blanks in a row; it is not used so.")
    from dotenv.parser import parse_stream

    found = {
        each.key: (each.value, f"file {path.name}:{_line(each.original)}")
        for each in parse_stream(io.StringIO(text))
        if each.key and each.value is not None and each.key not in SHARED
    }
    return _layer(found, SettingPlace.DOTENV)


def _line(original: "Original") -> int:
    """Where a binding begins: the parser counts from the blank lines before it."""
    blank = len(original.string) - len(original.string.lstrip())
    return original.line + original.string[:blank].count("\n")


def _layer(found: Mapping[str, tuple[str, str]], place: SettingPlace) -> tuple[Layer, list[str]]:
    entries: dict[str, WrittenValue] = {}
    for key, names in _names().items():
        for name in reversed(names):
            value, where = found.get(name, ("", ""))
            if value and (name not in SHARED or SHARED[name].fullmatch(value)):
                entries[key] = WrittenValue(value, Origin(place, where))
    misspelt = [
        (where, name)
        for name, (value, where) in found.items()
        if name.startswith("VERA_") and name not in _known() and not _of_kubernetes(name, value)
    ]
    return entries, sentences(misspelt, unknown_env)


@cache
def _names() -> Mapping[str, tuple[str, ...]]:
    """Key → every environment name of the setting, the one that counts first in front."""
    return {key: setting.env_names for key, setting in catalogue().items()}


@cache
def _known() -> frozenset[str]:
    return frozenset(NOT_SETTINGS).union(*_names().values())


def _of_kubernetes(name: str, value: str) -> bool:
    return bool(KUBERNETES.fullmatch(name)) or (name == "VERA_PORT" and "://" in value)
