"""How many requests run at once: a first-come, first-served limit with weights."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress


class Slots:
    """`size` places; a request for several candidates holds several of them."""

    def __init__(self, size: int) -> None:
        self._size = max(1, size)
        self._free = self._size
        self._queue: deque[tuple[int, asyncio.Future[None]]] = deque()

    @asynccontextmanager
    async def hold(self, weight: int = 1) -> AsyncIterator[None]:
        """Wait for `weight` places (at most all there are), and give them back at the end."""
        weight = max(1, min(weight, self._size))
        await self._acquire(weight)
        try:
            yield
        finally:
            self._release(weight)

    async def _acquire(self, weight: int) -> None:
        if not self._queue and self._free >= weight:
            self._free -= weight
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        entry = (weight, turn)
        self._queue.append(entry)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._release(weight)
            else:
                with suppress(ValueError):
                    self._queue.remove(entry)
                self._wake()
            raise

    def _release(self, weight: int) -> None:
        self._free += weight
        self._wake()

    def _wake(self) -> None:
        while self._queue:
            weight, turn = self._queue[0]
            if not turn.done() and self._free < weight:
                return
            self._queue.popleft()
            if not turn.done():
                self._free -= weight
                turn.set_result(None)
