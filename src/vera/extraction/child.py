"""A question to a module of VERA in a child process, which is bounded, used once, and ended."""

import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path


def ask_child(
    module: str,
    question: bytes,
    *,
    seconds: float,
    largest: int,
    arguments: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
) -> tuple[int, bytes]:
    """The exit code of `python -m MODULE ARGUMENTS` and what it says to `question` on its standard input.

    It is killed after `seconds`, or where it says more than `largest` bytes, and one more is given then. Of
    the environment it has the import path and what is given here. Raises OSError.
    """
    paths = os.pathsep.join(str(Path(entry).absolute()) for entry in sys.path if entry)
    with tempfile.TemporaryFile() as asked:  # a file and no pipe: no one has to feed it
        asked.write(question)
        asked.seek(0)
        child = subprocess.Popen(
            [sys.executable, "-P", "-s", "-m", module, *arguments],
            stdin=asked,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env={"PYTHONPATH": paths, **(environment or {})},
            start_new_session=True,
        )
    assert child.stdout is not None
    alarm = threading.Timer(seconds, child.kill)
    alarm.start()
    try:
        with child.stdout as replies:
            said = replies.read(largest + 1)
            if len(said) > largest:
                child.kill()
        return child.wait(), said
    finally:
        alarm.cancel()
        child.kill()
        child.wait()
