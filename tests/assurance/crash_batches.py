"""Batches of this machine and of a cluster, each begun with a fault in whichever of its processes meets it,
and typed again."""

import atexit
import contextlib
import functools
import json
from pathlib import Path

import parts
from assurance.crash_commands import Typed
from assurance.crash_model import EFFECT, model
from assurance.crash_sessions import is_whole, keep_trajectory
from assurance.crash_stage import Ended, Stage
from assurance.faults import NOTHING, Fault
from support import postgres
from support.batches import SHORT, commits
from vera.batch.runs import Runs

TASKS = 2
SETTINGS = SHORT | {"sandbox.backend": "host", "egress.mode": "auto"}


class Local(Typed):
    """`vera batch` on this machine: two tasks that run a command each."""

    name = "batch"

    def prepare(self, stage: Stage) -> None:
        settings = {**SETTINGS, "model.base_url": model().base_url}
        tasks = [
            json.dumps({"task": f"What colour is sky number {number}?", "settings": settings})
            for number in range(TASKS)
        ]
        stage.put("tasks.jsonl", "\n".join(tasks))

    def allowed(self) -> list[str]:
        mine = (f"model.base_url={model().base_url}", "sandbox.backend=host", "verification.rule=literal")
        return [word for each in mine for word in ("--allow", each)]

    def first(self, stage: Stage, fault: Fault = NOTHING) -> Ended:
        """After a fault with `--retry-failed`, which a person types who has made room on the disk."""
        words = ["batch", "tasks.jsonl", "--slots", TASKS, "--json", "--base-dir", "."]
        words += ["--retry-failed"] if fault is NOTHING else []
        return stage.vera(*words, *self.allowed(), fault=fault)

    def holds(self, stage: Stage, done: Ended) -> None:
        assert json.loads(done.out)["states"] == {"done": TASKS}, done.out
        runs = Runs(stage.base)
        assert len(commits(stage.base)) == TASKS
        for task in runs.tasks():
            history = runs.history(task.id)
            assert history.commit is not None and runs.manifest(history.commit) is not None, history
            session = runs.session(task.id, history.commit.session)
            is_whole(session)
            keep_trajectory(stage, session)
        for count in stage.base.glob(f"runs/*/*/workspace/{EFFECT}"):
            assert count.read_text() == "ran\n", f"a command ran twice: {count.read_text()!r}"


class Cluster(Local):
    """`vera worker`, whose tasks were queued in Postgres; after a fault another worker takes over."""

    name = "batch on Postgres"
    part = "postgres"

    def prepare(self, stage: Stage) -> None:
        super().prepare(stage)
        self.url(stage)
        queued = stage.vera(*self.batch(stage), "--no-wait", *self.allowed())
        assert queued.code == 0, queued

    def url(self, stage: Stage) -> str:
        """The database of the stage, made at the first look."""
        file = stage.folder / "database"
        if not file.exists():
            file.write_text(server().create_database())
        return server().url(file.read_text())

    def batch(self, stage: Stage) -> list[str]:
        return ["batch", "tasks.jsonl", "--engine", self.url(stage), "--base-dir", ".", "--json"]

    def first(self, stage: Stage, fault: Fault = NOTHING) -> Ended:
        words = ["worker", "--engine", self.url(stage), "--store", ".", "--slots", TASKS, "--lease", 3]
        return stage.vera(*words, "--drain", "--quiet", *self.allowed(), fault=fault)

    def settle(self, stage: Stage, ended: Ended, fault: Fault, usual: int) -> None:
        # Time goes by: whoever is gone has not been seen for longer than its lease.
        database = (stage.folder / "database").read_text()
        server().query(database, "update vera_worker set seen = seen - interval '1 hour'")
        try:
            retried = stage.vera(*self.batch(stage), "--no-wait", "--retry-failed", *self.allowed())
            assert retried.code == 0, retried
            super().settle(stage, ended, fault, usual)
        finally:
            server().query("postgres", f"drop database {database} with (force)")

    def holds(self, stage: Stage, done: Ended) -> None:
        told = stage.vera(*self.batch(stage), *self.allowed())
        super().holds(stage, told)
        database = (stage.folder / "database").read_text()
        for rows in (
            "vera_worker",
            "vera_slot",
            "vera_attempt where outcome is null and lost is null",
            "procrastinate_jobs where status in ('todo', 'doing')",
        ):
            found = server().query(database, f"select count(*) from {rows}")
            assert found == [(0,)], f"left in the database: {rows}: {found}"


@functools.cache
def server() -> postgres.Server:
    """The database server of this process."""
    stack = contextlib.ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(postgres.server())


def is_here(scenario: object) -> bool:
    """Whether the part that a scenario needs is on this machine."""
    part = getattr(scenario, "part", "")
    return not part or parts.is_here(part)


__all__ = ["Cluster", "Local", "Path", "is_here"]
