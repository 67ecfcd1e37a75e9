"""What speaks against a candidate before anything runs: a command that bash cannot read, a call that just
failed, a gate that would send it back.

That an action is well-formed JSON is for the parsing of the turn to say.
"""

import asyncio
import contextlib
import os
import re
import shutil
import signal
from collections.abc import Sequence

from vera.protocol import Action
from vera.selection.equal import normal_form

BASH_SYNTAX = "bash_syntax"
REPEATS_FAILURE = "repeats_failure"

SECONDS = 2.0
MAX_COMMAND_LENGTH = 64_000
"""Bytes of a command that bash is asked about; a longer one passes."""

AT_ONCE = 4

_MEMORY_KB = 256 * 1024
_MAX_MESSAGE_LENGTH = 4096
_SAID = 300
_SYNTAX_ERROR = re.compile(rb"syntax error|unexpected|operator expected")
_LIMITED = (
    f"ulimit -t {int(SECONDS)}; ulimit -v {_MEMORY_KB}; ulimit -c 0; ulimit -f 0; "
    'exec "$0" --norc --noprofile -O extglob -n'
)


def repeats(action: Action, failed: Action | None, error_type: str) -> str:
    """Why this call is no use now: it is the one that failed last, and nothing has worked since. '' else."""
    if failed is None or action.tool is None or normal_form(action) != normal_form(failed):
        return ""
    return f"the same call has just failed ({error_type or 'error'}) and nothing has worked since"


async def bash_problems(commands: Sequence[str]) -> list[str]:
    """What `bash -n` (GNU bash manual, "The Set Builtin") says against each command, '' where nothing.

    It reads a command and runs nothing of it. On the host: with an empty environment, no start-up files, its
    own process group, limits on time and memory. Extended patterns are on, since an earlier command may have
    switched them on in the shell that would run it. Without bash, or when it finds no end, nothing is said.
    """
    bash = shutil.which("bash")
    if bash is None:
        return [""] * len(commands)
    distinct = [each for each in dict.fromkeys(commands) if each.strip()]
    free = asyncio.Semaphore(AT_ONCE)

    async def problem(command: str) -> str:
        async with free:
            return await _problem(bash, command.encode("utf-8", "replace"))

    said = dict(zip(distinct, await asyncio.gather(*map(problem, distinct)), strict=True))
    return [said.get(command, "") for command in commands]


async def _problem(bash: str, command: bytes) -> str:
    if len(command) > MAX_COMMAND_LENGTH:
        return ""
    try:
        process = await asyncio.create_subprocess_exec(
            bash,
            *("--norc", "--noprofile", "-c", _LIMITED, bash),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            cwd="/",
            env={},
            start_new_session=True,
        )
    except OSError:
        return ""
    try:
        async with asyncio.timeout(SECONDS):
            said, _ = await asyncio.gather(_first_bytes(process), _feed(process, command))
            failed = await process.wait() > 0
            return _sentence(said) if failed and _SYNTAX_ERROR.search(said) else ""
    except TimeoutError:
        return ""
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()


async def _feed(process: asyncio.subprocess.Process, command: bytes) -> None:
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        process.stdin.write(command)
        await process.stdin.drain()
    process.stdin.close()


async def _first_bytes(process: asyncio.subprocess.Process) -> bytes:
    """The beginning of what it says; the rest is read and forgotten, so that it is never blocked."""
    assert process.stderr is not None
    kept = b""
    while part := await process.stderr.read(_MAX_MESSAGE_LENGTH):
        kept = kept or part
    return kept


def _sentence(message: bytes) -> str:
    """The first line of an error: it quotes the command, so it is data."""
    first = message.decode("utf-8", "replace").strip().partition("\n")[0]
    said = "".join(c if c.isprintable() else " " for c in first[: 2 * _SAID]).partition(": ")[2][:_SAID]
    return f"bash cannot read it: {said.strip()}" if said.strip() else "bash cannot read it"
