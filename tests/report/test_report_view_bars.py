"""A timeline has as many bars as a picture can show, and together they stand for every one there was."""

from hypothesis import given
from hypothesis import strategies as st

from vera.report.view.bars import LATEST, MAX_BARS, Bars
from vera.report.view.model import Bar

ROWS = ("model", "tool", "verify", "gate")
TIMES = st.floats(allow_nan=False, allow_infinity=True) | st.floats(0, 10_000)


@given(
    st.lists(st.tuples(st.sampled_from(ROWS), TIMES, TIMES, st.booleans()), max_size=120),
    st.integers(4, 40),
)
def test_bars_are_bounded_and_none_is_lost(made: list[tuple[str, float, float, bool]], most: int) -> None:
    bars = Bars(most)
    for offset, (row, start, end, failed) in enumerate(made):
        bars.add(Bar(row=row, start=start, end=end, label=row, offset=offset, failed=failed))
        assert len(list(bars)) <= most
    for row in ROWS:
        shown = [bar for bar in bars if bar.row == row]
        of_it = [each for each in made if each[0] == row]
        assert sum(bar.count for bar in shown) == len(of_it)
        assert any(bar.failed for bar in shown) == any(failed for *_, failed in of_it)
        assert all(0 <= bar.start <= bar.end <= LATEST for bar in shown)


@given(st.lists(st.floats(0, 10_000), min_size=1, max_size=200), st.integers(4, 40))
def test_the_bars_of_a_row_reach_from_its_first_to_its_last(starts: list[float], most: int) -> None:
    bars = Bars(most)
    for offset, start in enumerate(starts):
        bars.add(Bar(row="tool", start=start, end=start + 1, label="shell", offset=offset))
    shown = list(bars)
    assert min(bar.start for bar in shown) == min(starts)
    assert max(bar.end for bar in shown) == max(starts) + 1
    assert min(bar.offset for bar in shown) == 0


def test_few_bars_stand_as_they_were() -> None:
    bars = Bars()
    for number in range(MAX_BARS):
        bars.add(Bar(row="tool", start=number, end=number + 0.5, label=f"call {number}", offset=number))
    assert [bar.label for bar in bars] == [f"call {number}" for number in range(MAX_BARS)]


def test_a_long_run_has_one_resolution_from_its_beginning_to_its_end() -> None:
    bars = Bars()
    for number in range(50_000):
        failed = number == 40_000
        bars.add(Bar(row="tool", start=number, end=number + 0.5, label="shell", offset=number, failed=failed))
    shown = list(bars)
    widths = {bar.count for bar in shown[1:-1]}
    assert max(widths) - min(widths) <= 1
    assert MAX_BARS // 4 <= len(shown) <= MAX_BARS
    (failed,) = [bar for bar in shown if bar.failed]
    assert failed.start <= 40_000 <= failed.end
    assert failed.label == f"{failed.count} tool calls, 1 failed"
