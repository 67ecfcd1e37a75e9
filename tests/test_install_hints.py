"""What a person is told to type to install more: a command that works in a clone, for an extra there is."""

import re
import shlex
import sys
import tomllib
from pathlib import Path

import pytest

from vera import extras
from vera.extras import install_command

ROOT = Path(__file__).parents[1]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
TEXTS = [
    path
    for pattern in (
        "src/**/*",
        "docs/**/*.md",
        "deploy/**/*",
        "examples/*",
        "*.md",
        "run.py",
        "tests/parts.py",
    )
    for path in ROOT.glob(pattern)
    if path.is_file() and path.suffix in ("", ".py", ".md", ".yaml", ".j2", ".txt")
]
# Our name is not on PyPI: whoever registers it there would run code on the machine of whoever types this.
BY_NAME = re.compile(r"install\b[^\n]{0,60}[\s\"'`]vera-agent\b|\b(?:pipx|uvx)\b[^\n]{0,40}\bvera\b")

NAMED = re.compile(r"(?:install_command\([\"']|-e '\.\[)(\w+)[\"'\]]")


@pytest.mark.parametrize(
    "text",
    [
        "pip install vera-agent",
        'pip install --upgrade "vera-agent[local]"',
        "uv tool install vera-agent",
        "uvx vera",
    ],
)
def test_the_guard_knows_an_installation_by_name(text: str) -> None:
    assert BY_NAME.search(text)


def test_no_text_tells_a_person_to_install_vera_by_its_name() -> None:
    assert len(TEXTS) > 300
    assert [str(path) for path in TEXTS if BY_NAME.search(path.read_text("utf-8"))] == []


def test_each_extra_that_a_text_names_exists() -> None:
    named = {
        name
        for path in TEXTS
        for names in re.findall(
            r"install_command\(\"(\w+)\"\)|install_command\('(\w+)'\)|-e '\.\[(\w+)\]'",
            path.read_text("utf-8"),
        )
        for name in names
        if name
    }
    assert {"local", "otel", "mcp", "cluster"} <= named <= set(EXTRAS)


def test_the_command_names_this_python_and_this_clone() -> None:
    assert shlex.split(install_command("local")) == [
        sys.executable, "-m", "pip", "install", "-e", f"{ROOT}[local]"
    ]  # fmt: skip


def test_outside_a_clone_the_command_is_for_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "__file__", "/usr/lib/python3/site-packages/vera/extras.py")
    assert install_command("local").endswith("-m pip install -e '.[local]'")
