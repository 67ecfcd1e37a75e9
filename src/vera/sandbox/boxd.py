"""boxd: the supervisor inside a box. One file, standard library only, Python 3.9 or later.

It is PID 1 of the sandbox (on the host backend a child subreaper) and the host speaks to it over stdin and
stdout in frames: 4 bytes of length (big endian), a JSON header of that length, then `n` raw bytes, `n`
being a field of the header.

    host → boxd   run {id, timeout, grace, head, tail, spool, limit} + command text;  cancel {id};  ping
    boxd → host   ready {pid, python, bash};  done {id, …} + head and tail of the output;  pong;  error
    both ways     net {do, c, k}: the tunnel, see `Tunnel`

One bash runs every command, so its state persists. It reads commands from fd 250, reports on fd 251 and is
woken on fd 249; all three are closed for the evaluated text. The output of a command goes to its own FIFO
and completion is a status record, never an end of file: a background server does not hang its command.

Before each command the shell forks a standby copy of itself that blocks. When the shell dies, or is killed
with the command, the standby becomes the shell: state (not files) is rolled back to before the command.

Usage: boxd.py RUN_DIR WORK_DIR [OWNER] [QUOTA]. RUN_DIR is private to the supervisor (FIFOs); WORK_DIR is
where the shell starts and where output too long for memory is kept (.vera/out/ID.log). With OWNER (uid:gid),
what root has made below WORK_DIR is given to that user: at the start, after each command and at the end.
Without a RUN_DIR ('') that is all that happens. QUOTA (bytes:files, 0: no limit) is what WORK_DIR may hold.
"""

# pathlib would be a third of the import time, and a box starts in 50 ms.
# ruff: noqa: PTH103, PTH106, PTH108, PTH115, PTH118, PTH123, PTH208

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import hashlib
import json
import os
import resource
import select
import selectors
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

COMMANDS, STATUS, WAKE = 250, 251, 249
MAX_HEADER = 64 << 10
MAX_PAYLOAD = 4 << 20
# bash reads a pipe byte by byte (0.7 µs each): longer texts go through a file.
INLINE_COMMAND = 4096
# Background jobs whose output is still followed; above it the oldest gets SIGPIPE.
MAX_LINGERING = 64
# Commands of ours, below the work folder.
COMMAND_FOLDERS = (".vera", "bin")
# The tunnel: connections at once, and bytes of one that are on their way unacknowledged.
MAX_STREAMS = 128
WINDOW = 256 << 10
PIECE = 64 << 10
# Bytes that all spool files of one box may hold together.
SPOOL_TOTAL = 1 << 30
READ_SIZE = 1 << 20
KILL_SECONDS = 5.0
# Giving files back: time for it after a command and at the end, and how deep it goes.
GIVE_SECONDS, GIVE_AT_END_SECONDS = 1.0, 3.0
GIVE_DEPTH = 100
# Counting what the work folder holds: how long at a stretch, how long a new command waits for a count that
# must be complete, how often at most (and never more than a tenth of the time), how often without a command.
COUNT_SECONDS, COUNT_WAIT_SECONDS, COUNT_EVERY, COUNT_IDLE_EVERY = 0.005, 5.0, 0.5, 2.0
COUNT_AT_END_SECONDS = 0.002
# Folders that are nested deeper are counted as more than may be there: each level holds a file open.
COUNT_DEPTH = 200
# In a work folder that holds too much, a command may add so much on its way to freeing some.
SLACK_BYTES, SLACK_FILES = 1 << 20, 100
# After so many commands that made it larger still, no command runs until the person has made room.
MAX_STRIKES = 3
# How long a shell may take, on a loaded machine, to fork its standby before a deadline counts against it.
FORK_SECONDS = 2.0

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 1, 4, 36
F_SETPIPE_SZ, FIONREAD = 1031, 0x541B

# Two nested loops so that a `break` or `continue` of the command comes out at a loop's top and is reported.
# The standby is forked inside `$( )`, which leaves the command's `$!` and job table alone and ends after the
# record is written: the record is always there before the command starts. It is forked under `set -m`, else
# bash would make it ignore SIGINT for good; `$( )` has taken its `set -e`, which it gets back.
LOOP = r"""
while __v_rc=$?; do while __v_rc=$?; do
  if [[ -n $__v_n ]]; then
    builtin printf 'done %s %s\0' "$__v_n" "$__v_rc" >&251 2>/dev/null; __v_n=;
  fi;
  IFS= builtin read -r -d '' -u 250 __v_n || builtin exit 0;
  IFS= builtin read -r -d '' -u 250 __v_o || builtin exit 0;
  IFS= builtin read -r -d '' -u 250 __v_f || builtin exit 0;
  IFS= builtin read -r -d '' -u 250 __v_c || builtin exit 0;
  __v_s=$-;
  : "$( builtin set -m;
        { builtin set +m; IFS= builtin read -r -d '' -u 249 __v_x && {
            builtin printf 'awake %s 0\0' "$__v_n" >&251; __v_n=;
            [[ $__v_s == *e* ]] && builtin set -e; builtin eval "$__v_loop"; };
        } </dev/null >/dev/null 2>&1 &
        builtin printf 'standby %s %s\0' "$__v_n" "$!" >&251 )";
  [[ -n $__v_f ]] && builtin mapfile -d '' -t __v_c <"$__v_f";
  builtin eval "$__v_c" </dev/null >"$__v_o" 2>&1 249<&- 250<&- 251>&-;
done; done
""".replace("\n", " ")  # one line, so that bash counts the lines of a command from 1
# `set +h`: a virtual environment may come to stand before commands that were found already.
PROLOGUE = (
    "set +h; export -n __v_loop; (( BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 404 )) || exit 3; "
    r'builtin printf "hello %s.%s\0" "${BASH_VERSINFO[@]:0:2}" >&251; builtin eval "$__v_loop"'
)


