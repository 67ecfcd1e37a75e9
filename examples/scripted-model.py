"""A model server that plays turns from a file, so that a page of the documentation can be followed alone.

    python3 examples/scripted-model.py examples/turns/licence.txt
    python3 examples/scripted-model.py examples/turns/frostd.txt --sites examples/small-web

The file has turns as a model writes them, with a line `---` between two. A request gets the turn behind those
that its conversation holds already, or the last one. The server thinks nothing: it cannot judge, so VERA's
exam fails, and the rule `literal` verifies. With `--sites` the pages of a folder are served, too, as those of
several sites: at 127.0.0.1 to 127.0.0.4, which Linux has. It listens on this machine only. Ctrl-C ends it.
"""

import argparse
import json
import threading
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

MODEL = "scripted-model"
MAX_BODY_BYTES = 16 * 1024 * 1024
SITES = tuple(f"127.0.0.{number}" for number in (1, 2, 3, 4))
SITES_PORT = 8765


class Handler(BaseHTTPRequestHandler):
    turns: list[str]

    def do_GET(self) -> None:
        known = self.path == "/v1/models"
        self._answer(200 if known else 404, {"data": [{"id": MODEL, "object": "model"}]} if known else {})

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        if self.path != "/v1/chat/completions" or length > MAX_BODY_BYTES:
            self._answer(404, {})
            return
        messages = json.loads(self.rfile.read(length))["messages"]
        said = sum(message["role"] == "assistant" for message in messages)
        message = {"role": "assistant", "content": self.turns[min(said, len(self.turns) - 1)]}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        self._answer(200, {"object": "chat.completion", "model": MODEL, "choices": [choice]})

    def _answer(self, status: int, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        pass


class Site(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


def serve_sites(folder: Path) -> None:
    """Serve the folder at each address of SITES for as long as the program runs."""
    for address in SITES:
        site = ThreadingHTTPServer((address, SITES_PORT), partial(Site, directory=str(folder)))
        threading.Thread(target=site.serve_forever, daemon=True).start()


def main() -> None:
    parser = argparse.ArgumentParser(description="Plays the turns of a file as a model server.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--port", type=int, default=1235)
    parser.add_argument("--sites", type=Path, help="a folder of pages")
    options = parser.parse_args()
    if options.sites is not None:
        serve_sites(options.sites)
    Handler.turns = [turn.strip() for turn in options.file.read_text("utf-8").split("\n---\n")]
    server = ThreadingHTTPServer(("127.0.0.1", options.port), Handler)
    print(f"{MODEL}: {len(Handler.turns)} turns at http://127.0.0.1:{options.port}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        server.server_close()


if __name__ == "__main__":
    main()
