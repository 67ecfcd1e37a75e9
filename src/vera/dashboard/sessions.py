"""The sessions of a base folder, by ids that are safe in an address.

An id is the folder's path relative to the base in tilde-encoding (as in Datasette): bytes other than ASCII
letters, digits, `_` and `-` are `~XX`, so that it is one segment of a path that no browser or proxy rewrites.
Nothing outside the base, behind a symlink or inside another session (where a sandbox may write) is a session.
"""

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import msgspec

from vera.report.printable import one_printable_line
from vera.session.session import TRACE
from vera.session.tags import FILE as TAGS

LISTED_LEVELS = 3
"""Levels below the base in which sessions are looked for. One that is asked for by name may lie deeper."""

MAX_LISTED = 500
MAX_FOLDERS = 5000
"""Folders that are looked into for a list."""

MAX_INDEXED = 20_000
"""Sessions of a base folder that a list can show."""

MAX_WALKED = 60_000
"""Folders that are looked into for them."""

MAX_LEVELS = 12
MAX_NAME = 1000
"""Bytes of a relative path."""

CONTROL_LOG = "session.log"
"""Written by the dashboard into a session that it made, before there is a run in it."""

_ESCAPED = re.compile(rb"~([0-9A-F]{2})")
_ID = re.compile(r"(?:[A-Za-z0-9_-]|~[0-9A-F]{2}){1,3000}")
_PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")


class NoSession(Exception):
    """There is no such session: a sentence for the person."""


class SessionFolder(msgspec.Struct, frozen=True, kw_only=True):
    """A folder of the base that holds a session, or can: `id` for addresses, `name` as a person types it
    (`./work/example`, printable)."""

    id: str
    name: str
    path: Path

    @property
    def log(self) -> Path:
        return self.path / TRACE

    @property
    def exists(self) -> bool:
        """Whether there is such a folder, with a log or not."""
        return self.path.is_dir()


class Sessions:
    """The sessions below `base_dir`. Raises NotADirectoryError when that is no folder."""

    def __init__(self, base_dir: Path) -> None:
        self.base = base_dir.resolve()
        if not self.base.is_dir():
            raise NotADirectoryError(20, "There is no such folder", str(base_dir))

    def by_id(self, session_id: str) -> SessionFolder:
        """The folder of an id, which may not exist (yet). Raises NoSession."""
        name = decode_id(session_id)
        if name is None:
            raise NoSession("There is no session of that id.")
        return self._at(os.fsdecode(name))

    def by_work_dir(self, work_dir: str) -> SessionFolder:
        """The folder that a person names: relative to the base (`./work/example`), or in full below it.

        It may not exist (yet). Raises NoSession.
        """
        if "\0" in work_dir or not work_dir.strip():
            raise NoSession("Name the folder of a session, such as ./work/example.")
        path = PurePosixPath(work_dir)
        if path.is_absolute():
            try:
                path = path.relative_to(self.base.as_posix())
            except ValueError:
                raise NoSession(f"{_shown(work_dir)} is not below the base folder.") from None
        try:
            return self._at(path.as_posix())
        except UnicodeEncodeError:
            raise NoSession("That is no name of a folder.") from None

    def listed(self) -> tuple[list[SessionFolder], int]:
        """The sessions of the first levels, the newest first, and how many were left out at least."""
        found = [(_written(folder.path), folder) for folder in self._found()]
        found.sort(key=lambda each: (-each[0], each[1].name))
        return [folder for _, folder in found[:MAX_LISTED]], max(0, len(found) - MAX_LISTED)

    def stamps(self) -> dict[bytes, tuple[str, float]]:
        """Every session of the first levels, at most MAX_INDEXED: its path relative to the base → what its
        log and its tags are now (size, times, inode; '' for none) and when it was written (Unix time)."""
        found: dict[bytes, tuple[str, float]] = {}
        level, left, base = ["."], MAX_WALKED, os.fspath(self.base)
        for depth in range(LISTED_LEVELS + 1):
            below: list[str] = []
            for relative in level:
                left -= 1
                if left < 0 or len(found) >= MAX_INDEXED:
                    return found
                stamp = _session_stamp(f"{base}/{relative}", is_base=not depth)
                if stamp is not None:
                    tagged = _stamp(f"{base}/{relative}/{TAGS}") or ("", 0.0)
                    found[os.fsencode(relative)] = (stamp[0] + tagged[0], stamp[1])
                if (stamp is None or not stamp[0]) and depth < LISTED_LEVELS:
                    below += _folders(self.base / relative, relative, left)
            level = below
        return found

    def holding(self, name: str, most: int) -> list[SessionFolder]:
        """The folders of the first levels, sessions left out, with a file, link or folder of that name."""
        found: list[SessionFolder] = []
        level, left = ["."], MAX_FOLDERS
        for depth in range(LISTED_LEVELS + 1):
            below: list[str] = []
            for relative in level:
                left -= 1
                if left < 0 or len(found) >= most:
                    return found
                path = self.base / relative
                if _is_regular(path / TRACE):
                    continue
                if os.path.lexists(path / name):
                    found.append(self.folder(relative))
                if depth < LISTED_LEVELS:
                    below += _folders(path, relative, left)
            level = below
        return found

    def folder(self, relative: str) -> SessionFolder:
        """The value for a path relative to the base, in normal form, without a look at the disk."""
        shown = "." if relative == "." else f"./{relative}"
        return SessionFolder(
            id=encode_id(os.fsencode(relative)), name=_shown(shown), path=self.base / relative
        )

    def _at(self, relative: str) -> SessionFolder:
        if relative == ".":
            return self.folder(".")
        parts = relative.split("/")
        if len(os.fsencode(relative)) > MAX_NAME or len(parts) > MAX_LEVELS or "\0" in relative:
            raise NoSession("That path is too long for the folder of a session.")
        if any(part in ("", ".", "..") for part in parts):
            raise NoSession("The folder of a session lies below the base folder, without '..'.")
        self._insist_on_folders(parts)
        return self.folder(relative)

    def _insist_on_folders(self, parts: list[str]) -> None:
        """Raises NoSession unless each part that is there is a folder, and none but the last a session."""
        path = self.base
        for part in parts:
            if _is_regular(path / TRACE):
                raise NoSession("That folder lies inside another session.")
            path /= part
            try:
                mode = path.lstat().st_mode
            except FileNotFoundError:
                return
            except OSError as error:
                raise NoSession(f"That folder cannot be looked at: {error.strerror}.") from None
            if not stat.S_ISDIR(mode):
                raise NoSession("There is a link or a file where the folder of the session should be.")
        if os.path.lexists(path / TRACE) and not _is_regular(path / TRACE):
            raise NoSession(f"The {TRACE} of that folder is no regular file.")

    def _found(self) -> Iterator[SessionFolder]:
        """Breadth first, so that a large tree beside the sessions hides none above it."""
        level, left = ["."], MAX_FOLDERS
        for depth in range(LISTED_LEVELS + 1):
            below: list[str] = []
            for relative in level:
                if left <= 0:
                    return
                left -= 1
                path = self.base / relative
                is_session = _is_regular(path / TRACE)
                if is_session or (depth and _is_regular(path / CONTROL_LOG)):
                    yield self.folder(relative)
                if not is_session and depth < LISTED_LEVELS:
                    below += _folders(path, relative, left)
            level = below


