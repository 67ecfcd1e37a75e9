"""Processes that work on sessions: `python -m vera run …`, which go on when the dashboard ends."""

import contextlib
import os
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from vera.dashboard import audit_log, run_process
from vera.dashboard.run_status import RUN_LOG
from vera.store import replace_file

MAX_RUN_LOG = 4 << 20
"""Bytes of `run.log`, of which the end is kept as `run.log.1` when it grows over that."""

KEPT_RUN_LOG = 1 << 20


TOLD_SECONDS = 1.0
"""How long a process that was started is waited for until the system says what it works on."""


class AlreadyWorking(Exception):
    """A process works on the session, or is being started for it."""


def vera_command(*arguments: str) -> list[str]:
    """The command line of a `vera` of this very installation. -P: a file of the base folder that is named
    like a module is never imported in its place."""
    return [sys.executable, "-P", "-m", "vera", *arguments]


def launch(
    folder: Path,
    arguments: Sequence[str],
    *,
    cwd: Path,
    environment: Mapping[str, str],
    stdin: str,
    action: str,
    about: Mapping[str, object],
    on_end: Callable[[], None],
) -> int:
    """Start a run on the session in `folder`, within `audit_log.acting`; the number of its process.

    It has its own session, `stdin` as standard input, and `run.log` for what it says. `action` and
    `about` are written to `session.log`; its end is, too, as long as this process lives, and `on_end` is
    called after that (in another thread). Raises AlreadyWorking, or OSError when it cannot be started.
    """
    descriptor = _claim(folder)
    try:
        child = _spawn(folder, arguments, cwd, environment, stdin)
        _wait_until_it_is_told(child)
        try:
            run_process.write(descriptor, run_process.identity(child.pid))
            audit_log.write(folder, action, pid=child.pid, **about)
        except OSError:
            child.kill()
            child.wait()
            raise
    except OSError:
        with contextlib.suppress(OSError):
            (folder / run_process.PID_FILE).unlink()
        raise
    finally:
        os.close(descriptor)
    waiter = threading.Thread(target=_wait, args=(folder, child, on_end), daemon=True)
    waiter.name = f"vera-run-{child.pid}"
    waiter.start()
    return child.pid


def bound_run_log(folder: Path) -> None:
    """Keep `run.log` small while a run writes to it: it is copied to `run.log.1` and emptied.

    What is written between the two is lost; everything that counts is in the run's own log.
    """
    path = folder / RUN_LOG
    try:
        if path.lstat().st_size <= MAX_RUN_LOG:
            return
        with audit_log.acting(folder, 0.0), os.fdopen(_open_run_log(folder), "r+b", buffering=0) as file:
            size = os.fstat(file.fileno()).st_size
            if size > MAX_RUN_LOG:
                end = os.pread(file.fileno(), KEPT_RUN_LOG, size - KEPT_RUN_LOG)
                replace_file(path.with_name(f"{RUN_LOG}.1"), end)
                file.truncate(0)
    except (OSError, audit_log.Busy):
        return


def _claim(folder: Path) -> int:
    """`run.pid`, rebuilt and open: whoever was in it is dead. Raises AlreadyWorking."""
    if run_process.worker(folder) is not None:
        raise AlreadyWorking
    with contextlib.suppress(FileNotFoundError):
        (folder / run_process.PID_FILE).unlink()
    try:
        return run_process.claim(folder)
    except FileExistsError:
        raise AlreadyWorking from None


def _spawn(
    folder: Path, arguments: Sequence[str], cwd: Path, environment: Mapping[str, str], stdin: str
) -> "subprocess.Popen[bytes]":
    # A file and no pipe: no one has to feed it, and it ends by itself.
    with tempfile.TemporaryFile() as task, os.fdopen(_open_run_log(folder), "ab") as said:
        task.write(stdin.encode("utf-8", "replace"))
        task.seek(0)
        return subprocess.Popen(
            arguments,
            stdin=task,
            stdout=said,
            stderr=subprocess.STDOUT,
            cwd=cwd,
            env=environment,
            start_new_session=True,
        )


def _wait_until_it_is_told(child: "subprocess.Popen[bytes]") -> None:
    """Until `run_process.worker` can know the child: who asks before that would start a second one."""
    deadline = time.monotonic() + TOLD_SECONDS
    while not run_process.has_command_line(child.pid) and child.poll() is None:
        if time.monotonic() > deadline:
            return
        time.sleep(0.001)


def _open_run_log(folder: Path) -> int:
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    descriptor = os.open(folder / RUN_LOG, flags, 0o600)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(22, "It is no regular file", str(folder / RUN_LOG))
    return descriptor


def _wait(folder: Path, child: "subprocess.Popen[bytes]", on_end: Callable[[], None]) -> None:
    code = child.wait()
    try:
        audit_log.write(folder, "ended", pid=child.pid, exit_code=code)
    except OSError:
        pass  # the folder was removed, or the disk is full: how it ended stays unknown
    finally:
        on_end()
