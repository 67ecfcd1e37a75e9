"""Pythons of this machine beside the one that runs the tests.

They are parts (`python3.12`, `python3.13`, `python3.14`): a test whose version is missing is skipped with
what to type, is counted in the last lines of the run, and fails where `VERA_REQUIRE` names the part.
"""

from pathlib import Path
from typing import Any

import pytest

import parts


def each_version(*needs: str) -> list[Any]:
    """A parameter for each version, which needs its part and these."""
    return [
        pytest.param(version, marks=pytest.mark.needs(*needs, f"python{version}"))
        for version in parts.PYTHONS
    ]


def python(version: str) -> Path:
    """A Python of this version. Raises LookupError."""
    program = parts.python(version)
    if program is None:
        raise LookupError(f"There is no Python {version} here.")
    return program
