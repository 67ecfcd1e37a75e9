"""A box that cannot write to /work until it may: the mount decides, not the text of a command.

When that changes, the box is ended with everything in it and one of the other kind takes its place: what was
running under the old rights does not live on under the new ones.
"""

from collections.abc import Awaitable, Callable

from vera.agent.errors import SetupError
from vera.sandbox.box import SupervisedBox
from vera.sandbox.types import BoxError, CommandResult

Open = Callable[[bool], Awaitable[SupervisedBox | None]]
"""Starts a box that may write to /work, or may not; None where none can be had. Raises SetupError."""


class GuardedBox:
    """A started `Box`; before each command `may_change` says whether it may write to /work."""

    def __init__(self, box: SupervisedBox, writes: bool, open_: Open, may_change: Callable[[], bool]) -> None:
        self._box = box
        self._writes = writes
        self._open = open_
        self._may_change = may_change

    @property
    def backend(self) -> str:
        return self._box.backend

    @property
    def isolation(self) -> str:
        return self._box.isolation

    async def start(self) -> None:
        """It was started before it was guarded."""

    async def run(self, command: str, *, timeout: float) -> CommandResult:
        """Run one command under the rights of now. Raises BoxError."""
        may_write = self._may_change()
        if may_write != self._writes:
            await self._box.close()
            self._box = await self._opened(may_write)
            self._writes = may_write
        return await self._box.run(command, timeout=timeout)

    async def close(self) -> None:
        await self._box.close()

    async def _opened(self, may_write: bool) -> SupervisedBox:
        try:
            box = await self._open(may_write)
        except SetupError as error:
            raise BoxError(str(error)) from None
        if box is None:
            raise BoxError("The sandbox cannot be started again.")
        return box
