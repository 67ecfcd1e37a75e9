"""A refused answer: its turn and the verifier's feedback go on as part of the prompt, for good."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from support.lanes import FunctionModel, new_session, open_lane
from support.turns import final, turn
from vera import events
from vera.lane.advice import follows
from vera.model.types import Message
from vera.protocol import text
from vera.session import Session

FEEDBACK = "VERIFIER: score 2 of 4, because two sources are one. Find a second publisher."


def refuse(session: Session, step: int) -> None:
    """What the verifier writes, as far as the lane is concerned."""
    began = events.VerifierStarted(round=1, answer_seq=1, rule="model", policy=events.Blob("0" * 64, 1))
    session.emit(began, lane="verify-1")
    session.emit(events.VerifierToAgent(round=1, step=step, content=FEEDBACK, score=200))


def test_the_lane_goes_on_with_the_feedback_as_its_newest_message(tmp_path: Path) -> None:
    session = new_session(tmp_path / "s")
    prompts: list[Sequence[Message]] = []

    def answer(messages: Sequence[Message]) -> str:
        prompts.append(messages)
        return text.render(final("Forty-two." if len(prompts) == 1 else "Forty-three."))

    lane = open_lane(session, FunctionModel(answer))
    state = asyncio.run(lane.run())
    assert state.answer is not None and state.ended is not None

    refuse(session, state.step)
    assert lane.state.answer is None and lane.state.ended is None
    state = asyncio.run(lane.run())

    assert [message.role for message in prompts[1][-2:]] == ["assistant", "user"]
    assert "Forty-two." in str(prompts[1][-2].content)
    assert prompts[1][-1].content == FEEDBACK
    assert prompts[1][: len(prompts[0])] == prompts[0]
    assert state.answer is not None and state.answer.text == "Forty-three."
    assert [answer.text for answer in session.state.answers.values()] == ["Forty-two.", "Forty-three."]
    session.close()


def test_the_feedback_outlives_the_epoch_in_which_it_was_given(tmp_path: Path) -> None:
    session = new_session(tmp_path / "s")
    seen: list[bool] = []

    def answer(messages: Sequence[Message]) -> str:
        if not session.state.rounds:
            return text.render(final("Forty-two."))
        seen.append(FEEDBACK in json.dumps([str(message.content) for message in messages]))
        return text.render(turn("print", size=3000))

    lane = open_lane(session, FunctionModel(answer), high_tokens=3000, max_steps=30)
    asyncio.run(lane.run())
    refuse(session, lane.state.step)
    asyncio.run(lane.run())

    assert lane.state.epoch_step > 10, "the test is about prompts after an epoch ended"
    assert len(seen) == 29 and all(seen)
    session.close()


ADVICE = events.VerifierGradient(
    round=1,
    step=1,
    missing=("a second source",),
    wrong=(),
    next_actions=(
        events.NextAction(goal="Read the lines.", suggested_tools=("read",), source="ev_0003"),
        events.NextAction(goal="Search again.", suggested_tools=("search", "brave_search")),
    ),
    stop_when="Both are cited.",
)


@pytest.mark.parametrize(
    ("tool", "args", "expected"),
    [
        ("read", {"path": "ev_0003", "first": 4}, True),
        ("read", {"path": "ev_0004"}, False),
        ("search", {"query": "anything"}, True),
        ("shell", {"cmd": "cat ev_0003"}, False),
    ],
)
def test_whether_a_call_follows_the_advice(tool: str, args: dict[str, object], expected: bool) -> None:
    assert follows(ADVICE, tool, args) is expected


def test_the_first_call_after_the_feedback_is_measured_and_no_other(tmp_path: Path) -> None:
    session = new_session(tmp_path / "s")
    choices: list[events.PolicyChoice] = []
    session.subscribe(
        lambda record: choices.append(record) if isinstance(record, events.PolicyChoice) else None
    )
    lane = open_lane(session, FunctionModel(lambda _: text.render(turn("print", size=10))), max_steps=3)
    advice = msgspec.structs.replace(
        ADVICE, next_actions=(events.NextAction(goal="Print.", suggested_tools=("print",)),)
    )
    session.emit(advice)
    asyncio.run(lane.run())
    assert [(choice.tool, choice.matched) for choice in choices] == [("print", True)]
    session.close()
