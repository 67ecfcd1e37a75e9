"""What sessions of this batch found of their model servers, so that those that follow need not ask it all."""

import time
from collections.abc import Callable

import msgspec

from vera.batch.task import BatchTask
from vera.batch.task_settings import FOUND_BY_ITSELF, MODEL_FILE
from vera.config.settings import BUILT_IN
from vera.model.connect import assumption
from vera.state import RunState

ASSUMED_SECONDS = 300.0
"""How long it is taken for granted; then a session asks the server again."""
MAX_PROBES = 256
"""Groups of tasks, by their settings, of which it is kept."""


class Assumptions:
    """What was found, by the settings of a task: two that set the same ask the same model the same way.

    `clock` is that of the logs, in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._found: dict[bytes, tuple[float, str]] = {}

    def of(self, task: BatchTask) -> str:
        """The value of `model.assumed` for a session of this task; '' where nothing is known."""
        when, found = self._found.get(_group(task), (0.0, ""))
        return found if self._clock() - when < ASSUMED_SECONDS else ""

    def learn(self, task: BatchTask, state: RunState) -> None:
        """Take what the log of a session says of its server, if that session asked the server itself."""
        server, begun = state.model_server, state.session
        if server is None or begun is None or begun.settings.get("model", {}).get("assumed"):
            return
        if task.endpoint in (BUILT_IN, MODEL_FILE, FOUND_BY_ITSELF):
            return
        group = _group(task)
        if group not in self._found and len(self._found) >= MAX_PROBES:
            return
        when, _ = self._found.get(group, (0.0, ""))
        if server.ts > when:
            self._found[group] = (server.ts, assumption(server.kind, server.protocol))

    def forget(self, task: BatchTask) -> None:
        """A session of this task came to no result: what was known up to now may have become wrong."""
        if (group := _group(task)) in self._found:
            self._found[group] = (self._clock(), "")


def _group(task: BatchTask) -> bytes:
    return msgspec.json.encode((task.endpoint, task.settings), order="sorted")
