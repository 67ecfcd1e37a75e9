"""The time of a verification: what is under way when it ends is cut off, and what is known is concluded."""

import asyncio
import math
import time
from collections.abc import Callable, Mapping
from typing import Any

from vera.lane.tools import Call, Outcome, Tool, failed
from vera.model.types import Completion, Model, ModelError, ModelInfo, Request
from vera.protocol.turn import ToolSpec


class Deadline:
    """A moment `seconds` from now; 0: no deadline. `used` of them are over already."""

    def __init__(
        self, seconds: float, clock: Callable[[], float] = time.monotonic, used: float = 0.0
    ) -> None:
        self._seconds = seconds
        self._clock = clock
        self._end = clock() + seconds - used if seconds else math.inf

    @property
    def is_over(self) -> bool:
        return self.left <= 0

    @property
    def left(self) -> float:
        """Seconds until then, not below 0; infinite without a limit."""
        return max(0.0, self._end - self._clock())

    @property
    def sentence(self) -> str:
        """What to say once it is over, as half a sentence."""
        return f"the time budget of {self._seconds:g} seconds is spent"

    def timeout(self) -> asyncio.Timeout:
        return asyncio.timeout(None if math.isinf(self.left) else self.left)


class TimedTool:
    """A tool whose calls fail when the time is over."""

    def __init__(self, tool: Tool, deadline: Deadline) -> None:
        self._tool = tool
        self._deadline = deadline

    @property
    def spec(self) -> ToolSpec:
        return self._tool.spec

    async def run(self, args: Mapping[str, Any], call: Call) -> Outcome:
        try:
            async with self._deadline.timeout():
                return await self._tool.run(args, call)
        except TimeoutError:
            return failed(self.spec.name, "out_of_time", f"cut off: {self._deadline.sentence}.")


class TimedModel:
    """A model whose calls fail when the time is over."""

    def __init__(self, model: Model, deadline: Deadline) -> None:
        self._model = model
        self._deadline = deadline

    @property
    def info(self) -> ModelInfo:
        return self._model.info

    async def complete(self, request: Request) -> Completion:
        """As Model.complete. Raises ModelError when the time is over."""
        try:
            async with self._deadline.timeout():
                return await self._model.complete(request)
        except TimeoutError:
            raise ModelError(self._deadline.sentence, transient=True) from None

    async def close(self) -> None:
        await self._model.close()
