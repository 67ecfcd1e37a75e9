"""A turn of the model in words: the call, its candidates, the one that was chosen, what the gates said."""

from vera import events
from vera.report.view.words import Load, counted, line_of_text
from vera.usage import EXTRACTS

_DECIDED = {
    "off": "no verifier is on",
    "only_one": "no other action was left",
    "agreement": "enough candidates agree",
    "tie_break": "the shortest of equals",
}


def tell(record: events.Record, load: Load) -> str:
    """The record in words; '' for one that another teller knows."""
    match record:
        case events.Model():
            return _call(record)
        case events.ModelIo():
            return f"The model said: {line_of_text(record.content, load) or _calls(record.tool_calls)}"
        case events.Candidates():
            made = f"{len(record.candidates)} of {counted(record.asked, 'candidate')}"
            fewer = f" Fewer came: {record.problem}" if record.problem else ""
            return f"{made} from {counted(record.calls, 'model call')} in {record.seconds:.1f} s.{fewer}"
        case events.Selection():
            return _chosen(record)
        case events.Assistant():
            return f"Turn {record.step}: {line_of_text(record.content, load) or _calls(record.tool_calls)}"
        case events.PolicyNotesGuard():
            return f"notes.md was restored: {record.detail}"
        case events.PolicyParseError():
            codes = f" ({', '.join(record.codes[:5])})" if record.codes else ""
            return f"Nothing ran: {record.reason}{codes}, {record.count} in a row."
        case events.Policy():
            return _gate(record)
        case events.PolicyChoice():
            followed = "follows" if record.matched else "does not follow"
            return f"The call of {record.tool} {followed} the verifier's advice."
        case events.Note():
            return f"Note ({record.by}): {record.text[:2000]}"
        case _:
            return ""


_ENDED = {
    "length": ", cut off at the model's limit",
    events.REPETITION: ", stopped because it only repeated itself",
}
"""How a call ended that did not come to its own end."""


def _call(call: events.Model) -> str:
    who = {"selector": "The selector", "verifier": "The verifier", EXTRACTS: "The built-in model"}.get(
        call.scope.partition(".")[0], "The model"
    )
    if call.scope.startswith("verifier"):
        who = f"The verifier ({call.scope})" if call.scope != "verifier" else who
    if call.error:
        return f"{who} did not answer within {call.latency_s:.1f} s: {call.error}"
    if call.prompt_tokens is None and call.completion_tokens is None:
        return f"{who} answered in {call.latency_s:.1f} s."
    cached = f" ({call.cached_tokens} cached)" if call.cached_tokens else ""
    tokens = f"{call.prompt_tokens or 0} tokens in{cached}, {call.completion_tokens or 0} out"
    cut = _ENDED.get(call.finish_reason, "")
    return f"{who} answered in {call.latency_s:.1f} s: {tokens}{cut}."


def _calls(tool_calls: tuple[dict[str, object], ...]) -> str:
    return counted(len(tool_calls), "native tool call") if tool_calls else "(nothing)"


def _chosen(choice: events.Selection) -> str:
    why = choice.reason or _DECIDED.get(choice.decider, "no reason is given")
    by = choice.selector if choice.decider == "selector" else choice.decider
    unused = f" The verdict could not be used: {choice.fallback_reason}" if choice.fallback_reason else ""
    return f"Candidate {choice.selected + 1} runs ({by}): {why}{unused}"


def _gate(gate: events.Policy) -> str:
    effect = {"refuse": "refuses", "nudge": "nudges", "end": "ends the run"}.get(gate.effect, gate.effect)
    name = events.gate_name(gate).removeprefix("policy_").replace("_", " ")
    way = f" {gate.way_forward}" if gate.way_forward else ""
    return f"Gate {name} {effect}{f' {gate.tool}' if gate.tool else ''}: {gate.reason}{way}"
