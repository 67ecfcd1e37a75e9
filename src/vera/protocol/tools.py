"""The native form of a turn: one function call, whose arguments carry the rest of the turn.

Each tool is a function; `thought` comes first among its arguments, `note`, `evidence_used` and
`status_update` last. The final answer is a call of the function `final`. Of several calls the first runs
and the others are counted.

Accepted, and named in `recovered`: arguments as an object instead of a string (`arguments_object`), text
after them (`stray_text`), the thought beside the call instead of in it (`thought_from_content`), what
`variants`, `json_recovery` and `fields` name, and labelled lines without a call, read by the text form
(`text_form`).
"""

import hashlib
import json
import re
from collections.abc import Sequence
from typing import Any

from vera.protocol import fields, text
from vera.protocol.fields import MAX_TEXT, STATUSES, Draft, Wording, bounded, finish, too_long
from vera.protocol.json_recovery import Broken, clean, read_object, scrub
from vera.protocol.reasoning import after_reasoning
from vera.protocol.turn import FormatError, Parsed, ToolSpec, Turn
from vera.protocol.variants import FINAL, META, Reading, action_of

_WORDING = Wording(
    thought='Give the argument "thought": a sentence that says what you do next and why.',
    action='Call one function: a tool, or "final" with your answer.',
    evidence_used='Give the argument "evidence_used": ["ev_0001", "ev_0002"] with the ids this turn relies '
    "on, or [].",
    status_update=f'Give the argument "status_update": one of {", ".join(STATUSES)}.',
)
_FINAL_SPEC = ToolSpec(
    name=FINAL,
    description="Finish with the answer to the task, every statement of it cited.",
    properties={FINAL: {"type": "string"}},
    required=(FINAL,),
)


def definitions(tools: Sequence[ToolSpec]) -> list[dict[str, Any]]:
    """The OpenAI function definitions of these tools and of `final`.

    Arguments that a tool does not require may be null. Raises ValueError for a tool whose name or
    argument the protocol itself uses.
    """
    fields.refuse_reserved(tools)
    return [_definition(tool) for tool in (*tools, _FINAL_SPEC)]


def parse(content: str, tool_calls: Sequence[dict[str, Any]]) -> Parsed:
    """The turn that a reply is, or every error in it. Never raises.

    Where the call has no thought, the text beside it is the thought (`thought_from_content`).
    """
    if not tool_calls:
        return _without_call(content)
    name, raw = _called(tool_calls[0])
    size = len(content) + (len(raw) if isinstance(raw, str) else 0)
    if size > MAX_TEXT:
        return too_long(size)
    draft = Draft(ignored_actions=len(tool_calls) - 1)
    arguments = _arguments(draft, raw)
    if isinstance(arguments, FormatError):
        return Parsed(turn=None, errors=(arguments,), ignored_actions=draft.ignored_actions)
    _fill(draft, name, arguments)
    if not _is_text(draft.thought) and (said := after_reasoning(scrub(content))[0].strip()):
        draft.thought = said
        draft.recover("thought_from_content")
    received = size if isinstance(raw, str) else MAX_TEXT
    return bounded(finish(draft, _WORDING), received, _rendered_size)


def _called(call: object) -> tuple[Any, Any]:
    """The name and the arguments of a call, which may also come without `function` around them."""
    if not isinstance(call, dict):
        return None, None
    function = call.get("function")
    called = function if isinstance(function, dict) else call
    return called.get("name"), called.get("arguments")


def render(turn: Turn) -> tuple[str, list[dict[str, Any]]]:
    """The turn as (content, tool calls); `parse` gives back an equal turn for each that a parse can give.

    The call's id is made of its arguments, in the nine letters and digits that the strictest server takes.
    """
    action = turn.action
    arguments = {
        "thought": turn.thought,
        **(action.args if action.tool is not None else {FINAL: action.final}),
        "note": turn.note,
        "evidence_used": list(turn.evidence_used),
        "status_update": turn.status_update,
    }
    encoded = json.dumps(arguments, ensure_ascii=False)
    call = {
        "id": hashlib.sha256(encoded.encode("utf-8", "surrogatepass")).hexdigest()[:9],
        "type": "function",
        "function": {"name": action.tool or FINAL, "arguments": encoded},
    }
    return "", [call]


def _definition(tool: ToolSpec) -> dict[str, Any]:
    parameters = fields.closed_object(
        {
            "thought": {"type": "string"},
            **fields.arguments(tool),
            "note": fields.NOTE_SCHEMA,
            "evidence_used": fields.EVIDENCE_SCHEMA,
            "status_update": fields.STATUS_SCHEMA,
        }
    )
    function = {"name": tool.name, "description": tool.description, "parameters": parameters}
    return {"type": "function", "function": function}


def _without_call(content: str) -> Parsed:
    parsed = text.parse(content)
    if parsed.turn is None:
        error = FormatError("missing_tool_call", f"Your answer calls no function. {_WORDING.action}")
        return Parsed(turn=None, errors=(error,), ignored_actions=parsed.ignored_actions)
    return Parsed(
        turn=parsed.turn,
        ignored_actions=parsed.ignored_actions,
        recovered=("text_form", *parsed.recovered),
    )


def _arguments(draft: Draft, raw: Any) -> dict[str, Any] | FormatError:
    """The arguments, which the protocol says are JSON in a string, and some servers send as an object."""
    if raw is None or (isinstance(raw, str) and not raw.strip()):
        return {}
    if isinstance(raw, dict):
        draft.recover("arguments_object")
        try:
            cleaned: dict[str, Any] = clean(raw)
        except ValueError as error:
            return _bad_arguments("bad_json", str(error))
        return cleaned
    encoded = scrub(raw).strip() if isinstance(raw, str) else ""
    if not encoded.startswith("{"):
        return _bad_arguments("bad_json", "they are not an object")
    found = read_object(encoded, 0)
    if isinstance(found, Broken):
        return _bad_arguments(found.code, found.reason)
    draft.recover(*found.repaired)
    if re.search(r"\w", encoded[found.end :]):
        draft.recover("stray_text")
    return found.value


def _bad_arguments(code: str, reason: str) -> FormatError:
    message = f"The arguments of your call cannot be read as JSON: {reason}. Call the function again."
    return FormatError(code, message)


def _fill(draft: Draft, name: Any, arguments: dict[str, Any]) -> None:
    draft.thought = arguments.get("thought")
    draft.note = arguments.get("note")
    draft.evidence_used = arguments.get("evidence_used")
    draft.status_update = arguments.get("status_update")
    if not isinstance(name, str) or not name.strip():
        return
    own = {key: value for key, value in arguments.items() if key not in META}
    reading = action_of({"tool": name, "args": own})
    if not isinstance(reading, Reading):
        draft.action = reading
        return
    draft.action = reading.action
    if reading.action.tool is not None:
        draft.recover(*reading.deviations)
    elif FINAL not in own:
        draft.recover("variant:final")


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _rendered_size(turn: Turn) -> int:
    return len(render(turn)[1][0]["function"]["arguments"])
