"""`shell` in a box that is started when the first command is asked for."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from vera.lane.at_work import AtWork
from vera.lane.tools import Call, EvidenceDraft, Outcome, Tool, failed
from vera.lane.tools.shell import SPEC
from vera.sandbox.types import BoxError
from vera.sanitize import one_line


class LazyShell:
    """The tool over a box that may never be needed.

    `start` gives a started shell, and whoever passed it in ends that. A box that cannot be started is tried
    once: every call then says why. `at_work` is whom the box's own `fetch` asks, None without one.
    """

    spec = SPEC

    def __init__(self, start: Callable[[], Awaitable[Tool]], at_work: AtWork | None = None) -> None:
        self._start = start
        self._at_work = at_work
        self._shell: Tool | None = None
        self._problem = ""

    def keep_pages(self, record: Callable[[EvidenceDraft, str], str]) -> None:
        """Pages that commands fetch become evidence through `record`."""
        if self._at_work is not None:
            self._at_work.begin(record)

    async def run(self, args: Mapping[str, Any], call: Call) -> Outcome:
        if self._shell is None and not self._problem:
            try:
                self._shell = await self._start()
            except BoxError as error:
                self._problem = str(error)
        if self._shell is None:
            return failed(f"shell {one_line(args['cmd'], 80)}", "sandbox", self._problem)
        return await self._shell.run(args, call)
