"""Runs under a dashboard, and jobs of the service: the server, or the run that it has started, meets the
fault; then another server on the same folder finds what was begun."""

import contextlib
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx

from assurance.crash_commands import BUILTIN, Typed
from assurance.crash_sessions import RESULTS, is_over, is_whole, keep_trajectory
from assurance.crash_stage import PATIENCE, Ended, Stage, until
from assurance.faults import NOTHING, Fault, calls, forks
from support.cli import records
from support.dashboard_runs import runs_in, said
from support.forked import Command
from vera import events
from vera.attestation.bundle import replay_bundle
from vera.attestation.signers import Signers
from vera.dashboard.sessions import SessionFolder, Sessions

QUESTION = "How long must a written offer be valid?"
FIELDS = {"task": QUESTION, "input_dir": "./documents"}
PORT = re.compile(r"http://127\.0\.0\.1:(\d+)")


class Server(Typed):
    """A server with one run. Its `first` starts it, asks, and waits until the run is over or one of the two
    is gone; then the server is killed, if it was not before."""

    words: tuple[str, ...] = ()
    can_be_timed = False

    def first(self, stage: Stage, fault: Fault = NOTHING) -> Ended:
        stage.environment["MODEL_BASE_URL"] = "builtin"
        with self.serving(stage, fault) as (client, command):
            with contextlib.suppress(httpx.TransportError):
                if client is not None and self.ask(stage, client):
                    wait(lambda: not alive(command) or self.rests(stage, client))
            code = command.code() or 0
            return Ended(code, command.said(1), command.said(2), calls(stage.state))

    @contextlib.contextmanager
    def serving(self, stage: Stage, fault: Fault = NOTHING) -> Iterator[tuple[httpx.Client | None, Command]]:
        """The server and a client of it; None where it ended before it listened."""
        variables = stage.variables(fault)
        with forks().begin([*self.words], stage.base, "", variables) as command:
            wait(lambda: PORT.search(command.said(1) + command.said(2)) or not alive(command))
            found = PORT.search(command.said(1) + command.said(2))
            if found is None or not alive(command):
                yield None, command
                return
            base = f"http://127.0.0.1:{found[1]}"
            headers = {"authorization": f"Bearer {self.token(stage, command)}", "x-vera": "1"}
            with httpx.Client(base_url=base, headers=headers, timeout=PATIENCE, trust_env=False) as client:
                yield client, command

    def token(self, stage: Stage, command: Command) -> str:
        raise NotImplementedError

    def ask(self, stage: Stage, client: httpx.Client) -> bool:
        """Start the run; whether it was taken."""
        raise NotImplementedError

    def rests(self, stage: Stage, client: httpx.Client) -> bool:
        """Whether the run is over, as the server says."""
        raise NotImplementedError

    def settle(self, stage: Stage, ended: Ended, fault: Fault, usual: int) -> None:
        stage.nothing_runs()
        with self.serving(stage) as (client, command):
            assert client is not None, command.said(2)
            self.go_on(stage, client)
            until(lambda: self.rests(stage, client), lambda: f"it does not end: {command.said(2)}")
            self.done(stage, client)

    def go_on(self, stage: Stage, client: httpx.Client) -> None:
        """What a person does who finds a run that broke off."""
        raise NotImplementedError

    def done(self, stage: Stage, client: httpx.Client) -> None:
        """What is true at the end."""
        raise NotImplementedError


