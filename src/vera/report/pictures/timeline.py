"""The timeline: when the model was asked, tools ran, rounds verified, gates spoke, and over it the score."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from html import escape

from vera.report.html.links import Links
from vera.report.pictures.axis import duration, ticks
from vera.report.pictures.svg import element, hatch, hint, label, picture, words
from vera.report.view.model import Bar, ScorePoint, Timeline
from vera.report.view.words import counted, points

ROWS = (("model", "model"), ("tool", "tools"), ("verify", "verify"), ("gate", "gates"))
"""The rows from the top, each with its label."""

_PLACE = {row: at for at, (row, _) in enumerate(ROWS)}

WIDTH = 960
LEFT = 64
RIGHT = 940
NARROWEST = 1.5
HATCHED = 4.0
"""Units: a shorter bar would not be seen, and hatching not on a shorter one."""

ROW = 24
BAR = 12
FAILED = 18
"""Height of a bar, and of one that failed: it is taller too, for a narrow one shows no hatching."""

SCORES = 84
MAX_BARS = 700
MAX_SCORES = 200
LOWEST, HIGHEST, ENOUGH = 100, 400, 300
"""Scores in hundredths: the ends of their scale, and the least that verifies."""

_COUNTED = {
    "model": ("model call", ""),
    "tool": ("tool call", ""),
    "verify": ("round of verification", "rounds of verification"),
    "gate": ("gate that spoke", "gates that spoke"),
}


def timeline_svg(timeline: Timeline, base: str = "") -> str:
    """The picture, from the first record to the last. Bars and scores beyond a bound are left out.

    With the address `base` of a session each bar of a step leads to its page, by a pointer: keyboards have
    the list of events and of steps, which is shorter than hundreds of bars.
    """
    scored = [each for each in timeline.scores if each.score is not None][-MAX_SCORES:]
    top = SCORES if scored else 4
    height = top + len(ROWS) * ROW
    scale = _Scale(timeline)
    return picture(
        "timeline",
        "Timeline of the run",
        describe(timeline),
        WIDTH,
        height + 22,
        *_axis(scale, height),
        *_rows(top),
        *(_bar(bar, scale, top, base) for bar in timeline.bars[-MAX_BARS:]),
        *(_scores(scored, scale) if scored else ()),
        role="group" if base else "img",
    )


def describe(timeline: Timeline) -> str:
    """The picture in words."""
    said = []
    for row, _ in ROWS:
        bars = [bar for bar in timeline.bars if bar.row == row]
        if bars:
            said.append(_in_words(row, bars))
    scores = [points(each.score) for each in timeline.scores if each.score is not None][-20:]
    length = duration(timeline.end - timeline.start)
    return f"{length}: {', '.join(said) or 'nothing yet'}." + (
        f" Scores by round: {', '.join(scores)}; 3 is the least that verifies." if scores else ""
    )


def _in_words(row: str, bars: Sequence[Bar]) -> str:
    failed = sum(bar.failed for bar in bars)
    marked = f" ({failed} marked as failed)" if failed and row != "gate" else ""
    return counted(sum(bar.count for bar in bars), *_COUNTED[row]) + marked


class _Scale:
    """Where a moment stands: always within the plot, whatever the log says."""

    def __init__(self, timeline: Timeline) -> None:
        self.start = timeline.start
        self.seconds = max(timeline.end - timeline.start, 1e-3)

    def x(self, ts: float) -> float:
        part = (ts - self.start) / self.seconds
        if part > 1.0:
            return RIGHT
        return LEFT + (RIGHT - LEFT) * part if part > 0 else LEFT


def _axis(scale: _Scale, height: float) -> Iterator[str]:
    yield element("line", x1=LEFT, x2=RIGHT, y1=height, y2=height, class_="axis")
    yield label("0", LEFT, height + 15, "tick")
    for seconds, name in ticks(scale.seconds):
        x = scale.x(scale.start + seconds)
        yield element("line", x1=x, x2=x, y1=0, y2=height, class_="grid")
        yield label(name, x, height + 15, "tick")


def _rows(top: float) -> Iterator[str]:
    for number, (_, name) in enumerate(ROWS):
        y = top + number * ROW
        if number % 2 == 0:
            yield element("rect", x=LEFT, y=y, width=RIGHT - LEFT, height=ROW, class_="band")
        yield label(name, LEFT - 8, y + ROW / 2 + 4, "row")


def _bar(bar: Bar, scale: _Scale, top: float, base: str) -> str:
    if bar.row not in _PLACE:
        return ""
    # There are hundreds of bars: these are written out, where all else is made by `element`.
    begin, beside, behind, end = _around(bar, scale.start, top, base)
    x = scale.x(bar.start)
    if bar.row == "gate":
        return f"{begin}{x - 5:.1f}{beside}{behind}{end}"
    width = min(max(NARROWEST, scale.x(bar.end) - x), WIDTH - x)
    lines = ""
    if bar.failed and width >= HATCHED:
        lines = hatch(x, _middle(bar, top) - FAILED / 2, width, FAILED, "hatch")
    return f"{begin}{x:.1f}{beside}{width:.1f}{behind}{lines}{end}"


@lru_cache(4096)
def _around(bar: Bar, start: float, top: float, base: str) -> tuple[str, str, str, str]:
    """What stands before the place of a bar, between that and its width, behind its width, and at its end.
    While a run goes on its bars move, and this stays as it is."""
    failed = " failed" if bar.failed else ""
    address = Links(base).step(bar.step, bar.lane)
    goto = f' data-goto="e{bar.offset:d}"' if not address else ""
    begin, end = f'<g class="bar {bar.row}{failed}"{goto}><title>{_told(bar, start)}</title>', "</g>"
    if address:
        begin, end = f'<a href="{escape(address)}" tabindex="-1" aria-hidden="true">{begin}', "</g></a>"
    if bar.row == "gate":
        return f'{begin}<path d="M', f" {_middle(bar, top):.1f}", 'l5 -7l5 7l-5 7z"/>', end
    height = FAILED if bar.failed else BAR
    y = _middle(bar, top) - height / 2
    return f'{begin}<rect x="', f'" y="{y:.0f}" width="', f'" height="{height}" rx="1.5"/>', end


def _middle(bar: Bar, top: float) -> float:
    return top + _PLACE[bar.row] * ROW + ROW / 2


def _told(bar: Bar, start: float) -> str:
    """What a pointer that rests on the bar is told."""
    after = f"{duration(bar.start - start)} after the start"
    took = "" if bar.row == "gate" else f", {duration(bar.end - bar.start)}"
    failed = " · failed" if bar.failed and bar.count == 1 else ""
    return words(f"{bar.row}: {bar.label[:100]} · {after}{took}{failed}")


def _scores(scores: Sequence[ScorePoint], scale: _Scale) -> Iterator[str]:
    """The line of scores with the least that verifies."""
    enough = _height(ENOUGH)
    yield label("score", LEFT - 8, _height(HIGHEST) + 4, "row")
    yield label("3", LEFT - 8, enough + 4, "row")
    yield element("line", x1=LEFT, x2=RIGHT, y1=enough, y2=enough, class_="enough")
    path = " ".join(f"{scale.x(each.ts):.1f},{_height(each.score):.1f}" for each in scores)
    if len(scores) > 1:
        yield element("polyline", points=path, class_="scores")
    written = -1000.0
    for each in scores:
        x, y = scale.x(each.ts), _height(each.score)
        told = f"round {each.round}: {points(each.score)} {each.result}".rstrip()
        good = each.score is not None and each.score >= ENOUGH
        yield element("circle", hint(told), cx=x, cy=y, r=4, class_="score" if good else "score low")
        if x - written >= 34:
            yield label(points(each.score), x, y - 8, "value")
            written = x


def _height(score: int | None) -> float:
    """Where a score stands."""
    part = (min(max(score or LOWEST, LOWEST), HIGHEST) - LOWEST) / (HIGHEST - LOWEST)
    return SCORES - 14 - part * (SCORES - 36)
