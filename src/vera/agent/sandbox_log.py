"""What the session folder keeps of its boxes: `container.log` and `container_events.log`."""

import json
import time

from vera import events
from vera.session import Session
from vera.store import open_private


class BoxRecord:
    """`write` takes what a box wrote, `tell` what happened to it; each happening is a `container_event` too.

    After the run's end the session's log is sealed: how its last box ended is in the file alone.
    """

    def __init__(self, session: Session, lane: str = "main") -> None:
        self._session = session
        self._lane = lane
        self._output = open_private(session.root / "container.log", "ab")
        self._events = open_private(session.root / "container_events.log", "ab")

    def write(self, data: bytes) -> None:
        self._output.write(data)

    def tell(self, event: str, detail: str) -> None:
        line = {"time": round(time.time(), 3), "event": event, **({"detail": detail} if detail else {})}
        self._events.write(json.dumps(line, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
        if self._session.state.ended is None:
            self._session.emit(events.ContainerEvent(event=event, detail=detail), lane=self._lane)

    def close(self) -> None:
        self._output.close()
        self._events.close()
