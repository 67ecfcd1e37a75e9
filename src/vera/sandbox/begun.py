"""A supervisor that was started before there was an event loop to speak to it, or a use for it.

A process that waits for work starts one (`begin`) and keeps its pipes; a `SupervisedBox` takes it up later
(`take_up`). Until then nothing is read: what the supervisor says on its start fits into the pipes. When the
process dies, however it dies, the pipes close and the box ends, as any box does.
"""

import asyncio
import subprocess
from typing import IO, Protocol

from vera.sandbox.spec import Launch
from vera.sandbox.types import BoxError

WAIT_SECONDS = 5.0
"""How long the end of a supervisor that nobody took up is waited for."""


class BoxProcess(Protocol):
    """What a box uses of the program that its launch started; `asyncio.subprocess.Process` is one."""

    @property
    def stdin(self) -> asyncio.StreamWriter | None: ...

    @property
    def stdout(self) -> asyncio.StreamReader | None: ...

    @property
    def stderr(self) -> asyncio.StreamReader | None: ...

    async def wait(self) -> int: ...

    def kill(self) -> None: ...


class TakenUp:
    """A program with its pipes as streams of the running loop (`BoxProcess`)."""

    def __init__(
        self,
        program: "subprocess.Popen[bytes]",
        stdin: asyncio.StreamWriter,
        stdout: asyncio.StreamReader,
        stderr: asyncio.StreamReader,
    ) -> None:
        self._program = program
        self.stdin = stdin
        self.stdout = stdout
        self.stderr = stderr

    async def wait(self) -> int:
        """Its exit code, once it has ended."""
        return await asyncio.to_thread(self._program.wait)

    def kill(self) -> None:
        """A program that has ended gets nothing."""
        self._program.kill()


def begin(launch: Launch, source: bytes) -> "subprocess.Popen[bytes]":
    """Start the program of a launch and give it the supervisor's source. Raises BoxError."""
    try:
        program = subprocess.Popen(
            launch.argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(launch.env),
            start_new_session=True,
        )
        assert program.stdin is not None
        program.stdin.write(source)
        program.stdin.flush()
    except OSError as error:
        raise BoxError(f"The {launch.backend} sandbox cannot start ({error}).", hint="vera doctor") from error
    return program


async def take_up(program: "subprocess.Popen[bytes]") -> TakenUp:
    """The program, to be spoken to in the running loop."""
    assert program.stdin is not None
    assert program.stdout is not None
    assert program.stderr is not None
    loop = asyncio.get_running_loop()
    stdout, stderr = await _stream(program.stdout), await _stream(program.stderr)
    flow = asyncio.streams.FlowControlMixin()
    transport, _ = await loop.connect_write_pipe(lambda: flow, program.stdin)
    return TakenUp(program, asyncio.StreamWriter(transport, flow, None, loop), stdout, stderr)


async def _stream(pipe: IO[bytes]) -> asyncio.StreamReader:
    stream = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stream), pipe)
    return stream


def give_up(launch: Launch, program: "subprocess.Popen[bytes]") -> None:
    """End a box that was not taken up, and wait for that."""
    assert program.stdin is not None
    program.stdin.close()
    try:
        program.wait(WAIT_SECONDS)
    except subprocess.TimeoutExpired:
        program.kill()
        launch.remove()
        program.wait()
