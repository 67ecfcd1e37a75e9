"""Crossref, OpenAlex and doi.org in one server on loopback, which answers by path."""

import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

from vera import config
from vera.document_check.lookup import Indexes

Answer = tuple[int, bytes, dict[str, str]]


def found(value: Any, status: int = 200, **headers: str) -> Answer:
    return status, json.dumps(value).encode(), headers


NOT_FOUND: Answer = (404, b"Resource not found.", {})


def crossref(title: str, year: int = 2019, **more: Any) -> Answer:
    message = {"DOI": "10.1000/abc", "title": [title], "issued": {"date-parts": [[year, 4]]}, **more}
    return found({"status": "ok", "message": message})


def crossref_search(*titles: str, year: int = 2019) -> Answer:
    items = [
        {"DOI": f"10.1000/{number}", "title": [title], "issued": {"date-parts": [[year]]}}
        for number, title in enumerate(titles)
    ]
    return found({"status": "ok", "message": {"items": items}})


def openalex(title: str, year: int = 2019, *, retracted: bool = False) -> Answer:
    return found({"display_name": title, "publication_year": year, "is_retracted": retracted})


@dataclass
class FakeIndex:
    """`answers` by the beginning of a path (decoded), the first that fits; 404 otherwise. `asked` are the
    targets that were asked for, in order."""

    answers: dict[str, Answer | Callable[[], Answer]]
    asked: list[str] = field(default_factory=list)
    port: int = 0

    def indexes(self, most: int = 200) -> Indexes:
        """Where references are looked up: this server alone."""
        base = f"http://127.0.0.1:{self.port}"
        changes = {
            "bibliography.crossref_url": f"{base}/crossref",
            "bibliography.openalex_url": f"{base}/openalex",
            "bibliography.doi_url": f"{base}/doi",
        }
        settings = config.defaults(changes)
        return Indexes(
            settings=settings.bibliography, egress=settings.egress, mailto="me@example.org", most=most
        )


@contextlib.contextmanager
def fake_index(answers: dict[str, Answer | Callable[[], Answer]], port: int = 0) -> Iterator[FakeIndex]:
    index = FakeIndex(answers)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            index.asked.append(self.path)
            path = unquote(urlsplit(self.path).path)
            chosen = next((answer for begin, answer in answers.items() if path.startswith(begin)), NOT_FOUND)
            status, body, headers = chosen() if callable(chosen) else chosen
            with contextlib.suppress(OSError):
                self.send_response(status)
                for name, value in {"Content-Type": "application/json", **headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """No line for each request."""

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    index.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield index
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
