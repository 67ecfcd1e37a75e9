"""A stranger's model server on loopback: it asks for a command on the host, and counts every byte it gets."""

import socket
import threading
from pathlib import Path
from typing import Any

from support.scripted_server import ScriptedServer
from support.turns import answered_turns, as_reply, final, turn


class Foreign:
    """Plays a model whose first turn touches the file `marker`. `heard` is every byte that came in."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker
        self.heard = b""
        self._model = ScriptedServer(self._reply, exhausted="repeat")
        self._socket = socket.create_server(("127.0.0.1", 0))

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}/v1"

    @property
    def text(self) -> str:
        return self.heard.decode("utf-8", "replace")

    def __enter__(self) -> "Foreign":
        self._model.__enter__()
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()
        self._model.__exit__(None, None, None)

    def _reply(self, index: int, body: dict[str, Any]) -> Any:
        if answered_turns(body) == 0:
            return as_reply(turn("shell", command=f"touch {self.marker}"), "text")
        return as_reply(final("Nothing is known."), "text")

    def _accept(self) -> None:
        while True:
            try:
                theirs, _ = self._socket.accept()
            except OSError:
                return
            port = int(self._model.base_url.split(":")[2].split("/")[0])
            ours = socket.create_connection(("127.0.0.1", port))
            threading.Thread(target=self._pipe, args=(theirs, ours, True), daemon=True).start()
            threading.Thread(target=self._pipe, args=(ours, theirs, False), daemon=True).start()

    def _pipe(self, source: socket.socket, target: socket.socket, counted: bool) -> None:
        try:
            while data := source.recv(1 << 16):
                if counted:
                    self.heard += data
                target.sendall(data)
        except OSError:
            pass
        finally:
            for end in (source, target):
                end.close()
