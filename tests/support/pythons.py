"""Pythons of this machine beside the one that runs the tests: on the path, or kept by pyenv."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

VERSIONS = ("3.12", "3.13", "3.14")


def python(version: str) -> Path:
    """A Python of this version. Skips the test where there is none: no package of Debian 12 brings one."""
    pyenv = Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser()
    kept = sorted(pyenv.glob(f"versions/{version}.*/bin/python"))
    on_path = shutil.which(f"python{version}")
    for found in (*([Path(on_path)] if on_path else []), *reversed(kept)):
        if subprocess.run([found, "-V"], check=False, capture_output=True, timeout=60).returncode == 0:
            return found
    pytest.skip(f"there is no Python {version} here")
