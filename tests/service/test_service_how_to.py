"""The commands on the page about the service, typed as they are there: `vera serve` and curl."""

import json
import os
import re
import shlex
import signal
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


def test_the_commands_of_the_page_do_what_it_says_and_a_killed_server_forgets_nothing(tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    begin, verify, job, events, bundle, others, chat, *_ = blocks()
    make, start = begin.strip().split("\n")
    token = typed(f'{make}; echo "$TOKEN"', tmp_path, "").strip()
    try:
        with serving(start, tmp_path) as (url, process):
            told = json.loads(typed(verify, tmp_path, url, TOKEN=token))
            assert (told["kind"], told["shared"]) == ("verify", False)
            names = {"TOKEN": token, "JOB": told["id"]}
            assert "event: done" in typed(events, tmp_path, url, **names)
            result = json.loads(typed(job, tmp_path, url, **names))["result"]
            assert (result["status"], bool(result["envelope"])) == ("QUOTED", True)
            assert "agrees" in typed(bundle, tmp_path, url, **names).lower()
            asked = [json.loads(each) for each in typed(others, tmp_path, url, **names).replace("}{", "}\n{").split("\n")]
            assert [each["kind"] for each in asked] == ["research", "check"]
            reply = json.loads(typed(chat, tmp_path, url, **names))
            assert reply["choices"][0]["message"]["content"].rpartition("\n")[2].startswith("QUOTED")
            process.kill()
        with serving(start, tmp_path) as (url, _):
            assert json.loads(typed(job, tmp_path, url, **names))["result"] == result
    finally:
        default_file().unlink()
