"""What a batch or a dashboard hands to the process of a run: a text and settings, and who set them.

It goes by standard input as JSON. On the command line the settings would be the person's, and everybody on
the machine could read them there.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO, Literal

import msgspec

from vera.config.aliases import canonical
from vera.config.errors import ConfigError, plain
from vera.config.origin import Layer, Origin, SettingPlace, WrittenValue
from vera.decode_errors import DECODE_ERRORS

MAX_BYTES = 8 << 20

Scalar = str | int | float | bool | None
"""A value of a setting, as JSON has it."""

PLACES = {"task": SettingPlace.TASK, "form": SettingPlace.FORM}


class Allowed(msgspec.Struct, frozen=True, kw_only=True):
    """What the person lets others set: `settings` as texts KEY=VALUE, and `inputs`, the folders (real paths)
    in which an input folder may lie."""

    settings: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()

    def has(self, key: str, value: object) -> bool:
        """Whether the person allowed exactly this value."""
        return any((key, as_text(value)) == (canonical(k), v) for k, _, v in map(_parted, self.settings))

    def has_input(self, folder: Path) -> bool:
        """Whether a folder, by its real path, lies in one that the person allowed."""
        return any(folder.is_relative_to(each) for each in self.inputs)


class Handed(msgspec.Struct, frozen=True, kw_only=True):
    """A run's `text` and the `settings` that come with it (dotted key → value).

    `source` says who set them, `where` by which words a person finds them ("the task 'sky 1'").
    """

    source: Literal["task", "form"]
    where: str
    text: str = ""
    settings: Mapping[str, Scalar] = {}
    allowed: Allowed = Allowed()

    def layer(self) -> Layer:
        """The settings as entries."""
        origin = Origin(PLACES[self.source], self.where)
        return {canonical(key): WrittenValue(as_text(value), origin) for key, value in self.settings.items()}

    def encode(self) -> str:
        return msgspec.json.encode(self).decode()


def allowed_of(settings: tuple[str, ...], inputs: tuple[str, ...] | tuple[Path, ...]) -> Allowed:
    """What the options `--allow` and `--allow-input` say. Raises ConfigError for what is no KEY=VALUE with
    a known key, or no folder."""
    from vera.config.schema import catalogue
    from vera.config.suggestions import unknown

    for text in settings:
        key, equals, _ = _parted(text)
        if not equals:
            raise ConfigError(
                f"--allow {plain(text)} is not KEY=VALUE. An example: --allow run.max_steps=200"
            )
        setting = catalogue().get(canonical(key))
        if setting is None:
            raise ConfigError(f"--allow {plain(text)}: {unknown(key)}")
        if setting.secret:
            raise ConfigError(f"--allow {plain(key)}=…: it is a key, which only you give: {setting.own_env}")
    real = []
    for each in inputs:
        folder = Path(each).expanduser()
        if not folder.is_dir():
            raise ConfigError(f"--allow-input {plain(str(each), 300)} is no folder.")
        real.append(str(folder.resolve()))
    return Allowed(settings=settings, inputs=tuple(real))


def read_handed(stream: BinaryIO) -> Handed:
    """What standard input gave. Raises ConfigError for anything else."""
    data = stream.read(MAX_BYTES + 1)
    try:
        if len(data) > MAX_BYTES:
            raise ConfigError(f"What was handed over is larger than {MAX_BYTES >> 20} MB.")
        return msgspec.json.decode(data, type=Handed)
    except DECODE_ERRORS as error:
        raise ConfigError(f"--handed reads what `vera batch` writes, not {plain(str(error))}.") from None


def as_text(value: object) -> str:
    """A value as it is written after `-c KEY=`."""
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _parted(text: str) -> tuple[str, str, str]:
    return text.partition("=")
