"""The folder that is indexed: what is in it, and bytes out of it.

Reading is `vera.evidence.reading`'s: nothing outside the folder, no links, no devices. What this adds is
the look at a few pieces of a file without reading all of it.
"""

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from vera.corpus.index import Stamp
from vera.evidence.reading import FolderEntry, read_regular, walk

MAX_FILES = 1_000_000
MAX_BYTES = 256 << 20
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


class Folder:
    """A folder by its real path."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def entries(self) -> Iterator[FolderEntry]:
        """Everything in the folder, in order of names; what cannot be read says why in `skipped`."""
        return walk(self.root, MAX_FILES)

    def read(self, name: str) -> bytes:
        """The bytes of a file. Raises Unreadable with the reason."""
        return read_regular(self.root, name, MAX_BYTES)

    def pieces(self, name: str, stamp: Stamp, ranges: Sequence[tuple[int, int]]) -> list[bytes] | None:
        """The bytes of each range of a file; None when it is gone or its stamp is not this one."""
        try:
            with self.opened(name) as descriptor:
                status = os.fstat(descriptor)
                if stamp_of(status) != stamp:
                    return None
                return [os.pread(descriptor, end - start, start) for start, end in ranges]
        except OSError:
            return None

    def stamp(self, name: str) -> Stamp | None:
        """The stamp of a file as it is now, None when it is gone."""
        try:
            with self.opened(name) as descriptor:
                return stamp_of(os.fstat(descriptor))
        except OSError:
            return None

    @contextmanager
    def opened(self, name: str) -> Iterator[int]:
        """The descriptor of a regular file, opened without following links. Raises OSError."""
        *folders, last = name.split("/")
        descriptor = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for folder in folders:
                inner = os.open(folder, _FOLDER, dir_fd=descriptor)
                os.close(descriptor)
                descriptor = inner
            if not stat.S_ISREG(os.stat(last, dir_fd=descriptor, follow_symlinks=False).st_mode):
                raise OSError(f"{name} is no regular file")
            opened = os.open(last, _FILE, dir_fd=descriptor)
        finally:
            os.close(descriptor)
        try:
            yield opened
        finally:
            os.close(opened)


def stamp_of(status: os.stat_result) -> Stamp:
    """The stamp of a file by its status."""
    return Stamp(status.st_size, status.st_mtime_ns, status.st_ctime_ns)
