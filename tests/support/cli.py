"""The `vera` command as a person runs it: a process of its own, with a session folder to look into after."""

import os
import subprocess
import sys
from pathlib import Path

from support.forked import forks_for
from vera import events
from vera.session import Reader
from vera.state import RunState

LIMIT = 240.0
"""Seconds after which a command is killed: below the limit of a test, since a busy machine is slow."""


def vera(
    *arguments: object, cwd: Path, stdin: str = "", **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run `vera ARGUMENTS` in `cwd` and wait for its end.

    Without a server of the test's own it asks the built-in model, never one that runs on this machine. It is
    a fork of a process that has imported VERA, or a new interpreter where its environment asks for one.
    """
    words, variables = [*map(str, arguments)], {**os.environ, "MODEL_BASE_URL": "builtin", **environment}
    if (forking := forks_for(variables)) is not None:
        return forking.run(words, cwd, stdin, variables, LIMIT)
    return subprocess.run(
        [sys.executable, "-m", "vera", *words],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=LIMIT,
        env=variables,
    )


def records(work_dir: Path) -> list[events.Record]:
    """The whole log of a session."""
    return [record for _, record in Reader(work_dir / "trace.jsonl").poll()]


def folded(work_dir: Path) -> RunState:
    """The state that the log of a session folds to."""
    return RunState(records(work_dir))
