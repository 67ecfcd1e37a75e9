"""A box as the rest of VERA sees it, whichever backend runs it."""

from typing import Protocol

import msgspec


class CommandResult(msgspec.Struct, frozen=True, kw_only=True):
    """What one shell command did.

    `head` and `tail` are the first and last bytes of its output (stdout and stderr in order); when
    `size` is not larger than both together, `head + tail` is the whole of it. `sha256` covers all
    `size` bytes. `spool` is the path inside the box of the complete output (of its first 64 MiB when it is
    longer), '' when none was kept; what the box has there is untrusted until its hash was compared.
    `reason` is exited, timeout, cancelled, output_limit, work_limit (the work folder came to hold too much)
    or died (the shell, by a signal); `exit_code` is None for the four in the middle. `room` says that the
    work folder holds more than it may, '' when it does not. `shell` says what became of the shell's state:
    kept, restored (rolled back to before the command) or fresh. `seconds` is wall time.
    """

    exit_code: int | None
    head: bytes
    tail: bytes = b""
    size: int
    sha256: str
    spool: str = ""
    reason: str = "exited"
    shell: str = "kept"
    cwd: str = "/work"
    seconds: float = 0.0
    room: str = ""


class BoxError(Exception):
    """The sandbox cannot do what was asked: a sentence, and the next command to type when there is one."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class Refusal(BoxError):
    """The person has ruled out what would be needed: nothing else is tried in its place."""


class Box(Protocol):
    """One started sandbox with one persistent shell; commands run one at a time."""

    @property
    def backend(self) -> str: ...

    @property
    def isolation(self) -> str:
        """A sentence for banner, log and attestation; 'no isolation' for the host backend."""
        ...

    async def start(self) -> None:
        """Raises BoxError with the next command to type when the backend cannot start."""
        ...

    async def run(self, command: str, *, timeout: float) -> CommandResult: ...

    async def close(self) -> None: ...
