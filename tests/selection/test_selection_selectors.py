"""Each selector by itself."""

from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.selecting import options, pick, prefers, says
from vera.selection.llm import rotated
from vera.selection.registry import SELECTORS, SelectorError, selector
from vera.selection.selector import ActionCluster, SelectionContext, SelectorReply

ANY_OPTIONS = st.lists(st.tuples(st.integers(7, 60), st.integers(1, 5)), min_size=2, max_size=6)


def test_first_valid_takes_the_first() -> None:
    assert pick("first_valid", options((30, 1), (10, 5))).chosen == 0


def test_majority_takes_the_most_votes_and_calls_equals_tied() -> None:
    assert pick("majority", options((30, 1), (10, 3), (20, 2))).chosen == 1
    picked = pick("majority", options((30, 2), (10, 1), (20, 2)))
    assert picked.tied == (0, 2)
    assert picked.reason == "2 of 5 candidates take it"


def test_shortest_takes_the_fewest_characters() -> None:
    assert pick("shortest", options((30, 9), (10, 1), (20, 1))).chosen == 1
    assert pick("shortest", options((10, 9), (10, 1), (20, 1))).tied == (0, 1)


def test_random_draws_candidates_not_actions() -> None:
    drawn = Counter(pick("random", options((9, 3), (9, 1)), step=step).chosen for step in range(2000))
    assert 0.7 < drawn[0] / 2000 < 0.8


def test_random_is_the_same_for_a_seed_and_a_step() -> None:
    shown = options((9, 1), (9, 1), (9, 1))
    drawn = [pick("random", shown, step=step, seed=5).chosen for step in range(40)]
    assert drawn == [pick("random", shown, step=step, seed=5).chosen for step in range(40)]
    assert drawn != [pick("random", shown, step=step, seed=6).chosen for step in range(40)]


@pytest.mark.parametrize("base", [0, 1, 7])
def test_llm_reads_the_number_of_the_place_at_which_an_option_was_shown(base: int) -> None:
    shown = options((9, 1), (9, 1), (9, 1))
    picked = pick("llm", shown, says(f"FINAL: {base + 1}"), step=2, selection_index_base=base)
    assert picked.order == (2, 0, 1)
    assert picked.chosen == 0
    assert picked.replies == (f"FINAL: {base + 1}",)


def test_llm_shows_every_option_at_every_place_over_the_steps() -> None:
    assert [rotated(3, 0, step) for step in (0, 1, 2, 3)] == [(0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 1, 2)]
    assert rotated(3, 1, 0) == rotated(3, 0, 1)


def test_a_judge_that_always_names_the_first_place_favours_no_option() -> None:
    shown = options((9, 1), (9, 1), (9, 1), (9, 1))
    chosen = Counter(pick("llm", shown, says("FINAL: 1"), step=step).chosen for step in range(40))
    assert set(chosen.values()) == {10}


@pytest.mark.parametrize("name", ["llm", "pairwise"])
@pytest.mark.parametrize(
    ("reply", "problem"),
    [("", "empty"), ("Well.", "no_verdict"), ("FINAL: 0", "abstained"), ("FINAL: 9", "out_of_range")],
)
def test_a_verdict_that_cannot_be_used_is_a_problem_and_its_reply_is_kept(
    name: str, reply: str, problem: str
) -> None:
    picked = pick(name, options((9, 1), (9, 1)), says(reply))
    assert (picked.chosen, picked.problem) == (None, problem)
    assert picked.reason
    assert set(picked.replies) == {reply}


@pytest.mark.parametrize("name", ["llm", "pairwise"])
def test_a_judge_that_failed_is_a_problem_in_its_own_words(name: str) -> None:
    async def fails(scene: SelectionContext, shown: Sequence[ActionCluster]) -> SelectorReply:
        return SelectorReply(problem="judge_failed", reason="the judge failed: HTTP 500")

    picked = pick(name, options((9, 1), (9, 1)), fails)
    assert (picked.problem, picked.reason) == ("judge_failed", "the judge failed: HTTP 500")


@pytest.mark.parametrize("name", ["llm", "pairwise"])
def test_a_judge_is_read_by_the_pattern_of_the_person(name: str) -> None:
    picked = pick(name, options((9, 1), (9, 1)), says("CHOICE=1"), selection_regex=r"CHOICE=(\d)")
    assert picked.problem == ""


@pytest.mark.parametrize("name", SELECTORS)
@settings(deadline=None)
@given(shape=ANY_OPTIONS, step=st.integers(0, 9))
def test_every_selector_gives_a_place_that_is_there(
    name: str, shape: list[tuple[int, int]], step: int
) -> None:
    shown = options(*shape)
    picked = pick(name, shown, prefers(lambda option: -option.size), step=step)
    assert picked.chosen in range(len(shown))
    assert not picked.tied or picked.chosen in picked.tied
    assert picked == pick(name, shown, prefers(lambda option: -option.size), step=step)


class Longest:
    """A selector of a person's own."""

    judges = False

    async def select(self, options: Sequence[ActionCluster], *_: object) -> None:
        """Not asked here."""


class NoJudges:
    async def select(self) -> None:
        """Lacks `judges`."""


class NotAsync:
    judges = False

    def select(self) -> None:
        """Is no coroutine."""


class WantsArguments:
    judges = False

    def __init__(self, much: int) -> None:
        """Cannot be made without."""

    async def select(self) -> None:
        """Never reached."""


def not_a_class() -> None:
    """A function."""


@pytest.mark.parametrize("path", [f"{__name__}.Longest", f"{__name__}:Longest"])
def test_a_class_of_ones_own_is_loaded_by_its_dotted_path(path: str) -> None:
    assert isinstance(selector(path), Longest)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("best", "no type of selector. There are first_valid, llm, pairwise,"),
        ("", "no type of selector"),
        (":", "no type of selector"),
        ("no_such_package.Class", "cannot be loaded: ModuleNotFoundError"),
        (f"{__name__}.Missing", "cannot be loaded: AttributeError"),
        (f"{__name__}.NoJudges", "is no selector: it needs an attribute 'judges'"),
        (f"{__name__}.NotAsync", "is no selector"),
        (f"{__name__}.WantsArguments", "cannot be made: TypeError"),
        (f"{__name__}.not_a_class", "is no class"),
        ("..", "no type of selector"),
    ],
)
def test_what_is_no_selector_is_said_in_a_sentence(name: str, said: str) -> None:
    with pytest.raises(SelectorError, match=r".") as failed:
        selector(name)
    assert said in str(failed.value)
    assert "Traceback" not in str(failed.value)
