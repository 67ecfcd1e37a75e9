"""From candidates to the one that runs: what decides, and what is written of it."""

import asyncio
import json
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.selecting import HERE, choose, entries, nobody, prefers, says, wait_for
from vera import events
from vera.selection import pipeline
from vera.selection.options import SelectionOptions
from vera.selection.registry import SELECTORS
from vera.selection.selector import ActionCluster, Judge, SelectionContext, SelectorChoice, SelectorReply

JUDGELESS = [name for name in SELECTORS if name not in ("llm", "pairwise")]
COMMANDS = st.lists(st.sampled_from(["ls", "pwd", "cat a", "cat  b", ""]), min_size=1, max_size=7)


def groups(chosen: events.Selection) -> list[int]:
    return [each.group for each in chosen.weighed]


def test_without_a_selector_the_first_runs_and_all_are_weighed() -> None:
    chosen = choose(entries("ls", "pwd", "ls", ""), "")
    assert (chosen.selected, chosen.decider, chosen.selector) == (0, "off", "")
    assert groups(chosen) == [1, 2, 1, 0]
    assert chosen.weighed[3].codes


def test_without_a_selector_the_first_runs_even_when_it_cannot_be_read() -> None:
    assert choose(entries("", "ls"), "").selected == 0


def test_first_valid_takes_the_first_that_can_be_read_whatever_the_checks_and_the_votes_say() -> None:
    chosen = choose(entries("", "ls", "pwd", "pwd", "pwd"), "first_valid")
    assert (chosen.selected, chosen.decider) == (1, "selector")


@pytest.mark.parametrize("name", SELECTORS)
def test_one_candidate_that_is_left_is_not_judged(name: str) -> None:
    chosen = choose(entries("", "ls", ""), name)
    assert (chosen.selected, chosen.decider, chosen.judge_calls) == (1, "only_one", 0)
    assert chosen.reason == "no other candidate is left"


@pytest.mark.parametrize("name", ["llm", "pairwise", "majority", "shortest", "random"])
def test_one_action_that_all_take_is_not_judged(name: str) -> None:
    chosen = choose(entries("ls", "ls ", "\nls"), name)
    assert (chosen.selected, chosen.decider) == (0, "only_one")
    assert groups(chosen) == [1, 1, 1]


@pytest.mark.parametrize("name", ["llm", "pairwise"])
def test_agreement_above_the_threshold_spares_the_judge(name: str) -> None:
    chosen = choose(entries("pwd", "ls", "ls", "ls"), name)
    assert (chosen.selected, chosen.decider, chosen.judge_calls) == (1, "agreement", 0)
    assert chosen.reason == "3 of 4 candidates take the same action"


def test_agreement_at_the_threshold_does_not() -> None:
    chosen = choose(entries("ls", "ls", "ls", "pwd", "id"), "llm", says("FINAL: 1"), agreement_threshold=0.6)
    assert chosen.decider == "selector"


def test_agreement_can_be_switched_off() -> None:
    chosen = choose(entries("pwd", "ls", "ls", "ls"), "llm", says("FINAL: 1"), stop_on_agreement=False)
    assert (chosen.decider, chosen.judge_calls) == ("selector", 1)


def test_two_that_are_as_large_are_no_agreement_however_low_the_threshold() -> None:
    chosen = choose(entries("pwd", "ls", "ls", "pwd"), "llm", says("FINAL: 1"), agreement_threshold=0.1)
    assert chosen.decider == "selector"


def test_agreement_is_for_selectors_that_would_ask() -> None:
    assert choose(entries("cat long", "cat long", "cat long", "ls"), "shortest").selected == 3


def test_a_candidate_that_a_check_rejects_is_out_and_has_no_vote() -> None:
    chosen = choose(entries("pwd", "ls", "ls", rejected=[1, 2]), "majority")
    assert (chosen.selected, chosen.decider) == (0, "only_one")
    assert groups(chosen) == [1, 0, 0]
    assert chosen.weighed[1].rejected == "policy_x"


