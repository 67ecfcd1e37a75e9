"""Commands under closed streams, without memory, and with a signal at their end."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from vera.cli.exit import ERROR, INTERRUPTED, clean_errors
from vera.session import Session, check

RUN = (
    "run",
    "How many years must a written offer be valid?",
    "--input-dir",
    "documents",
    "--work-dir",
    "work",
    "-c",
    "model.base_url=builtin",
)


@pytest.fixture
def base(tmp_path: Path) -> Path:
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents" / "terms.txt").write_text("A written offer must be valid for three years.\n")
    return tmp_path


@pytest.mark.parametrize("closed", [(0,), (1,), (2,), (0, 1, 2)], ids=str)
def test_a_run_with_closed_streams_ends_as_any_other(base: Path, closed: tuple[int, ...]) -> None:
    """The files that it opens do not get their numbers: what is said to a stream would be written to them."""

    def close() -> None:
        for descriptor in closed:
            os.close(descriptor)

    command = [sys.executable, "-m", "vera", *RUN]
    done = subprocess.run(
        command, cwd=base, preexec_fn=close, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False
    )
    assert (done.returncode, check(base / "work").verdict) == (0, "SEALED")


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("can't start new thread")], ids=repr)
def test_a_command_without_memory_ends_by_a_sentence(
    error: Exception, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended, clean_errors():
        raise error
    assert ended.value.code == ERROR
    assert "There is not enough memory here to go on." in capsys.readouterr().err


def test_a_signal_does_not_break_off_the_end_of_a_run(base: Path) -> None:
    """What is left then is to print the answer and to close what is open."""
    script = (
        "import asyncio, contextlib, os, signal, sys; from vera.cli import execute, main\n"
        "real = execute.open_run\n"
        "@contextlib.asynccontextmanager\n"
        "async def opened(*words):\n"
        "    async with real(*words) as made:\n"
        "        yield made\n"
        "        os.kill(os.getpid(), signal.SIGTERM)\n"
        "        await asyncio.sleep(0.1)\n"
        "execute.open_run = opened\n"
        "main(sys.argv[1:], prog_name='vera')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *RUN], cwd=base, capture_output=True, text=True, check=False
    )
    assert done.returncode != -signal.SIGTERM and "Traceback" not in done.stderr, done.stderr
    assert (done.returncode, "three years" in done.stdout) == (0, True)


def test_a_command_with_a_process_of_its_own_looks_for_garbage_less_often_and_loads_no_terminal() -> None:
    program = """
import gc, sys
from vera.cli import main
main(["--help"], standalone_mode=False)
assert gc.get_threshold()[0] == 700, "called by a program, it changes nothing there"
sys.argv = ["vera", "--help"]
main(standalone_mode=False)
import httpx
print(gc.get_threshold()[0], "rich" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("\n20000 False\n"), done.stderr


@pytest.mark.parametrize("command", ["run", "verify"])
def test_a_work_folder_of_other_files_is_refused_before_anything_is_read(command: str, base: Path) -> None:
    words = [sys.executable, "-m", "vera", command, "Offers are valid.", "--input-dir", "documents"]
    words += ["--work-dir", "documents", "--model-base-url", "builtin"]
    done = subprocess.run(words, cwd=base, capture_output=True, text=True, check=False)
    assert done.returncode == ERROR
    assert (
        "holds files that are no session of VERA: 'terms.txt'. Choose a new or empty folder." in done.stderr
    )
    assert [path.name for path in (base / "documents").iterdir()] == ["terms.txt"]


@pytest.mark.parametrize("words", [RUN, (*RUN[:3], "nothing"), ("list",), ("--help",)], ids=" ".join)
def test_a_reader_that_goes_away_does_not_change_the_exit_code(base: Path, words: tuple[str, ...]) -> None:
    (base / "nothing").mkdir()
    command = [sys.executable, "-m", "vera", *words]
    codes = []
    for stays in (True, False):
        shutil.rmtree(base / "work", ignore_errors=True)
        with subprocess.Popen(command, cwd=base, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stdout is not None and process.stderr is not None
            if not stays:
                process.stdout.close()
            said = process.stderr.read()
            codes.append(process.wait())
        assert b"Traceback" not in said and b"Exception" not in said, said
    assert codes[0] == codes[1]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("words", [("config",), ("--help",), ("run", "--help"), ("list",)], ids=" ".join)
def test_output_for_which_there_is_no_room_is_a_sentence(base: Path, words: tuple[str, ...]) -> None:
    (base / "work").mkdir()
    Session.create(base / "work" / "one", {}).close()
    with Path("/dev/full").open("wb") as full:
        command = [sys.executable, "-m", "vera", *words]
        done = subprocess.run(command, cwd=base, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (ERROR, "vera: No space left on device.\n")


@pytest.mark.parametrize("place", ["vera.cli", "vera.cli.list"])
def test_ctrl_c_while_a_command_is_loaded_ends_it_without_a_traceback(base: Path, place: str) -> None:
    script = (
        "import runpy, sys\n"
        "import importlib.machinery as machinery; exec_module = machinery.SourceFileLoader.exec_module\n"
        "def interrupted(self, module):\n"
        f"    if module.__name__ == {place!r}: raise KeyboardInterrupt\n"
        "    return exec_module(self, module)\n"
        "machinery.SourceFileLoader.exec_module = interrupted\n"
        "sys.argv = ['vera', 'list']; runpy.run_module('vera', run_name='__main__')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=base, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (INTERRUPTED, "vera: interrupted.\n")
