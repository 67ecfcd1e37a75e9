"""The tasks that wait for a slot: first come, first served among those whose endpoint has room."""

from collections import deque
from collections.abc import Callable
from itertools import count

from vera.batch.task import BatchTask


class Waiting:
    """Tasks in the order in which they came, endpoint by endpoint: a full one never holds up another."""

    def __init__(self) -> None:
        self._numbers = count()
        self._queues: dict[str, deque[tuple[int, BatchTask]]] = {}
        self._ids: set[str] = set()

    def __len__(self) -> int:
        return len(self._ids)

    def __contains__(self, task: str) -> bool:
        return task in self._ids

    def add(self, task: BatchTask) -> None:
        self._ids.add(task.id)
        self._queues.setdefault(task.endpoint, deque()).append((next(self._numbers), task))

    def take(self, has_room: Callable[[str], bool]) -> BatchTask | None:
        """The task that waited longest among the endpoints that have room; None when none has."""
        heads = [(queue[0][0], name) for name, queue in self._queues.items() if queue and has_room(name)]
        if not heads:
            return None
        _, task = self._queues[min(heads)[1]].popleft()
        self._ids.discard(task.id)
        return task
