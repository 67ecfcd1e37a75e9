"""What the engine does to one box, in its own words, from the box's start to its end."""

import asyncio
import contextlib
from collections.abc import Callable, Mapping

import msgspec

from vera.decode_errors import DECODE_ERRORS

MAX_EVENTS = 1000
MAX_LINE = 64 << 10
# How long after the box's end the engine may take to say so.
LAST_SECONDS = 2.0
LAST_EVENT = "destroy"
SHOWN = ("exitCode", "signal", "execDuration")

Tell = Callable[[str, str], object]
"""Takes an event's name and its details, '' for none."""


class _Actor(msgspec.Struct):
    attributes: dict[str, str] = msgspec.field(name="Attributes", default_factory=dict)


class _Event(msgspec.Struct):
    action: str = msgspec.field(name="Action")
    actor: _Actor = msgspec.field(name="Actor", default_factory=_Actor)


class EngineEvents:
    """Runs `argv`, which prints events of one box (docker's form) as JSON lines, and tells each of them."""

    def __init__(self, argv: tuple[str, ...], env: Mapping[str, str], tell: Tell) -> None:
        self._argv, self._env, self._tell = argv, env, tell
        self._process: asyncio.subprocess.Process | None = None
        self._reader: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Follow from now on. A program that cannot be run tells nothing: the box does not depend on it."""
        with contextlib.suppress(OSError):
            self._process = await asyncio.create_subprocess_exec(
                *self._argv,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                env=dict(self._env),
                start_new_session=True,
                limit=MAX_LINE,
            )
            self._reader = asyncio.create_task(self._read(self._process))

    async def stop(self) -> None:
        """Wait a moment for the engine's last word on a box that has ended, then end the program."""
        if self._process is None or self._reader is None:
            return
        await asyncio.wait([self._reader], timeout=LAST_SECONDS)
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        self._reader.cancel()
        await asyncio.gather(self._reader, return_exceptions=True)
        assert self._process.stdout is not None
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LAST_SECONDS):
                # wait() returns at the end of the pipe, and a full pipe that no one reads has none.
                while await self._process.stdout.read(MAX_LINE):
                    pass
                await self._process.wait()

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        for _ in range(MAX_EVENTS):
            try:
                line = await process.stdout.readline()
                event = msgspec.json.decode(line, type=_Event)
            except DECODE_ERRORS:
                return  # the end, a line without end, or no event
            attributes = event.actor.attributes
            shown = [f"{name}={attributes[name][:40]}" for name in SHOWN if name in attributes]
            self._tell(event.action[:80], " ".join(shown))
            if event.action == LAST_EVENT:
                return
