"""The mirror of notes.md in the workspace, where commands see it as /work/notes.md.

The host's file is the truth and only grows. What a command appended to the mirror is taken in; a mirror that
lost or changed earlier bytes is put back. The files are compared; no command is parsed.
"""

import os
import secrets
from pathlib import Path

import msgspec

from vera.evidence.reading import read_regular
from vera.extraction.source import Unreadable
from vera.lane.tools.note import bounded

NAME = "notes.md"
MAX_MIRROR = 64 << 20


class Change(msgspec.Struct, frozen=True):
    """What commands did to the mirror: text they `appended`, and why it was `restored` ('' for neither)."""

    appended: str = ""
    restored: str = ""


class NotesMirror:
    """The mirror of `notes` in `workspace`. An unchanged mirror costs one look at the file's metadata."""

    def __init__(self, notes: Path, workspace: Path) -> None:
        self._notes = notes
        self._path = workspace / NAME
        self._workspace = workspace
        self._stamp: tuple[int, int, int] | None = None
        self._mirrored = 0

    def sync(self) -> Change:
        """See what commands did since the last time, and make the mirror what notes.md is now."""
        change = Change() if self._untouched() else self._compare()
        self._write(whole=bool(change.appended or change.restored) or self._stamp is None)
        return change

    def _untouched(self) -> bool:
        return self._stamp is None or self._look() == self._stamp

    def _look(self) -> tuple[int, int, int] | None:
        try:
            status = self._path.lstat()
        except OSError:
            return None
        return status.st_ino, status.st_size, status.st_ctime_ns

    def _compare(self) -> Change:
        with self._notes.open("rb") as file:
            ours = file.read(self._mirrored)
        try:
            theirs = read_regular(self._workspace, NAME, MAX_MIRROR)
        except Unreadable as unreadable:
            return Change(restored=f"it could not be read ({unreadable})")
        if theirs.startswith(ours):
            return Change(appended=bounded(theirs[len(ours) :].decode("utf-8", "replace")))
        return Change(restored="earlier lines were changed or lost")

    def _write(self, *, whole: bool) -> None:
        """Append what is new, or put the whole in place by a rename, which follows no link."""
        size = self._notes.stat().st_size
        if not whole and size == self._mirrored:
            return
        with self._notes.open("rb") as file:
            file.seek(0 if whole else self._mirrored)
            new = file.read(size)
        target = self._path.with_name(f".{NAME}.{secrets.token_hex(8)}") if whole else self._path
        flags = os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        flags |= os.O_CREAT | os.O_EXCL if whole else os.O_APPEND
        with os.fdopen(os.open(target, flags, 0o644), "wb") as file:
            file.write(new)
            if whole and os.geteuid() == 0:
                # The box runs as the owner of the workspace, and may append.
                owner = self._workspace.stat()
                os.fchown(file.fileno(), owner.st_uid, owner.st_gid)
        if whole:
            self._move_folder_away()
            target.replace(self._path)
        self._mirrored = size
        self._stamp = self._look()

    def _move_folder_away(self) -> None:
        """Give a folder that a command made under the name of the mirror another name."""
        if self._path.is_dir() and not self._path.is_symlink():
            self._path.rename(self._path.with_name(f"{NAME}.{secrets.token_hex(8)}"))
