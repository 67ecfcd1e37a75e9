"""One fault in a command: faults.c, compiled on the spot and loaded below Python, and what it is told.

Only what changes something below one folder is counted, so that the number of a call says what it is for: the
same command makes the same calls, but for the order of what happens at the same time.
"""

import contextlib
import errno
import functools
import hashlib
import os
import random
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from support.forked import Forks

SOURCE = Path(__file__).with_name("faults.c")
VARIABLE = "FAULT_PLAN"
STATE_BYTES = 16
MODULES = (
    *(f"vera.cli.{name}" for name in ("ask", "batch", "check", "export", "index", "review", "worker")),
    *("vera.document_check.run", "vera.cli.check_text", "vera.cli.check_sarif", "vera.selection.llm"),
    *("vera.dashboard.app", "vera.dashboard.run_page", "vera.dashboard.serve", "vera.service.app"),
)
"""What the commands of the battery import: a fork then has it."""
DISK_FULL, DISK_BROKEN, READ_ONLY = errno.ENOSPC, errno.EIO, errno.EROFS

MOMENT, CLOSED = "moment", "closed"
KILLS = ("before", "inside", "behind", MOMENT)
"""Actions that end the process at once."""


@dataclass(frozen=True)
class Fault:
    """What happens at call `number` (0: nothing does).

    `action` is a word of faults.c, or `moment` or `closed`:

    - before, inside, behind: the process is killed before the call, when half of a write was made, behind it;
    - moment: it is killed after `argument` milliseconds, wherever it is then;
    - fails, fails-once: the call fails with the error `argument`, all later ones too or not;
    - signal: the process gets the signal `argument`;
    - gone, full: no one reads its descriptor `argument` any more, or it leads to a full disk;
    - closed: its descriptor `argument` is closed when it starts;
    - memory: it may have `argument` bytes more than now; clock: its clock goes `argument` seconds back.
    """

    action: str = "none"
    number: int = 0
    argument: int = 0


NOTHING = Fault()


@dataclass(frozen=True)
class Call:
    """A call that was counted: `size` is what was to be written, of a sync the size of the file then; `other`
    where a rename or a link leads."""

    number: int
    name: str
    size: int
    path: str
    other: str = ""


@functools.cache
def library() -> Path:
    """The compiled shim, made when it is not there yet. Raises CalledProcessError."""
    source = SOURCE.read_bytes()
    made = (
        Path(tempfile.gettempdir())
        / f"vera-faults-{os.getuid()}-{hashlib.sha256(source).hexdigest()[:16]}.so"
    )
    if not made.exists():
        descriptor, name = tempfile.mkstemp(dir=made.parent)
        os.close(descriptor)
        subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-o", name, SOURCE, "-ldl"], check=True)
        Path(name).replace(made)
    return made


@functools.cache
def forks() -> Forks:
    """What forks commands with the shim in them."""
    return Forks(*MODULES, LD_PRELOAD=str(library()))


def plan(folder: Path, state: Path, fault: Fault) -> dict[str, str]:
    """The environment of a command with a fault in what it does to `folder`; `state` is a file elsewhere."""
    state.write_bytes(bytes(STATE_BYTES))
    log_of(state).unlink(missing_ok=True)
    words = (folder, state, fault.number, fault.action, fault.argument)
    return {VARIABLE: "|".join(map(str, words)), "LD_PRELOAD": str(library())}


def log_of(state: Path) -> Path:
    return state.with_name(f"{state.name}.calls")


def calls(state: Path) -> list[Call]:
    """What was counted, in order."""
    try:
        lines = log_of(state).read_text("utf-8", "surrogateescape").splitlines()
    except FileNotFoundError:
        return []
    rows = [line.split("\t") for line in lines]
    return [Call(int(row[0]), row[1], int(row[2]), *row[3:]) for row in rows if len(row) >= 4]


def cut_power(made: Sequence[Call], kept: Iterable[Path], random_: random.Random) -> list[str]:
    """Takes from each file what was written and never brought to the disk, or a part of it, as when the power
    is cut; what lies below `kept` stays. Names stay as they are."""
    synced: dict[str, int] = {}
    written: dict[str, None] = {}
    for call in made:
        if call.name == "sync":
            synced[call.path] = call.size
        elif call.name == "empty":
            synced[call.path] = 0
        elif call.name in ("rename", "link"):
            for table in (synced, written):
                if call.path in table:
                    table[call.other] = table.pop(call.path)  # type: ignore[attr-defined]  # a call of two paths
        elif call.name in ("write", "open"):
            written[call.path] = None
    lost = []
    for name in written:
        path, safe = Path(name), synced.get(name, 0)
        if any(path.is_relative_to(folder) for folder in kept):
            continue
        with contextlib.suppress(FileNotFoundError):
            size = path.stat().st_size
            if path.is_file() and size > safe:
                os.truncate(path, random_.randint(safe, size))
                lost.append(name)
    return lost
