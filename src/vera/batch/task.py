"""One task of a batch, and its id: the sha256 of what it says."""

import hashlib
from collections.abc import Mapping, Sequence

import msgspec

from vera.attestation.objects import canonical
from vera.config.handed import Scalar

JOB = "job"
"""The kind of a task that `vera serve` queues; no file of a batch has one."""


class BatchTask(msgspec.Struct, frozen=True, kw_only=True):
    """A question to answer (`kind` "task") or a thesis to verify ("thesis"), as a line of the file says it;
    or a job of the service (JOB).

    `input_dir` is the folder of documents as it was written ('' for none), `inputs` are files, folders and
    addresses in its place, `settings` what this task sets by dotted key, `name` what a person calls it. `id`
    is 64 hexadecimal digits. `endpoint` is where its model is asked: a base URL, `builtin`, `file` (a model
    file) or `auto` (whichever server is found); it is computed from all settings in force and is no part of
    the id.
    """

    id: str
    kind: str
    text: str
    input_dir: str = ""
    inputs: tuple[str, ...] = ()
    settings: Mapping[str, Scalar] = {}
    name: str = ""
    endpoint: str = ""

    @property
    def label(self) -> str:
        """What it is called in tables and messages: its name, else the beginning of its id."""
        return self.name or self.id[:12]


def canonical_task(
    kind: str,
    text: str,
    input_dir: str = "",
    settings: Mapping[str, Scalar] | None = None,
    name: str = "",
    inputs: Sequence[str] = (),
) -> bytes:
    """The task as canonical JSON (RFC 8785), with only the members that say something.

    Raises ObjectError for what JSON cannot carry exactly: an integer beyond 2**53, a lone surrogate.
    """
    members: dict[str, object] = {kind: text}
    said = {"input_dir": input_dir, "inputs": list(inputs), "name": name, "settings": dict(settings or {})}
    for key, value in said.items():
        if value:
            members[key] = value
    return canonical(members)


def said_of(task: BatchTask) -> bytes:
    """The canonical JSON of a task. Raises as `canonical_task`."""
    return canonical_task(task.kind, task.text, task.input_dir, task.settings, task.name, task.inputs)


def task_id(said: bytes) -> str:
    """The id of a task, from its canonical JSON."""
    return hashlib.sha256(said).hexdigest()
