"""Removing sessions: only folders of sessions below the base, never over a link, never one that is in use.

A folder goes as a whole or not at all: it is renamed first, so that no half of a session is left to be taken
for one. A folder that holds something that VERA did not write stays, since a person may have chosen a folder
with their papers as `--work-dir`. Names that a person may use too (`input/`, `report.md`) count as VERA's
only with the bytes that the session's logs name.
"""

import contextlib
import fcntl
import hashlib
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import msgspec

from vera.attestation.bundle import is_readme
from vera.dashboard import audit_log, run_process
from vera.dashboard.regular import open_regular
from vera.dashboard.sessions import SessionFolder, Sessions
from vera.session_files import CONTROL_LOG, OURS, README, TEMPORARY, TRACE

MAX_COUNTED = 200_000
"""Files of a session whose sizes are added up."""

MAX_LEFT = 5
"""Names of other files that a message has."""

_KEPT_PLACES = frozenset(("input", "report.html", "report.md"))
"""What the dashboard and `vera report` write, with a line of `session.log` for each file."""

_THESIS_LOG = re.compile(rf"theses/[0-9]{{4,8}}/{re.escape(TRACE)}")


class NotRemoved(Exception):
    """A session that stays: a sentence for the person."""


class _Output(msgspec.Struct):
    type: str = ""
    sha256: str = ""


class Held(msgspec.Struct, frozen=True):
    """How much a folder holds: files and bytes (of the first MAX_COUNTED)."""

    files: int
    size: int


def held_in(session: SessionFolder) -> Held:
    """What the folder of a session holds. Links are counted, not followed."""
    sizes = list(islice(_sizes(session.path), MAX_COUNTED))
    return Held(len(sizes), sum(sizes))


def remove(sessions: Sessions, session: SessionFolder) -> None:
    """Remove a session with all of its files. Raises NotRemoved, `sessions.NoSession`, OSError."""
    session = sessions.by_id(session.id)
    if session.path == sessions.base:
        raise NotRemoved("That is the base folder itself, which is not removed.")
    with contextlib.ExitStack() as opened:
        parent = _opened(sessions.base, session.path.parent, opened)
        folder = _open_folder(session.path.name, parent, opened)
        _insist_on_ours(session, folder)
        _insist_on_rest(session, folder, opened)
        _insist_on_bytes(session, folder)
        aside = f".removed-{secrets.token_hex(8)}"
        os.rename(session.path.name, aside, src_dir_fd=parent, dst_dir_fd=parent)
        if os.stat(aside, dir_fd=parent, follow_symlinks=False).st_ino != os.fstat(folder).st_ino:
            os.rename(aside, session.path.name, src_dir_fd=parent, dst_dir_fd=parent)
            raise NotRemoved(f"{session.name} was replaced by something else meanwhile.")
        try:
            shutil.rmtree(aside, dir_fd=parent)
        except OSError as error:
            where = session.path.parent / aside
            raise NotRemoved(
                f"Not all of {session.name} could be removed ({error.strerror}): {where}"
            ) from None


def _insist_on_ours(session: SessionFolder, folder: int) -> None:
    with os.scandir(folder) as entries:
        names = [entry.name for entry in islice(entries, MAX_COUNTED)]
    if not any(name in names and _is_regular(name, folder) for name in (TRACE, CONTROL_LOG)):
        raise NotRemoved(f"There is no session in {session.name}.")
    _insist_on_none(session, sorted(n for n in names if n not in OURS and not TEMPORARY.fullmatch(n)))


def _insist_on_bytes(session: SessionFolder, folder: int) -> None:
    """Raises NotRemoved where a file has a name of VERA and bytes of a person, or is of another session."""
    kept = {(str(line.get("file")), str(line.get("sha256"))) for line in audit_log.tail(session.path)}
    outputs: frozenset[str] | None = None
    others = []
    for path, _, names, descriptor in os.fwalk(".", dir_fd=folder, onerror=_refuse):
        for name in names:
            place = f"{path}/{name}"[2:]
            top = place.partition("/")[0]
            if name == TRACE and place != TRACE and not _THESIS_LOG.fullmatch(place):
                others.append(place)
            elif top not in _KEPT_PLACES | {"output", README} or not _is_regular(name, descriptor):
                continue
            elif top == "output":
                outputs = _outputs(session.log) if outputs is None else outputs
                others += [place] if _sha256(name, descriptor) not in outputs else []
            elif top == README:
                others += [place] if not is_readme(_sha256(name, descriptor)) else []
            elif (place, _sha256(name, descriptor)) not in kept:
                others.append(place)
    _insist_on_none(session, sorted(others))


def _insist_on_none(session: SessionFolder, others: list[str]) -> None:
    if others:
        listed = ", ".join(repr(name[:80]) for name in others[:MAX_LEFT])
        more = f" and {len(others) - MAX_LEFT} more" if len(others) > MAX_LEFT else ""
        raise NotRemoved(
            f"{session.name} also holds what VERA did not write: {listed}{more}. Move that away first."
        )


def _insist_on_rest(session: SessionFolder, folder: int, opened: contextlib.ExitStack) -> None:
    """Raises NotRemoved while something works on the session; holds its locks as long as `opened` lasts."""
    in_use = NotRemoved(f"{session.name} is in use. Stop its run first.")
    if _is_regular(TRACE, folder):
        log = os.open(TRACE, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
        opened.callback(os.close, log)
        try:
            fcntl.flock(log, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise in_use from None
    try:
        opened.enter_context(audit_log.acting(session.path, 0.5))
    except audit_log.Busy:
        raise in_use from None
    process = run_process.read(session.path)
    if process is not None and run_process.is_alive(process):
        raise in_use


def _opened(base: Path, path: Path, opened: contextlib.ExitStack) -> int:
    """A folder at or below the base, reached over no link."""
    descriptor = os.open(base, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    opened.callback(os.close, descriptor)
    for part in path.relative_to(base).parts:
        descriptor = _open_folder(part, descriptor, opened)
    return descriptor


def _open_folder(name: str, parent: int, opened: contextlib.ExitStack) -> int:
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        descriptor = os.open(name, flags, dir_fd=parent)
    except (FileNotFoundError, NotADirectoryError):
        raise NotRemoved("There is no such session.") from None
    opened.callback(os.close, descriptor)
    return descriptor


def _is_regular(name: str, folder: int) -> bool:
    try:
        return stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except OSError:
        return False


def _refuse(error: OSError) -> None:
    raise error


def _sha256(name: str, folder: int) -> str:
    descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    with os.fdopen(descriptor, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _outputs(log: Path) -> frozenset[str]:
    """The sha256 of each file that the session's log names as left in `output/`."""
    found = set()
    if (opened := open_regular(log)) is not None:
        with opened as file:
            for line in file:
                if b'"output"' in line:
                    with contextlib.suppress(ValueError, RecursionError):
                        record = msgspec.json.decode(line, type=_Output)
                        found |= {record.sha256} if record.type == "output" else set()
    return frozenset(found)


def _sizes(folder: Path) -> Iterator[int]:
    for path, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                yield (Path(path) / name).lstat().st_size
