"""A whole run with its verifier: what reaches VERIFIED, what does not, and what the agent is told."""

import json
import tempfile
from pathlib import Path

import pytest

from support.cast import Cast, all_labelled, asking, final, looked_up, reads, scored, turn
from support.cli import folded, records, vera
from support.scripted_server import ScriptedServer
from vera import events
from vera.lane.request import rebuild_request
from vera.store import Store

QUESTION = "How long must a written offer be valid?"
READ = turn("read", path="terms.txt")
GOOD = final("A written offer must be valid for at least three years [ev_0001:3].")


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "terms.txt").write_text(
        "Terms\n\nA written offer must be valid for at least three years.\nIt is free of charge.\nEnd.\n"
    )
    return folder


def run(cast: Cast, documents: Path, work: Path, *more: object) -> tuple[int, str, str]:
    with ScriptedServer(cast) as server:
        done = vera(
            "run", "--task", QUESTION, "--input-dir", documents, "--work-dir", work,
            "--model-base-url", server.root, "--protocol", "text", "--sandbox", "none", "--egress", "none",
            *more, cwd=work.parent,
        )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


def test_a_supported_answer_is_verified_and_signed(documents: Path, tmp_path: Path) -> None:
    cast = Cast([READ, GOOD])
    code, out, error = run(cast, documents, tmp_path / "work")
    assert code == 0, error
    assert "(supported)" in out and "VERIFIED" in out and "score 4 of 4" in out
    state = folded(tmp_path / "work")
    decision = state.rounds[1].decision
    assert decision is not None and decision.result == "SUPPORTED"
    assert state.lane("main").status == "VERIFIED"
    envelope = (tmp_path / "work" / "attestation.json").read_bytes()
    assert Store(tmp_path / "work" / "store").get(decision.envelope.sha256) == envelope
    assert cast.asked["label"] == 2 and cast.asked["score"] == 3


def test_a_score_without_instructions_is_told_once(documents: Path, tmp_path: Path) -> None:
    """The agent cannot act on it: the same answer comes, and a third round would cost the same again."""
    cast = Cast([READ, GOOD, GOOD, GOOD], score=scored(2))
    code, _, error = run(cast, documents, tmp_path / "work")
    assert code == 3, error
    state = folded(tmp_path / "work")
    assert list(state.rounds) == [1, 2]
    told = [each for each in records(tmp_path / "work") if isinstance(each, events.VerifierToAgent)]
    assert [each.round for each in told] == [1]
    assert "DO NEXT" not in str(told[0].content)
    assert cast.asked["worker"] == 3


@pytest.mark.needs("bubblewrap")
def test_a_true_none_over_a_folder_is_verified() -> None:
    """Two searches and a command that looks at every file found nothing of it, and a check agrees."""
    count = turn("shell", cmd="grep -ril kubernetes /input | wc -l")
    said = "None of the licences in the folder mentions Kubernetes: 0 files hold the word [ev_0003:1]."
    searches = [turn("search", query=words) for words in ("kubernetes", "container orchestration cluster")]
    cast = Cast([*searches, count, final(said)], check=looked_up(count, final("yes [ev_0004:1]")))
    with tempfile.TemporaryDirectory(prefix="vera-none-") as folder, ScriptedServer(cast) as server:
        documents = Path(folder) / "documents"
        documents.mkdir()
        for place in (documents.parent, documents):
            place.chmod(0o755)  # the sandbox's own user enters
        for number in range(3):
            (documents / f"licence-{number}.txt").write_text("You may copy and distribute this work.\n")
        done = vera(
            "run", "Does any licence in the folder mention Kubernetes?", "--input-dir", documents,
            "--work-dir", "w", "--model-base-url", server.root, "--protocol", "text",
            "--sandbox", "bubblewrap", "--egress", "none", cwd=documents.parent,
        )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert "\nVERIFIED: " in done.stdout


