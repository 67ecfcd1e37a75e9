"""The prompt: a fixed order, assembled in epochs, within a hard budget. Same log, same bytes."""

from itertools import pairwise

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from vera import events
from vera.events import Text
from vera.lane import context
from vera.model.types import wire
from vera.state import NOT_RUN, LaneState, RunState, fold_lane

BLOBS: dict[str, str] = {}


def load(text: Text) -> str:
    return BLOBS[text.sha256] if isinstance(text, events.Blob) else text


def started(high_tokens: int = 4000, system_role: str = "system", max_bytes: int = 0) -> events.LaneStarted:
    return events.LaneStarted(
        lane="main",
        purpose="research",
        system="SYSTEM " * 40,
        task_message="PRIMARY TASK\nWhat?",
        tools=("shell",),
        protocol="text",
        system_role=system_role,
        prompt_sha256="0" * 64,
        high_tokens=high_tokens,
        max_bytes=max_bytes,
        tail_steps=4,
    )


def step_events(step: int, answer: str, observation: str, note: str | None) -> list[events.Event]:
    out: list[events.Event] = [events.Assistant(lane="main", step=step, content=answer)]
    if note:
        out.append(events.Note(lane="main", step=step, text=note))
    out.append(
        events.Tool(lane="main", step=step, call=f"call_{step}", tool="shell", outcome="ok", obs=observation)
    )
    return out


def play(lane: LaneState, steps: list[tuple[str, str, str | None]]) -> list[tuple[LaneState, bytes, bool]]:
    """The prompt before each step, as the loop would send it, and whether an epoch began there."""
    prompts = []
    for number, (answer, observed, note) in enumerate(steps, 1):
        began = context.epoch_is_over(lane)
        if began:
            size = context.estimated_bytes(lane)
            lane = fold_lane(
                lane, events.ContextEpoch(lane="main", step=number, tail_steps=4, prompt_bytes=size)
            )
        prompts.append((lane, wire(context.assemble(lane, load)), began))
        for event in step_events(number, answer, observed, note):
            lane = fold_lane(lane, event)
    return prompts


texts = st.text(min_size=1, max_size=600)
steps = st.lists(st.tuples(texts, texts, st.none() | texts), min_size=2, max_size=40)


@settings(max_examples=60, deadline=None)
@given(steps)
def test_within_an_epoch_each_prompt_is_a_byte_prefix_of_the_next(
    script: list[tuple[str, str, str | None]],
) -> None:
    lane = fold_lane(LaneState(name="main"), started(high_tokens=1500))
    prompts = play(lane, script)
    for (_, before, _), (_, after, began) in pairwise(prompts):
        if not began:
            assert after.startswith(before.removesuffix(b"]"))
            assert context.shared_prefix(before, after) == len(before) - 1


@settings(max_examples=40, deadline=None)
@given(steps)
def test_the_newest_observation_is_always_in_the_prompt(script: list[tuple[str, str, str | None]]) -> None:
    lane = fold_lane(LaneState(name="main"), started(high_tokens=700))
    for (state, _, _), (_, observed, _) in zip(play(lane, script)[1:], script, strict=False):
        assert state.tail[-1].messages[-1].content == observed


@settings(max_examples=80, deadline=None)
@given(steps, st.integers(200, 3000), st.integers(0, 8000))
def test_a_new_epoch_is_never_over_at_once_however_long_the_task(
    script: list[tuple[str, str, str | None]], high_tokens: int, task_bytes: int
) -> None:
    lane = fold_lane(
        LaneState(name="main"),
        msgspec.structs.replace(started(high_tokens=high_tokens), task_message="t" * task_bytes),
    )
    for state, _, began in play(lane, script):
        assert not (began and context.epoch_is_over(state))


def test_a_long_run_stays_under_its_limit_and_starts_each_epoch_well_below() -> None:
    lane = fold_lane(LaneState(name="main"), started(high_tokens=8000))
    script = [(f"THOUGHT: step {n}", "x" * 1000, f"note {n}" if n % 3 == 0 else None) for n in range(400)]
    high = lane.high_bytes
    epochs = 0
    for state, prompt, began in play(lane, script):
        assert len(prompt) <= high
        epochs += began
        if began:
            assert len(prompt) <= high * 62 // 100
            assert 1 <= len(state.tail) <= 4
    assert epochs > 5


def test_the_order_is_system_task_notes_tail() -> None:
    lane = fold_lane(LaneState(name="main"), started())
    for event in step_events(1, "turn one", "observation one", "the note"):
        lane = fold_lane(lane, event)
    lane = fold_lane(lane, events.ContextEpoch(lane="main", step=2, tail_steps=4, prompt_bytes=0))
    system, task, turn, seen = context.assemble(lane, load)
    assert (system.role, task.role, turn.role, seen.role) == ("system", "user", "assistant", "user")
    assert task.content == "PRIMARY TASK\nWhat?\n\nPINNED notes.md\n- the note"
    assert (turn.content, seen.content) == ("turn one", "observation one")


