"""The text form of a turn: labelled lines and one JSON object. The form that every model can write.

    THOUGHT: one line or several
    {"tool": "shell", "args": {"cmd": "ls /input"}}
    NOTE: a line for the notes (may be left out)
    EVIDENCE_USED: [ev_0001, ev_0002]
    STATUS_UPDATE: UNRESOLVED

**What runs.** The action is the first JSON object of an action's shape (`variants`) that begins a line, or
a fenced block, after the line with THOUGHT and outside a NOTE. Everything else is text: objects in the
middle of a line, objects inside the strings of another object (so whatever a final answer quotes), objects
before THOUGHT, under NOTE, and further down in a fenced block. An object of another shape is text too. A
broken object where the action should stand is an error and nothing after it is tried. Text between two
actions leaves open whether the first was only quoted: that is the error `ambiguous_action`. Two in a row,
or a second turn in one message: the first runs, the others are counted.

**What is not read.** Reasoning (`<think>…</think>` at the beginning, or all before a closing tag whose
opening the chat template wrote), and everything from a line that begins with OBSERVATION: observations are
the harness's to write.

**Names in `recovered`**, besides those of `variants` and `json_recovery`: `reasoning`, `preamble` (text
before the first label), `label_style` (case, Markdown, spelling, indentation), `label_order`,
`repeated_label` (the strictly written one counts, else the first; thoughts and notes are joined),
`action_label` (`ACTION:` before the object), `fenced`, `stray_text`, `second_turn`, `evidence_style`,
`status_cut`, `surrogates`, `hallucinated_observation`.

`parse` takes time linear in the length of the text and never raises.
"""

import json

from vera.protocol import lines
from vera.protocol.fields import MAX_TEXT, STATUSES, Wording, bounded, finish, too_long
from vera.protocol.json_recovery import scrub
from vera.protocol.reader import Reader
from vera.protocol.reasoning import after_reasoning
from vera.protocol.turn import FormatError, Parsed, Turn
from vera.protocol.variants import SHAPES, bare

_WORDING = Wording(
    thought='Begin your message with a line "THOUGHT: " that says what you do next and why.',
    action=f"Write the action as one line of JSON, on a separate line directly under THOUGHT. {SHAPES}",
    evidence_used='Write a line "EVIDENCE_USED: [ev_0001, ev_0002]" with the ids that this turn relies on, '
    'or "EVIDENCE_USED: []" if it relies on none.',
    status_update=f'End your message with a line "STATUS_UPDATE: " and one of {", ".join(STATUSES)}.',
)


def parse(text: str) -> Parsed:
    """The turn that a model's message is, or every error in it. Never raises."""
    if len(text) > MAX_TEXT:
        return too_long(len(text))
    tidy = scrub(text)
    body, reasoning = after_reasoning(tidy.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n"))
    draft = Reader(body).read()
    if tidy != text:
        draft.recover("surrogates")
    if reasoning:
        draft.recover("reasoning")
    if reasoning == "unclosed":
        draft.errors.append(
            FormatError("unclosed_reasoning", "Your reasoning never ends. Close it, then write the turn.")
        )
    return bounded(finish(draft, _WORDING), len(text), lambda turn: len(render(turn)))


def render(turn: Turn) -> str:
    """The turn in the strict form. `parse` gives back an equal turn for every turn that a parse can give.

    A line of a thought or note that looks like a label, an action or a fence gets a backslash before it.
    """
    parts = [
        f"THOUGHT: {lines.escape(turn.thought)}",
        json.dumps(bare(turn.action), ensure_ascii=False),
        f"EVIDENCE_USED: [{', '.join(turn.evidence_used)}]",
        f"STATUS_UPDATE: {turn.status_update}",
    ]
    if turn.note is not None:
        parts.insert(2, f"NOTE: {lines.escape(turn.note)}")
    return "\n".join(parts)
