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
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_FSIZE, 0)
    _limit(resource.RLIMIT_NPROC, 0)
    _limit(resource.RLIMIT_AS, memory)
    with open(0, "rb", closefd=False) as requests, open(1, "wb", buffering=0, closefd=False) as replies:
        _write(replies, READY)
        while header := requests.read(HEADER.size):
            body = requests.read(HEADER.unpack(header)[0])
            _limit(resource.RLIMIT_CPU, int(time.process_time()) + 1 + cpu_seconds, keep_hard=True)
            reply = _answer(body, memory)
            del body
            _write(replies, pack(reply))
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


def _write(stream: io.FileIO, message: bytes) -> None:
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
