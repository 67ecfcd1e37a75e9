"""The file of a batch: one task a line, in JSON. Read whole before anything runs, so that a mistake in line
900 is known before line 1 costs anything."""

import os
import stat
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from vera.agent.inputs import is_address
from vera.attestation.objects import ObjectError
from vera.batch.errors import BatchError
from vera.batch.task import JOB, BatchTask, canonical_task, said_of, task_id
from vera.config.errors import plain
from vera.config.handed import Scalar
from vera.decode_errors import DECODE_ERRORS

MAX_LINE_BYTES = 2 << 20
MAX_TEXT_BYTES = 1 << 20
"""Of a question or a thesis, as `vera run` takes it."""
MAX_TASKS = 100_000
MAX_FILE_BYTES = 1 << 30
MAX_SETTINGS = 200
MAX_NAME_CHARACTERS = 200
MAX_PROBLEMS = 20
"""Problems that are told at once."""

MAX_INPUTS = 1000
MEMBERS = ("task", "thesis", "input_dir", "inputs", "settings", "name")

Endpoint = Callable[[BatchTask], tuple[str, str]]
"""Holds the settings of a task against the real loader: where its model is asked, and why the task is refused
('' where it is not). Raises ValueError with a sentence for settings that cannot be."""


class TaskList(msgspec.Struct, frozen=True, kw_only=True):
    """The tasks of a file in its order, each once, and how many lines said one that was there before.

    `refused` are sentences on tasks that set what only the person may set: they fail, the others run.
    """

    tasks: tuple[BatchTask, ...]
    repeated: int = 0
    refused: tuple[str, ...] = ()


def read_tasks(path: Path, endpoint: Endpoint) -> TaskList:
    """The tasks of a JSONL file. Empty lines are passed over.

    Raises BatchError (2) with a sentence for each wrong line, up to MAX_PROBLEMS.
    """
    found: dict[str, BatchTask] = {}
    problems: list[str] = []
    refused: list[str] = []
    repeated = 0
    with _opened(path) as file:
        for number, line in _lines(file, path):
            if len(problems) >= MAX_PROBLEMS:
                problems.append(f"There may be more: only the first {MAX_PROBLEMS} are told.")
                break
            if not line.strip():
                continue
            if len(found) >= MAX_TASKS:
                problems.append(f"Line {number}: one file holds at most {MAX_TASKS} tasks. Split it.")
                break
            try:
                task, why_not = _task(line, endpoint)
            except ValueError as error:
                problems.append(f"Line {number}: {error}")
                continue
            if why_not:
                refused.append(f"line {number} is refused: {why_not}")
            repeated += task.id in found
            found.setdefault(task.id, task)
    if problems:
        raise BatchError("\n".join([f"{plain(str(path))} cannot be run as it is.", *problems]), 2)
    if not found:
        raise BatchError(
            f'{plain(str(path))} has no task. A line is, for example: {{"task": "When do patents end?"}}', 2
        )
    return TaskList(tasks=tuple(found.values()), repeated=repeated, refused=tuple(refused))


def carrying(listed: TaskList, settings: Mapping[str, Scalar], input_dir: str = "") -> TaskList:
    """The same tasks with settings, and a folder of documents, that the person gave for all of them. What a
    task says itself wins. They are other tasks then, with other ids."""
    found: dict[str, BatchTask] = {}
    for task in listed.tasks:
        own = {**settings, **task.settings}
        folder = task.input_dir or ("" if task.inputs else input_dir)
        changed = msgspec.structs.replace(task, input_dir=folder, settings=own)
        made = msgspec.structs.replace(changed, id=task_id(said_of(changed)))
        found.setdefault(made.id, made)
    repeated = listed.repeated + len(listed.tasks) - len(found)
    return msgspec.structs.replace(listed, tasks=tuple(found.values()), repeated=repeated)


def parse_task(line: bytes) -> BatchTask:
    """The task that a line says, its endpoint left open. Raises ValueError with a sentence."""
    said = _object(line)
    kinds = [kind for kind in ("task", "thesis", JOB) if kind in said]
    if len(kinds) != 1:
        raise ValueError('it needs either "task" (a question to answer) or "thesis" (one to verify).')
    kind = kinds[0]
    text = _text(said, kind).strip()
    if not text:
        raise ValueError(f'"{kind}" is empty.')
    if len(text.encode("utf-8", "replace")) > MAX_TEXT_BYTES:
        raise ValueError(f'"{kind}" is longer than 1 MB. Put long material into a file of the input folder.')
    name = _text(said, "name").strip()
    if len(name) > MAX_NAME_CHARACTERS:
        raise ValueError(f'"name" is longer than {MAX_NAME_CHARACTERS} characters.')
    input_dir, inputs, settings = _text(said, "input_dir"), _inputs(said), _settings(said)
    if "\0" in input_dir:
        raise ValueError('"input_dir" cannot be the name of a folder.')
    if input_dir and inputs:
        raise ValueError('it has "input_dir" and "inputs": name the folder as one of the inputs.')
    try:
        canonical = canonical_task(kind, text, input_dir, settings, name, inputs)
    except ObjectError as error:
        raise ValueError(f"it cannot be written as canonical JSON ({plain(str(error))}).") from None
    return BatchTask(
        id=task_id(canonical),
        kind=kind,
        text=text,
        input_dir=input_dir,
        inputs=inputs,
        settings=settings,
        name=name,
    )


