"""One step of a lane as values: what the model was asked and said, what came of it, and what spoke of it."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

import msgspec

from vera import events
from vera.dashboard.step_index import StepIndex, StepLine
from vera.events import Blob, Text, text_size
from vera.lane.context import assemble
from vera.model.types import Message, wire
from vera.prices import cost_in_words
from vera.protocol import Parsed, forms
from vera.report.candidate_steps import SampledStep, read_replies
from vera.report.view.choices import choice_view
from vera.report.view.lines import line_of
from vera.report.view.model import ChoiceView, EventLine
from vera.report.view.words import Load, cut, one_line, read
from vera.session import LogBroken, load_text
from vera.store import Store, StoreError
from vera.usage import SpentFold

MAX_MESSAGES = 400
"""Messages of a prompt that are shown: the newest."""

MAX_NEW_TEXT = 60_000
"""Characters of a message that is new in this step, and of an observation."""

MAX_OLD_TEXT = 8000
"""Characters of a message that an earlier step has shown."""

MAX_TEXT = 600_000
"""Characters of all messages together."""

MAX_PRETTY = 200_000
"""Characters of JSON that are laid out over lines."""

MAX_LOADED = 16 << 20
"""Bytes of a text that is read from the store for a page."""

MAX_REPLIES = 24
MAX_OTHERS = 200

SAME = "same"
DIFFERENT = "different"
UNREAD = "unread"


class MessageView(msgspec.Struct, frozen=True, kw_only=True):
    """A message of a prompt. `is_new`: the prompt of the step before does not have it. `left` characters are
    not shown."""

    role: str
    text: str
    is_new: bool
    left: int = 0
    calls: str = ""


class CallView(msgspec.Struct, frozen=True, kw_only=True):
    """A model call. `scope` says who asked; token counts are the server's, None where it gave none."""

    scope: str
    seconds: float
    prompt_tokens: int | None
    cached_tokens: int | None
    completion_tokens: int | None
    ended: str
    error: str


class VerdictView(msgspec.Struct, frozen=True, kw_only=True):
    """What a gate decided."""

    name: str
    effect: str
    reason: str
    way_forward: str
    reply: str


class EvidenceMade(msgspec.Struct, frozen=True, kw_only=True):
    """Evidence that a step made: lines `first` to `last` of the stored text `sha256` were shown."""

    id: str
    source: str
    summary: str
    tier: str
    sha256: str
    first: int
    last: int


class StoredText(msgspec.Struct, frozen=True, kw_only=True):
    """The beginning of a text; `left` characters are not shown. `sha256` is its name in the store, '' for a
    text that lies in the log. `problem`: why nothing is shown."""

    text: str = ""
    left: int = 0
    size: int = 0
    sha256: str = ""
    problem: str = ""


