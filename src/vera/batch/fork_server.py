"""The process that starts attempts: `python -m vera.batch.fork_server LOCK HOW MODULE PRELOADED…`.

It imports the modules PRELOADED once, and calls what is there as `module:function`; an attempt is then a
fork that runs MODULE as `python -m MODULE` would (HOW is "fork"), which takes a tenth of the processor time
of a new interpreter (benchmarks/batch.py). It has one thread and no event loop, so a fork is whole. HOW
"spawn" starts a new interpreter for each attempt.

Requests and replies are lines of JSON on standard input and output. Each attempt has its own session and
process group; what is left of the group when the attempt ends is killed. When the input ends, because the
batch has ended or was killed, so do all attempts: first by SIGTERM, which a run survives as an interrupted
session, then by SIGKILL. On Linux they also end when this process is killed. LOCK is the descriptor of the
folder's lock (-1: none), which this process and the attempts hold as long as they live.
"""

import atexit
import contextlib
import gc
import importlib
import json
import os
import runpy
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ENDING_SECONDS = 10.0
"""Between SIGTERM and SIGKILL when everything is to end."""
PR_SET_PDEATHSIG = 1
"""prctl(2)."""


class Server:
    """Starts attempts, passes on signals, and says when each has ended."""

    def __init__(self, requests: int, replies: int, lock: int, spawned: list[str] | None) -> None:
        self._requests = requests
        self._replies = replies
        self._lock = lock
        self._spawned = spawned
        self._running: dict[int, int] = {}
        self._die_with_parent = parent_death_signal()
        self._woken, self._wake = os.pipe()
        for end in (self._woken, self._wake):
            os.set_blocking(end, False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)

    def serve(self) -> dict[str, Any] | None:
        """Serve until the input ends: None. In the fork that is to be an attempt: what was requested."""
        rest = b""
        while True:
            ready, _, _ = select.select([self._requests, self._woken], [], [])
            self._reap()
            if self._requests not in ready:
                continue
            more = os.read(self._requests, 1 << 16)
            if not more:
                self._end_all()
                return None
            *lines, rest = (rest + more).split(b"\n")
            for line in lines:
                request = json.loads(line)
                if "signal" in request:
                    self._signal(request)
                elif self._start(request):
                    return dict(request)

    def _start(self, request: dict[str, Any]) -> bool:
        """Start an attempt; True in the attempt itself."""
        try:
            with _files(request) as (given, out, said):
                if self._spawned is None:
                    pid = self._fork(given, out, said)
                else:
                    pid = self._spawn([*self._spawned, *request["argv"]], given, out, said)
        except OSError as error:
            self._say(ended=request["start"], code=-1, error=error.strerror or str(error))
            return False
        if pid == 0:
            return True
        self._running[pid] = request["start"]
        self._say(started=request["start"], pid=pid)
        return False

    def _fork(self, given: int, out: int, said: int) -> int:
        """The number of the new process; 0 in it, where everything that is the server's is left behind."""
        if pid := os.fork():
            return pid
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for descriptor in (self._requests, self._replies, self._woken, self._wake):
            os.close(descriptor)
        os.setsid()
        self._die_with_parent()
        os.dup2(given, 0)
        os.dup2(out, 1)
        os.dup2(said, 2)
        return 0

    def _spawn(self, command: list[str], given: int, out: int, said: int) -> int:
        def prepare() -> None:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            self._die_with_parent()

        child = subprocess.Popen(
            command,
            stdin=given,
            stdout=out,
            stderr=said,
            start_new_session=True,
            pass_fds=[self._lock] if self._lock >= 0 else [],
            preexec_fn=prepare,
        )
        child.returncode = 0  # it is waited for here, by its number
        return child.pid

    def _signal(self, request: dict[str, Any]) -> None:
        """Send a signal to an attempt, or to its whole group. A number that has ended is no one's."""
        for pid, start in self._running.items():
            if start == request["to"]:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    (os.killpg if request["group"] else os.kill)(pid, request["signal"])

    def _reap(self) -> None:
        """Say which attempts have ended. Until the leader of a group is waited for, its number is its own."""
        with contextlib.suppress(BlockingIOError):
            while os.read(self._woken, 512):
                pass
        while self._running:
            try:
                found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:
                return
            if found is None:
                return
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(found.si_pid, signal.SIGKILL)
            _, status, used = os.wait4(found.si_pid, 0)
            start = self._running.pop(found.si_pid, None)
            if start is not None:
                code = os.waitstatus_to_exitcode(status)
                self._say(ended=start, code=code, cpu_s=round(used.ru_utime + used.ru_stime, 4))

    def _end_all(self) -> None:
        """End every attempt, and wait until each is gone."""
        for number, seconds in ((signal.SIGTERM, ENDING_SECONDS), (signal.SIGKILL, ENDING_SECONDS)):
            until = time.monotonic() + seconds
            for pid in self._running:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(pid, number)
            while self._running and (left := until - time.monotonic()) > 0:
                select.select([self._woken], [], [], left)
                self._reap()

    def _say(self, **reply: object) -> None:
        """Tell the batch. When it is gone, the end of the input says so."""
        line = json.dumps(reply).encode() + b"\n"
        with contextlib.suppress(BrokenPipeError):
            while line:
                line = line[os.write(self._replies, line) :]