def test_a_hard_finding_goes_back_without_a_judge_call(documents: Path, tmp_path: Path) -> None:
    cast = Cast([READ, final("A written offer must be valid for seven years [ev_0001:3]."), GOOD])
    code, _, error = run(cast, documents, tmp_path / "work")
    assert code == 0, error
    told = str(cast.bodies["worker"][2]["messages"][-1]["content"])
    assert "seven" in told and "round 1 of 3" in told
    state = folded(tmp_path / "work")
    assert state.rounds[1].score is None and not state.rounds[1].labels
    assert [each.decision.result for each in state.rounds.values() if each.decision] == [
        state.rounds[1].decision.result if state.rounds[1].decision else "",
        "SUPPORTED",
    ]


def test_the_best_round_wins_not_the_last(documents: Path, tmp_path: Path) -> None:
    worse = final("A written offer must be valid for nine years [ev_0001:3].")
    cast = Cast([READ, GOOD, worse, worse], score=scored(2))
    code, out, error = run(cast, documents, tmp_path / "work")
    assert code == 3, error
    chosen = folded(tmp_path / "work").chosen
    assert chosen is not None and chosen.round == 1
    assert "at least three years" in out and "nine" not in out
    assert "the verifier's score is too low" in out


def test_a_contradicted_answer_ends_with_exit_code_4(documents: Path, tmp_path: Path) -> None:
    cast = Cast([READ, GOOD], label=all_labelled("CONTRADICTS"))
    code, out, error = run(cast, documents, tmp_path / "work", "--verifier-rounds", 1)
    assert code == 4, error
    assert "REFUTED: the cited sources contradict it" in out


def test_checks_run_in_lanes_of_their_own(documents: Path, tmp_path: Path) -> None:
    question = {
        "claim": "c1",
        "question": "Does the file say that a written offer is valid for three years?",
        "source": "terms.txt",
        "label": "misinterpretation",
    }
    cast = Cast(
        [READ, GOOD],
        decompose=asking(question),
        check=looked_up(turn("read", path="terms.txt"), final("yes [ev_0002:3]")),
    )
    code, _, error = run(cast, documents, tmp_path / "work")
    assert code == 0, error
    (check,) = folded(tmp_path / "work").rounds[1].checks
    assert (check.answer, check.check_lane) == ("yes", "check-1.1")
    worker_said = "read the terms first"
    assert all(worker_said not in json.dumps(body) for body in cast.bodies["check"])


def test_an_unknown_check_caps_the_score_and_the_agent_is_told_so(documents: Path, tmp_path: Path) -> None:
    question = {"claim": "c1", "question": "Is it so?", "source": "ev_0001", "label": "misinterpretation"}
    cast = Cast([READ, GOOD, GOOD, GOOD], decompose=asking(question), check=looked_up(final("yes")))
    code, _, error = run(cast, documents, tmp_path / "work")
    assert code == 3, error
    told = str(cast.bodies["worker"][2]["messages"][-1]["content"])
    assert "Score 2 of 4" in told and "The judge gave 4" in told and "CAPPED" in told


def test_a_verifier_that_talks_nonsense_never_verifies(documents: Path, tmp_path: Path) -> None:
    cast = Cast([READ, GOOD], label=lambda body: "VERIFIED! Score: 4", score=lambda body: "4")
    code, out, error = run(cast, documents, tmp_path / "work", "--verifier-rounds", 1)
    assert code == 3, error
    assert "UNRESOLVED" in out
    readings = [record for record in records(tmp_path / "work") if isinstance(record, events.VerifierScore)]
    assert not readings or all(score.points is None for each in readings for score in each.scores)


def test_a_verifier_that_cannot_be_reached_is_said_before_anything_is_begun(
    documents: Path, tmp_path: Path
) -> None:
    cast = Cast([READ, GOOD])
    code, _, error = run(
        cast, documents, tmp_path / "work", "--verifier-model-base-url", "http://127.0.0.1:9"
    )
    assert code == 5 and "The verifier's model" in error
    assert not (tmp_path / "work").exists()


