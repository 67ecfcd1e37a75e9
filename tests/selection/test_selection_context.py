"""What a judge is told of the run so far."""

from typing import Any

import pytest

from support.turns import turn
from vera.protocol import Parsed, text
from vera.protocol.turn import FormatError
from vera.selection.scene import MAX_EVIDENCE, MAX_PART_LENGTH, UNREADABLE, scene
from vera.state import LaneState, NoteLine, Notes, TailMessage, TailStep


def read(content: str, calls: tuple[dict[str, Any], ...]) -> Parsed:
    return text.parse(content) if not calls else Parsed(turn=None, errors=(FormatError("x", "y"),))


def step(number: int, said: str, seen: str) -> TailStep:
    messages = (TailMessage(role="assistant", content=said), TailMessage(role="user", content=seen))
    return TailStep(step=number, messages=messages, size=0)


def lane(count: int = 4, **state: Any) -> LaneState:
    tail = tuple(
        step(
            number, text.render(turn("shell", thought=f"Surely {number}.", cmd=f"echo {number}")), f"{number}"
        )
        for number in range(1, count + 1)
    )
    return LaneState(name="main", step=count, tail=tail, **state)


@pytest.mark.parametrize(("history", "steps"), [(2, [3, 4]), (0, []), (9, [1, 2, 3, 4]), (-1, [1, 2, 3, 4])])
def test_the_last_steps_are_told_the_oldest_first(history: int, steps: list[int]) -> None:
    told = scene(lane(), "t", str, read, history)
    assert [each.step for each in told.steps] == steps
    assert told.step == 5


def test_a_step_is_its_action_and_its_observation_without_the_words_around() -> None:
    (told,) = scene(lane(1), "t", str, read, 6).steps
    assert (told.action, told.observation) == ("shell\necho 1", "1")


def test_a_turn_that_broke_the_format_is_said_to_have_done_so() -> None:
    broken = LaneState(name="main", step=1, tail=(step(1, "Well…", "Write THOUGHT."),))
    (told,) = scene(broken, "t", str, read, 6).steps
    assert (told.action, told.observation) == (UNREADABLE, "Write THOUGHT.")


def test_long_parts_keep_their_beginning_and_their_end() -> None:
    said = text.render(turn("shell", cmd="echo " + "a" * 9000 + "z"))
    long = LaneState(name="main", step=1, tail=(step(1, said, "b" * 9000 + "END"),))
    (told,) = scene(long, "t", str, read, 6).steps
    for part, end in ((told.action, "z"), (told.observation, "END")):
        assert len(part) < MAX_PART_LENGTH + 60
        assert part.endswith(end)


def test_the_newest_evidence_is_told_and_no_notes() -> None:
    lines = [NoteLine(text=f"ev_{n:04d} · file {n}\nline two", evidence=f"ev_{n:04d}") for n in range(1, 60)]
    notes = Notes(lines=(NoteLine(text="I am sure."), *lines, NoteLine(text="Done.")))
    told = scene(lane(0, notes=notes), "t", str, read, 6).evidence
    assert len(told) == MAX_EVIDENCE
    assert told[-1] == "ev_0059 · file 59 line two"
    assert "I am sure." not in told


def test_before_the_first_step_there_is_only_the_task() -> None:
    told = scene(LaneState(name="main"), "Which year?", str, read, 6)
    assert (told.task, told.step, told.steps, told.evidence) == ("Which year?", 1, (), ())
