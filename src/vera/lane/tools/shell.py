"""`shell`: a command in the lane's sandbox."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vera.evidence.reading import read_regular
from vera.extraction.canonical.encoding import to_utf8
from vera.extraction.canonical.text import canonical
from vera.extraction.source import Unreadable
from vera.lane.capture import CommandPages
from vera.lane.drafts import Drafts, drafts, written
from vera.lane.notes import NotesMirror
from vera.lane.tools import Call, EvidenceDraft, Outcome, failed
from vera.protocol.turn import ToolSpec
from vera.sandbox.types import Box, BoxError, CommandResult
from vera.sanitize import one_line
from vera.text.span import Lines

MAX_OUTPUT = 8 << 20
"""Bytes of one command's output that are kept whole; of a larger one, its beginning and its end."""

SPEC = ToolSpec(
    name="shell",
    description=(
        "Run a bash command in a persistent shell (working folder, variables and functions stay). Output is "
        "stdout and stderr; it supports only what was computed, never what a document says."
    ),
    properties={"cmd": {"type": "string"}},
    required=("cmd",),
)


class Shell:
    """The tool over one started box and the mirror of notes.md in its workspace; `timeout` in seconds.

    `pages` makes evidence of what commands get from the web; None where they reach nothing.
    """

    spec = SPEC

    def __init__(
        self,
        box: Box,
        workspace: Path,
        notes: NotesMirror,
        timeout: float,
        pages: CommandPages | None = None,
    ) -> None:
        self._box = box
        self._notes = notes
        self._workspace = workspace
        self._timeout = timeout
        self._pages = pages
        self._drafts: Drafts = {}

    async def run(self, args: Mapping[str, Any], call: Call) -> Outcome:
        command = args["cmd"]
        name = f"shell {one_line(command, 80)}"
        before = self._notes.sync()
        drafts_before = self._drafts = drafts(self._workspace, self._drafts)
        try:
            result = await self._box.run(command, timeout=self._timeout)
        except BoxError as error:
            return failed(name, "sandbox", str(error))
        captured, about_pages = (
            await self._pages.of(command, call.evidence.values()) if self._pages else ((), ())
        )
        after = self._notes.sync()
        restored = after.restored or before.restored
        output, whole = printed(result, self._workspace)
        text = canonical(to_utf8(output)[0])
        lines = Lines(text)
        said = _sentence(result, whole, self._timeout)
        if restored:
            said += f" · /work/notes.md only grows: {restored}, and it was restored"
        return Outcome(
            header=f"{name} · {said} · observed",
            outcome="ok" if result.exit_code == 0 else "failed",
            error_type="" if result.exit_code == 0 else _error_type(result),
            exit_code=result.exit_code,
            note="\n".join(text for text in (before.appended, after.appended) if text),
            note_by="command",
            notes_restored=restored,
            wrote=self._written(drafts_before),
            captured=captured,
            said=about_pages,
            evidence=EvidenceDraft(
                tier="observed",
                source=one_line(command),
                summary=f"{name} · {said}",
                text=text,
                first=1,
                last=len(lines),
                lines=len(lines),
                media_type="text/plain",
                extractor=f"shell/{self._box.backend}",
                raw=None if output == text else output,
            ),
        )

    def _written(self, before: Drafts) -> tuple[str, ...]:
        """The final-like files that the command wrote, as the model names them."""
        self._drafts = drafts(self._workspace, before)
        return tuple(f"/work/{path}" for path in written(self._workspace, before, self._drafts))


def printed(result: CommandResult, workspace: Path) -> tuple[bytes, bool]:
    """All the command printed where it was kept and still is what was printed, else both its ends."""
    ends = result.head + result.tail
    if result.size <= len(ends):
        return ends, True
    if result.spool and result.size <= MAX_OUTPUT:
        try:
            spooled = read_regular(workspace, result.spool.removeprefix("/work/"), MAX_OUTPUT)
        except Unreadable:
            spooled = b""
        if hashlib.sha256(spooled).hexdigest() == result.sha256:
            return spooled, True
    left_out = f"\n[… {result.size - len(ends)} bytes of output were not kept …]\n"
    return result.head + left_out.encode() + result.tail, False


def _sentence(result: CommandResult, whole: bool, timeout: float) -> str:
    match result.reason:
        case "exited":
            said = f"exit {result.exit_code}"
        case "timeout":
            said = f"killed after {timeout:g} s, with everything it had started"
        case "output_limit":
            said = "killed: it printed too much"
        case "work_limit":
            said = "killed, with everything it had started"
        case reason:
            said = reason
    if result.room:
        said += f" · {result.room}"
    if result.shell != "kept":
        said += f" · shell {result.shell}"
    if not whole:
        said += f" · {result.size} bytes printed, both ends kept"
    return f"{said} · {result.seconds:.1f} s"


def _error_type(result: CommandResult) -> str:
    return "exit_code" if result.reason == "exited" else result.reason
