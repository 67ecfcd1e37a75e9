"""The host side of a box: one supervisor process, spoken to in frames, whichever backend started it."""

import asyncio
import contextlib
import itertools
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vera.sandbox import frames, transcript
from vera.sandbox.egress.tunnel import Serve, Tunnel
from vera.sandbox.engine_events import EngineEvents, Tell
from vera.sandbox.environment import PROXY_PORT
from vera.sandbox.spec import Launch, Quota
from vera.sandbox.types import BoxError, CommandResult

# Runs in the box before anything else: takes the supervisor's source from stdin, so that no file of ours
# has to be mounted, shared or relabelled, and source and host side are always of one version.
BOOT = """\
import os
def take(n):
    data = b""
    while len(data) < n:
        more = os.read(0, n - len(data))
        if not more:
            raise SystemExit(1)
        data += more
    return data
exec(compile(take(int.from_bytes(take(4), "big")), "boxd.py", "exec"), {"__name__": "__main__"})
"""
SUPERVISOR = Path(__file__).with_name("boxd.py")
FETCH_COMMAND = Path(__file__).parent / "fetch" / "command.py"

MAX_COMMAND = 1 << 20
STDERR_KEPT = 8192
STDERR_LOGGED = 1 << 20
MAX_UNREAD = 96 << 20
# After a deadline: five seconds for each way of killing, and a loaded machine.
ANSWER_SLACK = 30.0
CLOSE_SECONDS = 5.0


def supervisor_command(
    python: str, run_dir: str, work: str, quota: Quota, owner: str = ""
) -> tuple[str, ...]:
    """The argv that a backend runs inside; `run_dir` must be private to the supervisor. With `owner`
    (uid:gid) a supervisor that is root gives that user what was made in the work folder."""
    return (python, "-I", "-S", "-c", BOOT, run_dir, work, owner, f"{quota.bytes}:{quota.files}")


@dataclass(frozen=True, kw_only=True)
class BoxLimits:
    """Bounds of one command: bytes kept at both ends of its output, in its spool file, and at all; seconds
    between the polite and the final signal."""

    head: int = 8192
    tail: int = 8192
    spool: int = 64 << 20
    output: int = 4 << 30
    grace: float = 1.0


