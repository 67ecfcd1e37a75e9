"""A session: the folder of one run, with its log, store, state and projections."""

import contextlib
import hashlib
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from vera import events
from vera.events import Blob, Text
from vera.evidence.reading import read_regular
from vera.extraction.source import Unreadable
from vera.session import seal as seals
from vera.session import stop_request
from vera.session.log import Log, LogBroken, LogError, LogInUse, Reader
from vera.session.projections import Projection, all_projections
from vera.session.seal import Seal, Sign
from vera.session_files import others_in
from vera.state import RunState
from vera.store import Store, replace_file
from vera.usage import GUIDED
from vera.version import __version__

E = TypeVar("E", bound=events.Event)

Listener = Callable[[events.Record], None]

TRACE = "trace.jsonl"

FOLDER_MODE = 0o700 if os.geteuid() else 0o711
"""Of the folder of a session."""

ANSWER = "answer.md"
"""The answer for people, made when the run ends."""

RESUMABLE = frozenset({5, 6, 130})
"""Exit codes of runs that ended without an answer and can go on: model lost, budget spent, interrupted."""

_SYNCED = (
    events.ToolStarted,
    events.Answer,
    events.Verifier,
    events.LaneEnded,
    events.RunEnd,
)
"""Records that are on the disk, with all before them, before anything goes on: effects and verdicts."""

_SYNCED_BESIDE = (events.Tool, events.PolicyParseError)
"""The ends of steps, with the evidence of their calls: they go to the disk while the model is asked."""


class SessionError(Exception):
    """The folder cannot be used as asked: a sentence that ends with what to do."""


