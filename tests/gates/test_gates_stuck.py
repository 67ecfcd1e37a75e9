"""A lane that brings nothing new is told once, with two ways out that are open, and then ends."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.gating import BROUGHT, FAILED, LEADS, NOTHING_NEW, Trial, rules_for
from support.lanes import FunctionModel, open_lane
from support.turns import final, turn
from vera import events
from vera.gates.registry import CHECK_GATES, EXECUTE_GATES, GATES
from vera.gates.stuck import GATE
from vera.lane.policy import Policy
from vera.lane.tools import Call, EvidenceDraft, Outcome
from vera.lane.tools.note import Note
from vera.model.types import Message
from vera.protocol import Turn
from vera.protocol.text import render
from vera.protocol.turn import ToolSpec
from vera.session import Session
from vera.state import RunState

LIMIT = 12


def quiet(**changes: Any) -> Trial:
    """A lane in which other gates of the search have nothing to say."""
    limits = {
        "notes_interval": 0,
        "query_mutation_budget": 0,
        "query_vector_min": 0,
        "subject": "Apple Titan electric car launched",
    }
    return Trial(rules_for(**{**limits, **changes}))


def turns_until_the_end(trial: Trial, take: Callable[[int], object]) -> int:
    for number in range(200):
        if not trial.goes_on():
            return number
        take(number)
    raise AssertionError("it goes on for ever")


@pytest.mark.parametrize(
    "take",
    [
        lambda trial: trial.call("note", {"text": "x"}, NOTHING_NEW),
        lambda trial: trial.call("read", {"path": "a.txt"}, NOTHING_NEW),
        lambda trial: trial.call("web_search", {"query": "Apple car"}, NOTHING_NEW),
        lambda trial: trial.fetch("https://apple.com", FAILED),
    ],
    ids=["notes", "lines that were seen", "a search without new hits", "failures"],
)
def test_twelve_turns_in_a_row_without_a_new_line_end_the_lane(take: Callable[[Trial], object]) -> None:
    trial = quiet(max_steps=0)
    assert turns_until_the_end(trial, lambda _: take(trial)) == LIMIT
    (told,), (ended,) = trial.spoken(events.PolicyStuck, "nudge"), trial.spoken(events.PolicyStuck, "end")
    assert (told.count, ended.count) == (LIMIT // 3, LIMIT)


def test_a_new_line_starts_the_count_again_and_feedback_does() -> None:
    trial = quiet()
    for outcome in (NOTHING_NEW, BROUGHT) * LIMIT:
        assert trial.goes_on()
        trial.call("read", {"path": "a.txt"}, outcome)
    for number in range(2 * LIMIT):
        assert trial.goes_on()
        trial.call("note", {"text": "x"}, NOTHING_NEW)
        if number == LIMIT - 2:
            trial.emit(events.VerifierToAgent(round=1, step=trial.lane.step, content="Look again."))
        if number == 2 * LIMIT - 3:
            break
    assert trial.goes_on()


def test_a_search_with_new_hits_counts_half() -> None:
    trial = quiet(max_steps=0)
    take = turns_until_the_end(
        trial, lambda number: trial.call("web_search", {"query": f"word{number}"}, LEADS)
    )
    assert take == 2 * LIMIT


def test_refusals_count_as_turns_without_anything_new() -> None:
    trial = quiet(max_steps=0, notes_interval=1)
    trial.call("read", {"path": "a.txt"}, BROUGHT)
    assert turns_until_the_end(trial, lambda _: trial.call("read", {"path": "a.txt"}, BROUGHT)) == LIMIT
    assert trial.spoken(events.PolicyNotesGate, "refuse")


def test_a_limit_of_zero_never_ends_a_lane() -> None:
    trial = quiet(max_steps=0, stuck_limit=0)
    for _ in range(5 * LIMIT):
        trial.call("note", {"text": "x"}, NOTHING_NEW)
    assert trial.goes_on() and not trial.spoken(events.PolicyStuck)


def test_what_was_tried_is_said_with_two_different_ways_that_are_open() -> None:
    trial = quiet(query_mutation_budget=2)
    for _ in range(6):
        trial.call("web_search", {"query": "Apple car"}, NOTHING_NEW)
    (told,) = trial.spoken(events.PolicyStuck)
    assert "web_search Apple car" in told.reason
    first, second = told.way_forward.removeprefix("Do one of these instead: ").split(" Or ")
    query = first.partition("“")[2].partition("”")[0]
    assert query != "Apple car" and trial.refused("web_search", {"query": query}) is None
    assert second.startswith("answer now") and trial.answer_refused() is None


def test_where_an_answer_is_refused_another_call_is_proposed() -> None:
    trial = quiet(stagnation_limit=1)
    for _ in range(5):
        trial.call("note", {"text": "x"}, NOTHING_NEW, status="UNRESOLVED")
    (told,) = trial.spoken(events.PolicyStuck)
    assert trial.answer_refused() is not None and "answer now" not in told.way_forward


def test_only_research_lanes_have_the_gate() -> None:
    assert GATE in GATES and GATE not in CHECK_GATES and GATE not in EXECUTE_GATES


def test_the_count_is_the_same_after_a_resume_and_new_for_a_lane_that_had_ended() -> None:
    trial = quiet()
    for _ in range(7):
        trial.call("note", {"text": "x"}, NOTHING_NEW)
    again = RunState(trial.memory.records)
    resumed = events.Resumed(version="1", seq=again.seq + 1, ts=again.last_ts)
    again.apply(resumed)
    assert again.lane("main").history.idle_turns == trial.lane.history.idle_turns == 7
    trial.emit(events.LaneEnded(reason="steps"))
    ended = RunState(trial.memory.records)
    ended.apply(resumed)
    assert ended.lane("main").history.idle_turns == 0


# Whole lanes of models that never obey


class Shelf:
    """A world of ten lines: `read` shows some of them, `search` leads to them in words of its own."""

    def __init__(self, name: str) -> None:
        integer = {"type": "integer", "minimum": 1, "maximum": 10}
        self.spec = ToolSpec(name=name, description="Look.", properties={"first": integer, "last": integer},
                             required=())  # fmt: skip

    async def run(self, args: Mapping[str, Any], call: Call) -> Outcome:
        first = args.get("first", 1)
        last = max(first, args.get("last", first))
        is_lead = self.spec.name == "search"
        text = f"hits {first} {last}\n".encode() if is_lead else b"".join(b"%d\n" % n for n in range(1, 11))
        shown = (1, 1) if is_lead else (first, last)
        return Outcome(
            header=self.spec.name,
            evidence=EvidenceDraft(
                tier="captured", source="shelf", summary="shelf", text=text, first=shown[0], last=shown[1],
                lines=1 if is_lead else 10, lead=is_lead,
            ),
        )  # fmt: skip


LINES = 10
BOUND = (LINES + 1) * 2 * LIMIT

TURN = st.one_of(
    st.builds(lambda a, b: render(turn("read", first=a, last=b)), st.integers(1, 10), st.integers(1, 10)),
    st.builds(lambda a, b: render(turn("search", first=a, last=b)), st.integers(1, 10), st.integers(1, 10)),
    st.builds(lambda text: render(turn("note", text=text)), st.sampled_from(("x", "y"))),
    st.just(render(msgspec.structs.replace(turn("read", first=1), status_update="UNRESOLVED"))),
    st.just(render(turn("read", first=99))),
    st.just(render(turn("browse", url="x"))),
    st.sampled_from(("", "<think>hm", "Sure!", '{"tool": "read"')),
)


def end_of(tmp_path: Path, says: Callable[[int], str]) -> tuple[str, int]:
    """Why a lane without a limit of steps ended, and after how many turns."""
    count = 0

    def answer(_: Sequence[Message]) -> str:
        nonlocal count
        count += 1
        assert count <= BOUND, "it goes on for ever"
        return says(count)

    async def run() -> tuple[str, int]:
        session = Session.create(tmp_path, {})
        session.emit(events.Task(task="What stands there?"), lane="")
        tools = [Shelf("read"), Shelf("search"), Note()]
        try:
            rules = rules_for(tools=tuple(tool.spec.name for tool in tools), max_steps=0)
            policy = Policy(gates=GATES, rules=rules)
            lane = open_lane(session, FunctionModel(answer), tools=tools, policy=policy, max_steps=0)
            state = await lane.run()
        finally:
            session.close()
        assert state.ended is not None
        return state.ended.reason, state.step

    return asyncio.run(run())


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(turns=st.lists(TURN, min_size=1, max_size=8))
def test_every_lane_of_a_model_that_never_answers_ends(
    turns: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    reason, steps = end_of(tmp_path_factory.mktemp("lane"), lambda count: turns[count % len(turns)])
    assert reason in ("stuck", "parse_error") and steps <= BOUND


def test_a_model_that_always_answers_is_let_through(tmp_path: Path) -> None:
    always: Turn = final("Nothing is known.")
    reason, steps = end_of(tmp_path, lambda _: render(always))
    assert reason == "answered" and steps <= 3
