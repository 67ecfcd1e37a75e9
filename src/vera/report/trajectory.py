"""A run in mini-swe-agent's trajectory format, version 1.1: what its inspector and similar tools open.

The messages are those of the main lane, as the model got and gave them; check lanes and calls of the verifier
are no part of it. Of a step with several candidates the chosen one is the message, and all of them are in
its `extra.verifier`. What the format has no name for stands under the key `vera`.
"""

import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from vera import events
from vera.protocol import forms
from vera.report import selection_words, trajectory_info
from vera.report.candidate_steps import Load, SampledStep, Sampling, action_of
from vera.report.selection_json import as_json, response
from vera.report.trajectory_info import LANE, Json
from vera.session import LogError, Reader, load_text
from vera.state import LaneState, RunState, TailMessage
from vera.store import Store, StoreError
from vera.usage import SELECTOR

NAME = "trajectory.traj.json"
FORMAT = "mini-swe-agent-1.1"

SpentOf = Callable[[RunState], Mapping[str, Any]]
"""What a run has spent, by the names of `vera run --json`; its `cost` is used."""


def write_trajectory(root: Path, spent: SpentOf, path: Path | None = None) -> Path:
    """Write the trajectory of the session in `root`, by default into it, and give the file.

    Written whole or not at all, in the memory of one step; the same log gives the same bytes. Raises
    FileNotFoundError when there is no log, LogError when it is broken, StoreError, OSError.
    """
    mode = 0o644 if path else 0o600
    if path is None:
        path = root / NAME
        for left in root.glob(".new-*"):  # of a process that was killed
            left.unlink(missing_ok=True)
    store = Store(root / "store")
    log = (record for _, record in Reader(root / "trace.jsonl").poll())
    try:
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    except OSError as error:  # it would name the temporary file
        raise OSError(error.errno, error.strerror, str(path)) from None
    try:
        with os.fdopen(descriptor, "wb") as file:
            for piece in pieces(log, lambda text: load_text(store, text), spent):
                file.write(piece)
            file.flush()
            os.fchmod(descriptor, mode)
            os.fsync(descriptor)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return path


def keep_trajectory(root: Path, spent: SpentOf) -> str:
    """Write the trajectory of a run that has ended beside its answer, which is never lost for it.

    Gives a sentence on why there is none, '' when there is.
    """
    try:
        write_trajectory(root, spent)
    except (LogError, StoreError) as error:
        why = str(error)
    except OSError as error:
        why = f"{error.strerror or error}."
    except (ValueError, OverflowError, RecursionError) as error:
        why = f"the log holds something that cannot be written ({error})."
    else:
        return ""
    return (
        f"{NAME} was not written: {why} All of the run is in its log; 'vera export --trajectory' tries again."
    )


def pieces(records: Iterable[events.Record], load: Load, spent: SpentOf) -> Iterator[bytes]:
    """The trajectory as JSON in pieces, a line for each message. Pure."""
    folded = Trajectory(load)
    yield b'{"trajectory_format": ' + _line(FORMAT) + b',\n"messages": [\n'
    before = b""
    for record in records:
        for message in folded.add(record):
            yield before + _line(message)
            before = b",\n"
    if (ended := folded.exit()) is not None:
        yield before + _line(ended)
    yield b'\n],\n"info": ' + _line(folded.info(spent)) + b',\n"vera": ' + _line(folded.vera()) + b"}\n"