class SupervisedBox:
    """A `Box` (see `types`) over any launch. `log` gets each command's bounded output and the supervisor's
    own words, as `container.log` keeps them; `tell` what happens to the box: started, restored or fresh (its
    shell), died, killed, closed, and between them the engine's own events.

    With `egress` (an `EgressProxy`'s `serve`) programs in the box find a proxy on their own loopback, at
    `proxy_port` (0 for any: then it is known after the start); without, they have no way out.
    """

    def __init__(
        self,
        launch: Launch,
        *,
        limits: BoxLimits | None = None,
        log: Callable[[bytes], object] | None = None,
        start_timeout: float = 60.0,
        egress: Serve | None = None,
        proxy_port: int = PROXY_PORT,
        tell: Tell | None = None,
    ) -> None:
        self.launch = launch
        self._limits = limits or BoxLimits()
        self._log = log or (lambda data: None)
        self._start_timeout = start_timeout
        self._tell = tell or (lambda event, detail: None)
        self._following = EngineEvents(launch.events, launch.env, tell) if launch.events and tell else None
        self.proxy_port = proxy_port
        self._tunnel = Tunnel(egress, self._send) if egress else None
        self._listening: asyncio.Future[int] | None = None
        self._lock = asyncio.Lock()
        self._numbers = itertools.count(1)
        # Names of spool files stay apart when a run is resumed in the same folder.
        self._tag = secrets.token_hex(2)
        self._process: asyncio.subprocess.Process | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._stderr = b""
        self._ready: asyncio.Future[frames.Frame] | None = None
        self._answers: dict[str, asyncio.Future[CommandResult]] = {}
        self._ended = False

    @property
    def backend(self) -> str:
        return self.launch.backend

    @property
    def isolation(self) -> str:
        return self.launch.isolation

    @property
    def work(self) -> str:
        """The work folder as commands see it; /work except on the host backend."""
        return self.launch.work

    @property
    def input(self) -> str:
        """The input folder as commands see it; /input except on the host backend."""
        return self.launch.input

    async def start(self) -> None:
        """Start the supervisor and its shell. Raises BoxError."""
        if self._process is not None:
            raise BoxError("This sandbox was started before; each one starts once.")
        try:
            self._process = await asyncio.create_subprocess_exec(
                *self.launch.argv,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=dict(self.launch.env),
                start_new_session=True,
            )
        except OSError as error:
            raise BoxError(
                f"The {self.backend} sandbox cannot start: {self.launch.argv[0]} does not run ({error}).",
                hint="vera doctor",
            ) from error
        self._ready = asyncio.get_running_loop().create_future()
        self._tasks = [
            asyncio.create_task(self._pump_frames(self._process)),
            asyncio.create_task(self._pump_stderr(self._process)),
        ]
        source = SUPERVISOR.read_bytes()
        self._write(len(source).to_bytes(4, "big") + source)
        try:
            async with asyncio.timeout(self._start_timeout):
                ready = await asyncio.shield(self._ready)
                await self._listen()
        except TimeoutError:
            await self.close()
            raise BoxError(
                f"The {self.backend} sandbox did not start within {self._start_timeout:g} s"
                f"{self._last_words()}.",
                hint="vera doctor",
            ) from None
        except BaseException:
            await self.close()
            raise
        self._log(
            f"[sandbox {self._tag}: {self.backend}, supervisor pid {ready.pid}, "
            f"python {ready.python}, bash {ready.bash}]\n".encode()
        )
        self._tell("started", f"{self.backend}, sandbox {self._tag}")
        if self._following is not None:
            await self._following.start()

    async def _listen(self) -> None:
        """Have the supervisor listen for the tunnel. Raises BoxError."""
        if self._tunnel is None:
            return
        self._listening = asyncio.get_running_loop().create_future()
        self._send({"op": "net", "do": "listen", "k": self.proxy_port}, FETCH_COMMAND.read_bytes())
        self.proxy_port = await self._listening

    async def run(self, command: str, *, timeout: float) -> CommandResult:
        """Run one command; others wait for their turn. Raises BoxError when there is no result available.

        A cancelled call ends the command before it raises: the shell is rolled back and the box serves on.
        """
        text = command.encode("utf-8", "surrogateescape")
        if len(text) > MAX_COMMAND:
            raise BoxError(
                f"The command has {len(text)} bytes and at most {MAX_COMMAND} can be run; "
                f"write the text to a file in {self.work} in parts and run that."
            )
        async with self._lock:
            return await self._run(text, timeout)

    async def _run(self, text: bytes, timeout: float) -> CommandResult:
        if self._process is None:
            raise BoxError(f"The {self.backend} sandbox was not started.")
        if self._ended:
            raise self._gone()
        name = f"{self._tag}-{next(self._numbers):04d}"
        limits = self._limits
        answer: asyncio.Future[CommandResult] = asyncio.get_running_loop().create_future()
        self._answers[name] = answer
        header: dict[str, Any] = {
            "op": "run",
            "id": name,
            "timeout": timeout,
            "grace": limits.grace,
            "head": limits.head,
            "tail": limits.tail,
            "spool": limits.spool,
            "limit": limits.output,
        }
        self._send(header, text)
        try:
            async with asyncio.timeout(timeout + limits.grace + ANSWER_SLACK):
                return await asyncio.shield(answer)
        except TimeoutError:
            self._tell("killed", "the supervisor stopped answering")
            await self._kill()
            raise BoxError(
                f"The {self.backend} sandbox stopped answering; it was ended and its shell state is lost."
            ) from None
        except asyncio.CancelledError:
            await self._cancel(name, answer)
            raise
        finally:
            del self._answers[name]
            if answer.done() and answer.exception() is None:
                result = answer.result()
                self._log(transcript.of_command(text, result))
                if result.shell != "kept":
                    self._tell(result.shell, f"the shell, after command {name} ({result.reason})")

    async def _cancel(self, name: str, answer: "asyncio.Future[CommandResult]") -> None:
        """Have the supervisor end the command. Cancelled once more, or unanswered, the box is ended."""
        self._send({"op": "cancel", "id": name})
        done: set[Any] = set()
        try:
            done, _ = await asyncio.wait({answer}, timeout=self._limits.grace + ANSWER_SLACK)
        finally:
            if not done:
                await self._kill()

    async def close(self) -> None:
        """End the box with every process in it. Never raises for a box that is gone already."""
        process, died = self._process, self._ended
        self._ended = True
        if self._is_ready and not died:
            self._tell("closed", "")
        if self._tunnel is not None:
            await self._tunnel.close()
        if process is None:
            return
        assert process.stdin is not None
        process.stdin.close()
        # The pumps go on reading: a program that is blocked on a full pipe would never see its stdin end.
        _, unfinished = await asyncio.wait(
            [asyncio.ensure_future(process.wait()), *self._tasks], timeout=CLOSE_SECONDS
        )
        if unfinished or died:
            await self._kill()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._following is not None:
            await self._following.stop()

    async def _kill(self) -> None:
        process, self._ended = self._process, True
        assert process is not None
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await asyncio.to_thread(self.launch.remove)
        await process.wait()

    def _send(self, header: dict[str, Any], payload: bytes = b"") -> None:
        self._write(frames.encode(header, payload))

    def _write(self, data: bytes) -> None:
        # Bounded without drain(): one command of at most MAX_COMMAND is under way at a time, and of each
        # connection one window. A supervisor that is not ours may ask for answers and never read them.
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(data)
        if self._process.stdin.transport.get_write_buffer_size() > MAX_UNREAD:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()

    async def _pump_frames(self, process: asyncio.subprocess.Process) -> None:
        """Read everything the supervisor says until it ends; then no one waits for an answer any more."""
        assert process.stdout is not None
        assert self._ready is not None
        try:
            while True:
                frame, payload = await frames.read(process.stdout)
                self._on_frame(frame, payload)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        except frames.BadFrame as error:
            self._log(f"[sandbox {self._tag}: the supervisor sent {error}]\n".encode())
            with contextlib.suppress(ProcessLookupError):
                process.kill()
        was_ended, self._ended = self._ended, True
        if self._tunnel is not None:
            self._tunnel.stop()
        # stderr may still hold the reason.
        await asyncio.wait([self._tasks[1]], timeout=1.0)
        if self._is_ready and not was_ended:
            self._tell("died", self._last_words().removeprefix("; it said: "))
        self._end_waiting(self._ready)
        with contextlib.suppress(ConnectionError):
            while await process.stdout.read(65536):
                continue  # a pipe that is not read to its end stays open

    def _end_waiting(self, ready: asyncio.Future[frames.Frame]) -> None:
        """Tell all who wait for an answer that none comes."""
        if not ready.done():
            ready.set_exception(self._gone())
            ready.exception()  # retrieved: after a start that ran out of time no one asks for it
        if self._listening is not None and not self._listening.done():
            self._listening.set_exception(self._gone())
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(self._gone())

    def _on_frame(self, frame: frames.Frame, payload: bytes) -> None:
        assert self._ready is not None
        if frame.ev == "ready" and not self._ready.done():
            self._ready.set_result(frame)
            return
        if frame.ev == "net":
            self._on_net(frame, payload)
            return
        answer = self._answers.get(frame.id)
        if answer is None or answer.done():
            return
        if frame.ev == "done":
            answer.set_result(
                CommandResult(
                    exit_code=frame.code,
                    head=payload[: frame.head],
                    tail=payload[frame.head :],
                    size=frame.size,
                    sha256=frame.sha256,
                    spool=frame.spool,
                    reason=frame.reason,
                    shell=frame.shell,
                    cwd=frame.cwd,
                    seconds=frame.seconds,
                    room=self._room(frame),
                )
            )
        elif frame.ev == "error":
            answer.set_exception(BoxError(f"The {self.backend} sandbox refused a command: {frame.error}."))

    def _room(self, frame: frames.Frame) -> str:
        if not (frame.held_bytes or frame.held_files):
            return ""
        may = self.launch.quota
        return (
            f"{self.work} holds {frame.held_bytes} bytes in {frame.held_files} files and may hold "
            f"{may.bytes} in {may.files}: delete some; a command that makes it larger is stopped"
        )

    def _on_net(self, frame: frames.Frame, payload: bytes) -> None:
        waiting = self._listening if self._listening and not self._listening.done() else None
        if frame.do == "listening" and waiting:
            waiting.set_result(frame.k)
        elif frame.do == "failed" and waiting:
            where = f"port {self.proxy_port} of its loopback"
            waiting.set_exception(
                BoxError(f"The {self.backend} sandbox has no way out by {where}: {frame.error[:200]}.")
            )
        elif self._tunnel is not None:
            self._tunnel.on_frame(frame.c, frame.do, frame.k, payload)

    async def _pump_stderr(self, process: asyncio.subprocess.Process) -> None:
        assert process.stderr is not None
        logged = 0
        while data := await process.stderr.read(65536):
            self._stderr = (self._stderr + data)[-STDERR_KEPT:]
            if logged < STDERR_LOGGED:
                logged += len(data)
                self._log(data)

    @property
    def _is_ready(self) -> bool:
        return self._ready is not None and self._ready.done() and self._ready.exception() is None

    def _gone(self) -> BoxError:
        if self._ready is None or not self._ready.done():
            sentence = f"The {self.backend} sandbox did not start{self._last_words()}."
            message, hint = self.launch.explain(self._said()) or (sentence, "vera doctor")
            return BoxError(message, hint=hint)
        return BoxError(f"The {self.backend} sandbox has ended{self._last_words()}.")

    def _last_words(self) -> str:
        words = self._said().strip().splitlines()[-4:]
        return f"; it said: {' / '.join(words)[-1000:].rstrip('.')}" if words else ""

    def _said(self) -> str:
        return self._stderr.decode("utf-8", "replace")
