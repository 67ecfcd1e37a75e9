"""One verdict, several versions of Python: the same ids, and each replays what another one wrote."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.cli import vera
from support.pythons import each_version, python

ROOT = Path(__file__).parents[2]
LICENCES = ROOT / "examples" / "licences"
THESIS = "GPL version 3 requires the written offer to be valid for at least three years"
SAME = ("thesis_id", "request_id", "evidence_set_hash", "result")


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """A session of the Python that runs the tests, and its verdict."""
    folder = tmp_path_factory.mktemp("here")
    done = vera("verify", THESIS, "--input-dir", LICENCES, "--work-dir", "w", "--json", "-q", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "w", json.loads(done.stdout)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of the working tree, built once for all versions."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    shutil.copytree(ROOT / "src", source / "src", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    pip("wheel", "--no-deps", "--wheel-dir", folder, source)
    [built] = folder.glob("*.whl")
    return built


@pytest.mark.timeout(900)
@pytest.mark.parametrize("version", each_version("pypi"))
def test_another_python_gives_the_same_ids_and_each_replays_the_other(
    here: tuple[Path, dict[str, Any]], wheel: Path, tmp_path: Path, version: str
) -> None:
    session, verdict = here
    other = installed(python(version), tmp_path, wheel)
    asked = [other, "verify", THESIS, "--input-dir", LICENCES, "--work-dir", "w", "--json", "-q"]
    done = subprocess.run(
        [*asked, "--model-base-url", "builtin"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    written = json.loads(done.stdout)
    assert {name: written[name] for name in SAME} == {name: verdict[name] for name in SAME}
    assert [card["card_id"] for card in written["cards"]] == [card["card_id"] for card in verdict["cards"]]
    theirs = subprocess.run([other, "replay", session], capture_output=True, text=True, check=False)
    assert (theirs.returncode, theirs.stdout.count("AGREES")) == (0, 3), theirs.stdout
    ours = vera("replay", tmp_path / "w", cwd=tmp_path)
    assert (ours.returncode, ours.stdout.count("AGREES")) == (0, 3), ours.stdout


def installed(program: Path, folder: Path, wheel: Path) -> Path:
    """The `vera` command of a fresh environment of that Python."""
    environment = folder / "environment"
    subprocess.run([program, "-m", "venv", "--without-pip", environment], check=True)
    pip(f"--python={environment / 'bin' / 'python'}", "install", "--no-compile", wheel)
    return environment / "bin" / "vera"


def pip(*argv: str | Path) -> None:
    """The pip of the Python that runs the tests. Fails with what it said."""
    quiet = ["--quiet", "--disable-pip-version-check"]
    done = subprocess.run(
        [sys.executable, "-m", "pip", *argv, *quiet], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