class Session:
    """An open session. Everything that happens goes through `emit`; everything known is in `state`."""

    def __init__(self, root: Path, log: Log, state: RunState, store: Store) -> None:
        self.root = root
        self.log = log
        self.state = state
        self.store = store
        self._subscribers: list[Listener] = []
        self._projections: list[tuple[Projection, BinaryIO]] = []

    @classmethod
    def create(
        cls,
        root: Path,
        settings: dict[str, Any],
        clock: Callable[[], float] = time.time,
        *,
        origins: Mapping[str, str] | None = None,
    ) -> "Session":
        """Begin a session in an empty or new folder. `origins` say who set the settings.

        Raises SessionError when the folder holds one already or cannot be written to.
        """
        try:
            make_folder(root)
            (root / "workspace").mkdir(exist_ok=True)
            _set_aside_unbegun(root, clock)
            log = Log.create(root / TRACE, clock)
        except LogError as error:
            raise SessionError(_why_not_new(root, error)) from None
        except (OSError, ValueError) as error:
            raise SessionError(f"Cannot use {root} as work folder: {_reason(error)}.") from None
        stop_request.clear(root)
        session = cls(root, log, RunState(), Store(root / "store"))
        session._open_projections()
        begun = events.Session(
            format=events.FORMAT, version=__version__, settings=settings, origins=dict(origins or {})
        )
        session.emit(begun, lane="")
        return session

    @classmethod
    def resume(
        cls,
        root: Path,
        *listeners: Listener,
        accept: Callable[[RunState], None] = lambda state: None,
        clock: Callable[[], float] = time.time,
    ) -> "Session":
        """Open a session that was interrupted, or ended with its model lost or its budget spent, to go on.

        What was torn is cut and said (to the log and to `listeners`, which stay subscribed), what was half
        written is removed, and every projection is made again. `accept` raises what speaks against going on
        from this log, before anything is written.

        Raises SessionError for a folder without a session, with a finished one, with a broken log, or in use.
        """
        state = RunState()
        records: list[events.Record] = []

        def fold(record: events.Record) -> None:
            state.apply(record)
            records.append(record)

        path = root / TRACE
        if not path.is_file():
            raise SessionError(f"There is no session in {root} (no {TRACE}). See 'vera run --help'.")
        try:
            log, recovered = Log.reopen(path, clock, fold)
        except LogBroken as broken:
            raise SessionError(
                f"{broken} It was altered after it was written, so the run cannot go on from it; "
                "start a new one in another work folder."
            ) from None
        except LogError as error:
            raise SessionError(str(error)) from None
        if state.ended is not None and not _may_go_on(root, state, state.ended):
            log.close()
            raise SessionError(f"The run in {root} has finished: 'vera show {root}' shows it.")
        if state.task is None:
            log.close()
            raise SessionError(
                f"The run in {root} stopped before its task was written. Start it again in a new folder."
            )
        try:
            accept(state)
        except BaseException:
            log.close()
            raise
        stop_request.clear(root)
        session = cls(root, log, state, Store(root / "store"))
        sweep(root)
        session.store.sweep()
        session._open_projections(records)
        for listener in listeners:
            session.subscribe(listener)
        if recovered is not None:
            session.emit(recovered, lane="")
        session.emit(events.Resumed(version=__version__), lane="")
        return session

    @property
    def workspace(self) -> Path:
        """The one folder that a sandbox sees, as /work."""
        return self.root / "workspace"

    def subscribe(self, listener: Listener) -> None:
        """Call `listener` with each record after it was written."""
        self._subscribers.append(listener)

    def emit(self, event: E, lane: str = "main") -> E:
        """Append an event, fold it into the state and the projections, and return it as written.

        Raises LogError when it cannot be written.
        """
        record = self.log.append(event, lane, sync=isinstance(event, _SYNCED))
        if isinstance(event, _SYNCED_BESIDE):
            self.log.sync_beside()
        self.state.apply(record)
        for projection, file in self._projections:
            if added := projection.add(record):  # type: ignore[arg-type] # E is a member of Record
                file.write(added)
                file.flush()
        for listener in self._subscribers:
            listener(record)  # type: ignore[arg-type] # E is a member of Record
        return record

    def text(self, value: str) -> Text:
        """The text as an event carries it: itself when short, a blob in the store when long."""
        data = value.encode("utf-8", "replace")
        if len(data) <= events.INLINE_BYTES:
            return data.decode()
        return Blob(self.store.put(data), len(data))

    def load(self, text: Text) -> str:
        """The text itself. Raises StoreError when its blob is missing or altered."""
        return load_text(self.store, text)

    def task_text(self) -> str:
        """The text of the task, '' before it is logged. Raises StoreError as `load` does."""
        return self.load(self.state.task.task) if self.state.task else ""

    def seal(self, sign: Sign | None = None) -> None:
        """Seal the log as it stands now; `sign` signs the seal. Records may still follow."""
        self.log.sync()
        seals.write(self.root, Seal(seq=self.log.seq, hash=self.log.head, format=seals.FORMAT), sign)

    def finish(self, end: events.RunEnd, sign: Sign | None = None) -> None:
        """Write the last record and seal the log with it: the seal covers `answer.md` and the projections."""
        self.emit(end, lane="")
        self.log.sync()
        for _, file in self._projections:  # what the seal covers must outlive a power cut as the seal does
            os.fsync(file.fileno())
        chosen = self.state.chosen
        digests = {name: digest for name in self._covered() if (digest := _sha256_of(self.root / name))}
        attestation = chosen.attestation if chosen else ""
        seals.write(self.root, seals.concluding(self.log.seq, self.log.head, end, attestation, digests), sign)

    def _covered(self) -> list[str]:
        """The files beside the log that were made from it."""
        return sorted([ANSWER, *(projection.name for projection, _ in self._projections)])

    def close(self) -> None:
        """Close every file and let go of the lock."""
        for _, file in self._projections:
            file.close()
        self._projections = []
        self.log.close()

    def _open_projections(self, records: list[events.Record] | None = None) -> None:
        projections = all_projections(self.load)
        for projection in projections:
            content = b"".join(map(projection.add, records or []))
            replace_file(self.root / projection.name, content)
            self._projections.append((projection, _append_to(self.root / projection.name)))


def _may_go_on(root: Path, state: RunState, ended: events.RunEnd) -> bool:
    """Whether a run that has ended goes on: its model was lost, its budget spent, or it was killed before its
    end was sealed.

    Also where extracts hold in place of the answer of a model that a limit or its server stopped: it may come
    to one when it goes on. A model that only writes has had its say once it wrote.
    """
    if ended.exit_code in RESUMABLE or not seals.reaches(root, ended.seq):
        return True
    said = any(name.startswith(GUIDED) and lane.step for name, lane in state.lanes.items())
    return state.extracts is not None and not said and state.lane("main").history.ending is None


