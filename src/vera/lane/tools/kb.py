"""`kb`: a source of an earlier session under the same base, as evidence of this one."""

from collections.abc import Mapping
from typing import Any, Protocol

import msgspec

from vera import events
from vera.lane.tools import Call, EvidenceDraft, Outcome, failed
from vera.protocol.turn import ToolSpec
from vera.sanitize import one_line
from vera.text.span import Lines

MAX_LINES = 400

SPEC = ToolSpec(
    name="kb",
    description=(
        "Bring a source that an earlier session captured, by its id (sha256:…). Its text can be cited by "
        "lines; nothing is fetched. Long sources are shown in part; read the evidence id for the rest."
    ),
    properties={"source": {"type": "string"}},
    required=("source",),
)


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """A source as an earlier session captured it: its evidence record, and the bytes that this names."""

    session: str
    evidence: events.Evidence
    text: bytes
    raw: bytes | None = None
    receipt: bytes | None = None
    opened: bytes | None = None


class NotKept(Exception):
    """There is no such source, or it cannot be relied on: a sentence that says why."""


class Library(Protocol):
    """The sources of earlier sessions."""

    def source(self, source: str) -> Kept:
        """The source with this id; every hash of it was checked. Raises NotKept."""
        ...


class Kb:
    """The tool over one library."""

    spec = SPEC

    def __init__(self, library: Library) -> None:
        self._library = library

    async def run(self, args: Mapping[str, Any], call: Call) -> Outcome:
        name = f"kb {one_line(args['source'], 80)}"
        try:
            kept = self._library.source(args["source"].strip())
        except NotKept as why:
            return failed(name, "not_found", str(why))
        found, lines = kept.evidence, len(Lines(kept.text))
        where = f"{one_line(found.source, 120)} · of {one_line(kept.session, 60)}"
        return Outcome(
            header=f"{name} · {where} · {lines} lines · captured",
            evidence=EvidenceDraft(
                tier="captured",
                source=found.source,
                summary=f"kb {where} · {lines} lines",
                text=kept.text,
                first=1,
                last=min(lines, MAX_LINES),
                lines=lines,
                title=found.title,
                media_type=found.media_type,
                extractor=found.extractor,
                raw=kept.raw,
                pages=found.pages,
                marks=found.marks,
                dated=found.dated,
                receipt=kept.receipt,
                opened=kept.opened,
                origin=found.origin,
                http_status=found.http_status,
                low_signal=found.low_signal,
            ),
        )
