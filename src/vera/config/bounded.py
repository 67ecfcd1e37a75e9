"""Small text files, read without trust: only a regular file, only so many bytes."""

import os
import stat
from pathlib import Path

from vera.config.errors import ConfigError, plain


def read_text(path: Path, limit: int) -> str | None:
    """The file's text; None if there is no such file.

    Raises ConfigError for what cannot be read, is no regular file, is larger than `limit` bytes, or is
    not UTF-8.
    """
    shown = plain(str(path), 300)
    try:
        # Without O_NONBLOCK a named pipe that lies there would make every command wait for ever.
        number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            if not stat.S_ISREG(os.fstat(number).st_mode):
                raise ConfigError(f"{shown} is not a regular file.")
            with os.fdopen(number, "rb", closefd=False) as file:
                data = file.read(limit + 1)
        finally:
            os.close(number)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "its name cannot be a path"
        raise ConfigError(f"{shown} cannot be read: {reason}.") from None
    if len(data) > limit:
        raise ConfigError(f"{shown} is larger than {limit} bytes.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{shown} is not UTF-8 text (byte {error.start}).") from None


def expand_home(path: Path) -> Path:
    """The path with a leading `~` or `~user` replaced; as it is if there is no such user."""
    try:
        return path.expanduser()
    except RuntimeError:
        return path
