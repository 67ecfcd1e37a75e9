"""`submit`: an answer written to a file under /work/output is the final answer.

Every file beside it is hashed and kept with the session.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from vera import events
from vera.evidence.reading import read_regular, walk
from vera.extraction.source import Unreadable
from vera.lane.tools import Call, Outcome, failed
from vera.protocol.turn import ToolSpec
from vera.sanitize import one_line

MAX_ANSWER = 1 << 20
MAX_FILE = 256 << 20
MAX_FILES = 500

SPEC = ToolSpec(
    name="submit",
    description=(
        "End with an answer that you wrote to a file under /work/output (Markdown or text, cited like any "
        "answer). Every file in that folder is kept with it."
    ),
    properties={"path": {"type": "string"}},
    required=("path",),
)


class Submit:
    """The tool over one workspace; `keep` stores a file's bytes under its name in the session's output."""

    spec = SPEC

    def __init__(self, workspace: Path, keep: Callable[[str, bytes], None]) -> None:
        self._workspace = workspace
        self._keep = keep

    async def run(self, args: Mapping[str, Any], call: Call) -> Outcome:
        path = args["path"].strip()
        name = f"submit {one_line(path)}"
        relative = path.removeprefix(f"{self._workspace}/").removeprefix("/work/")
        if not relative.startswith("output/"):
            return failed(name, "bad_arguments", "the answer must be a file under /work/output/")
        try:
            answer = read_regular(self._workspace, relative, MAX_ANSWER).decode("utf-8", "replace").strip()
        except Unreadable as unreadable:
            return failed(name, "unreadable", f"{unreadable}; write the answer there first")
        if not answer:
            return failed(name, "empty", "that file is empty; write the answer there first")
        return Outcome(
            header=f"{name} · taken as the final answer",
            final=answer,
            submitted=one_line(relative, 400),
            outputs=tuple(self._outputs(call)),
        )

    def _outputs(self, call: Call) -> list[events.Output]:
        kept = []
        root = self._workspace / "output"
        for entry in walk(root, MAX_FILES, of_session=True):
            shown = one_line(entry.path, 400)
            if entry.skipped:
                kept.append(events.Output(path=shown, problem=entry.skipped))
                continue
            try:
                data = read_regular(root, entry.path, MAX_FILE)
            except Unreadable as unreadable:
                kept.append(events.Output(path=shown, problem=str(unreadable)))
                continue
            self._keep(entry.path, data)
            kept.append(events.Output(path=shown, sha256=call.store.put(data), size=len(data)))
        return kept
