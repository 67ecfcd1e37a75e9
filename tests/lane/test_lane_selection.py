"""A lane that chooses among several turns: what speaks against a candidate, asked without a trace in the log;
and what each step writes down."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.lanes import INFO, Print, new_session
from support.turns import as_reply, final, turn
from vera import events
from vera.gates.kernel import Rules
from vera.gates.registry import GATES
from vera.lane.loop import Lane
from vera.lane.policy import Policy
from vera.lane.prompts import Prompts
from vera.lane.spec import LaneSpec
from vera.lane.tools import Call, Outcome
from vera.lane.tools.note import Note
from vera.model.types import Choice, Completion, ModelInfo, Request
from vera.protocol import Turn, text
from vera.protocol.turn import ToolSpec
from vera.selection.chooser import Chooser
from vera.selection.options import Sampling, SelectionOptions
from vera.selection.templates import Templates
from vera.session import Session, load_text

TOOLS = ("print", "shell", "note")
RULES = Rules(tools=TOOLS, notes_interval=100, pre_tool_nudges=0, destructive=("dangerous *",))
BROKEN = "I would rather talk."
DONE = final("There is nothing to cite.")
LOOK = turn("print", size=10)
DANGEROUS = turn("shell", cmd="dangerous everything")
FINE = turn("shell", cmd="fine everything")
UNCLOSED = turn("shell", cmd="echo 'never closed")


class Scripted:
    """A model that gives `n` candidates at once: those of the step, from the beginning when they end."""

    info: ModelInfo = INFO

    def __init__(self, steps: Sequence[Sequence[Turn | str]]) -> None:
        self._steps = steps
        self.asked: list[Request] = []

    async def complete(self, request: Request) -> Completion:
        step = sum(message.role == "assistant" for message in request.messages)
        candidates = self._steps[min(step, len(self._steps) - 1)]
        self.asked.append(request)
        said = [candidates[place % len(candidates)] for place in range(request.n)]
        contents = [each if isinstance(each, str) else str(as_reply(each, "text")) for each in said]
        return Completion(choices=tuple(Choice(content=content) for content in contents))

    async def close(self) -> None:
        """Nothing to close."""


class Commands:
    """A `shell` that runs nothing: a command that begins with `fail` fails, and so it is said."""

    spec = ToolSpec(
        name="shell", description="Run.", properties={"cmd": {"type": "string"}}, required=("cmd",)
    )

    def __init__(self) -> None:
        self.ran: list[str] = []

    async def run(self, args: Mapping[str, Any], call: Call) -> Outcome:
        self.ran.append(args["cmd"])
        failed = str(args["cmd"]).startswith("fail")
        outcome, error = ("failed", "exit_code") if failed else ("ok", "")
        return Outcome(header="shell", outcome=outcome, error_type=error, body="done")


class Played:
    """What came of a lane over these candidates."""

    def __init__(
        self,
        folder: Path,
        steps: Sequence[Sequence[Turn | str]],
        selector: str,
        rules: Rules = RULES,
        candidates: int = 3,
        **how: Any,
    ) -> None:
        self.session = new_session(folder)
        self.log: list[events.Record] = []
        self.session.subscribe(self.log.append)
        self.shell, self.model = Commands(), Scripted(steps)
        chooser = Chooser(
            self.session,
            "main",
            Sampling(num_candidates=candidates),
            SelectionOptions(selector=selector, **how),
            None,
            Templates(),
        )
        lane = make_lane(self.session, self.model, self.shell, rules, chooser)
        self.state = asyncio.run(lane.run())
        self.session.close()

    def of(self, kind: type[events.Event]) -> list[Any]:
        return [each for each in self.log if isinstance(each, kind)]

    @property
    def chosen(self) -> list[tuple[int, str]]:
        return [(each.selected, each.decider) for each in self.of(events.Selection)]

    def kinds(self, step: int) -> list[str]:
        return [events.kind(each) for each in self.log if getattr(each, "step", -1) == step]

    def gates(self) -> list[str]:
        return [events.kind(each) for each in self.log if isinstance(each, events.Policy)]

    def rejected(self, step: int) -> list[str]:
        (selection,) = [each for each in self.of(events.Selection) if each.step == step]
        return [each.rejected for each in selection.weighed]

    def load(self, kept: events.Text) -> str:
        return load_text(self.session.store, kept)


def make_lane(
    session: Session, model: Scripted, shell: Commands, rules: Rules, chooser: Chooser | None
) -> Lane:
    spec = LaneSpec(
        name="main", purpose="test", system="You work.", task_message="PRIMARY TASK: work.", max_steps=6
    )
    return Lane(
        session, spec, model, [Print(), Note(), shell], Prompts(), Policy(gates=GATES, rules=rules), chooser
    )


# What a step writes down


def test_a_step_is_a_call_its_candidates_a_selection_and_a_turn(tmp_path: Path) -> None:
    played = Played(tmp_path, [[LOOK], [DONE]], "majority")
    kinds = ["model", "model_io", "candidates", "selection", "assistant"]
    assert played.kinds(1)[:5] == kinds
    assert played.kinds(2) == [*kinds, "answer"]


def test_a_lane_without_a_chooser_writes_none_of_it(tmp_path: Path) -> None:
    session, kinds = new_session(tmp_path), []
    session.subscribe(lambda record: kinds.append(events.kind(record)))
    model = Scripted([[LOOK], [DONE]])
    state = asyncio.run(make_lane(session, model, Commands(), RULES, None).run())
    session.close()
    assert state.answer is not None and [request.n for request in model.asked] == [1, 1]
    assert not {"candidates", "selection"} & set(kinds)


def test_candidates_are_kept_whole_and_in_order(tmp_path: Path) -> None:
    long = turn("note", text="word " * 2000)
    played = Played(tmp_path, [[LOOK, long, BROKEN], [DONE]], "first_valid")
    (sampled, _) = played.of(events.Candidates)
    assert isinstance(sampled.candidates[1].content, events.Blob)
    assert [played.load(each.content) for each in sampled.candidates] == [
        text.render(LOOK),
        text.render(long),
        BROKEN,
    ]


# Gates as a filter


def test_a_candidate_that_a_gate_would_refuse_is_passed_over_without_a_record_of_the_gate(
    tmp_path: Path,
) -> None:
    played = Played(tmp_path, [[DANGEROUS, DANGEROUS, FINE], [DONE]], "majority")
    assert played.rejected(1) == ["policy_destructive", "policy_destructive", ""]
    assert played.chosen[0] == (2, "only_one")
    assert played.shell.ran == ["fine everything"]
    assert played.gates() == []
    assert played.kinds(1)[:5] == ["model", "model_io", "candidates", "selection", "assistant"]
    (reason, *_) = [each.reason for each in played.of(events.Selection)[0].weighed]
    assert "plainly destructive" in reason


def test_where_a_gate_refuses_all_it_speaks_as_ever(tmp_path: Path) -> None:
    other = turn("shell", cmd="dangerous something")
    played = Played(tmp_path, [[DANGEROUS, other, DANGEROUS], [DONE]], "majority")
    assert played.rejected(1) == ["policy_destructive"] * 3
    assert played.chosen[0] == (0, "selector")
    assert played.gates() == ["policy_destructive"] and played.shell.ran == []
    (refused,) = played.of(events.PolicyDestructive)
    assert "NOT RUN (policy_destructive)" in played.load(refused.reply)
    assert "NOT RUN (policy_destructive)" in str(played.model.asked[1].messages[-1].content)


def test_an_answer_before_anything_was_looked_at_is_passed_over_too(tmp_path: Path) -> None:
    rules = Rules(tools=TOOLS, notes_interval=100, pre_tool_nudges=1)
    played = Played(tmp_path, [[DONE, DONE, LOOK], [DONE]], "majority", rules)
    assert played.rejected(1) == ["policy_pre_tool_nudge", "policy_pre_tool_nudge", ""]
    assert played.chosen[0] == (2, "only_one") and played.gates() == []


def test_where_all_answer_before_anything_was_looked_at_the_gate_says_so(tmp_path: Path) -> None:
    rules = Rules(tools=TOOLS, notes_interval=100, pre_tool_nudges=1)
    played = Played(tmp_path, [[DONE], [LOOK], [DONE]], "majority", rules)
    assert played.rejected(1) == ["policy_pre_tool_nudge"] * 3
    assert played.gates() == ["policy_pre_tool_nudge"]
    assert played.state.answer is not None and played.state.answer.step == 3


def test_a_turn_with_a_note_is_taken_where_the_notes_gate_wants_one(tmp_path: Path) -> None:
    rules = Rules(tools=TOOLS, notes_interval=1)
    noted = turn("print", note="ten bytes", size=12)
    played = Played(tmp_path, [[LOOK], [LOOK, LOOK, noted], [DONE]], "majority", rules)
    assert played.rejected(2) == ["policy_notes_gate", "policy_notes_gate", ""]
    assert played.chosen[1] == (2, "only_one")
    assert "policy_notes_gate" not in played.gates()


def test_a_tool_that_is_not_there_and_arguments_that_are_wrong_speak_against_a_candidate(
    tmp_path: Path,
) -> None:
    nothing, wrong = turn("teleport", where="home"), turn("print", size="ten")
    played = Played(tmp_path, [[nothing, wrong, LOOK], [DONE]], "majority")
    assert played.rejected(1) == ["unknown_tool", "bad_arguments", ""]
    assert played.chosen[0] == (2, "only_one")


# Checks that need no gate


def test_a_command_that_bash_cannot_read_is_passed_over(tmp_path: Path) -> None:
    played = Played(tmp_path, [[UNCLOSED, UNCLOSED, FINE], [DONE]], "majority")
    assert played.rejected(1) == ["bash_syntax", "bash_syntax", ""]
    assert played.shell.ran == ["fine everything"]


def test_where_bash_can_read_none_the_command_runs_and_the_model_reads_what_bash_says(tmp_path: Path) -> None:
    played = Played(tmp_path, [[UNCLOSED], [DONE]], "majority")
    assert played.rejected(1) == ["bash_syntax"] * 3
    assert played.shell.ran == ["echo 'never closed"]


def test_the_call_that_has_just_failed_is_passed_over(tmp_path: Path) -> None:
    fails = turn("shell", cmd="fail now")
    again = turn("shell", cmd="fail now  ", thought="Once more.")
    played = Played(tmp_path, [[fails], [again, again, FINE], [DONE]], "majority")
    assert played.rejected(2) == ["repeats_failure", "repeats_failure", ""]
    assert played.shell.ran == ["fail now", "fine everything"]


def test_a_call_that_failed_before_something_worked_may_be_tried_again(tmp_path: Path) -> None:
    fails = turn("shell", cmd="fail now")
    played = Played(tmp_path, [[fails], [FINE], [fails, fails, LOOK], [DONE]], "majority")
    assert played.rejected(3) == ["", "", ""]
    assert played.shell.ran == ["fail now", "fine everything", "fail now"]


def test_first_valid_asks_no_check(tmp_path: Path) -> None:
    played = Played(tmp_path, [[BROKEN, DANGEROUS, FINE], [DONE]], "first_valid")
    assert played.rejected(1) == ["", "", ""]
    assert played.chosen[0] == (1, "selector") and played.shell.ran == []
    assert played.gates() == ["policy_destructive"]


def test_without_a_verifier_no_check_is_asked(tmp_path: Path) -> None:
    played = Played(tmp_path, [[DANGEROUS, FINE], [DONE]], "")
    assert played.chosen[0] == (0, "off") and played.gates() == ["policy_destructive"]


# A judge is asked for, and there is none


@pytest.mark.parametrize("fallback", ["first_candidate", "first_valid"])
def test_a_judging_selector_without_a_model_falls_back_and_says_why(tmp_path: Path, fallback: str) -> None:
    played = Played(tmp_path, [[BROKEN, LOOK, FINE], [LOOK], [DONE]], "llm", fallback=fallback)
    (first, *_) = played.of(events.Selection)
    assert (first.fallback, first.fallback_reason) == (fallback, "no_judge")
    assert first.selected == (1 if fallback == "first_valid" else 0)


# Whatever the candidates are

TURNS: list[Turn | str] = [
    BROKEN, "", LOOK, FINE, DANGEROUS, UNCLOSED, DONE, turn("teleport"), turn("print", size="ten"),
    turn("note", text="noted"), turn("shell", cmd="fail now"),
]  # fmt: skip


@settings(max_examples=25, deadline=None)
@given(
    steps=st.lists(st.lists(st.sampled_from(TURNS), min_size=1, max_size=3), min_size=1, max_size=4),
    selector=st.sampled_from(["", "first_valid", "llm", "pairwise", "majority", "shortest", "random"]),
    fallback=st.sampled_from(["first_candidate", "first_valid"]),
)
def test_every_step_has_one_choice_among_its_own_candidates_and_the_turn_is_that_candidate(
    tmp_path_factory: pytest.TempPathFactory,
    steps: list[list[Turn | str]],
    selector: str,
    fallback: str,
) -> None:
    played = Played(tmp_path_factory.mktemp("lane"), steps, selector, fallback=fallback)
    sampled = {each.step: each for each in played.of(events.Candidates)}
    chosen = {each.step: each for each in played.of(events.Selection)}
    taken = {each.step: each for each in played.of(events.Assistant)}
    assert list(sampled) == list(chosen) == list(taken) == list(range(1, len(taken) + 1))
    for step, selection in chosen.items():
        candidate = sampled[step].candidates[selection.selected]
        assert taken[step].content == candidate.content
        assert len(selection.weighed) == len(sampled[step].candidates) == 3
        assert selection.decider in (
            "off", "only_one", "agreement", "selector", "tie_break", "fallback",
        )  # fmt: skip
        assert (
            bool(selection.fallback_reason) == (selection.decider == "fallback") == bool(selection.fallback)
        )
