"""The runner of the batteries, with batteries of a few lines: its workers import no other."""

import argparse
import contextlib
import json
import os
import threading
from pathlib import Path

import pytest

from assurance import runner
from assurance.batteries import Battery, Trial


def try_it(trial: Trial) -> None:
    trial.row = "even" if trial.number % 2 == 0 else "odd"
    trial.figures["drawn"] = trial.random.randrange(100)
    assert trial.number != 3, "three is wrong"


EXAMPLE = Battery("example", "No number is three.", trials=6, slice=2, attempt=try_it)


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> Battery:
    monkeypatch.setattr(runner, "batteries", lambda: {"example": EXAMPLE})
    return EXAMPLE


def test_a_failure_is_a_result_with_its_text_and_its_folder(example: Battery) -> None:
    failed = runner.attempt("example", 3, 0)
    assert "three is wrong" in failed.failure
    assert failed.row == "odd"
    kept = Path(failed.failure.rsplit("Folder: ", 1)[1])
    assert kept.is_dir()
    kept.rmdir()


def test_a_number_and_a_seed_decide_what_is_drawn(example: Battery) -> None:
    first, again, other = (runner.attempt("example", 1, seed) for seed in (0, 0, 1))
    assert first.figures == again.figures != other.figures


def test_a_run_goes_on_where_it_ended_and_a_cut_line_is_tried_again(
    example: Battery, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        runner, "ended", lambda battery, numbers, options: (runner.attempt("example", n, 0) for n in numbers)
    )
    arguments = ["example", "--results", str(tmp_path)]
    assert runner.main([*arguments, "--trials", "3"]) == 0
    file = tmp_path / "example.jsonl"
    file.write_text(file.read_text() + '{"seed": 0, "numb')
    assert runner.main([*arguments, "--trials", "3"]) == 0
    file.write_text(file.read_text() + "\n")
    assert runner.main(arguments) == 1
    numbers = [json.loads(line)["number"] for line in file.read_text().splitlines() if line.endswith("}")]
    assert numbers == [0, 1, 2, 3, 4, 5]
    Path(runner.read(file, 0)[3].failure.rsplit("Folder: ", 1)[1]).rmdir()


def test_a_trial_that_is_too_long_fails_though_it_catches_errors_of_the_system(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def stubborn(trial: Trial) -> None:
        trial.row = "stubborn"
        while True:
            with contextlib.suppress(OSError):
                threading.Event().wait(1)

    battery = Battery("stubborn", "It ends.", trials=1, slice=1, attempt=stubborn, seconds=0.1)
    monkeypatch.setattr(runner, "batteries", lambda: {"stubborn": battery})
    failed = runner.attempt("stubborn", 0, 0)
    assert "TooLong" in failed.failure
    Path(failed.failure.rsplit("Folder: ", 1)[1]).rmdir()


def test_a_trial_that_kills_its_process_is_a_failure_and_the_others_are_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(runner, "attempt", deadly)
    options = argparse.Namespace(workers=2, seed=0)
    found = {result.number: result.failure for result in runner.ended(EXAMPLE, range(1, 4), options)}
    assert found == {1: "", 2: "It killed its process.", 3: ""}


def deadly(name: str, number: int, seed: int) -> runner.Result:
    if number == 2:
        os._exit(1)
    return runner.Result(number, "row", "", {}, 0.0)


def test_the_table_has_a_line_a_row_and_the_bound_of_its_rate(example: Battery) -> None:
    results = [runner.Result(n, "odd" if n % 2 else "even", "", {}, 1.0) for n in range(299)]
    lines = runner.table(example, results, 0)
    assert "| even | 150 | 0 | 0.02 |" in lines
    assert "| all | 299 | 0 | 0.01 |" in lines


@pytest.mark.parametrize(
    ("failures", "of", "bound"), [(0, 300, 0.00994), (1, 100, 0.0466), (5, 5, 1.0), (0, 0, 1.0)]
)
def test_the_bound_is_that_of_clopper_and_pearson(failures: int, of: int, bound: float) -> None:
    assert runner.upper_bound(failures, of) == pytest.approx(bound, rel=2e-3)
