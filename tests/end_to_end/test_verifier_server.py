"""A verifier on a server of its own: neither server sees the prompts or the key of the other."""

import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from support.cast import Cast, asking, final, looked_up, part_of, turn
from support.cli import folded, records, vera
from support.scripted_server import Recorded, ScriptedServer
from vera import events

TASK = "How long must a written offer be valid?"
READ = turn("read", path="terms.txt")
GOOD = final("A written offer must be valid for at least three years [ev_0001:3].")
QUESTION = {"claim": "c1", "question": "Is it so?", "source": "terms.txt", "label": "misinterpretation"}
WORKERS_KEY, VERIFIERS_KEY = "sk-worker-0123456789", "sk-verifier-9876543210"


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "terms.txt").write_text(
        "Terms\n\nA written offer must be valid for at least three years.\nEnd.\n"
    )
    return folder


def keys_sent(requests: Iterable[Recorded]) -> set[str]:
    return {request.headers.get("authorization", "") for request in requests}


def test_each_server_gets_its_own_prompts_and_its_own_key(documents: Path, tmp_path: Path) -> None:
    worker = Cast([READ, GOOD])
    judge = Cast(
        [],
        decompose=asking(QUESTION),
        check=looked_up(turn("read", path="terms.txt"), final("yes [ev_0001:3]")),
    )
    with (
        ScriptedServer(worker, key=WORKERS_KEY) as working,
        ScriptedServer(
            judge, key=VERIFIERS_KEY, model="judge-model", other_models=["other-model"]
        ) as judging,
    ):
        done = vera(
            "run", TASK, "--input-dir", documents, "--work-dir", "w", "--sandbox", "none", "--egress", "none",
            "--protocol", "text", "--model-base-url", working.root,
            "--verifier-model-base-url", judging.root, "--verifier-model-name", "judge-model",
            cwd=tmp_path, OPENAI_API_KEY=WORKERS_KEY, VERIFIER_API_KEY=VERIFIERS_KEY,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert set(worker.asked) == {"worker"}
    assert set(judge.asked) == {"decompose", "check", "label", "score"}
    assert {part_of(request.body) for request in working.requests} == {"worker"}
    assert keys_sent([*working.requests, *working.probes]) == {f"Bearer {WORKERS_KEY}"}
    assert keys_sent([*judging.requests, *judging.probes]) == {f"Bearer {VERIFIERS_KEY}"}
    assert {request.body["model"] for request in judging.requests} == {"judge-model"}
    started = folded(tmp_path / "w").rounds[1].started
    assert (started.rule, started.model) == ("model", "judge-model")
    asked = [record for record in records(tmp_path / "w") if isinstance(record, events.ModelIo)]
    assert {(record.lane == "main", record.parameters["model"]) for record in asked} == {
        (True, "scripted-model"),
        (False, "judge-model"),
    }
    for path in (each for each in (tmp_path / "w").rglob("*") if each.is_file()):
        data = path.read_bytes()
        assert WORKERS_KEY.encode() not in data and VERIFIERS_KEY.encode() not in data, path
    assert WORKERS_KEY not in done.stdout + done.stderr and VERIFIERS_KEY not in done.stdout + done.stderr


def test_without_a_key_of_its_own_the_verifiers_server_gets_none(documents: Path, tmp_path: Path) -> None:
    with ScriptedServer(Cast([READ, GOOD]), key=WORKERS_KEY) as working, ScriptedServer(Cast([])) as judging:
        done = vera(
            "run", TASK, "--input-dir", documents, "--work-dir", "w", "--sandbox", "none", "--egress", "none",
            "--protocol", "text", "--model-base-url", working.root,
            "--verifier-model-base-url", judging.root, cwd=tmp_path, OPENAI_API_KEY=WORKERS_KEY,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert judging.requests
    assert keys_sent([*judging.requests, *judging.probes]) == {""}


def test_the_built_in_model_answers_and_a_server_verifies(documents: Path, tmp_path: Path) -> None:
    judge = Cast([])
    with ScriptedServer(judge) as judging:
        done = vera(
            "run", TASK, "--input-dir", documents, "--work-dir", "w", "--json",
            "--verifier-model-base-url", judging.root, cwd=tmp_path,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "worker" not in judge.asked and judge.asked["score"]
    assert "score 4 of 4; judge scripted-model passed 60 of 60" in json.loads(done.stdout)["reason"]


def test_a_folders_vera_yaml_does_not_name_the_verifier(documents: Path, tmp_path: Path) -> None:
    with ScriptedServer(Cast([READ, GOOD])) as working, ScriptedServer(Cast([])) as judging:
        (tmp_path / "vera.yaml").write_text(f"verification: {{model_base_url: '{judging.root}'}}\n")
        done = vera(
            "run", TASK, "--input-dir", documents, "--work-dir", "w", "--sandbox", "none", "--egress", "none",
            "--protocol", "text", "--model-base-url", working.root,
            cwd=tmp_path, OPENAI_API_KEY=WORKERS_KEY, VERIFIER_API_KEY=VERIFIERS_KEY,
        )  # fmt: skip
    assert done.returncode == 2
    assert "decides who reads what the run reads, which file vera.yaml:1 cannot decide" in done.stderr
    assert judging.paths == working.paths == []


def test_a_key_goes_to_the_address_of_an_earlier_day_only_when_the_person_names_it(tmp_path: Path) -> None:
    with ScriptedServer([]) as server:  # each request is answered with HTTP 400
        arguments = ("--work-dir", "w", "--sandbox", "none", "--egress", "none", "--protocol", "text")
        keys = {"MODEL_BASE_URL": "", "OPENAI_API_KEY": WORKERS_KEY}
        begun = vera("run", TASK, *arguments, "--model-base-url", server.root, cwd=tmp_path, **keys)
        assert begun.returncode == 5
        asked = len(server.paths)
        stopped = vera("resume", "w", cwd=tmp_path, **keys)
        assert stopped.returncode == 2
        assert "a key goes only to the address it was given for" in stopped.stderr
        assert f"-c model.base_url={server.root}" in stopped.stderr and "-c model.key=" in stopped.stderr
        assert len(server.paths) == asked
        assert vera("resume", "w", "-c", "model.key=", cwd=tmp_path, **keys).returncode == 5
        assert keys_sent(server.requests[-1:]) == {""}
        named = vera("resume", "w", "-c", f"model.base_url={server.root}", cwd=tmp_path, **keys)
        assert named.returncode == 5
        assert keys_sent(server.requests[-1:]) == {f"Bearer {WORKERS_KEY}"}