class HostGone(Exception):
    """The host closed its end: the box has no reason to exist."""


class FatalError(Exception):
    """The supervisor cannot go on: the sentence goes to stderr, where the host reads it."""


NONSENSE = (AttributeError, KeyError, OverflowError, RecursionError, TypeError, ValueError)
"""What a frame raises that is not as it has to be."""


class Channel:
    """Frames to and from the host on two file descriptors."""

    def __init__(self, reader: int = 0, writer: int = 1) -> None:
        os.set_blocking(reader, False)
        self.reader = reader
        self.writer = writer
        self._buffer = bytearray()

    def send(self, header: dict[str, Any], payload: bytes = b"") -> None:
        """Blocks until the host has taken the frame. Raises HostGone."""
        text = json.dumps({**header, "n": len(payload)}).encode()
        frame = memoryview(struct.pack(">I", len(text)) + text + payload)
        try:
            while frame:
                frame = frame[os.write(self.writer, frame) :]
        except BrokenPipeError:
            raise HostGone from None

    def receive(self) -> Iterator[tuple[dict[str, Any], bytes]]:
        """The frames completed by one read. Raises HostGone at the end, FatalError on nonsense."""
        try:
            data = os.read(self.reader, READ_SIZE)
        except BlockingIOError:
            return
        if not data:
            raise HostGone
        self._buffer += data
        while len(self._buffer) >= 4:
            body = 4 + int.from_bytes(self._buffer[:4], "big")
            if body > MAX_HEADER:
                raise FatalError(f"the host sent a header of {body} bytes.")
            if len(self._buffer) < body:
                return
            try:
                header = json.loads(bytes(self._buffer[4:body]))
                end = body + int(header.get("n", 0))
            except NONSENSE as error:
                raise FatalError(f"the host sent a header that cannot be read ({error!r}).") from None
            if not 0 <= end - body <= MAX_PAYLOAD:
                raise FatalError(f"the host sent a payload of {end - body} bytes.")
            if len(self._buffer) < end:
                return
            payload = bytes(self._buffer[body:end])
            del self._buffer[:end]
            yield header, payload


