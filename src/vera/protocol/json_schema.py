"""The JSON form of a turn: one object, for servers that decode under a JSON Schema.

    {"thought": "…", "action": {"tool": "shell", "args": {"cmd": "ls"}}, "note": null,
     "evidence_used": ["ev_0001"], "status_update": "IN_PROGRESS"}

`schema` keeps to what OpenAI's strict mode and the grammars of llama.cpp, vLLM and SGLang share: closed
objects with all members required, `anyOf`, `enum`, one `pattern`, and, where it is bounded, `maxLength` and
`maxItems`. The action is the object's own:
text around it, and JSON inside its strings, is never looked at. Further objects after the first are counted.

Accepted, and named in `recovered`: a fence around the object (`fenced`), text after it (`stray_text`), the
action's keys beside the turn's own (`variant:flat_turn`), what `variants`, `json_recovery` and `fields`
name, and labelled lines from a server that ignored the schema, read by the text form (`text_form`).
"""

import json
import re
from collections.abc import Sequence
from typing import Any

from vera.protocol import fields, text
from vera.protocol.fields import MAX_TEXT, STATUSES, Draft, Wording, bounded, finish, too_long
from vera.protocol.json_recovery import Broken, read_object, scrub
from vera.protocol.reasoning import after_reasoning
from vera.protocol.turn import FormatError, Parsed, ToolSpec, Turn
from vera.protocol.variants import SHAPES, Reading, action_of, bare, unknown_shape

_WORDING = Wording(
    thought='Give "thought": a sentence that says what you do next and why.',
    action=f'Give "action". {SHAPES}',
    evidence_used='Give "evidence_used": ["ev_0001", "ev_0002"] with the ids this turn relies on, or [].',
    status_update=f'Give "status_update": one of {", ".join(STATUSES)}.',
)
_WHOLE = 'Answer with one JSON object: {"thought", "action", "note", "evidence_used", "status_update"}.'
_BEGINS = re.compile(r"\s*+(?P<wrap>(?:`{3,}+|~{3,}+)[ \t]*+(?i:json)?+\s*+)?+\{")
_BETWEEN = re.compile(r"[\s,`~]*+(?=\{)")


def schema(
    tools: Sequence[ToolSpec],
    *,
    bounded: bool = False,
    may_answer: bool = True,
    evidence: Sequence[str] | None = None,
) -> dict[str, Any]:
    """The JSON Schema of a turn with these tools, for `response_format` json_schema with strict decoding.

    Arguments that a tool does not require may be null. With `bounded` texts and lists have a greatest length,
    for a server whose grammars count; commands and the answer have none, since the grammar would cut them in
    the middle of a word. Without `may_answer` the turn cannot be the answer. `evidence` are the ids that may
    be named (None: any). Raises ValueError for a tool whose name or
    argument the protocol itself uses.
    """
    fields.refuse_reserved(tools)
    calls = [
        fields.closed_object(
            {
                "tool": {"type": "string", "enum": [tool.name]},
                "args": fields.closed_object(fields.arguments(tool, bounded=bounded)),
            }
        )
        for tool in tools
    ]
    final = fields.closed_object({"tool": {"type": "null"}, "final": {"type": "string"}})
    return fields.closed_object(
        {
            "thought": fields.text_schema(fields.LONG, bounded=bounded),
            "action": {"anyOf": [*calls, final] if may_answer or not calls else calls},
            "note": {"anyOf": [fields.text_schema(fields.LONG, bounded=bounded), {"type": "null"}]},
            "evidence_used": fields.evidence_schema(evidence, bounded=bounded),
            "status_update": fields.STATUS_SCHEMA,
        }
    )


def parse(content: str) -> Parsed:
    """The turn that a reply is, or every error in it. Never raises."""
    if len(content) > MAX_TEXT:
        return too_long(len(content))
    tidy = scrub(content)
    body, reasoning = after_reasoning(tidy.lstrip("\ufeff"))
    begins = _BEGINS.match(body)
    if begins is None:
        return _without_object(content)
    draft = Draft()
    if tidy != content:
        draft.recover("surrogates")
    if reasoning:
        draft.recover("reasoning")
    if begins["wrap"]:
        draft.recover("fenced")
    found = read_object(body, begins.end() - 1)
    if isinstance(found, Broken):
        return _refused(found.code, f"Your answer cannot be read as JSON: {found.reason}. {_WHOLE}")
    draft.recover(*found.repaired)
    _fill(draft, found.value)
    _count_further(draft, body, found.end)
    return bounded(finish(draft, _WORDING), len(content), lambda turn: len(render(turn)))


def render(turn: Turn) -> str:
    """The turn as one line of JSON; `parse` gives back an equal turn for every turn that a parse can give."""
    return json.dumps(
        {
            "thought": turn.thought,
            "action": bare(turn.action),
            "note": turn.note,
            "evidence_used": list(turn.evidence_used),
            "status_update": turn.status_update,
        },
        ensure_ascii=False,
    )


def _refused(code: str, message: str) -> Parsed:
    return Parsed(turn=None, errors=(FormatError(code, message),))


def _without_object(content: str) -> Parsed:
    parsed = text.parse(content)
    if parsed.turn is None:
        return _refused("bad_json", f"Your answer is not a JSON object. {_WHOLE}")
    return Parsed(
        turn=parsed.turn,
        ignored_actions=parsed.ignored_actions,
        recovered=("text_form", *parsed.recovered),
    )


def _fill(draft: Draft, value: dict[str, Any]) -> None:
    draft.thought = value.get("thought")
    draft.note = value.get("note")
    draft.evidence_used = value.get("evidence_used")
    draft.status_update = value.get("status_update")
    action = value.get("action")
    if isinstance(action, dict):
        reading: Reading | FormatError | None = action_of(action) or unknown_shape(action)
    else:
        draft.recover("variant:flat_turn")
        reading = action_of(value)
    if isinstance(reading, Reading):
        draft.action = reading.action
        draft.recover(*reading.deviations)
    else:
        draft.action = reading


def _count_further(draft: Draft, body: str, position: int) -> None:
    """Further objects one after another are further turns; other text after the first is only named."""
    while between := _BETWEEN.match(body, position):
        found = read_object(body, between.end())
        if isinstance(found, Broken):
            break
        draft.ignored_actions += 1
        position = found.end
    if re.search(r"\w", body[position:]):
        draft.recover("stray_text")
