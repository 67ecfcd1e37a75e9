"""Processes that a box left on this machine, found by the box's name among their arguments or variables."""

import contextlib
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from vera.sandbox import owner

LABEL = "VERA_BOX"
KILL_SECONDS = 5.0


def run_dir(name: str) -> Path:
    """Where a supervisor without its own file system keeps its FIFOs."""
    return Path(tempfile.gettempdir()) / name


def end(name: str) -> None:
    """Kill the box's processes until none is left, and remove its run folder."""
    deadline = time.monotonic() + KILL_SECONDS
    while (found := [pid for pid, names in named_processes() if name in names]) and (
        time.monotonic() < deadline
    ):
        for pid in found:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)
    shutil.rmtree(run_dir(name), ignore_errors=True)


def reap(backend: str) -> int:
    """End the boxes of that backend whose VERA process is dead; how many there were."""
    names = {name for _, names in named_processes() for name in names}
    for folder in Path(tempfile.gettempdir()).glob(f"{owner.PREFIX}.{backend}.*"):
        with contextlib.suppress(OSError):
            if folder.lstat().st_uid == os.getuid():
                names.add(folder.name)
    dead = [name for name in names if (who := owner.owner_of(name, backend)) and who.is_dead]
    for name in dead:
        end(name)
    return len(dead)


def named_processes() -> Iterator[tuple[int, set[str]]]:
    """Processes that carry names of boxes: in an argument (alone or as a path's end) or in the label."""
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        prefix = f"{LABEL}="
        values = [
            *words(entry / "cmdline"),
            *(word.removeprefix(prefix) for word in words(entry / "environ") if word.startswith(prefix)),
        ]
        names = {value.rpartition("/")[2] for value in values if f"{owner.PREFIX}." in value}
        if names:
            yield int(entry.name), names


def words(file: Path) -> list[str]:
    """The NUL-terminated strings of a file in /proc; none when we may not read it."""
    try:
        return file.read_bytes().decode("utf-8", "replace").split("\0")
    except OSError:
        return []
