"""A key as people hand it over: by reference to where it lies, or, with a warning, as it is."""

import stat
from collections.abc import Mapping
from pathlib import Path

from pydantic import SecretStr

from vera.config.bounded import expand_home, read_text
from vera.config.errors import ConfigError, plain

LARGEST_KEY_FILE = 8192
"""Bytes."""

LITERAL_WARNING = (
    "A key on the command line can be read by every user of this machine and stays in the shell's history: "
    "write env:NAME or @FILE in its place."
)


def resolve_secret(text: str, environ: Mapping[str, str]) -> tuple[SecretStr, str | None]:
    """The key that `text` stands for, and a warning for the person if there is one.

    `env:NAME` is the value of that environment variable, `@FILE` the first line of that file (`~` is the
    home folder); anything else is the key itself, which draws a warning; empty text is no key.

    Raises ConfigError if the variable is not set or empty, or the file cannot be read or is empty.
    """
    if text.startswith("env:"):
        name = text.removeprefix("env:")
        if not (value := environ.get(name, "").strip()):
            raise ConfigError(
                f"The environment variable {plain(name)}, which should hold the key, is not set."
            )
        return SecretStr(value), None
    if text.startswith("@"):
        return _from_file(Path(text.removeprefix("@")))
    return SecretStr(text), LITERAL_WARNING if text else None


def _from_file(path: Path) -> tuple[SecretStr, str | None]:
    path = expand_home(path)
    shown = plain(str(path), 300)
    text = read_text(path, LARGEST_KEY_FILE)
    if text is None:
        raise ConfigError(f"The key file {shown} does not exist.")
    if not (lines := text.strip().splitlines()):
        raise ConfigError(f"The key file {shown} is empty.")
    open_to_others = path.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH)
    warning = (
        f"Other users of this machine can read the key file: chmod 600 {shown}" if open_to_others else None
    )
    return SecretStr(lines[0].strip()), warning
