"""Trajectories with a label, read from files that the caller names: none of them is part of VERA.

Two forms are known. The one that LLM-as-a-Verifier (arXiv:2607.05391) publishes for Terminal-Bench, a file
`TASK/TRIAL_trajectory.json` for each attempt: an object with `task_name`, `reward` and
`trajectory.steps`, each step with its `source` (`user`, `agent`), `message`, `tool_calls` and `observation`.
And that of mini-swe-agent, which VERA exports too (`*.traj.json`): an object with `messages`, or a list of
them; it holds no label, so a file of labels names its task and whether it passed.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from choosing.labels import TrajectoryLabel
from vera.bench.eval_data import DataError
from vera.decode_errors import DECODE_ERRORS

ENDINGS = ("_trajectory.json", ".traj.json")
LARGEST = 256 << 20
"""Bytes of a trajectory."""

MAX_FILES = 100_000
PASSED = 1.0
"""The reward from which on an attempt has passed."""

_AGENT = frozenset(("agent", "assistant"))
_CONTENT = ("content", "tool_calls", "output")
_DEEPEST = 60


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """One trajectory of a task. `steps` counts the agent's turns, `characters` all text of the trajectory:
    messages, calls and observations. `passed` is None where no one says it."""

    name: str
    task: str
    steps: int
    characters: int
    passed: bool | None


class _Steps(msgspec.Struct):
    steps: list[dict[str, Any]]


class _Trial(msgspec.Struct):
    task_name: str
    trajectory: _Steps
    reward: float | None = None


def read_attempts(path: Path, labels: Mapping[str, TrajectoryLabel]) -> Iterator[Attempt]:
    """The trajectories of a folder and of those below it, or that of one file, by their names.

    A label takes the place of what a file says itself. Raises DataError.
    """
    for file in _files(path):
        name = file.relative_to(path).as_posix() if path.is_dir() else file.name
        yield _attempt(file, name, labels.get(name))


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise DataError(f"{path} cannot be read: there is no such file or folder.")
    found = []
    for each in path.rglob("*.json"):
        if each.name.endswith(ENDINGS) and each.is_file():
            found.append(each)
        if len(found) > MAX_FILES:
            raise DataError(f"{path} holds more than {MAX_FILES} trajectories. Name a folder within it.")
    if not found:
        raise DataError(f"{path} holds no trajectories: no file's name ends with {' or '.join(ENDINGS)}.")
    return sorted(found)


def _attempt(file: Path, name: str, label: TrajectoryLabel | None) -> Attempt:
    data = _decoded(file)
    try:
        if isinstance(data, dict) and "trajectory" in data:
            trial = msgspec.convert(data, _Trial)
            passed = None if trial.reward is None else trial.reward >= PASSED
            task, turns, parts = trial.task_name, trial.trajectory.steps, trial.trajectory.steps
        else:
            messages = data["messages"] if isinstance(data, dict) else data
            turns = msgspec.convert(messages, list[dict[str, Any]])
            task, passed, parts = "", None, [{key: turn.get(key) for key in _CONTENT} for turn in turns]
        characters = _characters(parts)
    except (msgspec.ValidationError, KeyError, TypeError, RecursionError) as error:
        raise DataError(f"{file} holds no trajectory ({type(error).__name__}: {error}).") from None
    return Attempt(
        name=name,
        task=label.task if label else task,
        steps=sum(turn.get("source", turn.get("role")) in _AGENT for turn in turns),
        characters=characters,
        passed=label.passed if label else passed,
    )


def _decoded(file: Path) -> Any:
    try:
        if file.stat().st_size > LARGEST:
            raise DataError(f"{file} is larger than {LARGEST >> 20} MiB.")
        return msgspec.json.decode(file.read_bytes())
    except OSError as error:
        raise DataError(f"{file} cannot be read: {error.strerror or error}.") from None
    except DECODE_ERRORS as error:
        raise DataError(f"{file} is no JSON ({error}).") from None


def _characters(value: Any, depth: int = 0) -> int:
    """Of all strings in it, without the names of members. Raises RecursionError where it is nested deeply."""
    if depth > _DEEPEST:
        raise RecursionError("nested too deeply")
    match value:
        case str():
            return len(value)
        case dict():
            return sum(_characters(each, depth + 1) for each in value.values())
        case list():
            return sum(_characters(each, depth + 1) for each in value)
        case _:
            return 0
