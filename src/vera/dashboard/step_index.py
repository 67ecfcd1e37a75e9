"""Where the steps of a session's log lie: each lane's steps with the places of their records, and what their
prompts were assembled from. It reads the log once, and then only what was added.
"""

import threading
from collections import OrderedDict, deque
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

import msgspec

from vera import events
from vera.history import History
from vera.session import LogBroken, Reader
from vera.state import LaneState, Notes, fold_lane

MAX_STEPS = 50_000
"""Steps of all lanes that have a page; those behind them do not."""

MAX_RECORDS = 400
"""Records of one step that are read for its page."""

MAX_PROMPTS = 2000
"""The newest prompts whose parts are kept: each is some kilobytes. For an older one the log is read again."""

MAX_RECENT = 64
"""States of a lane before its newest records: a prompt was assembled from one of them."""

HASH_BYTES = 80
"""The end of a record's line, in which its hash is."""

MAX_SESSIONS = 4
"""Sessions whose index is kept."""

Key = tuple[str, int]
"""A lane and a step of it."""


class StepLine(msgspec.Struct):
    """A step in a list. `ts` is when it began and `last_ts` when its last record was written (Unix time); the
    record of a model call is written at its end, so that a step begins with the call itself. Tokens
    are those that the servers counted. `places` are (byte, bytes) of its records in the log."""

    lane: str
    step: int
    ts: float
    last_ts: float = 0.0
    tool: str = ""
    outcome: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    candidates: int = 0
    gates: int = 0
    places: list[tuple[int, int]] = []


class StepIndex:
    """The steps of one log. `problem` says why it could not be read to its end, '' when it could."""

    def __init__(self, log: Path) -> None:
        self.problem = ""
        self.settings: Mapping[str, object] = {}
        self._path = log
        self._file = _file_of(log)
        self._reader = Reader(log)
        self._read_to = (0, "")
        """The byte behind the last record that was read, and its hash."""
        self._lines: dict[Key, StepLine] = {}
        self._lanes: dict[str, list[int]] = {}
        self._states: dict[str, LaneState] = {}
        self._recent: dict[str, deque[tuple[int, LaneState]]] = {}
        self._prompts: OrderedDict[Key, LaneState] = OrderedDict()
        self._protocols: dict[str, str] = {}
        self._begin = 0
        self._reading = threading.Lock()

    @property
    def lanes(self) -> Mapping[str, list[int]]:
        """The numbers of each lane's steps, in their order."""
        return MappingProxyType(self._lanes)

    @property
    def is_outdated(self) -> bool:
        """Whether the log was replaced or cut off since it was read, or could not be read to its end."""
        if self.problem or self._file != _file_of(self._path):
            return True
        try:
            with self._path.open("rb") as file:
                offset, head = self._read_to
                file.seek(max(0, offset - HASH_BYTES))
                return head.encode() not in file.read(HASH_BYTES)
        except OSError:
            return True

    def read(self) -> None:
        """Take in what was added to the log."""
        with self._reading:
            try:
                for offset, record in self._reader.poll():
                    begin, self._begin = self._begin, offset
                    self._take(record, begin, offset - begin)
                self._read_to = self._reader.offset, self._reader.head
            except (LogBroken, OSError, ValueError) as error:
                self.problem = f"The log could not be read to its end: {error}"

    def line(self, lane: str, step: int) -> StepLine | None:
        """A step of the lane; None where there is none of that number."""
        return self._lines.get((lane, step))

    def protocol(self, lane: str) -> str:
        """The form of the lane's turns."""
        return self._protocols.get(lane, "text")

    def records(self, line: StepLine) -> Iterator[events.Record]:
        """The records of a step, read from the log again. Raises OSError, ValueError."""
        with self._path.open("rb") as file:
            for begin, size in line.places[:MAX_RECORDS]:
                file.seek(begin)
                body = file.read(size).rpartition(b',"hash":"')[0] + b"}"
                yield events.decode(body)

    def asked_from(self, lane: str, step: int, at_seq: int) -> LaneState:
        """The state of the lane from which the prompt of a step was assembled. Raises LogBroken, OSError."""
        kept = self._prompts.get((lane, step))
        if kept is None:
            kept = _slim(state_at(self._path, lane, at_seq))
            with self._reading:
                self._keep((lane, step), kept)
        return kept

    def _take(self, record: events.Record, begin: int, size: int) -> None:
        if isinstance(record, events.Session):
            self.settings = record.settings
        if not record.lane:
            return
        if isinstance(record, events.LaneStarted):
            self._protocols[record.lane] = record.protocol
        self._place(record, begin, size)
        self._keep_prompt(record)
        before = self._states.get(record.lane) or LaneState(name=record.lane)
        after = self._states[record.lane] = fold_lane(before, record)
        self._recent.setdefault(record.lane, deque(maxlen=MAX_RECENT)).append((record.seq, _slim(after)))

    def _place(self, record: events.Record, begin: int, size: int) -> None:
        """Note where a record of a step lies; one that names none belongs to the step that the lane is at."""
        steps = self._lanes.get(record.lane)
        named = getattr(record, "step", None)
        step = named if isinstance(named, int) else steps[-1] if steps else 0
        if step <= 0:
            return
        line = self._lines.get((record.lane, step))
        if line is None:
            if len(self._lines) >= MAX_STEPS:
                return
            line = self._lines[record.lane, step] = StepLine(record.lane, step, record.ts, places=[])
            self._lanes.setdefault(record.lane, []).append(step)
        line.places.append((begin, size))
        line.last_ts = record.ts
        _count(line, record)

    def _keep_prompt(self, record: events.Record) -> None:
        if not isinstance(record, events.ModelIo) or (record.lane, record.step) in self._prompts:
            return
        known = (state for seq, state in reversed(self._recent.get(record.lane, ())) if seq <= record.at_seq)
        if (state := next(known, None)) is not None:
            self._keep((record.lane, record.step), state)

    def _keep(self, key: Key, state: LaneState) -> None:
        self._prompts[key] = state
        if len(self._prompts) > MAX_PROMPTS:
            self._prompts.popitem(last=False)


