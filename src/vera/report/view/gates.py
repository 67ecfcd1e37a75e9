"""The gates that fired: how often each, with which effect, and what it said last."""

import msgspec

from vera import events
from vera.report.view.model import GateView
from vera.report.view.words import one_line


class _Fired(msgspec.Struct):
    refused: int = 0
    nudged: int = 0
    ended: int = 0
    step: int = 0
    lane: str = "main"
    said: str = ""


class Gates:
    """`add` takes the records of gates in order; `views` gives one for each gate, by its name in the log."""

    def __init__(self) -> None:
        self._fired: dict[str, _Fired] = {}

    def add(self, record: events.Policy | events.PolicyNotesGuard) -> None:
        fired = self._fired.setdefault(events.gate_name(record), _Fired())
        fired.step, fired.lane = record.step, one_line(record.lane, 60)
        if isinstance(record, events.PolicyNotesGuard):
            effect, fired.said = "nudge", record.detail[:1000]
        else:
            effect, fired.said = record.effect, f"{record.reason[:500]} {record.way_forward[:500]}"
        fired.refused += effect == "refuse"
        fired.nudged += effect == "nudge"
        fired.ended += effect == "end"

    def views(self) -> tuple[GateView, ...]:
        """The gate that spoke last comes first."""
        newest = sorted(self._fired.items(), key=lambda pair: -pair[1].step)
        return tuple(
            GateView(
                name=name,
                refused=fired.refused,
                nudged=fired.nudged,
                ended=fired.ended,
                last_step=fired.step,
                lane=fired.lane,
                last_said=one_line(fired.said),
            )
            for name, fired in newest
        )
