"""A real Prometheus on loopback, and a small server whose /metrics asks for a Bearer token."""

import http.client
import json
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

LOOPBACK = "127.0.0.1"
MAX_SECONDS = 60.0


class Prometheus:
    """The HTTP API of a Prometheus that runs."""

    def __init__(self, port: int, process: "subprocess.Popen[bytes]", log: Path) -> None:
        self._port, self._process, self._log = port, process, log

    def get(self, path: str, **parameters: str) -> Any:
        """The `data` of an answer. Raises AssertionError with what Prometheus says of one that it refuses,
        and ConnectionError while it starts."""
        connection = http.client.HTTPConnection(LOOPBACK, self._port, timeout=10)
        try:
            connection.request("GET", f"/api/v1/{path}?{urlencode(parameters)}")
            response = connection.getresponse()
            text = response.read()
        finally:
            connection.close()
        if response.status == 503:
            raise ConnectionError(text.decode())
        assert response.status == 200, f"{path} {parameters}: {text.decode()}"
        return json.loads(text)["data"]

    def query(self, expression: str) -> list[dict[str, str]]:
        """The labels of each series of an instant vector."""
        data = self.get("query", query=expression)
        assert data["resultType"] == "vector"
        return [series["metric"] for series in data["result"]]

    def until(self, true: Callable[[], object], what: str) -> None:
        """Wait until it is true."""
        end = time.monotonic() + MAX_SECONDS
        while time.monotonic() < end:
            if self._process.poll() is not None:
                raise AssertionError(f"Prometheus has ended: {self._log.read_text()}")
            try:
                if true():
                    return
            except OSError:
                pass  # it does not listen yet
            time.sleep(0.1)
        raise AssertionError(f"Prometheus: {what} did not happen: {self._log.read_text()}")


@contextmanager
def prometheus(config: Path, data: Path) -> Iterator[Prometheus]:
    """A Prometheus with that configuration, and its data in a folder of its own; ready when it is given."""
    with socket.socket() as free:
        free.bind((LOOPBACK, 0))
        port = free.getsockname()[1]
    log = data.with_suffix(".log")
    with log.open("wb") as written:
        process = subprocess.Popen(
            [
                "prometheus", f"--config.file={config}", f"--storage.tsdb.path={data}",
                f"--web.listen-address={LOOPBACK}:{port}",
            ],
            stdin=subprocess.DEVNULL, stdout=written, stderr=written,
        )  # fmt: skip
    try:
        made = Prometheus(port, process, log)
        made.until(lambda: made.get("status/runtimeinfo"), "its start")
        yield made
    finally:
        process.terminate()
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def metrics_server(token: str, exposition: Callable[[], bytes]) -> Iterator[tuple[str, Mapping[int, int]]]:
    """Its address, and how often it has answered with which status; 401 without the token."""
    answered: dict[int, int] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            allowed = self.headers.get("Authorization") == f"Bearer {token}"
            status = 401 if not allowed else 200 if self.path == "/metrics" else 404
            body = exposition() if status == 200 else b""
            answered[status] = answered.get(status, 0) + 1
            self.send_response(status)
            self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer((LOOPBACK, 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"{LOOPBACK}:{server.server_address[1]}", answered
        finally:
            server.shutdown()
            thread.join()
