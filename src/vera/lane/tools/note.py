"""`note`: a line for notes.md, which stays in view when old steps have left it."""

from collections.abc import Mapping
from typing import Any

from vera.lane.tools import Call, Outcome, failed
from vera.protocol.turn import ToolSpec

MAX_BYTES = 2000
"""A note is a thought, not a copy of a page."""

SPEC = ToolSpec(
    name="note",
    description="Append to notes.md what you learnt. Notes stay in view; old observations do not.",
    properties={"text": {"type": "string"}},
    required=("text",),
)


def bounded(text: str) -> str:
    """The note in at most MAX_BYTES bytes; a cut is marked."""
    data = text.strip().encode("utf-8", "replace")
    return data.decode() if len(data) <= MAX_BYTES else data[:MAX_BYTES].decode("utf-8", "ignore") + " […]"


class Note:
    """The tool. The lane writes the note, so that it is one event whichever way it came."""

    spec = SPEC

    async def run(self, args: Mapping[str, Any], call: Call) -> Outcome:
        text = bounded(args["text"])
        if not text:
            return failed("note", "empty", "the note is empty; write what you learnt")
        return Outcome(header="note · written to notes.md", note=text)
