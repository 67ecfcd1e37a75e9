"""The trajectory of a real run with candidates: its messages are those that the server got, and why."""

import json
from pathlib import Path
from typing import Any

import pytest

from support.cli import vera
from support.scripted_server import ScriptedServer
from support.turns import as_reply, final, turn

FORMS = ("text", "json_schema", "tools")
CANDIDATES = ("I begin.", "The folder is empty.", "Nothing was read.")
SHARED = ("role", "content", "tool_calls", "tool_call_id")
"""What a message of a trajectory has of a message on the wire."""


def run(tmp_path: Path, form: str, *, verifier: bool = True) -> tuple[dict[str, Any], ScriptedServer]:
    """Two steps of three candidates each. The judge is asked at the first and names the second candidate."""
    candidates = [as_reply(turn("note", text=words), form) for words in CANDIDATES]
    answers = [as_reply(final("Nothing to cite."), form)] * 3
    judged = [["FINAL: 2"]] if verifier else []
    replies = [candidates, *judged, answers]
    with ScriptedServer(replies, kind="llamacpp", protocol=form, honours_n=True) as server:
        done = vera(
            "run", "How long must an offer be valid?", "--work-dir", tmp_path / form, "--sandbox", "none",
            "--model-base-url", server.root, "--protocol", form, "--verifier", "literal",
            "--verifier-rounds", 1, "-c", "candidate_sampling.num_candidates=3",
            "-c", f"action_verifier.enabled={str(verifier).lower()}",
            "-c", "action_verifier.verifier_type=llm", cwd=tmp_path,
        )  # fmt: skip
    assert done.returncode == 3, done.stderr
    exported = vera("export", tmp_path / form, "--trajectory", "-o", "out.traj.json", cwd=tmp_path)
    assert exported.returncode == 0, exported.stderr
    return json.loads((tmp_path / "out.traj.json").read_bytes()), server


@pytest.mark.parametrize("form", FORMS)
def test_the_messages_are_those_that_the_server_got(tmp_path: Path, form: str) -> None:
    found, server = run(tmp_path, form)
    sent = server.requests[-1].body["messages"]
    shared = [
        {name: message[name] for name in SHARED if message.get(name) is not None}
        for message in found["messages"]
    ]
    wanted = [{name: message[name] for name in SHARED if message.get(name) is not None} for message in sent]
    assert shared[: len(wanted)] == wanted
    assert [message["role"] for message in found["messages"][len(wanted) :]] == ["assistant", "exit"]


@pytest.mark.parametrize("form", FORMS)
def test_the_executed_action_is_the_one_that_the_verifier_chose(tmp_path: Path, form: str) -> None:
    found, _ = run(tmp_path, form)
    first = next(message for message in found["messages"] if message["role"] == "assistant")
    verifier = first["extra"]["verifier"]
    assert (verifier["enabled"], verifier["type"], verifier["decider"]) == (True, "llm", "selector")
    assert verifier["verifier_output"]["raw_output"] == "FINAL: 2"
    selected = verifier["order"][2 - verifier["selection_index_base"]]
    assert selected == verifier["selected_index"] == verifier["verifier_output"]["parsed_index"]
    assert len(verifier["candidates"]) == 3
    executed = first["extra"]["actions"][0]["command"]
    assert executed == verifier["candidates"][selected]["action"]
    assert first["reasoning_content"].startswith(f"chosen {selected + 1}/3 (llm): ")
    told = json.dumps([{**message, "extra": {}} for message in found["messages"]])
    assert [words in told for words in CANDIDATES] == [index == selected for index in range(3)]
    tool = json.loads(executed)["tool"]
    assert next(m["extra"]["tool"] for m in found["messages"] if "call" in m["extra"]) == tool


def test_with_the_verifier_off_the_first_runs_and_all_are_recorded(tmp_path: Path) -> None:
    found, server = run(tmp_path, "text", verifier=False)
    first = next(message for message in found["messages"] if message["role"] == "assistant")
    assert first["extra"]["verifier"]["enabled"] is False
    assert first["extra"]["verifier"]["selected_index"] == 0
    assert len(first["extra"]["verifier"]["candidates"]) == 3
    assert found["info"]["model_stats"]["api_calls"] == len(server.requests) == 2
