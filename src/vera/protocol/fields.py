"""The parts of a turn beside its action: their one normal form, and what is said when one is missing.

All three wire forms end here, so that equal turns are equal values whichever way they came. Accepted and
named in `recovered`: ids written otherwise than `[ev_0001, ev_0002]` (`evidence_style`), a status that is
cut at MAX_STATUS (`status_cut`).
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from vera.protocol.json_recovery import scrub
from vera.protocol.turn import Action, FormatError, Parsed, ToolSpec, Turn
from vera.protocol.variants import FINAL, META

MAX_TEXT = 1_000_000
"""Characters of one message; a longer one is not read at all."""

MAX_STATUS = 200
"""Characters of a status; the rest is cut."""

MAX_EVIDENCE = 256
"""Ids that one turn may name."""

STATUSES = ("IN_PROGRESS", "BLOCKED", "UNRESOLVED", "VERIFIED")
"""What a model is asked to choose from; any other short text is taken as it is."""

_NOTHING = frozenset({"", "none", "n/a", "na", "nil", "null", "-"})
_NO_ID = _NOTHING | {"and", "&"}
_ID = re.compile(
    r"(?:[eE][vV][_-]?(?P<number>[0-9]{1,9})|(?P<attestation>att_[0-9A-Za-z]{1,64}))(?::[0-9]+(?:[-–][0-9]+)?)?"
)
_BETWEEN_IDS = re.compile(r"[\s,;\[\]()\"'`*•]+")
_STATUS_EDGE = " *_`\"'"


class Wording(msgspec.Struct, frozen=True, kw_only=True):
    """How one wire form tells a model to write each required part."""

    thought: str
    action: str
    evidence_used: str
    status_update: str


class Draft(msgspec.Struct, kw_only=True):
    """The parts as one form found them, not yet judged. `errors` and `recovered` begin the lists."""

    thought: Any = None
    action: Action | FormatError | None = None
    note: Any = None
    evidence_used: Any = None
    status_update: Any = None
    ignored_actions: int = 0
    errors: list[FormatError] = []
    recovered: dict[str, None] = {}

    def recover(self, *names: str) -> None:
        """Name deviations that were accepted, each once and in order."""
        self.recovered.update(dict.fromkeys(names))


def finish(draft: Draft, wording: Wording) -> Parsed:
    """The turn, or everything that keeps the draft from being one."""
    errors = list(draft.errors)
    thought = one_text(draft.thought) if isinstance(draft.thought, str) else ""
    if not thought:
        errors.append(FormatError("missing_thought", wording.thought))
    action = draft.action or FormatError("missing_action", wording.action)
    note, evidence = _note(draft.note), _evidence(draft, wording)
    errors += [part for part in (action, note, evidence) if isinstance(part, FormatError)]
    status = _status(draft)
    if not status:
        errors.append(FormatError("missing_status_update", wording.status_update))
    turn = None
    # The isinstance checks repeat what `errors` says, for the type checker.
    if not errors and isinstance(action, Action) and isinstance(evidence, tuple):
        turn = Turn(
            thought=thought,
            action=action,
            note=note if isinstance(note, str) else None,
            evidence_used=evidence,
            status_update=status,
        )
    return Parsed(
        turn=turn,
        errors=tuple(errors),
        ignored_actions=draft.ignored_actions,
        recovered=tuple(draft.recovered),
    )


def too_long(size: int) -> Parsed:
    """The refusal of a message of `size` characters."""
    message = (
        f"Your message has {size:,} characters and was not read; at most {MAX_TEXT:,} are. "
        "Write a shorter one, and put long text into a file under /work."
    )
    return Parsed(turn=None, errors=(FormatError("too_long", message),))


def bounded(parsed: Parsed, received: int, rendered: Callable[[Turn], int]) -> Parsed:
    """`parsed`, refused where its turn would be too long when rendered, so that it can be read again.

    Escaping makes a control character six characters long, so only long messages need a look.
    """
    if parsed.turn is None or received < MAX_TEXT // 8 or (size := rendered(parsed.turn)) <= MAX_TEXT:
        return parsed
    return too_long(size)


def one_text(raw: str) -> str:
    """A thought or note in its normal form: line breaks are newlines, no blank edges, valid UTF-8."""
    return scrub(raw).replace("\r\n", "\n").replace("\r", "\n").strip()


def refuse_reserved(tools: Iterable[ToolSpec]) -> None:
    """Raises ValueError where a tool has a name, or an argument, that the protocol itself uses."""
    for tool in tools:
        if tool.name == FINAL:
            raise ValueError(f'No tool may be called "{FINAL}": the protocol uses the name for the answer.')
        if taken := [name for name in tool.properties if name in META]:
            raise ValueError(f'The argument "{taken[0]}" of {tool.name} is a part of every turn; rename it.')


def arguments(tool: ToolSpec, *, bounded: bool = False) -> dict[str, Any]:
    """The tool's argument schemas for strict decoding: all are written, an optional one may be null.

    With `bounded` a text has a greatest length, except for a command: the part of a command is another
    command.
    """
    return {
        name: _argument(name, schema, bounded)
        if name in tool.required
        else {"anyOf": [_argument(name, schema, bounded), {"type": "null"}]}
        for name, schema in tool.properties.items()
    }


def _argument(name: str, schema: Mapping[str, Any], bounded: bool) -> dict[str, Any]:
    if not bounded or schema.get("type") != "string" or "enum" in schema or name == "cmd":
        return dict(schema)
    return {**schema, "maxLength": LONG if name in ("text", "thesis", "url") else SHORT}


def text_schema(most: int, *, bounded: bool) -> dict[str, Any]:
    """The schema of a text of at most `most` characters, or of any text."""
    return {"type": "string", "maxLength": most} if bounded else {"type": "string"}


def evidence_schema(evidence: Sequence[str] | None, *, bounded: bool) -> dict[str, Any]:
    """The schema of `evidence_used`: with `evidence` only these ids (none of them: an empty list)."""
    listed = evidence is not None and 0 < len(evidence) <= MAX_LISTED
    items = {"type": "string", "enum": list(evidence or ())} if listed else EVIDENCE_ID
    most = 0 if evidence is not None and not evidence else MAX_USED
    return {"type": "array", "items": items, **({"maxItems": most} if bounded else {})}


def closed_object(properties: Mapping[str, Any]) -> dict[str, Any]:
    """A JSON Schema object with exactly these properties, in this order."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