def encode_id(name: bytes) -> str:
    """The id of a relative path."""
    return "".join(chr(byte) if byte in _PLAIN else f"~{byte:02X}" for byte in name)


def decode_id(session_id: str) -> bytes | None:
    """The relative path of an id; None for text that is no id, or not the id that `encode_id` gives."""
    if not _ID.fullmatch(session_id):
        return None
    name = _ESCAPED.sub(lambda found: bytes([int(found.group(1), 16)]), session_id.encode())
    return name if encode_id(name) == session_id else None


def _is_regular(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def _session_stamp(folder: str, *, is_base: bool) -> tuple[str, float] | None:
    """The stamp of a session's log, '' for a session that has only `session.log` so far. None where there is
    no session: the base folder is one only with a log."""
    stamp = _stamp(f"{folder}/{TRACE}")
    if stamp is None and not is_base and _is_regular(Path(folder, CONTROL_LOG)):
        return "", _written(Path(folder))
    return stamp


def _stamp(log: str) -> tuple[str, float] | None:
    """What a log is now, and when it was written; None where there is no regular file."""
    try:
        about = os.lstat(log)
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(about.st_mode):
        return None
    stamp = f"{about.st_size}-{about.st_mtime_ns}-{about.st_ctime_ns}-{about.st_ino}"
    return stamp, about.st_mtime_ns / 1e9


def _folders(path: Path, relative: str, most: int) -> list[str]:
    """The folders in `path`, hidden ones and links left out, as paths relative to the base."""
    found: list[str] = []
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                if len(found) >= most:
                    break
                if not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False):
                    found.append(entry.name if relative == "." else f"{relative}/{entry.name}")
    except OSError:
        return found
    return sorted(found)


def _written(path: Path) -> float:
    for name in (TRACE, CONTROL_LOG):
        try:
            return (path / name).lstat().st_mtime
        except OSError:
            continue
    return 0.0


def _shown(name: str) -> str:
    text = os.fsencode(name).decode("utf-8", "backslashreplace")
    return one_printable_line(text[:MAX_NAME])
