"""A ten-step run over each of the three forms of a turn, with a server that fails in the middle."""

from pathlib import Path

import pytest

from support.cli import folded, records, vera
from support.scripted_server import Drop, Fault, Raw, ScriptedServer
from support.turns import as_reply, final, turn
from vera import events
from vera.session import load_text
from vera.store import Store

QUESTION = "How long must a written offer be valid?"

WITHOUT_JUDGE = ("--verifier", "literal", "--verifier-rounds", 1)
"""The answer is verified once, by rule: nothing is asked of the model after it."""


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "terms.txt").write_text(
        "Terms\n\nA written offer must be valid for at least three years.\nEnd.\n"
    )
    (folder / "other.txt").write_text("Nothing of interest.\n" * 5)
    return folder


TURNS = [
    turn("search", query="written offer valid"),
    turn("read", path="terms.txt", note="the term stands in terms.txt"),
    turn("shell", cmd="echo one; cd /tmp; export WORD=kept"),
    turn("shell", cmd='echo "$PWD $WORD"'),
    turn("note", text="the shell keeps its state"),
    turn("read", path="terms.txt", first=3, last=3),
    turn("shell", cmd="false"),
    turn("search", query="valid", limit=1, note="a command that fails is told as such"),
    turn("shell", cmd="seq 1 3000"),
    final("At least three years [ev_0005:3]."),
]


@pytest.mark.parametrize("form", ["text", "json_schema", "tools"])
def test_a_ten_step_run_ends_with_the_scripted_answer_whatever_the_server_does(
    form: str, documents: Path, tmp_path: Path
) -> None:
    script = [as_reply(said, form) for said in TURNS]
    faults = {
        2: [Fault(500, body="boom")],
        3: [Drop()],
        4: [{"content": None}],
        5: [Raw()],
        6: [Fault(429, headers={"Retry-After": "0.1"})],
        8: [Drop(after="THOUGHT: this is")],
    }
    replies = [reply for number, said in enumerate(script) for reply in [*faults.get(number, []), said]]
    with ScriptedServer(replies, kind="llamacpp", protocol=form) as server:
        done = vera(
            "run", "--task", QUESTION, "--input-dir", documents, "--work-dir", tmp_path / "work",
            "--model-base-url", server.root, "--protocol", form, "--sandbox", "host", cwd=tmp_path,
        )  # fmt: skip
    assert done.returncode == 3, done.stderr
    assert done.stdout.startswith("At least three years [ev_0005:3]. (")
    assert "> A written offer must be valid for at least three years." in done.stdout
    assert "the verifier's model gave no reading that can be used" in done.stdout
    log = records(tmp_path / "work")
    ran = [record for record in log if isinstance(record, events.Tool)]
    assert [record.tool for record in ran if record.outcome != "failed"] == [
        "search", "read", "shell", "shell", "note", "read", "search", "shell",
    ]  # fmt: skip
    assert [record.tool for record in ran if record.outcome == "failed"] == ["shell"]
    state = folded(tmp_path / "work")
    assert list(state.evidence) == [f"ev_{number:04d}" for number in range(1, 9)]
    assert {evidence.tier for evidence in state.evidence.values() if evidence.tool == "shell"} == {"observed"}
    store = Store(tmp_path / "work" / "store")
    shells = [load_text(store, record.obs) for record in ran if record.tool == "shell"]
    assert "1| /tmp kept" in shells[1]
    assert "exit 1" in shells[2]
    assert "not shown: read" in shells[3]
    assert "\n1| 1\n" in shells[3]
    assert "\n3000| 3000\n" in shells[3]
    calls = [record for record in log if isinstance(record, events.Model)]
    assert max(call.attempts for call in calls) > 1
    assert all(call.prompt_tokens for call in calls if not call.error and call.scope != "verifier_exam")


def test_json_schema_and_tools_are_chosen_when_the_server_honours_them(tmp_path: Path) -> None:
    for form in ("text", "json_schema", "tools"):
        answer = as_reply(final("Nothing to cite."), form)
        with ScriptedServer([answer, answer], kind="llamacpp", protocol=form) as server:
            done = vera(
                "run", "Is there anything?", "--work-dir", tmp_path / form,
                "--model-base-url", server.root, "--sandbox", "none", *WITHOUT_JUDGE, cwd=tmp_path,
            )  # fmt: skip
        assert done.returncode == 3, done.stderr
        lane = folded(tmp_path / form).lane("main")
        assert lane.started is not None
        assert lane.started.protocol == form


