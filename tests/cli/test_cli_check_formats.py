"""`vera check --format`: SARIF for code scanning, workflow commands for GitHub, several documents at once."""

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from support.cli import vera
from vera.cli.check_github import command
from vera.cli.check_place import Region, region
from vera.document_check.findings import Problem

SCHEMA = Path(__file__).parents[1] / "fixtures" / "sarif" / "sarif-2.1.0.json"
SOURCE = "Sales grew by 12 percent in 2019.\nThe board said: “We did not expect such a year at all.”\n"
GOOD = "# Notes\n\nSales grew by 12 % in 2019 [(report)](sources/sales.txt).\n"
BAD = "\n𝔘p 🙂, sales grew by 17 % in 2019 [(report)](sources/sales.txt).\n"
OPEN = "\nStaff fell to 47 [(page)](https://example.org/staff).\n"
HOSTILE = (
    "\n::add-mask::2019 and ##[add-mask]x: sales grew by 99 % [(report)](sources/sales.txt).\n"
    "\n“%0A::stop-commands::x [click](https://evil.example) a year” [(report)](sources/sales.txt).\n"
)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "sources").mkdir()
    (tmp_path / "sources" / "sales.txt").write_text(SOURCE)
    (tmp_path / "good.md").write_text(GOOD)
    (tmp_path / "bad.md").write_text(GOOD + BAD + OPEN)
    return tmp_path


def sarif(place: Path, *arguments: str) -> dict[str, Any]:
    """The one run of the log that the command prints, after the schema has admitted it."""
    log = json.loads(vera("check", *arguments, "--sources", "sources", "--format", "sarif", cwd=place).stdout)
    jsonschema.Draft4Validator(json.loads(SCHEMA.read_text())).validate(log)
    run: dict[str, Any] = log["runs"][0]
    return run


def of_rule(run: dict[str, Any], rule: str) -> list[dict[str, Any]]:
    return [each for each in run["results"] if each["ruleId"] == rule]


def test_sarif_is_valid_and_points_at_the_value_in_utf_16_columns(place: Path) -> None:
    run = sarif(place, "bad.md")
    (wrong,) = of_rule(run, "amount_absent")
    where = wrong["locations"][0]["physicalLocation"]
    line = (place / "bad.md").read_text().split("\n")[4]
    begin = len(line.partition("17 %")[0].encode("utf-16-le")) // 2 + 1
    assert run["columnKind"] == "utf16CodeUnits"
    assert where["region"] == {"startLine": 5, "startColumn": begin, "endColumn": begin + len("17 %")}
    assert where["artifactLocation"] == {"uri": "bad.md", "uriBaseId": "%SRCROOT%"}
    assert (wrong["level"], wrong["kind"]) == ("error", "fail")
    rule = run["tool"]["driver"]["rules"][wrong["ruleIndex"]]
    assert (rule["id"], rule["helpUri"].startswith("https://"), bool(rule["help"])) == (
        "amount_absent",
        True,
        True,
    )


def test_sarif_of_the_note_in_the_examples_points_at_its_wrong_number() -> None:
    lease = Path(__file__).parents[2] / "examples" / "lease"
    done = vera("check", "note.md", "--sources", ".", "--format", "sarif", cwd=lease)
    assert done.returncode == 4
    (wrong,) = json.loads(done.stdout)["runs"][0]["results"]
    region = wrong["locations"][0]["physicalLocation"]["region"]
    said = (lease / "note.md").read_text().splitlines()[region["startLine"] - 1]
    assert said[region["startColumn"] - 1 : region["endColumn"] - 1] == "2,840 euros"
    assert (wrong["ruleId"], wrong["level"]) == ("amount_absent", "error")


def test_sarif_says_that_an_unchecked_source_leaves_its_statement_open(place: Path) -> None:
    (missing,) = of_rule(sarif(place, "bad.md"), "source_unchecked")
    assert (missing["kind"], missing["level"]) == ("open", "none")
    assert missing["locations"][0]["physicalLocation"]["region"] == {"startLine": 7}


def test_a_fingerprint_stays_when_lines_are_added_before_and_tells_equal_findings_apart(place: Path) -> None:
    def prints(name: str) -> list[str]:
        return [each["partialFingerprints"]["veraFinding/v1"] for each in sarif(place, name)["results"]]

    (place / "moved.md").write_text("# Before\n\nMore.\n\n" + GOOD + BAD + OPEN)
    (place / "twice.md").write_text(GOOD + BAD + BAD)
    assert prints("moved.md") == prints("bad.md")
    twice = prints("twice.md")
    assert len(set(twice)) == len(twice) > 1


def test_sarif_names_paths_as_uris_and_a_document_that_could_not_be_checked(place: Path) -> None:
    (place / "a folder").mkdir()
    (place / "a folder" / "ünd 100%.md").write_text(GOOD + BAD)
    (place / "empty.md").write_text("")
    run = sarif(place, "a folder/ünd 100%.md", "empty.md")
    uris = [each["location"]["uri"] for each in run["artifacts"]]
    assert uris == ["a%20folder/%C3%BCnd%20100%25.md"]
    told = run["invocations"][0]
    assert (told["executionSuccessful"], told["exitCode"]) == (False, 4)
    assert "it is empty" in told["toolExecutionNotifications"][0]["message"]["text"]


def test_a_document_outside_the_working_folder_has_its_whole_address(place: Path) -> None:
    (place / "below").mkdir()
    done = vera("check", "../bad.md", "--format", "sarif", cwd=place / "below")
    (artifact,) = json.loads(done.stdout)["runs"][0]["artifacts"]
    assert artifact["location"] == {"uri": (place / "bad.md").as_uri()}