def test_roles_alternate_so_that_strict_chat_templates_accept_the_prompt() -> None:
    for role in ("system", "user"):
        lane = fold_lane(LaneState(name="main"), started(system_role=role))
        for number in range(1, 4):
            for event in step_events(number, "turn", "seen", None):
                lane = fold_lane(lane, event)
        roles = [message.role for message in context.assemble(lane, load) if message.role != "system"]
        assert roles == ["user", "assistant"] * 3 + ["user"]


def test_notes_shown_are_those_of_the_epochs_start_until_the_next() -> None:
    lane = fold_lane(LaneState(name="main"), started())
    lane = fold_lane(lane, events.Note(lane="main", step=1, text="new note"))
    assert "new note" not in (context.assemble(lane, load)[1].content or "")
    lane = fold_lane(lane, events.ContextEpoch(lane="main", step=2, tail_steps=4, prompt_bytes=0))
    assert "new note" in (context.assemble(lane, load)[1].content or "")


def test_old_evidence_lines_are_folded_to_a_range_and_old_notes_to_a_count() -> None:
    lane = fold_lane(LaneState(name="main"), started(high_tokens=500))
    for number in range(1, 3000):
        lane = fold_lane(
            lane,
            events.Evidence(
                lane="main",
                id=f"ev_{number:04d}",
                call="",
                step=number,
                tool="read",
                tier="captured",
                source="a.txt",
                summary="read a.txt",
                text=events.Blob("0" * 64, 1),
                lines=1,
                first=1,
                last=1,
            ),
        )
        lane = fold_lane(lane, events.Note(lane="main", step=number, text=f"thought {number}"))
    block = context.notes_block(lane.notes, 800)
    assert len(block.encode()) < 1000
    assert "older evidence ev_0001 to ev_29" in block
    assert "older notes: read /work/notes.md" in block
    assert block.endswith("- thought 2999")
    shown = sum("thought" in line for line in block.splitlines())
    folded = int(block.split("- (")[2].split(" ")[0])
    assert shown + folded == 2999


def test_context_max_chars_is_honoured_as_a_lower_cap() -> None:
    lane = fold_lane(LaneState(name="main"), started(high_tokens=24_000, max_bytes=20_000))
    assert lane.high_bytes == 20_000


def test_a_server_that_counts_more_tokens_than_assumed_shrinks_the_prompt() -> None:
    lane = fold_lane(LaneState(name="main"), started(high_tokens=1000))
    assert lane.high_bytes == 3500
    call = events.Model(lane="main", step=1, scope="agent", latency_s=1, input_bytes=4000, prompt_tokens=4000)
    assert fold_lane(lane, call).high_bytes == 1000


def test_each_tool_call_of_a_turn_gets_its_reply_and_only_the_first_ran() -> None:
    lane = fold_lane(LaneState(name="main"), started())
    calls = ({"id": "a", "function": {}}, {"id": "b", "function": {}})
    lane = fold_lane(lane, events.Assistant(lane="main", step=1, content="", tool_calls=calls))
    lane = fold_lane(
        lane, events.Tool(lane="main", step=1, call="call_1", tool="shell", outcome="ok", obs="seen")
    )
    *_, turn, first, second = context.assemble(lane, load)
    assert turn.tool_calls == list(calls)
    assert (first.role, first.tool_call_id, first.content) == ("tool", "a", "seen")
    assert (second.role, second.tool_call_id, second.content) == ("tool", "b", NOT_RUN)


@given(st.binary(max_size=300), st.binary(max_size=300))
def test_the_shared_prefix_is_what_comparing_bytes_gives(before: bytes, after: bytes) -> None:
    body = before.removesuffix(b"]")
    expected = next((i for i, (a, b) in enumerate(zip(body, after, strict=False)) if a != b), None)
    if expected is None:
        expected = min(len(body), len(after))
    assert context.shared_prefix(before, after) == expected


def test_the_state_cannot_be_changed_from_outside() -> None:
    state = RunState([started()])
    for change in (
        lambda: setattr(state, "seq", 5),
        lambda: setattr(state.lane("main"), "step", 5),
        lambda: state.lanes.__setitem__("main", LaneState(name="main")),  # type: ignore[index] # what must fail
        lambda: state.evidence.__setitem__("ev_0001", None),  # type: ignore[index] # what must fail
    ):
        try:
            change()
        except (AttributeError, TypeError):
            continue
        raise AssertionError("the state was changed from outside the fold")
