"""What the log of an attempt's session says: how far it is, what it spent, whether its result stands."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from vera import events
from vera.agent import spending
from vera.batch.records import Manifest
from vera.batch.task import BatchTask
from vera.session import LogError, Reader
from vera.session import seal as seals
from vera.session.session import RESUMABLE, TRACE
from vera.state import RunState

RESULTS = frozenset({0, 3, 4, 6})
"""Exit codes of runs that came to a result, a partial one included."""

How = Literal["finished", "resumable", "neither"]


class Watch:
    """Reads the log of a session as it grows. What is wrong with it ends the reading, not the batch."""

    def __init__(self, session: Path) -> None:
        self.session = session
        self._reader = Reader(session / TRACE)
        self.state = RunState()
        self.step = 0
        self.pushed_back = 0
        self.broken = ""

    def look(self) -> None:
        """Fold what was written since the last look; `pushed_back` counts model calls that were repeated."""
        if self.broken:
            return
        try:
            for _, record in self._reader.poll():
                self.state.apply(record)
                if isinstance(record, events.Model):
                    self.step = max(self.step, record.step)
                    self.pushed_back += record.attempts > 1
        except FileNotFoundError:
            return
        except (LogError, OSError) as error:
            self.broken = str(error)

    @property
    def head(self) -> tuple[int, str]:
        """Number and hash of the last record."""
        return self._reader.seq, self._reader.head

    @property
    def spent(self) -> Mapping[str, Any]:
        return spending.spent(self.state)


def how_it_stands(watch: Watch) -> How:
    """Whether a session has a result, or can be gone on with. That of a thesis is begun again."""
    state = watch.state
    if watch.broken or state.session is None:
        return "neither"
    if state.ended is not None and seals.reaches(watch.session, state.ended.seq):
        if state.ended.exit_code in RESULTS:
            return "finished"
        if state.ended.exit_code not in RESUMABLE:
            return "neither"
    return "resumable" if _has_begun(state) and state.requested is None else "neither"


def _has_begun(state: RunState) -> bool:
    """Whether a lane of the session has started on its task."""
    return state.task is not None and any(lane.started for lane in state.lanes.values())


def manifest_of(
    watch: Watch, task: BatchTask, attempt: int, session: int, began_ts: float
) -> Manifest | None:
    """The manifest of a session that has a result, None of one that has none. A session that is older than
    the attempt that made it (`began_ts`) was copied from elsewhere: its verdict is used again."""
    ended = watch.state.ended
    if watch.broken or ended is None or ended.exit_code not in RESULTS:
        return None
    reused = bool(began_ts) and watch.state.started_ts < began_ts
    chosen = watch.state.rounds.get(watch.state.chosen.round) if watch.state.chosen else None
    decision = chosen.decision if chosen else None
    return Manifest(
        task=task.id,
        attempt=attempt,
        session=session,
        status=watch.state.status,
        reason=ended.reason,
        exit_code=ended.exit_code,
        attestation=decision.attestation if decision else "",
        log=watch.head,
        steps=ended.steps,
        spent={} if reused else watch.spent,
        reused=reused,
    )
