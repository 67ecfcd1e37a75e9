"""Where a run works: its sandbox, what is kept of it, and who may write to its work folder."""

import asyncio
import getpass
import json
import os
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from functools import partial

import msgspec

from vera import events
from vera.agent.errors import SetupError
from vera.agent.lanes import Environment
from vera.agent.web import Web
from vera.config.settings import SandboxSettings, Settings
from vera.gates.assert_first import missing
from vera.gates.kernel import Rules
from vera.model.types import Model
from vera.runtime.setup import Prepared
from vera.sandbox import image
from vera.sandbox.backends import choose, open_box
from vera.sandbox.box import SupervisedBox
from vera.sandbox.spec import BoxSpec, Quota
from vera.sandbox.types import BoxError, CommandResult, Refusal
from vera.session import Session
from vera.store import open_private

Open = Callable[[bool], Awaitable[SupervisedBox | None]]
"""Starts a box that may write to /work, or may not; None where none can be had. Raises SetupError."""


def refuse_unkept(settings: Settings) -> None:
    """Raise SetupError (2) for a promise that commands on this machine itself would not keep."""
    if settings.sandbox.backend != "host":
        return
    promises = {
        "--profile sealed": settings.sandbox.profile == "sealed",
        f"--egress {settings.egress.mode}": settings.egress.mode in ("none", "allowlist"),
    }
    if asked := " and ".join(name for name, is_asked in promises.items() if is_asked):
        raise SetupError(
            f"--sandbox host cannot keep {asked}: commands run on this machine itself and use its network as "
            "you do. Choose a sandbox (--sandbox docker or bubblewrap), --sandbox none for a run without "
            f"commands, or leave out {asked}.",
            2,
        )


def host_warning() -> str:
    """What a command without a sandbox can reach, in a line."""
    return (
        f"WARNING: commands run WITHOUT A SANDBOX, as {_user()} on this machine: they can read, change and "
        "delete every file that you can, look at your processes (VERA's own memory with its keys too), and "
        "reach the internet, your network and every service on this machine. Their environment holds no key."
    )


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return f"user {os.getuid()}"


def without_shell(prepared: Prepared, web: Web | None) -> Environment:
    """A place without a sandbox: the documents and the web."""
    found = prepared.found
    return Environment(
        extractor=prepared.extractor,
        box=None,
        corpus=found.corpus if found else None,
        files=found.stats.files if found else 0,
        web=web,
    )


async def open_place(
    session: Session,
    settings: SandboxSettings,
    prepared: Prepared,
    web: Web | None,
    model: Model,
    stack: AsyncExitStack,
    progress: image.Progress,
) -> Environment:
    """Where the lane works: a started box where one is wanted and can be had, else no shell, and it is said.

    The built-in model uses no shell, so no box is ever started for it. The image of a docker box is built
    when it is missing. Raises SetupError (exit code 5) when a backend or rights that were spelled out are not
    available.
    """
    found, no_shell = prepared.found, without_shell(prepared, web)
    if settings.backend == "none" or model.info.kind == "builtin":
        return no_shell
    spec = BoxSpec(
        work=session.workspace,
        input=found.folder if found else None,
        profile=settings.profile,
        privileged=settings.privileged,
        quota=Quota(settings.work_bytes, settings.work_files),
        run=session.root.name,
        forbidden=(session.root / "trace.jsonl", session.store.root),
    )
    box = await start_box(session, settings, spec, web, stack, progress)
    if box is None:
        return no_shell
    session.emit(
        events.Sandbox(backend=box.backend, isolation=box.isolation, profile=spec.profile, work_dir=box.work)
    )
    if box.backend == "host":
        progress.say(host_warning())
    return msgspec.structs.replace(no_shell, box=box, work_name=box.work, input_name=box.input)


async def start_box(
    session: Session,
    settings: SandboxSettings,
    spec: BoxSpec,
    web: Web | None,
    stack: AsyncExitStack,
    progress: image.Progress,
) -> SupervisedBox | None:
    """A started box, closed with `stack`; None where none can be had and none was insisted on, which is
    logged. Raises SetupError as `open_place` does."""
    record = BoxRecord(session)
    stack.callback(record.close)

    def passed_over(backend: str, why: BoxError) -> None:
        progress.say(f"sandbox: not {backend}: {why}")

    try:
        for backend in choose(settings.backend):
            await asyncio.to_thread(backend.reap)
        box = await open_box(
            settings.backend,
            spec,
            log=record.write,
            egress=web.proxy.serve if web else None,
            image=partial(image.ensure_image, settings.base_image, progress, may_build=settings.build),
            tell=record.tell,
            passed_over=passed_over,
        )
    except BoxError as error:
        progress.now("")
        must_be = settings.backend != "auto" or settings.profile == "lab" or settings.privileged
        if must_be or isinstance(error, Refusal):
            hint = f" Next: {error.hint}" if error.hint else ""
            raise SetupError(f"{error}{hint}", 5) from None
        session.emit(events.Sandbox(backend="none", isolation=f"the agent has no shell: {error}"))
        return None
    stack.push_async_callback(box.close)
    return box


