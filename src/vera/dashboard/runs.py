"""Starting, stopping and resuming runs from the dashboard, each once, and what is true of them afterwards.

A run is its own process (`python -m vera run …`) in its own session: it goes on when the dashboard
ends, and the next dashboard finds it again by `run.pid`. A session's actions happen one at a time, also with
several dashboards (`audit_log.acting`).
"""

import asyncio
import contextlib
import math
import signal
import subprocess
import tempfile
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from vera.config import ConfigError, Loaded, load
from vera.config.errors import Refused
from vera.config.handed import Allowed
from vera.config.loading import user_config_file
from vera.dashboard import audit_log, run_child, run_process, uploads
from vera.dashboard.again import as_origin
from vera.dashboard.log_ends import LogEnds, read_ends
from vera.dashboard.run_environment import child_environment, every_key, withheld_keys
from vera.dashboard.run_form import (
    CHOICES,
    MAX_FIELD,
    FieldProblem,
    Start,
    StartForm,
    blank_form,
    handed_of,
    read_limits,
    read_start,
)
from vera.dashboard.run_resume import resumed_settings
from vera.dashboard.run_status import RunStatus, status_of
from vera.dashboard.sessions import NoSession, SessionFolder, Sessions
from vera.dashboard.uploads import Upload, UploadRefused
from vera.report.printable import printable
from vera.sandbox.owner import Owner
from vera.session import stop_request
from vera.session.session import make_folder

FINISH_SECONDS = 60.0
"""From the first signal, which lets a run finish with what is known, to the one that ends it at once."""

END_SECONDS = 15.0
"""From there to the one that it cannot catch."""

MAX_AT_ONCE = 32
"""Runs that one dashboard watches at a time."""

RECENT_SECONDS = 1.0
MAX_REMEMBERED = 1000
"""Sessions whose status and log's ends are remembered."""

TASK_KEPT = 4000
"""Characters of a task that `session.log` keeps."""

MAX_NEW_A_DAY = 10_000
_COMMANDS = {"question": ("run",), "thesis": ("verify", "--fresh")}
"""What a start of each kind runs: a verdict of an earlier session would leave this one without a log."""

REPLAY_SECONDS = 300.0
REPLAY_BYTES = 256 << 10


class RunRefused(Exception):
    """What was asked cannot be done: `status` is the answer's (400, 404, 409, 503), the text a sentence, and
    `fields` has one for each field of a form that was wrong."""

    def __init__(self, status: int, sentence: str, fields: Mapping[str, str] | None = None) -> None:
        super().__init__(sentence)
        self.status = status
        self.fields = fields or {}


class Replayed(msgspec.Struct, frozen=True, kw_only=True):
    """What `vera replay` found: its exit code (0: all agrees; None: it did not come to an end), what it
    printed, and how long it took."""

    exit_code: int | None
    text: str
    seconds: float


