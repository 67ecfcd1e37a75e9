"""What a batch came to: task by task and in all, read from commits and logs. Nothing is counted twice."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from functools import reduce
from operator import add
from typing import Any

import msgspec

from vera.batch.records import Commit, History, Manifest
from vera.batch.runs import Runs
from vera.batch.session_end import Watch
from vera.batch.status import STATES, State, standing
from vera.batch.task import BatchTask

WORST_FIRST = (1, 5, 4, 6, 3, 0)
"""Exit codes from worst to best (`docs/reference/exit-codes.md`)."""
ERROR = 1
ALTERED = "ALTERED"


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """What was spent. `cost` is None where a price is not known."""

    model_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    searches: int = 0
    seconds: float = 0.0
    cost: str | None = None

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            model_calls=self.model_calls + other.model_calls,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            searches=self.searches + other.searches,
            seconds=round(self.seconds + other.seconds, 3),
            cost=_sum(self.cost, other.cost),
        )


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One task. `status` is its verdict ('' while there is none, ALTERED where the records of its result do
    not belong together), `exit_code` that of its result, or of its last attempt; `usage` is that of all its
    sessions, of which `session` holds the result ('' for none)."""

    id: str
    name: str
    kind: str
    state: State
    status: str
    reason: str
    exit_code: int | None
    attempts: int
    session: str
    attestation: str
    reused: bool
    steps: int
    usage: Usage


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """All rows, how many tasks stand where, how many came to which verdict, and what was spent in all."""

    rows: tuple[Row, ...]
    states: Mapping[State, int]
    verdicts: Mapping[str, int]
    usage: Usage

    @property
    def exit_code(self) -> int:
        """The worst of all tasks: one that failed or is held is an error, a cancelled one does not count."""
        codes = [code for row in self.rows if (code := code_of(row)) is not None]
        return worst(codes)


def summary_of(runs: Runs, tasks: Sequence[BatchTask], *, live: bool = False) -> Summary:
    """What the tasks came to; `live` says that a batch works on them now."""
    rows = tuple(_row(runs, task, live) for task in tasks)
    states = Counter(row.state for row in rows)
    usage = Usage(cost="0")
    for row in rows:
        usage += row.usage
    return Summary(
        rows=rows,
        states={state: states[state] for state in STATES if states[state]},
        verdicts=dict(Counter(row.status for row in rows if row.status).most_common()),
        usage=usage,
    )


def worst(codes: Iterable[int]) -> int:
    """The worst of exit codes, by the order of WORST_FIRST; one that is not in it is an error."""
    known = [code if code in WORST_FIRST else ERROR for code in codes]
    return min(known, key=WORST_FIRST.index, default=0)


def code_of(row: Row) -> int | None:
    """What a task counts as: its own exit code, ERROR where it failed or is held, None where it was
    cancelled. One that is still open counts as its last attempt did, which is nothing if it was stopped."""
    match row.state:
        case "cancelled":
            return None
        case "failed" | "held":
            return ERROR
        case "done":
            return row.exit_code
        case _:
            return row.exit_code if row.exit_code in WORST_FIRST else None


def as_dict(summary: Summary) -> dict[str, Any]:
    """As `vera batch --json` prints it."""
    return {
        "exit_code": summary.exit_code,
        "states": dict(summary.states),
        "verdicts": dict(summary.verdicts),
        "spent": msgspec.to_builtins(summary.usage),
        "tasks": [
            {("spent" if key == "usage" else key): value for key, value in msgspec.to_builtins(row).items()}
            for row in summary.rows
        ],
    }


def _row(runs: Runs, task: BatchTask, live: bool) -> Row:
    history = runs.history(task.id)
    now = standing(history, live=live)
    manifest = runs.manifest(history.commit) if history.commit else None
    done = history.commit
    status, code = (done.status, done.exit_code) if done is not None else ("", _last_exit_code(history))
    if done is not None and not _belong_together(done, manifest):
        manifest, status, code = None, ALTERED, ERROR
    return Row(
        id=task.id,
        name=task.name,
        kind=task.kind,
        state=now.state,
        status=status,
        reason=manifest.reason if manifest else now.reason,
        exit_code=code,
        attempts=len(history.begun),
        session=str(runs.session(task.id, done.session)) if done else "",
        attestation=manifest.attestation if manifest else "",
        reused=manifest.reused if manifest else False,
        steps=manifest.steps if manifest else 0,
        usage=_usage(runs, task, history, manifest),
    )


def _last_exit_code(history: History) -> int | None:
    """The exit code of the last attempt; None where there is none, or it has no end."""
    last = history.ended.get(history.begun[-1].number) if history.begun else None
    return last.exit_code if last else None


def _belong_together(commit: Commit, manifest: Manifest | None) -> bool:
    """Whether a commit says what the manifest that it names does."""
    said = (commit.task, commit.attempt, commit.session, commit.status, commit.exit_code)
    return manifest is not None and said == (
        manifest.task,
        manifest.attempt,
        manifest.session,
        manifest.status,
        manifest.exit_code,
    )


def _usage(runs: Runs, task: BatchTask, history: History, manifest: Manifest | None) -> Usage:
    """What all sessions of a task spent: each counted once, as its last record has it."""
    by_session: dict[int, Mapping[str, Any]] = {}
    for begun in history.begun:
        end = history.ended.get(begun.number)
        if end is not None and end.session:
            by_session[end.session] = end.spent
        elif end is None and begun.number not in by_session:
            watch = Watch(runs.session(task.id, begun.number))
            watch.look()
            if watch.state.session is not None:
                by_session[begun.number] = watch.spent
    if manifest is not None:
        by_session[manifest.session] = manifest.spent
    usages = [_read(spent) for spent in by_session.values() if spent]
    return reduce(add, usages) if usages else Usage(cost="0")


def _read(spent: Mapping[str, Any]) -> Usage:
    """What a record says was spent; nothing where it says what VERA does not write."""
    told = {key: spent[key] for key in Usage.__struct_fields__ if key in spent}
    try:
        return msgspec.convert(told, Usage)
    except msgspec.ValidationError:
        return Usage(cost="0")


def _sum(one: str | None, other: str | None) -> str | None:
    """Amounts of money together; unknown when one is."""
    if one is None or other is None:
        return None
    try:
        total = Decimal(one) + Decimal(other)
    except ArithmeticError:
        return None
    text = f"{total:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
