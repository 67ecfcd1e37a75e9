"""A process that waits for an attempt, with a box that is started already: a fork of the fork server.

It owns the box as every attempt owns its own: when it dies, however it dies, the box is gone. An attempt
comes as three files over the channel: its arguments, its standard input, and where its stderr goes. When the
channel closes there will be none, and the process ends and leaves nothing.
"""

import atexit
import contextlib
import json
import os
import shutil
import signal
import socket
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

WORKSPACE = "workspace"
COLD = 5
"""The exit code of one that cannot have a box."""


def wait(request: Mapping[str, Any], channel: socket.socket) -> list[str] | None:
    """Start a box in the request's `folder` for runs with its `overrides` and what is `handed` over with
    their task, and wait. The arguments of the attempt that this process is from now on; None when none came.

    Raises SystemExit (COLD) when it cannot have a box.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    folder = Path(request["folder"])
    atexit.register(_end, folder)
    has_box = _begin(folder, request["overrides"], request["handed"])
    if not has_box:
        channel.shutdown(socket.SHUT_RD)  # no attempt comes from now on; one that came before is still read
    message, files, _, _ = socket.recv_fds(channel, 1, 3)
    channel.close()
    if not message or len(files) != 3:
        if not has_box:
            raise SystemExit(COLD)
        return None
    words, given, said = files
    os.dup2(given, 0)
    os.dup2(said, 2)
    os.close(given)
    os.close(said)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with os.fdopen(words, "rb") as file:
        argv: list[str] = json.load(file)
    return argv


def _begin(folder: Path, overrides: list[str], handed: str) -> bool:
    """Start the box; False where there can be none."""
    from vera.agent.box_ahead import begin_ahead
    from vera.agent.effort import with_effort
    from vera.config import load
    from vera.config.handed import read_handed

    work = folder / WORKSPACE
    try:
        work.mkdir(parents=True)
        given = read_handed(BytesIO(handed.encode()))
        begin_ahead(with_effort(load(overrides, handed=given)), work)
    except Exception:  # noqa: BLE001 - a run without a box that waits meets the same, and tells it
        return False
    return True


def _end(folder: Path) -> None:
    from vera.agent.box_ahead import end_ahead

    end_ahead()
    with contextlib.suppress(OSError):
        shutil.rmtree(folder)
