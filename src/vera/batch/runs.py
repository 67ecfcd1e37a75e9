"""The folder of a batch, `BASE/runs/`: what is written about each task, and the rule by which it is done.

    runs/lock                          held while a batch works here
    runs/cluster                       workers of this cluster run the tasks, so no batch of one machine does
    runs/<task id>/task.json           the task: its sha256 is its id
    runs/<task id>/<n>/                the session of attempt n
    runs/<task id>/attempts/<n>.json   attempt n has begun; <n>.end.json: it has ended; <n>.manifest.json;
                                       <n>.out: what it printed, of a job of the service
    runs/<task id>/commit.json         the task is done
    runs/<task id>/mark.json           a person cancelled or requeued it

Each record is written whole to a temporary file and linked to its name, which the file system lets happen
once: of two that commit, one is first. A queue or a worker may believe what it likes; this is the truth.
"""

import contextlib
import fcntl
import os
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

from vera.attestation.objects import canonical, digest
from vera.batch.errors import BatchError
from vera.batch.records import Begun, Commit, Ended, History, Manifest, Mark
from vera.batch.task import JOB, BatchTask, said_of, task_id
from vera.batch.task_file import parse_task
from vera.decode_errors import DECODE_ERRORS
from vera.evidence.reading import read_regular
from vera.extraction.source import Unreadable
from vera.store import replace_in, whole_file

T = TypeVar("T")

FOLDER = "runs"
CLUSTER_FILE = "cluster"
MAX_RECORD_BYTES = 4 << 20
MAX_ROWS = 10_000
"""Attempts of one task that are read."""
LOCK_SECONDS = 20.0
"""How long one waits for the attempts of a killed batch to end."""
LOCK_POLL_SECONDS = 0.1
DOCUMENTS = (".vera", "documents")

_ID = re.compile(r"[0-9a-f]{64}")
_ROW = re.compile(r"([1-9][0-9]{0,6})\.json")
_TEMPORARY = ".new-"


def documents_folder(base: Path) -> Path:
    """Where the documents of tables are kept under a base folder, each alone in a folder."""
    return base.joinpath(*DOCUMENTS)


