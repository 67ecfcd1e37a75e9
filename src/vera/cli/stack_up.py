"""Starting the stack: a sandbox that was really started once, and a dashboard in the background."""

import asyncio
import contextlib
import os
import re
import subprocess
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from vera.cli.progress import Progress
from vera.cli.stack_process import LOG, StackError, running, stack_folder
from vera.config.settings import DashboardSettings, SandboxSettings
from vera.dashboard import audit_log, run_process
from vera.dashboard.run_child import vera_command
from vera.report.printable import one_printable_line
from vera.sandbox.backends import open_box
from vera.sandbox.image import ensure_image
from vera.sandbox.spec import BoxSpec
from vera.sandbox.types import BoxError

READY_SECONDS = 60.0
SAID = "the sandbox works"
SAID_CHARACTERS = 20_000
ADDRESS = re.compile(r"(https?://[^\s/]{1,300})/\?token=(\S{1,300})")


def refuse_second(base: Path) -> None:
    """Raises StackError when there is a dashboard of the stack for this base folder already."""
    process = running(base)
    if process is not None:
        raise StackError(
            f"The stack of {base} is up already (process {process.pid}). To start it again: vera stack down"
        )


def check_sandbox(settings: SandboxSettings) -> str:
    """Start a box as a run would, run a command in it, and end it; a sentence on what it is.

    A machine without any backend is told so, and runs work without commands. Raises StackError when the
    backend that was asked for cannot start.
    """
    if settings.backend == "none":
        return "none, as configured: runs work without commands."
    try:
        return asyncio.run(_start_box(settings))
    except BoxError as error:
        hint = f" Next: {error.hint}" if error.hint else ""
        if settings.backend != "auto":
            raise StackError(f"The sandbox cannot be started: {error}{hint}") from None
        return f"none: runs work without commands. {error}{hint}"


async def _start_box(settings: SandboxSettings) -> str:
    progress = Progress()

    async def image() -> str:
        return await ensure_image(settings.base_image, progress, may_build=settings.build)

    with tempfile.TemporaryDirectory(prefix="vera-stack-") as folder:
        Path(folder).chmod(0o755)  # the user inside may be another one
        work = Path(folder) / "work"
        work.mkdir()
        spec = replace(BoxSpec(work=work), profile=settings.profile)
        box = await open_box(settings.backend, spec, image=image)
        try:
            result = await box.run(f"echo {SAID}", timeout=60)
        finally:
            await box.close()
            progress.done()
    if SAID.encode() not in result.head + result.tail:
        raise BoxError(f"A command in the {box.backend} sandbox did not run: {result.reason}.")
    return f"{box.backend}, started and ended ({box.isolation})"


def start(base: Path, settings: DashboardSettings, steps: int | None) -> str:
    """Start the dashboard detached and wait until it answers: the lines that say where it is.

    `steps` are what runs that it starts may take, 0 for unlimited, None for what is configured. Raises
    StackError.
    """
    folder = stack_folder(base)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with audit_log.acting(folder):
            refuse_second(base)
            child = _launch(base, folder, settings, steps)
    except (FileExistsError, audit_log.Busy):
        raise StackError("Another 'vera stack up' is at work here. Wait for it.") from None
    except OSError as error:
        raise StackError(f"The dashboard cannot be started: {error.strerror or error}.") from None
    address, token = _wait_until_it_listens(child, folder)
    return (
        f"READY (process {child.pid}, base folder {base})\n"
        f"  dashboard  {address}/?token={token}\n"
        f"  a session  {address}/?work_dir=./work/example\n"
        f"  metrics    {address}/metrics\n"
        f"  token      {token}\n"
        f"It goes on in the background; what it says is in {folder / LOG}.\n"
        "To end it: bash stop_stack.sh, or vera stack down"
    )


def _launch(
    base: Path, folder: Path, settings: DashboardSettings, steps: int | None
) -> "subprocess.Popen[bytes]":
    with contextlib.suppress(FileNotFoundError):
        (folder / run_process.PID_FILE).unlink()
    descriptor = run_process.claim(folder)
    try:
        child = _spawn(base, folder, settings, steps)
        run_process.write(descriptor, run_process.identity(child.pid))
        audit_log.write(folder, "started", pid=child.pid, host=settings.host, port=settings.port)
    finally:
        os.close(descriptor)
    return child


def _spawn(
    base: Path, folder: Path, settings: DashboardSettings, steps: int | None
) -> "subprocess.Popen[bytes]":
    command = vera_command("dashboard", "--base-dir", str(base), "--no-open")
    command += ["--host", settings.host, "--port", str(settings.port)]
    environment = dict(os.environ)
    if steps is not None:
        environment["MAX_STEPS"] = str(steps)
        environment.pop("VERA_RUN__MAX_STEPS", None)  # which would win over it
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(folder / LOG, flags, 0o600), "wb") as said:  # it will hold the token
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
            cwd=base,
            env=environment,
            start_new_session=True,
        )


def _wait_until_it_listens(child: "subprocess.Popen[bytes]", folder: Path) -> tuple[str, str]:
    """Its address and token as it says them, which it does when it listens. Raises StackError."""
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline:
        ended = child.poll() is not None
        said = (folder / LOG).read_text(errors="replace")[:SAID_CHARACTERS]
        if not ended and (found := ADDRESS.search(said)):
            return found[1], found[2]
        if ended:
            (folder / run_process.PID_FILE).unlink(missing_ok=True)
            lines = said.strip().splitlines() or [f"it ended with {child.returncode}."]
            last = one_printable_line(lines[-1])[:500].removeprefix("vera: ")
            raise StackError(f"The dashboard could not start: {last}")
        time.sleep(0.1)
    raise StackError(
        f"The dashboard does not answer. What it said is in {folder / LOG}; to end it: vera stack down"
    )