TEXT_SCHEMA: dict[str, Any] = {"type": "string"}
NOTE_SCHEMA: dict[str, Any] = {"anyOf": [{"type": "string"}, {"type": "null"}]}
EVIDENCE_ID: dict[str, Any] = {"type": "string", "pattern": "^(ev_[0-9]{4,9}|att_[0-9A-Za-z]{1,64})$"}
EVIDENCE_SCHEMA: dict[str, Any] = {"type": "array", "items": EVIDENCE_ID}

LONG = 2000
"""Characters of a long text of a turn in a bounded schema: as many as llama.cpp's grammars count."""

SHORT = 600
"""Characters of a query, a path or an option in it."""

MAX_USED = 16
"""Ids of evidence that one turn names in it."""

MAX_LISTED = 200
"""Ids that it lists; of more any may be named."""
STATUS_SCHEMA: dict[str, Any] = {"type": "string", "enum": list(STATUSES)}


def _note(raw: Any) -> str | FormatError | None:
    if raw is None:
        return None
    if not isinstance(raw, str):
        return FormatError("bad_note", "The note must be a text, or left out when there is nothing to note.")
    note = one_text(raw)
    return None if note.casefold() in _NOTHING else note


def _evidence(draft: Draft, wording: Wording) -> tuple[str, ...] | FormatError:
    raw = draft.evidence_used
    if raw is None:
        return FormatError("missing_evidence_used", wording.evidence_used)
    ids: dict[str, None] = {}
    for word in _words(raw if isinstance(raw, list) else [raw]):
        found = _ID.fullmatch(word)
        if found is None:
            shown = scrub(word[:40])
            return FormatError(
                "bad_evidence_used",
                f'EVIDENCE_USED holds evidence ids and nothing else, but found "{shown}". '
                + wording.evidence_used,
            )
        ids[found["attestation"] or f"ev_{int(found['number']):04d}"] = None
        if len(ids) > MAX_EVIDENCE:
            return FormatError(
                "bad_evidence_used",
                f"EVIDENCE_USED names more than {MAX_EVIDENCE} ids. " + wording.evidence_used,
            )
    listed = f"[{', '.join(ids)}]" if isinstance(raw, str) else list(ids)
    if (raw.strip() if isinstance(raw, str) else raw) != listed:
        draft.recover("evidence_style")
    return tuple(ids)


def _words(items: Iterable[Any]) -> Iterator[str]:
    """What should be an id, in order; the name of its type for what is no text."""
    for item in items:
        for token in _BETWEEN_IDS.split(item) if isinstance(item, str) else [type(item).__name__]:
            word = token.strip(".")
            if word.casefold() not in _NO_ID:
                yield word


def _status(draft: Draft) -> str:
    if not isinstance(draft.status_update, str):
        return ""
    status = " ".join(scrub(draft.status_update).split()).strip(_STATUS_EDGE)
    if len(status) > MAX_STATUS:
        draft.recover("status_cut")
        status = status[:MAX_STATUS].strip(_STATUS_EDGE)
    return status
