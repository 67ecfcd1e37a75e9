"""Names to addresses, on the host, in bounded time."""

import asyncio
import contextlib
import socket
import threading
from collections.abc import Awaitable, Callable, Sequence

Resolver = Callable[[str], Awaitable[Sequence[str]]]
"""A name's addresses as text, in the order to try them. Raises OSError where there are none."""

LOOKUPS_AT_ONCE = 32


class SystemResolver:
    """The resolver of this machine (`getaddrinfo`, with its hosts file and its order of preference).

    Look-ups run on daemon threads, as a look-up cannot be stopped: neither a name server that keeps silent
    nor a box that asks for many names may block other work of this process or delay its end.
    """

    def __init__(self) -> None:
        self._free = threading.BoundedSemaphore(LOOKUPS_AT_ONCE)

    async def __call__(self, name: str) -> Sequence[str]:
        if not self._free.acquire(blocking=False):
            raise OSError("too many names are being looked up")
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[list[str]] = loop.create_future()

        def settle(found: list[str] | OSError) -> None:
            if answer.done():
                return
            if isinstance(found, OSError):
                answer.set_exception(found)
            else:
                answer.set_result(found)

        def look_up() -> None:
            try:
                found: list[str] | OSError = _getaddrinfo(name)
            except (OSError, UnicodeError) as error:
                found = error if isinstance(error, OSError) else OSError(str(error))
            finally:
                self._free.release()
            # The loop may have closed while the name server kept silent.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(settle, found)

        threading.Thread(target=look_up, name="vera-lookup", daemon=True).start()
        return await answer


def _getaddrinfo(name: str) -> list[str]:
    entries = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in entries))
