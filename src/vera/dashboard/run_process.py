"""`run.pid`: which process works on a session, and how to reach that one and no other."""

import contextlib
import os
import re
import signal
import stat
import subprocess
from pathlib import Path

from vera.sandbox.owner import Owner, start_time, this_host

PID_FILE = "run.pid"
_MAX_BYTES = 500
_LINE = re.compile(r"([0-9]{1,9})\n([A-Za-z0-9-]{1,200}) ([A-Za-z0-9-]{1,200})\n")


def identity(pid: int) -> Owner:
    """The live process of that number; its `started` is '' when there is none."""
    return Owner(this_host(), pid, start_time(pid))


def is_alive(process: Owner) -> bool:
    """Whether that very process still runs here: not one that got its number later, not a dead one that
    no one has waited for, and not one on another host, of which nothing is known."""
    return (
        bool(process.started) and process.host == this_host() and start_time(process.pid) == process.started
    )


def worker(folder: Path) -> Owner | None:
    """The live process that `run.pid` names, when its command line names this very folder.

    A `run.pid` may be from somebody who knows what else runs here: no other process is taken for a run.
    """
    process = read(folder)
    if process is None or not is_alive(process):
        return None
    return process if _works_on(process.pid, folder) else None


def has_command_line(pid: int) -> bool:
    """Whether the system says what a process that was just started works on. Linux tells who starts it that
    it runs, by closing what is closed on exec, before it has its command line; True where it is gone."""
    if not Path("/proc/self/stat").exists():
        return True
    try:
        return bool(Path(f"/proc/{pid}/cmdline").read_bytes())
    except OSError:
        return True


def _works_on(pid: int, folder: Path) -> bool:
    """Whether a process of this user has the folder among its arguments, as a run has it."""
    wanted = (os.fspath(folder), f"--work-dir={folder}")
    if not Path("/proc/self/stat").exists():
        command = ["ps", "-ww", "-p", str(pid), "-o", "uid=,command="]
        shown = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False).stdout
        user, _, command_line = shown.strip().partition(" ")
        return user == str(os.geteuid()) and any(f" {each} " in f"{command_line} " for each in wanted)
    try:
        is_own = Path(f"/proc/{pid}").stat().st_uid == os.geteuid()
        arguments = os.fsdecode(Path(f"/proc/{pid}/cmdline").read_bytes()).split("\0")
    except OSError:
        return False
    return is_own and any(each in arguments for each in wanted)


def claim(folder: Path) -> int:
    """Create `run.pid`, empty and open for writing. Raises FileExistsError when there is one."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.open(folder / PID_FILE, flags, 0o600)


def write(descriptor: int, process: Owner) -> None:
    """Say which process it is: its number on the first line, what tells it from others on the second."""
    os.write(descriptor, f"{process.pid}\n{process.host} {process.started}\n".encode())


def read(folder: Path) -> Owner | None:
    """The process that `run.pid` names; None when there is no such file, or none that was written by us."""
    try:
        descriptor = os.open(folder / PID_FILE, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return None
        found = _LINE.fullmatch(file.read(_MAX_BYTES).decode("utf-8", "replace"))
    return Owner(found[2], int(found[1]), found[3]) if found else None


def send(process: Owner, number: signal.Signals, *, to_group: bool = False) -> bool:
    """Send a signal to that very process (and with `to_group` to all of its group, which it must lead).

    Returns whether it was alive. Where the system has pidfds the number cannot be another's by then.
    """
    if process.pid <= 1 or not is_alive(process):
        return False
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if to_group and os.getpgid(process.pid) == process.pid:
            os.killpg(process.pid, number)
        elif hasattr(signal, "pidfd_send_signal"):
            _send_by_descriptor(process, number)
        else:
            os.kill(process.pid, number)
    return True


def _send_by_descriptor(process: Owner, number: signal.Signals) -> None:
    descriptor = os.pidfd_open(process.pid)
    try:
        if is_alive(process):
            signal.pidfd_send_signal(descriptor, number)
    finally:
        os.close(descriptor)
