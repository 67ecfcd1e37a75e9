"""The files around the code: what CI calls, what development installs, what a contributor reads."""

import os
import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
EXACT = re.compile(r"([A-Za-z0-9._-]+)==([0-9][A-Za-z0-9.]*)")


def exact_versions(text: str) -> dict[str, Version]:
    """Name → version of a constraints file. Fails on a line that is neither exact nor a comment."""
    found = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            match = EXACT.fullmatch(line)
            assert match, f"no exact version: {line}"
            found[canonicalize_name(match[1])] = Version(match[2])
    return found


def unmet(requirements: list[str], versions: dict[str, Version]) -> list[str]:
    """The requirements for which there is no version, or one that they do not admit."""
    wanted = [Requirement(text) for text in requirements]
    return [
        str(each)
        for each in wanted
        if (name := canonicalize_name(each.name)) not in versions
        or not each.specifier.contains(versions[name])
    ]


def requirements() -> list[str]:
    """What VERA and its tests need."""
    return [*PROJECT["project"]["dependencies"], *PROJECT["dependency-groups"]["test"]]


def test_the_constraints_have_an_admitted_version_of_every_dependency() -> None:
    assert unmet(requirements(), exact_versions((ROOT / "constraints-dev.txt").read_text())) == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [("click==8.5.1", []), ("click==9.0", ["click<9,>=8.1"]), ("rich==15.0", ["click<9,>=8.1"])],
)
def test_a_version_that_is_missing_or_not_admitted_is_found(text: str, problem: list[str]) -> None:
    assert unmet(["click>=8.1,<9"], exact_versions(text)) == problem


def test_a_range_is_no_exact_version() -> None:
    with pytest.raises(AssertionError, match="no exact version: click>=8"):
        exact_versions("click>=8")


def test_run_py_does_not_use_the_constraints() -> None:
    assert "constraint" not in (ROOT / "run.py").read_text().lower()


def test_every_job_of_ci_calls_a_script_that_is_here_and_no_script_is_forgotten() -> None:
    jobs = [job for each in WORKFLOWS for job in yaml.safe_load(each.read_text())["jobs"].values()]
    runs = [[step["run"] for step in job["steps"] if ".ci/" in step.get("run", "")] for job in jobs]
    assert [len(called) for called in runs] == [1] * len(jobs)
    called = {command for commands in runs for command in commands}
    scripts = {f".ci/{path.name}" for path in (ROOT / ".ci").iterdir()}
    assert called == scripts
    assert all(os.access(ROOT / script, os.X_OK) for script in scripts)


def test_ci_may_only_read_the_repository() -> None:
    assert [yaml.safe_load(each.read_text())["permissions"] for each in WORKFLOWS] == [{"contents": "read"}]


def test_the_hooks_of_a_commit_are_tools_that_development_installs() -> None:
    [local] = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    assert local["repo"] == "local"
    tools = {hook["entry"].split()[0] for hook in local["hooks"]}
    assert tools == {".venv/bin/ruff", ".venv/bin/mypy"}
    wanted = {Requirement(text).name for text in PROJECT["dependency-groups"]["test"]}
    assert {Path(tool).name for tool in tools} <= wanted


def test_the_changelog_has_an_open_section_and_kinds_that_keep_a_changelog_knows() -> None:
    headings = re.findall(r"^(##+) (.+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert headings[0] == ("##", "Unreleased")
    kinds = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert {name for level, name in headings if level == "###"} <= kinds


@pytest.mark.parametrize("name", ["bug", "idea", "wrong-verdict"])
def test_a_template_says_what_it_is_for(name: str) -> None:
    template = ROOT / ".github" / "ISSUE_TEMPLATE" / f"{name}.md"
    head = yaml.safe_load(template.read_text().split("---\n")[1])
    assert head.keys() == {"name", "about", "labels"}
    assert all(head.values())
