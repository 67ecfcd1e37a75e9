"""The model that judges, behind a real server: what it is asked, what is logged, what a failure costs."""

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from support.scripted_server import Fault, ScriptedServer, Slow
from support.selecting import candidate, of, read, wait_for
from vera import events
from vera.model.client import ChatClient
from vera.model.retry import RetryPolicy
from vera.model.types import Completion, Model, ModelInfo, NotAsked, Request
from vera.protocol import Action, Turn
from vera.selection.chooser import Chooser
from vera.selection.majority import Majority
from vera.selection.options import Sampling, SelectionOptions
from vera.selection.registry import SelectorError
from vera.selection.selector import PastStep, SelectionContext
from vera.selection.templates import Templates
from vera.session import Session
from vera.state import Failing

SCENE = SelectionContext(
    task="What is in the folder?",
    step=1,
    steps=(PastStep(step=1, action="shell\npwd", observation="1| /work"),),
    evidence=("ev_0001 · notes.txt",),
)
COMMANDS = ("ls", "cat notes.txt", "id")


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    session = Session.create(tmp_path / "run", {})
    session.emit(events.Task(task=SCENE.task), lane="")
    yield session
    session.close()


def allow(_turn: Turn) -> tuple[str, str]:
    return "", ""


def choose(
    session: Session,
    script: Sequence[Any] | Callable[[int, dict[str, Any]], Any],
    *,
    commands: Sequence[str] = COMMANDS,
    templates: tuple[str, str] = ("", ""),
    scene: SelectionContext = SCENE,
    context: int | None = None,
    **how: Any,
) -> tuple[events.Selection, ScriptedServer]:
    """A choice among these commands by a judge that plays this script."""
    options = SelectionOptions(**{"selector": "llm", **how})
    sampled = sampling(*commands)

    async def run(server: ScriptedServer) -> events.Selection:
        info = ModelInfo(kind="openai", name="judge", context_tokens=context, parallel=4)
        client = ChatClient(server.base_url, "judge", info=info, retries=RetryPolicy(attempts=1))
        chooser = Chooser(session, "main", Sampling(), options, client, Templates(*templates))
        try:
            return await chooser.choose(sampled, read, allow, scene, None)
        finally:
            await client.close()

    with ScriptedServer(script, parallel=4) as server:
        return wait_for(run(server)), server


def sampling(*commands: str) -> events.Candidates:
    return events.Candidates(step=1, asked=len(commands), candidates=tuple(map(candidate, commands)))


def logged(session: Session) -> list[events.Record]:
    from vera.session.log import Reader

    return [record for _, record in Reader(session.root / "trace.jsonl").poll()]


def test_the_judge_is_asked_once_about_all_and_its_choice_is_taken(session: Session) -> None:
    selection, server = choose(session, ["Candidate 1 reads.\nFINAL: 1"])
    (asked,) = server.requests
    system, question = asked.body["messages"]
    assert (system["role"], question["role"]) == ("system", "user")
    assert "You choose the next action" in system["content"]
    for part in ("What is in the folder?", "| /work", "ev_0001", "| cat notes.txt"):
        assert part in question["content"].replace("1| /work", "| /work")
    assert "THOUGHT" not in question["content"]
    assert (asked.body["temperature"], asked.body["max_tokens"]) == (0.0, 1024)
    assert (selection.selected, selection.parsed_index, selection.decider) == (1, 1, "selector")
    assert selection.compared == (1, 2, 0)
    assert selection.judge_calls == 1


def test_the_call_is_in_the_log_with_its_request_and_its_cost(session: Session) -> None:
    choose(session, ["FINAL: 1"])
    call, said = logged(session)[-2:]
    assert isinstance(call, events.Model)
    assert isinstance(said, events.ModelIo)
    assert (call.scope, call.lane, call.step, call.error) == ("selector", "main", 1, "")
    assert call.prompt_tokens
    assert said.content == "FINAL: 1"
    messages = json.loads(session.load(said.request))
    assert "| cat notes.txt" in messages[1]["content"]
    assert said.parameters == {"model": "judge", "temperature": 0.0, "max_tokens": 1024}


def test_the_selection_itself_is_for_the_lane_to_write(session: Session) -> None:
    choose(session, ["FINAL: 1"])
    assert not any(isinstance(record, events.Selection) for record in logged(session))


def test_agreement_asks_nobody(session: Session) -> None:
    selection, server = choose(session, [], commands=["ls", "ls", "ls ", "id"])
    assert (selection.decider, selection.judge_calls, server.requests) == ("agreement", 0, [])


def test_pairs_are_asked_at_once_as_far_as_the_endpoint_serves(session: Session) -> None:
    selection, server = choose(session, lambda *_: Slow(0.2, "FINAL: 1"), selector="pairwise")
    assert len(server.requests) == selection.judge_calls == 6
    assert server.most_at_once == 4


