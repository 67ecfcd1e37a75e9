"""Runs of the dashboard as tests need them: a base folder, a model that waits, and looks at what is true."""

import asyncio
import json
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from support.scripted_server import ScriptedServer, Slow
from support.turns import as_reply, final
from vera.dashboard.runs import Runs
from vera.dashboard.sessions import SessionFolder, Sessions

SECONDS = 60.0
ANSWER = as_reply(final("The file says nothing about it."), "text")


def runs_in(base: Path, **grace: float) -> Runs:
    """The runs of a base folder, as one dashboard has them."""
    return Runs(base, Sessions(base), **grace)


def use_plain_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """No sandbox, no judge: what is started is quick, and is the process itself."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "MODEL_BASE_URL", "MODEL_NAME", "MAX_STEPS"):
        monkeypatch.setenv(name, "")  # an empty value sets nothing
    monkeypatch.setenv("VERA_SANDBOX__BACKEND", "none")
    monkeypatch.setenv("VERA_VERIFICATION__RULE", "literal")


def waiting_model() -> ScriptedServer:
    """A model that thinks for as long as the test takes."""
    return ScriptedServer([Slow(SECONDS, ANSWER)], exhausted="repeat")


def asked(server: ScriptedServer, task: str = "What does the file say?", **fields: str) -> dict[str, str]:
    """The fields of a form that asks that server, which the person has configured."""
    os.environ["MODEL_BASE_URL"] = server.base_url
    return {"task": task, "model_base_url": server.base_url, "model_name": server.model, **fields}


async def until(is_so: Callable[[], bool], what: str) -> None:
    """Wait until it is so."""
    deadline = time.monotonic() + SECONDS
    while not is_so():
        assert time.monotonic() < deadline, f"waited {SECONDS:.0f} s in vain: {what}"
        await asyncio.sleep(0.05)


async def until_state(runs: Runs, session: SessionFolder, *states: str) -> str:
    """Wait until the run is in one of the states; which one."""
    await until(
        lambda: runs.status(session).state in states,
        f"{' or '.join(states)}, but it is {runs.status(session)}; run.log: {said(session)}",
    )
    return runs.status(session).state


def actions(session: SessionFolder) -> list[dict[str, Any]]:
    """The lines of `session.log`."""
    path = session.path / "session.log"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def signals_of(session: SessionFolder) -> list[str]:
    """What was sent to its runs, in order."""
    return [line["signal"] for line in actions(session) if line["action"] == "stopped"]


def said(session: SessionFolder) -> str:
    """`run.log`."""
    path = session.path / "run.log"
    return path.read_text() if path.exists() else ""


def pid_of(session: SessionFolder) -> int:
    return int((session.path / "run.pid").read_text().splitlines()[0])


def environment_of(pid: int) -> Mapping[str, str]:
    """The variables that a process was started with."""
    pairs = Path(f"/proc/{pid}/environ").read_bytes().decode().split("\0")
    return dict(pair.split("=", 1) for pair in pairs if "=" in pair)


def arguments_of(pid: int) -> list[str]:
    """The command line of a process, as everybody on the machine sees it."""
    return Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")[:-1]


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208 (the folder's own descriptor counts the same)
