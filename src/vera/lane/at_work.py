"""The lane for which commands in a sandbox reach the web.

The way out of a sandbox is open before there is a lane, and in a report one lane follows another in the same
sandbox. So whoever judges connections and keeps pages asks here which lane is at work.
"""

from collections.abc import Callable

from vera.lane.policy import GateRunner
from vera.lane.tools import EvidenceDraft

Record = Callable[[EvidenceDraft, str], str]
"""Keeps a page as evidence of a tool; its id."""


class AtWork:
    """The lane that works now: none before the first one has begun."""

    def __init__(self) -> None:
        self.record: Record | None = None
        self._gates: GateRunner | None = None

    def begin(self, record: Record, gates: GateRunner | None = None) -> None:
        """From now on pages are kept by `record`, and connections are asked of `gates` (None: of no gate)."""
        self.record, self._gates = record, gates

    def refuses_page(self, url: str) -> str:
        """Why a command may not fetch a page now; '' when it may."""
        return self._gates.connect(url) if self._gates is not None else ""

    def refuses_connection(self, host: str, url: str) -> str:
        """Why a program may not connect to a host now; '' when it may."""
        return self._gates.connection(host, url) if self._gates is not None else ""
