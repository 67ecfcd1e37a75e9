"""The steps for which several turns were sampled: a fold of a lane's records."""

import json
from collections import Counter, deque
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from vera import events
from vera.events import Text
from vera.protocol import Action, Parsed
from vera.protocol.variants import bare
from vera.usage import SELECTOR

Load = Callable[[Text], str]

MAX_CALLS = 1000
"""Model calls of one step that are remembered."""

INDEX_BASE = 1
SHELL = "shell"


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """A candidate, numbered from 0, and what selection made of it.

    `votes` is how many ask for the same action (0 outside of all clusters), `first` the first one. `score`
    is the selector's own measure, None where it was not compared, `call` the model call that gave it.
    """

    index: int
    candidate: events.Candidate
    weighed: events.Weighed
    votes: int
    first: int
    score: float | None
    call: events.Model | None


class SampledStep(msgspec.Struct, frozen=True, kw_only=True):
    """A step with its candidates. `calls` are the model calls that gave them, in the order of their numbers,
    `judged` those of the judge; `selection` is None while none was chosen. `protocol` is the form of a turn,
    `index_base` the number that the first candidate has for the judge; here it has 0.
    """

    protocol: str
    index_base: int
    candidates: events.Candidates
    calls: tuple[events.Model, ...] = ()
    judged: tuple[events.Model, ...] = ()
    selection: events.Selection | None = None

    @property
    def step(self) -> int:
        return self.candidates.step

    @property
    def count(self) -> int:
        return len(self.candidates.candidates)

    @property
    def selected(self) -> int | None:
        """The chosen candidate (from 0); None while none is, or for a number that none has."""
        if self.selection is None or not 0 <= self.selection.selected < self.count:
            return None
        return self.selection.selected

    def seen(self) -> tuple[Seen, ...]:
        """Each candidate with what became of it; what does not fit (logs come from anyone) is left out."""
        given = self.selection or events.Selection(step=self.step, selected=-1, decider="")
        missing = self.count - len(given.weighed)
        weighed = (*given.weighed[: self.count], *(events.Weighed() for _ in range(missing)))
        votes = Counter(each.group for each in weighed if each.group)
        scores = dict(zip(given.compared, given.scores, strict=False))
        first: dict[int, int] = {}
        return tuple(
            Seen(
                index=index,
                candidate=candidate,
                weighed=each,
                votes=votes[each.group],
                first=first.setdefault(each.group, index) if each.group else index,
                score=scores.get(index),
                call=self.call_of(index),
            )
            for index, (candidate, each) in enumerate(zip(self.candidates.candidates, weighed, strict=True))
        )

    def call_of(self, index: int | None) -> events.Model | None:
        """The model call that gave a candidate; None where it is not known."""
        number = self.candidates.candidates[index].call if index is not None else 0
        return self.calls[number - 1] if 0 < number <= len(self.calls) else None

    @property
    def replies(self) -> int:
        """How often the judge was asked."""
        return max(self.selection.judge_calls if self.selection else 0, len(self.judged))


class Sampling:
    """The newest sampled step of a lane. `add` takes the records of the log in order."""

    def __init__(self, lane: str) -> None:
        self._lane = lane
        self._protocol = "text"
        self._index_base = INDEX_BASE
        self._calls: deque[events.Model] = deque(maxlen=MAX_CALLS)
        self._judged: deque[events.Model] = deque(maxlen=MAX_CALLS)
        self._step: SampledStep | None = None

    def add(self, record: events.Record) -> None:
        if isinstance(record, events.Session):
            self._index_base = _index_base(record.settings)
        if record.lane != self._lane:
            return
        match record:
            case events.LaneStarted():
                self._protocol = record.protocol
            case events.Model(scope=scope) if scope == SELECTOR:
                self._judged.append(record)
            case events.Model():
                self._calls.append(record)
            case events.Candidates():
                self._step = self._sampled(record)
                self._judged.clear()
            case events.Selection() if step := self.of(record.step):
                self._step = msgspec.structs.replace(step, selection=record, judged=tuple(self._judged))
            case events.Assistant():
                self._calls.clear()
                self._step = self.of(record.step)
            case _:
                pass

    def _sampled(self, record: events.Candidates) -> SampledStep:
        made = tuple(self._calls)[-record.calls :] if record.calls > 0 else ()
        return SampledStep(
            protocol=self._protocol, index_base=self._index_base, candidates=record, calls=made
        )

    def of(self, step: int) -> SampledStep | None:
        """The sampled step of this number, when it is the newest one."""
        return self._step if self._step is not None and self._step.step == step else None


def action_of(parsed: Parsed) -> str | None:
    """The one action of a turn as a line: a shell command itself, else the action as JSON; None for none."""
    return None if parsed.turn is None else written(parsed.turn.action)


def written(action: Action) -> str:
    command = action.args.get("cmd")
    if action.tool == SHELL and isinstance(command, str):
        return command
    return json.dumps(bare(action), ensure_ascii=False)


def actions_found(parsed: Parsed) -> int:
    """How many actions a message holds of which the first could run."""
    return 0 if parsed.turn is None else 1 + parsed.ignored_actions


def read_replies(output: str) -> list[str]:
    """The judge's replies, which the log has as a JSON array."""
    try:
        replies = json.loads(output) if output else []
    except (ValueError, RecursionError):
        return [output]
    return [str(reply) for reply in replies] if isinstance(replies, list) else [output]


def _index_base(settings: Mapping[str, Any]) -> int:
    section = settings.get("action_verifier")
    base = section.get("selection_index_base") if isinstance(section, Mapping) else None
    return base if isinstance(base, int) else INDEX_BASE
