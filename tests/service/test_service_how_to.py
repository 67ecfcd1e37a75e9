"""The commands on the page about the service, typed as they are there: `vera serve` and curl."""

import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.services import PATIENCE
from vera.service.tokens import default_file

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "how-to" / "run-as-a-service.md"
ADDRESS = "http://127.0.0.1:8855"

pytestmark = pytest.mark.needs("curl")


def blocks() -> list[str]:
    return re.findall(r"^```sh\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)


def typed(script: str, place: Path, url: str, **names: str) -> str:
    """What a shell prints that runs these lines; VERA is this one."""
    vera = f'vera() {{ {shlex.quote(sys.executable)} -P -m vera "$@"; }}\n'
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", vera + script.replace(ADDRESS, url)],
        cwd=place,
        env={**os.environ, **names},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@contextmanager
def serving(line: str, place: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The service that a line of the page starts, at a free port, and its address."""
    words = [sys.executable, "-P", "-m", *shlex.split(line), "--port", "0"]
    process = subprocess.Popen(
        words, cwd=place, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"}
    )
    assert process.stdout is not None
    try:
        said = ""
        for line in process.stdout:
            said += line
            if found := re.search(r"http://\S+", line):
                yield found[0], process
                return
        raise AssertionError(said)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        process.wait(PATIENCE)
        process.stdout.close()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone, as far as the page needs one."""
    place = tmp_path_factory.mktemp("clone")
    (place / "examples").symlink_to(ROOT / "examples")
    return place


@pytest.fixture(scope="module")
def begin() -> tuple[str, str]:
    """The lines of the page that make a token and start the service."""
    make, start = blocks()[0].strip().split("\n")
    return make, start


@pytest.fixture(scope="module")
def token(place: Path, begin: tuple[str, str]) -> Iterator[str]:
    yield typed(f'{begin[0]}; echo "$TOKEN"', place, "").strip()
    default_file().unlink()


def test_the_commands_of_the_page_do_what_it_says_and_a_killed_server_forgets_nothing(
    place: Path, begin: tuple[str, str], token: str
) -> None:
    _, verify, job, events, bundle, others, chat, *_ = blocks()
    with serving(begin[1], place) as (url, process):
        told = json.loads(typed(verify, place, url, TOKEN=token))
        assert (told["kind"], told["shared"]) == ("verify", False)
        names = {"TOKEN": token, "JOB": told["id"]}
        assert "event: done" in typed(events, place, url, **names)
        result = json.loads(typed(job, place, url, **names))["result"]
        assert (result["status"], bool(result["envelope"])) == ("QUOTED", True)
        assert "agrees" in typed(bundle, place, url, **names).lower()
        asked = typed(others, place, url, **names).replace("}{", "}\n{").split("\n")
        assert [json.loads(each)["kind"] for each in asked] == ["research", "check"]
        reply = json.loads(typed(chat, place, url, **names))
        text = reply["choices"][0]["message"]["content"]
        assert ("Sources:\n[ev_" in text, text.rpartition("\n")[2][:6]) == (True, "QUOTED")
        assert (reply["object"], reply["vera"]["citations"][0]["source"]) == ("chat.completion", "GPL-3.txt")
        process.kill()
    with serving(begin[1], place) as (url, _):
        assert json.loads(typed(job, place, url, **names))["result"] == result
        refuses_what_no_client_would_send(url, token)


def refuses_what_no_client_would_send(url: str, token: str) -> None:
    own = f"Authorization: Bearer {token}\r\n"
    head = f"Host: 127.0.0.1\r\n{own}Content-Type: application/json\r\n"
    post = f"POST /v1/verify HTTP/1.1\r\n{head}"
    cases = {
        f"GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\n{own}\r\n": (400, 421),
        f"GET /v1/models HTTP/1.1\r\n{own}\r\n": (400, 421),
        f"GET http://evil.example/v1/models HTTP/1.1\r\nHost: evil.example\r\n{own}\r\n": (421,),
        f"GET /v1/jobs/../../etc/passwd HTTP/1.1\r\n{head}\r\n": (404,),
        f"{post}Idempotency-Key: a\rSet-Cookie: x=1\r\nContent-Length: 2\r\n\r\n{{}}": (400,),
        f"{post}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{{}}x": (400,),
        f"{post}Content-Length: -1\r\n\r\n": (400,),
        f"{post}Content-Length: 99999999999\r\n\r\n{{}}": (413,),
        f"{post}Transfer-Encoding: chunked\r\n\r\nzz\r\n": (400,),
        f"{post}X: {'x' * 20_000}\r\n\r\n": (400, 431),
    }
    for request, statuses in cases.items():
        answer = raw(url, request.encode("latin-1"))
        assert int(answer.split(b" ", 2)[1]) in statuses, (request[:120], answer[:200])
        assert b"set-cookie" not in answer.lower()
        assert b"Traceback" not in answer


def raw(url: str, request: bytes) -> bytes:
    """The answer to bytes that no client would send, after which the client hangs up."""
    port = int(url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as connection:
        connection.sendall(request)
        connection.shutdown(socket.SHUT_WR)
        answer = b""
        while part := connection.recv(1 << 16):
            answer += part
    return answer
