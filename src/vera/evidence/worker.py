"""The process that parses hostile documents: `python -m vera.evidence.worker CPU_SECONDS MEMORY_BYTES`.

It reads documents from its standard input and writes their text to its standard output until the input
ends. It may not write files, start processes or leave core dumps, and it ends when its owner does.
"""

import contextlib
import io
import resource
import sys
import time

import msgspec

from vera.evidence.canonical import extract
from vera.evidence.frames import HEADER, READY, Reply, Request, pack
from vera.evidence.source import Unreadable

_MB = 1 << 20


def main(cpu_seconds: int, memory: int) -> None:
    """Serve until the input ends. Each document gets `cpu_seconds` of processor time."""
    confine(memory)
    with open(0, "rb", closefd=False) as requests, open(1, "wb", buffering=0, closefd=False) as replies:
        write_whole(replies, READY)
        while header := requests.read(HEADER.size):
            body = requests.read(HEADER.unpack(header)[0])
            cpu_limit(int(time.process_time()) + 1 + cpu_seconds)
            reply = _answer(body, memory)
            del body
            write_whole(replies, pack(reply))
            if reply.leaving:
                return


def _answer(body: bytes, memory: int) -> Reply:
    try:
        request = msgspec.msgpack.decode(body, type=Request)
        return Reply(extract(request.data, request.name.decode("utf-8", "surrogatepass")))
    except Unreadable as error:
        return Reply(None, str(error))
    except MemoryError:
        return Reply(None, f"it needs more than {memory // _MB} MB of memory", leaving=True)


def confine(memory: int) -> None:
    """Give up writing files, starting processes, leaving core dumps, and more than `memory` (bytes)."""
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_FSIZE, 0)
    _limit(resource.RLIMIT_NPROC, 0)
    _limit(resource.RLIMIT_AS, memory)


def cpu_limit(seconds: int) -> None:
    """End this process when it has used so much processor time in all; may be raised again."""
    _limit(resource.RLIMIT_CPU, seconds, keep_hard=True)


def write_whole(stream: io.FileIO, message: bytes) -> None:
    """Write all of a message to an unbuffered stream."""
    view = memoryview(message)
    while view:
        view = view[stream.write(view) :]


def _limit(kind: int, value: int, *, keep_hard: bool = False) -> None:
    """Set a limit as far as this system allows (macOS knows some of them only by name)."""
    with contextlib.suppress(ValueError, OSError):
        hard = resource.getrlimit(kind)[1]
        if hard != resource.RLIM_INFINITY:
            value = min(value, hard)
        resource.setrlimit(kind, (value, hard if keep_hard else value))


if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError):
        main(int(sys.argv[1]), int(sys.argv[2]))
