"""The model server sends the client on to a stranger's, and the key goes along."""

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import vera
from redteam import told
from redteam.place import Place
from vera.agent.errors import SetupError
from vera.model.types import ModelError

CLAIM = "The key goes to the server that it was given for."
TRICK = "The server answers each request with a redirect to another one."
MUST_NOT_BE = ("KEY SENT ON",)
TWIN = "The server answers itself, and gets the key."
MUST_BE = "KEY KEPT"

KEY = "sk-secret-of-the-person"


def attack(place: Place) -> str:
    return _run(place, redirects=True)


def twin(place: Place) -> str:
    return _run(place, redirects=False)


def _run(place: Place, *, redirects: bool) -> str:
    heard: list[str] = []
    theirs = _server(heard, "")
    ours = _server([], f"http://127.0.0.1:{theirs.server_address[1]}")
    address = f"http://127.0.0.1:{ours.server_address[1]}" if redirects else place.stage.models.root
    try:
        told.run(place, base_url=address, settings={"model.key": KEY})
    except (SetupError, ModelError, vera.ConfigError):
        pass
    finally:
        for server in (theirs, ours):
            server.shutdown()
            server.server_close()
    return "KEY SENT ON" if any(KEY in each for each in heard) else "KEY KEPT"


def _server(heard: list[str], leads_to: str) -> HTTPServer:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            heard.append(str(self.headers))
            self.send_response(307 if leads_to else 404)
            if leads_to:
                self.send_header("Location", leads_to + self.path)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, format: str, *args: object) -> None:
            """Silent."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    return server
