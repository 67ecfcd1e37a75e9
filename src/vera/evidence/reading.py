"""Reading files of a folder that somebody else fills: never out of it, never for ever, never too much.

Opened step by step from the folder's own descriptor, without following links (the race-free way of
openat(2)), never blocking on a pipe or device, with a bound on the bytes.
"""

import errno
import os
import stat
from collections.abc import Iterator
from io import FileIO
from itertools import islice
from pathlib import Path

import msgspec

from vera.extraction.source import Unreadable
from vera.session_files import KEPT, are_of_session, is_written, session_around

DEEPEST = 100
"""Folders within folders that are looked into."""

WRITTEN = "written by the session of VERA in this folder: no source"
"""Why a file that lies beside files of a person is skipped."""

_SESSION = "a session of VERA: what it wrote is no source"

_ROOT = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_CHUNK = 1 << 20


class FolderEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One thing in a folder: a regular file, or something that is `skipped` for the reason given.

    `path` is relative, with slashes; bytes of a name that are no UTF-8 are in it as Python's
    surrogate escapes. `size`, `mtime_ns` and `ctime_ns` tell whether a file has changed.
    """

    path: str
    size: int = 0
    mtime_ns: int = 0
    ctime_ns: int = 0
    skipped: str = ""


def read_regular(root: Path, relative: str, limit: int) -> bytes:
    """The bytes of the regular file `relative` under `root`, at most `limit` of them.

    Raises Unreadable with the reason: outside the folder, a link on the way, no regular file, larger than
    `limit` (also when it grows while it is read), or whatever the system says.
    """
    try:
        with open_inside(root, relative, limit) as file:
            return _read(file, limit)
    except OSError as error:
        raise Unreadable(_reason(error)) from None


def open_inside(root: Path, relative: str, limit: int) -> FileIO:
    """The regular file `relative` under `root`, open and without a buffer, of at most `limit` bytes now.

    Raises Unreadable as `read_regular` does.
    """
    parts = [part for part in relative.split("/") if part not in ("", ".")]
    if relative.startswith("/") or ".." in parts or "\0" in relative or len(parts) > DEEPEST + 1:
        raise Unreadable("its path leads out of the folder")
    if not parts:
        raise Unreadable("a folder, not a file")
    try:
        folder = os.open(root, _ROOT)
        try:
            for part in parts[:-1]:
                inner = os.open(part, _FOLDER, dir_fd=folder)
                os.close(folder)
                folder = inner
            return _opened(folder, parts[-1], limit)
        finally:
            os.close(folder)
    except OSError as error:
        raise Unreadable(_reason(error)) from None
    except UnicodeEncodeError:
        raise Unreadable("no file can have this name") from None


def walk(root: Path, max_files: int, *, of_session: bool = False) -> Iterator[FolderEntry]:
    """Everything under `root` but folders, sorted by the bytes of the names, folder by folder.

    Links are reported as skipped and not followed; so are devices, pipes, sockets, session folders below
    `root`, and folders that cannot be opened or lie deeper than DEEPEST. Where `root` is a session, what VERA
    wrote there is skipped, and where it is part of one, all of it, unless `of_session` asks for it.

    After `max_files` files and folders one last entry, for the folder at hand, says that the rest was not
    looked at; there alone the order is the system's. A folder that cannot be opened at all is one entry with
    the path '.'.
    """
    if not of_session and _is_of_session(Path(os.path.realpath(root))):
        yield FolderEntry(path=".", skipped=_SESSION)
        return
    left = max_files
    folders: list[_Folder] = []
    try:
        try:
            folders.append(_Folder(os.open(root, _ROOT), ".", left + 1))
        except OSError as error:
            yield FolderEntry(path=".", skipped=_reason(error))
        written = folders[0].written if folders and not of_session else frozenset[str]()
        while folders:
            folder = folders[-1]
            if not folder.names:
                os.close(folders.pop().descriptor)
                continue
            if left == 0:
                yield FolderEntry(path=folder.path, skipped=rest_not_read(max_files))
                return
            left -= 1
            name = folder.names.pop()
            if len(folders) == 1 and name in written:
                yield FolderEntry(path=name, skipped=WRITTEN)
                continue
            entry = _look(folder, name)
            if isinstance(entry, FolderEntry):
                yield entry
            elif len(folders) > DEEPEST:
                yield FolderEntry(path=entry, skipped=f"more than {DEEPEST} folders deep")
            else:
                try:
                    descriptor = os.open(entry.rpartition("/")[2], _FOLDER, dir_fd=folder.descriptor)
                    folders.append(_Folder(descriptor, entry, left + 1))
                    if folders[-1].is_session:
                        os.close(folders.pop().descriptor)
                        yield FolderEntry(path=entry, skipped=_SESSION)
                except OSError as error:
                    yield FolderEntry(path=entry, skipped=_reason(error))
    finally:
        for folder in folders:
            os.close(folder.descriptor)


def _is_of_session(real: Path) -> bool:
    return real.name == KEPT or session_around(real) is not None


def rest_not_read(max_files: int) -> str:
    """Why the last entry of `walk` was skipped where there is more than it looks at."""
    return f"more than {max_files} files: the rest was not read"


class _Folder:
    """An open folder and the names in it that are still to come, last first. Closes what it cannot list."""

    def __init__(self, descriptor: int, path: str, most: int) -> None:
        self.descriptor = descriptor
        self.path = path
        try:
            with os.scandir(descriptor) as listing:
                names = [entry.name for entry in islice(listing, most)]
        except OSError:
            os.close(descriptor)
            raise
        self.names = sorted(names, key=os.fsencode, reverse=True)

    @property
    def is_session(self) -> bool:
        """Whether it is the folder of a run, or what outlives runs (`.vera`): their answers must not become
        documents of the next one."""
        return are_of_session(self.names) or self.path.rpartition("/")[2] == KEPT

    @property
    def written(self) -> frozenset[str]:
        """The names of what VERA wrote, where it is the folder of a session."""
        if not are_of_session(self.names):
            return frozenset()
        return frozenset(name for name in self.names if is_written(name, self.names))

    def path_of(self, name: str) -> str:
        return name if self.path == "." else f"{self.path}/{name}"


def _look(folder: _Folder, name: str) -> FolderEntry | str:
    """An entry for what bears the name, or the path of a folder."""
    path = folder.path_of(name)
    try:
        status = os.stat(name, dir_fd=folder.descriptor, follow_symlinks=False)
    except OSError as error:
        return FolderEntry(path=path, skipped=_reason(error))
    if stat.S_ISDIR(status.st_mode):
        return path
    return FolderEntry(
        path=path,
        size=status.st_size,
        mtime_ns=status.st_mtime_ns,
        ctime_ns=status.st_ctime_ns,
        skipped=irregular(status.st_mode),
    )


def _opened(folder: int, name: str, limit: int) -> FileIO:
    # Looked at before it is opened: opening a device can already do something.
    _refuse_irregular(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    file = os.fdopen(os.open(name, _FILE, dir_fd=folder), "rb", buffering=0)
    try:
        status = os.fstat(file.fileno())
        _refuse_irregular(status.st_mode)
        if status.st_size > limit:
            raise Unreadable(_too_large(limit))
    except BaseException:
        file.close()
        raise
    return file


def _read(file: FileIO, limit: int) -> bytes:
    size = os.fstat(file.fileno()).st_size
    chunks: list[bytes] = []
    left = limit + 1
    while left > 0 and (chunk := file.read(min(left, max(size, _CHUNK)))):
        chunks.append(chunk)
        left -= len(chunk)
    if left <= 0:
        raise Unreadable(_too_large(limit))
    return b"".join(chunks)


def _refuse_irregular(mode: int) -> None:
    if reason := irregular(mode):
        raise Unreadable(reason)


def irregular(mode: int) -> str:
    """What a thing is that is no regular file, '' for a regular file. `mode` is that of lstat(2)."""
    if stat.S_ISREG(mode):
        return ""
    if stat.S_ISLNK(mode):
        return "a symbolic link, which is not followed"
    if stat.S_ISDIR(mode):
        return "a folder, not a file"
    if stat.S_ISFIFO(mode):
        return "a named pipe, not a file"
    return "a socket, not a file" if stat.S_ISSOCK(mode) else "a device, not a file"


def _too_large(limit: int) -> str:
    return f"larger than {limit >> 20} MB" if limit >= 1 << 20 else f"larger than {limit} bytes"


def _reason(error: OSError) -> str:
    match error.errno:
        case errno.ENOENT:
            return "there is no such file"
        case errno.EACCES | errno.EPERM:
            return "no permission to read it"
        case errno.ELOOP | errno.ENOTDIR:
            return "its path leads through a link or something that is no folder"
    return (error.strerror or "it cannot be read").lower()
