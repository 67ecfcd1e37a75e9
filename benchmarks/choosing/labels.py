"""Which candidates and trajectories are good, as a person says it in a file of JSON lines."""

from collections.abc import Callable, Hashable, Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

from vera.bench.eval_data import DataError
from vera.decode_errors import DECODE_ERRORS

MAX_LINE_LENGTH = 1_000_000
MAX_LINES = 1_000_000

Row = TypeVar("Row", bound=msgspec.Struct)
Key = TypeVar("Key", bound=Hashable)


class StepLabel(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A step of a session by the folder's name (or its path as it was typed), its number, and which of its
    candidates are good, from 0."""

    session: str
    step: int
    good: tuple[int, ...]


class TrajectoryLabel(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A trajectory by its path below the folder that was named, its task, and whether it passed."""

    trajectory: str
    task: str
    passed: bool


def read_step_labels(path: Path) -> dict[tuple[str, int], frozenset[int]]:
    """The good candidates by session and step. Raises DataError."""
    rows = _by(path, StepLabel, lambda row: (row.session, row.step))
    return {key: frozenset(row.good) for key, row in rows.items()}


def read_trajectory_labels(path: Path) -> dict[str, TrajectoryLabel]:
    """The labels by trajectory. Raises DataError."""
    return _by(path, TrajectoryLabel, lambda row: row.trajectory)


def _by(path: Path, kind: type[Row], key: Callable[[Row], Key]) -> dict[Key, Row]:
    found: dict[Key, Row] = {}
    for number, row in _rows(path, kind):
        if key(row) in found:
            raise DataError(f"{path}, line {number}: a second label for the same thing. Leave one of them.")
        found[key(row)] = row
    return found


def _rows(path: Path, kind: type[Row]) -> Iterator[tuple[int, Row]]:
    for number, line in enumerate(_lines(path), 1):
        if not line.strip():
            continue
        try:
            yield number, msgspec.json.decode(line, type=kind)
        except DECODE_ERRORS as error:
            names = ", ".join(kind.__struct_fields__)
            raise DataError(
                f"{path}, line {number}: no label ({error}). A label is a JSON object with {names}."
            ) from None


def _lines(path: Path) -> Iterator[bytes]:
    if not path.is_file():
        raise DataError(f"{path} is no file.")
    try:
        with path.open("rb") as file:
            for number in range(MAX_LINES + 1):
                if not (line := file.readline(MAX_LINE_LENGTH)):
                    return
                if len(line) == MAX_LINE_LENGTH or number == MAX_LINES:
                    raise DataError(
                        f"{path} is too long: at most {MAX_LINES} lines of {MAX_LINE_LENGTH} bytes."
                    )
                yield line
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}.") from None
