"""The processes of the attempts, as the batch sees them: started and reached through one fork server."""

import asyncio
import contextlib
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import msgspec

from vera.batch.errors import BatchError

MODULE = "vera"
MAX_REPLY_BYTES = 1 << 16
CLOSING_SECONDS = 30.0


class Exit(msgspec.Struct, frozen=True, kw_only=True):
    """How a process ended: its exit code, or minus the number of the signal that killed it; `cpu_s` is its
    processor time, user and system. `error` says why it could not be started ('' when it was)."""

    code: int
    cpu_s: float = 0.0
    error: str = ""


class _Reply(msgspec.Struct, frozen=True, kw_only=True):
    started: int = 0
    ended: int = 0
    pid: int = 0
    code: int = 0
    cpu_s: float = 0.0
    error: str = ""


class Child:
    """A process that was asked for. `ended` is awaited for how it ended."""

    def __init__(self, children: "Children", number: int, finish: signal.Signals) -> None:
        self._children = children
        self._number = number
        self._finish = finish
        self.pid = 0
        self.ended: asyncio.Future[Exit] = asyncio.get_running_loop().create_future()

    def finish(self) -> None:
        """End in order, soon: what it ends with is its own."""
        self._children.signal(self._number, self._finish, group=False)

    def terminate(self) -> None:
        """Stop at once, to be gone on with later."""
        self._children.signal(self._number, signal.SIGTERM, group=False)

    def kill(self) -> None:
        self._children.signal(self._number, signal.SIGKILL, group=True)


class Children:
    """The fork server and what it started."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._running: dict[int, Child] = {}
        self._count = 0
        self._reading = asyncio.create_task(self._read())

    def start(
        self,
        argv: Sequence[str],
        *,
        stdin: str,
        stderr: Path,
        stdout: Path | None = None,
        finish: signal.Signals = signal.SIGINT,
    ) -> Child:
        """Start `python -m vera ARGV` with this text as standard input; what it says goes to a file, and what
        it prints to `stdout`. `finish` is the signal by which it is told to end in order.

        Raises BatchError when the fork server is gone.
        """
        self._count += 1
        child = Child(self, self._count, finish)
        out = {"stdout": str(stdout)} if stdout is not None else {}
        self._send({"start": self._count, "argv": list(argv), "stdin": stdin, "stderr": str(stderr), **out})
        self._running[self._count] = child
        return child

    def finish_all(self) -> None:
        """Tell everything that runs to end in order."""
        for child in self._running.values():
            child.finish()

    def signal(self, number: int, which: signal.Signals, *, group: bool) -> None:
        with contextlib.suppress(BatchError):
            self._send({"signal": int(which), "to": number, "group": group})

    async def close(self) -> None:
        """End whatever runs, and the fork server."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            async with asyncio.timeout(CLOSING_SECONDS):
                await self._process.wait()
        except TimeoutError:
            self._process.kill()
            await self._process.wait()
        await self._reading

    def _send(self, request: dict[str, object]) -> None:
        stdin = self._process.stdin
        is_gone = self._reading.done() or self._process.returncode is not None
        if stdin is None or stdin.is_closing() or is_gone:
            raise BatchError("The process that starts the attempts has ended. Run the same command again.")
        stdin.write(msgspec.json.encode(request) + b"\n")

    async def _read(self) -> None:
        stdout = self._process.stdout
        assert stdout is not None
        while line := await stdout.readline():
            reply = msgspec.json.decode(line, type=_Reply)
            if reply.started and (child := self._running.get(reply.started)):
                child.pid = reply.pid
            elif reply.ended and (child := self._running.pop(reply.ended, None)):
                child.ended.set_result(Exit(code=reply.code, cpu_s=reply.cpu_s, error=reply.error))
        for child in self._running.values():
            child.ended.set_result(Exit(code=-int(signal.SIGKILL), error="its fork server was killed"))
        self._running.clear()


@contextlib.asynccontextmanager
async def open_children(
    *, lock: int = -1, fork: bool, preload: Sequence[str] = ()
) -> AsyncIterator[Children]:
    """A fork server, which ends with everything that it started. `lock` is a descriptor that all of them
    hold; `fork` runs attempts in forks of a process that has imported `preload`, else each is a new
    interpreter."""
    how = "fork" if fork else "spawn"
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "vera.batch.fork_server", str(lock), how, MODULE, *preload),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        start_new_session=True,
        pass_fds=[lock] if lock >= 0 else [],
        limit=MAX_REPLY_BYTES,
    )
    children = Children(process)
    try:
        yield children
    finally:
        await children.close()
