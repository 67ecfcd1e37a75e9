"""`benchmarks/selection.py`, as it is typed."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from support.benchmarks import loaded
from support.sampled_runs import SampledRun
from vera.protocol import Action, Turn, text

Run = Callable[..., Result]


@pytest.fixture(scope="module")
def run() -> Iterator[Run]:
    with loaded("selection") as script:
        yield lambda *words: CliRunner().invoke(script.selection, list(map(str, words)))


@pytest.fixture
def session(tmp_path: Path) -> Path:
    made = SampledRun(tmp_path / "run")
    made.sample(
        *(text.render(Turn(thought="Look.", action=Action(tool="x", args={"a": n}))) for n in (1, 22))
    )
    made.choose(1, "selector", (1, 2))
    return tmp_path / "run"


@pytest.fixture
def trajectories(tmp_path: Path) -> Path:
    for name, reward in (("a", 1), ("b", 0)):
        steps = [{"source": "agent", "message": name}] * (1 + (not reward))
        value = {"task_name": "t", "reward": reward, "trajectory": {"steps": steps}}
        (tmp_path / f"{name}_trajectory.json").write_text(json.dumps(value))
    return tmp_path


def test_the_simulation_is_measured_when_nothing_is_named(run: Run) -> None:
    done = run("--steps", "5")
    assert done.exit_code == 0
    assert "Simulation: how often the good action was chosen, 5 steps a row, seed 0" in done.stdout
    assert "Where pairwise does not win" in done.stdout


def test_a_session_is_measured_with_its_labels(run: Run, session: Path, tmp_path: Path) -> None:
    labels = tmp_path / "labels.jsonl"
    labels.write_text('{"session": "run", "step": 1, "good": [1]}\n')
    done = run(session, "--labels", labels)
    assert done.exit_code == 0
    assert "1 steps of 1 sessions, 2 candidates; 1 steps have a label" in done.stdout
    assert "decided by                    selector 1" in done.stdout
    assert "chosen       1.000" in done.stdout
    assert "shortest     0.000" in done.stdout


def test_trajectories_are_measured_folder_by_folder(run: Run, trajectories: Path) -> None:
    shown = run("--trajectories", trajectories).stdout
    assert f"{trajectories}: 2 trajectories of 1 tasks, 2 a task" in shown
    assert "random (pass@1)" in shown
    figures = json.loads(run("--trajectories", trajectories, "--json").stdout)
    assert figures["trajectories"][str(trajectories)]["rules"]["shortest"]["success"] == 1.0


def test_all_sources_can_be_measured_at_once(run: Run, session: Path, trajectories: Path) -> None:
    done = run(session, "--trajectories", trajectories, "--simulate", "--steps", "2", "--json")
    assert json.loads(done.stdout).keys() == {"trajectories", "sessions", "simulation"}


def test_labels_of_nothing_are_a_mistake_in_typing(run: Run, tmp_path: Path) -> None:
    done = run("--labels", tmp_path / "labels.jsonl")
    assert done.exit_code == 2
    assert "--labels needs the sessions or the trajectories" in done.stderr


def test_what_cannot_be_read_is_one_sentence(run: Run, tmp_path: Path) -> None:
    done = run(tmp_path)
    assert done.exit_code == 2
    assert done.stderr == f"vera: There is no session in {tmp_path} (no trace.jsonl).\n"


def test_the_help_explains_the_three_sources(run: Run) -> None:
    words = run("--help").stdout
    for part in ("--simulate", "--trajectories", "SESSION", '"passed": true', '"good": [0, 2]'):
        assert part in words