def test_what_a_run_prints_as_json_is_what_show_prints_later(documents: Path, tmp_path: Path) -> None:
    wrong = final(
        "A written offer must be valid for seven years [ev_0001:3]. It is free of charge [ev_0001:4]."
    )
    cast = Cast([READ, wrong])
    code, out, error = run(cast, documents, tmp_path / "work", "--verifier-rounds", 1, "--json")
    assert code == 3, error
    printed = json.loads(out)
    decision = folded(tmp_path / "work").rounds[1].decision
    assert decision is not None
    assert printed["attestation"] == decision.attestation
    assert (printed["status"], printed["exit_code"]) == ("PARTIAL", 3)
    first, second = printed["claims"]
    assert (first["mark"], second["mark"], second["findings"]) == ("unresolved", "supported", [])
    (finding,) = first["findings"]
    assert "seven" in finding or "7" in finding
    shown = vera("show", tmp_path / "work", "--json", cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    later = json.loads(shown.stdout)
    assert "SEALED" in later.pop("log")
    assert {name: later[name] for name in printed if name != "work_dir"} == {
        name: printed[name] for name in printed if name != "work_dir"
    }
    in_words = vera("show", tmp_path / "work", cwd=tmp_path).stdout
    assert f"- {finding}" in in_words
    assert "(unresolved)" in in_words and "(supported)" in in_words


def test_every_request_of_the_verifier_can_be_made_again_from_the_log(
    documents: Path, tmp_path: Path
) -> None:
    question = {"claim": "c1", "question": "Is it so?", "source": "terms.txt", "label": "misinterpretation"}
    look_up = looked_up(turn("read", path="terms.txt"), final("yes [ev_0001:3]"))
    cast = Cast([READ, GOOD], decompose=asking(question), check=look_up, label=reads, labels_probes=True)
    code, _, error = run(cast, documents, tmp_path / "work")
    assert code == 0, error
    log, store = records(tmp_path / "work"), Store(tmp_path / "work" / "store")
    sent = {
        json.dumps(body["messages"], sort_keys=True) for bodies in cast.bodies.values() for body in bodies
    }
    calls = [record for record in log if isinstance(record, events.ModelIo) and record.lane != "exam"]
    assert {call.lane for call in calls} == {"main", "verify-1", "check-1.1"}
    assert len({(call.lane, call.step) for call in calls}) == len(calls) == sum(cast.asked.values())
    for call in calls:
        rebuilt = rebuild_request(log, store, call.step, call.lane)
        assert rebuilt is not None and rebuilt.same
        assert json.dumps(json.loads(rebuilt.wire), sort_keys=True) in sent


def test_an_earlier_answer_of_which_only_a_part_is_wrong_is_kept_before_extracts(
    documents: Path, tmp_path: Path
) -> None:
    """The second claim is wrong, and no step is left to drop it."""
    said = "A written offer must be valid for at least three years [ev_0001:3]."
    mixed = final(f"{said} A written offer must be valid for seven years [ev_0001:3].")
    cast = Cast([READ, mixed, turn("read", path="terms.txt", first=3, last=3)])
    with ScriptedServer(cast) as server:
        done = vera(
            "run", "--task", QUESTION, "--input-dir", documents, "--work-dir", "w", "--max-steps", 3,
            "--model-base-url", server.root, "--protocol", "text", "--sandbox", "none", "--egress", "none",
            cwd=tmp_path,
        )  # fmt: skip
    assert done.returncode == 6, done.stderr
    assert "seven years" in done.stdout and "extracts" not in done.stdout
    assert list(folded(tmp_path / "w").rounds) == [1]


def test_a_run_that_spent_its_steps_after_feedback_goes_on_with_more(documents: Path, tmp_path: Path) -> None:
    wrong = final("A written offer must be valid for seven years [ev_0001:3].")
    cast = Cast([READ, wrong, turn("read", path="terms.txt", first=3, last=3), GOOD])
    with ScriptedServer(cast) as server:
        done = vera(
            "run", "--task", QUESTION, "--input-dir", documents, "--work-dir", "w", "--max-steps", 3,
            "--model-base-url", server.root, "--protocol", "text", "--sandbox", "none", "--egress", "none",
            cwd=tmp_path,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert "seven years" not in done.stdout and "extracts, because all 3 steps are used" in done.stdout
        assert (tmp_path / "w" / "attestation.json").exists()
        again = vera("resume", "w", "--max-steps", 5, cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert "at least three years" in again.stdout
    state = folded(tmp_path / "w")
    assert list(state.rounds) == [1, 2, 3], "the second is that of the extracts"
    assert state.chosen is not None and state.chosen.round == 3
