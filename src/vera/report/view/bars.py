"""The bars of a timeline, as many as a picture can show, however long the run is.

While there are few each is drawn as it was. Beyond MAX_BARS, bars of a row that begin in the same stretch of
time become one; the stretch doubles when there are too many again, so that all of the run has one resolution.
A bar costs constant time (amortised) and the memory is that of MAX_BARS.
"""

from collections.abc import Iterator

import msgspec

from vera.report.view.model import Bar
from vera.report.view.words import counted

MAX_BARS = 560
"""With those of what is under way there are at most 600."""

LATEST = 253_402_300_799.0
"""The last second of the year 9999: a log may come from anyone."""

_NAMES = {"model": "model call", "tool": "tool call", "verify": "round", "gate": "gate"}


class _Joined(msgspec.Struct):
    """Bars that are drawn as one."""

    row: str
    start: float
    end: float
    label: str
    offset: int
    failed: int
    count: int
    step: int
    lane: str
    bar: Bar | None = None
    """As it is drawn, until another is taken."""

    def take(self, other: "_Joined") -> None:
        if other.offset < self.offset:
            self.offset, self.step, self.lane = other.offset, other.step, other.lane
        self.start, self.end = min(self.start, other.start), max(self.end, other.end)
        self.failed += other.failed
        self.count += other.count
        self.bar = None

    def shown(self) -> Bar:
        if self.bar is None:
            self.bar = self._drawn()
        return self.bar

    def _drawn(self) -> Bar:
        label = self.label
        if self.count > 1:
            label = counted(self.count, _NAMES.get(self.row, "event"))
            label += f", {self.failed} failed" if self.failed else ""
        return Bar(
            row=self.row,
            start=self.start,
            end=self.end,
            label=label,
            failed=bool(self.failed),
            count=self.count,
            offset=self.offset,
            step=self.step,
            lane=self.lane,
        )


class Bars:
    """`add` takes bars as they end; iteration gives those to be drawn, by their beginning."""

    def __init__(self, most: int = MAX_BARS) -> None:
        self._most = most
        self._width = 0.0
        """Seconds of a stretch; 0 while each bar stands alone."""
        self._kept: dict[tuple[str, int], _Joined] = {}
        self._alone = 0

    def add(self, bar: Bar) -> None:
        """One more bar; times that no calendar has are taken for the nearest that one has."""
        start = min(max(0.0, bar.start), LATEST)
        end = min(max(start, bar.end), LATEST)
        failed = int(bar.failed)
        self._put(_Joined(bar.row, start, end, bar.label, bar.offset, failed, 1, bar.step, bar.lane))
        if len(self._kept) > self._most:
            self._coarsen()

    def __iter__(self) -> Iterator[Bar]:
        return (each.shown() for each in sorted(self._kept.values(), key=lambda each: each.start))

    def _put(self, bar: _Joined) -> None:
        if self._width:
            key = (bar.row, int(bar.start / self._width))
        else:
            self._alone += 1
            key = (bar.row, self._alone)
        if (before := self._kept.get(key)) is not None:
            before.take(bar)
        else:
            self._kept[key] = bar

    def _coarsen(self) -> None:
        """Wider stretches, until a quarter of the room is free: that many bars pay for it."""
        bars = list(self._kept.values())
        first, last = min(each.start for each in bars), max(each.start for each in bars)
        self._width = max(2 * self._width, (last - first) / self._most, 1e-6)
        while True:
            self._kept = {}
            for each in bars:
                self._put(each)
            bars = list(self._kept.values())
            if len(bars) <= self._most * 3 // 4 or self._width > LATEST:
                return
            self._width *= 2