class StepIndexes:
    """The indexes of an app: those asked for last are kept."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Path, StepIndex] = OrderedDict()

    def of(self, log: Path) -> StepIndex:
        """The index of a log, as far as it was read. One that is no longer that of the log is begun again."""
        found = self._kept.pop(log, None)
        if found is None or found.is_outdated:
            found = StepIndex(log)
        self._kept[log] = found
        while len(self._kept) > MAX_SESSIONS:
            self._kept.popitem(last=False)
        return found


def _file_of(log: Path) -> tuple[int, int] | None:
    """Which file the log is; None where there is none."""
    try:
        about = log.stat()
    except OSError:
        return None
    return about.st_dev, about.st_ino


def state_at(log: Path, lane: str, at_seq: int) -> LaneState:
    """The state of a lane after record `at_seq`, folded from the whole log. Raises LogBroken, OSError."""
    state = LaneState(name=lane)
    for _, record in Reader(log).poll():
        if record.seq > at_seq:
            break
        if record.lane == lane:
            state = fold_lane(state, record)
    return state


def _slim(state: LaneState) -> LaneState:
    """The state without what no prompt is assembled from."""
    return msgspec.structs.replace(state, history=History(), notes=Notes())


def _count(line: StepLine, record: events.Record) -> None:
    match record:
        case events.Model():
            line.ts = max(0.0, min(line.ts, record.ts - record.latency_s))
            line.prompt_tokens += record.prompt_tokens or 0
            line.completion_tokens += record.completion_tokens or 0
        case events.ToolStarted():
            line.tool = record.tool
        case events.Tool():
            line.tool, line.outcome = record.tool, record.outcome
        case events.Answer():
            line.tool, line.outcome = "answer", "ok"
        case events.Candidates():
            line.candidates = len(record.candidates)
        case events.Policy() | events.PolicyNotesGuard():
            line.gates += 1
        case _:
            pass