def _object(line: bytes) -> dict[str, Any]:
    """The JSON object of a line, with no other members than those of a task."""
    try:
        said = msgspec.json.decode(line)
    except DECODE_ERRORS as error:
        raise ValueError(f"it is no JSON ({plain(str(error))}).") from None
    if not isinstance(said, dict):
        raise ValueError('it is no object. A task is written as {"task": "…"}.')
    if strangers := [key for key in said if key not in (*MEMBERS, JOB)]:
        raise ValueError(_unknown(str(strangers[0])))
    return said


def _task(line: bytes, endpoint: Endpoint) -> tuple[BatchTask, str]:
    if len(line) > MAX_LINE_BYTES:
        raise ValueError(f"it is longer than {MAX_LINE_BYTES >> 20} MB.")
    task = parse_task(line)
    if task.kind == JOB:
        raise ValueError(_unknown(JOB))
    if task.input_dir and not _is_folder(task.input_dir):
        raise ValueError(f'"input_dir" is no folder: {plain(task.input_dir)}.')
    for each in task.inputs:
        if not is_address(each) and not Path(each).exists():
            raise ValueError(f'"inputs" names what does not exist: {plain(each)}.')
    found, why_not = endpoint(task)
    return msgspec.structs.replace(task, endpoint=found), why_not


def _is_folder(name: str) -> bool:
    try:
        return Path(name).is_dir()
    except OSError:  # a name that is too long, or a folder above it that is closed
        return False


def _text(said: dict[str, object], key: str) -> str:
    value = said.get(key, "")
    if not isinstance(value, str):
        raise ValueError(f'"{key}" must be text.')
    return value


def _inputs(said: dict[str, object]) -> tuple[str, ...]:
    value = said.get("inputs", [])
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise ValueError('"inputs" must be a list of texts: ["contracts", "https://example.org/terms"].')
    if len(value) > MAX_INPUTS:
        raise ValueError(f'"inputs" has more than {MAX_INPUTS} members.')
    for each in value:
        if "\0" in each or len(each.splitlines()) != 1 or each != each.strip():
            raise ValueError(f'"inputs" holds what cannot be a name or an address: {plain(each)}.')
    return tuple(value)


def _settings(said: dict[str, object]) -> dict[str, Scalar]:
    value = said.get("settings", {})
    if not isinstance(value, dict):
        raise ValueError('"settings" must be an object: {"run.max_steps": 20}.')
    if len(value) > MAX_SETTINGS:
        raise ValueError(f'"settings" has more than {MAX_SETTINGS} members.')
    for key, each in value.items():
        if not isinstance(each, str | int | float | bool | None):
            raise ValueError(
                f"the setting {plain(key)} must be text, a number, true, false or null; "
                'groups are written with dots: {"run.max_steps": 20}.'
            )
    return value


def _unknown(key: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(key, MEMBERS, n=1)
    hint = f' Did you mean "{near[0]}"?' if near else f" Known are: {', '.join(MEMBERS)}."
    return f'"{plain(key)}" is no member of a task.{hint}'


def _opened(path: Path) -> BinaryIO:
    """The file, open. A named pipe is no file: reading one could wait for ever."""
    try:
        file = os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "its name cannot be a path"
        raise BatchError(f"The task file {plain(str(path))} cannot be read: {reason}.", 2) from None
    held = os.fstat(file.fileno())
    if not stat.S_ISREG(held.st_mode) or held.st_size > MAX_FILE_BYTES:
        file.close()
        raise BatchError(f"{plain(str(path))} is no regular file of at most 1 GiB.", 2)
    return file


def _lines(file: BinaryIO, path: Path) -> Iterator[tuple[int, bytes]]:
    """Each line with its number, at most a byte more of it than a task may have."""
    number = 0
    while line := file.readline(MAX_LINE_BYTES + 2):
        number += 1
        yield number, (line.removeprefix(BOM_UTF8) if number == 1 else line).rstrip(b"\r\n")
        while line and not line.endswith(b"\n") and len(line) > MAX_LINE_BYTES:
            line = file.readline(MAX_LINE_BYTES + 2)
