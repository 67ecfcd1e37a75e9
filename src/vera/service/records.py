"""The jobs of one token, as files under its base: an index, a folder for each job, the sessions.

    jobs.jsonl        a line for each job, the oldest first
    jobs/ID/          body.json (what was asked), out.json (what came), said.log, run.pid, ended.json,
                      queued.json (the task, where workers of a cluster run it)
    work/ID/          the session of the job
    bundles/          bundles while they are made

Nothing else is kept. What state a job is in is read off its files, so a server that starts again knows it.
"""

import contextlib
import errno
import fcntl
import os
import re
import secrets
import shutil
import signal
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import msgspec

from vera.dashboard import run_process
from vera.dashboard.regular import open_regular
from vera.evidence.reading import read_regular
from vera.extraction.source import Unreadable
from vera.service.problems import ErrorBody, Refused, error_of
from vera.service.terms import KEPT, Terms
from vera.service.work import Kind, Place
from vera.session.session import FOLDER_MODE
from vera.store import replace_file

INDEX = "jobs.jsonl"
LOCK = ".lock"
BODY, OUT, SAID, ENDED, CANCELLED = "body.json", "out.json", "said.log", "ended.json", "cancelled"
QUEUED = "queued.json"
"""The task as which a job is in the queue of a cluster."""
STDIN = "in.json"
"""What the child of a job reads."""
WRITTEN = (BODY, STDIN, QUEUED, SAID, CANCELLED, ENDED)
"""Files of a job that the service replaces as a whole: each is `NAME.new` while it is written."""
ATTESTATION = "attestation.json"
MAX_INDEX_BYTES = 64 << 20
MAX_LINE = 4096
"""Bytes of a line of the index, which is shorter: a key has at most 200 letters."""

MAX_JOBS = 100_000
MAX_OUT_BYTES = 16 << 20
MAX_SAID_BYTES = 64 << 10

State = Literal["queued", "running", "done", "failed", "cancelled", "interrupted"]
OPEN_STATES: tuple[State, ...] = ("queued", "running")

ID = r"[0-9]{8}T[0-9]{6}-[0-9a-f]{16}"
_ID = re.compile(ID)


class InUse(Exception):
    """This base folder cannot be served, since another service works under it or an index is too large: a
    sentence that ends with what to do."""


