"""The selection of a step as the trajectory format of mini-swe-agent's verifier has it (`extra.verifier`).

Its members keep their names and meaning; `votes`, `order`, `scores`, `margin`, `decider`, `reason`,
`fallback`, `fallback_reason`, `rejected`, `sampling`, `judge` and `timings` are ours. Candidates are numbered
from 0 everywhere; `selection_index_base` is the number that the first has for the judge.
"""

from collections.abc import Sequence
from typing import Any

from vera import events
from vera.protocol import forms
from vera.report.candidate_steps import Load, SampledStep, Seen, action_of, actions_found, read_replies


def as_json(sampled: SampledStep, load: Load) -> dict[str, Any]:
    """What was sampled for the step and what became of it. `selected_index` is None while none is chosen.

    Raises StoreError when a text is missing or altered in the store.
    """
    chosen = sampled.selection or events.Selection(step=sampled.step, selected=-1, decider="")
    seen = sampled.seen()
    return {
        "enabled": bool(chosen.selector),
        "type": chosen.selector or None,
        "selected_index": sampled.selected,
        "selection_index_base": sampled.index_base,
        "candidates": [_candidate(each, sampled.protocol, load) for each in seen],
        "verifier_output": _output(sampled, chosen, load),
        "decider": chosen.decider,
        "reason": chosen.reason,
        "votes": [each.votes for each in seen],
        "order": list(chosen.compared),
        "scores": list(chosen.scores),
        "margin": chosen.margin,
        "fallback": chosen.fallback,
        "fallback_reason": chosen.fallback_reason,
        "rejected": [
            {"index": each.index, "check": each.weighed.rejected, "reason": each.weighed.reason}
            for each in seen
            if each.weighed.rejected
        ],
        "seed": chosen.seed,
        "sampling": {
            "asked": sampled.candidates.asked,
            "calls": sampled.candidates.calls,
            "problem": sampled.candidates.problem,
            **usage(sampled.calls),
        },
        "judge": {"calls": sampled.replies, **usage(sampled.judged)},
        "timings": {"sampling_s": sampled.candidates.seconds, "selection_s": chosen.seconds},
    }


def usage(calls: Sequence[events.Model]) -> dict[str, int]:
    """The tokens of model calls as their servers counted them; one that did not counts as nothing."""
    return {
        "prompt_tokens": sum(call.prompt_tokens or 0 for call in calls),
        "cached_tokens": sum(call.cached_tokens or 0 for call in calls),
        "completion_tokens": sum(call.completion_tokens or 0 for call in calls),
    }


def response(call: events.Model) -> dict[str, Any]:
    """One model call: how it ended, what it cost, how long it took in seconds."""
    said = {"finish_reason": call.finish_reason, "usage": usage([call]), "latency_s": call.latency_s}
    return {**said, "error": call.error} if call.error else said


def _candidate(seen: Seen, protocol: str, load: Load) -> dict[str, Any]:
    candidate = seen.candidate
    content = load(candidate.content)
    parsed = forms.parse(protocol, content, candidate.tool_calls)
    row: dict[str, Any] = {
        "index": seen.index,
        "content": content,
        "action": action_of(parsed),
        "actions_found": actions_found(parsed),
    }
    if parsed.errors:
        row["parse_error"] = " ".join(error.message for error in parsed.errors)
    if candidate.reasoning:
        row["reasoning_content"] = load(candidate.reasoning)
    if candidate.tool_calls:
        row["tool_calls"] = list(candidate.tool_calls)
    row |= {"finish_reason": candidate.finish_reason, "group": seen.weighed.group, "call": candidate.call}
    if seen.call is not None:
        row["latency_s"] = seen.call.latency_s
    return row


def _output(sampled: SampledStep, chosen: events.Selection, load: Load) -> dict[str, Any]:
    """As that format has it: `raw_output` and `response` of one judge call, lists of several."""
    output: dict[str, Any] = {"verifier_type": chosen.selector or None}
    if not sampled.replies:
        return output
    output["parsed_index"] = chosen.parsed_index
    replies = read_replies(load(chosen.output))
    responses = [response(call) for call in sampled.judged]
    if sampled.replies == 1:
        output["raw_output"] = "".join(replies)
        output["response"] = responses[0] if responses else None
    else:
        output |= {"raw_outputs": replies, "responses": responses}
    return output
