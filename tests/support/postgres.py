"""A Postgres server of the tests' own: Debian's programs, a data folder that goes away, socket and port."""

import contextlib
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

USER = "vera"
PASSWORD = "not-to-be-seen"
DEBIAN = Path("/usr/lib/postgresql")
START_SECONDS = 60


def program(name: str) -> str | None:
    """The newest of Debian's, or the one in the path."""
    found = sorted(DEBIAN.glob(f"*/bin/{name}"), key=lambda path: float(path.parts[-3]))
    return str(found[-1]) if found else shutil.which(name)


class Server:
    """A running server. By its socket one needs no password, by its port one does."""

    def __init__(self, folder: Path, owner: str | None, port: int = 0) -> None:
        self.folder = folder
        self.port = port or free_port()
        self._owner = owner
        self._databases = count(1)

    def url(self, database: str) -> str:
        return f"postgresql://{USER}@/{database}?host={self.folder}&port={self.port}"

    def url_of_port(self, database: str, port: int = 0, password: str = PASSWORD) -> str:
        user = f"{USER}:{password}" if password else USER
        return f"postgresql://{user}@127.0.0.1:{port or self.port}/{database}"

    def create_database(self, name: str = "") -> str:
        """A new database; its name."""
        name = name or f"batch{next(self._databases)}"
        self.query("postgres", f"create database {name}")
        return name

    def query(self, database: str, query: str, *values: Any) -> list[tuple[Any, ...]]:
        import psycopg

        with psycopg.connect(self.url(database), autocommit=True) as connection:
            done = connection.execute(query, values or None)  # type: ignore[arg-type] # a literal of a test
            return done.fetchall() if done.description else []

    def initialise(self) -> None:
        secret = self.folder / "password"
        secret.write_text(PASSWORD)
        secret.chmod(0o644)
        auth = ["--auth-local=trust", "--auth-host=scram-sha-256", f"--pwfile={secret}"]
        options = ["--username", USER, "--encoding=UTF8", "--no-locale", "--no-sync"]
        self._run("initdb", "--pgdata", str(self.data), *options, *auth)

    def start(self) -> None:
        options = (
            f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={self.folder} "
            "-c max_connections=60"
        )
        self._control("start", "-w", "-l", str(self.folder / "log"), "-o", options)

    def restart_at_once(self) -> None:
        """As after a crash: every connection breaks, nobody says goodbye."""
        self._control("restart", "-w", "-m", "immediate", "-l", str(self.folder / "log"))

    def stop_at_once(self) -> None:
        self._control("stop", "-m", "immediate")

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def _control(self, *argv: str) -> None:
        self._run("pg_ctl", "--pgdata", str(self.data), "-t", str(START_SECONDS), *argv)

    def _run(self, name: str, *argv: str) -> None:
        done = subprocess.run(
            [program(name) or name, *argv],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            cwd=self.folder,
            user=self._owner,
            timeout=2 * START_SECONDS,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode()


@contextlib.contextmanager
def server(port: int = 0) -> Iterator[Server]:
    """A server, until the block ends, at a port (0 for any that is free). It never runs as root, which
    Postgres refuses."""
    folder = Path(tempfile.mkdtemp(prefix="vera-pg-"))
    owner = _other_user() if os.geteuid() == 0 else None
    if owner is not None:
        shutil.chown(folder, owner)
    folder.chmod(0o755)
    running = Server(folder, owner, port)
    try:
        running.initialise()
        running.start()
        try:
            yield running
        finally:
            running.stop_at_once()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _other_user() -> str:
    """Debian's package makes the user postgres."""
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name).pw_name
    raise AssertionError("This machine has neither a user postgres nor nobody.")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
