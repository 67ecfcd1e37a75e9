"""The `vera` command as a person runs it: a process of its own, with a session folder to look into after."""

import os
import subprocess
import sys
from pathlib import Path

from vera import events
from vera.session import Reader
from vera.state import RunState


def vera(
    *arguments: object, cwd: Path, stdin: str = "", **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run `vera ARGUMENTS` in `cwd` and wait for its end.

    Without a server of the test's own it asks the built-in model, never one that runs on this machine.
    """
    return subprocess.run(
        [sys.executable, "-m", "vera", *map(str, arguments)],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "MODEL_BASE_URL": "builtin", **environment},
    )


def records(work_dir: Path) -> list[events.Record]:
    """The whole log of a session."""
    return [record for _, record in Reader(work_dir / "trace.jsonl").poll()]


def folded(work_dir: Path) -> RunState:
    """The state that the log of a session folds to."""
    return RunState(records(work_dir))