@contextlib.contextmanager
def held(base: Path) -> Iterator[None]:
    """Within, no other service starts the jobs of this base folder. Raises InUse, OSError."""
    folder = base / KEPT
    folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
    descriptor = os.open(folder / LOCK, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sentence = f"Another service works under {base}. End it, or name another --base-dir."
            raise InUse(sentence) from None
        for index in folder.glob(f"*/{INDEX}"):
            if index.lstat().st_size > MAX_INDEX_BYTES:
                limit = f"{MAX_INDEX_BYTES >> 20} MB"
                raise InUse(f"{index} is larger than {limit}. Move its folder away, and make another token.")
        yield
    finally:
        os.close(descriptor)


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """A line of the index. `share` is equal for requests that may share a job, `body` tells bodies apart."""

    id: str
    kind: Kind
    created: float
    share: str
    body: str
    key: str = ""
    """The idempotency key."""
    version: Literal[1] = 1


class Ended(msgspec.Struct, frozen=True, kw_only=True):
    """How a child ended: its exit code, negative for a signal; `timed_out` by the limit of the service."""

    exit_code: int | None
    at: float
    timed_out: bool = False
    refused: str = ""
    """Why it was never started, as a sentence."""


class JobView(msgspec.Struct, frozen=True, kw_only=True):
    """A job as its owner sees it. `session` names its folder under `work/`, `result` is what `vera verify`,
    `vera run` or `vera check` print as JSON, with the signed `envelope` in it where something was attested.

    `status`: queued, running, done, failed (`error` says why), cancelled, interrupted (its process is gone
    and it left no result: `vera resume` goes on with a session of research). `shared`: an equal request had
    begun it already.
    """

    id: str
    kind: Kind
    status: State
    created: str
    session: str
    exit_code: int | None = None
    shared: bool = False
    result: dict[str, Any] | None = None
    error: ErrorBody | None = None


def sync_printed(path: Path) -> None:
    """What a job printed, if anything, is on the disk when this returns. Raises OSError."""
    if (printed := open_regular(path)) is not None:
        with printed:
            os.fsync(printed.fileno())


def keep_end(folder: Path, ended: Ended) -> None:
    """Write how the job of a folder ended, once what it printed is on the disk: no power cut leaves an end
    without its result. Raises OSError."""
    sync_printed(folder / OUT)
    replace_file(folder / ENDED, msgspec.json.encode(ended))


def _remove_unless_begun(folder: Path) -> None:
    """Remove the folder of a job of which nothing is there but what was asked."""
    with contextlib.suppress(OSError):
        if {each.name for each in folder.iterdir()} <= {BODY, f"{BODY}.new"}:
            shutil.rmtree(folder)


class Records:
    """The jobs of one token."""

    def __init__(self, base: Path) -> None:
        """Read the index of the base, which is made where it is not there. Raises OSError."""
        self.base = base
        for folder in (base, base / "jobs", base / "work"):
            folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        self.jobs: dict[str, Job] = {}
        self.by_key: dict[str, Job] = {}
        self._load()

    def get(self, name: str) -> Job:
        """The job of that id. Raises Refused (404)."""
        job = self.jobs.get(name) if _ID.fullmatch(name) else None
        if job is None:
            raise Refused(404, "no_job", "There is no job with this id.")
        return job

    def place(self, job: Job) -> Place:
        return Place(base=self.base, folder=self.base / "jobs" / job.id, session=self.base / "work" / job.id)

    def add(self, kind: Kind, body: bytes, share: str, body_digest: str, key: str, now: float) -> Job:
        """A new job, on the disk before anything is done for it. Raises Refused (503), OSError."""
        self._insist_on_room()
        stamp = datetime.fromtimestamp(now, UTC).strftime("%Y%m%dT%H%M%S")
        name = f"{stamp}-{secrets.token_hex(8)}"
        job = Job(id=name, kind=kind, created=now, share=share, body=body_digest, key=key)
        folder = self.place(job).folder
        folder.mkdir(mode=FOLDER_MODE)
        replace_file(folder / BODY, body)
        self._append(job)
        return job

    def name(self, job: Job, key: str, body_digest: str) -> None:
        """Let an idempotency key mean a job that is there. Raises Refused (503), OSError."""
        self._insist_on_room()
        self._append(msgspec.structs.replace(job, key=key, body=body_digest))

    def bundles(self) -> Path:
        """The folder of bundles while they are made."""
        folder = self.base / "bundles"
        folder.mkdir(mode=FOLDER_MODE, exist_ok=True)
        return folder

    def clear(self) -> None:
        """Remove what a service that was killed left: its bundles, jobs that are not in the index, and
        files that were half written. What workers write is theirs."""
        shutil.rmtree(self.base / "bundles", ignore_errors=True)
        for path in (self.base / "jobs").iterdir():
            if path.name not in self.jobs and _ID.fullmatch(path.name):
                _remove_unless_begun(path)
        for job in self.jobs.values():
            folder = self.place(job).folder
            if not (folder / ENDED).exists():
                for name in WRITTEN:
                    (folder / f"{name}.new").unlink(missing_ok=True)

    def state(self, job: Job) -> State:
        """The state of a job that this process neither runs nor has in its queue."""
        folder = self.place(job).folder
        process = run_process.read(folder)
        if process is not None and run_process.is_alive(process):
            return "running"
        if self.out(job) is not None:
            return "done"
        if (folder / CANCELLED).exists():
            return "cancelled"
        if (folder / ENDED).exists():
            return "failed"
        return "interrupted" if process is not None else "queued"

    def unfinished(self) -> list[Job]:
        """The jobs that wait or run, the oldest first."""
        open_ones = (job for job in self.jobs.values() if not (self.place(job).folder / ENDED).exists())
        return [job for job in open_ones if self.state(job) in OPEN_STATES]

    def since(self, moment: float) -> list[float]:
        """When the jobs were made that were made after a moment (Unix time)."""
        return sorted(job.created for job in self.jobs.values() if job.created > moment)

    def out(self, job: Job) -> dict[str, Any] | None:
        """What the job's child printed; None where that is no whole JSON object."""
        try:
            data = read_regular(self.place(job).folder, OUT, MAX_OUT_BYTES)
            found = msgspec.json.decode(data)
        except (Unreadable, ValueError, RecursionError):
            return None
        return found if isinstance(found, dict) and "exit_code" in found else None

    def ended(self, job: Job) -> Ended | None:
        try:
            return msgspec.json.decode(read_regular(self.place(job).folder, ENDED, 1 << 16), type=Ended)
        except (Unreadable, ValueError):
            return None

    def said(self, job: Job) -> str:
        """The last line that the child said on standard error."""
        opened = open_regular(self.place(job).folder / SAID)
        if opened is None:
            return ""
        with opened as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - MAX_SAID_BYTES))
            lines = file.read(MAX_SAID_BYTES).decode("utf-8", "replace").strip().split("\n")
        return lines[-1].removeprefix("vera: ").strip()

    def view(
        self, job: Job, state: State, terms: Terms, *, shared: bool = False, whole: bool = True
    ) -> JobView:
        """The job as its owner sees it; `whole` with its result."""
        out = self.out(job) if state == "done" else None
        ended = self.ended(job) if state not in OPEN_STATES else None
        code = out["exit_code"] if out and isinstance(out["exit_code"], int) else None
        view = JobView(
            id=job.id,
            kind=job.kind,
            status=state,
            created=datetime.fromtimestamp(job.created, UTC).isoformat(timespec="milliseconds"),
            session=job.id,
            exit_code=code if code is not None or ended is None else ended.exit_code,
            shared=shared,
        )
        if out is not None and whole:
            return msgspec.structs.replace(view, result=self._result(job, out, terms))
        if state == "failed":
            return msgspec.structs.replace(view, error=self._why(job, ended, terms))
        return view

    def envelope(self, job: Job) -> dict[str, Any] | None:
        """The signed verdict of the job's session, None where there is none."""
        try:
            found = msgspec.json.decode(read_regular(self.place(job).session, ATTESTATION, MAX_OUT_BYTES))
        except (Unreadable, ValueError, RecursionError):
            return None
        return found if isinstance(found, dict) else None

    def _result(self, job: Job, out: dict[str, Any], terms: Terms) -> dict[str, Any]:
        """What was printed, without the paths of this machine, with the envelope."""
        own = {"session": job.id, "work_dir": job.id, "document": "text"}
        result = {name: own.get(name, value) for name, value in out.items()}
        if isinstance(folder := result.get("input_dir"), str):
            result["input_dir"] = terms.hidden(folder)
        envelope = self.envelope(job)
        return {**result, "envelope": envelope} if envelope is not None else result

    def _why(self, job: Job, ended: Ended | None, terms: Terms) -> ErrorBody:
        if ended is not None and ended.refused:
            return error_of("not_allowed", ended.refused)
        if ended is not None and ended.timed_out:
            return error_of("timed_out", "The job took longer than this service allows, and was ended.")
        if ended is not None and (ended.exit_code or 0) < 0:
            return error_of("job_failed", _killed_by(-(ended.exit_code or 0)))
        said = terms.hidden(self.said(job))
        return error_of("job_failed", said or "The process of the job ended and said nothing. Ask again.")

    def _insist_on_room(self) -> None:
        try:
            size = (self.base / INDEX).lstat().st_size
        except FileNotFoundError:
            return
        if len(self.jobs) >= MAX_JOBS or size > MAX_INDEX_BYTES - MAX_LINE:
            sentence = "This token has as many jobs and keys as are kept. Make another token."
            raise Refused(503, "too_many_jobs", sentence)

    def _append(self, job: Job) -> None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(self.base / INDEX, flags, 0o600)
        try:
            os.write(descriptor, msgspec.json.encode(job) + b"\n")
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        self._know(job)

    def _know(self, job: Job) -> None:
        self.jobs[job.id] = job
        if job.key:
            self.by_key[job.key] = job

    def _load(self) -> None:
        """Read the index. A line that was torn by a crash is left out, and the next begins on its own."""
        try:
            data = read_regular(self.base, INDEX, MAX_INDEX_BYTES)
        except Unreadable as unreadable:
            if os.path.lexists(self.base / INDEX):
                raise OSError(errno.EIO, str(unreadable), str(self.base / INDEX)) from None
            return
        for line in data.split(b"\n"):
            with contextlib.suppress(ValueError, RecursionError):
                job = msgspec.json.decode(line, type=Job)
                if _ID.fullmatch(job.id):
                    self._know(job)
        if data and not data.endswith(b"\n"):
            with (self.base / INDEX).open("ab") as file:
                file.write(b"\n")


def _killed_by(number: int) -> str:
    try:
        name = signal.Signals(number).name
    except ValueError:
        name = f"signal {number}"
    return f"The process of the job was killed ({name}), perhaps because memory ran out. Ask again."
