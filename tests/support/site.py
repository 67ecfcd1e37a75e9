"""A site of a few pages on loopback, for tests that fetch."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MISSING = b"<html><body>No such page.</body></html>"


@contextmanager
def serving(pages: Mapping[str, bytes], moved: Mapping[str, str] | None = None) -> Iterator[str]:
    """Serves HTML by path, and redirects from one path to another; yields the site's address."""
    elsewhere = moved or {}

    class Site(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = pages.get(self.path, MISSING)
            self.send_response(302 if self.path in elsewhere else 200 if self.path in pages else 404)
            if self.path in elsewhere:
                self.send_header("Location", elsewhere[self.path])
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
