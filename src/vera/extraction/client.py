"""The pump: carries documents to the worker and texts back, and replaces the worker when it must.

One thread, one loop over two pipes. Several documents are on their way at once, so the worker never
waits for the thread; replies come in the order of the requests, so it is known which document was being
read when the worker died.
"""

import contextlib
import fcntl
import math
import os
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from concurrent.futures import Future
from pathlib import Path

import msgspec

from vera.decode_errors import DECODE_ERRORS
from vera.extraction.canonical.encoding import is_utf8
from vera.extraction.messages import HEADER, LARGEST, Request, WorkerReply, pack
from vera.extraction.source import Extracted, Unreadable


class ExtractionLimits(msgspec.Struct, frozen=True, kw_only=True):
    """What a worker may use.

    `seconds` bounds the wall time of one document and its processor time, `memory` (bytes) the worker's
    address space; a format may have less of both (`registry.Format`). After `documents` documents or
    `megabytes` MB of them it is replaced by a fresh one.
    """

    seconds: float = 60.0
    memory: int = 2 << 30
    documents: int = 2000
    megabytes: int = 512


_ON_THE_WAY = 16
_CHUNK = 1 << 20
_START_SECONDS = 60.0
_START_ATTEMPTS = 2
_CRASHES = 2  # the first may have been somebody else's doing: the system kills when memory is short
_FAREWELL_SECONDS = 2.0
_OUT_OF_TIME = (-signal.SIGPROF, -signal.SIGXCPU)


class _Job(msgspec.Struct):
    request: bytes
    future: Future[Extracted]
    seconds: float
    memory: int
    crashes: int = 0


