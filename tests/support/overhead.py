"""A scripted session in a process of its own, and what it cost beside its model: time, bytes, memory, CPU.

The model is a `ScriptedServer` that answers at once; each of its turns is one command with 0.4 kB of output.
"""

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic
from typing import Any

import psutil

from support.box_image import base_image
from support.cli import records
from support.scripted_server import ScriptedServer
from support.turns import turn
from vera import events
from vera.protocol import text

COMMAND = "echo; seq 1 120"
"""What is run at each step: what the prototype was measured with."""

DIFFERING = "echo {step}; seq 1 120"
"""The same with another output at each step, as real runs have: each is a file of the store."""

FLOOD = "head -c 300000000 /dev/zero | tr '\\0' x | fold -w 99"
NOTE_EVERY = 3
"""Steps between two notes: as the default settings ask for."""
WATCHED_EVERY = 0.05
Used = Mapping[int, float]
"""CPU seconds of processes so far."""

ENGINE = frozenset({"dockerd", "containerd", "containerd-shim", "containerd-shim-runc-v2"})


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Of one session, in seconds and bytes.

    `gaps` are from an answer sent to the next request received. `cpu`, of all its processes, and
    `engine_cpu`, of the docker engine with its shims (which may serve others as well; None: there is none),
    are between the first and the last request; `start_cpu` is before the first. `peak` is the most memory of
    the process itself, `peak_of_all` with all that it started.
    """

    exit_code: int
    first_turn: float
    gaps: tuple[float, ...]
    prompts: tuple[int, ...]
    cpu: float
    engine_cpu: float | None
    peak: int
    peak_of_all: int
    start_cpu: float
    folder: Mapping[str, int] = field(default_factory=dict)
    cached: float = 0.0

    @property
    def bytes_per_step(self) -> float:
        return sum(self.folder.values()) / len(self.prompts)


def vera_command(server: ScriptedServer, root: Path, steps: int, sandbox: str) -> list[str]:
    """`vera run` as a person starts it, with the default settings but for the limit of equal turns."""
    return [
        *(sys.executable, "-m", "vera", "run", "--quiet", "--task=Count to 120, many times."),
        *(f"--work-dir={root}", f"--model-base-url={server.base_url}"),
        *(f"--max-steps={steps}", f"--sandbox={sandbox}", "--config=policy.stuck_limit=0"),
        *([f"--config=sandbox.base_image={base_image()}"] if sandbox == "docker" else []),
    ]


def session(root: Path, steps: int, sandbox: str, *commands: str, command: str = COMMAND) -> Cost:
    """A run of so many steps in `root`; `commands` are those of its first ones, `command` that of the others.
    Without a sandbox they are notes."""

    def reply(index: int) -> str:
        step = index + 1
        cmd = commands[index] if index < len(commands) else command.format(step=step)
        note = f"note {step}: what was learnt" if step % NOTE_EVERY == 0 else None
        said = turn("shell", cmd=cmd, note=note, thought=f"Step {step}, go on.")
        if sandbox == "none":
            said = turn("note", text=f"note {step}", thought=f"Step {step}, go on.")
        return text.render(said)

    cost = measured(lambda server: vera_command(server, root, steps, sandbox), reply, root)
    calls = [record for record in records(root) if isinstance(record, events.Model)]
    return replace(cost, folder=folder_bytes(root), cached=cached_share(calls))


def measured(
    argv: Callable[[ScriptedServer], Sequence[str]],
    reply: Callable[[int], Any],
    cwd: Path,
    *,
    environment: Callable[[ScriptedServer], Mapping[str, str]] = lambda server: {},
) -> Cost:
    """What the program `argv`, which asks a model for its turns, cost. What it prints is thrown away."""
    watch = Watch()

    def script(index: int, body: dict[str, Any]) -> Any:
        watch.turn()
        return reply(index)

    cwd.parent.mkdir(parents=True, exist_ok=True)
    with ScriptedServer(script) as server:
        began = monotonic()
        process = subprocess.Popen(
            argv(server),
            cwd=cwd.parent,
            env={**os.environ, **environment(server)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        said = watch.until_ended(process)
        asked = server.requests
        if not asked:
            raise SystemExit(f"{process.args!r} asked its model nothing. It said: {said[-2000:]}")
        return Cost(
            exit_code=process.returncode,
            first_turn=asked[0].arrived - began,
            gaps=tuple(after.arrived - server.answered[index] for index, after in enumerate(asked[1:])),
            prompts=tuple(request.raw_bytes for request in asked),
            cpu=watch.cpu,
            engine_cpu=watch.engine_cpu,
            peak=watch.peak,
            peak_of_all=watch.peak_of_all,
            start_cpu=watch.start_cpu,
        )


def folder_bytes(root: Path) -> dict[str, int]:
    """Bytes of every regular file of a folder, by the first part of its path, the largest first."""
    found: dict[str, int] = {}
    for path in root.rglob("*"):
        if path.is_file() and not path.is_symlink():
            part = path.relative_to(root).parts[0]
            found[part] = found.get(part, 0) + path.stat().st_size
    return dict(sorted(found.items(), key=lambda each: -each[1]))


def cached_share(calls: Sequence[events.Model]) -> float:
    """Of all bytes of these prompts, the share that is the beginning of the prompt before."""
    return sum(call.prefix_bytes for call in calls) / sum(call.input_bytes for call in calls)


class Watch:
    """Looks at a process and all that it started, and at the engine, while a session runs (Linux)."""

    def __init__(self) -> None:
        self._tree: psutil.Process | None = None
        self._seen: Collection[int] = ()
        self._engine: list[psutil.Process] | None = None
        self._before: tuple[Used, Used] | None = None
        self.cpu = self.start_cpu = 0.0
        self.engine_cpu: float | None = None
        self.peak = self.peak_of_all = 0

    def turn(self) -> None:
        """A request is there: whoever sent it waits."""
        if self._tree is None:
            return
        if self._engine is None:
            found = psutil.process_iter(["name"])
            self._engine = [process for process in found if process.info["name"] in ENGINE]
        now = (_cpu([self._tree, *self._tree.children(recursive=True)]), _cpu(self._engine))
        if self._before is None:
            self._before, own = now, self._tree.cpu_times()
            self.start_cpu = sum(now[0].values()) + own.children_user + own.children_system
        self.cpu = _between(self._before[0], now[0])
        self.engine_cpu = _between(self._before[1], now[1]) if self._engine else None

    def until_ended(self, process: "subprocess.Popen[bytes]") -> str:
        """Watch until it has ended; what it said on stderr, where that is a pipe."""
        self._tree = psutil.Process(process.pid)
        said: list[bytes] = []
        stderr = process.stderr
        reader = threading.Thread(target=lambda: said.append(stderr.read() if stderr else b""))
        reader.start()
        while process.poll() is None:
            self._look(self._tree)
            try:
                process.wait(WATCHED_EVERY)
            except subprocess.TimeoutExpired:
                continue
        reader.join()
        return b"".join(said).decode(errors="replace")

    def _look(self, tree: psutil.Process) -> None:
        try:
            status = dict(line.split(":", 1) for line in _status(tree.pid))
            self.peak = max(self.peak, _kib(status, "VmHWM"))
            # One that has just been forked still shows its parent's memory as its own.
            whole = {each.pid: each for each in (tree, *tree.children(recursive=True))}
            seen = [each for pid, each in whole.items() if pid in self._seen]
            self.peak_of_all = max(self.peak_of_all, _resident(seen))
            self._seen = whole.keys()
        except (psutil.Error, OSError):
            return


def _cpu(processes: Sequence[psutil.Process]) -> Used:
    found = {}
    for process in processes:
        try:
            used = process.cpu_times()
        except psutil.Error:
            continue
        found[process.pid] = used.user + used.system
    return found


def _between(before: Used, after: Used) -> float:
    """CPU seconds of what is still there."""
    return sum(seconds - before.get(pid, 0.0) for pid, seconds in after.items())


def _resident(processes: Collection[psutil.Process]) -> int:
    """Memory of processes, in bytes; of those with one program its pages are counted once."""
    own, program = 0, dict[str, int]()
    for process in processes:
        try:
            status = dict(line.split(":", 1) for line in _status(process.pid))
            name = process.exe()
        except (psutil.Error, OSError):
            continue
        own += _kib(status, "RssAnon") + _kib(status, "RssShmem")
        program[name] = max(program.get(name, 0), _kib(status, "RssFile"))
    return own + sum(program.values())


def _status(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/status").read_text().splitlines()


def _kib(status: Mapping[str, str], name: str) -> int:
    """A size that /proc gives in KiB, in bytes; 0 where it gives none (a process that has ended)."""
    return int(status[name].split()[0]) * 1024 if name in status else 0
