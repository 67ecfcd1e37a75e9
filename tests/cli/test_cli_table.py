"""What `vera table` refuses before anything is asked."""

import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from vera.batch.written_tables import is_written_table, write_table
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
    assert done.exit_code == 2 and "does not exist. Give one with --input.\n" in done.output


def test_a_table_without_a_question_is_told(here: Path) -> None:
    (here / "q.csv").write_text("question\n")
    done = run(here)
    assert done.exit_code == 2 and "no question" in done.output


@pytest.mark.parametrize("setting", ["run.max_stepz=3", "run.input_dir"])
def test_a_wrong_setting_is_told_before_anything_is_asked(setting: str, here: Path) -> None:
    done = run(here, "-c", setting)
    assert done.exit_code == 2, done.output
    assert not list(here.glob("runs/*"))


def no_run(here: Path, done: Result) -> bool:
    return done.exit_code == 2 and not (here / "runs").exists()


@pytest.mark.parametrize("out", ["q.csv", "mine.html", "link.csv"])
def test_a_file_that_is_no_table_of_this_command_is_not_replaced(out: str, here: Path) -> None:
    (here / "mine.html").write_text("mine")
    (here / "link.csv").symlink_to("nowhere.csv")
    before = {each.name: each.read_text() for each in here.glob("*.*") if each.is_file()}
    done = run(here, out=out)
    assert no_run(here, done) and f"{out} exists already" in done.output
    assert before == {each.name: each.read_text() for each in here.glob("*.*") if each.is_file()}


@pytest.mark.parametrize("out", ["docs/table.csv", "docs/new.csv"])
def test_a_table_is_not_written_among_the_documents(out: str, here: Path) -> None:
    (here / "docs" / "table.csv").write_text("a,b\n1,2\n")
    done = run(here, out=out)
    assert no_run(here, done) and "is in the input" in done.output
    assert (here / "docs" / "table.csv").read_text() == "a,b\n1,2\n"


def test_a_table_that_a_person_changed_is_not_replaced(tmp_path: Path) -> None:
    out = tmp_path / "t.csv"
    for text in (b"first", b"second"):
        write_table(out, text, tmp_path)
    assert is_written_table(out, tmp_path) and not is_written_table(out, tmp_path / "other")
    out.write_bytes(b"second, with a note")
    assert not is_written_table(out, tmp_path)
