"""`vera check` as a person or a build server runs it."""

import json
from pathlib import Path

import pytest

from support.cli import vera

SOURCE = "Sales grew by 12 percent in 2019.\nThe board said: “We did not expect such a year at all.”\n"
GOOD = "# Notes\n\nSales grew by 12 % in 2019 [(report)](sources/sales.txt).\n"
ALTERED = "\nThe board: “We did not expect such a bad year at all” [(report)](sources/sales.txt).\n"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "sources").mkdir()
    (tmp_path / "sources" / "sales.txt").write_text(SOURCE)
    (tmp_path / "good.md").write_text(GOOD)
    (tmp_path / "bad.md").write_text(GOOD + ALTERED)
    return tmp_path


def test_a_document_whose_sources_hold_what_it_says_passes(place: Path) -> None:
    done = vera("check", "good.md", "--sources", "sources", cwd=place)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "good.md: 1 statement, 1 with a source, 1 checked: quotations, numbers, dates and "
        "names compared, meaning not judged. No finding.\n"
    )


def test_an_altered_quotation_fails_with_its_line_and_the_difference(place: Path) -> None:
    done = vera("check", "bad.md", "--sources", "sources", cwd=place)
    assert done.returncode == 4
    assert "line 5: hard: The quotation “We did not expect such a bad year at all”" in done.stdout
    assert "difference: We did not expect such a [-bad-] year at all" in done.stdout


def test_a_source_that_was_not_had_is_named_and_not_passed(place: Path) -> None:
    done = vera("check", "good.md", cwd=place)
    assert done.returncode == 3
    assert "unchecked: sources/sales.txt (line 3): A file: name the folder it lies in" in done.stdout


def test_json_holds_each_problem_and_source_and_keep_holds_the_bytes(place: Path) -> None:
    done = vera("check", "bad.md", "--sources", "sources", "--json", "--keep", "kept", cwd=place)
    report = json.loads(done.stdout)
    assert (report["exit_code"], report["format"]) == (4, "md")
    assert report["findings"]["problems"][0]["code"] == "quotation_false"
    (source,) = report["sources"]
    kept = place / "kept" / "store" / source["raw"][:2] / source["raw"]
    assert kept.read_text() == SOURCE


def test_strict_makes_a_hint_a_failure(place: Path) -> None:
    (place / "hint.md").write_text(GOOD + "\nHe said “these words name no source”.\n")
    assert vera("check", "hint.md", "--sources", "sources", cwd=place).returncode == 0
    assert vera("check", "hint.md", "--sources", "sources", "--strict", cwd=place).returncode == 4


def test_a_document_without_any_source_was_not_checked(place: Path) -> None:
    (place / "bare.md").write_text("Sales grew by 12 percent.\n")
    done = vera("check", "bare.md", "--sources", "sources", cwd=place)
    assert (done.returncode, "No statement names a source" in done.stdout) == (3, True)


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["none.md"], 2, "There is no file none.md."),
        (["good.md", "--sources", "none"], 2, "does not exist"),
        (["good.md", "--not-before", "2021-13-01"], 2, "is no date"),
        (["good.md", "--not-after", "soon"], 2, "is no date"),
        (["good.md", "--fetch", "-c", "egress.mode=none"], 2, "egress.mode=none forbids"),
        (["good.md", "--max-links", "0"], 2, "max-links"),
        (["empty.md"], 1, "it is empty"),
    ],
)
def test_wrong_usage_and_unreadable_files_end_in_one_sentence(
    place: Path, arguments: list[str], code: int, said: str
) -> None:
    (place / "empty.md").write_text("")
    done = vera("check", *arguments, cwd=place)
    assert done.returncode == code
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_document_cannot_write_control_codes_to_the_terminal(place: Path) -> None:
    (place / "evil.md").write_text("It \x1b[31m grew 13 % [(report)](sources/sales.txt).\n")
    done = vera("check", "evil.md", "--sources", "sources", cwd=place)
    assert done.returncode == 4
    assert "\x1b" not in done.stdout
