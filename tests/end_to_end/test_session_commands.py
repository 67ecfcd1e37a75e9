"""What a person does with a session: look at it, take it apart, stop it."""

import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.cast import Cast
from support.cli import folded, records, vera
from support.scripted_server import ScriptedServer, Slow
from support.turns import as_reply, final, turn
from vera import events

WITHOUT_JUDGE = ("--verifier", "literal", "--verifier-rounds", 1)
"""The answer is verified once, by rule: nothing is asked of the model after it."""


@pytest.fixture
def finished(tmp_path: Path) -> Path:
    """A finished session of the built-in model over one small document."""
    documents = tmp_path / "documents"
    documents.mkdir()
    (documents / "sky.txt").write_text("About the sky.\n\nThe sky is blue on 12 days in May.\n")
    done = vera("run", "On how many days is the sky blue?", "--input-dir", documents, "--work-dir", "w",
                cwd=tmp_path)  # fmt: skip
    assert done.returncode == 0, done.stderr
    return tmp_path / "w"


def test_show_prints_the_answer_with_the_bytes_it_cites_and_that_the_log_is_whole(finished: Path) -> None:
    shown = vera("show", finished, cwd=finished)
    assert shown.returncode == 0
    assert "> The sky is blue on 12 days in May." in shown.stdout
    assert "SEALED" in shown.stdout


def test_the_json_of_a_run_holds_quotes_that_hash_to_what_it_says(finished: Path) -> None:
    shown = json.loads(vera("show", finished, "--json", cwd=finished).stdout)
    cited = shown["citations"][0]
    assert cited["source"] == "sky.txt"
    assert hashlib.sha256(cited["quote"].encode()).hexdigest() == cited["sha256"]
    stored = finished / "store" / cited["text_sha256"][:2] / cited["text_sha256"]
    assert hashlib.sha256(stored.read_bytes()).hexdigest() == cited["text_sha256"]
    lines = stored.read_text().splitlines()[cited["first"] - 1 : cited["last"]]
    assert "\n".join(lines) == cited["quote"]


def test_show_has_the_marks_and_the_attestation_of_a_verified_run(finished: Path) -> None:
    shown = vera("show", finished, cwd=finished).stdout
    assert "(supported)" in shown
    assert "QUOTED: the cited lines hold the words of its claim; no judge has read them" in shown
    assert "· claims 1, supported 1." in shown
    decision = folded(finished).rounds[1].decision
    assert decision is not None
    as_json = json.loads(vera("show", finished, "--json", cwd=finished).stdout)
    assert as_json["attestation"] == decision.attestation
    assert (as_json["status"], as_json["exit_code"]) == ("QUOTED", 0)
    (claim,) = as_json["claims"]
    assert (claim["mark"], claim["findings"]) == ("supported", [])


def test_show_prints_the_lines_of_an_evidence_and_the_request_of_a_step(finished: Path) -> None:
    last = list(folded(finished).evidence)[-1]
    assert vera("show", finished, "--evidence", f"{last}:3", cwd=finished).stdout == (
        "3| The sky is blue on 12 days in May.\n"
    )
    messages = json.loads(vera("show", finished, "--request", "2", cwd=finished).stdout)
    assert messages[1]["content"].startswith("PRIMARY TASK\nOn how many days")
    for wrong in (["--evidence", "ev_9999"], ["--evidence", "nonsense"], ["--request", "99"]):
        assert vera("show", finished, *wrong, cwd=finished).returncode == 2


def test_an_altered_blob_behind_a_citation_is_said_and_fails(finished: Path) -> None:
    cited = json.loads(vera("show", finished, "--json", cwd=finished).stdout)["citations"][0]
    blob = finished / "store" / cited["text_sha256"][:2] / cited["text_sha256"]
    blob.chmod(0o644)
    blob.write_bytes(blob.read_bytes().replace(b"12", b"21"))
    shown = vera("show", finished, cwd=finished)
    assert shown.returncode == 1
    assert "was altered" in shown.stdout
    assert "21 days" not in shown.stdout