def create(work: str, folders: tuple[str, ...], name: str, mode: int) -> tuple[int, str]:
    """A new file below the work folder, open for writing, and its path. Raises OSError.

    It is reached through handles, so that no link that a command has planted leads elsewhere.
    """
    folder = os.open(work, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for part in folders:
            with contextlib.suppress(FileExistsError):
                os.mkdir(part, 0o755, dir_fd=folder)
            below = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
            os.close(folder)
            folder = below
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        return os.open(name, flags, mode, dir_fd=folder), "/".join((work, *folders, name))
    finally:
        os.close(folder)


class Spool:
    """The folder of complete outputs, and how much it may still take."""

    def __init__(self, work: str) -> None:
        self.work = work
        self.left = SPOOL_TOTAL

    def create(self, name: str) -> tuple[int, str]:
        """A new file open for writing, and its path. Raises OSError."""
        return create(self.work, (".vera", "out"), f"{name}.log", 0o644)


class Capture:
    """The output of one command: first and last bytes in memory, all of it hashed and, if long, in a file.

    What background jobs write after the command's end goes to the file only.
    """

    def __init__(self, name: str, fifo: str, spool: Spool, head: int, tail: int, cap: int) -> None:
        """Raises OSError when the FIFO cannot be made."""
        self.name = name
        self.fifo = fifo
        self.size = 0
        self.sha256 = hashlib.sha256()
        self.path = ""
        self._head = bytearray()
        self._tail = bytearray()
        self._head_cap, self._tail_cap, self._cap = head, tail, cap
        self._spool = spool
        self._file = -1
        self._complete = False
        os.mkfifo(fifo, 0o600)
        try:
            self.reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
            # Our own writing end: without it every moment without a writer would read as an end of file.
            self._writer = os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            remove(fifo)
            raise
        with contextlib.suppress(OSError):
            fcntl.fcntl(self.reader, F_SETPIPE_SZ, READ_SIZE)

    def read(self) -> bool:
        """Take what one read gives; False when no writer is left."""
        try:
            data = os.read(self.reader, READ_SIZE)
        except BlockingIOError:
            return True
        if data:
            self._feed(data)
        return bool(data)

    def complete(self) -> tuple[bytes, bytes]:
        """Take what the command wrote before it ended; head and tail of the whole."""
        (waiting,) = struct.unpack("i", fcntl.ioctl(self.reader, FIONREAD, b"\0" * 4))
        end = self.size + waiting
        while self.size < end and self.read():
            pass
        self._complete = True
        os.close(self._writer)
        remove(self.fifo)
        return bytes(self._head), bytes(self._tail[-self._tail_cap :] if self._tail_cap else b"")

    def close(self) -> None:
        os.close(self.reader)
        if self._file >= 0:
            os.close(self._file)

    def _feed(self, data: bytes) -> None:
        if self._complete:
            self._spill(data)
            return
        if self.size + len(data) > self._head_cap + self._tail_cap:
            self._spill(data)
        self.size += len(data)
        self.sha256.update(data)
        room = self._head_cap - len(self._head)
        self._head += data[:room]
        rest = data[room:]
        if rest and self._tail_cap:
            self._tail += rest[-self._tail_cap :]
            if len(self._tail) > 2 * self._tail_cap:
                del self._tail[: -self._tail_cap]

    def _spill(self, data: bytes) -> None:
        """Append to the spool file; the first call writes before it what memory holds so far."""
        if self._cap <= 0:
            return
        try:
            if self._file < 0:
                self._file, self.path = self._spool.create(self.name)
                data = bytes(self._head) + bytes(self._tail) + data
            view = memoryview(data)[: min(self._cap, self._spool.left)]
            while view:
                written = os.write(self._file, view)
                view = view[written:]
                self._cap -= written
                self._spool.left -= written
        except OSError:
            self._cap = 0


class Process(NamedTuple):
    parent: int
    state: bytes
    started: int  # clock ticks since boot


def process(pid: int) -> Process | None:
    """A live process as proc(5) shows it; None when it is gone or a zombie."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            stat = file.read()
    except OSError:
        return None
    fields = stat[stat.rindex(b")") + 2 :].split()
    if fields[0] in (b"Z", b"X"):
        return None
    return Process(int(fields[1]), fields[0], int(fields[19]))


def pids() -> set[int]:
    return {int(name) for name in os.listdir("/proc") if name.isdigit()}


def send_signal(targets: Iterable[int], number: int) -> None:
    for pid in targets:
        with contextlib.suppress(OSError):
            os.kill(pid, number)


def remove(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)


def printable(path: str) -> str:
    """The path as valid UTF-8: a command can choose names that are not."""
    return os.fsencode(path).decode("utf-8", "replace")


class Family:
    """The processes that descend from the supervisor, and how they are ended.

    `pause` waits some seconds, collects dead children and may raise.
    """

    def __init__(self, pause: Callable[[float], None]) -> None:
        self.me = os.getpid()
        self.is_init = self.me == 1
        self._pause = pause

    def table(self) -> dict[int, Process]:
        found = {pid: entry for pid in pids() if (entry := process(pid))}
        for pid, entry in list(found.items()):
            if entry.parent in found or entry.parent == 0 or pid == self.me:
                continue
            # Its parent ended while we read: the kernel has given it a new one by now.
            again = process(pid)
            if again is None:
                del found[pid]
            else:
                found[pid] = again._replace(parent=self.me) if self.is_init else again
        return found

    def members(self, spared: Callable[[int, Process], bool] = lambda pid, entry: False) -> list[int]:
        """All descendants, without those that are `spared` and whatever descends from these."""
        table = self.table()
        children: dict[int, list[int]] = {}
        for pid, entry in table.items():
            children.setdefault(entry.parent, []).append(pid)
        found: list[int] = []
        queue = [self.me]
        while queue:
            for child in children.get(queue.pop(), ()):
                if child != self.me and not spared(child, table[child]):
                    queue.append(child)
                    found.append(child)
        return found

    def end(self, victims: Callable[[], list[int]], grace: float, held: int = 0) -> None:
        """Terminate, wait up to `grace` seconds, then freeze and kill until `victims` finds no one.

        `held` is a process that is stopped and stays so.
        """
        current = victims()
        send_signal(current, signal.SIGTERM)
        send_signal(current, signal.SIGCONT)
        deadline = time.monotonic() + grace
        while current and time.monotonic() < deadline:
            self._pause(0.01)
            current = victims()
        if not current:
            return
        if self.is_init:
            self._kill_frozen(victims, held)
        else:
            self._kill_by_passes(victims)

    def _kill_frozen(self, victims: Callable[[], list[int]], held: int) -> None:
        """One kill(-1, SIGSTOP) from PID 1 stops the whole namespace at once: with a signal pending
        fork(2) starts over, so no fork bomb outruns it."""
        stopped = {pid for pid, entry in self.table().items() if entry.state == b"T"} | {held, self.me}
        send_signal([-1], signal.SIGSTOP)
        self._kill_until_gone(victims)
        send_signal(set(self.table()) - stopped, signal.SIGCONT)

    def _kill_by_passes(self, victims: Callable[[], list[int]]) -> None:
        """Without a namespace of our own: stop whom we find until two passes find no one new, then kill."""
        seen: set[int] = set()
        quiet = 0
        deadline = time.monotonic() + KILL_SECONDS
        while quiet < 2 and time.monotonic() < deadline:
            new = set(victims()) - seen
            send_signal(new, signal.SIGSTOP)
            seen |= new
            quiet = 0 if new else quiet + 1
        self._kill_until_gone(victims)

    def _kill_until_gone(self, victims: Callable[[], list[int]]) -> None:
        deadline = time.monotonic() + KILL_SECONDS
        while (current := victims()) and time.monotonic() < deadline:
            send_signal(current, signal.SIGKILL)
            self._pause(0.002)


class Shell:
    """The bash that runs the commands, its three pipes, and the standby of the command in progress."""

    def __init__(self, work: str) -> None:
        """Raises OSError when no process is available."""
        self.alive = self.awake = True
        self.standby: int | None = None
        self._buffer = bytearray()
        command_reader, self._commands = os.pipe()
        self.status, status_writer = os.pipe()
        wake_reader, self._wake = os.pipe()
        os.set_blocking(self.status, False)
        # Until it is bash, the child has our handler, which would make a second supervisor of it.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
        try:
            self.pid = os.fork()
            if self.pid == 0:
                try:
                    self._become_bash((command_reader, status_writer, wake_reader), work)
                finally:
                    os._exit(127)
        except OSError:
            self.close()
            raise
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            for end in (command_reader, status_writer, wake_reader):
                os.close(end)

    @staticmethod
    def _become_bash(ends: tuple[int, int, int], work: str) -> None:
        for name in ("SIGINT", "SIGHUP", "SIGTERM", "SIGCHLD", "SIGPIPE", "SIGXFSZ"):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
        os.setsid()
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        # Of supervisor and shell the kernel shall choose the shell when memory runs out.
        with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
            file.write("500")
        for end, number in zip([os.dup(end) for end in ends], (COMMANDS, STATUS, WAKE)):  # noqa: B905 - 3.9
            os.dup2(end, number)
        null = os.open("/dev/null", os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(null, number)
        os.closerange(3, WAKE)
        os.chdir(work)
        # bash itself is found on the path without the folder that commands can write to.
        bash = next(p for d in os.get_exec_path() if os.access(p := os.path.join(d, "bash"), os.X_OK))
        path = ":".join(
            (f"{work}/.venv/bin", os.environ.get("PATH", os.defpath), "/".join((work, *COMMAND_FOLDERS)))
        )
        env = {**os.environ, "PATH": path, "__v_loop": LOOP}
        os.execve(bash, ["bash", "--noprofile", "--norc", "-c", PROLOGUE], env)

    def submit(self, *fields: bytes) -> None:
        with contextlib.suppress(BrokenPipeError):
            os.write(self._commands, b"".join(field + b"\0" for field in fields))

    def records(self) -> Iterator[list[str]]:
        """The complete status records that have arrived."""
        with contextlib.suppress(BlockingIOError):
            while len(self._buffer) < MAX_HEADER and (data := os.read(self.status, 4096)):
                self._buffer += data
        *records, rest = bytes(self._buffer).split(b"\0")
        self._buffer[:] = rest if len(rest) < MAX_HEADER else b""
        for record in records:
            yield record.decode("ascii", "replace").split(" ")

    def kill(self, number: int) -> None:
        """To a live shell only: a dead one's number may be another's by now."""
        if self.alive:
            send_signal([self.pid], number)

    def cwd(self) -> str:
        with contextlib.suppress(OSError):
            return printable(os.readlink(f"/proc/{self.pid}/cwd"))
        return ""

    def promote_standby(self) -> bool:
        """Make the standby the shell; False when there is none. Whether it lives, its answer shows."""
        if self.standby is None:
            return False
        self.pid, self.standby = self.standby, None
        self.alive, self.awake = True, False
        with contextlib.suppress(BrokenPipeError):
            os.write(self._wake, b"go\0")
        return True

    def close(self) -> None:
        for end in (self._commands, self.status, self._wake):
            os.close(end)


class Running:
    """The command in progress."""

    def __init__(self, header: dict[str, Any], capture: Capture) -> None:
        self.id = header["id"]
        self.nonce = os.urandom(8).hex()
        self.grace = float(header["grace"])
        self.limit = int(header["limit"])
        self.capture = capture
        self.file = ""
        self.standby_seen = False
        self.ending = False
        self.started = time.monotonic()
        self.deadline = self.started + float(header["timeout"])
        self.tick = int(time.clock_gettime(time.CLOCK_BOOTTIME) * os.sysconf("SC_CLK_TCK"))
        self.before = pids()

    def is_older(self, pid: int, entry: Process) -> bool:
        """Whether the process was alive before the command (a reused number was started later)."""
        return pid in self.before and entry.started <= self.tick


class Owner:
    """Whom the files below the work folder belong to, whoever made them: user and group outside the box."""

    def __init__(self, work: str, uid: int, gid: int) -> None:
        self.work, self.uid, self.gid = work, uid, gid

    def give(self, seconds: float) -> None:
        """Hand over what belongs to others, as far as the time goes; through no link, into no mount."""
        with contextlib.suppress(OSError):
            folder = os.open(self.work, os.O_RDONLY | os.O_DIRECTORY)
            try:
                if os.fstat(folder).st_uid != self.uid:
                    os.fchown(folder, self.uid, self.gid)
                self._walk(folder, os.fstat(folder).st_dev, 0, time.monotonic() + seconds)
            finally:
                os.close(folder)

    def _walk(self, folder: int, device: int, depth: int, deadline: float) -> None:
        below = []
        with os.scandir(folder) as entries:
            for entry in entries:
                if time.monotonic() > deadline:
                    return
                with contextlib.suppress(OSError):
                    status = entry.stat(follow_symlinks=False)
                    if status.st_dev != device:
                        continue
                    if status.st_uid != self.uid:
                        os.chown(entry.name, self.uid, self.gid, dir_fd=folder, follow_symlinks=False)
                    if entry.is_dir(follow_symlinks=False) and depth < GIVE_DEPTH:
                        below.append(entry.name)
        for name in below:
            if time.monotonic() > deadline:
                return
            with contextlib.suppress(OSError):
                inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
                try:
                    if os.fstat(inner).st_dev == device:
                        self._walk(inner, device, depth + 1, deadline)
                finally:
                    os.close(inner)


class Held(NamedTuple):
    """What a folder holds, or may hold: bytes on the disk, and files, folders and links."""

    size: int
    files: int

    def exceeds(self, limit: Held) -> bool:
        return 0 < limit.size < self.size or 0 < limit.files < self.files


def open_folder(name: str, parent: int) -> int:
    """A folder of that name, also one that its owner may not read. Raises OSError."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
    try:
        return os.open(name, flags, dir_fd=parent)
    except PermissionError:
        mode = os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode & 0o7777
        os.chmod(name, mode | 0o500, dir_fd=parent)
        try:
            return os.open(name, flags, dir_fd=parent)
        finally:
            os.chmod(name, mode, dir_fd=parent)


def held_by(work: str, limit: Held | None, processes: Callable[[], list[int]]) -> Iterator[Held]:
    """Count in small steps what a folder holds, and what its deleted files do that `processes` hold open.

    The last value is the result. Above `limit` the count stops there. Raises OSError for the folder itself.
    """
    size = files = 0
    linked: set[int] = set()
    folders = [os.open(work, os.O_RDONLY | os.O_DIRECTORY)]
    below: list[list[str]] = [[]]
    try:
        device = os.fstat(folders[0]).st_dev
        arrived = True
        while folders:
            if arrived:
                with contextlib.suppress(OSError), os.scandir(folders[-1]) as entries:
                    for entry in entries:
                        with contextlib.suppress(OSError):
                            status = entry.stat(follow_symlinks=False)
                            if status.st_dev != device:
                                continue
                            files += 1
                            if entry.is_dir(follow_symlinks=False):
                                below[-1].append(entry.name)
                            elif status.st_nlink > 1:
                                if status.st_ino in linked:
                                    continue
                                linked.add(status.st_ino)
                            size += status.st_blocks * 512
                        if files % 256 == 0:
                            yield Held(size, files)
                            if limit and Held(size, files).exceeds(limit):
                                return
                yield Held(size, files)
            arrived = False
            if not below[-1]:
                os.close(folders.pop())
                below.pop()
            elif len(folders) == COUNT_DEPTH:
                files += limit.files if limit else len(below[-1])
                below[-1].clear()
            else:
                with contextlib.suppress(OSError):
                    folders.append(open_folder(below[-1].pop(), folders[-1]))
                    below.append([])
                    arrived = True
        deleted: set[int] = set()
        for pid in processes():
            with contextlib.suppress(OSError), os.scandir(f"/proc/{pid}/fd") as entries:
                for entry in entries:
                    with contextlib.suppress(OSError):
                        status = entry.stat()
                        if status.st_nlink == 0 and status.st_dev == device and status.st_ino not in deleted:
                            deleted.add(status.st_ino)
                            size += status.st_blocks * 512
            yield Held(size, files)
        yield Held(size, files)
    finally:
        for folder in folders:
            os.close(folder)


class Room:
    """What the work folder holds and may hold, counted in pieces between everything else.

    Above the limit a command is stopped once it has made the folder larger: whoever frees some is left alone.
    """

    def __init__(self, work: str, limit: Held, processes: Callable[[], list[int]]) -> None:
        self.work, self.limit, self.processes = work, limit, processes
        self.ceiling = limit
        self.held = Held(0, 0)
        self.strikes = 0
        self.due: float | None = 0.0 if any(limit) else None  # None: nothing to count before the next command
        self._unblamed = True  # what the next count finds was there before, or was punished before
        self._counting: Iterator[Held] | None = None
        self._last = Held(0, 0)
        self._spent = 0.0
        self._rested = 0.0  # when a count would take no more than a tenth of the time

    @property
    def is_over(self) -> bool:
        return self.held.exceeds(self.limit)

    def wait(self) -> float | None:
        """Seconds until there is something to count; None for never."""
        if self._counting:
            return 0.0
        return None if self.due is None else max(0.0, self.due - time.monotonic())

    def begin(self) -> None:
        """Count soon, and do so again while there is reason to."""
        if any(self.limit):
            self.due = self._rested

    def step(self, seconds: float) -> bool:
        """Count for a moment; True when a count has ended and the folder has grown beyond what it may."""
        if self._counting is None:
            if self.wait() != 0.0:
                return False
            # Where the folder is above its limit already, it has to be known by how much.
            early = self.ceiling if self.ceiling == self.limit and not self._unblamed else None
            self._counting, self._spent, self._last = (
                held_by(self.work, early, self.processes),
                0.0,
                Held(0, 0),
            )
        began = time.monotonic()
        try:
            for held in self._counting:
                self._last = held
                if time.monotonic() - began > seconds:
                    self._spent += time.monotonic() - began
                    return False
        except OSError:
            pass  # the folder is gone: its commands will say so
        self._counting = None
        self._spent += time.monotonic() - began
        self._rested = time.monotonic() + 10 * self._spent
        self.due = max(self._rested, time.monotonic() + COUNT_EVERY)
        return self._judge(self._last)

    def _judge(self, held: Held) -> bool:
        self.held = held
        unblamed, self._unblamed = self._unblamed, False
        has_slack = Held(held.size + SLACK_BYTES, held.files + SLACK_FILES)
        if not self.is_over:
            self.ceiling, self.strikes = self.limit, 0
        elif unblamed:
            self.ceiling = has_slack
        elif held.exceeds(self.ceiling):
            self.strikes += 1
            self._unblamed, self.due = True, 0.0
            return True
        elif self.ceiling != self.limit:
            self.ceiling = Held(
                min(self.ceiling.size, has_slack.size), min(self.ceiling.files, has_slack.files)
            )
        return False

    def settle(self) -> None:
        """Before a command: where the folder is or may be above its limit, know what it holds."""
        deadline = time.monotonic() + COUNT_WAIT_SECONDS
        if self._unblamed or self.is_over:
            self.due = 0.0
            while self.wait() == 0.0 and time.monotonic() < deadline:
                self.step(COUNT_SECONDS)


class Stream:
    """One connection of a program in the box to the tunnel."""

    def __init__(self, number: int, end: socket.socket) -> None:
        end.setblocking(False)
        self.number = number
        self.end = end
        self.out = bytearray()
        self.delivered = 0  # bytes to the program that are not acknowledged to the host yet
        self.in_flight = 0  # bytes to the host that it has not acknowledged yet
        self.reading = True
        self.closing = False

    def interest(self) -> int:
        wanted = selectors.EVENT_WRITE if self.out else 0
        if self.reading and self.in_flight < WINDOW:
            wanted |= selectors.EVENT_READ
        return wanted


class Tunnel:
    """The way out: connections to a port of the box's own loopback become `net` frames {do, c, k}.

    host → boxd   listen {k: port} + the program of the command `fetch`, if any;  data {c} + bytes;
                  close {c}, after what was sent;  ack {c, k: bytes}
    boxd → host   listening {k: port};  open {c};  data {c} + bytes;  end {c}: the program sends no more;
                  close {c}: it is gone;  ack {c, k}: bytes it has taken
    """

    def __init__(self, channel: Channel, selector: selectors.BaseSelector, work: str) -> None:
        self.channel, self.selector, self.work = channel, selector, work
        self.listener: socket.socket | None = None
        self.streams: dict[int, Stream] = {}
        self.opened = 0

    def on_frame(self, header: dict[str, Any], payload: bytes) -> None:
        do = header.get("do")
        if do == "listen":
            self.install(payload)
            self.listen(int(header["k"]))
            return
        stream = self.streams.get(header.get("c", 0))
        if stream is None:
            return  # it ended while the frame was under way
        if do == "data":
            stream.out += payload
        elif do == "ack":
            stream.in_flight -= int(header["k"])
        elif do == "close":
            stream.closing = True
        self.serve(stream)

    def install(self, program: bytes) -> None:
        """Put the command `fetch` where the shell's PATH ends. Without it a box can do all but fetch."""
        with contextlib.suppress(OSError):
            if program:
                file, _ = create(self.work, COMMAND_FOLDERS, "fetch", 0o755)
                with open(file, "wb") as script:
                    script.write(program)

    def listen(self, port: int) -> None:
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.setblocking(False)
        try:
            listener.bind(("127.0.0.1", port))
            listener.listen(MAX_STREAMS)
        except OSError as error:
            listener.close()
            self.tell("failed", 0, error=str(error))
            return
        self.listener = listener
        self.set_interest(listener, selectors.EVENT_READ, self.accept)
        self.tell("listening", 0, k=listener.getsockname()[1])

    def accept(self) -> None:
        assert self.listener is not None
        try:
            end, _ = self.listener.accept()
        except OSError:
            return  # the program has left again, or no descriptor is available
        self.opened += 1
        stream = self.streams[self.opened] = Stream(self.opened, end)
        if len(self.streams) >= MAX_STREAMS:
            self.set_interest(self.listener, 0, self.accept)
        self.tell("open", stream.number)
        self.serve(stream)

    def serve(self, stream: Stream) -> None:
        """Move what can be moved without waiting, and wait for what may come next."""
        try:
            self.deliver(stream)
            self.collect(stream)
        except BlockingIOError:
            pass
        except OSError:
            self.tell("close", stream.number)
            self.drop(stream)
            return
        if stream.closing and not stream.out:
            self.drop(stream)
        else:
            self.set_interest(stream.end, stream.interest(), lambda: self.serve(stream))

    def deliver(self, stream: Stream) -> None:
        while stream.out:
            try:
                size = stream.end.send(stream.out[:PIECE])
            except BlockingIOError:
                break
            del stream.out[:size]
            stream.delivered += size
        if stream.delivered and not stream.closing:
            self.tell("ack", stream.number, k=stream.delivered)
            stream.delivered = 0

    def collect(self, stream: Stream) -> None:
        if not stream.reading or stream.closing or stream.in_flight >= WINDOW:
            return
        data = stream.end.recv(min(PIECE, WINDOW - stream.in_flight))
        if data:
            stream.in_flight += len(data)
            self.tell("data", stream.number, data)
        else:
            stream.reading = False
            self.tell("end", stream.number)

    def drop(self, stream: Stream) -> None:
        self.set_interest(stream.end, 0, lambda: None)
        stream.end.close()
        del self.streams[stream.number]
        if self.listener is not None:
            self.set_interest(self.listener, selectors.EVENT_READ, self.accept)

    def set_interest(self, end: socket.socket, wanted: int, callback: Callable[[], None]) -> None:
        known = self.selector.get_map().get(end)
        if known is None and wanted:
            self.selector.register(end, wanted, callback)
        elif known is not None and not wanted:
            self.selector.unregister(end)
        elif known is not None and known.events != wanted:
            self.selector.modify(end, wanted, callback)

    def tell(self, do: str, number: int, payload: bytes = b"", **fields: Any) -> None:
        self.channel.send({"ev": "net", "do": do, "c": number, **fields}, payload)


class Supervisor:
    """One shell, one command at a time, one loop over everything that can happen."""

    def __init__(self, run: str, work: str, owner: Owner | None, quota: Held) -> None:
        self.run_dir, self.work, self.owner = run, work, owner
        self.channel = Channel()
        self.family = Family(self.pause)
        self.room = Room(work, quota, self.family.members)
        self.spool = Spool(work)
        self.selector = selectors.DefaultSelector()
        self.host_end = select.poll()
        self.host_end.register(self.channel.reader, 0)
        self.tunnel = Tunnel(self.channel, self.selector, work)
        self.running: Running | None = None
        self.lingering: list[Capture] = []
        self.announced = False
        self.has_shell = False
        self.state_lost = False
        # Another kind of frame is one more line here.
        self.routes: dict[str, Callable[[dict[str, Any], bytes], None]] = {
            "run": self.on_run,
            "cancel": self.on_cancel,
            "ping": self.on_ping,
            "net": self.tunnel.on_frame,
        }
        os.makedirs(run, mode=0o700, exist_ok=True)
        raise_open_file_limit()
        prctl(PR_SET_DUMPABLE, 0)  # processes of the same user can neither trace us nor read our memory
        prctl(PR_SET_CHILD_SUBREAPER, 1)
        child_reader, child_writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(child_writer, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in (signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, self.on_terminate)
        self.watch(child_reader, lambda: self.on_child(child_reader))
        self.watch(self.channel.reader, self.on_host)

    def watch(self, fd: int, callback: Callable[[], None]) -> None:
        self.selector.register(fd, selectors.EVENT_READ, callback)

    def loop(self) -> None:
        """Serve until the host is gone. Raises HostGone or FatalError."""
        if self.owner:
            self.owner.give(GIVE_AT_END_SECONDS)
        self.shell = self.new_shell()
        self.has_shell = True
        while True:
            waits = [self.room.wait()]
            if self.running:
                waits.append(max(0.0, self.running.deadline - time.monotonic()))
            for key, _ in self.selector.select(
                min((wait for wait in waits if wait is not None), default=None)
            ):
                # An earlier callback of this round may have closed it.
                if self.selector.get_map().get(key.fd) is key:
                    key.data()
            if self.running and time.monotonic() >= self.running.deadline:
                self.end_command("timeout")
            self.count()

    def count(self) -> None:
        """Count on what the work folder holds, and stop what makes it hold too much."""
        if self.room.wait() != 0.0:
            return
        if self.room.step(COUNT_SECONDS):
            if self.running:
                self.end_command("work_limit", grace=0.0)
            elif self.room.strikes > 1:  # without a command it has grown since the last count
                self.family.end(self.background, 0.0)
        elif self.room.due and not self.running:
            self.room.due = time.monotonic() + COUNT_IDLE_EVERY if self.background() else None

    def background(self) -> list[int]:
        """What commands have left running."""
        return [pid for pid in self.family.members() if pid != self.shell.pid]

    # Frames of the host

    def on_host(self) -> None:
        for header, payload in self.channel.receive():
            operation = header.get("op", "")
            route = self.routes.get(operation) if isinstance(operation, str) else None
            if route:
                try:
                    route(header, payload)
                except NONSENSE as error:
                    raise FatalError(
                        f"the host sent {str(operation)[:20]} and it failed ({error!r})."
                    ) from error
            else:
                self.channel.send({"ev": "error", "error": f"unknown operation {str(operation)[:20]!r}"})

    def on_ping(self, header: dict[str, Any], payload: bytes) -> None:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        self.channel.send({"ev": "pong", "processes": len(self.family.table()), "peak_rss_kb": peak})

    def on_cancel(self, header: dict[str, Any], payload: bytes) -> None:
        if self.running and self.running.id == header.get("id"):
            self.end_command("cancelled")

    def on_run(self, header: dict[str, Any], payload: bytes) -> None:
        if self.running:
            self.refuse(header, "another command is running")
            return
        self.room.settle()
        if self.room.is_over and self.room.strikes >= MAX_STRIKES:
            size, files = self.room.held
            why = f"{self.work} holds {size} bytes in {files} files, more than it may"
            more = f"{MAX_STRIKES} commands made it larger still; none runs until files are deleted there"
            self.refuse(header, f"{why}, and {more} from outside the sandbox")
            return
        self.room.begin()
        fifo = os.path.join(self.run_dir, os.urandom(8).hex())
        text = payload.replace(b"\0", b"")
        file = ""
        try:
            if len(text) > INLINE_COMMAND:
                file = fifo + ".sh"
                with open(file, "wb") as script:
                    script.write(text)
                text = b""
            capture = Capture(header["id"], fifo, self.spool, header["head"], header["tail"], header["spool"])
        except OSError as error:
            remove(file)
            self.refuse(header, f"the supervisor's own folder cannot be written: {error}")
            return
        self.running = Running(header, capture)
        self.running.file = file
        self.watch(capture.reader, lambda: self.on_output(capture))
        self.shell.submit(self.running.nonce.encode(), fifo.encode(), file.encode(), text)

    def refuse(self, header: dict[str, Any], why: str) -> None:
        self.channel.send({"ev": "error", "id": header["id"], "error": why})

    # Output

    def on_output(self, capture: Capture) -> None:
        if not capture.read():
            self.drop(capture)
        elif self.running and capture is self.running.capture and capture.size > self.running.limit:
            self.end_command("output_limit")

    def drop(self, capture: Capture) -> None:
        self.selector.unregister(capture.reader)
        capture.close()
        self.lingering.remove(capture)

    # The shell

    def new_shell(self) -> Shell:
        deadline = time.monotonic() + KILL_SECONDS
        while time.monotonic() < deadline:
            try:
                shell = Shell(self.work)
            except OSError:
                # The process table is full: what fills it has to go first, and the kernel takes a dead
                # process off its count a little later.
                self.family.end(self.family.members, 0.0)
                self.pause(0.05)
                continue
            self.watch(shell.status, self.on_status)
            return shell
        raise FatalError("the shell cannot be started: the sandbox has no free process.")

    def on_status(self) -> None:
        """Take the shell's records. A hostile command can write there too: nothing is taken on trust."""
        for record in self.shell.records():
            if record[0] == "hello" and not self.announced:
                self.announced = True
                python = "{}.{}.{}".format(*sys.version_info[:3])
                self.channel.send({"ev": "ready", "pid": os.getpid(), "python": python, "bash": record[-1]})
            elif (running := self.running) and len(record) == 3 and record[1] == running.nonce:
                kind, _, number = record
                if number.isdigit() and len(number) < 10:
                    self.on_record(running, kind, int(number))

    def on_record(self, running: Running, kind: str, number: int) -> None:
        if kind == "standby" and not running.standby_seen and number > 1:
            running.standby_seen = True
            self.shell.standby = number
        elif kind == "awake":
            self.shell.awake = True
        elif kind == "done" and not running.ending:
            if self.shell.standby is not None:
                send_signal([self.shell.standby], signal.SIGKILL)
                self.shell.standby = None
            self.finish(number, "exited", "fresh" if self.state_lost else "kept")

    def on_child(self, reader: int) -> None:
        with contextlib.suppress(BlockingIOError):
            os.read(reader, 4096)
        status = self.reap()
        if status is not None:
            self.on_shell_death(os.waitstatus_to_exitcode(status))

    def reap(self) -> int | None:
        """Collect every dead child; the shell's wait status when it was among them."""
        self.on_status()  # so that the standby of the command in progress is known when it is collected
        shell_status = None
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    break
                if pid == self.shell.pid and self.shell.alive:
                    self.shell.alive = False
                    shell_status = status
                elif pid == self.shell.standby:
                    self.shell.standby = None
        return shell_status

    def on_shell_death(self, code: int) -> None:
        if not self.announced:
            raise FatalError(
                "bash did not start: it takes version 4.4 or later on PATH, and the work folder."
            )
        shell = self.replace_shell()
        if self.running and code >= 0:
            self.finish(code, "exited", shell)
        elif self.running:
            self.finish(128 - code, "died", shell)

    def replace_shell(self) -> str:
        """Give the dead shell a successor: its standby (`restored`) or a new one (`fresh`)."""
        if self.shell.promote_standby():
            # It may be dying of the same signal: only its answer counts.
            self.wait_for_shell(lambda: self.shell.awake)
            if self.shell.awake and self.shell.alive:
                return "restored"
            self.shell.kill(signal.SIGKILL)
        dead, self.shell = self.shell, self.new_shell()
        self.selector.unregister(dead.status)
        dead.close()
        self.state_lost = True
        return "fresh"

    # Endings

    def end_command(self, reason: str, grace: float | None = None) -> None:
        """Kill the command with everything it started; the shell is rolled back."""
        running = self.running
        assert running is not None
        self.wait_for_shell(lambda: running.standby_seen)
        self.shell.kill(signal.SIGSTOP)  # nothing more of the command list runs
        self.on_status()
        if self.running is not running:  # it had ended by itself
            self.shell.kill(signal.SIGCONT)
            if not self.shell.alive:
                self.replace_shell()
            return
        running.ending = True
        grace = running.grace if grace is None else grace
        self.family.end(lambda: self.victims(running), grace, held=self.shell.pid)
        self.kill_shell()
        if not running.standby_seen:
            # The shell could not even fork: what an earlier command left behind blocks the box.
            self.family.end(self.family.members, 0.0)
        self.finish(None, reason, self.replace_shell())

    def wait_for_shell(self, answered: Callable[[], bool]) -> None:
        deadline = time.monotonic() + FORK_SECONDS
        while not answered() and self.shell.alive and time.monotonic() < deadline:
            select.select([self.shell.status], [], [], 0.01)
            self.reap()

    def victims(self, running: Running) -> list[int]:
        """Who was not alive when the command started and does not descend from such a process."""
        shell, standby = self.shell.pid, self.shell.standby
        found = self.family.members(
            lambda pid, entry: pid == standby or (pid != shell and running.is_older(pid, entry))
        )
        return [pid for pid in found if pid != shell]

    def kill_shell(self) -> None:
        deadline = time.monotonic() + KILL_SECONDS
        while self.shell.alive:
            if time.monotonic() > deadline:
                raise FatalError("the shell cannot be killed.")
            self.shell.kill(signal.SIGKILL)
            self.pause(0.001)

    def finish(self, code: int | None, reason: str, shell: str) -> None:
        running = self.running
        assert running is not None
        self.running = None
        self.state_lost = False
        capture = running.capture
        head, tail = capture.complete()
        remove(running.file)
        if self.owner:
            self.owner.give(GIVE_SECONDS)
        self.lingering.append(capture)
        if len(self.lingering) > MAX_LINGERING:
            self.drop(self.lingering[0])
        self.room.begin()
        self.room.step(COUNT_AT_END_SECONDS)
        held = self.room.held if self.room.is_over else Held(0, 0)
        self.channel.send(
            {
                "ev": "done",
                "id": running.id,
                "code": code,
                "reason": reason,
                "shell": shell,
                "cwd": printable(self.work) if shell == "fresh" else self.shell.cwd(),
                "seconds": round(time.monotonic() - running.started, 6),
                "size": capture.size,
                "sha256": capture.sha256.hexdigest(),
                "spool": printable(capture.path),
                "head": len(head),
                "held_bytes": held.size,
                "held_files": held.files,
            },
            head + tail,
        )

    def pause(self, seconds: float) -> None:
        """Wait during a kill: children are collected, and the host's death is noticed (HostGone)."""
        for _, event in self.host_end.poll(max(1, int(seconds * 1000))):
            if event & (select.POLLHUP | select.POLLERR):
                raise HostGone
        if self.has_shell:
            self.reap()

    def on_terminate(self, *_: object) -> None:
        raise HostGone

    def leave(self) -> None:
        """End everything. As PID 1 our exit does it: the kernel kills the namespace."""
        if self.family.is_init and not self.owner:
            return
        self.host_end.unregister(self.channel.reader)
        self.family.end(self.family.members, 0.2)
        if self.owner:
            self.owner.give(GIVE_AT_END_SECONDS)
        if self.family.is_init:
            return
        for name in os.listdir(self.run_dir):
            remove(os.path.join(self.run_dir, name))
        os.rmdir(self.run_dir)


def prctl(option: int, value: int) -> None:
    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def raise_open_file_limit() -> None:
    """The shell's own fds have numbers up to 251, and each background job holds one of ours."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < 1024:
        wanted = 1024 if hard == resource.RLIM_INFINITY else min(1024, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def main(run: str, work: str, owner: str = "", quota: str = "0:0") -> int:
    uid, _, gid = owner.partition(":")
    size, _, files = quota.partition(":")
    person = Owner(work, int(uid), int(gid)) if owner else None
    if person and not run:
        person.give(GIVE_AT_END_SECONDS)
        return 0
    supervisor = Supervisor(run, work, person, Held(int(size), int(files)))
    code = 0
    try:
        supervisor.loop()
    except HostGone:
        pass
    except FatalError as error:
        sys.stderr.write(f"boxd: {error}\n")
        code = 1
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    supervisor.leave()
    return code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
