"""Turns that loop or break the format: what the next one is asked with, and under which schema."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from support.cli import records
from support.lanes import INFO, new_session, open_lane
from support.turns import as_reply, turn
from vera import events
from vera.gates.kernel import Rules
from vera.gates.registry import GATES
from vera.lane import context
from vera.lane.policy import Policy
from vera.lane.request import rebuild_request
from vera.lane.tools import Call, EvidenceDraft, Outcome, Tool
from vera.lane.tools.note import Note
from vera.model.types import Choice, Completion, ModelInfo, Request
from vera.protocol import Turn
from vera.protocol.turn import ToolSpec
from vera.session import load_text
from vera.state import RunState
from vera.store import Store

LOOPED = Choice(content="THOUGHT: I look. ", finish_reason="repetition")
CUT = Choice(content="THOUGHT: I look", finish_reason="length")
SAID_TWICE = Choice(
    content=str(as_reply(turn("note", text="Seen."), "text")) + "\nTHOUGHT: Next.", finish_reason="repetition"
)


class Scripted:
    """A model that gives these choices one after another, and then notes."""

    info: ModelInfo = INFO

    def __init__(self, *choices: Choice) -> None:
        self._choices = choices
        self.asked: list[Request] = []

    async def complete(self, request: Request) -> Completion:
        number = len(self.asked)
        self.asked.append(request)
        fine = Choice(content=str(as_reply(turn("note", text=f"Note {number}."), "text")))
        return Completion(choices=(self._choices[number] if number < len(self._choices) else fine,))

    async def close(self) -> None:
        """Nothing to close."""


def played(folder: Path, *choices: Choice, temperature: float = 0.2) -> tuple[Scripted, list[events.Record]]:
    session, model = new_session(folder), Scripted(*choices)
    policy = Policy(gates=GATES, rules=Rules(tools=("note",), parse_error_limit=50))
    lane = open_lane(session, model, policy=policy, max_steps=len(choices) + 2, temperature=temperature)
    asyncio.run(lane.run())
    session.close()
    return model, records(folder)


def test_the_turn_after_a_loop_has_another_temperature_and_no_more_room(tmp_path: Path) -> None:
    model, log = played(tmp_path, LOOPED, LOOPED, LOOPED, LOOPED)
    assert [request.temperature for request in model.asked] == [0.2, 0.6, 1.0, 1.2, 1.2, 0.2]
    assert len({request.max_tokens for request in model.asked}) == 1
    calls = [each for each in log if isinstance(each, events.Model)]
    assert [each.finish_reason for each in calls[:4]] == ["repetition"] * 4
    assert not [each for each in log if isinstance(each, events.PolicyLengthNudge)]


def test_a_turn_that_is_cut_still_gets_more_room(tmp_path: Path) -> None:
    model, _ = played(tmp_path, CUT, CUT, CUT)
    assert [request.temperature for request in model.asked] == [0.2] * 5
    assert model.asked[-1].max_tokens == 2 * model.asked[0].max_tokens


def test_a_loop_between_cut_turns_ends_their_row(tmp_path: Path) -> None:
    model, _ = played(tmp_path, CUT, LOOPED, CUT)
    assert len({request.max_tokens for request in model.asked}) == 1


@pytest.mark.parametrize("temperature", [1.2, 1.9])
def test_a_temperature_that_is_high_already_is_left(tmp_path: Path, temperature: float) -> None:
    model, _ = played(tmp_path, LOOPED, temperature=temperature)
    assert {request.temperature for request in model.asked} == {temperature}


def test_the_model_is_told_that_it_repeated_itself(tmp_path: Path) -> None:
    model, _ = played(tmp_path, LOOPED)
    assert "repeated the same words again and again" in str(model.asked[1].messages[-1].content)


def test_a_whole_turn_before_the_loop_is_acted_on(tmp_path: Path) -> None:
    _, log = played(tmp_path, SAID_TWICE)
    assert next(each.text for each in log if isinstance(each, events.Note)) == "Seen."
    assert not [each for each in log if isinstance(each, events.PolicyParseError)]


# Turns that break the format, as later prompts hold them


def test_a_broken_turn_is_seen_again_in_part_only(tmp_path: Path) -> None:
    long = " ".join(f"I think of the number {number}." for number in range(300))
    model, log = played(tmp_path, Choice(content=long), Choice(content="short"), Choice(content=" "))
    last = [message.content or "" for message in model.asked[-1].messages if message.role == "assistant"]
    assert last[0] == f"{long[:200]} [… {len(long) - 200} characters more]"
    assert last[1:3] == ["short", "(no text)"]
    (first, *_) = (each for each in log if isinstance(each, events.Assistant))
    store = Store(tmp_path / "store")
    assert load_text(store, first.content) == long
    for step in range(1, 6):
        rebuilt = rebuild_request(log, store, step)
        assert rebuilt is not None and rebuilt.same


def test_a_broken_call_is_seen_again_without_its_arguments(tmp_path: Path) -> None:
    call = {
        "id": "c",
        "type": "function",
        "function": {"name": "note", "arguments": '{"text": "' + "x" * 9000},
    }
    model, _ = played(tmp_path, Choice(content="", tool_calls=(call,)))
    assert [message.tool_calls for message in model.asked[1].messages] == [None] * 4
    assert model.asked[1].messages[-1].role == "user"


def test_a_log_from_before_shows_broken_turns_whole(tmp_path: Path) -> None:
    long = " ".join(f"I think of the number {number}." for number in range(300))
    _, log = played(tmp_path, Choice(content=long))
    older = [
        msgspec.structs.replace(each, broken_shown=0) if isinstance(each, events.LaneStarted) else each
        for each in log
    ]
    lane = RunState(older).lane("main")
    shown = context.assemble(lane, lambda text: load_text(Store(tmp_path / "store"), text))
    assert long in [message.content for message in shown]


def test_the_same_broken_turn_again_counts_twice(tmp_path: Path) -> None:
    said = [Choice(content=each) for each in ("one", "one", "two", "two", "two", "three")]
    model, log = played(tmp_path, *said)
    counts = [each.count for each in log if isinstance(each, events.PolicyParseError) and each.codes]
    assert counts == [1, 3, 4, 6, 8, 9]
    assert "counts twice" in str(model.asked[2].messages[-1].content)
    assert "counts twice" not in str(model.asked[3].messages[-1].content)


# The schema of a turn


class Search:
    """A tool that finds a line."""

    spec = ToolSpec(
        name="search", description="Search.", properties={"query": {"type": "string"}}, required=("query",)
    )

    async def run(self, args: Mapping[str, Any], call: Call) -> Outcome:
        draft = EvidenceDraft(
            tier="captured", source="a.txt", summary="a", text=b"a line\n", first=1, last=1, lines=1
        )
        return Outcome(header="search", evidence=draft)


def schemas(
    folder: Path, *turns: Turn, local: bool = True, tools: Sequence[Tool] = (Search(), Note())
) -> list[str]:
    model = Scripted(*(Choice(content=str(as_reply(each, "json_schema"))) for each in turns))
    model.info = ModelInfo(kind="openai", name="m", protocol="json_schema", local=local)
    session = new_session(folder)
    asyncio.run(open_lane(session, model, tools=tools, max_steps=len(turns)).run())
    session.close()
    return [json.dumps(request.schema) for request in model.asked]


def test_a_lane_with_something_to_read_cannot_answer_before_it_has_read(tmp_path: Path) -> None:
    note, search = turn("note", text="n"), turn("search", query="q")
    asked = schemas(tmp_path / "a", note, search, note)
    assert ['"final"' in each for each in asked] == [False, False, True]
    assert ["ev_0001" in each for each in asked] == [False, False, True]
    stuck = schemas(tmp_path / "b", note, note, note, note, note)
    assert ['"final"' in each for each in stuck] == [False, False, False, True, True]
    assert all('"final"' in each for each in schemas(tmp_path / "c", note, note, tools=(Note(),)))


def test_lengths_are_for_servers_of_this_network(tmp_path: Path) -> None:
    note = turn("note", text="n")
    assert "maxLength" in schemas(tmp_path / "a", note)[0]
    assert "maxLength" not in schemas(tmp_path / "b", note, local=False)[0]
