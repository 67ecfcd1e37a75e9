"""Word that a file was written to, from the kernel where it gives any (Linux: inotify(7)).

A file system that others write to over a network gives none of their writing, so whoever waits looks for
himself too, now and then.
"""

import asyncio
import contextlib
import ctypes
import os
from functools import cache
from types import TracebackType

_EVENTS = 0x2 | 0x800 | 0x400 | 0x0200_0000
"""IN_MODIFY, IN_MOVE_SELF, IN_DELETE_SELF and IN_DONT_FOLLOW of <sys/inotify.h>."""

_READ = 64 << 10
"""More than the events that are there at once: the kernel makes one of those that are alike."""


class Notice:
    """Notices of the file at `path`, within a `with` block and the loop that runs there."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._descriptor = -1

    def __enter__(self) -> "Notice":
        self._listen()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.is_given:
            os.close(self._descriptor)
            self._descriptor = -1

    @property
    def is_given(self) -> bool:
        """Whether there will be notices: not where there is no file (yet), or no inotify."""
        return self._descriptor >= 0

    async def wait(self, seconds: float) -> None:
        """Until there is a notice, or at most so long."""
        if not self.is_given:
            await asyncio.sleep(seconds)
            self._listen()
            return
        loop = asyncio.get_running_loop()
        came = asyncio.Event()
        loop.add_reader(self._descriptor, came.set)
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await came.wait()
        finally:  # what is written while no one waits wakes no one
            loop.remove_reader(self._descriptor)
            with contextlib.suppress(BlockingIOError):
                os.read(self._descriptor, _READ)

    def _listen(self) -> None:
        if (libc := _libc()) is None:
            return
        descriptor = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if descriptor < 0:
            return
        if libc.inotify_add_watch(descriptor, os.fsencode(self._path), _EVENTS) < 0:
            os.close(descriptor)
            return
        self._descriptor = descriptor


@cache
def _libc() -> ctypes.CDLL | None:
    """The C library, where it has inotify."""
    try:
        libc = ctypes.CDLL(None)
        libc.inotify_init1.argtypes = [ctypes.c_int]
        libc.inotify_add_watch.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_uint32]
    except (AttributeError, OSError):
        return None
    return libc
