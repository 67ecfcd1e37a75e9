"""`fetch`: a page from the web, taken by the host."""

from collections.abc import Mapping
from typing import Any

import msgspec

from vera.evidence.source import Unreadable
from vera.lane.capture import Capture
from vera.lane.observation import one_line
from vera.lane.tools import Call, Outcome, failed
from vera.protocol.turn import ToolSpec
from vera.sandbox.fetch.receipt import FetchError

MAX_LINES = 400

SPEC = ToolSpec(
    name="fetch",
    description=(
        "Get a web page or document by its URL. Its bytes are kept and its text can be cited by lines. Long "
        "pages are shown in part; read the evidence id for the rest."
    ),
    properties={"url": {"type": "string"}},
    required=("url",),
)


class Fetch:
    """The tool over one capture."""

    spec = SPEC

    def __init__(self, capture: Capture) -> None:
        self._capture = capture

    async def run(self, args: Mapping[str, Any], call: Call) -> Outcome:
        name = f"fetch {one_line(args['url'])}"
        try:
            draft = await self._capture.get(args["url"])
        except FetchError as error:
            return failed(name, error.kind, str(error))
        except Unreadable as unreadable:
            return failed(name, "unreadable", f"it came, but holds no text ({unreadable})")
        status = draft.http_status or 0
        moved = "" if draft.source == args["url"].strip() else f" → {one_line(draft.source)}"
        return Outcome(
            header=f"{name}{moved} · HTTP {status} · {draft.lines} lines · captured",
            outcome="ok" if status < 400 else "failed",
            error_type="" if status < 400 else f"http_{status}",
            evidence=msgspec.structs.replace(draft, last=min(draft.last, MAX_LINES)),
        )