class Pump:
    """Documents in, futures out. The thread starts with the pump and ends with `close`."""

    def __init__(self, limits: ExtractionLimits) -> None:
        self._limits = limits
        self._waiting: deque[_Job] = deque()
        self._closing = False
        self._lock = threading.Lock()
        self._rung = False
        self._bell, self._ear = socket.socketpair()
        self._bell.setblocking(False)
        self._ear.setblocking(False)
        self._worker: _Worker | None = None
        self._failed_starts = 0
        self._thread = threading.Thread(target=self._run, name="vera-extractor", daemon=True)
        self._thread.start()

    def submit(self, data: bytes, name: str, seconds: float | None, memory: int | None) -> Future[Extracted]:
        """A future of the text; its exception is Unreadable. `seconds` and `memory` are the format's own."""
        cpu = min(seconds or math.inf, self._limits.seconds)
        request = Request(name.encode("utf-8", "surrogatepass"), data, cpu, memory or 0)
        job = _Job(pack(request), Future(), cpu, memory or 0)
        with self._lock:
            if self._closing:
                job.future.set_exception(Unreadable("the extractor was closed"))
                return job.future
            self._waiting.append(job)
        self._ring()
        return job.future

    def close(self) -> None:
        """End the worker and the thread; what is not done yet fails with Unreadable."""
        with self._lock:
            self._closing = True
        self._ring()
        self._thread.join()
        self._bell.close()
        self._ear.close()

    def _ring(self) -> None:
        """Wake the thread, unless it is about to look anyhow."""
        if self._rung:
            return
        self._rung = True
        with contextlib.suppress(BlockingIOError):  # full of rings: it will be heard
            self._bell.send(b"\0")

    def _run(self) -> None:
        try:
            while not self._closing:
                self._send_what_fits()
                self._wait()
        finally:
            self._shut_down()

    def _shut_down(self) -> None:
        worker, self._worker = self._worker, None
        jobs = list(worker.on_the_way) if worker else []
        if worker:
            worker.end()
        with self._lock:
            self._closing = True
            jobs += self._waiting
            self._waiting.clear()
        for job in jobs:
            job.future.set_exception(Unreadable("the extractor was closed"))

    def _send_what_fits(self) -> None:
        """Move waiting jobs to the worker; start one, or replace a worn one, when needed."""
        if self._worker and self._worker.worn and not self._worker.on_the_way:
            self._worker.end()
            self._worker = None
        with self._lock:
            wanted = bool(self._waiting)
        if wanted and self._worker is None:
            try:
                self._worker = _Worker(self._limits)
            except OSError as error:
                self._start_failed(str(error))
        with self._lock:
            while self._worker and self._waiting and self._worker.takes_more:
                self._worker.take(self._waiting.popleft())

    def _wait(self) -> None:
        """Until something can be read or written, a job arrives, or the oldest document is overdue."""
        worker = self._worker
        ready = self._ready(worker)
        if self._ear in ready:
            with contextlib.suppress(BlockingIOError):
                self._ear.recv(4096)
            self._rung = False
        if not worker:
            return
        if worker.requests in ready:
            worker.write()
        if worker.replies in ready:
            try:
                if not worker.read():
                    self._bury(worker)
            except _Nonsense:
                self._bury(worker)
        elif worker.patience() == 0:
            self._bury(worker, overdue=True)

    def _ready(self, worker: "_Worker | None") -> set[object]:
        """What can be read or written, as soon as something can, or the patience ends."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._ear, selectors.EVENT_READ)
            if worker:
                selector.register(worker.replies, selectors.EVENT_READ)
                if worker.has_unsent:
                    selector.register(worker.requests, selectors.EVENT_WRITE)
            idle = 0.0 if self._waiting else None
            return {key.fileobj for key, _ in selector.select(worker.patience() if worker else idle)}

    def _bury(self, worker: "_Worker", *, overdue: bool = False) -> None:
        """The worker is gone or must go: its oldest document is to blame; the others go to the next one.

        What was late is not read again, what crashed is once more.
        """
        self._worker = None
        status = worker.kill(grace=0.0 if overdue else _FAREWELL_SECONDS)
        blamed = worker.on_the_way[0] if worker.to_blame else None
        if blamed and (overdue or status in _OUT_OF_TIME):
            seconds = self._limits.seconds if overdue else blamed.seconds
            late = Unreadable(f"it takes too long to read: more than {seconds:g} s")
            worker.on_the_way.popleft().future.set_exception(late)
        elif blamed:
            blamed.crashes += 1
            if blamed.crashes == _CRASHES:
                worker.on_the_way.popleft().future.set_exception(_crashed(blamed.memory))
        with self._lock:
            self._waiting.extendleft(reversed(worker.on_the_way))
        if worker.ready:
            self._failed_starts = 0
        else:
            self._start_failed(f"exit status {status}")

    def _start_failed(self, why: str) -> None:
        """Try once more; then tell all who wait, so that no one waits for ever."""
        self._failed_starts += 1
        if self._failed_starts < _START_ATTEMPTS:
            return
        self._failed_starts = 0
        with self._lock:
            stranded, self._waiting = self._waiting, deque()
        for job in stranded:
            job.future.set_exception(Unreadable(f"the extractor process could not start ({why})"))


def _crashed(memory: int) -> Unreadable:
    needs = f", or it needs more than {memory >> 20} MB of memory" if memory else ""
    return Unreadable(f"the extractor crashed on this file{needs}")


class _Nonsense(Exception):
    """A worker answered what no worker answers: its document took it over, or memory is broken."""


class _Worker:
    """One worker process and the documents that were sent to it, oldest first."""

    def __init__(self, limits: ExtractionLimits) -> None:
        self._limits = limits
        self.on_the_way: deque[_Job] = deque()
        self.ready = False
        self.leaving = False
        self._documents = self._bytes = 0
        self._unsent: deque[tuple[_Job, memoryview]] = deque()
        self._received = bytearray()
        self._since = time.monotonic()
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-s", "-m", "vera.extraction.worker", str(limits.memory)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            cwd="/",
            env={"PYTHONPATH": os.pathsep.join(str(Path(entry).absolute()) for entry in sys.path if entry)},
            start_new_session=True,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self.requests = self._process.stdin
        self.replies = self._process.stdout
        for pipe in (self.requests, self.replies):
            os.set_blocking(pipe.fileno(), False)
            widen(pipe.fileno())

    @property
    def to_blame(self) -> bool:
        """Whether the oldest document was being read, so that the worker's death is its doing."""
        return self.ready and not self.leaving and bool(self.on_the_way)

    @property
    def worn(self) -> bool:
        return self._documents >= self._limits.documents or self._bytes >= self._limits.megabytes << 20

    @property
    def takes_more(self) -> bool:
        return not self.worn and not self.leaving and len(self.on_the_way) < _ON_THE_WAY

    @property
    def has_unsent(self) -> bool:
        return bool(self._unsent)

    def take(self, job: _Job) -> None:
        if not self.on_the_way and self.ready:
            self._since = time.monotonic()
        self.on_the_way.append(job)
        self._unsent.append((job, memoryview(job.request)))
        self._documents += 1
        self._bytes += len(job.request)

    def patience(self) -> float | None:
        """The seconds that the oldest document has left; None when the worker is idle."""
        if not self.on_the_way:
            return None
        allowed = self._limits.seconds if self.ready else _START_SECONDS
        return max(self._since + allowed - time.monotonic(), 0.0)

    def write(self) -> None:
        """Send what the pipe takes. A broken pipe is noticed where the replies end."""
        with contextlib.suppress(BlockingIOError, BrokenPipeError):
            while self._unsent:
                job, rest = self._unsent[0]
                sent = os.write(self.requests.fileno(), rest[:_CHUNK])
                if self.on_the_way and job is self.on_the_way[0]:
                    self._since = time.monotonic()
                if sent < len(rest):
                    self._unsent[0] = (job, rest[sent:])
                else:
                    self._unsent.popleft()

    def read(self) -> bool:
        """Take in what has come and settle the futures; False at the end. Raises _Nonsense."""
        try:
            chunk = os.read(self.replies.fileno(), _CHUNK)
        except BlockingIOError:
            return True
        self._received += chunk
        while (body := self._next_message()) is not None:
            self._since = time.monotonic()
            if not self.ready:
                if body:
                    raise _Nonsense
                self.ready = True
                continue
            self._settle(body)
        return bool(chunk)

    def _next_message(self) -> bytes | None:
        if len(self._received) < HEADER.size:
            return None
        (size,) = HEADER.unpack_from(self._received)
        if size > LARGEST:
            raise _Nonsense
        if len(self._received) < HEADER.size + size:
            return None
        body = bytes(memoryview(self._received)[HEADER.size : HEADER.size + size])
        del self._received[: HEADER.size + size]
        return body

    def _settle(self, body: bytes) -> None:
        try:
            reply = msgspec.msgpack.decode(body, type=WorkerReply)
        except DECODE_ERRORS:
            raise _Nonsense from None
        if not self.on_the_way or not _plausible(reply):
            raise _Nonsense
        job = self.on_the_way.popleft()
        if self._unsent and self._unsent[0][0] is job:
            self.on_the_way.appendleft(job)
            raise _Nonsense
        self.leaving = reply.leaving
        try:
            job.future.set_result(reply.result())
        except Unreadable as error:
            job.future.set_exception(error)

    def end(self) -> None:
        """Say goodbye to an idle worker by closing its input; others are killed."""
        if not self.on_the_way:
            self.requests.close()
            self.kill(grace=_FAREWELL_SECONDS)
        else:
            self.kill()

    def kill(self, *, grace: float = 0.0) -> int:
        """Its exit status, after at most `grace` seconds for it to end by itself."""
        try:
            status = self._process.wait(grace)
        except subprocess.TimeoutExpired:
            self._process.kill()
            status = self._process.wait()
        self.requests.close()
        self.replies.close()
        return status


def _plausible(reply: WorkerReply) -> bool:
    """Whether a text has the form that every canonical text has: what follows relies on it."""
    text = reply.extracted.text if reply.extracted else b"\n"
    return text.endswith(b"\n") and is_utf8(text)


def widen(pipe: int) -> None:
    """A pipe of 1 MB where the system allows it: the worker then reads ahead and need not wait for us."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _CHUNK)