def test_where_every_one_is_rejected_the_checks_are_ignored() -> None:
    chosen = choose(entries("", "pwd", "ls", "ls", rejected=[1, 2, 3]), "majority")
    assert (chosen.selected, chosen.decider) == (2, "selector")
    assert groups(chosen) == [0, 1, 2, 2]
    assert [each.rejected for each in chosen.weighed] == ["", "policy_x", "policy_x", "policy_x"]


def test_a_tie_goes_to_the_shortest() -> None:
    chosen = choose(entries("cat a", "ls", "pwd"), "majority")
    assert (chosen.selected, chosen.decider) == (1, "tie_break")


def test_the_judges_choice_is_what_runs() -> None:
    for place in (1, 2, 3):
        chosen = choose(entries("cat a", "ls", "pwd"), "llm", says(f"FINAL: {place}"))
        order = (1, 2, 0)
        assert chosen.compared == order
        assert chosen.selected == chosen.parsed_index == order[place - 1]
        assert (chosen.decider, chosen.judge_calls) == ("selector", 1)
        assert json.loads(str(chosen.output)) == [f"FINAL: {place}"]


def test_pairwise_leaves_its_scores_and_its_margin() -> None:
    made = entries("cat a", "ls", "ls", "pwd")
    chosen = choose(made, "pairwise", prefers(lambda option: "pwd" in option.action), stop_on_agreement=False)
    assert chosen.selected == 3
    assert chosen.compared == (1, 0, 3)
    assert len(chosen.scores) == 3
    best, second = sorted(chosen.scores, reverse=True)[:2]
    assert chosen.margin == pytest.approx(best - second)
    assert (chosen.judge_calls, len(json.loads(str(chosen.output)))) == (6, 6)


FIRST, VALID = "first_candidate", "first_valid"


@pytest.mark.parametrize(
    ("commands", "rejected", "reply", "fallback", "selected", "reason"),
    [
        (("", "ls", "pwd"), (), "What?", FIRST, 0, "no_verdict"),
        (("", "ls", "pwd"), (), "What?", VALID, 1, "no_verdict"),
        (("ls", "pwd", "id"), (), "FINAL: 7", FIRST, 0, "out_of_range"),
        (("ls", "pwd", "id"), (0,), "FINAL: 7", FIRST, 0, "out_of_range"),
        (("ls", "pwd", "id"), (0,), "FINAL: 7", VALID, 1, "out_of_range"),
        (("ls", "pwd"), (0, 1), "FINAL: 1 or 2", VALID, 0, "two_answers"),
        (("ls", "pwd"), (), "FINAL: 0", VALID, 0, "abstained"),
        (("", ""), (), "FINAL: 1", FIRST, 0, "all_unreadable"),
        (("", ""), (), "FINAL: 1", VALID, 0, "all_unreadable"),
    ],
)
@pytest.mark.parametrize("name", ["llm", "pairwise"])
def test_without_a_usable_verdict_the_configured_fallback_decides_and_says_why(
    name: str,
    commands: tuple[str, ...],
    rejected: tuple[int, ...],
    reply: str,
    fallback: str,
    selected: int,
    reason: str,
) -> None:
    chosen = choose(entries(*commands, rejected=rejected), name, says(reply), fallback=fallback)
    assert (chosen.decider, chosen.fallback, chosen.fallback_reason) == ("fallback", fallback, reason)
    assert chosen.selected == selected
    assert chosen.parsed_index is None
    assert chosen.reason
    assert reason == "all_unreadable" or reply in json.loads(str(chosen.output))


@pytest.mark.parametrize("name", JUDGELESS)
@pytest.mark.parametrize("fallback", [FIRST, VALID])
def test_where_none_can_be_read_every_selector_falls_back_to_the_first(name: str, fallback: str) -> None:
    chosen = choose(entries("", "", ""), name, fallback=fallback)
    assert (chosen.selected, chosen.fallback_reason) == (0, "all_unreadable")


