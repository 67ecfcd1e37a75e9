"""A box that is started ahead of its run, by a process that waits for a task (`vera.batch.parked`).

A bind mount holds a folder and not its path. So the box is started on an empty folder, and when a session
wants one of just this kind, that folder is moved to the place of its empty workspace. Whatever differs, or
does not go well, ends the box, and the session starts one of its own as it always does.
"""

import asyncio
import os
import secrets
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from vera.agent.web import network_policy
from vera.config.settings import SandboxSettings, Settings
from vera.sandbox import mounts, recipe
from vera.sandbox.backends import choose
from vera.sandbox.begun import begin, give_up
from vera.sandbox.box import SupervisedBox, supervisor_source
from vera.sandbox.egress.tunnel import Serve
from vera.sandbox.engine_events import Tell
from vera.sandbox.environment import proxy_environment
from vera.sandbox.image import exists
from vera.sandbox.spec import Backend, BoxSpec, Launch, Quota
from vera.sandbox.types import BoxError, Refusal

LOOK_SECONDS = 10.0


@dataclass(frozen=True, kw_only=True)
class Ahead:
    """A box that waits: what it was made for, and its program."""

    settings: SandboxSettings
    spec: BoxSpec
    has_way_out: bool
    launch: Launch
    program: "subprocess.Popen[bytes]"

    def fits(self, settings: SandboxSettings, spec: BoxSpec, egress: Serve | None) -> bool:
        """Whether a box that is asked for differs from this one in its place only, which is empty and may be
        mounted."""
        placed = replace(self.spec, work=spec.work, run=spec.run, forbidden=spec.forbidden)
        if settings != self.settings or spec != placed or self.has_way_out != (egress is not None):
            return False
        try:
            mounts.check(spec)
            return not any(spec.work.iterdir())
        except (BoxError, OSError):
            return False


_waiting: list[Ahead] = []
"""The box of this process, if there is one."""


def research_spec(settings: SandboxSettings, work: Path, input_dir: Path | None) -> BoxSpec:
    """The box of a research lane, but for what belongs to one run."""
    return BoxSpec(
        work=work,
        input=input_dir,
        profile=settings.profile,
        privileged=settings.privileged,
        quota=quota_of(settings),
    )


def quota_of(settings: SandboxSettings) -> Quota:
    """What a work folder may hold."""
    return Quota(settings.work_bytes, settings.work_files)


def begin_ahead(settings: Settings, work: Path) -> None:
    """Start the box of a research run with these settings, on the empty folder `work`.

    Raises BoxError when there can be none: no backend that isolates, no image yet, or the lab profile, whose
    files are known to the engine by their path; and SetupError for a network rule that cannot be understood.
    """
    sandbox, folder = settings.sandbox, settings.run.input_dir
    if settings.run.lane != "research" or sandbox.profile == "lab":
        raise BoxError("This box is started by its run.")
    has_way_out = network_policy(settings.egress, closed=sandbox.profile == "sealed") is not None
    spec = research_spec(sandbox, work, folder.resolve() if folder else None)
    backends = [backend for backend in choose(sandbox.backend) if not backend.has_network]
    for backend in backends:
        backend.reap()
    launch = _launch(backends, replace(spec, env=proxy_environment() if has_way_out else {}), sandbox)
    program = begin(launch, supervisor_source())
    _waiting.append(
        Ahead(settings=sandbox, spec=spec, has_way_out=has_way_out, launch=launch, program=program)
    )


async def take_ahead(
    settings: SandboxSettings, spec: BoxSpec, log: Callable[[bytes], object], egress: Serve | None, tell: Tell
) -> SupervisedBox | None:
    """The box that waits in this process, ready to be used as the one that is asked for; else None.

    The arguments are those of `open_box`. A box that waits and is not the one is ended.
    """
    if not _waiting:
        return None
    ahead = _waiting.pop()
    if not await asyncio.to_thread(ahead.fits, settings, spec, egress):
        await asyncio.to_thread(give_up, ahead.launch, ahead.program)
        return None
    looking = False

    def logged(data: bytes) -> None:
        if not looking:
            log(data)

    box = SupervisedBox(ahead.launch, log=logged, egress=egress, tell=tell, begun=ahead.program)
    is_it = False
    try:
        await box.start()
        ahead.spec.work.rename(spec.work)  # not before: an engine that has yet to mount it goes by its path
        looking = True
        is_it = await _sees(box, spec.work)
    except (BoxError, OSError):
        return None
    finally:
        looking = False
        if not is_it:
            await box.close()
    return box if is_it else None


def is_waiting() -> bool:
    """Whether a box waits in this process."""
    return bool(_waiting)


def end_ahead() -> None:
    """End the box that waits, if there is one."""
    while _waiting:
        ahead = _waiting.pop()
        give_up(ahead.launch, ahead.program)


def _launch(backends: list[Backend], spec: BoxSpec, settings: SandboxSettings) -> Launch:
    """How the first backend that can starts it. Raises BoxError."""
    why = BoxError("There is no sandbox that can be started ahead.")
    for backend in backends:
        try:
            if not backend.has_image:
                return backend.launch(spec)
            name = recipe.image_name(settings.base_image)
            if not exists(name):
                raise Refusal(f"There is no image {name} yet.")
            return backend.launch(replace(spec, image=name))
        except Refusal:
            raise
        except BoxError as error:
            why = error
    raise why


async def _sees(box: SupervisedBox, work: Path) -> bool:
    """Whether the box's work folder is this one: an engine in a virtual machine may hold to the path."""
    name = f".vera-{secrets.token_hex(8)}"
    descriptor = os.open(work / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        return (await box.run(f"[ -e {box.work}/{name} ]", timeout=LOOK_SECONDS)).exit_code == 0
    finally:
        os.close(descriptor)
        (work / name).unlink(missing_ok=True)