class Trajectory:
    """The fold: `add` takes the records in order and gives the messages that each brings."""

    def __init__(self, load: Load) -> None:
        self._load = load
        self._state = RunState()
        self._sampling = Sampling(LANE)
        self._sandbox: events.Sandbox | None = None
        self._said: events.ModelIo | None = None
        self._called: events.Model | None = None
        self._deciders: dict[str, int] = {}
        self._candidates = 0
        self._judge_calls = 0

    def add(self, record: events.Record) -> list[Json]:
        """The messages that a record brings, none as a rule. Raises StoreError."""
        before = self._lane.tail
        self._sampling.add(record)
        self._state.apply(record)
        if record.lane != LANE:
            return []
        match record:
            case events.LaneStarted():
                return self._head(record)
            case events.Sandbox():
                self._sandbox = record
            case events.Model() if record.scope != SELECTOR:
                self._called = record
            case events.ModelIo() if record.scope != SELECTOR:
                self._said = record
            case events.Assistant():
                return [self._turn(record)]
            case events.Tool() | events.Policy() | events.VerifierToAgent():
                return self._replies(record, is_new=self._lane.tail[-1:] != before[-1:])
            case _:
                pass
        return []

    def exit(self) -> Json | None:
        """The message that ends a trajectory; None while the run goes on."""
        if self._state.ended is None:
            return None
        state = self._state
        status, submission = trajectory_info.exit_status(state), trajectory_info.submission(state, self._load)
        extra = {"exit_status": status, "submission": submission, "timestamp": self._state.last_ts}
        return {"role": "exit", "content": submission or self._state.ended.reason, "extra": extra}

    def info(self, spent: SpentOf) -> Json:
        """What the format says of the run as a whole."""
        return trajectory_info.info(self._state, self._load, self._sandbox, spent(self._state))

    def vera(self) -> Json:
        """What the format has no name for: the session, its verdict, and how turns were chosen."""
        chosen = {
            "steps": sum(self._deciders.values()),
            "candidates": self._candidates,
            "judge_calls": self._judge_calls,
            "deciders": dict(sorted(self._deciders.items())),
        }
        return {**trajectory_info.vera(self._state, self._load), "selection": chosen}

    @property
    def _lane(self) -> LaneState:
        return self._state.lane(LANE)

    def _head(self, started: events.LaneStarted) -> list[Json]:
        """The system and the task message, in one where the model takes no system message."""
        system, task = self._load(started.system), self._load(started.task_message)
        extra = {"timestamp": started.ts}
        if started.system_role == "user":
            return [{"role": "user", "content": f"{system}\n\n{task}", "extra": extra}]
        return [
            {"role": started.system_role, "content": system, "extra": extra},
            {"role": "user", "content": task, "extra": extra},
        ]

    def _turn(self, turn: events.Assistant) -> Json:
        content = self._load(turn.content)
        message: Json = {"role": "assistant", "content": content}
        if turn.tool_calls:
            message["tool_calls"] = list(turn.tool_calls)
        sampled = self._sampling.of(turn.step)
        if reasoning := self._reasoning(turn.step, sampled):
            message["reasoning_content"] = reasoning
        extra: Json = {"actions": self._actions(turn, content), "timestamp": turn.ts, "step": turn.step}
        extra |= self._response(turn.step, sampled)
        if sampled is not None:
            extra["verifier"] = as_json(sampled, self._load)
            self._count(sampled)
        return {**message, "extra": extra}

    def _reasoning(self, step: int, sampled: SampledStep | None) -> str:
        """The model's reasoning; of a chosen candidate first the reason why, since their inspector shows it
        and nothing of `extra`."""
        if sampled is None:
            return self._load(self._said.reasoning) if self._said and self._said.step == step else ""
        if sampled.selected is None:
            return ""
        reasoning = self._load(sampled.candidates.candidates[sampled.selected].reasoning)
        return "\n\n".join(part for part in (selection_words.why(sampled), reasoning) if part)

    def _response(self, step: int, sampled: SampledStep | None) -> Json:
        """The call that gave the turn; nothing for one that is not known."""
        said = self._said
        called = self._called if sampled is None else sampled.call_of(sampled.selected)
        if said is None or called is None or not said.step == called.step == step:
            return {}
        return {"response": {"model": said.parameters.get("model"), **response(called)}}

    def _actions(self, turn: events.Assistant, content: str) -> list[Json]:
        """The action that the turn asks for, none when it broke the format."""
        started = self._lane.started
        parsed = forms.parse(started.protocol if started else "text", content, turn.tool_calls)
        if parsed.turn is None:
            return []
        action: Json = {"command": action_of(parsed), "tool": parsed.turn.action.tool}
        if turn.tool_calls:
            action["tool_call_id"] = str(turn.tool_calls[0].get("id", ""))
        return [action]

    def _replies(
        self, record: events.Tool | events.Policy | events.VerifierToAgent, *, is_new: bool
    ) -> list[Json]:
        """What the model is told of its turn, when the record closes one."""
        extra = {"timestamp": record.ts, **self._about(record)}
        if is_new and self._lane.tail:
            first, *others = self._lane.tail[-1].messages[1:]
            return [self._message(first, extra), *(self._message(other, {}) for other in others)]
        if isinstance(record, events.VerifierToAgent):
            return [{"role": "user", "content": self._load(record.content), "extra": extra}]
        return []

    def _message(self, told: TailMessage, extra: Json) -> Json:
        message: Json = {"role": told.role, "content": self._load(told.content), "extra": extra}
        return {**message, "tool_call_id": told.tool_call_id} if told.tool_call_id else message

    def _about(self, record: events.Tool | events.Policy | events.VerifierToAgent) -> Json:
        match record:
            case events.Tool():
                evidence = self._state.evidence.get(record.evidence)
                return {
                    "returncode": record.exit_code,
                    "exception_info": record.error_type,
                    "tool": record.tool,
                    "call": record.call,
                    "outcome": record.outcome,
                    "evidence": record.evidence,
                    "raw_output_sha256": evidence.text.sha256 if evidence else "",
                    "seconds": record.seconds,
                }
            case events.PolicyParseError():
                return {"interrupt_type": "FormatError", "n_actions": 0, "codes": list(record.codes)}
            case events.Policy():
                return {"policy": events.gate_name(record), "effect": record.effect, "reason": record.reason}
            case _:
                return {"feedback_round": record.round, "score": record.score}

    def _count(self, sampled: SampledStep) -> None:
        decider = sampled.selection.decider if sampled.selection else ""
        self._deciders[decider] = self._deciders.get(decider, 0) + 1
        self._candidates += sampled.count
        self._judge_calls += sampled.replies


def _line(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