class Runs:
    """The runs under a base folder. Any number may read; who works holds `lock`."""

    def __init__(self, base: Path, clock: Callable[[], float] = time.time) -> None:
        self.base = base
        self.root = base / FOLDER
        self._clock = clock

    def folder(self, task: str) -> Path:
        return self.root / task

    def session(self, task: str, number: int) -> Path:
        """The session folder of an attempt."""
        return self.root / task / str(number)

    def output(self, task: str, number: int) -> Path:
        """The file of what an attempt printed."""
        return self.root / task / "attempts" / f"{number}.out"

    def keep(self, task: BatchTask) -> None:
        """Write what the task is, unless it is there. Raises OSError."""
        said = said_of(task)
        folder = self.folder(task.id)
        folder.mkdir(parents=True, exist_ok=True)
        if not self._is_there(task.id, said):
            _replace(folder / "task.json", said, sync=False)

    def tasks(self) -> Iterator[BatchTask]:
        """Every task of a batch that was submitted here. Jobs of the service are left out, and what is no
        task's folder."""
        try:
            names = sorted(_names(self.root))
        except OSError:
            return
        for name in names:
            if not _ID.fullmatch(name):
                continue
            try:
                said = read_regular(self.root, f"{name}/task.json", MAX_RECORD_BYTES)
                task = parse_task(said)
            except (Unreadable, ValueError):
                continue
            if task_id(said) == name and task.kind != JOB:
                yield task

    def history(self, task: str) -> History:
        """What is written about a task. A record that is no whole one is as if it were not there."""
        begun, ended = list[Begun](), dict[int, Ended]()
        for number in self._numbers(task):
            row = self._read(task, f"attempts/{number}.json", Begun)
            begun.append(row or Begun(task=task, number=number, worker="", ts=0.0))
            if (end := self._read(task, f"attempts/{number}.end.json", Ended)) is not None:
                ended[number] = end
        return History(
            commit=self._read(task, "commit.json", Commit),
            mark=self._read(task, "mark.json", Mark),
            begun=tuple(begun),
            ended=ended,
        )

    def is_done(self, task: str) -> bool:
        return os.path.lexists(self.folder(task) / "commit.json")

    def mark(self, task: str) -> Mark | None:
        return self._read(task, "mark.json", Mark)

    def manifest(self, commit: Commit) -> Manifest | None:
        """The manifest that a commit names; None when it is missing or not the one."""
        try:
            name = f"{commit.task}/attempts/{commit.attempt}.manifest.json"
            data = read_regular(self.root, name, MAX_RECORD_BYTES)
            if digest(data) == commit.manifest:
                return msgspec.json.decode(data, type=Manifest)
        except (Unreadable, *DECODE_ERRORS):
            pass
        return None

    def begin(self, task: str, worker: str) -> Begun:
        """Write that an attempt begins, under the next free number. Raises OSError."""
        folder = self.folder(task) / "attempts"
        folder.mkdir(exist_ok=True)
        number = max(self._numbers(task), default=0) + 1
        while True:
            row = Begun(task=task, number=number, worker=worker, ts=self._clock())
            if write_once(folder / f"{number}.json", canonical(row)):
                return row
            number += 1

    def commit(self, manifest: Manifest) -> bool:
        """Make this the result of its task, on the disk when it returns. False when there was one before;
        one that is no whole record counts for none. Raises OSError.
        """
        data = canonical(manifest)
        folder = self.folder(manifest.task)
        write_once(folder / "attempts" / f"{manifest.attempt}.manifest.json", data, sync=True)
        commit = Commit(
            task=manifest.task,
            attempt=manifest.attempt,
            session=manifest.session,
            manifest=digest(data),
            status=manifest.status,
            exit_code=manifest.exit_code,
        )
        if write_once(folder / "commit.json", canonical(commit), sync=True):
            return True
        if self._read(manifest.task, "commit.json", Commit) is not None:
            return False
        _replace(folder / "commit.json", canonical(commit), sync=True)
        return True

    def end(self, task: str, end: Ended) -> None:
        """Write that an attempt has ended; the first word counts. Raises OSError."""
        write_once(self.folder(task) / "attempts" / f"{end.number}.end.json", canonical(end))

    def set_mark(self, task: str, kind: str) -> None:
        """Write what a person decided. Raises OSError."""
        after = max(self._numbers(task), default=0)
        mark = {"kind": kind, "after": after, "ts": self._clock()}
        _replace(self.folder(task) / "mark.json", canonical(mark), sync=True)

    def sweep(self, task: str) -> None:
        """Remove what a killed batch left half written about a task, and beside the logs of its sessions."""
        sessions = (self.session(task, number) for number in self._numbers(task))
        for folder in (self.folder(task), self.folder(task) / "attempts", *sessions):
            with contextlib.suppress(OSError):
                for name in _names(folder):
                    if name.startswith(_TEMPORARY) or name.endswith(".stderr"):
                        (folder / name).unlink()

    @contextlib.contextmanager
    def lock(self, wait_seconds: float = LOCK_SECONDS) -> Iterator[int]:
        """Hold the folder, as the only one that runs tasks here; gives the descriptor of the lock.

        Every process that works for this batch inherits it: as long as one of them lives, no one else holds
        the folder. Raises BatchError when another batch does after `wait_seconds`, or OSError.
        """
        self.root.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self.root / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
        try:
            self._acquire(descriptor, wait_seconds)
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
            yield descriptor
        finally:
            os.close(descriptor)

    def is_locked(self) -> bool:
        """Whether a batch works here."""
        try:
            descriptor = os.open(self.root / "lock", os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError:
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(descriptor)
        return False

    def refuse_cluster(self) -> None:
        """Raises BatchError (2) when the tasks here are run by a cluster: each would be run twice."""
        if os.path.lexists(self.root / CLUSTER_FILE):
            raise BatchError(
                f"The runs in {self.root} belong to a cluster, whose workers run its tasks. Name its "
                "database with --engine postgresql://…, or give another --base-dir. When the cluster is gone "
                f"for good, remove {self.root / CLUSTER_FILE}.",
                2,
            )

    def _acquire(self, descriptor: int, wait_seconds: float) -> None:
        until = time.monotonic() + wait_seconds
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                holder = os.pread(descriptor, 20, 0).decode("ascii", "replace").strip()
                if time.monotonic() >= until or _is_alive(holder):
                    raise BatchError(
                        f"Another batch works in {self.root} (process {holder or 'unknown'}). Wait for its "
                        "end, or give this one another --base-dir."
                    ) from None
            time.sleep(LOCK_POLL_SECONDS)

    def _numbers(self, task: str) -> list[int]:
        try:
            names = _names(self.folder(task) / "attempts")
        except OSError:
            return []
        return sorted(int(found[1]) for name in names if (found := _ROW.fullmatch(name)))[:MAX_ROWS]

    def _is_there(self, task: str, said: bytes) -> bool:
        try:
            return read_regular(self.root, f"{task}/task.json", MAX_RECORD_BYTES) == said
        except Unreadable:
            return False

    def _read(self, task: str, name: str, kind: type[T]) -> T | None:
        try:
            return msgspec.json.decode(read_regular(self.root, f"{task}/{name}", MAX_RECORD_BYTES), type=kind)
        except (Unreadable, *DECODE_ERRORS):
            return None


def _names(folder: Path) -> list[str]:
    """The names in a folder. Raises OSError."""
    with os.scandir(folder) as entries:
        return [entry.name for entry in entries]


def write_once(path: Path, data: bytes, *, sync: bool = False) -> bool:
    """Write a file whole under a name that is free; False, and nothing is changed, when it is taken.

    With `sync` it is on the disk when this returns. Raises OSError.
    """
    try:
        with whole_file(path, 0o644, sync=sync) as file:
            file.write(data)
    except FileExistsError:
        return False
    if sync:
        _sync_folder(path.parent)
    return True


def _replace(path: Path, data: bytes, *, sync: bool) -> None:
    """Write a file whole, in place of one of that name if there is one."""
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        replace_in(folder, path.name, data, 0o644, sync=sync)
        if sync:
            os.fsync(folder)
    finally:
        os.close(folder)


def _sync_folder(folder: Path) -> None:
    """A name that was just made outlives a power cut."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _is_alive(pid: str) -> bool:
    """Whether the batch process itself lives; when only its children do, they are about to end."""
    if not pid.isdigit():
        return False
    try:
        os.kill(int(pid), 0)
    except PermissionError:
        return True
    except OSError:
        return False
    return True
