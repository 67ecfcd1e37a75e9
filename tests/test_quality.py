"""ruff and mypy, as they are set in pyproject.toml, find nothing."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MOST_CHARACTERS = 8000


def insist(*command: str) -> None:
    """Fails with what the tool says about the repository, unless it is content."""
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, timeout=280, check=False
    )
    if done.returncode:
        pytest.fail(f"{' '.join(command)}\n{(done.stdout + done.stderr)[:MOST_CHARACTERS]}", pytrace=False)


def test_ruff_is_content() -> None:
    insist("ruff", "check", "--output-format=concise", ".")


def test_mypy_strict_is_content_with_the_sources() -> None:
    insist("mypy", "src", "run.py")