class ResultView(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a tool call; `seconds` of wall time."""

    tool: str
    outcome: str
    error_type: str
    exit_code: int | None
    seconds: float
    observation: StoredText


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """The turn: its parts where it has the form of one, else what is wrong with it; `raw` is all of it."""

    thought: str = ""
    note: str = ""
    tool: str = ""
    args: str = ""
    raw: StoredText = StoredText()
    reasoning: StoredText = StoredText()
    errors: tuple[str, ...] = ()


class StepView(msgspec.Struct, frozen=True, kw_only=True):
    """A step. `prompt` is '' where no model was asked, SAME when the prompt that was made again from the log
    has the hash that was logged, DIFFERENT when it has another, UNREAD when it cannot be made again (`why`).

    `before` and `behind` are the steps of the lane next to it, None at its ends; `folded` messages are older
    than those in `messages`. `replies` are the judge's words on the candidates, `others` the records of the
    step that have no place elsewhere on the page.
    """

    lane: str
    step: int
    before: int | None
    behind: int | None
    ts: float
    seconds: float
    cost: str
    prompt: str = ""
    why: str = ""
    prompt_sha256: str = ""
    prompt_bytes: int = 0
    messages: tuple[MessageView, ...] = ()
    left_out: int = 0
    calls: tuple[CallView, ...] = ()
    said: Said | None = None
    results: tuple[ResultView, ...] = ()
    evidence: tuple[EvidenceMade, ...] = ()
    gates: tuple[VerdictView, ...] = ()
    choice: ChoiceView | None = None
    replies: tuple[str, ...] = ()
    others: tuple[EventLine, ...] = ()


def loader(store: Store) -> Load:
    """Gives the texts of a session, none that is larger than a page can be made of."""

    def load(text: Text) -> str:
        if isinstance(text, Blob) and store.path(text.sha256).stat().st_size > MAX_LOADED:
            raise StoreError("That text is too large for a page.")
        return load_text(store, text)

    return load


def step_view(index: StepIndex, lane: str, step: int, load: Load) -> StepView | None:
    """The step of the lane; None when there is none of that number. Raises OSError, ValueError."""
    line = index.line(lane, step)
    if line is None:
        return None
    records = list(index.records(line))
    places = dict(zip((each.seq for each in records), (begin for begin, _ in line.places), strict=False))
    before, behind = _neighbours(index.lanes[lane], step)
    made = StepView(
        lane=lane,
        step=step,
        before=before,
        behind=behind,
        ts=line.ts,
        seconds=max(0.0, line.last_ts - line.ts),
        cost=_cost(index.settings, records),
        calls=tuple(_call(each) for each in records if isinstance(each, events.Model)),
        said=_said(records, index.protocol(lane), load),
        results=tuple(_result(each, load) for each in records if isinstance(each, events.Tool)),
        evidence=tuple(_evidence(each) for each in records if isinstance(each, events.Evidence)),
        gates=tuple(_gate(each, load) for each in records if isinstance(each, _GATES)),
        others=tuple(line_of(each, places[each.seq], load) for each in _others(records)),
    )
    choice, replies = _choice(records, index.protocol(lane), load)
    made = msgspec.structs.replace(made, choice=choice, replies=replies)
    asked = _asked(records)
    return made if asked is None else _with_prompt(made, index, asked, load)


def _neighbours(steps: Sequence[int], step: int) -> tuple[int | None, int | None]:
    """The steps before and behind one, None where there is none."""
    at = steps.index(step)
    return steps[at - 1] if at else None, steps[at + 1] if at + 1 < len(steps) else None


def request_of(index: StepIndex, line: StepLine, load: Load) -> tuple[bytes, bool] | None:
    """The messages that the model got at a step as JSON, and whether their hash is the logged one; None when
    it was not asked. Raises LogBroken, StoreError, OSError, ValueError."""
    asked = _asked(list(index.records(line)))
    if asked is None:
        return None
    sent = _wire(index, asked, load)
    return sent, hashlib.sha256(sent).hexdigest() == asked.request_sha256


_GATES = (events.Policy, events.PolicyNotesGuard)
_SHOWN = (
    events.Model,
    events.ModelIo,
    events.Assistant,
    events.ToolStarted,
    events.Tool,
    events.Evidence,
    events.Candidates,
    events.Selection,
    *_GATES,
)
"""Records that the page shows in other places."""


def _others(records: Sequence[events.Record]) -> list[events.Record]:
    return list(islice((each for each in records if not isinstance(each, _SHOWN)), MAX_OTHERS))


def _asked(records: Sequence[events.Record]) -> events.ModelIo | None:
    return next((each for each in records if isinstance(each, events.ModelIo)), None)


def _wire(index: StepIndex, asked: events.ModelIo, load: Load) -> bytes:
    if asked.request:
        return load(asked.request).encode("utf-8", "surrogatepass")
    return wire(assemble(index.asked_from(asked.lane, asked.step, asked.at_seq), load))


def _with_prompt(view: StepView, index: StepIndex, asked: events.ModelIo, load: Load) -> StepView:
    """The step with its prompt, and with what of it the prompt of the step before did not have."""
    replace = msgspec.structs.replace
    view = replace(view, prompt_sha256=one_line(asked.request_sha256, 64), prompt_bytes=asked.request_bytes)
    try:
        sent = _wire(index, asked, load)
        messages = msgspec.json.decode(sent, type=list[Message])
        known = _before(view, index, load)
    except (LogBroken, StoreError, OSError, ValueError, RecursionError) as error:
        return replace(view, prompt=UNREAD, why=one_line(str(error), 300))
    same = hashlib.sha256(sent).hexdigest() == asked.request_sha256
    old = 0
    while old < min(len(known), len(messages)) and known[old] == messages[old]:
        old += 1
    shown, left_out = _messages(messages, old)
    return replace(view, prompt=SAME if same else DIFFERENT, messages=shown, left_out=left_out)


def _before(view: StepView, index: StepIndex, load: Load) -> list[Message]:
    """The messages of the step before, none where there was none or it cannot be read."""
    line = index.line(view.lane, view.before) if view.before is not None else None
    if line is None:
        return []
    asked = _asked(list(index.records(line)))
    try:
        return [] if asked is None else msgspec.json.decode(_wire(index, asked, load), type=list[Message])
    except (LogBroken, StoreError, OSError, ValueError, RecursionError):
        return []


def _messages(messages: Sequence[Message], old: int) -> tuple[tuple[MessageView, ...], int]:
    """The newest messages as they are shown, and how many older ones are not; the first `old` were shown by
    an earlier step."""
    made: list[MessageView] = []
    room = MAX_TEXT
    for at in range(len(messages) - 1, max(-1, len(messages) - 1 - MAX_MESSAGES), -1):
        each = messages[at]
        text = pretty(each.content or "")
        most = min(MAX_NEW_TEXT if at >= old else MAX_OLD_TEXT, max(room, 200))
        calls = pretty(json.dumps(each.tool_calls, ensure_ascii=False)) if each.tool_calls else ""
        made.append(
            MessageView(
                role=one_line(each.role, 40),
                text=text[:most],
                is_new=at >= old,
                left=max(0, len(text) - most),
                calls=cut(calls, MAX_OLD_TEXT) if calls else "",
            )
        )
        room -= min(len(text), most)
    return tuple(reversed(made)), len(messages) - len(made)


def pretty(text: str) -> str:
    """JSON laid out over lines; every other text as it is."""
    if text.lstrip()[:1] not in ("{", "[") or len(text) > MAX_PRETTY:
        return text
    try:
        return json.dumps(json.loads(text), ensure_ascii=False, indent=2)
    except (ValueError, RecursionError):
        return text


def _call(call: events.Model) -> CallView:
    return CallView(
        scope=one_line(call.scope, 60),
        seconds=call.latency_s,
        prompt_tokens=call.prompt_tokens,
        cached_tokens=call.cached_tokens,
        completion_tokens=call.completion_tokens,
        ended=one_line(call.finish_reason, 40),
        error=one_line(call.error, 600),
    )


def _said(records: Sequence[events.Record], protocol: str, load: Load) -> Said | None:
    """The turn that was taken, else what the first call gave."""
    asked = _asked(records)
    turn = next((each for each in records if isinstance(each, events.Assistant)), None)
    spoken = turn or asked
    if spoken is None:
        return None
    reasoning = stored(asked.reasoning, load) if asked is not None else StoredText()
    raw = stored(spoken.content, load)
    said = Said(raw=raw, reasoning=reasoning)
    if turn is None:
        return said
    return _with_turn(said, forms.parse(protocol, read(turn.content, load), turn.tool_calls))


def _with_turn(said: Said, parsed: Parsed) -> Said:
    """The same with the parts of the turn, or with what is wrong with them."""
    if parsed.turn is None:
        errors = tuple(one_line(each.message, 300) for each in parsed.errors[:10])
        return msgspec.structs.replace(said, errors=errors)
    action = parsed.turn.action
    return msgspec.structs.replace(
        said,
        thought=cut(parsed.turn.thought, MAX_OLD_TEXT),
        note=cut(parsed.turn.note or "", MAX_OLD_TEXT),
        tool=one_line(action.tool or "answer", 100),
        args=cut(_args(action.args) if action.tool else action.final or "", MAX_OLD_TEXT),
    )


def _args(args: Mapping[str, Any]) -> str:
    """Arguments of a call: the only one as it is where it is a text, else as JSON."""
    only = next(iter(args.values())) if len(args) == 1 else None
    return only if isinstance(only, str) else json.dumps(args, ensure_ascii=False, indent=2, default=str)


def _result(result: events.Tool, load: Load) -> ResultView:
    return ResultView(
        tool=one_line(result.tool, 100),
        outcome=one_line(result.outcome, 40),
        error_type=one_line(result.error_type, 100),
        exit_code=result.exit_code,
        seconds=result.seconds,
        observation=stored(result.obs, load),
    )


def stored(text: Text, load: Load) -> StoredText:
    """The beginning of a text with its size, or why it is not shown."""
    size, name = text_size(text), text.sha256 if isinstance(text, Blob) else ""
    found = StoredText(size=size, sha256=name)
    if size > MAX_LOADED:
        return msgspec.structs.replace(found, problem="It is too large for a page.")
    try:
        shown = pretty(load(text))
    except (StoreError, OSError, ValueError):
        return msgspec.structs.replace(found, problem="Its text in the store is not there, or was altered.")
    return msgspec.structs.replace(found, text=shown[:MAX_NEW_TEXT], left=max(0, len(shown) - MAX_NEW_TEXT))


def _evidence(made: events.Evidence) -> EvidenceMade:
    return EvidenceMade(
        id=one_line(made.id, 60),
        source=one_line(made.source, 300),
        summary=one_line(made.summary, 300),
        tier=one_line(made.tier, 40),
        sha256=made.text.sha256,
        first=made.first,
        last=made.last,
    )


def _gate(gate: events.Policy | events.PolicyNotesGuard, load: Load) -> VerdictView:
    name = one_line(events.kind(gate).removeprefix("policy_").replace("_", " "), 60)
    if isinstance(gate, events.PolicyNotesGuard):
        reason = one_line(gate.detail, 600)
        return VerdictView(name=name, effect="nudge", reason=reason, way_forward="", reply="")
    return VerdictView(
        name=name,
        effect=one_line(gate.effect, 40),
        reason=one_line(gate.reason, 600),
        way_forward=one_line(gate.way_forward, 600),
        reply=cut(read(gate.reply, load), MAX_OLD_TEXT),
    )


def _choice(
    records: Sequence[events.Record], protocol: str, load: Load
) -> tuple[ChoiceView | None, tuple[str, ...]]:
    """The candidates of the step, and what the judge said of them."""
    sampled = next((each for each in reversed(records) if isinstance(each, events.Candidates)), None)
    if sampled is None:
        return None, ()
    selection = next((each for each in reversed(records) if isinstance(each, events.Selection)), None)
    view = choice_view(
        SampledStep(protocol=protocol, index_base=1, candidates=sampled, selection=selection), load
    )
    replies = read_replies(read(selection.output, load)) if selection is not None else []
    return view, tuple(cut(each, MAX_OLD_TEXT) for each in replies[:MAX_REPLIES])


def _cost(settings: Mapping[str, object], records: Sequence[events.Record]) -> str:
    spent = SpentFold()
    for each in records:
        spent.apply(each)
    return cost_in_words(settings, spent.now(0)) or ""
