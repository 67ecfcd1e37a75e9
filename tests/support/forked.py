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
from pathlib import Path

LENGTH = struct.Struct("!Q")
FILES = 3
BEFORE_START = ("PYTHON", "LD_", "LANG", "LC_", "TZ")
"""What an interpreter reads from the environment when it starts: a command with another one needs its own."""


class Forks:
    """The process that forks, for as long as this one lives."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="vera-forks-")
        self.address = f"{self._folder.name}/socket"
        self._begun = _at_start(os.environ)
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(self.address)
            listening.listen()
            self._process = subprocess.Popen(
                [sys.executable, "-P", __file__, str(listening.fileno())],
                stdin=subprocess.PIPE,  # its end tells it to go
                pass_fds=[listening.fileno()],
            )

    def suits(self, environment: dict[str, str]) -> bool:
        """Whether a command with this environment can be a fork."""
        return _at_start(environment) == self._begun and self._process.poll() is None

    def run(
        self, arguments: list[str], cwd: Path, stdin: str, environment: dict[str, str], timeout: float
    ) -> subprocess.CompletedProcess[str]:
        """`python -m vera ARGUMENTS`. Raises subprocess.TimeoutExpired, after which it is gone."""
        with contextlib.ExitStack() as stack:
            files = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(FILES)]
            files[0].write(stdin.encode())
            files[0].seek(0)
            asked = stack.enter_context(socket.socket(socket.AF_UNIX))
            asked.settimeout(timeout)
            asked.connect(self.address)
            request = json.dumps([arguments, str(cwd), environment]).encode()
            socket.send_fds(asked, [LENGTH.pack(len(request))], [file.fileno() for file in files])
            asked.sendall(request)
            try:
                code = int.from_bytes(_exactly(asked, 4), "big", signed=True)
            except TimeoutError:
                raise subprocess.TimeoutExpired(["vera", *arguments], timeout) from None
            said = []
            for file in files[1:]:
                file.seek(0)
                said.append(file.read().decode("utf-8", "replace"))
        return subprocess.CompletedProcess(["vera", *arguments], code, *said)


@functools.cache
def forks() -> Forks:
    return Forks()


def _at_start(environment: "os._Environ[str] | dict[str, str]") -> dict[str, str]:
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


def main() -> None:
    from vera.batch.fork_server import leave, preload, run
    from vera.batch.running import PRELOADED

    preload([*PRELOADED, "vera.cli.replay", "vera.cli.show", "vera.attestation.replay"])
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
