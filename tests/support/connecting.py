"""What connectors are tried on: a basket, a way to loopback, repositories of git, a library of references."""

import asyncio
import os
import sqlite3
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import urlsplit

from vera.connectors import Basket, read_source
from vera.connectors.basket import Limits
from vera.connectors.reach import Reach
from vera.connectors.registry import CONNECTORS
from vera.sandbox.egress.dial import Dialer
from vera.sandbox.egress.policy import NetworkPolicy

CLOSED = Reach(None)
ENOUGH = Limits(documents=1000, bytes=1 << 26, seconds=60.0)


def reaching(*addresses: str) -> Reach:
    """A way to these servers of loopback, and nowhere else."""
    hosts = [urlsplit(each).netloc for each in addresses]
    policy = NetworkPolicy.of("allowlist", allow=hosts, allow_cidrs=["127.0.0.0/8"])
    return Reach(policy, Dialer(policy.addresses))


def gathered(folder: Path, text: str, reach: Reach = CLOSED, limits: Limits = ENOUGH) -> tuple[Basket, str]:
    """The basket of a source, with its documents below `folder`, and the revision."""
    source = read_source(text)
    basket = Basket(folder, source.name, limits)
    revision = asyncio.run(CONNECTORS[source.kind].gather(source, basket, reach))
    return basket, revision


def names(basket: Basket) -> list[str]:
    return [each.name for each in basket.documents]


def git(folder: Path, *words: str, stdin: bytes = b"") -> str:
    """Run git as a committer without a configuration; what it says."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "GIT_CONFIG_NOSYSTEM": "1",
        **{f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in _WHO.items()},
    }
    done = subprocess.run(
        ["git", "-c", "protocol.file.allow=always", *words],
        cwd=folder,
        env=environment,
        input=stdin,
        capture_output=True,
        check=True,
        timeout=60,
    )
    return done.stdout.decode().strip()


_WHO = {"NAME": "A", "EMAIL": "a@example.org", "DATE": "2026-01-01T00:00:00Z"}


def repository(folder: Path, files: Mapping[str, bytes]) -> str:
    """A repository with one commit of these files on the branch `main`; the commit's hash."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "--quiet", "--initial-branch=main")
    return commit(folder, files)


def commit(folder: Path, files: Mapping[str, bytes]) -> str:
    """A further commit with these files, and the links and modules that lie there; its hash."""
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message=x")
    return git(folder, "rev-parse", "HEAD")


@contextmanager
def git_server(root: Path) -> Iterator[str]:
    """The repositories below `root` over HTTP, by git's own CGI program."""

    class Backend(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.do_GET()

        def do_GET(self) -> None:
            path, _, query = self.path.partition("?")
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            done = subprocess.run(
                ["git", "-c", "safe.directory=*", "http-backend"],
                env={
                    "PATH": os.environ["PATH"],
                    "GIT_PROJECT_ROOT": str(root),
                    "GIT_HTTP_EXPORT_ALL": "1",
                    "PATH_INFO": path,
                    "QUERY_STRING": query,
                    "REQUEST_METHOD": self.command,
                    "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                    "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                    "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
                    "CONTENT_LENGTH": str(len(body)),
                    "GIT_CONFIG_COUNT": "2",
                    "GIT_CONFIG_KEY_0": "safe.directory",
                    "GIT_CONFIG_VALUE_0": "*",
                    "GIT_CONFIG_KEY_1": "uploadpack.allowAnySHA1InWant",
                    "GIT_CONFIG_VALUE_1": "true",
                },
                input=body,
                capture_output=True,
                timeout=60,
                check=False,
            )
            head, _, data = done.stdout.partition(b"\r\n\r\n")
            lines = [line.split(": ", 1) for line in head.decode().split("\r\n") if ": " in line]
            status = next((int(value[:3]) for name, value in lines if name == "Status"), 200)
            self.send_response(status)
            for name, value in lines:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            """Silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Backend)
    thread = Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


_TABLES = """
CREATE TABLE items (itemID INTEGER PRIMARY KEY, key TEXT);
CREATE TABLE deletedItems (itemID INTEGER);
CREATE TABLE itemAttachments (
    itemID INTEGER, parentItemID INTEGER, linkMode INT, contentType TEXT, path TEXT
);
CREATE TABLE fields (fieldID INTEGER, fieldName TEXT);
CREATE TABLE itemData (itemID INTEGER, fieldID INTEGER, valueID INTEGER);
CREATE TABLE itemDataValues (valueID INTEGER, value TEXT);
INSERT INTO fields VALUES (1, 'title'), (2, 'extra'), (3, 'citationKey'), (4, 'date');
"""


class ZoteroFolder:
    """A data folder of Zotero with the tables that are read."""

    def __init__(self, home: Path) -> None:
        self.home = home
        (home / "storage").mkdir(parents=True)
        self._count = 0
        with self._opened() as db:
            db.executescript(_TABLES)

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        db = sqlite3.connect(self.home / "zotero.sqlite")
        yield db
        db.commit()
        db.close()

    def add(self, path: str, *, deleted: bool = False, **fields: str) -> str:
        """An entry with one attachment; the key of the attachment."""
        entry, attached = self._count + 1, self._count + 2
        self._count += 2
        key = f"ATTACH{attached:02}"
        numbers = {"title": 1, "extra": 2, "citationKey": 3, "date": 4}
        with self._opened() as db:
            db.execute("INSERT INTO items VALUES (?, ?)", (entry, f"ENTRYY{entry:02}"))
            db.execute("INSERT INTO items VALUES (?, ?)", (attached, key))
            row = (attached, entry, 0, "application/pdf", path)
            db.execute("INSERT INTO itemAttachments VALUES (?, ?, ?, ?, ?)", row)
            for name, value in fields.items():
                self._count += 1
                db.execute("INSERT INTO itemDataValues VALUES (?, ?)", (self._count, value))
                db.execute("INSERT INTO itemData VALUES (?, ?, ?)", (entry, numbers[name], self._count))
            if deleted:
                db.execute("INSERT INTO deletedItems VALUES (?)", (entry,))
        return key
