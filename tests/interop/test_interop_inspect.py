"""`inspect eval` on a mock model runs VERA as solver and scorers, over folders that a data set may name."""

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import vera

pytestmark = [pytest.mark.needs("inspect"), pytest.mark.timeout(120)]

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
TASK = """
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.solver import solver
from vera.interop.inspect_ai import vera_thesis, vera_verified

DOCUMENTS = {"input_dir": "licences"}
OFFER = "For how long must a written offer for source code be valid under GPL version 3?"
WHERE = {"input_root": ROOT, "base_dir": BASE, "overrides": "model.base_url=builtin"}
TRUE = "GPL version 3 requires the written offer to be valid for at least three years."
FALSE = "GPL version 3 requires the written offer to be valid for at least five years."


@task
def research():
    samples = [
        Sample(id="offer", input=OFFER, target="three years", metadata=DOCUMENTS),
        Sample(id="elbe", input="How long is the river Elbe?", target="1094 km", metadata=DOCUMENTS),
    ]
    return Task(dataset=samples, scorer=vera_verified())


@task
def outside():
    return Task(dataset=[Sample(input=OFFER, metadata={"input_dir": "../.."})], scorer=vera_verified())


@solver
def says():
    async def solve(state, generate):
        state.output.completion = {"true": TRUE, "false": FALSE, "empty": ""}[state.sample_id]
        return state

    return solve


@task
def thesis():
    samples = [Sample(id=name, input=OFFER, metadata=DOCUMENTS) for name in ("true", "false", "empty")]
    return Task(dataset=samples, solver=says(), scorer=[vera_thesis(**WHERE), vera_verified()])
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A task file, and the entry points of the project as an installation has them."""
    folder = tmp_path_factory.mktemp("inspect")
    named = f"ROOT, BASE = {str(ROOT / 'examples')!r}, {str(folder / 'base')!r}\n"
    (folder / "task.py").write_text(named + TASK)
    about = folder / "installed" / "vera_agent-0.1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: vera-agent\nVersion: 0.1.0\n")
    points = PROJECT["project"]["entry-points"]["inspect_ai"]
    lines = [f"{name} = {module}" for name, module in points.items()]
    (about / "entry_points.txt").write_text("\n".join(["[inspect_ai]", *lines, ""]))
    return folder


def evaluate(place: Path, task: str, *options: str) -> dict[str, Any]:
    """The log of `inspect eval task.py@TASK --max-samples 1`."""
    argv = [sys.executable, "-m", "inspect_ai", "eval", f"task.py@{task}", "--model", "mockllm/model"]
    argv += ["--max-samples", "1", "--display", "none", "--log-format", "json", "--log-dir", f"logs/{task}"]
    path = os.pathsep.join([str(place / "installed"), *filter(None, sys.path)])
    done = subprocess.run(
        [*argv, *options],
        cwd=place,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=110,
    )
    logs = list((place / "logs" / task).glob("*.json"))
    assert len(logs) == 1, done.stdout + done.stderr
    log: dict[str, Any] = json.loads(logs[0].read_text())
    return log


@pytest.fixture(scope="module")
def researched(place: Path) -> Mapping[str, Any]:
    solver = ["--solver", "vera/research", "-S", f"input_root={ROOT / 'examples'}", "-S", "base_dir=base"]
    return evaluate(place, "research", *solver, "-S", "overrides=model.base_url=builtin")


def scores(log: Mapping[str, Any], scorer: str) -> dict[str, Any]:
    return {sample["id"]: sample["scores"][scorer] for sample in log["samples"]}


def test_the_solver_is_found_by_its_name_and_its_word_is_the_score(researched: Mapping[str, Any]) -> None:
    assert researched["status"] == "success", researched.get("error")
    found = scores(researched, "verified")
    assert (found["offer"]["value"], found["offer"]["metadata"]["status"]) == ("C", "QUOTED")
    assert "at least three years" in found["offer"]["answer"]
    assert found["offer"]["explanation"].startswith("QUOTED")
    (result,) = researched["results"]["scores"]
    assert result["metrics"]["accuracy"]["value"] == 0.5


def test_what_is_not_proved_is_no_answer(researched: Mapping[str, Any]) -> None:
    found = scores(researched, "verified")["elbe"]
    assert (found["value"], found["metadata"]["status"]) == ("N", "UNRESOLVED")
    (sample,) = (each for each in researched["samples"] if each["id"] == "elbe")
    assert not sample["output"]["completion"]


def test_the_session_of_a_score_replays(researched: Mapping[str, Any]) -> None:
    about = scores(researched, "verified")["offer"]["metadata"]
    replayed = vera.replay(about["session"])
    assert replayed.exit_code == 0
    assert replayed.attested[0].attestation == about["attestation"]


def test_the_answers_of_another_solver_are_verified_as_theses(place: Path) -> None:
    log = evaluate(place, "thesis")
    assert log["status"] == "success", log.get("error")
    found = scores(log, "thesis")
    assert (found["true"]["value"], found["true"]["metadata"]["status"]) == ("C", "QUOTED")
    assert found["false"]["value"] in ("I", "N")
    assert (found["empty"]["value"], found["empty"]["reason"]) == ("N", "no_response")
    assert vera.replay(found["true"]["metadata"]["session"]).exit_code == 0
    assert (place / "base" / ".vera" / "ahdb.jsonl").is_file()
    assert {each["reason"] for each in scores(log, "verified").values()} == {"scoring_failed"}


def test_a_sample_that_names_a_folder_outside_is_an_error(place: Path) -> None:
    options = ["--solver", "vera/research", "-S", f"input_root={ROOT / 'examples'}", "-S", "base_dir=base"]
    log = evaluate(place, "outside", *options)
    assert log["status"] == "error"
    assert "leads out of" in log["error"]["message"]
