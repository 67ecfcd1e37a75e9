"""Several inputs as one input folder: files, folders and archives under their names.

BASE/.vera/inputs/<digest>/NAME…   one folder for one list of inputs, with the sizes and times of their files

A file is a hard link where the file system allows it, and a copy otherwise. The folder is used again while
nothing has changed.
"""

import hashlib
import os
import re
import secrets
import shutil
import tempfile
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from vera.agent.errors import SetupError
from vera.evidence.reading import irregular, open_inside, rest_not_read, walk
from vera.extraction.source import Unreadable
from vera.sanitize import one_line
from vera.session_files import session_around

FOLDER = (".vera", "inputs")
MAX_INPUTS = 1000
MAX_FILES = 20_000
MAX_BYTES = 20 << 30
"""Of all inputs together; a single folder is read where it is, and has no such limit."""

UNUSED_SECONDS = 86400.0
"""A folder that was used since then stays: its session may not have begun."""

_DIGEST = re.compile(rb"/inputs/([0-9a-f]{32})")
_LOG_HEAD = 4 << 20
"""Bytes of a log in which its settings and its task are."""

_SUFFIX = re.compile(r"(?:\.tar)?\.[^.]+\Z")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_WEB = re.compile(r"https?://", re.IGNORECASE)
_CHUNK = 1 << 20


