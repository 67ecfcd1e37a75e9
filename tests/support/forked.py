"""Commands of tests as forks of one process that has imported VERA, in the way of a batch's attempts.

A fork takes half of the processor time of a new interpreter, and the tests start hundreds of commands.
`Forks` is what tests call. Run as a program, this module is the process that forks. A command has files for
its input and output, a given environment and folder, and is killed when who asked for it goes away.
"""

import contextlib
import functools
import gc
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import IO

LENGTH = struct.Struct("!Q")
FILES = 3
PR_SET_CHILD_SUBREAPER = 36
"""prctl(2)."""
BEFORE_START = ("PYTHON", "LD_", "LANG", "LC_", "TZ")
"""What an interpreter reads from the environment when it starts: a command with another one needs its own."""
MOST_FORKS = 2
"""Processes that fork commands with such an environment."""


class Forks:
    """The process that forks, for as long as this one lives. It imports `modules` besides those of every
    command, and starts with `environment` besides that of this process."""

    def __init__(self, *modules: str, **environment: str) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="vera-forks-")
        self.address = f"{self._folder.name}/socket"
        starts_with = {**os.environ, **environment}
        self._begun = _at_start(starts_with)
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(self.address)
            listening.listen()
            self._process = subprocess.Popen(
                [sys.executable, "-P", __file__, str(listening.fileno()), *modules],
                stdin=subprocess.PIPE,  # its end tells it to go
                pass_fds=[listening.fileno()],
                env=starts_with,
            )

    def suits(self, environment: dict[str, str]) -> bool:
        """Whether a command with this environment can be a fork."""
        return _at_start(environment) == self._begun and self._process.poll() is None

    def left(self) -> list[int]:
        """Processes that its commands have started and that still run, or have yet to be waited for."""
        of = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children")
        return [int(pid) for pid in of.read_text().split()]

    def begin(self, arguments: list[str], cwd: Path, stdin: str, environment: dict[str, str]) -> "Command":
        """Start `python -m vera ARGUMENTS`."""
        files = [tempfile.TemporaryFile() for _ in range(FILES)]  # noqa: SIM115 (the command closes them)
        files[0].write(stdin.encode())
        files[0].seek(0)
        asked = socket.socket(socket.AF_UNIX)
        asked.connect(self.address)
        request = json.dumps([arguments, str(cwd), environment]).encode()
        socket.send_fds(asked, [LENGTH.pack(len(request))], [file.fileno() for file in files])
        asked.sendall(request)
        return Command(arguments, asked, files)

    def run(
        self, arguments: list[str], cwd: Path, stdin: str, environment: dict[str, str], timeout: float
    ) -> subprocess.CompletedProcess[str]:
        """`python -m vera ARGUMENTS`. Raises subprocess.TimeoutExpired, after which it is gone."""
        with self.begin(arguments, cwd, stdin, environment) as command:
            return command.end(timeout)


class Command:
    """A command that was begun. It is killed when the block ends before it does."""

    def __init__(self, arguments: list[str], asked: socket.socket, files: list[IO[bytes]]) -> None:
        self.arguments = arguments
        self._asked = asked
        self._files = files
        self._code: int | None = None

    def __enter__(self) -> "Command":
        return self

    def __exit__(self, *_: object) -> None:
        for each in (self._asked, *self._files):
            each.close()

    def said(self, descriptor: int) -> str:
        """What it has written so far: 1 is its output, 2 its errors."""
        size = os.fstat(self._files[descriptor].fileno()).st_size
        return os.pread(self._files[descriptor].fileno(), size, 0).decode("utf-8", "replace")

    def code(self) -> int | None:
        """Its exit code; None while it runs."""
        try:
            return self.end(0).returncode
        except subprocess.TimeoutExpired:
            return None

    def end(self, timeout: float) -> subprocess.CompletedProcess[str]:
        """Wait for its end. Raises subprocess.TimeoutExpired."""
        if self._code is None:
            if not select.select([self._asked], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(["vera", *self.arguments], timeout)
            self._code = int.from_bytes(_exactly(self._asked, 4), "big", signed=True)
        return subprocess.CompletedProcess(["vera", *self.arguments], self._code, self.said(1), self.said(2))


@functools.cache
def forks() -> Forks:
    return Forks()


def forks_for(environment: dict[str, str]) -> Forks | None:
    """What forks commands with this environment. None where an interpreter has to start: for an environment
    that no command had before, and beside MOST_FORKS others."""
    if forks().suits(environment):
        return forks()
    start = tuple(sorted(_at_start(environment).items()))
    _asked[start] += 1
    if _asked[start] == 1 or (start not in _others and len(_others) == MOST_FORKS):
        return None
    if start not in _others:
        _others[start] = Forks(**dict(start))
    return _others[start] if _others[start].suits(environment) else None


_asked: Counter[tuple[tuple[str, str], ...]] = Counter()
_others: dict[tuple[tuple[str, str], ...], Forks] = {}


def _at_start(environment: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name.startswith(BEFORE_START)}


def _exactly(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        more = connection.recv(size - len(data))
        if not more:
            raise ConnectionError("the process that forks has gone")
        data += more
    return data


def serve(listening: socket.socket) -> tuple[list[str], list[int]] | None:
    """Fork a command for each connection until standard input ends: None. In a command: what it is."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        ready, _, _ = select.select([listening, sys.stdin], [], [])
        if listening not in ready:
            return None
        connection, _ = listening.accept()
        if os.fork():
            connection.close()
            continue
        listening.close()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        return watched(connection)


def watched(connection: socket.socket) -> tuple[list[str], list[int]]:
    """Fork the command, and tell its exit code; it is killed when the other end is closed."""
    size, descriptors, _, _ = socket.recv_fds(connection, LENGTH.size, FILES)
    arguments, cwd, environment = json.loads(_exactly(connection, LENGTH.unpack(size)[0]))
    command = os.fork()
    if not command:
        connection.close()
        os.chdir(cwd)
        os.environ.clear()
        os.environ.update(environment)
        return arguments, descriptors
    ended = os.pidfd_open(command)
    if connection in select.select([connection, ended], [], [])[0]:
        os.kill(command, signal.SIGKILL)
    _, status = os.waitpid(command, 0)
    with contextlib.suppress(OSError):
        connection.sendall(os.waitstatus_to_exitcode(status).to_bytes(4, "big", signed=True))
    os._exit(0)


def inherit_orphans() -> None:
    """What a command has started and left behind becomes a child of this process, where `left` sees it."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)


def main() -> None:
    from vera.batch.fork_server import leave, preload, run
    from vera.batch.running import PRELOADED

    inherit_orphans()
    preload([*PRELOADED, "vera.cli.replay", "vera.cli.show", "vera.attestation.replay", *sys.argv[2:]])
    gc.collect()
    gc.freeze()
    begun = serve(socket.socket(fileno=int(sys.argv[1])))
    if begun is not None:
        arguments, descriptors = begun
        for number, descriptor in enumerate(descriptors):
            os.dup2(descriptor, number)
            os.close(descriptor)
        leave(run("vera", arguments))


if __name__ == "__main__":
    main()