def test_a_broken_turn_is_answered_with_what_is_wrong_and_nothing_runs(tmp_path: Path) -> None:
    broken = 'I will run {"tool": "shell", "args": {"cmd": "touch ran"}} now.'
    answer = as_reply(final("Done."), "text")
    with ScriptedServer([broken, answer, answer]) as server:
        done = vera(
            "run", "Do something", "--work-dir", tmp_path / "work", "--sandbox", "host",
            "--model-base-url", server.root, "--protocol", "text", *WITHOUT_JUDGE, cwd=tmp_path,
        )  # fmt: skip
    assert done.returncode == 3
    assert not (tmp_path / "work" / "workspace" / "ran").exists()
    told = server.requests[1].body["messages"][-1]["content"]
    assert told.startswith("FORMAT ERROR: nothing was run.")
    for missing in ("THOUGHT", "EVIDENCE_USED", "STATUS_UPDATE"):
        assert missing in told


def test_five_broken_turns_in_a_row_end_the_run_and_keep_what_was_noted(tmp_path: Path) -> None:
    noted = as_reply(turn("note", text="something was found"), "text")
    nonsense = [f"nonsense {number}" for number in range(9)]
    with ScriptedServer([noted, *nonsense]) as server:
        done = vera(
            "run", "Do something", "--work-dir", tmp_path / "work", "--sandbox", "none",
            "--model-base-url", server.root, "--protocol", "text", cwd=tmp_path,
        )  # fmt: skip
    assert done.returncode == 3
    assert "something was found" in done.stdout
    assert len(server.requests) == 6


def test_the_step_limit_ends_a_run_with_exit_code_6_and_what_is_known(tmp_path: Path) -> None:
    noted = as_reply(turn("note", text="half of it"), "text")
    with ScriptedServer([noted], exhausted="repeat") as server:
        done = vera(
            "run", "Do something", "--work-dir", tmp_path / "work", "--sandbox", "none", "--max-steps", 3,
            "--model-base-url", server.root, "--protocol", "text", cwd=tmp_path,
        )  # fmt: skip
    assert done.returncode == 6
    assert "half of it" in done.stdout
    assert len(server.requests) == 3


def test_an_answer_written_to_a_file_is_submitted_and_everything_beside_it_is_kept(tmp_path: Path) -> None:
    write = (
        "mkdir -p output/data && echo 'The answer is 4.' > output/answer.md && printf 4 > output/data/n.txt"
    )
    script = [turn("shell", cmd=write), turn("submit", path="/work/output/answer.md")]
    with ScriptedServer([as_reply(said, "text") for said in script]) as server:
        done = vera(
            "run", "Compute 2 + 2", "--work-dir", tmp_path / "work", "--sandbox", "host",
            "--model-base-url", server.root, "--protocol", "text", *WITHOUT_JUDGE, cwd=tmp_path,
        )  # fmt: skip
    assert done.returncode == 3, done.stderr
    assert done.stdout.startswith("The answer is 4.")
    outputs = folded(tmp_path / "work").outputs
    assert [output.path for output in outputs] == ["answer.md", "data/n.txt"]
    assert (tmp_path / "work" / "output" / "data" / "n.txt").read_text() == "4"


def test_a_command_may_append_to_the_notes_and_cannot_destroy_them(tmp_path: Path) -> None:
    script = [
        turn("shell", cmd="echo 'seen by a command' >> notes.md"),
        turn("shell", cmd="rm notes.md"),
        turn("read", path="/work/notes.md"),
        final("Done."),
    ]
    with ScriptedServer([as_reply(said, "text") for said in script]) as server:
        done = vera(
            "run", "Do something", "--work-dir", tmp_path / "w", "--sandbox", "host",
            "--model-base-url", server.root, "--protocol", "text", *WITHOUT_JUDGE, cwd=tmp_path,
        )  # fmt: skip
    assert done.returncode == 3, done.stderr
    log = records(tmp_path / "w")
    assert [record.text for record in log if isinstance(record, events.Note)] == ["seen by a command"]
    assert sum(isinstance(record, events.PolicyNotesGuard) for record in log) == 1
    assert "it was restored" in server.requests[2].body["messages"][-1]["content"]
    assert "seen by a command" in server.requests[3].body["messages"][-1]["content"]