class LaidOut(msgspec.Struct, frozen=True, kw_only=True):
    """The folder of some inputs. `renamed` holds (input, name) of those whose name another one has;
    `left_out` holds (path, reason) of what is in no input folder: links, devices, what cannot be read."""

    folder: Path
    renamed: tuple[tuple[str, str], ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()


class _File(msgspec.Struct, frozen=True, kw_only=True):
    root: Path
    path: str
    target: str
    size: int
    mtime_ns: int


class _Plan:
    """Which file goes where."""

    def __init__(self) -> None:
        self.files: list[_File] = []
        self.renamed: list[tuple[str, str]] = []
        self.left_out: list[tuple[str, str]] = []
        self._names: set[str] = set()
        self._bytes = 0
        self._left = MAX_FILES

    def take(self, real: Path) -> None:
        """Add a file or a folder. Raises SetupError (2)."""
        name = self._free_name(real)
        if real.is_dir():
            most = self._left
            for entry in walk(real, most):
                if entry.skipped == rest_not_read(most):
                    raise _too_many()
                self._left -= 1
                why = entry.skipped or _unreadable(real / entry.path)
                if why:
                    self.left_out.append((f"{name}/{entry.path}", why))
                    continue
                target = f"{name}/{entry.path}"
                self._add(real, entry.path, target, entry.size, entry.mtime_ns)
        else:
            status = real.lstat()
            self._add(real.parent, real.name, name, status.st_size, status.st_mtime_ns)

    def digest(self) -> str:
        """Of the files with their places, sizes and times."""
        sha256 = hashlib.sha256()
        for each in self.files:
            facts = (str(each.root), each.path, each.target, each.size, each.mtime_ns)
            sha256.update(repr(facts).encode("utf-8", "backslashreplace") + b"\n")
        return sha256.hexdigest()[:32]

    def _add(self, root: Path, path: str, target: str, size: int, mtime_ns: int) -> None:
        self._bytes += size
        if self._bytes > MAX_BYTES:
            raise SetupError(
                f"The inputs hold more than {MAX_BYTES >> 30} GB. Give fewer, or one folder alone, which is "
                "read in its place.",
                2,
            )
        self.files.append(_File(root=root, path=path, target=target, size=size, mtime_ns=mtime_ns))

    def _free_name(self, real: Path) -> str:
        name = real.name or "root"
        suffix = _SUFFIX.search(name) if not real.is_dir() else None
        stem, end = (name[: suffix.start()], suffix[0]) if suffix and suffix.start() else (name, "")
        free, number = name, 1
        while free.casefold() in self._names:
            number += 1
            free = f"{stem}-{number}{end}"
        if free != name:
            self.renamed.append((str(real), free))
        self._names.add(free.casefold())
        return free


def is_address(given: str) -> bool:
    """Whether an input is the address of a web page."""
    return _WEB.match(given) is not None


def lay_out(given: Sequence[str], base: Path) -> LaidOut:
    """The input folder of the files and folders that were given.

    One folder alone is that folder. Raises SetupError: an input that does not exist, cannot be read or is no
    file or folder, or too much in all (2); the folder cannot be written (5).
    """
    if len(given) > MAX_INPUTS:
        raise SetupError(f"{len(given)} inputs were given, at most {MAX_INPUTS} are taken. Give a folder.", 2)
    for each in given:
        _refuse_word(str(each))
    if len(given) == 1 and Path(given[0]).is_dir():
        return LaidOut(folder=Path(given[0]))
    plan = _Plan()
    for real in dict.fromkeys(map(_real, given)):
        plan.take(real)
    if not plan.files:
        reasons = "; ".join(f"{one_line(name)}: {why}" for name, why in plan.left_out[:3])
        raise SetupError(f"The inputs hold no file that can be read. {reasons}".rstrip(), 2)
    parent = base.resolve().joinpath(*FOLDER)
    try:
        folder, changed = _made(plan, parent)
    except OSError as error:
        raise SetupError(f"The inputs cannot be put into {parent}: {error.strerror or error}.", 5) from None
    return LaidOut(folder=folder, renamed=tuple(plan.renamed), left_out=(*plan.left_out, *changed))


def unused(base: Path, logs: Iterable[Path]) -> list[Path]:
    """The folders of inputs that none of these session logs names, and that nothing used for a day.

    Raises OSError where a log cannot be read: then it is not known what it uses.
    """
    parent = base.joinpath(*FOLDER)
    if parent.is_symlink() or parent.parent.is_symlink() or not parent.is_dir():
        return []
    before = time.time() - UNUSED_SECONDS
    with os.scandir(parent) as entries:
        old = [
            Path(each.path)
            for each in entries
            if each.is_dir(follow_symlinks=False) and each.stat(follow_symlinks=False).st_mtime < before
        ]
    if not old:
        return []
    used: set[str] = set()
    for log in logs:
        with log.open("rb") as file:
            used |= {found.decode() for found in _DIGEST.findall(file.read(_LOG_HEAD))}
    return sorted(each for each in old if each.name not in used)


def _refuse_word(given: str) -> None:
    """Raises SetupError (2) for what is no path."""
    if not given:
        raise SetupError("An --input is empty. Name a file or a folder.", 2)
    if _ADDRESS.match(given):
        raise SetupError(
            f"{one_line(given, 200)} is no input: of addresses only http and https are fetched. "
            "Save it as a file.",
            2,
        )


def _real(given: str) -> Path:
    """The real path of an input: a regular file or a folder that can be read. Raises SetupError (2)."""
    path, shown = Path(given), one_line(str(given), 200)
    try:
        status = path.lstat()
        real = path.resolve()
    except FileNotFoundError:
        raise SetupError(f"The input {shown} does not exist.", 2) from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "no file can have this name"
        raise SetupError(f"The input {shown} cannot be read: {why}.", 2) from None
    why = irregular(status.st_mode)
    if path.is_symlink():
        raise SetupError(f"The input {shown} is {why}. Name what it points to: {one_line(str(real), 200)}", 2)
    if why and not path.is_dir():
        raise SetupError(f"The input {shown} is {why}. Give files, folders and archives.", 2)
    if not os.access(real, os.R_OK | (os.X_OK if path.is_dir() else 0)):
        raise SetupError(f"The input {shown} cannot be read by you.", 2)
    if session_around(real) is not None:
        raise SetupError(
            f"The input {shown} was written by a session of VERA, and that is no source. "
            "Name documents of your own.",
            2,
        )
    return real


def _too_many() -> SetupError:
    return SetupError(
        f"The inputs hold more than {MAX_FILES} files and folders. Give fewer, or one folder alone, "
        "which is read in its place.",
        2,
    )


def _unreadable(path: Path) -> str:
    return "" if os.access(path, os.R_OK, follow_symlinks=False) else "no permission to read it"


def _made(plan: _Plan, parent: Path) -> tuple[Path, list[tuple[str, str]]]:
    """The folder of a plan, and what could not be put there. Raises OSError."""
    final = parent / plan.digest()
    if _is_whole(final, plan.files):
        os.utime(final)
        return final, []
    parent.mkdir(parents=True, exist_ok=True)
    place = Path(tempfile.mkdtemp(prefix=".new-", dir=parent))
    try:
        if os.geteuid() == 0:  # The sandboxes of root run as another user, who has to read it.
            place.chmod(0o755)
        changed = list(_placed(plan.files, place))
        if os.path.lexists(final):
            aside = parent / f".old-{secrets.token_hex(8)}"
            final.rename(aside)
            shutil.rmtree(aside, ignore_errors=True)
        try:
            place.rename(final)
        except OSError:  # Another process made it meanwhile.
            if not _is_whole(final, plan.files):
                raise
        return final, changed
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _is_whole(folder: Path, files: Collection[_File]) -> bool:
    if not folder.is_dir() or folder.is_symlink():
        return False
    # Folders count among what is looked at: each file has at most as many as its path has parts.
    most = sum(each.target.count("/") + 1 for each in files) + 1
    there = {(each.path, each.size, each.mtime_ns) for each in walk(folder, most)}
    return there == {(each.target, each.size, each.mtime_ns) for each in files}


def _placed(files: Iterable[_File], place: Path) -> Iterator[tuple[str, str]]:
    """Put the files into the folder; yields those that changed or went meanwhile. Raises OSError."""
    for each in files:
        target = place / each.target
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(each.root / each.path, target, follow_symlinks=False)
        except OSError:
            try:
                _copy(each, target)
            except Unreadable as error:
                yield each.target, str(error)
                continue
        status = target.lstat()
        if irregular(status.st_mode) or (status.st_size, status.st_mtime_ns) != (each.size, each.mtime_ns):
            target.unlink()
            yield each.target, "it changed while it was read: give the same command again"


def _copy(file: _File, target: Path) -> None:
    """Copy a file with its time and rights. Raises Unreadable for the file, and OSError for the copy."""
    with open_inside(file.root, file.path, file.size) as source, target.open("xb") as copy:
        left = file.size
        while left > 0 and (chunk := source.read(min(left, _CHUNK))):
            copy.write(chunk)
            left -= len(chunk)
        status = os.fstat(source.fileno())
        copy.flush()
        os.fchmod(copy.fileno(), status.st_mode & 0o777)
        os.utime(copy.fileno(), ns=(status.st_atime_ns, status.st_mtime_ns))
