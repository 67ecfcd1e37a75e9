"""What `pip install .` brings: few packages, few bytes, and a `vera --help` that loads little."""

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MAX_PACKAGES = 50
MAX_BYTES = 100 * 2**20
HEAVY = {
    "cryptography",
    "httpx",
    "jinja2",
    "prometheus_client",
    "pydantic",
    "rich",
    "selectolax",
    "sqlite3",
    "starlette",
    "uvicorn",
    "yaml",
}
"""What `vera --help` does not need, and would pay for in start time."""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with nothing in it but the project and what it depends on."""
    folder = tmp_path_factory.mktemp("install")
    clone = shutil.copytree(ROOT, folder / "clone", ignore=not_in_a_clone)
    environment = folder / "environment"
    # Without a pip of its own, so that whatever stands in it afterwards is ours.
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    pip = [sys.executable, "-m", "pip", "--python", str(environment / "bin" / "python")]
    done = subprocess.run(
        [*pip, "install", "--quiet", str(clone)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return environment


def not_in_a_clone(folder: str, names: list[str]) -> set[str]:
    hidden = {name for name in names if name.startswith(".") or name == "__pycache__"}
    return hidden | ({"work"} if Path(folder) == ROOT else set())


def site_packages(environment: Path) -> Path:
    (found,) = environment.glob("lib/python*/site-packages")
    return found


def bytes_on_disk(folder: Path) -> int:
    """As `du` counts: whole blocks of regular files and folders, each inode once."""
    blocks = {}
    for path in [folder, *folder.rglob("*")]:
        entry = path.lstat()
        blocks[entry.st_dev, entry.st_ino] = entry.st_blocks
    return 512 * sum(blocks.values())


def run(*argv: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        argv, env={**os.environ, **environment}, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.needs("pypi")
@pytest.mark.timeout(900)
def test_the_installation_is_small(installed: Path, measured: Callable[[str, object], None]) -> None:
    packages = len(
        {each.name for each in importlib.metadata.distributions(path=[str(site_packages(installed))])}
    )
    size = bytes_on_disk(site_packages(installed))
    measured("pip install . brings", f"{packages} packages (at most {MAX_PACKAGES})")
    measured("pip install . takes", f"{size / 2**20:.1f} MiB (less than {MAX_BYTES / 2**20:.0f})")
    assert packages <= MAX_PACKAGES
    assert size < MAX_BYTES


@pytest.mark.needs("pypi")
@pytest.mark.timeout(900)
def test_the_installed_command_shows_its_help(installed: Path, tmp_path: Path) -> None:
    done = run(installed / "bin" / "vera", "--help", HOME=str(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Usage: vera")
    assert list(tmp_path.iterdir()) == []


def test_help_loads_no_heavy_module() -> None:
    done = run(sys.executable, "-X", "importtime", "-m", "vera", "--help")
    assert done.returncode == 0, done.stderr
    loaded = set(re.findall(r"\| +([\w.]+)$", done.stderr, re.MULTILINE))
    assert "vera.cli" in loaded
    assert loaded & HEAVY == set()


def test_requirements_txt_installs_the_project() -> None:
    assert (ROOT / "requirements.txt").read_text() == ".\n"
