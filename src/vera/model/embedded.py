"""llama.cpp's own server for one GGUF file, as a child process on loopback that ends with the run."""

import asyncio
import json
import os
import secrets
import sys
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Self

from vera.extras import install_command
from vera.model import memory
from vera.model.embedded_child import READY
from vera.model.failure import Failure
from vera.model.gguf import GgufModel, read_gguf
from vera.model.transport import Transport
from vera.model.types import ModelError

LOAD_S = 900.0
"""A file of 40 GB from a slow disk takes this long."""

STOP_S = 3.0
KEPT_LOG_LINES = 40
SECRET_SUFFIXES = ("_KEY", "_TOKEN", "_SECRET", "_PASSWORD")


class EmbeddedServer:
    """A model server that VERA runs itself: `async with EmbeddedServer(path) as server`, then
    `connect(server.base_url, key=server.key)`.

    `context_tokens` and `parallel` (requests at once, which share the context) are chosen from the file and
    the free memory unless given. `embedding`: it serves vectors in place of replies. `progress` is told in a
    sentence, about once a second, how loading goes.
    Starting raises ModelError: no such file, no GGUF, the extra is missing, not enough memory, llama.cpp
    refuses the model.
    """

    def __init__(
        self,
        path: Path,
        *,
        context_tokens: int | None = None,
        parallel: int = 1,
        embedding: bool = False,
        available_bytes: int | None = None,
        progress: Callable[[str], None] = lambda sentence: None,
    ) -> None:
        self.path = path.expanduser().resolve()
        self.key = secrets.token_urlsafe(24)
        self.base_url = ""
        self.context_tokens = 0
        self._wanted_context = context_tokens
        self._parallel = parallel
        self._embedding = embedding
        self._available = available_bytes
        self._progress = progress
        self._child: asyncio.subprocess.Process | None = None
        self._log: deque[str] = deque(maxlen=KEPT_LOG_LINES)
        self._log_reader: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int | None:
        """The child's process id while it runs."""
        return self._child.pid if self._child and self._child.returncode is None else None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def start(self) -> None:
        """Load the model and wait until it answers."""
        model = await asyncio.to_thread(read_gguf, self.path)
        if find_spec("xllamacpp") is None:
            raise ModelError(
                "Serving a model file needs the extra 'local', which is not installed. "
                f"Type: {install_command('local')}"
            )
        settings = self._settings(model)
        self._child = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "vera.model.embedded_child",
            str(self.path),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=_environment(),
        )
        stdin, stdout, stderr = self._child.stdin, self._child.stdout, self._child.stderr
        assert stdin and stdout and stderr  # all three are pipes
        self._log_reader = asyncio.create_task(_keep_log(stderr, self._log))
        try:
            stdin.write(json.dumps(settings).encode() + b"\n")
            address = await self._ready(stdout, model)
            await self._healthy(address)
        except BaseException:
            await self.stop()
            raise
        self.base_url = f"{address}/v1"

    async def stop(self) -> None:
        """End the child; nothing happens if it has ended."""
        child, self._child = self._child, None
        if child is None:
            return
        if child.stdin:
            child.stdin.close()
        try:
            async with asyncio.timeout(STOP_S):
                await child.wait()
        except TimeoutError:
            with suppress(ProcessLookupError):
                child.kill()
            await child.wait()
        if self._log_reader is not None:
            await self._log_reader

    def _settings(self, model: GgufModel) -> dict[str, object]:
        available = self._available or memory.available_memory()
        self.context_tokens = memory.fitting_context(model, available, self._wanted_context)
        return {
            "context_tokens": self.context_tokens,
            "parallel": self._parallel,
            "embedding": self._embedding,
            "threads": threads(),
            "prompt_cache_mib": memory.spare_mib(model, available, self.context_tokens),
            "key": self.key,
        }

    async def _ready(self, stdout: asyncio.StreamReader, model: GgufModel) -> str:
        """The address in the child's ready line. Raises ModelError if it ends without one."""
        size = f"{model.bytes / 1e9:.1f} GB, context {self.context_tokens} tokens"
        reading = asyncio.ensure_future(_ready_line(stdout))
        try:
            for second in range(int(LOAD_S)):
                self._progress(f"Loading {self.path.name} ({size}): {second} s")
                done, _ = await asyncio.wait([reading], timeout=1.0)
                if not done:
                    continue
                if line := reading.result():
                    return str(json.loads(line.removeprefix(READY.encode()))["address"])
                raise await self._failed()
            raise ModelError(f"{self.path.name} was not loaded within {LOAD_S:.0f} s; stopped waiting.")
        finally:
            reading.cancel()

    async def _failed(self) -> ModelError:
        if self._log_reader is not None:
            await self._log_reader
        # llama.cpp writes "0.00.003.788 E llama_model_load: error loading model: …": the first E says why.
        errors = [line.partition(" E ")[2] for line in self._log if " E " in line]
        why = (errors or list(self._log) or ["it said nothing"])[0].strip()[:300]
        return ModelError(
            f"llama.cpp could not load {self.path}: {why}. If the file is newer than the installed "
            f"llama.cpp, type: {install_command('local')} --upgrade"
        )

    async def _healthy(self, address: str) -> None:
        transport = Transport(address)
        try:
            for _ in range(100):
                with suppress(Failure):
                    status, _answer = await transport.ask(f"{address}/health", seconds=5.0)
                    if status == 200:
                        return
                await asyncio.sleep(0.1)
        finally:
            await transport.close()
        raise ModelError(f"llama.cpp loaded {self.path.name} but does not answer.")


def threads() -> int:
    """How many threads compute: half of the processors that this process may use.

    That is one for each core where cores run two threads. They wait for each other after every layer, so one
    that is not running stops them all: two threads on two cores that had other work gave 0.1 to 1.7 tokens a
    second, one thread 7 to 24. For the same reason they do not wait in a busy loop (`poll` 0). A token took
    28 ms of CPU so and 690 ms with llama.cpp's own choice (SmolLM2-135M, two cores at a load of 19).
    """
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, usable // 2)


async def _keep_log(stderr: asyncio.StreamReader, log: deque[str]) -> None:
    """Read what llama.cpp writes, so that its pipe never fills, and keep the end of it."""
    rest = b""
    while chunk := await stderr.read(4096):
        *lines, rest = (rest + chunk).split(b"\n")
        rest = rest[-4096:]
        log.extend(line.decode("utf-8", "replace")[:500] for line in lines)


async def _ready_line(stdout: asyncio.StreamReader) -> bytes:
    """The first line that is the ready line, b'' at the end of output."""
    while True:
        try:
            line = await stdout.readline()
        except ValueError:  # a line longer than the reader's limit: certainly not ours
            continue
        if not line or line.startswith(READY.encode()):
            return line


def _environment() -> dict[str, str]:
    """The child's environment: ours without secrets, and with the package importable as it is here."""
    environment = {k: v for k, v in os.environ.items() if not k.upper().endswith(SECRET_SUFFIXES)}
    here = str(Path(__file__).parents[2])
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, (here, os.environ.get("PYTHONPATH"))))
    return environment
