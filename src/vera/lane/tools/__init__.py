"""What a lane's tools are, and the values they share. One file a tool; the caller hands a lane its list."""

from collections.abc import Mapping
from typing import Any, Protocol

import msgspec

from vera import events
from vera.protocol.turn import ToolSpec
from vera.sandbox.render.rendered import Picture
from vera.store import Store


class EvidenceDraft(msgspec.Struct, frozen=True, kw_only=True):
    """What a call brings as evidence, before it has an id. Fields as in `events.Evidence`."""

    tier: str
    source: str
    summary: str
    text: bytes
    first: int
    last: int
    lines: int
    lead: bool = False
    title: str = ""
    media_type: str = ""
    extractor: str = ""
    raw: bytes | None = None
    pages: tuple[int, ...] = ()
    receipt: bytes | None = None
    http_status: int | None = None
    low_signal: str = ""
    within: bytes | None = None
    marks: tuple[tuple[str, int, int], ...] = ()
    dated: str = ""
    carried: events.Carried | None = None
    opened: bytes | None = None
    origin: str = ""
    shown: Picture | None = None


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """A call's result: `header` says what it is; under it stands `body`, or without one the lines of the
    evidence.

    `outcome` is ok, failed or refused. `note` is a line for notes.md by `note_by`; `notes_restored` says why
    the mirror of notes.md was put back, `wrote` which final-like files a command wrote (as the model names
    them). `final` is the text of an answer handed in as the file `submitted`, `outputs` what was beside it.
    `captured` are pages that a command got and that are evidence beside its output, `said` further lines for
    the model.
    """

    header: str
    body: str = ""
    outcome: str = "ok"
    error_type: str = ""
    exit_code: int | None = None
    evidence: EvidenceDraft | None = None
    note: str = ""
    note_by: str = "model"
    notes_restored: str = ""
    final: str | None = None
    submitted: str = ""
    outputs: tuple[events.Output, ...] = ()
    wrote: tuple[str, ...] = ()
    captured: tuple[EvidenceDraft, ...] = ()
    said: tuple[str, ...] = ()


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """What a tool may know of the call it serves; `room` is how many bytes of an observation are shown."""

    room: int
    store: Store
    evidence: Mapping[str, events.Evidence]


class Tool(Protocol):
    """One thing a lane can do."""

    @property
    def spec(self) -> ToolSpec: ...

    async def run(self, args: Mapping[str, Any], call: Call) -> Outcome:
        """`args` fit the spec. Foreseeable failures are outcomes, never exceptions."""
        ...


def failed(header: str, error_type: str, sentence: str, *, exit_code: int | None = None) -> Outcome:
    """An outcome without evidence: `sentence` tells the model what happened and what to do instead."""
    return Outcome(
        header=f"{header} · error: {sentence}", outcome="failed", error_type=error_type, exit_code=exit_code
    )


def check_arguments(spec: ToolSpec, args: Mapping[str, Any]) -> str:
    """What is wrong with the arguments, in one sentence for the model; '' when nothing is."""
    known = ", ".join(spec.properties)
    for name in spec.required:
        if name not in args:
            return f"{spec.name} needs the argument {name!r} (its arguments: {known})."
    for name, value in args.items():
        if name not in spec.properties:
            return f"{spec.name} has no argument {name!r} (its arguments: {known})."
        schema = spec.properties[name]
        if not _fits(value, schema.get("type")):
            return f"{spec.name}: {name!r} must be of type {schema.get('type')}, not {type(value).__name__}."
        low, high = schema.get("minimum"), schema.get("maximum")
        if (
            isinstance(value, int | float)
            and low is not None
            and high is not None
            and not low <= value <= high
        ):
            return f"{spec.name}: {name!r} must lie between {low} and {high}, not {value}."
    return ""


def _fits(value: object, kind: object) -> bool:
    match kind:
        case "string":
            return isinstance(value, str)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "boolean":
            return isinstance(value, bool)
        case _:
            return False
