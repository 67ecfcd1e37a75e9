"""`fetch`: a page from the web, taken by the host."""

from collections.abc import Mapping
from typing import Any

import msgspec

from vera.extraction.source import Unreadable
from vera.lane.capture import Capture
from vera.lane.tools import Call, Outcome, failed
from vera.protocol.turn import ToolSpec
from vera.sandbox.fetch.receipt import FetchError
from vera.sandbox.render.rendered import RenderError
from vera.sanitize import one_line

MAX_LINES = 400

SPEC = ToolSpec(
    name="fetch",
    description=(
        "Get a web page or document by its URL. Its bytes are kept and its text can be cited by lines. Long "
        "pages are shown in part; read the evidence id for the rest. With render true a browser shows the "
        "page first: only for a page whose text its scripts bring."
    ),
    properties={"url": {"type": "string"}, "render": {"type": "boolean"}},
    required=("url",),
)


class Fetch:
    """The tool over one capture."""

    spec = SPEC

    def __init__(self, capture: Capture) -> None:
        self._capture = capture

    async def run(self, args: Mapping[str, Any], call: Call) -> Outcome:
        url, render = args["url"], args.get("render", False)
        name = f"fetch {'--render ' if render else ''}{one_line(url)}"
        try:
            draft = await (self._capture.render(url) if render else self._capture.get(url))
        except (FetchError, RenderError) as error:
            return failed(name, error.kind, str(error))
        except Unreadable as unreadable:
            return failed(name, "unreadable", f"it came, but holds no text ({unreadable})")
        status = draft.http_status or 0
        moved = "" if draft.source == url.strip() else f" → {one_line(draft.source)}"
        said = f"HTTP {status}" if status else "HTTP status unknown"
        problem = _problem(status, draft.lines)
        return Outcome(
            header=f"{name}{moved} · {said} · {draft.lines} lines · captured",
            outcome="failed" if problem else "ok",
            error_type=problem,
            evidence=msgspec.structs.replace(draft, last=min(draft.last, MAX_LINES)),
        )


def _problem(status: int, lines: int) -> str:
    """The type of error of a page that came, '' for none."""
    if status >= 400:
        return f"http_{status}"
    return "" if lines else "unreadable"