def test_answer_md_holds_question_answer_and_quotes(finished: Path) -> None:
    text = (finished / "answer.md").read_text()
    assert text.startswith("# On how many days is the sky blue?")
    assert "> The sky is blue on **12 days** in May." in text
    assert "QUOTED: the cited lines hold the words of its claim; no judge has read them" in text


def test_rebuild_says_that_nothing_changed_or_what_did(finished: Path) -> None:
    assert vera("rebuild", finished, cwd=finished).stdout == "All files match the log. Nothing was rebuilt.\n"
    (finished / "notes.md").write_text("forged")
    assert vera("rebuild", finished, cwd=finished).stdout == "made again: notes.md\n"


def test_a_key_never_appears_in_the_session_folder_or_in_what_is_printed(tmp_path: Path) -> None:
    secret = "sk-very-secret-value-123456"
    answer = as_reply(final("Nothing."), "text")
    with ScriptedServer([answer, answer], key=secret) as server:
        done = vera(
            "run", "Anything?", "--work-dir", "w", "--sandbox", "host", "--protocol", "text",
            "--model-base-url", server.root, *WITHOUT_JUDGE, cwd=tmp_path, OPENAI_API_KEY=secret,
        )  # fmt: skip
        assert done.returncode == 3, done.stderr
        assert server.requests[0].headers["authorization"] == f"Bearer {secret}"
    assert secret not in done.stdout + done.stderr
    for path in (tmp_path / "w").rglob("*"):
        if path.is_file():
            assert secret.encode() not in path.read_bytes(), path


