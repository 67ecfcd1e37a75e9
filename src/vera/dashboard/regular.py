"""Opening a file of a session, which anybody may have put there: never through a link, never a pipe."""

import os
import stat
from pathlib import Path
from typing import BinaryIO


def open_regular(path: Path) -> BinaryIO | None:
    """The regular file at `path`, for reading; None where there is none, or it may not be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return None
    return os.fdopen(descriptor, "rb")


def size_of(file: BinaryIO) -> int:
    """Its size in bytes now."""
    return os.fstat(file.fileno()).st_size
