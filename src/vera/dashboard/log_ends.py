"""What the first and the last lines of a run's log say, without reading what lies between.

Nothing is verified here: who must know that a log is whole reads it with `vera.session.Reader`.
"""

import fcntl
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

import msgspec

from vera import events
from vera.dashboard.regular import open_regular, size_of
from vera.decode_errors import DECODE_ERRORS
from vera.session.log import MAX_LINE

HEAD_BYTES = 256 << 10
TAIL_BYTES = 64 << 10
MAIN_LANE = "main"
LOCKS = Path("/proc/locks")
"""Linux: every lock of the system."""

_LOCKED = re.compile(r"^[0-9]+: FLOCK .* [0-9a-f]+:[0-9a-f]+:([0-9]+) ", re.MULTILINE)
_HASH = re.compile(rb',"hash":"[0-9a-f]{64}"}\Z')


class LogEnds(msgspec.Struct, frozen=True, kw_only=True):
    """A log by its ends. `size` 0: there is none, or nothing in it.

    `session`, `task` and `server` are the records of its beginning, `end` is its last record when that ends
    the run; `first_ts` and `last_ts` are Unix times, `step` the last step that the last lines name. `began`:
    a lane took up its work, so that this is no log that a new run in the same folder would put aside.
    `model_error`: the last call of the run was one to its model, and it failed like this.
    """

    size: int = 0
    first_ts: float = 0.0
    last_ts: float = 0.0
    step: int = 0
    began: bool = False
    model_error: str = ""
    session: events.Session | None = None
    task: events.Task | None = None
    server: events.ModelServer | None = None
    end: events.RunEnd | None = None


def read_ends(path: Path) -> LogEnds:
    """The ends of the log at `path`; LogEnds() when there is none that can be read."""
    if (opened := open_regular(path)) is None:
        return LogEnds()
    with opened as file:
        size = size_of(file)
        head = file.read(HEAD_BYTES)
        if size <= HEAD_BYTES:
            tail = head
        else:
            file.seek(size - TAIL_BYTES)
            tail = file.read(TAIL_BYTES)
            tail = tail[tail.find(b"\n") + 1 :]
    return _told(size, head, tail)


def in_use(paths: list[Path]) -> set[Path]:
    """Those of the logs that a process holds the lock of: somebody works on these runs."""
    held = _locked_files()
    return {path for path in paths if _is_locked(path, held)}


def is_still_in_use(path: Path) -> bool:
    """The same of one log that a look before found in use: without a look at every lock of the system, which
    takes a hundred times as long."""
    return _is_locked(path, None)


def _told(size: int, head: bytes, tail: bytes) -> LogEnds:
    session: events.Session | None = None
    task: events.Task | None = None
    server: events.ModelServer | None = None
    first_ts = 0.0
    began = size > HEAD_BYTES
    for record in _records(head):
        first_ts = first_ts or record.ts
        match record:
            case events.Session():
                session = session or record
            case events.Task():
                task = task or record
            case events.ModelServer():
                server = record
            case events.LaneStarted() | events.RunEnd():
                began = True
                break
            case _:
                pass
    begin = LogEnds(size=size, first_ts=first_ts, began=began, session=session, task=task, server=server)
    return _with_tail(begin, tail)


def _with_tail(ends: LogEnds, tail: bytes) -> LogEnds:
    """The same with what the last lines say: the time, the step and the end of the run."""
    end: events.RunEnd | None = None
    last_ts, step, model_error = 0.0, 0, ""
    for number, record in enumerate(_records(tail, newest_first=True)):
        last_ts = last_ts or record.ts
        if number == 0 and isinstance(record, events.RunEnd):
            end, step = record, record.steps
            break
        if isinstance(record, events.Model | events.Tool) and record.lane == MAIN_LANE:
            step = record.step
            model_error = record.error if isinstance(record, events.Model) else ""
            break
    return msgspec.structs.replace(
        ends, last_ts=max(ends.first_ts, last_ts), step=step, model_error=model_error, end=end
    )


def _records(text: bytes, *, newest_first: bool = False) -> Iterator[events.Record]:
    """The records of whole lines; what is none of this version is left out."""
    lines = text[: text.rfind(b"\n") + 1].split(b"\n")[:-1]
    for line in reversed(lines) if newest_first else lines:
        found = _HASH.search(line[-80:])
        if found is None or len(line) > MAX_LINE:
            continue
        try:
            yield events.decode(line[: -len(found.group())] + b"}")
        except DECODE_ERRORS:
            continue


def _locked_files() -> frozenset[int] | None:
    """The inode numbers of locked files; None where the system does not say."""
    try:
        return frozenset(map(int, _LOCKED.findall(LOCKS.read_text())))
    except (OSError, ValueError):
        return None


def _is_locked(path: Path, held: frozenset[int] | None) -> bool:
    """Tried only where it looks locked: a lock that is taken to look could keep a run from starting."""
    try:
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode) or (held is not None and status.st_ino not in held):
            return False
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return False
