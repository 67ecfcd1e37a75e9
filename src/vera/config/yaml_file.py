"""A YAML file of settings as dotted keys with the text and line of each value.

Scalars stay the text that is in the file: the setting's own type decides what `on`, `0123` or `1.0` is,
not YAML's guess. Tags, aliases and repeated keys are refused.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import yaml

from vera.config.bounded import read_text
from vera.config.errors import ConfigError, plain
from vera.config.origin import Layer, Origin, SettingPlace, WrittenValue

LARGEST = 1_000_000
"""Bytes of a file."""
MAX_EVENTS = 20_000
MAX_NAME_LENGTH = 200
"""Characters of a name, each of which is in the key of every value below it."""
DEEPEST = 8
"""Levels of nesting. libyaml's time is quadratic in the depth: it must not be led on."""

NULL = ("", "~", "null", "Null", "NULL")


def read_layer(path: Path, name: str, place: SettingPlace) -> Layer | None:
    """The settings in a YAML file, called `name` in messages; None if there is no such file.

    Raises ConfigError for a file that cannot be used; whether its keys exist is not asked here.
    """
    text = read_text(path, LARGEST)
    return None if text is None else parse_layer(text, name, place)


def parse_layer(text: str, name: str, place: SettingPlace) -> Layer:
    """The settings in a YAML text. Raises ConfigError."""
    try:
        return _Document(text, name, place).entries()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f"{name}:{mark.line + 1}" if mark else name
        problem = error.problem or "unreadable"
        raise ConfigError(f"{where} is not valid YAML: {plain(problem, 200)}.") from None
    except yaml.YAMLError:
        raise ConfigError(f"{name} is not valid YAML: it holds characters that YAML forbids.") from None


class _Document:
    def __init__(self, text: str, name: str, place: SettingPlace) -> None:
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        self._events = self._bounded(yaml.parse(text, Loader=loader))
        self._name = name
        self._place = place
        self._entries: dict[str, WrittenValue] = {}
        self._lines: dict[str, int] = {}

    def entries(self) -> Layer:
        next(self._events)  # the stream's start
        if isinstance(next(self._events), yaml.StreamEndEvent):
            return {}
        match next(self._events):
            case yaml.MappingStartEvent():
                self._mapping((), 1)
            case yaml.ScalarEvent(value=value) if value in NULL:
                pass
            case other:
                self._refuse(other, "must hold names and values, such as `run:` and below it `max_steps: 20`")
        next(self._events)  # the document's end
        after = next(self._events)
        if not isinstance(after, yaml.StreamEndEvent):
            self._refuse(after, "begins a second document; one file holds one")
        return self._entries

    def _bounded(self, events: Iterator[yaml.Event]) -> Iterator[yaml.Event]:
        for count, event in enumerate(events):
            if count >= MAX_EVENTS:
                self._refuse(event, "holds too much for a file of settings")
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
                self._refuse(event, "uses an anchor or alias; write the value itself")
            if getattr(event, "tag", None):
                self._refuse(event, "uses a tag; write the plain value")
            yield event

    def _mapping(self, path: tuple[str, ...], depth: int) -> None:
        while not isinstance(key := next(self._events), yaml.MappingEndEvent):
            if not isinstance(key, yaml.ScalarEvent):
                self._refuse(key, "has a list or a group where a name must stand")
            if len(key.value) > MAX_NAME_LENGTH:
                self._refuse(key, f"has a name of more than {MAX_NAME_LENGTH} characters")
            self._value((*path, key.value), key, depth)

    def _value(self, path: tuple[str, ...], key: yaml.ScalarEvent, depth: int) -> None:
        match next(self._events):
            case yaml.MappingStartEvent() as start:
                if depth >= DEEPEST:
                    self._refuse(start, "is nested too deeply")
                self._mapping(path, depth + 1)
            case yaml.SequenceStartEvent():
                self._keep(path, key, self._sequence())
            case yaml.ScalarEvent(value=value, style=style):
                plain_null = not style and value in NULL
                self._keep(path, key, None if plain_null else value)

    def _sequence(self) -> list[str]:
        items: list[str] = []
        while not isinstance(item := next(self._events), yaml.SequenceEndEvent):
            if not isinstance(item, yaml.ScalarEvent):
                self._refuse(item, "has a list or a group inside a list")
            items.append(item.value)
        return items

    def _keep(self, path: tuple[str, ...], key: yaml.ScalarEvent, value: object) -> None:
        dotted, line = ".".join(path), _line(key)
        if dotted in self._entries:
            self._refuse(key, f"sets {plain(dotted)} again; line {self._lines[dotted]} sets it already")
        self._lines[dotted] = line
        self._entries[dotted] = WrittenValue(value, Origin(self._place, f"file {self._name}:{line}"))

    def _refuse(self, event: yaml.Event, what: str) -> NoReturn:
        raise ConfigError(f"{self._name}:{_line(event)} {what}.")


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 1