def begin(tmp_path: Path, server: ScriptedServer) -> subprocess.Popen[str]:
    arguments = ["run", "How long?", "--work-dir", "w", "--sandbox", "none", "--protocol", "text"]
    return subprocess.Popen(
        [sys.executable, "-m", "vera", *arguments, "--model-base-url", server.root],
        cwd=tmp_path,
        env=dict(os.environ),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(server: ScriptedServer, requests: int) -> None:
    deadline = time.monotonic() + 30
    while len(server.requests) < requests:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_the_first_interrupt_ends_the_run_with_what_is_known(tmp_path: Path) -> None:
    script = [as_reply(turn("note", text="half of it"), "text"), Slow(60, "late")]
    with ScriptedServer(script) as server:
        process = begin(tmp_path, server)
        wait_for(server, 2)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "half of it" in out
    assert "Ctrl-C again stops at once" in err
    assert err.splitlines()[-1] == "Go on with: vera resume w"
    ended = records(tmp_path / "w")[-1]
    assert isinstance(ended, events.RunEnd)
    assert ended.exit_code == 130


def test_a_terminated_run_can_be_resumed(tmp_path: Path) -> None:
    script = [as_reply(turn("note", text="half of it"), "text"), Slow(60, "late")]
    with ScriptedServer(script) as server:
        process = begin(tmp_path, server)
        wait_for(server, 2)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert err.splitlines()[-1] == "vera: stopped. Go on with 'vera resume w'."
    with ScriptedServer(Cast([final("Long enough.")])) as server:
        done = vera("resume", "w", "-c", f"model.base_url={server.root}", cwd=tmp_path)
    assert done.returncode == 3, done.stderr
    assert done.stdout.startswith("Long enough.")
    assert "half of it" in (tmp_path / "w" / "notes.md").read_text()


def test_the_last_line_after_a_second_interrupt_says_how_to_resume(tmp_path: Path) -> None:
    script = [as_reply(turn("note", text="half of it"), "text"), Slow(60, "late", after="THOUGHT")]
    with ScriptedServer(script) as server:
        process = begin(tmp_path, server)
        wait_for(server, 2)
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    last = err.splitlines()[-1]
    assert last in ("Go on with: vera resume w", "vera: stopped. Go on with 'vera resume w'."), err


def test_the_question_may_come_from_a_file_or_standard_input(tmp_path: Path) -> None:
    (tmp_path / "question.txt").write_text("From a file?\n")
    for work, task, stdin in (("w1", "@question.txt", ""), ("w2", "-", "From a pipe?")):
        done = vera("run", "--task", task, "--work-dir", work, "--quiet", cwd=tmp_path, stdin=stdin)
        assert done.returncode == 3
        assert done.stderr == ""
        asked = folded(tmp_path / work).task
        assert asked is not None
        assert asked.task == ("From a pipe?" if stdin else "From a file?")


def test_without_a_work_folder_the_session_is_named_after_time_and_question(tmp_path: Path) -> None:
    done = vera("run", "What colour is the sky, really?", cwd=tmp_path)
    assert done.returncode == 3
    (folder,) = (tmp_path / "work").iterdir()
    assert re.search(r"-what-colour-is-the-sky-really-[0-9a-f]{6}\Z", folder.name)


def test_effort_sets_the_steps_unless_steps_are_given(tmp_path: Path) -> None:
    for arguments, steps in ((["--effort", "quick"], 20), (["--effort", "quick", "--max-steps", "7"], 7)):
        work = tmp_path / f"w{steps}"
        vera("run", "Why?", *arguments, "--work-dir", work, cwd=tmp_path)
        first = records(work)[0]
        assert isinstance(first, events.Session)
        assert first.settings["run"]["max_steps"] == steps


def test_doctor_names_every_part_and_what_to_type_for_a_missing_one(tmp_path: Path) -> None:
    done = vera("doctor", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    findings = {finding["part"]: finding for finding in json.loads(done.stdout)}
    assert findings["full-text index"]["state"] == "ok"
    assert {"Python", "extra local", "extra office", "index cache", "sandbox host"} <= findings.keys()
    for finding in findings.values():
        assert finding["state"] == "ok" or finding["next"], finding


def test_a_run_that_spent_its_steps_goes_on_with_more(tmp_path: Path) -> None:
    noted = as_reply(turn("note", text="half of it"), "text")
    with ScriptedServer([noted, noted, noted, as_reply(final("All of it."), "text")]) as server:
        arguments = (
            "--sandbox",
            "none",
            "--protocol",
            "text",
            "--model-base-url",
            server.root,
            *WITHOUT_JUDGE,
        )
        first = vera("run", "How?", "--work-dir", "w", "--max-steps", 3, *arguments, cwd=tmp_path)
        assert first.returncode == 6
        again = vera("resume", "w", "--max-steps", 5, cwd=tmp_path)
    assert again.returncode == 3, again.stderr
    assert again.stdout.startswith("All of it.")
    assert "SEALED" in vera("show", "w", cwd=tmp_path).stdout


def test_a_folder_whose_run_never_began_can_be_used_again(tmp_path: Path) -> None:
    arguments = ("run", "How?", "--work-dir", "w", "--protocol", "text")
    answer = as_reply(final("So."), "text")
    with ScriptedServer([answer, answer]) as server:
        to = ("--model-base-url", server.root, *WITHOUT_JUDGE)
        broken = vera(*arguments, *to, "--prompt-profile", "none-such", cwd=tmp_path)
        assert broken.returncode == 2
        wrong = vera(*arguments, *to, "--sandbox", "none", "-c", "egress.allow_cidrs=x", cwd=tmp_path)
        assert wrong.returncode == 2
        assert vera(*arguments, *to, "--sandbox", "none", cwd=tmp_path).returncode == 3


def test_without_documents_the_built_in_model_says_so_at_once(tmp_path: Path) -> None:
    done = vera("run", "What colour is the sky?", "--work-dir", "w", cwd=tmp_path)
    assert done.returncode == 3
    assert "No documents were given" in done.stdout
    assert folded(tmp_path / "w").lane("main").step == 1
