"""What a trial of the battery `crash` plays on: folders that are thrown away, commands with a fault in them,
and what they may not leave behind."""

import contextlib
import os
import random
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from assurance.faults import (
    DISK_BROKEN,
    KILLS,
    MOMENT,
    NOTHING,
    READ_ONLY,
    Call,
    Fault,
    calls,
    cut_power,
    forks,
    plan,
)
from support.scripted_server import ScriptedServer

SECONDS = 60.0
"""After which a command hangs."""
PATIENCE = 20.0
"""Seconds that what a dead process had started has for its end."""
KILLED = -signal.SIGKILL
TEMPORARY = ("*.new", ".new-*", ".derive-*", ".input-*", ".empty-*", ".vera-copy-*", "checks")
"""Names of what is there only while something is being made."""


@dataclass
class Stage:
    """The folders of one trial. What happens below `watched` is counted."""

    folder: Path
    random: random.Random
    environment: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for each in (self.base, self.home, self.temporary):
            each.mkdir(parents=True)

    @property
    def watched(self) -> Path:
        return self.folder / "watched"

    @property
    def base(self) -> Path:
        return self.watched / "base"

    @property
    def home(self) -> Path:
        return self.watched / "home"

    @property
    def temporary(self) -> Path:
        return self.watched / "tmp"

    @property
    def state(self) -> Path:
        return self.folder / "state"

    def put(self, name: str, text: str) -> Path:
        """A file of the base folder."""
        path = self.base / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def variables(self, fault: Fault) -> dict[str, str]:
        """The environment of a command."""
        private = {
            "HOME": self.home,
            "XDG_CONFIG_HOME": self.home / ".config",
            "XDG_DATA_HOME": self.home / ".local/share",
            "XDG_STATE_HOME": self.home / ".local/state",
            "XDG_CACHE_HOME": self.home / ".cache",
            "TMPDIR": self.temporary,
        }
        planned = plan(self.watched, self.state, fault)
        return {
            **os.environ,
            **{name: str(path) for name, path in private.items()},
            **self.environment,
            **planned,
        }

    def vera(self, *words: object, fault: Fault = NOTHING) -> "Ended":
        """A command to its end, as a fork."""
        seconds = fault.argument / 1000 if fault.action == MOMENT else SECONDS
        try:
            done = forks().run([*map(str, words)], self.base, "", self.variables(fault), seconds)
        except subprocess.TimeoutExpired:
            assert fault.action == MOMENT, f"it did not end in {seconds:.0f} s: {words}"
            return Ended(KILLED, "", "", calls(self.state))
        return Ended(done.returncode, done.stdout, done.stderr, calls(self.state))

    def cut_power(self, ended: "Ended") -> list[str]:
        """What a cut of the power takes after that command; commands of the agent work on another machine."""
        return cut_power(ended.calls, list(self.base.glob("**/workspace")), self.random)

    def nothing_runs(self) -> None:
        """Whatever a dead process had started has ended, soon."""
        until(lambda: not forks().left(), self.running)

    def running(self) -> str:
        return "left running: " + "; ".join(f"{pid} {said_of(pid)}" for pid in forks().left())

    def nothing_temporary(self, fault: Fault, but: Sequence[Path] = ()) -> None:
        """No file is left that was there only while another one was made, `but` in folders that were given up
        as a whole, or that hold what could not be removed.

        What a process that was killed, or that could remove nothing, leaves in the cache and in the system's
        folder for temporary files is not looked at: no command knows that it is no one's any more.
        """
        here = self.base if _could_not_tidy_up(fault) else self.watched
        found = [path for name in TEMPORARY for path in here.rglob(name) if "workspace" not in path.parts]
        found = [path for path in found if not any(_belongs(path, each) for each in but)]
        found += [] if here == self.base else self.temporary.iterdir()
        assert not found, f"left behind: {[path.relative_to(self.watched).as_posix() for path in found]}"


def _belongs(path: Path, excused: Path) -> bool:
    """Whether a path is in one that is excused, or is a folder that still holds it."""
    return path.is_relative_to(excused) or (excused.is_relative_to(path) and os.path.lexists(excused))


def _could_not_tidy_up(fault: Fault) -> bool:
    ended_at_once = fault.action in KILLS or fault.argument == signal.SIGTERM
    return ended_at_once or fault.argument in (DISK_BROKEN, READ_ONLY)


@dataclass(frozen=True)
class Ended:
    """How a command ended, what it said, and the calls that it made."""

    code: int
    out: str
    said: str
    calls: Sequence[Call]

    @property
    def was_killed(self) -> bool:
        return self.code == KILLED


def said_of(pid: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")[:200]
    return "(gone)"


def until(holds: Callable[[], object], otherwise: Callable[[], str]) -> None:
    """Wait until something holds; fails with what `otherwise` says."""
    ends = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < ends, otherwise()
        time.sleep(0.005)


def no_traceback(ended: Ended, fault: Fault) -> None:
    """A command that ended by itself says why in a sentence."""
    assert "Traceback" not in ended.said, f"{fault}: exit code {ended.code}\n{ended.said[-3000:]}"
    assert re.fullmatch(r"[\x09\x0a\x20-\x7e\u00a0-\uffff]*", ended.said), ended.said


class Warm:
    """Stages on which something was done before, once in this process: each trial gets a copy."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="vera-crash-warm-")
        self._kept: dict[str, Stage] = {}

    def into(self, stage: Stage, name: str, do: Callable[[Stage], object], *, base: bool = False) -> None:
        """Give the stage the home in which `do` was done, and with `base` what it left in the base folder."""
        if name not in self._kept:
            kept = Stage(Path(self._folder.name) / name, random.Random(0))
            do(kept)
            self._kept[name] = kept
        kept = self._kept[name]
        shutil.copytree(kept.home, stage.home, dirs_exist_ok=True)
        if base:
            shutil.copytree(kept.base, stage.base, dirs_exist_ok=True, symlinks=True)


def forget(server: ScriptedServer) -> None:
    """Empty the lists of a server that serves thousands of trials."""
    for kept in (server.requests, server.exams, server.probes, server.paths, server._prompts):
        kept.clear()
    server.answered.clear()
