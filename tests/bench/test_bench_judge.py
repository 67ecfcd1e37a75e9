"""`vera bench judge`, as it is typed: which judge passes, and what the table says of one that does not."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from support import exams
from support.scripted_server import Fault, ScriptedServer
from vera.cli.bench import bench


def run(server: ScriptedServer, *words: str) -> Result:
    return CliRunner().invoke(bench, ["judge", "--model-base-url", server.base_url, *words])


def test_a_competent_judge_passes() -> None:
    with ScriptedServer([], kind="llamacpp") as server:
        result = run(server, "--papers", "2")
    assert result.exit_code == 0, result.output
    assert "scripted-model: 2 of 2 papers passed" in result.output
    assert "right          120 of 120" in result.output
    assert len(server.exams) == 24 and not server.requests


def test_a_judge_that_always_says_yes_is_shown_to_its_end() -> None:
    def always(index: int, body: dict[str, object]) -> str:
        return exams.labelled(["SUPPORTS"] * len(exams.asked(body)[1]))

    with ScriptedServer(always, exam="script") as server:
        result = run(server, "--json")
    assert result.exit_code == 1
    found = json.loads(result.stdout)
    assert (found["right"]["count"], found["right"]["of"]) == (24, 60)
    assert found["false_accepts"]["count"] == found["false_accepts"]["of"] == 36
    assert found["kinds"]["negation"]["supports"] == found["kinds"]["negation"]["of"]
    assert len(server.requests) == 12


def test_a_server_that_gives_no_reply_is_not_called_a_bad_judge() -> None:
    with ScriptedServer([Fault(401)], exam="script") as server:
        result = run(server)
    assert result.exit_code == 5 and "not finished: the model failed" in result.output


def test_the_built_in_model_sits_no_exam() -> None:
    result = CliRunner().invoke(bench, ["judge", "--model-base-url", "builtin"])
    assert result.exit_code == 2 and "The built-in model cannot judge" in result.output


@pytest.mark.parametrize("reply", ["no", "{}", '{"spans": [1]}'])
def test_what_cannot_be_read_is_counted(reply: str) -> None:
    with ScriptedServer([reply], exam="script", exhausted="repeat") as server:
        result = run(server, "--json")
    assert json.loads(result.stdout)["unread"]["count"] == 60


@pytest.mark.needs("onnx")
def test_the_file_of_an_entailment_judge_sits_the_same_exam(tmp_path: Path) -> None:
    from support.tiny_entailment import write_judge

    knows = write_judge(tmp_path / "knows", {})
    good = CliRunner().invoke(bench, ["judge", "--entailment-model", str(knows)])
    assert good.exit_code == 0, good.output
    assert "knows: passed" in good.output and "right          60 of 60" in good.output
    yes = write_judge(tmp_path / "yes", {}, always="SUPPORTS")
    bad = CliRunner().invoke(bench, ["judge", "--entailment-model", str(yes), "--json"])
    assert bad.exit_code == 1
    found = json.loads(bad.stdout)
    assert found["false_accepts"]["count"] == found["false_accepts"]["of"] == 36
    assert found["weights"].startswith("sha256:")


def test_a_file_that_is_not_there_sits_no_exam(tmp_path: Path) -> None:
    gone = CliRunner().invoke(bench, ["judge", "--entailment-model", str(tmp_path / "gone")])
    assert gone.exit_code == 5 and "There is no entailment model at" in gone.output
    both = ["judge", "--entailment-model", str(tmp_path), "--model-name", "m"]
    assert CliRunner().invoke(bench, both).exit_code == 2
