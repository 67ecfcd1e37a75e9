"""A turn that only repeated itself: what the next one is asked with, and what the model is told."""

import asyncio
from pathlib import Path

import pytest

from support.cli import records
from support.lanes import INFO, new_session, open_lane
from support.turns import as_reply, turn
from vera import events
from vera.gates.kernel import Rules
from vera.gates.registry import GATES
from vera.lane.policy import Policy
from vera.model.types import Choice, Completion, ModelInfo, Request

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
