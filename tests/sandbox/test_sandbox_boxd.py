"""The supervisor as a file: alone, old enough in its grammar, and exact in what it keeps of an output."""

import ast
import hashlib
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vera.sandbox import boxd, frames
from vera.sandbox.box import BOOT, SUPERVISOR


def test_the_supervisor_is_python_3_9_and_needs_the_standard_library_only() -> None:
    tree = ast.parse(SUPERVISOR.read_text(), feature_version=(3, 9))
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in names} <= sys.stdlib_module_names


@given(
    st.lists(st.binary(min_size=1, max_size=40), max_size=12),
    st.integers(0, 30),
    st.integers(0, 30),
    st.integers(0, 200),
)
def test_head_tail_hash_and_file_agree_with_the_whole(
    chunks: list[bytes], head: int, tail: int, cap: int
) -> None:
    with tempfile.TemporaryDirectory() as work:
        capture = boxd.Capture("1", f"{work}/fifo", boxd.Spool(work), head, tail, cap)
        writer = os.open(f"{work}/fifo", os.O_WRONLY)
        for chunk in chunks[:-1]:
            os.write(writer, chunk)
            capture.read()
        for chunk in chunks[-1:]:
            os.write(writer, chunk)
        first, last = capture.complete()
        whole = b"".join(chunks)
        assert capture.size == len(whole)
        assert capture.sha256.hexdigest() == hashlib.sha256(whole).hexdigest()
        assert first == whole[:head]
        assert last == whole[head:][-tail:] if tail else last == b""
        if len(whole) > head + tail and cap:
            assert Path(capture.path).read_bytes() == whole[:cap]
        else:
            assert capture.path == ""
        os.close(writer)
        capture.close()


@given(st.lists(st.tuples(st.text(max_size=20), st.binary(max_size=60)), max_size=8), st.integers(1, 50))
def test_frames_are_put_together_from_any_pieces(sent: list[tuple[str, bytes]], step: int) -> None:
    from vera.sandbox import frames

    data = b"".join(frames.encode({"op": name}, payload) for name, payload in sent)
    reader, writer = os.pipe()
    channel = boxd.Channel(reader, writer)
    got = []
    for start in range(0, len(data), step):
        os.write(writer, data[start : start + step])
        got += [(header["op"], payload) for header, payload in channel.receive()]
    os.close(reader)
    os.close(writer)
    assert got == sent


@pytest.mark.parametrize(
    "header", [b"{", b"[]", b'{"n": -40}', b'{"n": "x"}', b'{"n": 1e400}', b"[" * 60_000]
)
def test_a_header_that_cannot_be_read_ends_the_supervisor_in_order(header: bytes) -> None:
    reader, writer = os.pipe()
    os.write(writer, len(header).to_bytes(4, "big") + header)
    with pytest.raises(boxd.FatalError, match="the host sent a"):
        list(boxd.Channel(reader, writer).receive())
    os.close(reader)
    os.close(writer)


@pytest.mark.parametrize(
    ("frame", "code", "said"),
    [
        ({"op": "run"}, 1, b"boxd: the host sent run and it failed (KeyError('id')).\n"),
        ({"op": {}}, 0, b""),
        ({"op": ["run"]}, 0, b""),
        ({}, 0, b""),
    ],
)
def test_a_frame_without_its_members_ends_the_supervisor_with_a_sentence(
    frame: dict[str, Any], code: int, said: bytes, tmp_path: Path
) -> None:
    source = SUPERVISOR.read_bytes()
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", BOOT, str(tmp_path / "run"), str(tmp_path)],
        input=len(source).to_bytes(4, "big") + source + frames.encode(frame),
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (code, said)
    assert (b"unknown operation" in done.stdout) == (code == 0)
    assert not (tmp_path / "run").exists()


def supervisor_where(change: str, tmp_path: Path, *, host: bool) -> "subprocess.CompletedProcess[bytes]":
    """A supervisor of which something was changed before it begins, with a host that says nothing or none."""
    script = (
        "import os, runpy, signal, sys\n"
        f"boxd = type(sys)('boxd')\nexec(compile(open({str(SUPERVISOR)!r}).read(), 'boxd.py', 'exec'), "
        f"boxd.__dict__)\n{change}\nsys.exit(boxd.main({str(tmp_path / 'run')!r}, {str(tmp_path)!r}))\n"
    )
    reader, writer = os.pipe()
    if not host:
        os.close(writer)
    try:
        command = [sys.executable, "-I", "-S", "-c", script]
        return subprocess.run(command, stdin=reader, capture_output=True, timeout=60, check=False)
    finally:
        os.close(reader)
        if host:
            os.close(writer)


def test_a_shell_that_is_told_to_end_while_it_is_made_is_no_second_supervisor(tmp_path: Path) -> None:
    change = (
        "fork, main = os.fork, os.getpid()\n"
        "def forked():\n"
        "    pid = fork()\n"
        "    if pid == 0: os.kill(os.getpid(), signal.SIGTERM)\n"
        "    return pid\n"
        "leave = boxd.Supervisor.leave\n"
        "def told(self):\n"
        "    if os.getpid() != main: sys.stderr.write('a second supervisor\\n')\n"
        "    leave(self)\n"
        "os.fork, boxd.Supervisor.leave = forked, told"
    )
    done = supervisor_where(change, tmp_path, host=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_supervisor_that_cannot_start_its_first_shell_says_so(tmp_path: Path) -> None:
    change = (
        "def full(work): raise BlockingIOError(11, 'no process')\nboxd.Shell, boxd.KILL_SECONDS = full, 0.2"
    )
    done = supervisor_where(change, tmp_path, host=True)
    sentence = b"boxd: the shell cannot be started: the sandbox has no free process.\n"
    assert (done.returncode, done.stderr) == (1, sentence)


def test_a_standby_that_died_with_its_shell_does_not_end_the_supervisor(tmp_path: Path) -> None:
    """A `kill -9 -1` ends both, and the shell's end may be collected first."""
    shell = boxd.Shell(str(tmp_path))
    shell.standby = shell.pid
    os.kill(shell.pid, signal.SIGKILL)
    os.waitpid(shell.pid, 0)
    try:
        assert shell.promote_standby()
        assert not shell.awake
    finally:
        shell.close()