def second_place(_index: int, body: dict[str, Any]) -> str:
    """A judge that wants the notes read."""
    question = body["messages"][-1]["content"]
    return f"FINAL: {1 if question.find('| cat notes') < question.find('Candidate 2') else 2}"


def test_a_comparison_in_both_orders_finds_the_action_wherever_it_stands(session: Session) -> None:
    selection, _ = choose(session, second_place, commands=["ls", "cat notes.txt"], selector="pairwise")
    assert (selection.selected, selection.decider) == (1, "selector")
    assert sorted(json.loads(session.load(selection.output))) == ["FINAL: 1", "FINAL: 2"]


@pytest.mark.parametrize("name", ["llm", "pairwise"])
@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Fault(500), "judge_failed"),
        (Fault(400, body={"error": {"message": "no"}}), "judge_failed"),
        ("I like them all.", "no_verdict"),
        ("FINAL: 9", "out_of_range"),
        ({"content": "", "reasoning_content": "Well…", "finish_reason": "length"}, "cut_off"),
    ],
)
def test_a_judge_that_fails_or_answers_nonsense_leaves_it_to_the_fallback(
    session: Session, name: str, reply: Any, reason: str
) -> None:
    selection, _ = choose(session, lambda *_: reply, selector=name, fallback="first_valid")
    assert (selection.decider, selection.selected) == ("fallback", 0)
    assert (selection.fallback, selection.fallback_reason) == ("first_valid", reason)
    calls = [record for record in logged(session) if isinstance(record, events.Model)]
    assert len(calls) == selection.judge_calls
    assert all(bool(call.error) == (reason == "judge_failed") for call in calls)


@pytest.mark.parametrize("name", ["llm", "pairwise"])
def test_a_judge_that_hangs_costs_its_deadline_and_its_calls_are_logged(session: Session, name: str) -> None:
    selection, _ = choose(session, lambda *_: Slow(60, "FINAL: 1"), selector=name, deadline_s=0.3)
    assert (selection.decider, selection.fallback_reason) == ("fallback", "deadline")
    assert 0.3 <= selection.seconds < 30
    calls = [record for record in logged(session) if isinstance(record, events.Model)]
    assert len(calls) == selection.judge_calls > 0
    assert all("no answer within the 0.3 seconds" in call.error for call in calls)


def test_of_a_judge_that_hangs_in_part_what_came_in_time_counts(session: Session) -> None:
    def script(_index: int, body: dict[str, Any]) -> Any:
        question = body["messages"][-1]["content"]
        if "| id" in question:
            return Slow(60, "FINAL: 1")
        return second_place(0, body)

    selection, _ = choose(session, script, selector="pairwise", deadline_s=1.0)
    assert (selection.decider, selection.selected) == ("selector", 1)
    assert selection.reason.startswith("1 of 3 pairs")


class Refusing:
    """A model within a budget that is spent."""

    info = ModelInfo(kind="openai", name="judge")

    async def complete(self, request: Request) -> Completion:
        raise NotAsked("the token budget of 10 is spent")

    async def close(self) -> None:
        """Nothing to close."""


def chosen_by(
    session: Session, model: Model | None, sampled: events.Candidates, **how: Any
) -> events.Selection:
    options = SelectionOptions(**{"selector": "llm", **how})
    chooser = Chooser(session, "main", Sampling(), options, model, Templates())
    return wait_for(chooser.choose(sampled, read, allow, SCENE, None))


def test_a_call_that_the_budget_refuses_is_no_call(session: Session) -> None:
    selection = chosen_by(session, Refusing(), sampling(*COMMANDS))
    assert (selection.fallback_reason, selection.judge_calls) == ("not_asked", 0)
    assert selection.reason == "the token budget of 10 is spent"
    assert not any(isinstance(record, events.Model) for record in logged(session))


def test_without_a_judge_the_fallback_decides(session: Session) -> None:
    assert chosen_by(session, None, sampling(*COMMANDS)).fallback_reason == "no_judge"


def test_a_template_that_fails_only_on_these_candidates_is_a_reason_too(session: Session) -> None:
    own = "{% if candidates | length > 2 %}{{ nobody }}{% endif %}"
    selection, server = choose(session, [], templates=("", f"{{{{ task }}}}{own}"))
    assert (selection.decider, selection.fallback_reason) == ("fallback", "not_asked")
    assert "'nobody' is undefined" in selection.reason
    assert server.requests == []