class Runs:
    """The runs of the sessions below a base folder."""

    def __init__(
        self,
        base_dir: Path,
        sessions: Sessions,
        allowed: Allowed | None = None,
        *,
        finish_seconds: float = FINISH_SECONDS,
        end_seconds: float = END_SECONDS,
    ) -> None:
        self._base = base_dir.resolve()
        self._sessions = sessions
        self._allowed = msgspec.structs.replace(allowed or Allowed(), inputs=(str(self._base),))
        self._grace = (finish_seconds, end_seconds)
        self._watched: set[Path] = set()
        self._seen: OrderedDict[Path, tuple[float, RunStatus]] = OrderedDict()
        """The status of sessions when it was last asked, and when that was."""
        self._stopping: dict[Path, asyncio.Task[None]] = {}
        self._ends: OrderedDict[Path, tuple[tuple[int, int, int], LogEnds]] = OrderedDict()
        self._configured: tuple[object, Loaded] | None = None
        self._replays = asyncio.Semaphore(2)

    def form(self, session: SessionFolder | None) -> StartForm:
        """What can be chosen when a run is started in that session, or in a new one."""
        try:
            form = blank_form(self._base, self._settings())
        except ConfigError as error:
            return msgspec.structs.replace(
                blank_form(self._base, None), locked=True, reason=_broken_settings(error)
            )
        if session is None:
            return form
        status = self.status(session)
        if not status.can_start:
            return StartForm(locked=True, reason=f"A run starts once in a session. {status.words}")
        tried = next((line for line in reversed(audit_log.tail(session.path)) if "task" in line), {})
        chosen = tried.get("chosen")
        values = (
            {str(k): str(v) for k, v in chosen.items() if k in CHOICES} if isinstance(chosen, dict) else {}
        )
        if values.get("input_dir") == str(session.path / uploads.FOLDER):
            del values["input_dir"]
        return msgspec.structs.replace(
            form,
            kind="thesis" if tried.get("kind") == "thesis" else "question",
            task=str(tried.get("task", "")),
            values={**form.values, **values},
            files=uploads.kept(session.path),
        )

    def status(self, session: SessionFolder) -> RunStatus:
        """Where the session's run stands; costs a few looks at files."""
        run_child.bound_run_log(session.path)
        stopping = session.path in self._stopping
        _, last = self._seen.pop(session.path, (0.0, RunStatus()))
        found = status_of(
            session.path,
            session.log,
            lambda: self._ends_of(session),
            lambda: self._has_begun(session),
            stopping=stopping,
            was_elsewhere=last.alive and last.pid is None,
        )
        if not found.alive and session.path in self._watched:  # dead, and how it ended is about to be written
            found = RunStatus(state="stopping", words="Ending.", alive=True)
        self._seen[session.path] = (time.monotonic(), found)
        while len(self._seen) > MAX_REMEMBERED:
            self._seen.popitem(last=False)
        return found

    def recent_status(self, session: SessionFolder) -> RunStatus:
        """The status, or what it was up to RECENT_SECONDS ago: for what is shown many times a second."""
        when, found = self._seen.get(session.path, (-math.inf, RunStatus()))
        return found if time.monotonic() - when < RECENT_SECONDS else self.status(session)

    async def new(self) -> SessionFolder:
        """A new session's folder, `./work/ui-run-<date>-<n>`. Raises RunRefused."""
        return await asyncio.to_thread(self._new)

    def remember(self, session: SessionFolder, fields: Mapping[str, str]) -> None:
        """Keep what was typed for a run that could not be started, for the form of its session."""
        if self.status(session).can_start:
            chosen = {name: fields[name][:MAX_FIELD] for name in CHOICES if fields.get(name)}
            about = {"kind": fields.get("kind", ""), "task": fields.get("task", "")[:TASK_KEPT]}
            with contextlib.suppress(OSError):
                audit_log.write(session.path, "tried", **about, chosen=chosen)

    async def draft(self, fields: Mapping[str, str], files: Sequence[Upload]) -> SessionFolder:
        """A new session for what was asked, with its files. Where the fields have a problem and there is no
        file to keep, none is made. Raises RunRefused."""
        return await asyncio.to_thread(self._draft, dict(fields), files)

    async def keep(self, session: SessionFolder, files: Sequence[Upload]) -> None:
        """Keep files for a run that can still be started. Raises RunRefused."""
        await asyncio.to_thread(self._keep, session, files)

    async def start(self, session: SessionFolder, fields: Mapping[str, str]) -> None:
        """Start the one run of a session as the fields of a form say (`run_form.CHOICES` and `task`).

        Raises RunRefused: 400 for a field, 409 when there is or was a run, 503 when it cannot be started.
        """
        await asyncio.to_thread(self._start, session, dict(fields))

    async def check(self, fields: Mapping[str, str]) -> Mapping[str, str]:
        """What is wrong with the fields of a start, by field ('' is all of them together)."""
        try:
            await asyncio.to_thread(read_start, dict(fields), self._base, self._allowed)
        except FieldProblem as problem:
            return problem.fields
        return {}

    async def follow(self, parent: SessionFolder, fields: Mapping[str, str]) -> SessionFolder:
        """Start a new session that goes on from one whose run has ended (`vera ask`). Raises RunRefused."""
        return await asyncio.to_thread(self._follow, parent, dict(fields))

    async def stop(self, session: SessionFolder) -> None:
        """Ask a run to finish with what is known; end it when it does not, or at once when asked again.

        One that no dashboard started is asked by a file in its session (`session.stop_request`). Raises
        RunRefused: 409 when no run works there, 503 when it cannot be asked.
        """
        process = await asyncio.to_thread(run_process.worker, session.path)
        if process is None:
            await asyncio.to_thread(self._ask_to_stop, session)
            return
        again = session.path in self._stopping
        await asyncio.to_thread(self._signal, session, process, signal.SIGTERM if again else signal.SIGINT)
        if not again:
            self._stopping[session.path] = asyncio.create_task(self._see_it_end(session, process))

    async def resume(self, session: SessionFolder, fields: Mapping[str, str]) -> None:
        """Go on with an interrupted run, under new limits where the fields have some (`run_form.BUDGETS`).

        Raises RunRefused: 400 for a field, 409 when it cannot go on (from here), 503.
        """
        await asyncio.to_thread(self._resume, session, dict(fields))

    async def replay(self, session: SessionFolder) -> Replayed:
        """Hold a session against itself, as `vera replay` does. Raises RunRefused (409, 503)."""
        if not session.log.is_file():
            raise RunRefused(409, "There is nothing to replay: this session has no log yet.")
        if self._replays.locked():
            raise RunRefused(503, "Other sessions are being replayed. Try again in a moment.")
        async with self._replays:
            return await asyncio.to_thread(self._replay, session)

    async def close(self) -> None:
        """Let go of everything; the runs go on."""
        for task in self._stopping.values():
            task.cancel()
        await asyncio.gather(*self._stopping.values(), return_exceptions=True)
        self._stopping.clear()

    def _new(self, again_of: str = "") -> SessionFolder:
        """A new session, which is another one run again where that one's first record is named."""
        day = datetime.now(UTC).strftime("%Y%m%d")
        try:
            for number in range(1, MAX_NEW_A_DAY):
                session = self._sessions.by_work_dir(f"./work/ui-run-{day}-{number}")
                if not make_folder(session.path):
                    continue
                about = {"again_of": again_of} if again_of else {}
                audit_log.write(session.path, "created", session=session.name, **about)
                return session
        except NoSession as error:
            raise RunRefused(409, str(error)) from None
        except OSError as error:
            raise RunRefused(503, f"No session can be made: {error.strerror}.") from None
        raise RunRefused(503, "There are too many sessions of today. Remove some below ./work.")

    def _follow(self, parent: SessionFolder, fields: Mapping[str, str]) -> SessionFolder:
        if self.status(parent).alive or self._ends_of(parent).end is None:
            raise RunRefused(409, "A question can follow a session when its run has ended.")
        kind = ("--as-thesis",) if fields.get("kind") == "thesis" else ()
        session = self._new()
        self._start(session, fields, ("ask", f"--session={parent.path}", *kind))
        return session

    def _draft(self, fields: Mapping[str, str], files: Sequence[Upload]) -> SessionFolder:
        self._settings_or_refuse()
        if not files:
            self._read(fields)
        session = self._new(as_origin(fields.get("again_of", "")))
        if files:
            self._keep(session, files)
        return session

    def _keep(self, session: SessionFolder, files: Sequence[Upload]) -> None:
        self._can_start(session)
        try:
            uploads.keep(session.path, files)
        except UploadRefused as refused:
            raise RunRefused(400, str(refused), {"files": str(refused)}) from None
        except OSError as error:
            raise RunRefused(503, f"The files cannot be kept: {error.strerror or error}.") from None

    def _read(self, fields: Mapping[str, str]) -> Start:
        try:
            return read_start(fields, self._base, self._allowed)
        except FieldProblem as problem:
            raise RunRefused(400, str(problem), problem.fields) from None

    def _start(
        self, session: SessionFolder, fields: Mapping[str, str], following: tuple[str, ...] = ()
    ) -> None:
        configured = self._settings_or_refuse()
        if uploads.kept(session.path) and not fields.get("input_dir", "").strip():
            fields = {**fields, "input_dir": str(session.path / uploads.FOLDER)}
        asked = self._read(fields)
        address = asked.chosen.get("model_base_url", "")
        withheld = withheld_keys(configured, {"model.base_url": address})
        arguments = [
            *(following or _COMMANDS[asked.kind]),
            *("--handed", f"--work-dir={session.path}", f"--base-dir={self._base}"),
            *_without(withheld),
        ]
        about = {
            "kind": asked.kind,
            "task": asked.task[:TASK_KEPT],
            "chosen": dict(asked.chosen),
            "without_keys": list(withheld),
        }
        with contextlib.suppress(OSError):
            make_folder(session.path)
        handed = handed_of(asked.chosen, self._allowed, asked.task).encode()
        self._launch(session, arguments, withheld, handed, "started", about, lambda: self._can_start(session))

    def _resume(self, session: SessionFolder, fields: Mapping[str, str]) -> None:
        self._settings_or_refuse()
        try:
            limits = read_limits(fields, self._base, self._allowed)
        except FieldProblem as problem:
            raise RunRefused(400, str(problem), problem.fields) from None
        ends = self._ends_of(session)
        try:
            withheld = resumed_settings(session.path, ends, self._base, limits, self._allowed).withheld
        except Refused as refused:
            reason = refused.problems[0].partition(" If you ")[0]
            raise RunRefused(
                409, f"{reason} Resume it in a terminal if you trust it: vera resume {session.name}"
            ) from None
        except ConfigError as error:
            raise RunRefused(409, str(error)) from None
        arguments = ["resume", str(session.path), "--handed", *_without(withheld)]
        about = {"chosen": dict(limits), "without_keys": list(withheld)}
        handed = handed_of(limits, self._allowed).encode()
        self._launch(
            session, arguments, withheld, handed, "resumed", about, lambda: self._can_resume(session)
        )

    def _launch(
        self,
        session: SessionFolder,
        arguments: list[str],
        withheld: tuple[str, ...],
        stdin: str,
        action: str,
        about: Mapping[str, object],
        insist: Callable[[], None],
    ) -> None:
        """Start the process, alone. `insist` raises RunRefused when it must not be, asked under the lock."""
        if len(self._watched) >= MAX_AT_ONCE:
            raise RunRefused(503, f"{MAX_AT_ONCE} runs are working already. Wait for one, or stop one.")
        try:
            with audit_log.acting(session.path):
                insist()
                self._watched.add(session.path)
                try:
                    run_child.launch(
                        session.path,
                        run_child.vera_command(*arguments),
                        cwd=self._base,
                        environment=child_environment(withheld),
                        stdin=stdin,
                        action=action,
                        about=about,
                        on_end=lambda: self._watched.discard(session.path),
                    )
                except BaseException:
                    self._watched.discard(session.path)
                    raise
        except run_child.AlreadyWorking:
            raise RunRefused(409, "A process works on this session already.") from None
        except audit_log.Busy:
            raise RunRefused(503, "Another dashboard is acting on this session. Try again.") from None
        except OSError as error:
            raise RunRefused(503, f"The run cannot be started: {error.strerror or error}.") from None

    def _can_start(self, session: SessionFolder) -> None:
        status = self.status(session)
        if not status.can_start:
            raise RunRefused(409, f"A run starts once in a session. {status.words}")

    def _can_resume(self, session: SessionFolder) -> None:
        status = self.status(session)
        if not status.can_resume:
            raise RunRefused(409, f"There is nothing to resume. {status.words}")

    def _ask_to_stop(self, session: SessionFolder) -> None:
        status = self.status(session)
        if not status.can_stop:
            raise RunRefused(409, f"There is no run to stop here. {status.words}")
        try:
            stop_request.ask(session.path, at_once=status.state == "stopping")
            audit_log.write(session.path, "asked to stop", at_once=status.state == "stopping")
        except OSError as error:
            raise RunRefused(503, f"The run cannot be asked to stop: {error.strerror or error}.") from None

    def _signal(self, session: SessionFolder, process: Owner, number: signal.Signals) -> None:
        to_group = number == signal.SIGKILL
        if run_process.send(process, number, to_group=to_group):
            with contextlib.suppress(OSError):
                audit_log.write(session.path, "stopped", pid=process.pid, signal=number.name)

    async def _see_it_end(self, session: SessionFolder, process: Owner) -> None:
        """Wait for the end of a run that was asked to; make it end when it takes too long."""
        try:
            for seconds, number in zip(self._grace, (signal.SIGTERM, signal.SIGKILL), strict=True):
                deadline = time.monotonic() + seconds
                while time.monotonic() < deadline:
                    if not await asyncio.to_thread(run_process.is_alive, process):
                        return
                    await asyncio.sleep(0.2)
                await asyncio.to_thread(self._signal, session, process, number)
        finally:
            self._stopping.pop(session.path, None)

    def _replay(self, session: SessionFolder) -> Replayed:
        began = time.monotonic()
        code: int | None = None
        with tempfile.TemporaryFile() as said:
            try:
                code = subprocess.run(
                    run_child.vera_command("replay", str(session.path)),
                    stdin=subprocess.DEVNULL,
                    stdout=said,
                    stderr=subprocess.STDOUT,
                    cwd=self._base,
                    env=child_environment(every_key()),
                    timeout=REPLAY_SECONDS,
                    check=False,
                ).returncode
            except subprocess.TimeoutExpired:
                said.write(b"It took too long and was ended. Type it in a terminal: vera replay\n")
            except OSError as error:
                raise RunRefused(503, f"The replay cannot be started: {error.strerror}.") from None
            said.seek(0)
            text = printable(said.read(REPLAY_BYTES).decode("utf-8", "replace"))
        return Replayed(exit_code=code, text=text, seconds=time.monotonic() - began)

    def _has_begun(self, session: SessionFolder) -> bool:
        """Whether the run took up its work, which stays so as long as it is the same log."""
        known = self._ends.get(session.path)
        try:
            is_same = known is not None and known[0][0] == session.log.lstat().st_ino
        except OSError:
            return False
        if known is not None and is_same and known[1].began:
            return True
        return self._ends_of(session).began

    def _ends_of(self, session: SessionFolder) -> LogEnds:
        """The ends of the session's log, read again when it has changed."""
        try:
            about = session.log.lstat()
        except OSError:
            return LogEnds()
        key = (about.st_ino, about.st_size, about.st_mtime_ns)
        found = self._ends.pop(session.path, None)
        if found is None or found[0] != key:
            found = (key, read_ends(session.log))
        self._ends[session.path] = found
        while len(self._ends) > MAX_REMEMBERED:
            self._ends.popitem(last=False)
        return found[1]

    def _settings(self) -> Loaded:
        """What is configured for runs of the base folder, read again when a file of it has changed."""
        files = (user_config_file(), self._base / "vera.yaml", self._base / ".env")
        key = tuple(map(_version, files))
        found = self._configured
        if found is None or found[0] != key:
            found = self._configured = (key, load(cwd=self._base))
        return found[1]

    def _settings_or_refuse(self) -> Loaded:
        try:
            return self._settings()
        except ConfigError as error:
            raise RunRefused(503, _broken_settings(error)) from None


def _without(withheld: tuple[str, ...]) -> list[str]:
    """Options that set keys to nothing, wherever else they stand."""
    return [part for key in withheld for part in ("-c", f"{key}=")]


def _version(path: Path) -> tuple[int, int] | None:
    try:
        about = path.stat()
    except OSError:
        return None
    return about.st_size, about.st_mtime_ns


def _broken_settings(error: ConfigError) -> str:
    return f"The settings of the base folder cannot be used: {error}"
