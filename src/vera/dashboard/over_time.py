"""Sessions by day: how they ended and what they cost, as a picture and as a table.

A day is one of UTC, of the time at which a session's log was last written.
"""

import datetime
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from vera.dashboard.session_index import FAILED_STATES
from vera.headline import HOLDS
from vera.report.pictures.svg import element, hatch, hint, label, picture
from vera.report.view.words import counted, number

MAX_DAYS = 60
"""Days of a picture, up to that of the newest session."""

WIDTH = 900
_LEFT, _RIGHT = 60.0, 890.0
_COUNTS, _COSTS = (30.0, 150.0), (200.0, 290.0)
_BELOW = 30.0
"""For the days under the last axis."""

_STEP = 90.0
"""From one bar to the next, at most."""

_KEYS_EACH, _LONGEST = 112.0, 50.0
"""From the words of one colour to those of the next, and how much more the first ones take."""

_MOST_TICKS = 6
BANDS: Mapping[str, str] = {
    "holds": "an answer that holds",
    "partial": "partial",
    "disputed": "disputed",
    "refuted": "refuted",
    "failed": "no answer",
    "others": "not ended",
}
"""What a bar is made of, from its foot."""

_CLASSES: Mapping[str, str] = {
    "holds": "cell tone-good",
    "partial": "cell tone-partial",
    "disputed": "cell tone-mixed",
    "refuted": "cell tone-bad",
    "failed": "cell tone-failed",
    "others": "cell tone-busy",
    "cost": "bar model",
}
_HATCHED = ("refuted", "failed")
"""To be told apart without colours."""


class Day(msgspec.Struct, frozen=True, kw_only=True):
    """The sessions of a day by BANDS: `failed` are those that ended or stopped without an answer, `others`
    those that go on or were not read yet. `cost` is the sum of what they say that they cost."""

    day: datetime.date
    holds: int = 0
    partial: int = 0
    disputed: int = 0
    refuted: int = 0
    failed: int = 0
    others: int = 0
    cost: float = 0.0

    @property
    def bands(self) -> tuple[tuple[str, int], ...]:
        """How many are in each of BANDS."""
        return tuple((band, getattr(self, band)) for band in BANDS)

    @property
    def count(self) -> int:
        return sum(count for _, count in self.bands)


def band_of(state: str) -> str:
    """The one of BANDS that a state of the index is in."""
    if state in HOLDS:
        return "holds"
    if state in ("PARTIAL", "DISPUTED", "REFUTED"):
        return state.lower()
    return "failed" if state in FAILED_STATES else "others"


def days_of(rows: Iterable[tuple[str, str, int, float]]) -> tuple[Day, ...]:
    """The days up to the newest, MAX_DAYS at most, those without sessions too.

    A row is an ISO date, a state, how many sessions, and their cost.
    """
    found: dict[datetime.date, Day] = {}
    for text, state, count, cost in rows:
        date = datetime.date.fromisoformat(text)
        day = found.get(date) or Day(day=date)
        band = band_of(state)
        more = {band: getattr(day, band) + count, "cost": day.cost + _plain(cost)}
        found[date] = msgspec.structs.replace(day, **more)
    if not found:
        return ()
    newest = max(found)
    span = min(MAX_DAYS, (newest - min(found)).days + 1)
    dates = (newest - datetime.timedelta(days=back) for back in reversed(range(span)))
    return tuple(found.get(date) or Day(day=date) for date in dates)


def over_time_svg(days: Sequence[Day]) -> str:
    """The picture: a bar a day for how sessions ended, and below it one for their cost."""
    first, last = days[0].day.isoformat(), days[-1].day.isoformat()
    counts = {band: sum(getattr(each, band) for each in days) for band in BANDS}
    ended = ", ".join(f"{number(count)} {BANDS[band]}" for band, count in counts.items() if count)
    said = (
        f"{first} to {last}: {counted(sum(each.count for each in days), 'session')}: {ended}. "
        f"Cost {sum(each.cost for each in days):.4g}. The table below has each day."
    )
    axes = [("sessions", _COUNTS, number(_most_sessions(days)))]
    if any(each.cost for each in days):
        axes.append(("cost", _COSTS, f"{_most_cost(days):.3g}"))
    foot = axes[-1][1][1]
    inside = (*_axes(axes), *_dates(days, foot + 18), *_keys(), *_bars(days))
    return picture("days", "Verdicts and cost by day", said, WIDTH, foot + _BELOW, *inside)


def _axes(axes: Sequence[tuple[str, tuple[float, float], str]]) -> Iterator[str]:
    for name, (top, foot), most in axes:
        yield label(name, _LEFT, top - 12, "key")
        yield label(most, _LEFT - 6, top + 8, "row")
        yield label("0", _LEFT - 6, foot, "row")
        yield element("line", x1=_LEFT, y1=foot, x2=_RIGHT, y2=foot, class_="axis")


def _dates(days: Sequence[Day], y: float) -> Iterator[str]:
    every = -(-len(days) // _MOST_TICKS)
    for at, each in list(enumerate(days))[::every]:
        yield label(each.day.isoformat(), _LEFT + _step(days) * (at + 0.5), y, "tick")


def _keys() -> Iterator[str]:
    for at, (band, words) in enumerate(BANDS.items()):
        x = _LEFT + 70 + _KEYS_EACH * at + (_LONGEST if at else 0)
        yield _bar(band, x, _COUNTS[0] - 21, 10, 10, words)
        yield label(words, x + 16, _COUNTS[0] - 12, "key")


def _step(days: Sequence[Day]) -> float:
    return min(_STEP, (_RIGHT - _LEFT) / len(days))


def _bars(days: Sequence[Day]) -> Iterator[str]:
    step = _step(days)
    width = min(40.0, 0.8 * step)
    for at, each in enumerate(days):
        x = _LEFT + step * (at + 0.5) - width / 2
        foot = _COUNTS[1]
        for kind, count in each.bands:
            high = (_COUNTS[1] - _COUNTS[0]) * count / _most_sessions(days)
            if count:
                told = f"{each.day.isoformat()}, {BANDS[kind]}: {number(count)}"
                yield _bar(kind, x, foot - high, width, high, told)
            foot -= high
        high = (_COSTS[1] - _COSTS[0]) * each.cost / _most_cost(days) if each.cost else 0.0
        if high:
            told = f"{each.day.isoformat()}: cost {each.cost:.4g}"
            yield _bar("cost", x, _COSTS[1] - high, width, high, told)


def _bar(kind: str, x: float, y: float, width: float, height: float, told: str) -> str:
    """A bar with its hint."""
    bar = element("rect", hint(told), x=x, y=y, width=width, height=height, class_=_CLASSES[kind])
    return bar + (hatch(x, y, width, height, "hatch") if kind in _HATCHED else "")


def _most_sessions(days: Sequence[Day]) -> int:
    return max(1, *(each.count for each in days))


def _most_cost(days: Sequence[Day]) -> float:
    return max(each.cost for each in days) or 1.0


def _plain(cost: float) -> float:
    """A cost that can be added up: a log may claim any number."""
    return cost if math.isfinite(cost) and 0 <= cost < 1e12 else 0.0