def test_a_message_of_sarif_holds_no_link_of_the_document(place: Path) -> None:
    (place / "hostile.md").write_text(GOOD + HOSTILE)
    run = sarif(place, "hostile.md")
    assert run["results"]
    assert [each for each in run["results"] if "](" in each["message"]["text"]] == []


def test_github_shows_each_problem_at_its_line(place: Path) -> None:
    done = vera("check", "bad.md", "--sources", "sources", "--format", "github", cwd=place)
    wrong, missing, figures = done.stdout.splitlines()
    assert done.returncode == 4
    assert wrong.startswith("::error file=bad.md,line=5,endLine=5,col=")
    assert "title=amount_absent::" in wrong
    assert "%0AStatement: " in wrong
    assert missing.startswith("::notice file=bad.md,line=7,title=source_unchecked::https://example.org/staff")
    assert figures.startswith("::notice title=vera check::bad.md: 3 statements")


COMMAND = re.compile(
    r"::(?:error|warning|notice)(?: [a-zA-Z]+=[^:,%]*(?:%[0-9A-F]{2}[^:,%]*)*(?:,[^\n:]*)?)?::.*"
)


@pytest.mark.parametrize("name", ["hostile.md", "x,line=1::add-mask::y.md", "a\n::add-mask::b.md"])
def test_no_document_and_no_file_name_adds_a_workflow_command(place: Path, name: str) -> None:
    (place / name).write_text(GOOD + HOSTILE)
    (place / f"empty {name}").write_text("")
    done = vera("check", name, f"empty {name}", "--sources", "sources", "--format", "github", cwd=place)
    lines = done.stdout.splitlines()
    assert len(lines) > 3
    assert [line for line in lines if not COMMAND.fullmatch(line)] == []
    properties = [line.split("::", 2)[1] for line in lines]
    assert [each for each in properties if not each.startswith(("error", "warning", "notice"))] == []


@pytest.mark.parametrize(
    ("text", "value", "line"),
    [
        ("100 %\r\n::set-env name=A::b", "a", "::error file=a::100 %25%0D%0A::set-env name=A::b"),
        ("x", "a:b,c%\nd", "::error file=a%3Ab%2Cc%25%0Ad::x"),
        ("x\u2028y\x1b[2J", "a", "::error file=a::x\ufffdy\ufffd[2J"),
        ("%0A::add-mask::x", "a", "::error file=a::%250A::add-mask::x"),
    ],
)
def test_a_workflow_command_escapes_its_text_and_its_properties(text: str, value: str, line: str) -> None:
    assert command("error", text, [("file", value)]) == line


def problem(line: int, claim: str, detail: str = "") -> Problem:
    return Problem(line=line, claim=claim, code="x", severity="hard", message="", detail=detail)


@pytest.mark.parametrize(
    ("said", "place"),
    [
        (problem(1, "In 2019 it was 19 of 219.", "19"), Region(1, 16, 18)),
        (problem(1, "In 2019 it was 19 of 219."), Region(1, 1, 26)),
        (problem(1, "it was 19 of 219. [a](b)"), Region(1, 9, 26)),
        (problem(1, "said elsewhere", "7"), Region(1)),
        (problem(1, "it was 19 of 219.", "[-a-]{+b+}"), Region(1, 9, 26)),
        (problem(9, "beyond the end"), Region(9)),
    ],
)
def test_a_region_is_that_of_the_value_else_of_the_statement_else_the_line(
    said: Problem, place: Region
) -> None:
    assert region(said, ["In 2019 it was 19 of 219."]) == place


def test_several_documents_are_checked_and_the_worst_decides(place: Path) -> None:
    (place / "empty.md").write_text("")
    done = vera("check", "good.md", "empty.md", "bad.md", "--sources", "sources", "--json", cwd=place)
    told = json.loads(done.stdout)
    assert (done.returncode, told["exit_code"]) == (4, 4)
    assert [each["exit_code"] for each in told["reports"]] == [0, 4]
    assert [each["document"] for each in told["failed"]] == ["empty.md"]
    assert vera("check", "good.md", "empty.md", "--sources", "sources", cwd=place).returncode == 1


def test_of_several_documents_each_finding_names_its_own(place: Path) -> None:
    said = vera("check", "good.md", "bad.md", "--sources", "sources", cwd=place).stdout
    assert "\nbad.md, line 5: hard: " in said
    assert "\nbad.md: unchecked: https://example.org/staff (line 7): " in said
    alone = vera("check", "bad.md", "--sources", "sources", cwd=place).stdout
    assert alone.startswith("line 5: hard: ") and "\nunchecked: " in alone


def test_allow_unchecked_passes_what_could_not_be_checked_and_nothing_else(place: Path) -> None:
    (place / "open.md").write_text(GOOD + OPEN)
    arguments = ("check", "--sources", "sources", "--allow-unchecked")
    assert vera("check", "open.md", "--sources", "sources", cwd=place).returncode == 3
    assert vera(*arguments, "open.md", cwd=place).returncode == 0
    assert vera(*arguments, "bad.md", cwd=place).returncode == 4


@pytest.mark.parametrize(
    "arguments",
    [
        ("--json", "--format", "sarif"),
        ("--allow-unchecked", "--require", "verified"),
        ("bad.md", "--keep", "kept"),
        ("--format", "xml"),
    ],
)
def test_options_that_exclude_each_other_are_wrong_usage(place: Path, arguments: tuple[str, ...]) -> None:
    done = vera("check", "good.md", *arguments, cwd=place)
    assert (done.returncode, done.stdout) == (2, "")
