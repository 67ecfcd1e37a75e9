"""Stopping the stack: the dashboard that was started, the runs that were started in it, their boxes."""

import contextlib
import signal
import time
from collections.abc import Iterator
from pathlib import Path

from vera.cli.stack_process import StackError, running, stack_folder
from vera.dashboard import audit_log, run_process
from vera.dashboard.sessions import SessionFolder, Sessions
from vera.sandbox.backends import BACKENDS
from vera.sandbox.owner import Owner

FINISH_SECONDS = 60.0
END_SECONDS = 15.0


def stop_all(base: Path, *, keep_runs: bool) -> Iterator[str]:
    """Stop what was started for a base folder; a line for each thing that was done.

    Raises StackError when something does not end.
    """
    process = running(base)
    if process is None:
        yield f"No dashboard of the stack runs for {base}."
    else:
        _end([process], (signal.SIGTERM, signal.SIGKILL), (END_SECONDS, END_SECONDS))
        yield f"The dashboard (process {process.pid}) has ended."
        with contextlib.suppress(OSError):
            audit_log.write(stack_folder(base), "stopped", pid=process.pid)
    with contextlib.suppress(OSError):
        (stack_folder(base) / run_process.PID_FILE).unlink()
    if not keep_runs:
        found = list(working(base))
        for session, each in found:
            with contextlib.suppress(OSError):
                audit_log.write(session.path, "stopped", pid=each.pid, signal="SIGINT")
        _end(
            [each for _, each in found],
            (signal.SIGINT, signal.SIGTERM, signal.SIGKILL),
            (FINISH_SECONDS, END_SECONDS, END_SECONDS),
        )
        for session, _ in found:
            yield f"The run in {session.name} has ended. It may be able to go on: vera resume {session.name}"
    reaped = sum(backend.reap() for backend in BACKENDS)
    if reaped:
        yield f"{reaped} sandboxes that were no longer used were removed."


def working(base: Path) -> Iterator[tuple[SessionFolder, Owner]]:
    """The runs below the base folder that a dashboard started and that still work."""
    if not base.is_dir():
        return
    for session in Sessions(base).listed()[0]:
        if (process := run_process.worker(session.path)) is not None:
            yield session, process


def _end(processes: list[Owner], signals: tuple[signal.Signals, ...], seconds: tuple[float, ...]) -> None:
    """Send each signal to those that are left, and wait for them that long. Raises StackError."""
    for number, patience in zip(signals, seconds, strict=True):
        processes = [each for each in processes if _send(each, number)]
        deadline = time.monotonic() + patience
        while processes and time.monotonic() < deadline:
            processes = [each for each in processes if run_process.is_alive(each)]
            time.sleep(0.05)
    if processes:
        raise StackError(f"These processes do not end: {', '.join(str(each.pid) for each in processes)}.")


def _send(process: Owner, number: signal.Signals) -> bool:
    return run_process.send(process, number, to_group=number == signal.SIGKILL)
