"""The time of a verification cuts off what is under way, and says so."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from vera.agent.deadline import Deadline, TimedModel, TimedTool
from vera.lane.tools import Call, Outcome
from vera.model.types import Choice, Completion, Message, ModelError, ModelInfo, Request
from vera.protocol.turn import ToolSpec
from vera.store import Store

REQUEST = Request(messages=(Message(role="user", content="?"),), temperature=0.0, max_tokens=8)


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Waiting:
    """A tool and a model that never come back, unless they are told to at once."""

    spec = ToolSpec(name="fetch", description="", properties={}, required=())
    info = ModelInfo(kind="openai", name="m", protocol="text")

    def __init__(self, at_once: bool) -> None:
        self._at_once = at_once

    async def _wait(self) -> None:
        if not self._at_once:
            await asyncio.Event().wait()

    async def run(self, args: Mapping[str, Any], call: Call) -> Outcome:
        await self._wait()
        return Outcome(header="came")

    async def complete(self, request: Request) -> Completion:
        await self._wait()
        return Completion(choices=(Choice(content="came"),))

    async def close(self) -> None:
        """Nothing is held."""


def test_a_deadline_is_over_when_its_seconds_have_passed() -> None:
    clock = Clock()
    deadline = Deadline(5, clock)
    assert (deadline.left, deadline.is_over) == (5, False)
    clock.now = 5
    assert (deadline.left, deadline.is_over) == (0, True)
    assert deadline.sentence == "the time budget of 5 seconds is spent"


def test_seconds_that_were_used_before_are_over() -> None:
    clock = Clock()
    assert Deadline(5, clock, used=2).left == 3
    assert Deadline(5, clock, used=9).is_over


def test_without_seconds_it_never_ends() -> None:
    assert not Deadline(0, Clock()).is_over


def test_a_tool_is_cut_off_with_a_sentence(tmp_path: Path) -> None:
    call = Call(room=100, store=Store(tmp_path), evidence={})
    outcome = asyncio.run(TimedTool(Waiting(at_once=False), Deadline(0.01)).run({}, call))
    assert (outcome.outcome, outcome.error_type) == ("failed", "out_of_time")
    assert "the time budget of 0.01 seconds is spent" in outcome.header
    outcome = asyncio.run(TimedTool(Waiting(at_once=True), Deadline(60)).run({}, call))
    assert outcome.header == "came"


def test_a_model_is_cut_off_with_a_sentence() -> None:
    with pytest.raises(ModelError, match=r"the time budget of 0\.01 seconds is spent") as raised:
        asyncio.run(TimedModel(Waiting(at_once=False), Deadline(0.01)).complete(REQUEST))
    assert raised.value.transient, "so that nothing more is asked"
    said = asyncio.run(TimedModel(Waiting(at_once=True), Deadline(0)).complete(REQUEST))
    assert said.choices[0].content == "came"