def test_a_small_context_gets_the_newest_steps_and_the_whole_candidates(session: Session) -> None:
    steps = tuple(
        PastStep(step=number, action=f"shell\necho {number}", observation="x" * 1500)
        for number in range(1, 20)
    )
    long = SelectionContext(
        task="t", step=20, steps=steps, evidence=tuple(f"ev_{n:04d} · {'y' * 200}" for n in range(40))
    )
    _, server = choose(session, ["FINAL: 1"], scene=long, context=4096)
    question = server.requests[0].body["messages"][-1]["content"]
    assert len(question) < 4096 * 3
    assert "echo 19" in question
    assert "echo 1\n" not in question
    assert all(f"| {command}" in question for command in COMMANDS)


def test_a_server_that_knows_no_system_role_gets_one_message(session: Session) -> None:
    session.emit(
        events.LaneStarted(
            purpose="t",
            system="s",
            task_message="m",
            tools=(),
            protocol="text",
            system_role="user",
            prompt_sha256="",
            high_tokens=1,
            max_bytes=0,
            tail_steps=1,
        )
    )
    _, server = choose(session, ["FINAL: 1"])
    (message,) = server.requests[0].body["messages"]
    assert message["role"] == "user"
    assert "You choose the next action" in message["content"]
    assert "| cat notes.txt" in message["content"]


def test_a_command_that_bash_cannot_read_is_out(session: Session) -> None:
    selection = chosen_by(session, None, sampling("ls '", "ls | |", "id"))
    assert (selection.selected, selection.decider) == (2, "only_one")
    assert [each.rejected for each in selection.weighed] == ["bash_syntax", "bash_syntax", ""]


def test_the_call_that_just_failed_is_out(session: Session) -> None:
    options = SelectionOptions(selector="llm")
    chooser = Chooser(session, "main", Sampling(), options, None, Templates())
    failing = Failing(tool="shell", args=session.text('{"cmd": "ls"}'), error_type="exit_code")
    selection = wait_for(chooser.choose(sampling("ls\n", "id"), read, allow, SCENE, failing))
    assert (selection.selected, selection.weighed[0].rejected) == (1, "repeats_failure")


def test_a_gate_is_a_filter_and_writes_nothing(session: Session) -> None:
    def would(turn: Turn) -> tuple[str, str]:
        is_rm = str(turn.action.args["cmd"]).startswith("rm")
        return ("policy_destructive", "It destroys.") if is_rm else ("", "")

    options = SelectionOptions(selector="majority")
    chooser = Chooser(session, "main", Sampling(), options, None, Templates())
    before = session.state.seq
    selection = wait_for(chooser.choose(sampling("rm -rf /", "rm -rf /", "id"), read, would, SCENE, None))
    assert selection.selected == 2
    assert (selection.weighed[0].rejected, selection.weighed[0].reason) == (
        "policy_destructive",
        "It destroys.",
    )
    assert session.state.seq == before


def test_a_selector_of_a_plugin_chooses_in_every_lane_of_a_report(session: Session) -> None:
    mine = {"mine": Majority}
    options = SelectionOptions(selector="mine")
    chooser = Chooser(session, "main", Sampling(), options, None, Templates(), mine).in_lane("part-2")
    selection = wait_for(chooser.choose(sampling("ls", "id", "id"), read, allow, SCENE, None))
    assert selection.selected == 1


@pytest.mark.parametrize("name", ["", "first_valid"])
def test_where_the_first_is_taken_nothing_is_checked(session: Session, name: str) -> None:
    def would(turn: Turn) -> tuple[str, str]:
        raise AssertionError("no gate was to be asked")

    chooser = Chooser(session, "main", Sampling(), SelectionOptions(selector=name), None, Templates())
    selection = wait_for(chooser.choose(sampling("ls '", "id"), read, would, SCENE, None))
    assert selection.selected == 0
    assert selection.weighed[0].rejected == ""


def test_long_texts_of_a_selection_lie_in_the_store(session: Session) -> None:
    answer = of(Turn(thought="t", action=Action(final="long " * 2000)))
    sampled = events.Candidates(step=1, asked=2, candidates=(candidate("ls"), answer))
    selection = chosen_by(session, None, sampled, selector="shortest")
    assert isinstance(selection.weighed[1].action, events.Blob)
    assert session.emit(selection).weighed == selection.weighed


def test_the_same_candidates_and_replies_give_the_same_selection(session: Session) -> None:
    found = [choose(session, second_place, selector="pairwise", seed=3)[0] for _ in range(2)]
    one, other = (json.loads(json.dumps({n: str(getattr(s, n)) for n in s.__struct_fields__})) for s in found)
    assert {**one, "seconds": 0} == {**other, "seconds": 0}


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"selector": "best"}, "no type of selector"),
        ({"selection_regex": "("}, "no regular expression"),
    ],
)
def test_options_that_cannot_be_used_are_said_at_once(
    session: Session, how: dict[str, Any], said: str
) -> None:
    with pytest.raises(SelectorError, match=said):
        Chooser(session, "main", Sampling(), SelectionOptions(**how), None, Templates())
