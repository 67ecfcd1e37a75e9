"""The trajectory of a run: mini-swe-agent's format 1.1, with what the fork's verifier records and ours."""

import json
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.sampled_run_examples import ANSWER, BROKEN, GREP, LIST, LIST_AGAIN, NO_NUMBER, READ, decided_run
from support.sampled_runs import SampledRun, said
from support.turns import final, turn
from vera import events
from vera.report.trajectory import NAME, keep_trajectory, write_trajectory
from vera.session import LogBroken
from vera.state import RunState
from vera.store import StoreError


def nothing_spent(_: RunState) -> Mapping[str, Any]:
    return {"cost": None}


def trajectory(root: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(write_trajectory(root, nothing_spent).read_bytes())
    return found


@pytest.fixture
def written(tmp_path: Path) -> dict[str, Any]:
    return trajectory(decided_run(tmp_path))


def turns(written: dict[str, Any]) -> list[dict[str, Any]]:
    return [message for message in written["messages"] if message["role"] == "assistant"]


def verifier(written: dict[str, Any], step: int) -> dict[str, Any]:
    found: dict[str, Any] = turns(written)[step - 1]["extra"]["verifier"]
    return found


def test_the_top_level_is_that_of_the_format_and_one_key_of_ours(written: dict[str, Any]) -> None:
    assert written.keys() == {"trajectory_format", "messages", "info", "vera"}
    assert written["trajectory_format"] == "mini-swe-agent-1.1"
    assert written["info"].keys() == {"exit_status", "submission", "model_stats", "config"}


def test_the_messages_are_system_task_turns_observations_and_exit(written: dict[str, Any]) -> None:
    assert [message["role"] for message in written["messages"]] == [
        "system", "user", *["assistant", "user"] * 4, "assistant", "exit",
    ]  # fmt: skip
    assert written["messages"][1]["content"] == "PRIMARY TASK: how long?"
    assert written["messages"][3]["content"] == "terms.txt"
    assert written["messages"][3]["extra"]["returncode"] == 0
    assert written["messages"][9]["extra"]["interrupt_type"] == "FormatError"
    assert written["messages"][-1]["extra"]["exit_status"] == "Submitted"
    assert written["info"]["submission"] == written["messages"][-1]["content"] == "Three years."


def test_only_the_selected_candidate_is_a_message(written: dict[str, Any]) -> None:
    assert [message["content"] for message in turns(written)] == [LIST_AGAIN, GREP, READ, BROKEN, ANSWER]
    told = json.dumps([{**each, "extra": {}} for each in written["messages"]])
    assert "grep 'years" not in told


def test_the_selected_message_has_candidates_index_and_output_of_the_verifier(
    written: dict[str, Any],
) -> None:
    found = verifier(written, 2)
    assert found["enabled"] is True
    assert found["type"] == "llm"
    assert found["selected_index"] == 1
    assert found["selection_index_base"] == 1
    assert [each["index"] for each in found["candidates"]] == [0, 1, 2]
    assert found["candidates"][1]["content"] == turns(written)[1]["content"]
    assert found["candidates"][1]["action"] == turns(written)[1]["extra"]["actions"][0]["command"]
    assert found["verifier_output"] == {
        "verifier_type": "llm",
        "parsed_index": 1,
        "raw_output": "FINAL: 2",
        "response": {
            "finish_reason": "stop",
            "usage": {"prompt_tokens": 300, "cached_tokens": 150, "completion_tokens": 5},
            "latency_s": 0.5,
        },
    }


def test_what_the_format_does_not_record_stands_beside_it(written: dict[str, Any]) -> None:
    found = verifier(written, 2)
    assert (found["decider"], found["votes"], found["order"]) == ("selector", [1, 1, 1], [1, 0])
    assert (found["scores"], found["margin"]) == ([1.5, 0.25], 1.25)
    assert found["rejected"] == [{"index": 2, "check": "bash_syntax", "reason": "unexpected end of file"}]
    assert found["timings"] == {"sampling_s": 1.25, "selection_s": 0.75}
    assert found["sampling"]["prompt_tokens"] == 300
    assert found["judge"] == {
        "calls": 1, "prompt_tokens": 300, "cached_tokens": 150, "completion_tokens": 5,
    }  # fmt: skip
    assert [each["latency_s"] for each in found["candidates"]] == [0.5, 0.5, 0.5]


def test_a_candidate_that_cannot_be_read_has_no_action_and_its_parse_error(written: dict[str, Any]) -> None:
    candidate = verifier(written, 1)["candidates"][3]
    assert candidate["content"] == BROKEN
    assert (candidate["action"], candidate["actions_found"]) == (None, 0)
    assert "THOUGHT" in candidate["parse_error"]
    readable = verifier(written, 1)["candidates"][0]
    assert (readable["action"], readable["actions_found"]) == ("ls /input", 1)
    assert "parse_error" not in readable


def test_agreement_has_votes_and_no_output_of_a_judge(written: dict[str, Any]) -> None:
    found = verifier(written, 1)
    assert (found["decider"], found["votes"]) == ("agreement", [2, 2, 1, 0])
    assert found["verifier_output"] == {"verifier_type": "llm"}
    assert found["judge"]["calls"] == 0


def test_a_fallback_is_said_with_its_reason_and_no_parsed_index(written: dict[str, Any]) -> None:
    found = verifier(written, 3)
    assert (found["fallback"], found["fallback_reason"]) == ("first_candidate", "no_number")
    assert found["verifier_output"]["parsed_index"] is None
    assert found["verifier_output"]["raw_outputs"] == [NO_NUMBER, NO_NUMBER]
    assert len(found["verifier_output"]["responses"]) == 2
    assert found["sampling"]["problem"] == "the server gave 2 of 4"


def test_with_the_verifier_off_all_candidates_are_recorded(written: dict[str, Any]) -> None:
    found = verifier(written, 5)
    assert (found["enabled"], found["type"], found["selected_index"]) == (False, None, 0)
    assert len(found["candidates"]) == 2


def test_a_step_of_one_turn_has_no_verifier(written: dict[str, Any]) -> None:
    assert "verifier" not in turns(written)[3]["extra"]
    assert turns(written)[3]["extra"]["actions"] == []
    assert turns(written)[3]["reasoning_content"] == "The folder comes first."


def test_the_reason_why_stands_where_their_inspector_shows_it(written: dict[str, Any]) -> None:
    assert [message.get("reasoning_content") for message in turns(written)] == [
        "chosen 2/4 (agreement): 2 of 3 readable candidates agree\n\nThe folder comes first.",
        "chosen 2/3 (llm): the selector preferred it; margin 1.25",
        "chosen 1/2 (fallback first_candidate): the verdict could not be used; verdict: no_number",
        "The folder comes first.",
        "chosen 1/2 (off): no verifier is on, so the first candidate runs",
    ]


def test_every_call_counts_in_the_figures_of_the_run(written: dict[str, Any]) -> None:
    stats = written["info"]["model_stats"]
    assert stats == {
        "instance_cost": 0.0, "api_calls": 10, "prompt_tokens": 1600, "completion_tokens": 155,
    }  # fmt: skip
    assert written["vera"]["spent"]["selector"] == {"prompt": 900, "cached": 450, "completion": 15}
    assert written["vera"]["selection"] == {
        "steps": 4, "candidates": 11, "judge_calls": 3,
        "deciders": {"agreement": 1, "fallback": 1, "off": 1, "selector": 1},
    }  # fmt: skip


def test_the_cost_is_the_one_that_the_run_reports(tmp_path: Path) -> None:
    path = write_trajectory(decided_run(tmp_path), lambda _: {"cost": "0.0125"})
    assert json.loads(path.read_bytes())["info"]["model_stats"]["instance_cost"] == 0.0125


def test_the_settings_are_there_without_what_may_be_a_key(written: dict[str, Any]) -> None:
    assert written["info"]["config"]["agent"]["verifier"] == {
        "selection_index_base": 1,
        "model": {"name": "judge"},
    }


def test_the_same_log_gives_the_same_bytes(tmp_path: Path) -> None:
    root = decided_run(tmp_path)
    first = write_trajectory(root, nothing_spent).read_bytes()
    assert write_trajectory(root, nothing_spent, tmp_path / "again.traj.json").read_bytes() == first
    assert (root / NAME).read_bytes() == first


def test_a_message_is_a_line_and_the_file_of_a_session_is_its_owners(tmp_path: Path) -> None:
    root = decided_run(tmp_path)
    path = write_trajectory(root, nothing_spent)
    lines = path.read_bytes().split(b"\n")
    assert json.loads(lines[2].rstrip(b","))["role"] == "system"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    copy = write_trajectory(root, nothing_spent, tmp_path / "copy.traj.json")
    assert stat.S_IMODE(copy.stat().st_mode) == 0o644, "a file that was asked for elsewhere is open to read"
    assert not list(tmp_path.glob(".new-*"))


def test_long_texts_come_whole_out_of_the_store(tmp_path: Path) -> None:
    run = SampledRun(tmp_path)
    long = said(turn("shell", cmd=f"echo {'é' * 9000}"))
    run.sample(long, LIST)
    run.choose(0, "off")
    run.observe("€" * 9000)
    messages = trajectory(run.close())["messages"]
    assert messages[2]["content"] == messages[2]["extra"]["verifier"]["candidates"][0]["content"] == long
    assert messages[3]["content"] == "€" * 9000


def test_a_model_without_a_system_role_has_one_message_before_its_first_turn(tmp_path: Path) -> None:
    run = SampledRun(tmp_path, system_role="user")
    run.one_turn(LIST)
    messages = trajectory(run.close())["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant"]
    assert messages[0]["content"] == "You are a researcher.\n\nPRIMARY TASK: how long?"


def test_the_feedback_on_an_answer_is_what_the_model_reads_next(tmp_path: Path) -> None:
    run = SampledRun(tmp_path)
    run.one_turn(said(final("Four years.")))
    run.answer("Four years.")
    run.session.emit(events.VerifierToAgent(round=1, step=1, content="The page says three.", score=150))
    run.one_turn(said(final("Three years.")))
    run.answer("Three years.")
    run.end()
    messages = trajectory(run.close())["messages"]
    assert [message["role"] for message in messages[2:]] == ["assistant", "user", "assistant", "exit"]
    assert messages[3]["content"] == "The page says three."
    assert messages[3]["extra"]["feedback_round"] == 1
    assert messages[-1]["content"] == "Three years."


def test_what_a_gate_replies_is_an_observation(tmp_path: Path) -> None:
    run = SampledRun(tmp_path)
    run.one_turn(LIST)
    run.session.emit(events.PolicyNotesGate(step=1, effect="refuse", reason="no note", reply="Write a note."))
    message = trajectory(run.close())["messages"][-1]
    assert (message["role"], message["content"]) == ("user", "Write a note.")
    assert message["extra"]["policy"] == "policy_notes_gate"


def test_native_tool_calls_and_their_results_belong_together(tmp_path: Path) -> None:
    run = SampledRun(tmp_path)
    calls = tuple(
        {"id": name, "type": "function", "function": {"name": "shell", "arguments": '{"cmd":"ls"}'}}
        for name in ("a", "b")
    )
    run.step = 1
    run.session.emit(events.Assistant(step=1, content="", tool_calls=calls))
    run.observe("terms.txt")
    said_so, first, second = trajectory(run.close())["messages"][2:]
    assert said_so["tool_calls"] == list(calls)
    assert [(each["role"], each["tool_call_id"]) for each in (first, second)] == [
        ("tool", "a"),
        ("tool", "b"),
    ]
    assert first["content"] == "terms.txt"


def test_check_lanes_are_left_out(tmp_path: Path) -> None:
    run = SampledRun(tmp_path)
    run.one_turn(LIST)
    before = trajectory(tmp_path)["messages"]
    for event in (
        events.LaneStarted(
            purpose="check", system="s", task_message="t", tools=(), protocol="text", system_role="system",
            prompt_sha256="", high_tokens=1000, max_bytes=0, tail_steps=1,
        ),
        events.Assistant(step=1, content="secret of a check"),
        events.Tool(step=1, call="call_0009", tool="read", outcome="ok", obs="lines"),
    ):  # fmt: skip
        run.session.emit(event, lane="check-1.1")
    assert trajectory(run.close())["messages"] == before


def test_a_run_under_way_has_no_exit_and_one_that_waits_for_its_choice_no_turn(tmp_path: Path) -> None:
    run = SampledRun(tmp_path)
    run.sample(LIST, READ)
    found = trajectory(run.close())
    assert [message["role"] for message in found["messages"]] == ["system", "user"]
    assert found["info"]["exit_status"] == ""
    assert found["vera"]["exit_code"] is None


@pytest.mark.parametrize(
    ("reason", "exit_status"),
    [
        ("steps", "LimitsExceeded"),
        ("tokens", "LimitsExceeded"),
        ("time", "TimeExceeded"),
        ("parse_error", "RepeatedFormatError"),
        ("interrupted", "UserInterruption"),
        ("conclusion_ready", "conclusion_ready"),
    ],
)
def test_a_run_without_an_answer_ends_by_the_names_of_the_format(
    tmp_path: Path, reason: str, exit_status: str
) -> None:
    run = SampledRun(tmp_path)
    run.session.emit(events.LaneEnded(reason=reason))
    run.end(6, "ended early")
    found = trajectory(run.close())
    assert found["info"]["exit_status"] == exit_status
    assert found["info"]["submission"] == ""
    assert found["messages"][-1]["content"] == "ended early"


def test_a_resumed_run_has_one_exit(tmp_path: Path) -> None:
    run = SampledRun(tmp_path)
    run.one_turn(LIST)
    run.session.emit(events.LaneEnded(reason="interrupted"))
    run.end(130, "interrupted")
    run.session.emit(events.Resumed(version="1"), lane="")
    run.one_turn(ANSWER)
    run.answer("Three years.")
    run.end()
    roles = [message["role"] for message in trajectory(run.close())["messages"]]
    assert roles == ["system", "user", "assistant", "assistant", "exit"]


def test_a_broken_log_gives_no_file_and_a_run_that_ends_gets_a_sentence(tmp_path: Path) -> None:
    root = decided_run(tmp_path)
    log = root / "trace.jsonl"
    log.write_bytes(log.read_bytes().replace(b"three years", b"seven years", 1))
    with pytest.raises(LogBroken):
        write_trajectory(root, nothing_spent)
    assert keep_trajectory(root, nothing_spent).startswith(
        f"{NAME} was not written: The log is broken at line"
    )
    assert not (root / NAME).exists()
    assert not list(root.glob(".new-*"))


def test_a_text_that_is_missing_in_the_store_is_a_sentence(tmp_path: Path) -> None:
    run = SampledRun(tmp_path)
    run.one_turn(said(turn("shell", cmd="x" * 9000)))
    root = run.close()
    for blob in (root / "store").glob("*/*"):
        blob.unlink()
    with pytest.raises(StoreError):
        write_trajectory(root, nothing_spent)
    assert "The store has no blob" in keep_trajectory(root, nothing_spent)


def test_a_folder_that_is_not_there_is_named_and_not_the_temporary_file(tmp_path: Path) -> None:
    root = decided_run(tmp_path / "run")
    with pytest.raises(OSError, match=r"nowhere/x\.traj\.json"):
        write_trajectory(root, nothing_spent, tmp_path / "nowhere/x.traj.json")


@settings(deadline=None, max_examples=60)
@given(
    content=st.text(max_size=200),
    selected=st.integers(-3, 5),
    groups=st.lists(st.integers(-1, 4), max_size=5),
    compared=st.lists(st.integers(-2, 9), max_size=4),
    scores=st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=4),
    output=st.text(max_size=40),
    calls=st.integers(-1, 6),
)
def test_no_selection_in_a_log_breaks_the_trajectory(
    tmp_path_factory: pytest.TempPathFactory,
    content: str,
    selected: int,
    groups: list[int],
    compared: list[int],
    scores: list[float],
    output: str,
    calls: int,
) -> None:
    run = SampledRun(tmp_path_factory.mktemp("run"))
    run.step = 1
    run.model_call("agent", content)
    candidates = tuple(events.Candidate(content=text, call=calls) for text in (content, LIST))
    run.session.emit(events.Candidates(step=1, asked=2, candidates=candidates, calls=calls))
    run.session.emit(
        events.Selection(
            step=1, selected=selected, decider="selector", selector="llm", compared=tuple(compared),
            weighed=tuple(events.Weighed(group=group) for group in groups), scores=tuple(scores),
            judge_calls=1, output=output,
        )
    )  # fmt: skip
    run.take(content)
    found = trajectory(run.close())["messages"][-1]
    assert found["content"] == content
    assert len(found["extra"]["verifier"]["candidates"]) == 2
