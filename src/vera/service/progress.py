"""What goes on in a job, as a stream of server-sent events that can be taken up again.

The id of an event is the byte of the session's log behind its record, as on the dashboard: whoever sends it
back as `Last-Event-ID` gets what came after. Nothing is kept for a stream, so a restart loses none of it.
"""

import asyncio
import contextlib
import os
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path

import msgspec

from vera.dashboard.regular import open_regular
from vera.dashboard.server_sent_events import HEARTBEAT, RETRY
from vera.report.printable import one_printable_line
from vera.service.jobs import Jobs
from vera.service.problems import Refused
from vera.service.records import OPEN_STATES, Job, JobView, Records, State
from vera.session.session import TRACE

LOOK_SECONDS = 0.5
HEARTBEAT_SECONDS = 15.0
MAX_SECONDS = 3600.0
"""Of one stream; whoever wants more asks again from where it ended."""

CHUNK = 1 << 20
MAX_LINE = 64 << 20
MAX_SAID = 200


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """A record of the session's log: its number, Unix time, lane and type, and of some types a few words."""

    seq: int
    ts: float
    lane: str
    type: str
    said: str = ""


class _Head(msgspec.Struct):
    type: str
    seq: int = 0
    ts: float = 0.0
    lane: str = ""
    tool: str = ""
    summary: object = ""
    reason: object = ""


def begin_of(text: str | None) -> int:
    """The byte that a stream begins at. Raises Refused (400)."""
    if not text:
        return 0
    if not (text.isascii() and text.isdigit() and len(text) <= 16):
        raise Refused(400, "no_event_id", "Last-Event-ID is the id of an event of this stream, a number.")
    return int(text)


async def stream(
    jobs: Jobs, records: Records, job: Job, begin: int, closing: asyncio.Event
) -> AsyncGenerator[bytes, None]:
    """The messages from `begin` on: `status`, one `progress` for each record, and `done` at the end."""
    yield RETRY
    log, offset, status = 0, begin, ""
    loop = asyncio.get_running_loop()
    ends, quiet_since = loop.time() + MAX_SECONDS, loop.time()
    while loop.time() < ends and not closing.is_set():
        state, found, data, more, view = await asyncio.to_thread(_look, jobs, records, job, offset)
        if log and found not in (0, log):  # another worker began the job again
            log, offset = found, 0
            continue
        log = found or log
        if state != status:
            status = state
            yield b"event: status\ndata: %s\n\n" % msgspec.json.encode({"status": state})
        if data:
            quiet_since = loop.time()
            yield b"".join(_messages(data, offset))  # one piece: each that is sent costs as much
            offset += len(data)
        if more or (data and state in OPEN_STATES):
            continue
        if view is not None:
            yield b"event: done\ndata: %s\n\n" % msgspec.json.encode(view)
            return
        if loop.time() - quiet_since > HEARTBEAT_SECONDS:
            quiet_since = loop.time()
            yield HEARTBEAT
        active = jobs.active(job)
        if active is not None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LOOK_SECONDS):
                    await active.over.wait()
        else:  # its end could not be written
            await asyncio.sleep(LOOK_SECONDS)


def _look(
    jobs: Jobs, records: Records, job: Job, offset: int
) -> tuple[State, int, bytes, bool, JobView | None]:
    """The state of a job, what `_read` reads of its log, and the job as its owner sees it when it is over."""
    state = jobs.state(records, job)  # first: the log of what has ended is whole, and lies where it stays
    read = _read(jobs.session(records, job) / TRACE, offset)
    view = None if state in OPEN_STATES else records.view(job, state, jobs.terms, whole=False)
    return state, *read, view


def _read(log: Path, offset: int) -> tuple[int, bytes, bool]:
    """The number of the log's inode (0 for no log), whole lines of it from a byte on, at most CHUNK bytes (a
    longer one is given whole), and whether there may be more."""
    opened = open_regular(log)
    if opened is None:
        return 0, b"", False
    with opened as file:
        inode = os.fstat(file.fileno()).st_ino
        file.seek(offset)
        data = file.read(CHUNK)
        more = len(data) == CHUNK
        if data and b"\n" not in data:
            data += file.readline(MAX_LINE)
    whole = data[: data.rfind(b"\n") + 1]
    return inode, whole, more and bool(whole)


def _messages(lines: bytes, start: int) -> Iterator[bytes]:
    for end, progress in _records(lines, start):
        yield b"id: %d\nevent: progress\ndata: %s\n\n" % (end, msgspec.json.encode(progress))


def _records(lines: bytes, start: int) -> Iterator[tuple[int, Progress]]:
    """Each record of whole lines, and the byte behind it; what is no record is passed over."""
    offset = start
    for line in lines.split(b"\n")[:-1]:
        offset += len(line) + 1
        try:
            head = msgspec.json.decode(line, type=_Head)
        except (ValueError, RecursionError):
            continue
        said = f"{head.tool} {head.summary if isinstance(head.summary, str) else ''}".strip()
        line_said = one_printable_line(said)[:MAX_SAID]
        yield offset, Progress(seq=head.seq, ts=head.ts, lane=head.lane, type=head.type, said=line_said)
