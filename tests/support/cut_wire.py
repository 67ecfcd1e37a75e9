"""A wire to a server that can be cut: the near end is not told, and nothing goes through any more.

The far end hangs up, which is what keepalive comes to after a while on a real network.
"""

import contextlib
import socket
import threading
from collections.abc import Iterator


class Wire:
    """Passes on what comes to `port`, until it is cut."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listening.getsockname()[1])
        self._is_cut = threading.Event()
        self._near: list[socket.socket] = []
        self._far: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        self._is_cut.set()
        _hang_up(self._far)

    def mend(self) -> None:
        """New connections get through; the old ones are gone."""
        self._is_cut.clear()
        _hang_up(self._near)

    def close(self) -> None:
        self._listening.close()
        _hang_up([*self._near, *self._far])

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listening.accept()
                self._near.append(near)
                if self._is_cut.is_set():
                    continue  # taken by the network, and never answered
                far = socket.create_connection(("127.0.0.1", self._target))
                self._far.append(far)
                for one, other in ((near, far), (far, near)):
                    threading.Thread(target=self._pass_on, args=(one, other), daemon=True).start()

    def _pass_on(self, one: socket.socket, other: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while (data := one.recv(65536)) and not self._is_cut.is_set():
                other.sendall(data)
        if not self._is_cut.is_set():
            _hang_up([other])


def _hang_up(ends: list[socket.socket]) -> None:
    for each in ends:
        with contextlib.suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def wire(target: int) -> Iterator[Wire]:
    made = Wire(target)
    try:
        yield made
    finally:
        made.close()