def test_without_a_model_to_judge_the_fallback_decides() -> None:
    chosen = choose(entries("ls", "pwd"), "llm", None)
    assert (chosen.decider, chosen.fallback_reason, chosen.judge_calls) == ("fallback", "no_judge", 0)


def test_a_question_that_was_not_asked_is_no_call() -> None:
    async def refuses(scene: SelectionContext, shown: Sequence[ActionCluster]) -> SelectorReply:
        return SelectorReply(problem=pipeline.NOT_ASKED, reason="the token budget of 10 is spent")

    chosen = choose(entries("ls", "pwd"), "pairwise", refuses)
    assert (chosen.fallback_reason, chosen.judge_calls) == ("not_asked", 0)
    assert chosen.reason == "the token budget of 10 is spent"


class Own:
    """A selector of a person's own that gives back whatever it was told to, or does what it should not."""

    judges = False

    def __init__(self, gives: object) -> None:
        self.gives = gives

    async def select(
        self, options: Sequence[ActionCluster], scene: SelectionContext, judge: Judge, how: SelectionOptions
    ) -> SelectorChoice:
        if isinstance(self.gives, BaseException):
            raise self.gives
        if self.gives == "hang":
            await asyncio.sleep(3600)
        if self.gives == "hold on":
            for _ in range(2):
                try:
                    await asyncio.sleep(0.4)
                except asyncio.CancelledError:
                    continue
        return self.gives  # type: ignore[return-value] # on purpose: it is told to give anything


def with_own(gives: object, deadline_s: float = 60.0) -> events.Selection:
    how = SelectionOptions(selector="own.Class", deadline_s=deadline_s)
    return wait_for(pipeline.select(1, entries("ls", "pwd", "id"), Own(gives), HERE, nobody, how))


@pytest.mark.parametrize(
    ("gives", "reason"),
    [
        (ValueError("no such table"), "selector_error"),
        (RecursionError(), "selector_error"),
        (asyncio.CancelledError(), "selector_error"),
        (None, "bad_verdict"),
        (1, "bad_verdict"),
        (SelectorChoice(chosen=3), "bad_verdict"),
        (SelectorChoice(chosen=-1), "bad_verdict"),
        (SelectorChoice(chosen="1"), "bad_verdict"),  # type: ignore[arg-type] # on purpose
        (SelectorChoice(chosen=True), "bad_verdict"),
        (SelectorChoice(chosen=0, tied=(1, 2)), "bad_verdict"),
        (SelectorChoice(chosen=0, tied=(0, 9)), "bad_verdict"),
        (SelectorChoice(chosen=0, scores=(1.0,)), "bad_verdict"),
        (SelectorChoice(chosen=0, scores=(1.0, float("nan"), 0.0)), "bad_verdict"),
        (SelectorChoice(chosen=0, order=(5,)), "bad_verdict"),
        (SelectorChoice(chosen=0, replies=(object(),)), "bad_verdict"),  # type: ignore[arg-type] # on purpose
        (SelectorChoice(), "undecided"),
        (SelectorChoice(problem="tired"), "tired"),
    ],
)
def test_whatever_a_selector_of_ones_own_does_is_a_verdict_or_a_reason(gives: object, reason: str) -> None:
    chosen = with_own(gives)
    assert (chosen.decider, chosen.fallback_reason, chosen.selected) == ("fallback", reason, 0)
    assert chosen.reason


def test_the_words_of_an_error_are_kept() -> None:
    assert with_own(ValueError("no such\n table")).reason == "the selector failed: ValueError: no such table"


def test_what_a_log_cannot_carry_does_not_reach_it() -> None:
    hostile = SelectorChoice(
        problem="\udc80" + "x" * 999, reason="\udc80 y", replies=("\udc80" + "z" * 99_999,)
    )
    chosen = with_own(hostile)
    assert json.loads(str(chosen.output)) == ["\ufffd" + "z" * 19_999]
    assert (chosen.fallback_reason, chosen.reason) == ("\ufffd" + "x" * 63, "\ufffd y")