class Dashboard(Server):
    """A run that the dashboard has started, and that its page resumes."""

    name = "run under the dashboard"
    words = ("dashboard", "--base-dir", ".", "--port", "0", "--no-open")

    def token(self, stage: Stage, command: Command) -> str:
        found = re.search(r"token=(\S+)", command.said(1))
        assert found is not None
        return found[1]

    def ask(self, stage: Stage, client: httpx.Client) -> bool:
        return client.post("/start", data=FIELDS).status_code < 400

    def sessions(self, stage: Stage) -> list[SessionFolder]:
        names = sorted(path.name for path in (stage.base / "work").glob("*"))
        return [Sessions(stage.base).by_work_dir(f"./work/{name}") for name in names]

    def rests(self, stage: Stage, client: httpx.Client) -> bool:
        runs = runs_in(stage.base)
        return bool(found := self.sessions(stage)) and not any(runs.status(each).alive for each in found)

    def go_on(self, stage: Stage, client: httpx.Client) -> None:
        for session in self.sessions(stage):
            status = runs_in(stage.base).status(session)
            if status.can_start:
                assert client.post(f"/s/{session.id}/run", data=FIELDS).status_code < 400
            elif status.can_resume:
                assert client.post(f"/s/{session.id}/resume").status_code < 400
        if not self.sessions(stage):
            assert self.ask(stage, client)

    def done(self, stage: Stage, client: httpx.Client) -> None:
        for session in self.sessions(stage):
            log = records(session.path)
            assert is_over(session.path, log), said(session)
            is_whole(session.path)
            keep_trajectory(stage, session.path)
            assert client.get(f"/s/{session.id}").status_code == 200


class Service(Server):
    """A job of research of the service. Where its run was killed, a person resumes its session, and whoever
    asked asks again."""

    name = "service job"
    words = ("serve", "--base-dir", ".", "--port", "0", "--input-root", "documents", *BUILTIN)

    def prepare(self, stage: Stage) -> None:
        super().prepare(stage)
        made = stage.vera("token", "add", "one")
        assert made.code == 0, made
        (stage.folder / "token").write_text(made.out.strip())

    def token(self, stage: Stage, command: Command) -> str:
        return (stage.folder / "token").read_text()

    def ask(self, stage: Stage, client: httpx.Client) -> bool:
        taken = client.post("/v1/research", json={"question": QUESTION})
        if taken.status_code < 400:
            (stage.folder / "job").write_text(taken.json()["id"])
        return taken.status_code < 400

    def job(self, stage: Stage, client: httpx.Client) -> dict[str, Any]:
        told = client.get(f"/v1/jobs/{(stage.folder / 'job').read_text()}")
        assert told.status_code == 200, told.text
        found: dict[str, Any] = told.json()
        return found

    def rests(self, stage: Stage, client: httpx.Client) -> bool:
        return self.job(stage, client)["status"] not in ("queued", "running")

    def go_on(self, stage: Stage, client: httpx.Client) -> None:
        if (stage.folder / "job").exists():
            until(lambda: self.rests(stage, client), lambda: "the job of before does not end")
            if self.job(stage, client)["status"] == "done":
                return
            for log in stage.base.glob("serve/*/work/*/trace.jsonl"):
                self.resume(stage, log.parent)
        assert self.ask(stage, client)

    def resume(self, stage: Stage, session: Path) -> None:
        log = records(session)
        if is_over(session, log) or not any(isinstance(each, events.LaneStarted) for each in log):
            return
        resumed = stage.vera("resume", session, "--quiet", *BUILTIN)
        assert resumed.code in RESULTS, resumed.said

    def done(self, stage: Stage, client: httpx.Client) -> None:
        assert self.job(stage, client)["status"] == "done"
        bundle = client.get(f"/v1/jobs/{(stage.folder / 'job').read_text()}/bundle")
        (stage.folder / "bundle.zip").write_bytes(bundle.content)
        assert replay_bundle(stage.folder / "bundle.zip", Signers(any_signer=True)).exit_code == 0
        for log in stage.base.glob("serve/*/work/*/trace.jsonl"):
            if any(isinstance(each, events.LaneStarted) for each in records(log.parent)):
                is_whole(log.parent)
                keep_trajectory(stage, log.parent)


def alive(command: Command) -> bool:
    """Whether a command still runs."""
    return command.code() is None


def wait(holds: Callable[[], object]) -> None:
    """Wait until something holds, but not for ever: what does not come then is missing afterwards."""
    ends = time.monotonic() + PATIENCE
    while not holds() and time.monotonic() < ends:
        time.sleep(0.01)
