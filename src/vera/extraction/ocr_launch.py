"""Becomes tesseract, after this process has given up what no reading of a picture needs.

`python -m vera.extraction.ocr_launch MEMORY_BYTES CPU_SECONDS PROGRAM ARGUMENT…`

It may not write files, start processes, leave core dumps or use more than that. Where the system lets an
ordinary program leave its network, it does.
"""

import ctypes
import os
import sys
from contextlib import suppress

from vera.extraction.worker import confine, cpu_limit

_NEW_USER, _NEW_NETWORK = 0x10000000, 0x40000000
"""CLONE_NEWUSER and CLONE_NEWNET of unshare(2)."""


def main(memory: int, seconds: int, program: str, arguments: list[str]) -> None:
    """Does not return. Raises OSError where the program cannot be run."""
    _leave_the_network()
    confine(memory)
    cpu_limit(seconds)
    kept = {name: os.environ[name] for name in ("TESSDATA_PREFIX",) if name in os.environ}
    # More threads make it slower, and its answer another one.
    os.execve(program, [program, *arguments], {**kept, "OMP_THREAD_LIMIT": "1", "LC_ALL": "C.UTF-8"})


def _leave_the_network() -> None:
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).unshare(_NEW_USER | _NEW_NETWORK)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4:])
