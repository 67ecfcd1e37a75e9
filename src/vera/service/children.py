"""The process of one job: started, reached again after a restart, and ended."""

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO

from vera.dashboard import run_process
from vera.dashboard.run_environment import child_environment
from vera.sandbox.owner import Owner
from vera.service.records import OUT, SAID, STDIN
from vera.store import replace_file


class Child:
    """A process that this server started. `wait` returns its exit code."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process
        self.owner = run_process.identity(process.pid)

    def on_end(self, tell: Callable[[int], None]) -> None:
        """Call `tell` with the exit code, in another thread."""
        waiter = threading.Thread(target=lambda: tell(self._process.wait()), daemon=True)
        waiter.name = f"vera-job-{self._process.pid}"
        waiter.start()


def start(folder: Path, command: Sequence[str], stdin: str) -> Child:
    """Start a job's child: its own session, input from a file, output to `out.json` and `said.log`.

    It goes on when this server ends: a server that starts again finds it by `run.pid`. Raises OSError.
    """
    replace_file(folder / STDIN, stdin.encode())
    descriptor = run_process.claim(folder)
    try:
        with (
            (folder / STDIN).open("rb") as given,
            _open_new(folder / OUT) as out,
            _open_new(folder / SAID) as said,
        ):
            process = subprocess.Popen(
                command,
                stdin=given,
                stdout=out,
                stderr=said,
                env=child_environment(()),
                start_new_session=True,
            )
        child = Child(process)
        run_process.write(descriptor, child.owner)
        return child
    finally:
        os.close(descriptor)


def end(owner: Owner, *, at_once: bool = False) -> bool:
    """Ask a child to end; `at_once` ends it and all that it started. Whether it was alive."""
    number = signal.SIGKILL if at_once else signal.SIGTERM
    return run_process.send(owner, number, to_group=at_once)


def is_alive(owner: Owner) -> bool:
    """Whether that very process still runs."""
    return run_process.is_alive(owner)


def alive(folder: Path) -> Owner | None:
    """The process that works on a job, None where there is none."""
    owner = run_process.read(folder)
    return owner if owner is not None and run_process.is_alive(owner) else None


def _open_new(path: Path) -> BinaryIO:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    return os.fdopen(descriptor, "wb")
