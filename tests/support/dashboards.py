"""`vera dashboard` as a process of its own on loopback, and logs that grow while it is asked."""

import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
from starlette.testclient import TestClient

from vera import events
from vera.config import user_config_file
from vera.dashboard.app import create_app
from vera.events import FORMAT
from vera.session.log import Log, seal_line

PATIENCE = 60.0
"""Seconds that a test waits for what has to come."""


@dataclass
class Dashboard:
    """One that answers. `port` and `token` as it printed them."""

    process: subprocess.Popen[str]
    port: int
    token: str

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def client(self, **headers: str) -> httpx.Client:
        """A client with the token; header names with `_` for `-`."""
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        bearer = {"authorization": f"Bearer {self.token}"}
        return httpx.Client(base_url=self.url, headers={**bearer, **given}, timeout=PATIENCE, trust_env=False)

    def stranger(self) -> httpx.Client:
        """A client without it."""
        return httpx.Client(base_url=self.url, timeout=PATIENCE, trust_env=False)

    @contextmanager
    def browser(self) -> Iterator[httpx.Client]:
        """A client with a login cookie, that asks for pages."""
        with self.stranger() as client:
            client.headers["accept"] = "text/html"
            assert client.get("/", params={"token": self.token}).status_code == 303
            yield client

    def raw(self, request: bytes, *, hang_up: bool = True) -> tuple[int, bytes]:
        """Status and answer of a request that no client would send, after which the client `hang_up`s."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as connection:
            connection.sendall(request)
            if hang_up:
                connection.shutdown(socket.SHUT_WR)
            answer = b""
            while part := connection.recv(1 << 16):
                answer += part
        return int(answer.split(b" ", 2)[1]), answer

    def get_raw(self, path: str, host: str = "127.0.0.1") -> int:
        """The status of GET for exactly this path."""
        request = f"GET {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {self.token}\r\n"
        return self.raw(request.encode("latin-1") + b"Connection: close\r\n\r\n", hang_up=False)[0]

    def kill(self) -> None:
        """End it without a chance to say so."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(PATIENCE)


def start(base: Path, token_file: Path, port: int = 0, *options: str) -> Dashboard:
    """Start `vera dashboard` and wait until it listens."""
    arguments = ["dashboard", "--base-dir", str(base), "--port", str(port), "--no-open"]
    process = subprocess.Popen(
        [sys.executable, "-m", "vera", *arguments, "--token-file", str(token_file), *options],
        cwd=base,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert process.stdout is not None
    said = ""
    for line in process.stdout:
        said += line
        if found := re.search(r":(\d+)/\?token=(\S+)", line):
            dashboard = Dashboard(process, int(found[1]), found[2])
            wait_until_it_answers(dashboard)
            return dashboard
    raise AssertionError(f"the dashboard ended with {process.wait(PATIENCE)}: {said}")


def wait_until_it_answers(dashboard: Dashboard) -> None:
    """The socket listens before the server accepts: the first answer may take a moment."""
    with dashboard.stranger() as client:
        assert client.get("/healthz").text == "ok\n"


@contextmanager
def dashboard_of(base: Path, token_file: Path, *options: str) -> Iterator[Dashboard]:
    """A dashboard that ends with the block."""
    dashboard = start(base, token_file, 0, *options)
    try:
        yield dashboard
    finally:
        if dashboard.process.poll() is None:
            dashboard.process.send_signal(signal.SIGINT)
            try:
                dashboard.process.wait(10)
            except subprocess.TimeoutExpired:
                dashboard.kill()
        assert dashboard.process.stdout is not None
        dashboard.process.stdout.close()


@contextmanager
def app_of(base: Path) -> Iterator[TestClient]:
    """A client, with the token, of a dashboard's app in this process."""
    token = "t" * 40
    app = create_app(base, token=token)
    with TestClient(app, "http://127.0.0.1", headers={"authorization": f"Bearer {token}"}) as client:
        yield client


@contextmanager
def configured(address: str) -> Iterator[None]:
    """The person's own configuration names this model server, while the block lasts."""
    path = user_config_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"model: {{base_url: '{address}'}}\n")
    try:
        yield
    finally:
        path.unlink()


class Grown:
    """A log that a test writes."""

    def __init__(self, work_dir: Path, task: str = "How high is the dam?") -> None:
        work_dir.mkdir(parents=True, exist_ok=True)
        self.path = work_dir / "trace.jsonl"
        self.ts = 1_795_000_000.0
        self.log = Log.create(self.path, self._clock)
        self.log.append(events.Session(format=FORMAT, version="0", settings={}), "")
        self.log.append(events.Task(task=task), "")

    def append(self, count: int = 1, detail: str = "one more") -> None:
        """That many records more."""
        for _ in range(count):
            self.log.append(events.ContainerEvent(event="restored", detail=detail), "main")

    def append_in_halves(self, pause: threading.Event | None = None) -> None:
        """One record more, written as two halves with a pause between."""
        record = events.ContainerEvent(
            seq=self.log.seq + 1, ts=self._clock(), lane="main", prev=self.log.head, event="restored"
        )
        line, head = seal_line(events.encode(record))
        with self.path.open("ab", buffering=0) as file:
            file.write(line[: len(line) // 2])
            (pause or threading.Event()).wait(0.002)
            file.write(line[len(line) // 2 :])
        self.log.seq, self.log.head = record.seq, head

    def end(self) -> None:
        """The last record, and no writer any more."""
        end = events.RunEnd(status="VERIFIED", reason="done", exit_code=0, steps=1, seconds=1.0)
        self.log.append(end, "")
        self.log.close()

    @property
    def size(self) -> int:
        return self.path.stat().st_size

    def _clock(self) -> float:
        self.ts += 1.0
        return self.ts


@dataclass
class Message:
    """A message of a stream of server-sent events."""

    id: str = ""
    event: str = "message"
    data: str = ""


def messages(lines: Iterator[str]) -> Iterator[Message]:
    """The messages in the lines of a stream, as the HTML Standard has it."""
    message, has_data = Message(), False
    for line in lines:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if not line:
            if has_data:
                yield message
            message, has_data = Message(), False
        elif name == "id":
            message.id = value
        elif name == "event":
            message.event = value
        elif name == "data":
            message.data, has_data = value, True