async def open_guarded_place(
    session: Session,
    settings: Settings,
    rules: Rules,
    prepared: Prepared,
    stack: AsyncExitStack,
    progress: image.Progress,
) -> Environment:
    """Where the lane works: a box on its own workspace, without input folder and without network, which
    cannot write to /work while a required thesis is not SUPPORTED. Raises SetupError."""
    no_shell = Environment(extractor=prepared.extractor, box=None, corpus=None)
    if settings.sandbox.backend == "none":
        return no_shell

    def may_change() -> bool:
        return not missing(rules, session.state.attestations.values(), time.time())

    may_write = may_change()
    first = await _guarded(session, settings, stack, progress, may_write=may_write)
    if first is None:
        return no_shell
    again = settings.model_copy(
        update={"sandbox": settings.sandbox.model_copy(update={"backend": first.backend})}
    )

    async def reopen(may_write: bool) -> SupervisedBox | None:
        return await _guarded(session, again, stack, progress, may_write=may_write)

    box = GuardedBox(first, may_write, reopen, may_change)
    return msgspec.structs.replace(no_shell, box=box, work_name=first.work)


async def _guarded(
    session: Session,
    settings: Settings,
    stack: AsyncExitStack,
    progress: image.Progress,
    *,
    may_write: bool,
) -> SupervisedBox | None:
    folder = settings.run.input_dir
    spec = BoxSpec(
        work=session.workspace,
        profile=settings.sandbox.profile,
        work_read_only=not may_write,
        quota=Quota(settings.sandbox.work_bytes, settings.sandbox.work_files),
        hidden=(folder,) if folder else (),
        run=session.root.name,
        forbidden=(session.root / "trace.jsonl", session.store.root),
    )
    box = await start_box(session, settings.sandbox, spec, None, stack, progress)
    if box is not None:
        lock = "" if may_write else "; /work is read-only until the required theses are SUPPORTED"
        session.emit(
            events.Sandbox(
                backend=box.backend,
                isolation=f"{box.isolation}{lock}",
                profile=spec.profile,
                work_dir=box.work,
            )
        )
    return box


class BoxRecord:
    """What the session folder keeps of its boxes, `container.log` and `container_events.log`: `write` takes
    what a box wrote, `tell` what happened to it; each happening is a `container_event` too.

    After the run's end the session's log is sealed: how its last box ended is in the file alone.
    """

    def __init__(self, session: Session, lane: str = "main") -> None:
        self._session = session
        self._lane = lane
        self._output = open_private(session.root / "container.log", "ab")
        self._events = open_private(session.root / "container_events.log", "ab")

    def write(self, data: bytes) -> None:
        self._output.write(data)

    def tell(self, event: str, detail: str) -> None:
        line = {"time": round(time.time(), 3), "event": event, **({"detail": detail} if detail else {})}
        self._events.write(json.dumps(line, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
        if self._session.state.ended is None:
            self._session.emit(events.ContainerEvent(event=event, detail=detail), lane=self._lane)

    def close(self) -> None:
        self._output.close()
        self._events.close()


class GuardedBox:
    """A started `Box`; before each command `may_change` says whether it may write to /work.

    The mount decides, not the text of a command. When that changes, the box is ended with everything in it
    and one of the other kind takes its place: nothing goes on running under the old rights.
    """

    def __init__(self, box: SupervisedBox, writes: bool, open_: Open, may_change: Callable[[], bool]) -> None:
        self._box = box
        self._writes = writes
        self._open = open_
        self._may_change = may_change

    @property
    def backend(self) -> str:
        return self._box.backend

    @property
    def isolation(self) -> str:
        return self._box.isolation

    async def start(self) -> None:
        """It was started before it was guarded."""

    async def run(self, command: str, *, timeout: float) -> CommandResult:
        """Run one command under the rights of now. Raises BoxError."""
        may_write = self._may_change()
        if may_write != self._writes:
            await self._box.close()
            self._box = await self._opened(may_write)
            self._writes = may_write
        return await self._box.run(command, timeout=timeout)

    async def close(self) -> None:
        await self._box.close()

    async def _opened(self, may_write: bool) -> SupervisedBox:
        try:
            box = await self._open(may_write)
        except SetupError as error:
            raise BoxError(str(error)) from None
        if box is None:
            raise BoxError("The sandbox cannot be started again.")
        return box