@pytest.mark.parametrize("gives", ["hang", "hold on"])
def test_a_selector_that_hangs_costs_the_deadline_and_no_more(
    gives: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "GRACE_S", 0.05)
    chosen = with_own(gives, deadline_s=0.05)
    assert (chosen.decider, chosen.fallback_reason) == ("fallback", "deadline")


def test_what_a_selector_of_ones_own_scores_is_written_down() -> None:
    chosen = with_own(SelectorChoice(chosen=2, scores=(1, 0.5, 3), reason="mine"))
    assert (chosen.selected, chosen.scores, chosen.margin) == (2, (1, 0.5, 3), 2)
    assert (chosen.selector, chosen.reason) == ("own.Class", "mine")


def test_cancelled_it_stops_its_selector() -> None:
    stopped = asyncio.Event()

    class Waits(Own):
        async def select(
            self,
            options: Sequence[ActionCluster],
            scene: SelectionContext,
            judge: Judge,
            how: SelectionOptions,
        ) -> SelectorChoice:
            try:
                await asyncio.sleep(3600)
            finally:
                stopped.set()
            return SelectorChoice(chosen=0)

    async def cancel() -> None:
        how = SelectionOptions(selector="own")
        made = entries("ls", "pwd")
        choosing = asyncio.create_task(pipeline.select(1, made, Waits(None), HERE, nobody, how))
        await asyncio.sleep(0.01)
        choosing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await choosing
        await asyncio.wait_for(stopped.wait(), 5)

    wait_for(cancel())


@pytest.mark.parametrize("name", ["", *SELECTORS])
@settings(deadline=None)
@given(
    commands=COMMANDS, rejected=st.sets(st.integers(0, 6)), step=st.integers(1, 9), reply=st.integers(-1, 6)
)
def test_what_is_chosen_is_there_and_can_be_read_where_any_can(
    name: str, commands: list[str], rejected: set[int], step: int, reply: int
) -> None:
    made = entries(*commands, rejected=[index for index in rejected if index < len(commands)])
    scene = SelectionContext(task="t", step=step)
    chosen = choose(made, name, says(f"FINAL: {reply}"), scene, fallback="first_valid")
    assert chosen.selected in range(len(made))
    if name and any(commands):
        assert commands[chosen.selected]
    if name not in ("", "first_valid") and any(each.form and not each.rejected for each in made):
        assert not made[chosen.selected].rejected
    assert chosen == choose(made, name, says(f"FINAL: {reply}"), scene, fallback="first_valid")


@settings(deadline=None)
@given(commands=COMMANDS, data=st.data())
@pytest.mark.parametrize("name", ["majority", "shortest"])
def test_the_order_in_which_candidates_came_does_not_change_what_is_done(
    name: str, commands: list[str], data: st.DataObject
) -> None:
    shuffled = data.draw(st.permutations(commands))
    one, other = choose(entries(*commands), name), choose(entries(*shuffled), name)
    assert commands[one.selected].strip() == shuffled[other.selected].strip()
    assert one.decider == other.decider


@settings(deadline=None)
@given(commands=COMMANDS)
def test_every_candidate_that_is_left_keeps_its_vote(commands: list[str]) -> None:
    seen: list[ActionCluster] = []

    async def judge(scene: SelectionContext, shown: Sequence[ActionCluster]) -> SelectorReply:
        seen.extend(shown)
        return SelectorReply(content="FINAL: 1")

    chosen = choose(entries(*commands), "llm", judge, stop_on_agreement=False)
    readable = [command for command in commands if command]
    assert sum(group > 0 for group in groups(chosen)) == len(readable)
    if seen:
        assert sum(option.votes for option in seen) == len(readable)
        assert {option.index for option in seen} == {commands.index(command) for command in readable}
