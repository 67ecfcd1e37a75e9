"""The GitHub Action and the pre-commit hook: their scripts run as GitHub and pre-commit run them."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from support.cli import vera

ROOT = Path(__file__).parents[1]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
HOOKS = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
GOOD = "# Notes\n\nSales grew by 12 % in 2019 [(report)](sources/sales.txt).\n"
BAD = "# Notes\n\nSales grew by 17 % in 2019 [(report)](sources/sales.txt).\n"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A checkout with documents, and a job's folder with VERA installed in it."""
    checkout = tmp_path / "checkout"
    (checkout / "docs" / "deep").mkdir(parents=True)
    (checkout / "sources").mkdir()
    (checkout / "sources" / "sales.txt").write_text("Sales grew by 12 percent in 2019.\n")
    (checkout / "docs" / "good.md").write_text(GOOD.replace("sources/", "../sources/"))
    (checkout / "docs" / "deep" / "bad one.md").write_text(BAD.replace("sources/", "../../sources/"))
    program = tmp_path / "runner" / "vera" / "bin" / "vera"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m vera "$@"\n')
    program.chmod(0o755)
    return checkout


def step(place: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """The step that checks, with these inputs in the place of their defaults."""
    (job,) = [each for each in ACTION["runs"]["steps"] if each.get("id") == "check"]
    values = {name: each.get("default", "") for name, each in ACTION["inputs"].items()}
    values |= {name.replace("_", "-"): value for name, value in inputs.items()}
    given = {
        variable: re.sub(r"\$\{\{ inputs\.([a-z-]+) \}\}", lambda found: values[found[1]], text)
        for variable, text in job["env"].items()
    }
    runner = place.parent / "runner"
    job_files = {"GITHUB_OUTPUT": str(runner / "output"), "RUNNER_TEMP": str(runner)}
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", job["run"]],
        cwd=place,
        env={**os.environ, **given, **job_files, "GITHUB_ACTION_PATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
    )


def output(place: Path) -> str:
    return (place.parent / "runner" / "output").read_text()


@pytest.mark.needs("pypi", "ensurepip")
@pytest.mark.timeout(400)
def test_the_action_installs_vera_into_the_folder_of_the_job(place: Path) -> None:
    (place / "venv.py").write_text("raise SystemExit('a module of the checkout was run')\n")
    runner = place.parent / "fresh"
    runner.mkdir()
    (install, _) = ACTION["runs"]["steps"]
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", install["run"]],
        cwd=place,
        env={**os.environ, "RUNNER_TEMP": str(runner), "GITHUB_ACTION_PATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=380,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    program = runner / "vera" / "bin" / "vera"
    checked = [program, "check", "docs/good.md", "--sources", "sources"]
    assert subprocess.run(checked, cwd=place, capture_output=True, timeout=120).returncode == 0


def test_the_action_shows_what_is_wrong_beside_its_line_and_fails(place: Path) -> None:
    done = step(place, documents="docs/**/*.md\n", sources="sources")
    assert (done.returncode, output(place)) == (4, "exit-code=4\n")
    assert "::error file=docs/deep/bad one.md,line=3," in done.stdout
    assert "docs/good.md: 1 statement, 1 with a source, 1 checked" in done.stdout


def test_the_action_writes_sarif_where_it_is_asked_to(place: Path) -> None:
    done = step(place, documents="docs/good.md", sources="sources", sarif="out.sarif")
    assert (done.returncode, output(place)) == (0, "exit-code=0\n")
    assert '"version": "2.1.0"' in (place / "out.sarif").read_text()
    assert done.stdout.startswith("::stop-commands::")


def test_the_action_takes_its_switches_and_nothing_else_for_one(place: Path) -> None:
    (place / "open.md").write_text(GOOD + "\nStaff fell to 47 [(page)](https://example.org/staff).\n")
    assert step(place, documents="open.md", sources="sources").returncode == 3
    assert step(place, documents="open.md", sources="sources", allow_unchecked="true").returncode == 0
    wrong = step(place, documents="open.md", strict="yes; touch made")
    assert (wrong.returncode, (place / "made").exists()) == (2, False)
    assert "The input strict is neither true nor false." in wrong.stdout


@pytest.mark.parametrize(
    "given", ["$(touch made)", "`touch made`", "; touch made", "--keep=made", 'a"; touch made #']
)
def test_no_input_of_the_action_is_run_or_taken_for_an_option(place: Path, given: str) -> None:
    for inputs in ({"documents": given}, {"documents": "docs/good.md", "sources": given}):
        assert step(place, **inputs).returncode == 2
    assert not (place / "made").exists()


def test_an_error_message_with_a_hostile_file_name_is_no_command_to_the_runner(place: Path) -> None:
    name = "x\n::add-mask::y.md"
    (place / name).write_text("")
    done = step(place, documents="x*", sources="sources")
    assert done.returncode == 1
    _, _, rest = done.stdout.partition("::stop-commands::")
    token = rest.split("\n")[0]
    said, _, after = rest.partition(f"\n::{token}::\n")
    assert (len(token), done.stderr) == (64, "")
    assert "\n::add-mask" in said
    assert "::add-mask" not in after


def test_no_input_is_put_into_the_text_of_a_script() -> None:
    for each in ACTION["runs"]["steps"]:
        assert "${{" not in each["run"]
        assert each["shell"] == "bash"
    assert all(" upload" not in each["run"] and "uses" not in each for each in ACTION["runs"]["steps"])


def test_a_pattern_without_a_file_is_an_error(place: Path) -> None:
    done = step(place, documents="nothing/*.md")
    assert (done.returncode, "No file matches" in done.stdout) == (2, True)


def test_the_hook_is_the_command_that_pre_commit_would_run(place: Path) -> None:
    (hook,) = HOOKS
    program, *words = hook["entry"].split()
    assert (hook["id"], program, hook["language"]) == ("vera-check", "vera", "python")
    files = ["docs/good.md", "docs/deep/bad one.md"]
    assert all(re.search(hook["files"], each) for each in files)
    done = vera(*words, "--sources", "sources", *hook["args"], *files, cwd=place)
    assert done.returncode == 4
    assert "docs/deep/bad one.md: 1 statement" in done.stdout


def test_no_module_of_the_checkout_is_run(place: Path) -> None:
    for name in ("secrets", "sys"):
        (place / f"{name}.py").write_text("open('made', 'w').close()\n")
    for name in ("venv", "pip"):
        (place / name).mkdir()
        (place / name / "__init__.py").write_text("open('made', 'w').close()\n")
        (place / name / "__main__.py").write_text("open('made', 'w').close()\n")
    assert step(place, documents="docs/good.md", sources="sources").returncode == 0
    install = (ROOT / "deploy" / "github-action" / "install").read_text()
    assert re.findall(r"python3?\"? (-\S+)", install) == ["-I", "-I", "-I"]
    assert not (place / "made").exists()


def test_a_line_of_the_documents_that_matches_nothing_is_an_error(place: Path) -> None:
    (place / "draft[1].md").write_text(GOOD)
    taken = step(place, documents="draft[1].md\ndocs/good.md", sources="sources")
    assert taken.returncode == 0 and "draft[1].md: 1 statement" in taken.stdout
    missing = step(place, documents="docs/good.md\nmisspelt/*.md", sources="sources")
    assert missing.returncode == 2
    assert "No file matches 1 of the lines of the input documents." in missing.stdout