@contextlib.contextmanager
def _files(request: dict[str, Any]) -> Iterator[tuple[int, int, int]]:
    """Standard input of an attempt, a file without a name; where it prints; and what it says on stderr."""
    with (
        tempfile.TemporaryFile() as given,
        open(request.get("stdout") or os.devnull, "wb", opener=_private) as out,
        Path(request["stderr"]).open("wb") as said,
    ):
        given.write(request["stdin"].encode("utf-8", "replace"))
        given.flush()
        given.seek(0)
        yield given.fileno(), out.fileno(), said.fileno()


def _private(path: str, flags: int) -> int:
    """Opens a file that is for its owner alone, as the answer of a job is."""
    return os.open(path, flags, 0o600)


def parent_death_signal() -> Callable[[], None]:
    """What a child calls to get SIGTERM when this process dies; nothing where the system does not know it."""
    if sys.platform != "linux":
        return lambda: None
    import ctypes

    prctl, parent = ctypes.CDLL(None).prctl, os.getpid()

    def ask() -> None:
        prctl(PR_SET_PDEATHSIG, int(signal.SIGTERM))
        if os.getppid() != parent:
            os.kill(os.getpid(), signal.SIGTERM)

    return ask


def main(lock: int, how: str, module: str, preloaded: list[str]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests, replies, nothing = os.dup(0), os.dup(1), os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    os.close(nothing)
    if lock >= 0:
        os.set_inheritable(lock, False)
    if how == "fork":
        preload(preloaded)
        gc.collect()
        gc.freeze()  # what is there now is never looked through again, so its pages stay shared
    spawned = None if how == "fork" else [sys.executable, "-P", "-m", module]
    request = Server(requests, replies, lock, spawned).serve()
    if request is not None:
        leave(run(module, request["argv"]))


def preload(names: list[str]) -> None:
    """Import what attempts need, and call what is named as `module:function`."""
    for name in names:
        module, _, function = name.partition(":")
        loaded = importlib.import_module(module)
        if function:
            getattr(loaded, function)()


def run(module: str, argv: list[str]) -> int:
    """Run a module as `python -m MODULE ARGV` does; its exit code. What it raises, the interpreter shows."""
    sys.argv = [module, *argv]
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        sys.stderr.write(f"{end.code}\n")
        return 1
    return 0


def leave(code: int) -> None:
    """End this process as an interpreter ends, but for taking its modules apart, which takes 30 ms."""
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4:])
