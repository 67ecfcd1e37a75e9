"""How many tasks may run at an endpoint, and which task is next."""

from hypothesis import given
from hypothesis import strategies as st

from vera.batch.pace import COOLDOWN_SECONDS, Pace
from vera.batch.task import BatchTask
from vera.batch.waiting import Waiting


def test_a_push_back_halves_the_pace() -> None:
    pace = Pace(8)
    assert pace.allowed == 8
    assert pace.pushed_back(100.0)
    assert pace.allowed == 4


def test_push_backs_together_are_one_sign() -> None:
    pace = Pace(8)
    pace.pushed_back(100.0)
    assert not pace.pushed_back(100.0 + COOLDOWN_SECONDS - 1)
    assert pace.allowed == 4
    assert pace.pushed_back(100.0 + COOLDOWN_SECONDS)
    assert pace.allowed == 2


def test_a_round_of_tasks_that_went_well_adds_about_one() -> None:
    pace = Pace(8)
    pace.pushed_back(0.0)
    for _ in range(4):
        pace.went_well()
    assert pace.allowed == 4
    pace.went_well()
    assert pace.allowed == 5


@given(st.integers(-3, 300), st.lists(st.one_of(st.none(), st.floats(0, 1e6)), max_size=200))
def test_the_pace_stays_between_one_and_the_most(most: int, signs: list[float | None]) -> None:
    pace = Pace(most)
    for sign in signs:
        pace.went_well() if sign is None else pace.pushed_back(sign)
        assert 1 <= pace.allowed <= max(1, most)


def task(name: str, endpoint: str) -> BatchTask:
    return BatchTask(id=name, kind="task", text="?", endpoint=endpoint)


def test_a_full_endpoint_holds_up_no_other() -> None:
    waiting = Waiting()
    for name, endpoint in (("1", "a"), ("2", "a"), ("3", "b"), ("4", "a")):
        waiting.add(task(name, endpoint))
    taken = [waiting.take(lambda endpoint: endpoint == "b"), waiting.take(lambda endpoint: True)]
    assert [each.id for each in taken if each] == ["3", "1"]
    assert waiting.take(lambda endpoint: endpoint == "b") is None
    assert ("2" in waiting, "1" in waiting, len(waiting)) == (True, False, 2)


@given(st.lists(st.sampled_from("abc"), max_size=40))
def test_tasks_are_taken_in_the_order_in_which_they_came(endpoints: list[str]) -> None:
    waiting = Waiting()
    for number, endpoint in enumerate(endpoints):
        waiting.add(task(str(number), endpoint))
    taken = [waiting.take(lambda endpoint: True) for _ in endpoints]
    assert [each.id for each in taken if each] == [str(number) for number in range(len(endpoints))]
