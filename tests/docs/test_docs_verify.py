"""docs/how-to/verify-a-thesis.md: each of its commands, typed as it stands there, gives what stands there."""

import json
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
from docs_pages import DOCS, ROOT, blocks

from support.cli import vera

PAGE = (DOCS / "how-to/verify-a-thesis.md").read_text()
README = (ROOT / "README.md").read_text()
TIME = re.compile(r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z| UTC)?)?")
ID = re.compile(r"\bsha256:[0-9a-f]{64}\b|\bkey [0-9a-f]{64}\b")
SHOWN = {
    "supported": "work/offer",
    "refuted": "work/five",
    "unspoken": "work/military",
    "qualified": "work/convey",
    "again": "work/again",
}
"""Label of an output → the work folder of the command that gives it."""

CODES = {"supported": 0, "refuted": 4, "unspoken": 3, "qualified": 3, "again": 0}


def output(label: str, page: str = PAGE) -> str:
    return next(block.body for block in blocks(page) if block.label == label)


def timeless(text: str) -> str:
    return ID.sub("<id>", TIME.sub("<time>", text))


def command(work_dir: str) -> list[str]:
    lines = (line for block in blocks(PAGE) if block.language == "sh" for line in block.body.split("\n"))
    return shlex.split(next(line for line in lines if line.endswith(f"--work-dir {work_dir}")))[1:]


Done = subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that has the examples where a clone has them."""
    folder = tmp_path_factory.mktemp("clone")
    (folder / "examples").symlink_to(ROOT / "examples")
    return folder


@pytest.fixture(scope="module")
def done(place: Path) -> dict[str, Done]:
    """What each command came to, in the order of the page."""
    return {label: vera(*command(work_dir), cwd=place) for label, work_dir in SHOWN.items()}


@pytest.mark.parametrize("label", SHOWN)
def test_a_verification_gives_what_the_page_shows(done: dict[str, Done], label: str) -> None:
    assert done[label].returncode == CODES[label]
    assert timeless(done[label].stdout) == timeless(output(label))


@pytest.mark.usefixtures("done")
def test_the_session_replays_as_the_page_shows(place: Path) -> None:
    shown = vera("replay", "work/offer", cwd=place)
    assert shown.returncode == 0
    assert timeless(shown.stdout) == timeless(output("replay"))


def skeleton(value: Any) -> Any:
    """The members of an object, of each list those of its first item."""
    if isinstance(value, dict):
        return {name: skeleton(each) for name, each in value.items()}
    return [skeleton(each) for each in value[:1]] if isinstance(value, list) else None


@pytest.mark.usefixtures("done")
def test_the_json_has_the_members_that_the_page_shows(place: Path) -> None:
    documented = json.loads(output("json"))
    shown = vera(*command("work/five")[:-1], "work/five-json", "--json", cwd=place)
    said = json.loads(shown.stdout)
    assert skeleton(documented) == skeleton(said)
    assert [documented[name] for name in ("result", "reason", "exit_code")] == ["UNSUPPORTED", "REFUTED", 4]


def test_the_readme_shows_lines_of_what_its_command_prints(done: dict[str, Done]) -> None:
    typed, shown = README.partition("run.py verify ")[2].partition("```\n")[::2]
    assert shlex.split(typed)[0] == command(SHOWN["refuted"])[1]
    lines = timeless(output("refuted", shown)).strip().split("\n")
    printed = timeless(done["refuted"].stdout).split("\n")
    assert [line for line in lines if line not in ("…", *printed)] == []
    assert any(line.startswith("REFUTED: ") for line in lines)
