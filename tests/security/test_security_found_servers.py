"""A model server on a loopback port: another user's gets nothing, one's own is used after one line."""

import os
import secrets
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.cli import vera
from support.scripted_server import ScriptedServer

TESTS = Path(__file__).parents[1]
QUESTION = "How long is the Elbe?"

SERVE = """
import os, sys
sys.path.insert(0, sys.argv[1])
from support.scripted_server import ScriptedServer
import encodings.idna, http.server, socketserver, json, select, email.parser, html
uid = int(sys.argv[2])
os.setgroups([])
os.setgid(uid)
os.setuid(uid)
with ScriptedServer([], kind="ollama") as server:
    print(server.port, flush=True)
    sys.stdin.read()
    print("\\n".join(server.paths), flush=True)
"""


@pytest.fixture
def other_user() -> Iterator[int]:
    """A second person on this machine, by uid."""
    name = f"vera-test-{secrets.token_hex(4)}"
    shell = ["--no-create-home", "--shell", "/usr/sbin/nologin", "--user-group"]
    subprocess.run(["useradd", *shell, name], check=True, capture_output=True)
    try:
        import pwd

        yield pwd.getpwnam(name).pw_uid
    finally:
        subprocess.run(["userdel", name], check=True, capture_output=True)


@contextmanager
def serving(uid: int) -> Iterator[tuple[int, list[str]]]:
    """A model server that runs as this user: its port, and after its end the paths that were asked for."""
    process = subprocess.Popen(
        [sys.executable, "-c", SERVE, str(TESTS), str(uid)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    asked: list[str] = []
    try:
        assert process.stdout is not None
        yield int(process.stdout.readline()), asked
        asked += process.communicate(timeout=20)[0].split()
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "rivers").mkdir()
    (tmp_path / "rivers" / "rivers.txt").write_text("The Elbe is 1094 kilometres long.\n")
    return tmp_path


def run(place: Path, port: int, base_url: str = "") -> subprocess.CompletedProcess[str]:
    """A run that looks for servers, Ollama's among them, on that port. No terminal is there."""
    return vera(
        "run", QUESTION, "--input-dir", "rivers", "--sandbox", "none", cwd=place,
        MODEL_BASE_URL=base_url, OLLAMA_HOST=f"127.0.0.1:{port}",
    )  # fmt: skip


@pytest.mark.needs("second user")
@pytest.mark.parametrize("base_url", ["", "auto"])
def test_a_found_server_of_another_user_is_not_used(base_url: str, other_user: int, place: Path) -> None:
    with serving(other_user) as (port, asked):
        done = run(place, port, base_url)
        doctor = vera("doctor", cwd=place, OLLAMA_HOST=f"127.0.0.1:{port}")
    assert done.returncode in (0, 3), done.stderr
    assert f"127.0.0.1:{port}" in done.stderr
    assert "is not used: it is not yours" in done.stderr
    assert f"uid {other_user}" in done.stderr
    assert "not used, it is not yours" in doctor.stdout
    assert not [path for path in asked if "chat" in path or "generate" in path]


@pytest.mark.needs("second user")
def test_a_found_server_of_a_system_account_is_used_with_auto(place: Path) -> None:
    with serving(1) as (port, asked):
        assert "not used unasked" in run(place, port).stderr
        assert not [path for path in asked if "chat" in path]
        done = run(place, port, "auto")
    assert f"127.0.0.1:{port}" in done.stderr
    assert "your question, the agent's notes" in done.stderr
    assert [path for path in asked if "chat" in path or "generate" in path]


def test_a_found_server_of_ones_own_is_not_used_unasked_and_is_with_auto_after_one_line(place: Path) -> None:
    with ScriptedServer([], kind="ollama") as server:
        unasked = run(place, server.port)
        assert "not used unasked" in unasked.stderr
        assert "--model-base-url auto" in unasked.stderr
        assert server.requests == []
        asked = run(place, server.port, "auto")
    assert asked.stderr.count("run by you: your question, the agent's notes") == 1
    assert "it also judges the answer" in asked.stderr
    assert server.requests


def test_one_question_on_a_terminal_is_remembered(place: Path) -> None:
    with ScriptedServer([], kind="ollama") as server:
        first = on_a_terminal(place, server.port, b"y\n")
        assert "Use it, now and from now on? [y/N]" in first
        asked = len(server.requests)
        assert asked
        second = on_a_terminal(place, server.port, b"")
        assert "Use it" not in second
        assert len(server.requests) > asked


def test_a_server_that_was_declined_on_a_terminal_gets_nothing(place: Path) -> None:
    with ScriptedServer([], kind="ollama") as server:
        on_a_terminal(place, server.port, b"n\n")
        assert "Use it" not in on_a_terminal(place, server.port, b"")
        assert server.requests == []


def on_a_terminal(place: Path, port: int, typed: bytes) -> str:
    """What such a run prints on a terminal on which a person types that."""
    ours, theirs = os.openpty()
    environment = {
        **os.environ,
        "MODEL_BASE_URL": "",
        "OLLAMA_HOST": f"127.0.0.1:{port}",
        "XDG_DATA_HOME": str(place / "data"),
    }
    argv = [sys.executable, "-m", "vera", "run", QUESTION, "--input-dir", "rivers", "--sandbox", "none"]
    process = subprocess.Popen(argv, cwd=place, stdin=theirs, stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    os.write(ours, typed)
    shown = b""
    try:
        while chunk := os.read(ours, 4096):
            shown += chunk
    except OSError:
        pass
    finally:
        process.wait(timeout=60)
        os.close(ours)
    return shown.decode("utf-8", "replace")
