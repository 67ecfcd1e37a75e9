"""`benchmarks/verifier.py`, as it is typed."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from checks import mutations
from click.testing import CliRunner, Result

from support.benchmarks import FOLDER, loaded
from vera.cli import main

DOCS = Path(__file__).parents[2] / "docs"
CLAIM = {
    "claim": "The bridge is 310 metres long.",
    "evidence": ["The bridge is 290 metres long."],
    "label": "not_supported",
    "supporting_sentences": [[0]],
}


Run = Callable[..., Result]


@pytest.fixture(scope="module")
def run() -> Iterator[Run]:
    with loaded("verifier") as script:
        yield lambda *words: CliRunner().invoke(script.verifier, list(map(str, words)))


@pytest.fixture
def wice(tmp_path: Path) -> Path:
    path = tmp_path / "wice.jsonl"
    path.write_text(json.dumps(CLAIM) + "\n")
    return path


def test_labelled_data_as_json(run: Run, wice: Path) -> None:
    done = run("--wice", wice, "--json")
    figures = json.loads(done.stdout)["wice"]
    assert done.exit_code == 0
    assert {
        "n", "hard_precision", "hard_recall", "hard_false_veto", "precision", "recall", "f1",
        "balanced_accuracy", "hit_at_10", "ms_per_claim", "baselines", "intervals",
    } <= figures.keys()  # fmt: skip
    assert figures["baselines"].keys() == {"never_reject", "always_reject"}


def test_planted_faults_are_measured_when_no_data_is_given(run: Run) -> None:
    figures = json.loads(run("--limit", "1", "--json").stdout)
    assert figures.keys() == {"mutations"}
    assert figures["mutations"].keys() >= {*mutations.KINDS, "injected", "false_alarms_hard"}
    assert figures["mutations"]["stored_byte"]["caught"] == 1


def test_the_table_shows_what_json_says(run: Run, wice: Path) -> None:
    shown = run("--wice", wice, "--mutations", "--limit", "1").stdout
    assert "WiCE: 1 claims, 0 of them fully supported" in shown
    assert "stored_byte" in shown


@pytest.mark.parametrize("option", ["--wice", "--quotesum"])
def test_a_missing_file_is_one_sentence(option: str, run: Run, tmp_path: Path) -> None:
    done = run(option, tmp_path / "no.jsonl")
    assert done.exit_code == 2
    assert done.stderr == f"vera: {tmp_path}/no.jsonl cannot be read: No such file or directory.\n"


def test_pairs_need_three_files(run: Run, tmp_path: Path) -> None:
    assert run("--fever", tmp_path / "a", tmp_path / "b").exit_code == 2


def test_the_page_names_every_kind_of_fault() -> None:
    page = (DOCS / "verification.md").read_text()
    for kind in [*mutations.KINDS, mutations.INJECTED]:
        assert f"`{kind}`" in page


@pytest.mark.parametrize("script", ["verifier", "selection"])
def test_a_script_finds_its_parts_from_any_folder(script: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, FOLDER / f"{script}.py", "--help"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert f"python benchmarks/{script}.py" in done.stdout


@pytest.mark.parametrize("script", ["verifier", "selection"])
def test_the_help_of_the_command_that_was_names_the_script(script: str) -> None:
    done = CliRunner().invoke(main, ["bench", script])
    assert done.exit_code == 2
    assert f"No such command '{script}'" in done.stderr
    assert f"benchmarks/{script}.py" in CliRunner().invoke(main, ["bench", "--help"]).stdout
