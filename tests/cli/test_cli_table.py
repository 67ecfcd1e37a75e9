"""What `vera table` refuses before anything is asked."""

import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from vera.cli.table import table


def run(folder: Path, *words: str, out: str = "t.html") -> Result:
    given = ["--questions", str(folder / "q.csv"), "--input", str(folder / "docs")]
    return CliRunner().invoke(table, [*given, "--out", str(folder / out), "--base-dir", str(folder), *words])


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.txt").write_text("The bridge is 120 metres long.\n")
    (tmp_path / "q.csv").write_text("question\nHow long is the bridge?\n")
    return tmp_path


@pytest.mark.parametrize("out", ["t.pdf", "t", "t.html.txt", ".csv"])
def test_a_table_is_of_a_known_format(out: str, here: Path) -> None:
    done = run(here, out=out)
    assert done.exit_code == 2 and ".html, .csv, .xlsx or .json" in done.output
    assert not (here / "runs").exists()


def test_a_table_is_written_to_a_folder_that_is_there(here: Path) -> None:
    done = run(here, out="missing/t.csv")
    assert done.exit_code == 2 and "Make it first" in done.output


def test_without_the_extra_a_workbook_is_refused_before_anything_is_asked(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)
    done = run(here, out="t.xlsx")
    assert done.exit_code == 2 and "[office]" in done.output
    assert not (here / "runs").exists()


def test_an_input_that_is_no_folder_is_told(here: Path) -> None:
    (here / "docs" / "a.txt").unlink()
    assert "no document" in run(here).output
    (here / "docs").rmdir()
    done = run(here)
    assert done.exit_code == 2 and "does not exist" in done.output


def test_a_table_without_a_question_is_told(here: Path) -> None:
    (here / "q.csv").write_text("question\n")
    done = run(here)
    assert done.exit_code == 2 and "no question" in done.output


@pytest.mark.parametrize("setting", ["run.max_stepz=3", "run.input_dir"])
def test_a_wrong_setting_is_told_before_anything_is_asked(setting: str, here: Path) -> None:
    done = run(here, "-c", setting)
    assert done.exit_code == 2, done.output
    assert not list(here.glob("runs/*"))
