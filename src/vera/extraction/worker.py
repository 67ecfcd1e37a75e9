"""The process that parses hostile documents: `python -m vera.extraction.worker MEMORY_BYTES`.

It reads documents from its standard input and writes their text to its standard output until the input
ends. It may not write files, start processes or leave core dumps, and it ends when its owner does.
"""

import contextlib
import io
import math
import resource
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from vera.extraction.canonical import extract
from vera.extraction.messages import HEADER, READY, Request, WorkerReply, pack
from vera.extraction.source import Unreadable

_MB = 1 << 20
# A library rarely gives all memory back. A worker that has grown by so much ends after its document, so that
# the memory of the next one can be told.
_LEFT_OVER = 64 * _MB


def main(memory: int) -> None:
    """Serve until the input ends, with `memory` bytes for all; a document may be given less, and its time."""
    confine(memory)
    fresh = _used()
    with open(0, "rb", closefd=False) as requests, open(1, "wb", buffering=0, closefd=False) as replies:
        write_whole(replies, READY)
        while header := requests.read(HEADER.size):
            body = requests.read(HEADER.unpack(header)[0])
            reply = _answer(body, memory, fresh)
            del body
            if _used() > fresh + _LEFT_OVER:
                reply = msgspec.structs.replace(reply, leaving=True)
            write_whole(replies, pack(reply))
            if reply.leaving:
                return


def _answer(body: bytes, memory: int, fresh: int) -> WorkerReply:
    allowed = memory
    try:
        request = msgspec.msgpack.decode(body, type=Request)
        allowed = request.memory or memory
        room = _used() + request.memory - fresh if request.memory else memory
        with _allowance(request.seconds, room):
            return WorkerReply(extract(request.data, request.name.decode("utf-8", "surrogatepass")))
    except Unreadable as error:
        return WorkerReply(None, str(error))
    except MemoryError:
        return WorkerReply(None, f"it needs more than {allowed // _MB} MB of memory", leaving=True)


@contextlib.contextmanager
def _allowance(seconds: float, address_space: int) -> Iterator[None]:
    """The bounds of one document. Its time ends this process by SIGPROF, whatever library holds it; a library
    that undoes that ends a second later."""
    cpu_limit(int(time.process_time()) + 1 + math.ceil(seconds))
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    _limit(resource.RLIMIT_AS, address_space, keep_hard=True)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        _limit(resource.RLIMIT_AS, hard, keep_hard=True)


def _used() -> int:
    """Bytes of address space in use; 0 where the system does not say."""
    with contextlib.suppress(OSError):
        return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    return 0


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
        main(int(sys.argv[1]))
