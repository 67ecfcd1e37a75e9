"""`vera show --candidates` and `vera export --trajectory` as a person types them."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from support.sampled_run_examples import LIST, READ, decided_run
from support.sampled_runs import SampledRun
from vera.cli import main


def typed(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(each) for each in arguments], prog_name="vera")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return decided_run(tmp_path / "run")


def test_every_sampled_step_is_shown_and_no_other(root: Path) -> None:
    done = typed("show", root, "--candidates")
    assert done.exit_code == 0
    assert [line for line in done.output.split("\n") if line.startswith("Step ")] == [
        "Step 1: 4 candidates from 1 model call, 1.2 s, 100 tokens in (50 cached), 20 out",
        "Step 2: 3 candidates from 3 model calls, 1.2 s, 300 tokens in (150 cached), 60 out",
        "Step 3: 2 candidates of 4 asked for from 1 model call, 1.2 s, 100 tokens in (50 cached), 20 out.",
        "Step 5: 2 candidates from 1 model call, 1.2 s, 100 tokens in (50 cached), 20 out",
    ]
    assert done.output.count("▸") == 4


def test_one_step_is_shown_whole(root: Path) -> None:
    done = typed("show", root, "--candidates", "--step", 2)
    assert done.output.startswith("Step 2:")
    assert done.output.count("Step ") == 1
    assert "the judge said:\n    FINAL: 2" in done.output


def test_a_step_without_candidates_is_said(root: Path) -> None:
    done = typed("show", root, "--candidates", "--step", 4)
    assert done.exit_code == 2
    assert done.output == "vera: no candidates were sampled for step 4.\n"


def test_a_run_of_single_turns_says_how_to_sample_more(tmp_path: Path) -> None:
    run = SampledRun(tmp_path)
    run.one_turn(LIST)
    done = typed("show", run.close(), "--candidates")
    assert done.exit_code == 0
    assert "-c candidate_sampling.num_candidates=4" in done.output


def test_a_step_that_waits_for_its_choice_is_shown_too(tmp_path: Path) -> None:
    run = SampledRun(tmp_path)
    run.sample(LIST, READ)
    assert "none is chosen yet" in typed("show", run.close(), "--candidates").output


def test_as_json_a_step_has_what_the_trajectory_has(root: Path) -> None:
    steps = json.loads(typed("show", root, "--candidates", "--json").output)
    assert typed("export", root, "--trajectory").exit_code == 0
    messages = json.loads((root / "trajectory.traj.json").read_bytes())["messages"]
    found = [each["extra"] for each in messages if "verifier" in each["extra"]]
    assert steps == [{"step": extra["step"], **extra["verifier"]} for extra in found]
    one = json.loads(typed("show", root, "--candidates", "--step", 3, "--json").output)
    assert one == [steps[2]]
    assert json.loads(typed("show", root, "--candidates", "--step", 4, "--json").output) == []


def test_step_alone_is_refused(root: Path) -> None:
    done = typed("show", root, "--step", 2)
    assert done.exit_code == 2
    assert "--step goes with --candidates" in done.output


def test_the_trajectory_goes_into_the_session_and_is_replaced(root: Path) -> None:
    path = root / "trajectory.traj.json"
    for _ in range(2):
        done = typed("export", root, "--trajectory")
        assert done.exit_code == 0
        assert done.output.startswith(f"{path}: ")
    assert json.loads(path.read_bytes())["trajectory_format"] == "mini-swe-agent-1.1"


def test_the_trajectory_goes_to_a_new_file_that_is_named(root: Path, tmp_path: Path) -> None:
    path = tmp_path / "x.traj.json"
    assert typed("export", root, "--trajectory", "-o", path).exit_code == 0
    before = path.read_bytes()
    done = typed("export", root, "--trajectory", "--output", path)
    assert done.exit_code == 1
    assert done.output == f"vera: {path} exists already. Choose another name, or remove it first.\n"
    assert path.read_bytes() == before
    assert not (root / "trajectory.traj.json").exists()


def test_what_cannot_be_exported_is_a_sentence(root: Path, tmp_path: Path) -> None:
    assert "there is no session" in typed("export", tmp_path / "none", "--trajectory").output
    assert "nowhere/x" in typed("export", root, "--trajectory", "-o", tmp_path / "nowhere/x").output
    log = root / "trace.jsonl"
    log.write_bytes(log.read_bytes().replace(b"three", b"seven", 1))
    done = typed("export", root, "--trajectory")
    assert done.exit_code == 1
    assert done.output.startswith("vera: The session is not whole, so it is not exported: The log is broken")


def test_one_thing_is_exported_at_a_time(root: Path) -> None:
    for arguments in ([], ["--trajectory", "--bundle", "x.zip"], ["--bundle", "x.zip", "-o", "y"]):
        assert typed("export", root, *arguments).exit_code == 2
