"""`stop.request`: a file in a session by which a person asks the run that works there to stop.

It reaches a run wherever it was started (a terminal, a batch, a program), and nothing else: no process is
looked up by a number, and a folder from somebody else can stop only the run that works in it. The run looks
at it (`vera.agent.stopping.heeding`), and takes it away when it opens the session and when it is done.
"""

import contextlib
import os
import stat
from pathlib import Path
from typing import Final, Literal

FILE = "stop.request"
FINISH: Final = "finish"
"""End with what is known, as the first Ctrl-C does."""

NOW: Final = "now"
"""Stop at once, as the second one does."""

Asked = Literal["", "finish", "now"]
_MAX_BYTES = 16


def ask(folder: Path, *, at_once: bool = False) -> None:
    """Ask the run in `folder` to stop. Raises OSError when the file cannot be written there."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with os.fdopen(os.open(folder / FILE, flags, 0o600), "wb") as file:
        file.write((NOW if at_once else FINISH).encode() + b"\n")


def asked(folder: Path) -> Asked:
    """What the run in `folder` was asked; '' for nothing. A file of another user and a link ask nothing."""
    try:
        descriptor = os.open(folder / FILE, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode) or about.st_uid != os.geteuid():
            return ""
        return NOW if os.read(descriptor, _MAX_BYTES).strip() == NOW.encode() else FINISH
    finally:
        os.close(descriptor)


def clear(folder: Path) -> None:
    """Take the request away, if there is one."""
    with contextlib.suppress(OSError):
        (folder / FILE).unlink()
