"""What is written about the attempts at a task. Each record is a small file that is written once."""

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

Outcome = Literal["committed", "late", "failed", "unready", "interrupted", "cancelled", "crashed"]
"""How an attempt ended: its result is the task's (committed) or came after another's (late); it could not be
run as it is (failed: exit code 1 or 2), not yet (unready: 5), was stopped (interrupted, cancelled), or its
process died (crashed)."""


class Begun(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt has begun: `number` from 1, `worker` the process that began it, `ts` Unix time."""

    task: str
    number: int
    worker: str
    ts: float


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """What an attempt came to. Only a result that stands has one: exit code 0, 3, 4 or 6.

    `session` is the number of the attempt in whose folder it lies: a resumed one lies in an earlier folder.
    `log` are the number and the hash of the log's last record, `attestation` its id ('' for none), `spent` as
    `vera run --json` has it; `reused` says that an earlier verdict was found and nothing was spent.
    """

    task: str
    attempt: int
    session: int
    status: str
    reason: str
    exit_code: int
    attestation: str
    log: tuple[int, str]
    steps: int
    spent: Mapping[str, Any]
    reused: bool = False


class Ended(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt has ended. `session` as in the manifest, 0 where none was begun; `spent` is that of the
    session up to here."""

    number: int
    outcome: Outcome
    ts: float
    exit_code: int
    reason: str = ""
    session: int = 0
    spent: Mapping[str, Any] = {}


class Commit(msgspec.Struct, frozen=True, kw_only=True):
    """The task is done: the first of these counts, and there is no second. `manifest` is `sha256:…`."""

    task: str
    attempt: int
    session: int
    manifest: str
    status: str
    exit_code: int


class Mark(msgspec.Struct, frozen=True, kw_only=True):
    """What a person decided about a task after attempt `after`: `cancelled`, or `requeued`."""

    kind: Literal["cancelled", "requeued"]
    after: int
    ts: float


class History(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that is written about a task. Of an attempt that never ended there is no `Ended`."""

    commit: Commit | None = None
    mark: Mark | None = None
    begun: tuple[Begun, ...] = ()
    ended: Mapping[int, Ended] = {}
