"""One question asked of one tool by `benchmarks/peers.py`, what came of it, and what a kill leaves."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psutil
from guided import QUESTIONS, ROOT
from peer_commands import CITED, FOLDER, Answer, Question, Server, Tool, lines_of

from support.overhead import Watch
from support.scripted_server import ScriptedServer, Slow

OURS = ("VERA", "VERA, built-in")
LOOK_SECONDS = 0.1
PREPARING_SECONDS = 1800.0
PAUSE_SECONDS = 20.0
SETTLED_SECONDS = 30.0


@dataclass(frozen=True, kw_only=True)
class Limit:
    """For one question: seconds, and processor seconds of the tool and its model servers together."""

    seconds: float = 900.0
    cpu: float = 120.0


@dataclass(frozen=True, kw_only=True)
class Ran:
    """One question: seconds from the command's start to its end, processor seconds of it and of its model
    servers, whether it was stopped at its limit, the answer, the most memory of the process and all that it
    started, and what the scripted server counted: tokens of prompts, calls."""

    asked: Question
    answer: Answer | None
    error: str
    seconds: float = 0.0
    cpu: float = 0.0
    is_stopped: bool = False
    peak: int = 0
    sent: int = 0
    calls: int = 0

    @property
    def right_words(self) -> bool:
        said = " ".join(self.answer.text.split()).lower() if self.answer else ""
        return any(word.lower().strip() in said for word in self.asked.says)

    @property
    def right_lines(self) -> bool:
        return any(
            Path(file).name == self.asked.file and holds(text, self.asked.words)
            for file, text in (self.answer.cited if self.answer else ())
        )

    def holds(self, folder: Path) -> bool:
        """Whether the answer is proved, by our audit."""
        if self.answer is None or not self.answer.cited:
            return False
        return self.answer.proved if self.answer.proved is not None else checked(self.answer, folder)


def holds(text: str, words: Sequence[str]) -> bool:
    plain = " ".join(text.split())
    return all(" ".join(word.split()) in plain for word in words)


def checked(answer: Answer, folder: Path) -> bool:
    """Whether `vera check` finds nothing against an answer in the files that it cites."""
    document = folder / "answer.md"
    links = " ".join(
        f"[{name}]({name})" for name in dict.fromkeys(Path(file).name for file, _ in answer.cited)
    )
    said = " ".join(CITED.sub("", answer.text).split()).rstrip(".")
    document.write_text(f"{said} {links}.\n")
    command = [sys.executable, "-m", "vera", "check", str(document), "--sources", str(FOLDER)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def questions() -> list[Question]:
    found = []
    for name in QUESTIONS:
        for each in json.loads((ROOT / name).read_text()):
            words = tuple(each["words"])
            first, last = each.get("lines") or place(each["file"], words)
            says = tuple(each.get("says", words[-1:]))
            text, file = each["question"], each["file"]
            found.append(
                Question(id=each["id"], text=text, file=file, first=first, last=last, words=words, says=says)
            )
    return found


def place(file: str, words: Sequence[str]) -> tuple[int, int]:
    """The fewest lines of a document that hold all these words."""
    total = len((FOLDER / file).read_text().split("\n"))
    for length in range(1, 12):
        for first in range(1, total - length + 2):
            if holds(lines_of(file, first, first + length - 1), words):
                return first, first + length - 1
    raise SystemExit(f"No lines of {file} hold {words}.")


def ask(tool: Tool, python: str, asked: Question, folder: Path, server: Server, most: Limit) -> Ran:
    """One question, in a separate folder."""
    folder.mkdir(parents=True)
    process = started(tool, python, asked, folder, server)
    watch, meter = Watch(), Meter(process.pid, server.pids, most)
    meter.start()
    watch.until_ended(process)
    meter.join()
    cleared(folder)
    answer = None if meter.is_stopped else tool.read(said(folder, "stdout"), folder)
    return Ran(
        asked=asked,
        seconds=meter.seconds,
        cpu=meter.cpu,
        is_stopped=meter.is_stopped,
        answer=answer,
        peak=watch.peak_of_all or watch.peak,
        error=said(folder, "stderr")[-2000:],
    )


class Meter(threading.Thread):
    """Counts the seconds and the processor seconds of a tool and its model servers, and ends the tool above
    its limit."""

    def __init__(self, pid: int, servers: Sequence[int], most: Limit) -> None:
        super().__init__(name="meter", daemon=True)
        self._tool = psutil.Process(pid)
        self._servers = [psutil.Process(each) for each in servers]
        self._most = most
        self._began = time.monotonic()
        self._before = self._of_servers()
        self.seconds = self.cpu = 0.0
        self.is_stopped = False

    def run(self) -> None:
        used = 0.0
        while self._tool.is_running() and self._tool.status() != psutil.STATUS_ZOMBIE:
            with contextlib.suppress(psutil.Error):
                used = max(used, used_by(self._tool, *self._tool.children(recursive=True)))
                self.seconds = time.monotonic() - self._began
                self.cpu = used + self._of_servers() - self._before
            if self.seconds > self._most.seconds or self.cpu > self._most.cpu:
                self.is_stopped = True
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(self._tool.pid, signal.SIGKILL)
                return
            time.sleep(LOOK_SECONDS)
        self.seconds = time.monotonic() - self._began

    def _of_servers(self) -> float:
        return used_by(*self._servers)


def used_by(*processes: psutil.Process) -> float:
    """Processor seconds of processes that run, and of the children of the first one that have ended."""
    times = [each.cpu_times() for each in processes]
    ended = times[0].children_user + times[0].children_system if times else 0.0
    return ended + sum(each.user + each.system for each in times)


def prepared(tool: Tool, python: str, folder: Path, server: Server) -> float | None:
    """Seconds in which it made its index; None when it needs no such start."""
    if not tool.prepares:
        return None
    folder.mkdir(parents=True)
    began = time.monotonic()
    process = started(tool, python, None, folder, server)
    if process.wait(timeout=PREPARING_SECONDS):
        raise SystemExit(f"{tool.name} could not prepare the documents: {said(folder, 'stderr')[-2000:]}")
    return time.monotonic() - began


def started(
    tool: Tool, python: str, asked: Question | None, folder: Path, server: Server
) -> "subprocess.Popen[bytes]":
    """The tool under way. It prints into files, since a process that it leaves may keep them open."""
    environment = {**os.environ, **tool.environment(server), "HOME": str(folder)}
    environment.pop("PYTHONPATH", None)
    with (folder / "stdout").open("wb") as stdout, (folder / "stderr").open("wb") as stderr:
        return subprocess.Popen(
            tool.start(python, asked, folder, server),
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )


def said(folder: Path, where: str) -> str:
    return (folder / where).read_text(errors="replace")


def containers(folder: Path) -> list[str]:
    """The containers in which this folder is mounted."""
    if shutil.which("docker") is None:
        return []
    command = ["docker", "ps", "--quiet", "--filter", f"volume={folder}"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.split()


def cleared(folder: Path) -> None:
    for each in containers(folder):
        subprocess.run(["docker", "rm", "--force", each], capture_output=True, check=False)


@dataclass(frozen=True, kw_only=True)
class Left:
    """What a kill in the middle left: files that are not empty, their bytes, processes,
    containers, and what came of going on."""

    files: int
    size: int
    processes: int
    containers: int
    went_on: str = ""


def killed(tool: Tool, python: str, asked: Question, folder: Path, embedding: Server) -> Left | None:
    """Kill a tool while its model takes time for the second reply; None when it ended before that."""
    folder.mkdir(parents=True)
    script, pause = tool.script(asked), PAUSE_SECONDS

    def slow(index: int, body: dict[str, Any]) -> Any:
        reply = script(index, body)
        return Slow(pause, reply) if index else reply

    with ScriptedServer(slow) as server:
        process = started(tool, python, asked, folder, replace(embedding, base_url=server.base_url))
        until = time.monotonic() + PREPARING_SECONDS
        while len(server.requests) < 2 and process.poll() is None and time.monotonic() < until:
            time.sleep(0.05)
        if process.poll() is not None:
            print(f"{tool.name} ended before it was killed: {said(folder, 'stderr')}", file=sys.stderr)
            return None
        left = after_kill(process, folder)
        pause = 0.0
        went_on = resumed(tool, python, asked, folder) if tool.name in OURS else tool.goes_on
    return replace(left, went_on=went_on)


def after_kill(process: "subprocess.Popen[bytes]", folder: Path) -> Left:
    """Kill it, and see what is there when what ends by itself has ended; then that is removed as well."""
    tree = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.wait()
    _, alive = psutil.wait_procs(tree, timeout=SETTLED_SECONDS)
    boxes = len(containers(folder))
    ours = {folder / "stdout", folder / "stderr"}
    files = [
        path for path in folder.rglob("*") if path.is_file() and path not in ours and path.stat().st_size
    ]
    size = sum(path.stat().st_size for path in files)
    for each in alive:
        with contextlib.suppress(psutil.Error):
            each.kill()
    cleared(folder)
    return Left(files=len(files), size=size, processes=len(alive), containers=boxes)


def resumed(tool: Tool, python: str, asked: Question, folder: Path) -> str:
    """Whether `vera resume` comes to the right answer."""
    command = [python, "-m", "vera", "resume", str(folder / "session"), "--json", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    ran = Ran(asked=asked, answer=tool.read(done.stdout, folder), error=done.stderr)
    return f"{tool.goes_on}, exit code {done.returncode}, {'right' if ran.right_lines else 'no right'} lines"
