"""The owner of the unpacker: starts it, hands it files, checks what it says, ends it when it must."""

import contextlib
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from vera.decode_errors import DECODE_ERRORS
from vera.extraction.client import widen
from vera.extraction.containers.names import CONTROL, MAX_NAME_LENGTH
from vera.extraction.containers.values import MEMBER_BYTES, Member, Order, Place, UnpackerMessage, numbers
from vera.extraction.messages import HEADER
from vera.extraction.source import Unreadable

_LARGEST = MEMBER_BYTES + (1 << 20)
_CHUNK = 1 << 20
_FAREWELL_SECONDS = 2.0
_START_SECONDS = 60.0
_CRASHES = 2  # the first may have been somebody else's doing: the system kills when memory is short


class ForeignFile(Exception):
    """A file is no container of the kind that its name promises: it is to be read as what it is."""


class _Crashed(Unreadable):
    """The process ended, or said what it never says."""

    def __init__(self) -> None:
        super().__init__("the extractor crashed on this file")


class Unpacking:
    """One warm process that opens containers. Not for use by two threads at once."""

    def __init__(self, seconds: float, memory: int) -> None:
        """`seconds` is how long it may be silent, `memory` (bytes) its address space."""
        self._seconds = seconds
        self._memory = memory
        self._process: _Process | None = None

    def members(
        self, descriptor: int, kind: str, start: Place = (), heard: Callable[[int], None] = lambda _: None
    ) -> Iterator[Member]:
        """The members of an open file, from the place `start` on (that one included), in order.

        `heard` is told how many bytes of the file have been read. After a crash it goes on once, where it
        was. Raises ForeignFile before the first member, Unreadable after the last one that could be read.
        """
        before: tuple[int, ...] | None = None
        crashes = 0
        while True:
            try:
                for told in self._told(descriptor, Order(kind, start)):
                    if told.member is None:
                        heard(told.consumed)
                        continue
                    here = numbers(told.member.place)
                    if not _plausible(told.member):
                        raise _Crashed
                    if before is None or here > before:
                        before, start = here, told.member.place
                        yield told.member
            except _Crashed:
                crashes += 1
                if crashes == _CRASHES:
                    raise
            else:
                return

    def member(self, descriptor: int, kind: str, place: Place) -> bytes:
        """The bytes of one member. Raises Unreadable when it is not there any more."""
        found = b""
        try:
            for told in self._told(descriptor, Order(kind, place, alone=True)):
                if told.member is not None:
                    found = told.member.data or b""
        except ForeignFile:
            raise Unreadable("the archive that held it has changed") from None
        return found

    def close(self) -> None:
        """End the process. Closing twice does nothing; it starts again when it is needed."""
        process, self._process = self._process, None
        if process is not None:
            process.end()

    def _told(self, descriptor: int, order: Order) -> Iterator[UnpackerMessage]:
        """All messages but the last. A caller who stops early ends the process."""
        ended = False
        try:
            if self._process is None:
                self._process = _Process(self._seconds, self._memory)
            self._process.send(msgspec.msgpack.encode(order), descriptor)
            while not (told := self._process.receive(self._seconds)).ended:
                yield told
            ended = True
        except OSError as error:
            raise Unreadable(f"the extractor process could not start ({error})") from None
        finally:
            if not ended:
                self.close()
        if told.foreign:
            raise ForeignFile
        if told.reason:
            raise Unreadable(told.reason)


class _Process:
    def __init__(self, seconds: float, memory: int) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [
                    *(sys.executable, "-P", "-s", "-m", "vera.extraction.containers.unpacker"),
                    *(str(int(seconds) + 1), str(memory)),
                ],
                stdin=theirs.fileno(),
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                cwd="/",
                env={"PYTHONPATH": os.pathsep.join(str(Path(each).absolute()) for each in sys.path if each)},
                start_new_session=True,
            )
        assert self._process.stdout is not None
        self._output = self._process.stdout.fileno()
        widen(self._output)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._output, selectors.EVENT_READ)
        self._orders = ours
        self._received = bytearray()
        self._silent_for = _START_SECONDS

    def send(self, order: bytes, descriptor: int) -> None:
        try:
            socket.send_fds(self._orders, [order], [descriptor])
        except (BrokenPipeError, ConnectionError):
            raise _Crashed from None

    def receive(self, seconds: float) -> UnpackerMessage:
        """The next message. Raises Unreadable when none comes."""
        deadline = time.monotonic() + max(seconds, self._silent_for)
        size = self._take(HEADER.size, deadline)
        length = HEADER.unpack(size)[0]
        if length > _LARGEST:
            raise _Crashed
        self._silent_for = 0.0
        try:
            return msgspec.msgpack.decode(self._take(length, deadline), type=UnpackerMessage)
        except DECODE_ERRORS:
            raise _Crashed from None

    def _take(self, size: int, deadline: float) -> bytes:
        while len(self._received) < size:
            if not self._selector.select(max(deadline - time.monotonic(), 0.0)):
                raise Unreadable("reading it took too long")
            chunk = os.read(self._output, _CHUNK)
            if not chunk:
                raise self._why()
            self._received += chunk
        taken = bytes(memoryview(self._received)[:size])
        del self._received[:size]
        return taken

    def _why(self) -> Unreadable:
        with contextlib.suppress(subprocess.TimeoutExpired):
            if self._process.wait(_FAREWELL_SECONDS) == -signal.SIGXCPU:
                return Unreadable("reading it took too long")
        return _Crashed()

    def end(self) -> None:
        self._orders.close()
        self._selector.close()
        self._process.kill()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()


def _plausible(member: Member) -> bool:
    """Whether a member has the form that every one has: what follows relies on it."""
    return (
        len(member.name) <= MAX_NAME_LENGTH
        and not CONTROL.search(member.name)
        and (member.data is None) == bool(member.reason)
        and 0 <= len(member.place) <= 3
    )
