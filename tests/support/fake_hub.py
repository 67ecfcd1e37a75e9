"""A hub of models on loopback that speaks as Hugging Face does to those who fetch a file.

    with FakeHub() as hub:
        hub.put("owner/name", "model.gguf", data)
        ... HF_ENDPOINT=hub.endpoint

The bytes lie at another host name (localhost), as those of a real hub do. `asked` has each request as
(method, path, range, authorization).
"""

import hashlib
import json
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType

COMMIT = "0123456789abcdef0123456789abcdef01234567"
CHUNK = 1 << 16


@dataclass
class Stored:
    """A file: its bytes, and what the hub announces of it where that is not the truth."""

    data: bytes
    sha256: str = ""
    size: int = 0


@dataclass
class FakeHub:
    repos: dict[str, dict[str, Stored]] = field(default_factory=dict)
    licence: str = "apache-2.0"
    status: int = 0
    """Answered to everything, where it is not 0."""
    card: bytes | None = None
    """Answered as the description of every repository, in place of the true one."""
    file_status: int = 0
    """Answered to every request for bytes."""
    gated: bool = False
    knows_ranges: bool = True
    coding: str = ""
    """The content coding that it claims for the bytes of files."""
    commit: str = COMMIT
    breaks: list[int] = field(default_factory=list)
    """After so many bytes the next answer breaks off; one entry an answer."""
    holds_after: int = 0
    """So many bytes are sent, then no more while the hub is there."""
    asked: list[tuple[str, str, str, str]] = field(default_factory=list)
    holding: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)

    def put(self, repo: str, file: str, data: bytes, *, sha256: str = "", size: int = 0) -> None:
        announced = sha256 or hashlib.sha256(data).hexdigest()
        self.repos.setdefault(repo, {})[file] = Stored(data, announced, size or len(data))

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def ranges(self) -> list[str]:
        """The ranges of the requests for bytes, '' for a whole file."""
        return [range_ for method, path, range_, _ in self.asked if method == "GET" and "/bytes/" in path]

    def __enter__(self) -> "FakeHub":
        hub = self

        class Handler(_Handler):
            of = hub

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.ended.set()
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    of: FakeHub
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def log_message(self, *_: object) -> None:
        pass

    def _answer(self) -> None:
        headers = self.headers
        self.of.asked.append(
            (self.command, self.path, headers.get("Range", ""), headers.get("Authorization", ""))
        )
        path = self.path.split("?")[0]
        if self.of.status:
            self._end(self.of.status)
        elif path.startswith("/api/models/"):
            self._card(path.removeprefix("/api/models/"))
        elif "/resolve/" in path:
            repo, _, rest = path.strip("/").partition("/resolve/")
            self._resolve(repo, rest.partition("/")[2])
        elif path.startswith("/bytes/"):
            owner, name, file = path.removeprefix("/bytes/").split("/", 2)
            self._bytes(self.of.repos[f"{owner}/{name}"][file])
        else:
            self._end(404)

    def _card(self, repo: str) -> None:
        if repo not in self.of.repos:
            self._end(401, {"X-Error-Code": "RepoNotFound"})
            return
        body = (
            self.of.card
            or json.dumps(
                {
                    "id": repo,
                    "sha": self.of.commit,
                    "tags": ["gguf", f"license:{self.of.licence}"],
                    "siblings": [{"rfilename": name} for name in self.of.repos[repo]],
                    "private": False,
                    "downloads": 0,
                }
            ).encode()
        )
        self._end(200, {"Content-Type": "application/json"}, body)

    def _resolve(self, repo: str, file: str) -> None:
        if repo not in self.of.repos:
            self._end(401, {"X-Error-Code": "RepoNotFound"})
        elif self.of.gated:
            self._end(401, {"X-Error-Code": "GatedRepo"})
        elif file not in self.of.repos[repo]:
            self._end(404, {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": self.of.commit})
        else:
            stored = self.of.repos[repo][file]
            place = self.of.endpoint.replace("127.0.0.1", "localhost")
            self._end(
                302,
                {
                    "Location": f"{place}/bytes/{repo}/{file}",
                    "X-Linked-Size": str(stored.size),
                    "X-Linked-ETag": f'"{stored.sha256}"',
                    **({"X-Repo-Commit": self.of.commit} if self.of.commit else {}),
                },
            )

    def _bytes(self, stored: Stored) -> None:
        if self.of.file_status:
            self._end(self.of.file_status)
            return
        data, asked = stored.data, self.headers.get("Range", "")
        first = int(asked.removeprefix("bytes=").rstrip("-")) if asked and self.of.knows_ranges else 0
        self.send_response(206 if first else 200)
        if first:
            self.send_header("Content-Range", f"bytes {first}-{len(data) - 1}/{len(data)}")
        if self.of.coding:
            self.send_header("Content-Encoding", self.of.coding)
        self.send_header("Content-Length", str(len(data) - first))
        self.end_headers()
        stop = first + self.of.breaks.pop(0) if self.of.breaks else len(data)
        with suppress(ConnectionError):
            for at in range(first, min(stop, len(data)), CHUNK):
                if self.of.holds_after and at >= self.of.holds_after:
                    self.wfile.flush()
                    self.of.holding.set()
                    self.of.ended.wait()
                    return
                self.wfile.write(data[at : min(at + CHUNK, stop)])
        if stop < len(data):
            self.close_connection = True

    def _end(self, status: int, headers: dict[str, str] | None = None, body: bytes = b"") -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
