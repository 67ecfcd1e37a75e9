"""What `.ci/release` makes, and commands as a person who has no source types them."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PATIENCE = 400


def typed(*argv: str | Path, cwd: Path | None = None, **environment: str) -> str:
    """What a command prints on stdout. Fails with what it said unless it ends with exit code 0."""
    done = subprocess.run(
        argv,
        cwd=cwd,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, f"{argv}\n{done.stdout[-4000:]}{done.stderr[-4000:]}"
    return done.stdout


def git(*argv: str) -> str:
    """What git says of this clone, also where another user owns it."""
    return typed("git", "-c", f"safe.directory={ROOT}", *argv, cwd=ROOT).strip()


def one(folder: Path, pattern: str) -> Path:
    [found] = folder.glob(pattern)
    return found


def download(folder: Path, version: str, *what: str) -> None:
    """Fetch the wheels of packages and of all that they need, of pip and of the build backend, for a version
    of Python."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--dest", str(folder)]
    typed(*pip, "--only-binary=:all:", "--python-version", version, *what, "pip", "hatchling", "editables")
