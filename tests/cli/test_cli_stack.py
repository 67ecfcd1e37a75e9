"""`vera stack` and its scripts: the step budget, the sandbox, a dashboard in the background, and its end."""

import io
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from support.cli import vera
from support.dashboard_runs import environment_of
from vera.cli.stack import ask_steps, steps_of
from vera.cli.stack_down import working
from vera.cli.stack_process import running, stack_folder
from vera.dashboard import audit_log, run_process

ROOT = Path(__file__).parents[2]
NO_SANDBOX = {"VERA_SANDBOX__BACKEND": "none"}


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@pytest.fixture
def base(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path
    if (process := running(tmp_path)) is not None:
        run_process.send(process, signal.SIGKILL)


@pytest.mark.parametrize(
    ("answer", "steps"),
    [
        ("1", 0),
        ("1\n", 0),
        ("2\n30\n", 30),
        ("2 30", 30),
        ("2\n", None),
        ("2\n0\n", None),
        ("2\n-3\n", None),
        ("2\nmany\n", None),
        ("2\n99999999999999999999\n", None),
        ("3\n", None),
        ("30", None),
    ],
)
def test_one_is_unlimited_and_two_is_followed_by_a_number(answer: str, steps: int | None) -> None:
    assert steps_of(answer) == steps


@pytest.mark.parametrize(
    ("piped", "steps"), [("1\n", 0), ("2\n30\n", 30), ("2 30\n", 30), ("", None), ("\n", None)]
)
def test_a_pipe_answers_and_an_empty_one_leaves_what_is_configured(piped: str, steps: int | None) -> None:
    reader, writer = os.pipe()
    os.write(writer, piped.encode())
    os.close(writer)
    with os.fdopen(reader) as stream:
        assert ask_steps(80, stream) == steps


def test_a_pipe_that_stays_open_is_not_waited_for_after_its_answer() -> None:
    reader, writer = os.pipe()
    os.write(writer, b"1\n")
    with os.fdopen(reader) as stream:
        assert ask_steps(80, stream) == 0
    os.close(writer)


def test_an_answer_that_is_none_ends_the_command_with_what_to_type() -> None:
    with pytest.raises(click.UsageError, match="MAX_STEPS=30"):
        ask_steps(80, io.StringIO("lots\n"))


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_person_is_asked_again_after_a_slip(capsys: pytest.CaptureFixture[str]) -> None:
    assert ask_steps(80, Terminal("many\n2\n25\n")) == 25
    asked = capsys.readouterr().err
    assert "1 = unlimited, 2 = a number, Enter = 80" in asked and "How many steps" in asked
    assert ask_steps(0, Terminal("\n")) is None
    with pytest.raises(click.UsageError):
        ask_steps(80, Terminal("a\nb\nc\n1\n"))


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks at processes in /proc")
def test_up_starts_a_dashboard_that_outlives_it_and_down_ends_that_one(base: Path) -> None:
    port = str(free_port())
    up = vera("stack", "up", "--port", port, cwd=base, stdin="2\n33\n", **NO_SANDBOX)
    assert up.returncode == 0, up.stderr
    assert "Step budget of runs: 33" in up.stdout and "Sandbox: none, as configured" in up.stdout
    process = running(base)
    assert process is not None and f"READY (process {process.pid}" in up.stdout
    assert environment_of(process.pid)["MAX_STEPS"] == "33"
    token = re.search(r"token      (\S+)", up.stdout)
    assert token is not None and f"http://127.0.0.1:{port}/?token={token[1]}" in up.stdout
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/metrics", headers={"Authorization": f"Bearer {token[1]}"}
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        assert answer.status == 200
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30)
    assert refused.value.code == 401
    log = stack_folder(base) / "dashboard.log"
    assert log.stat().st_mode & 0o077 == 0

    again = vera("stack", "up", "--port", port, cwd=base, **NO_SANDBOX)
    assert again.returncode == 5 and "is up already" in again.stderr

    down = vera("stack", "down", cwd=base)
    assert down.returncode == 0 and f"(process {process.pid}) has ended" in down.stdout
    assert running(base) is None and not run_process.is_alive(process)
    assert "No dashboard of the stack runs" in vera("stack", "down", cwd=base).stdout


def test_a_port_that_is_taken_is_said_and_leaves_nothing_behind(base: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        up = vera("stack", "up", "--port", port, "--max-steps", 5, cwd=base, **NO_SANDBOX)
    assert up.returncode == 5 and "could not start" in up.stderr and str(port) in up.stderr
    assert "READY" not in up.stdout and running(base) is None


def test_a_sandbox_that_was_asked_for_and_cannot_start_stops_the_stack(base: Path, tmp_path: Path) -> None:
    up = vera(
        *("stack", "up", "--port", free_port(), "--max-steps", 5),
        cwd=base,
        VERA_SANDBOX__BACKEND="docker",
        PATH=str(tmp_path / "nothing"),
    )
    assert up.returncode == 5 and "sandbox cannot be started" in up.stderr
    assert running(base) is None


@pytest.mark.needs("bubblewrap")
def test_the_sandbox_is_really_started_once(base: Path) -> None:
    up = vera(
        *("stack", "up", "--port", free_port(), "--max-steps", 0),
        cwd=base,
        VERA_SANDBOX__BACKEND="bubblewrap",
    )
    assert up.returncode == 0, up.stderr
    assert "Sandbox: bubblewrap, started and ended" in up.stdout and "unlimited" in up.stdout


def test_down_ends_runs_of_dashboards_and_nothing_else(base: Path) -> None:
    sleeps = [sys.executable, "-c", "import time; time.sleep(600)"]
    ours = subprocess.Popen([*sleeps, f"--work-dir={base}/work/ours"], start_new_session=True)
    other = subprocess.Popen(["sleep", "600"])
    try:
        for name, process in (("ours", run_process.identity(ours.pid)), ("stale", None)):
            folder = base / "work" / name
            folder.mkdir(parents=True)
            audit_log.write(folder, "created")
            if process is not None:
                descriptor = run_process.claim(folder)
                run_process.write(descriptor, process)
                os.close(descriptor)
            else:
                host = run_process.identity(other.pid).host
                (folder / "run.pid").write_text(f"{other.pid}\n{host} 1\n")
        assert [session.name for session, _ in working(base)] == ["./work/ours"]
        kept = vera("stack", "down", "--keep-runs", cwd=base)
        assert kept.returncode == 0 and ours.poll() is None
        down = vera("stack", "down", cwd=base)
        assert "The run in ./work/ours has ended" in down.stdout
        assert ours.wait(30) != 0 and other.poll() is None
    finally:
        for each in (ours, other):
            each.kill()
            each.wait()


@pytest.mark.parametrize(("script", "word"), [("start_stack.sh", "up"), ("stop_stack.sh", "down")])
def test_the_scripts_are_thin_over_the_bootstrap(tmp_path: Path, script: str, word: str) -> None:
    home = tmp_path / "a folder"
    home.mkdir()
    shutil.copy(ROOT / script, home)
    (home / "run.py").write_text("import sys; print(sys.argv[1:], sys.stdin.read())")
    done = subprocess.run(
        ["bash", str(home / script), "--port", "1"],
        cwd=tmp_path,
        input="2\n30\n",
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHON": sys.executable},
    )
    assert done.stdout == f"{['stack', word, '--base-dir', str(home), '--port', '1']} 2\n30\n\n"
    assert os.access(ROOT / script, os.X_OK)
