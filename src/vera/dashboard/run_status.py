"""Where the run of a session truly stands, from what lies in its folder and what runs on this machine."""

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import msgspec

from vera.dashboard import audit_log, run_process
from vera.dashboard.log_ends import LogEnds, in_use, is_still_in_use
from vera.dashboard.regular import open_regular, size_of
from vera.report.printable import one_printable_line
from vera.session import stop_request
from vera.session.seal import reaches
from vera.session.session import RESUMABLE

RUN_LOG = "run.log"
SAID_BYTES = 4096
SAID_SHOWN = 300

State = Literal["new", "starting", "running", "stopping", "ended", "stopped", "crashed", "failed"]


class RunStatus(msgspec.Struct, frozen=True, kw_only=True):
    """Where a run stands, and what can be done with it.

    `state`: new (never started) · starting (a process that has not begun its work) · running · stopping (it
    was asked to end) · ended (its last record is there) · stopped (its process ended before, by itself or
    because it was told to) · crashed (its process was killed, or is gone without a word) · failed (it never
    began: `words` has what it said). `alive`: a process works on it; `pid` is its number where a dashboard
    started it. `exit_code` is that of its process, negative for a signal, None when it is not known.
    """

    state: State = "new"
    words: str = "Not started yet."
    alive: bool = False
    pid: int | None = None
    exit_code: int | None = None
    can_start: bool = False
    can_stop: bool = False
    can_resume: bool = False


def status_of(
    folder: Path,
    log: Path,
    ends: Callable[[], LogEnds],
    began: Callable[[], bool],
    *,
    stopping: bool = False,
    was_elsewhere: bool = False,
) -> RunStatus:
    """The status of the session in `folder` with that `log`; `stopping`: it was asked to; `was_elsewhere`: at
    the last look a process worked on it that no dashboard had started.

    `ends` reads the ends of the log, `began` whether a lane took up its work: each is asked for only when it
    is needed, as a log that grows has other ends at every look.
    """
    if (process := run_process.worker(folder)) is not None:
        return _working(process.pid, began(), stopping=stopping)
    if (was_elsewhere and is_still_in_use(log)) or in_use([log]):
        return _working_elsewhere(stop_request.asked(folder))
    return _at_rest(folder, ends())


def is_worked_on(folder: Path, log: Path) -> bool:
    """Whether a process works on the session, whoever started it."""
    return run_process.worker(folder) is not None or bool(in_use([log]))


def last_exit_code(folder: Path) -> tuple[bool, int | None]:
    """Whether a dashboard ever started a run here, and how that process ended as far as one saw it."""
    started, code = False, None
    for line in audit_log.tail(folder):
        if line["action"] in ("started", "resumed"):
            started, code = True, None
        elif line["action"] == "ended":
            found = line.get("exit_code")
            code = found if isinstance(found, int) else None
    return started, code


def _working(pid: int, began: bool, *, stopping: bool) -> RunStatus:
    state: State
    if stopping:
        state, words = "stopping", "Stopping: it finishes with what is known. Stop again to end it at once."
    elif not began:
        state, words = "starting", "Starting: it looks for its model, its sandbox and its documents."
    else:
        state, words = "running", "Running."
    return RunStatus(state=state, words=words, alive=True, pid=pid, can_stop=True)


def _working_elsewhere(asked: stop_request.Asked) -> RunStatus:
    if asked == stop_request.NOW:
        words = "Asked to stop at once. When it does not, end it where it was started."
        return RunStatus(state="stopping", words=words, alive=True)
    if asked:
        words = "Stopping: it was asked to finish with what is known. Stop again to end it at once."
        return RunStatus(state="stopping", words=words, alive=True, can_stop=True)
    return RunStatus(state="running", words="Running, started elsewhere.", alive=True, can_stop=True)


def _at_rest(folder: Path, ends: LogEnds) -> RunStatus:
    started, code = last_exit_code(folder)
    if ends.end is not None:
        can_resume = ends.end.exit_code in RESUMABLE or not reaches(folder, ends.end.seq)
        words = f"Ended with exit code {ends.end.exit_code}."
        if can_resume:
            words += " It can go on."
        return RunStatus(state="ended", words=words, exit_code=ends.end.exit_code, can_resume=can_resume)
    if ends.began:
        return _broken_off(code, ends.model_error)
    if not started and ends.task is not None:
        return RunStatus(words="Its process is gone, and it had not begun its work.", can_start=True)
    if not started:
        return RunStatus(can_start=True)
    how = "" if code is None else f" ({_how_it_ended(code)})"
    said = _last_words(folder)
    words = f"It could not start{how}." + (f" {said}" if said else "")
    return RunStatus(state="failed", words=words, exit_code=code, can_start=True)


def _broken_off(code: int | None, model_error: str) -> RunStatus:
    if model_error and (code is None or code >= 0):
        words = "It stopped there, and can be resumed."  # the headline says what failed
        return RunStatus(state="stopped", words=words, exit_code=code, can_resume=True)
    if code is None:
        words = "Its process is gone, and how it ended was not seen. It can be resumed."
        return RunStatus(state="crashed", words=words, can_resume=True)
    state: State = "crashed" if code < 0 else "stopped"
    words = f"Stopped before its end ({_how_it_ended(code)}). It can be resumed."
    return RunStatus(state=state, words=words, exit_code=code, can_resume=True)


def _how_it_ended(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"killed by signal {-code}"


def _last_words(folder: Path) -> str:
    """The last line of `run.log`, which says why a run could not start."""
    if (opened := open_regular(folder / RUN_LOG)) is None:
        return ""
    with opened as file:
        file.seek(max(0, size_of(file) - SAID_BYTES))
        lines = file.read(SAID_BYTES).decode("utf-8", "replace").strip().splitlines()
    return one_printable_line(lines[-1])[:SAID_SHOWN] if lines else ""
