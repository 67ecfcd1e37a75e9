"""What the model reads of a work folder that holds too much."""

import asyncio
from pathlib import Path

from vera.lane.notes import NotesMirror
from vera.lane.tools import Call
from vera.lane.tools.shell import Shell
from vera.sandbox.types import CommandResult
from vera.store import Store

ROOM = "/work holds 30 bytes in 2 files and may hold 20 in 9: delete some"


class FullBox:
    backend, isolation = "docker", "docker container"

    async def start(self) -> None: ...

    async def close(self) -> None: ...

    async def run(self, command: str, *, timeout: float) -> CommandResult:
        return CommandResult(
            exit_code=None, head=b"", size=0, sha256="", reason="work_limit", shell="restored", room=ROOM
        )


def test_the_model_is_told_why_its_command_was_stopped_and_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "log.md").touch()
    shell = Shell(FullBox(), tmp_path, NotesMirror(tmp_path / "log.md", tmp_path), 30.0)
    call = Call(room=1000, store=Store(tmp_path / "store"), evidence={})
    outcome = asyncio.run(shell.run({"cmd": "make data"}, call))
    assert outcome.error_type == "work_limit"
    assert f"killed, with everything it had started · {ROOM} · shell restored" in outcome.header