def make_folder(root: Path) -> bool:
    """Make the folder of a session, for its owner alone; whether it was not there. Raises OSError.

    The boxes of root run as another user, who has to pass through the folder to `workspace/` below it; the
    files beside that are closed to everybody else.
    """
    root.parent.mkdir(parents=True, exist_ok=True)
    try:
        root.mkdir()
    except FileExistsError:
        if not root.is_dir():
            raise
        return False
    root.chmod(FOLDER_MODE)
    return True


def insist_on_place(root: Path) -> None:
    """Raise SessionError where a folder holds files that are no session of VERA, nor what a start that failed
    left: the session would be written among them."""
    try:
        others = others_in(root)
    except OSError as error:
        raise SessionError(f"Cannot use {root} as work folder: {_reason(error)}.") from None
    if others:
        named = ", ".join(repr(name[:80]) for name in others[:3])
        more = f" and {len(others) - 3} more" if len(others) > 3 else ""
        raise SessionError(
            f"The work folder {root} holds files that are no session of VERA: {named}{more}. "
            "Choose a new or empty folder."
        )


def load_text(store: Store, text: Text) -> str:
    """The text of an event, from the store where it lies there."""
    return store.get(text.sha256).decode() if isinstance(text, Blob) else text


def rebuild(root: Path) -> list[str]:
    """Make every projection of a session again from its log; the names of the files that were different.

    Raises SessionError when there is no log or it is broken.
    """
    store = Store(root / "store")
    projections = all_projections(lambda text: load_text(store, text))
    contents = {projection.name: bytearray() for projection in projections}
    try:
        for _, record in Reader(root / TRACE).poll():
            for projection in projections:
                contents[projection.name] += projection.add(record)
    except FileNotFoundError:
        raise SessionError(f"There is no session in {root} (no {TRACE}).") from None
    except LogBroken as broken:
        raise SessionError(str(broken)) from None
    except (ValueError, OverflowError) as error:
        raise SessionError(f"The log in {root} holds something that VERA does not write: {error}.") from None
    changed = []
    for name, content in contents.items():
        if not _holds(root, name, content):
            replace_file(root / name, bytes(content))
            changed.append(name)
    return changed


def _holds(root: Path, name: str, content: bytes | bytearray) -> bool:
    """Whether the file, which is no link, has exactly these bytes."""
    try:
        return read_regular(root, name, len(content)) == content
    except Unreadable:
        return False


def sweep(root: Path) -> None:
    """Remove what a killed process left half-written in the folder of a session in which nothing runs."""
    for path in root.glob("*.new"):
        with contextlib.suppress(OSError):
            path.unlink()


def _sha256_of(path: Path) -> str:
    """The sha256 of a file that this process wrote, '' when there is none."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return ""


def _append_to(path: Path) -> BinaryIO:
    """The file, which is no link, opened at its end."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC), "ab")


def _set_aside_unbegun(root: Path, clock: Callable[[], float]) -> None:
    """Rename the log of a run that never took a step (its sandbox or model could not start)."""
    path = root / TRACE
    if not path.exists():
        return
    state = RunState()
    try:
        log, _ = Log.reopen(path, clock, state.apply)
    except LogBroken:
        return
    try:
        if state.ended is None and not any(lane.started for lane in state.lanes.values()):
            aside = next(
                name for n in range(1, 1000) if not (name := path.with_name(f"{TRACE}.unbegun-{n}")).exists()
            )
            path.rename(aside)
    finally:
        log.close()


def _why_not_new(root: Path, error: LogError) -> str:
    if isinstance(error, LogInUse):
        return f"{error} Wait for it to end, or choose another work folder."
    try:
        state = RunState(record for _, record in Reader(root / TRACE).poll())
    except (LogBroken, OSError):
        return f"{error} Choose another work folder."
    if state.ended is not None:
        return f"The run in {root} has finished: 'vera show {root}' shows it. Choose another work folder."
    return f"The run in {root} was interrupted: 'vera resume {root}' goes on. Or choose another work folder."


def _reason(error: Exception) -> str:
    """Why a work folder cannot be used, and what to do, without the full stop."""
    why = (error.strerror if isinstance(error, OSError) else None) or str(error)
    if isinstance(error, FileExistsError | NotADirectoryError):
        path = Path(error.filename)
        blocking = next((each for each in (path, *path.parents) if each.exists() and not each.is_dir()), path)
        why = f"{blocking} is no folder"
    return f"{why}. Choose another work folder"
