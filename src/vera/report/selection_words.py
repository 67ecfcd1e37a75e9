"""Why a candidate was chosen, in words: a line for any viewer, a block for a terminal."""

import textwrap
from collections.abc import Iterator, Sequence

from vera import events
from vera.protocol import forms
from vera.report.candidate_steps import Load, SampledStep, Seen, action_of, read_replies
from vera.report.printable import one_printable_line, printable

NARROWEST = 40
WIDEST = 160
ACTION_SHOWN = 600
ACTION_LINES = 8
REASON_SHOWN = 400
INDENT = "    "

DECIDED = {
    "off": "no verifier is on, so the first candidate runs",
    "only_one": "no other action was left to choose from",
    "agreement": "enough candidates ask for the same action",
    "selector": "the selector preferred it",
    "tie_break": "it is the shortest of those that are equally good",
    "fallback": "the verdict could not be used",
}
"""What decided a choice, as a clause."""


def why(sampled: SampledStep) -> str:
    """`chosen 2/4 (agreement): …` on one line; '' while none is chosen."""
    selection, selected = sampled.selection, sampled.selected
    if selection is None or selected is None:
        return ""
    return f"chosen {selected + 1}/{sampled.count} ({_decider(selection)}): {_reason(selection)}"


def block(sampled: SampledStep, load: Load, width: int, *, whole: bool = False) -> str:
    """The step for a terminal of `width` columns: how it was decided, then the candidates one under another.

    With `whole` nothing is cut, and the judge's words are there too.
    """
    width = min(max(width, NARROWEST), WIDEST)
    lines = [*_wrapped(_sampling(sampled), width, "")]
    lines += _wrapped(why(sampled) or "none is chosen yet", width, "  ")
    if judged := _judge(sampled):
        lines += _wrapped(judged, width, "  ")
    for seen in sampled.seen():
        lines += _wrapped(_head(sampled, seen), width, "")
        lines += _candidate(seen, sampled.protocol, load, width, whole=whole)
    if whole and sampled.selection and sampled.selection.output:
        for reply in read_replies(load(sampled.selection.output)):
            lines += ["  the judge said:", *_cut(reply, width, whole=True)]
    return "\n".join(lines)


def _decider(selection: events.Selection) -> str:
    if selection.decider == "selector":
        return one_printable_line(selection.selector)[:REASON_SHOWN]
    if selection.decider == "fallback":
        return f"fallback {one_printable_line(selection.fallback)}".rstrip()[:REASON_SHOWN]
    return one_printable_line(selection.decider)[:REASON_SHOWN]


def _reason(selection: events.Selection) -> str:
    said = one_printable_line(selection.reason) or DECIDED.get(selection.decider, "no reason is given")
    parts = [said[:REASON_SHOWN].rstrip(".")]
    if selection.fallback_reason:
        parts.append(f"verdict: {one_printable_line(selection.fallback_reason)[:REASON_SHOWN]}")
    if selection.margin is not None:
        parts.append(f"margin {selection.margin:g}")
    return "; ".join(parts)


def _sampling(sampled: SampledStep) -> str:
    candidates = sampled.candidates
    parts = [
        f"Step {sampled.step}: {_count(sampled.count, 'candidate')}",
        f"of {candidates.asked} asked for" if candidates.asked != sampled.count else "",
        f"from {_count(candidates.calls, 'model call')}, {candidates.seconds:.1f} s",
    ]
    said = " ".join(part for part in parts if part) + _tokens(sampled.calls)
    if candidates.problem:
        said += f". Fewer came: {one_printable_line(candidates.problem)[:REASON_SHOWN]}"
    return said


def _judge(sampled: SampledStep) -> str:
    selection = sampled.selection
    if selection is None or not sampled.replies:
        return ""
    seconds = sum(call.latency_s for call in sampled.judged)
    shown = ", ".join(str(index + 1) for index in selection.compared)
    compared = f", shown {shown}" if shown else ""
    return f"judge: {_count(sampled.replies, 'call')}, {seconds:.1f} s{_tokens(sampled.judged)}{compared}"


def _head(sampled: SampledStep, seen: Seen) -> str:
    chosen, several = sampled.selected == seen.index, sampled.candidates.calls > 1
    parts = [
        f"{'▸' if chosen else ' '} {seen.index + 1}",
        "chosen" if chosen else "",
        _count(seen.votes, "vote") if seen.votes else "",
        f"score {seen.score:g}" if seen.score is not None else "",
        f"{seen.call.latency_s:.1f} s" if several and seen.call else "",
        "cut off at the model's limit" if seen.candidate.finish_reason == "length" else "",
        "repeated itself" if seen.candidate.finish_reason == events.REPETITION else "",
    ]
    return "  ".join(part for part in parts if part)


def _candidate(seen: Seen, protocol: str, load: Load, width: int, *, whole: bool) -> Iterator[str]:
    candidate, weighed = seen.candidate, seen.weighed
    if weighed.rejected:
        said = f"rejected by {one_printable_line(weighed.rejected)}"
        yield from _wrapped(f"{said}: {one_printable_line(weighed.reason)}"[:REASON_SHOWN], width, INDENT)
    if seen.first < seen.index:
        yield f"{INDENT}the same action as {seen.first + 1}"
        return
    parsed = forms.parse(protocol, load(candidate.content), candidate.tool_calls)
    action = action_of(parsed)
    if action is None:
        yield from _wrapped(f"no action: {', '.join(error.code for error in parsed.errors)}", width, INDENT)
        if whole:
            yield from _cut(load(candidate.content), width, whole=True)
    else:
        yield from _cut(action, width, whole=whole)


def _cut(action: str, width: int, *, whole: bool) -> Iterator[str]:
    """The text's lines, wrapped and indented; what is left out is counted."""
    shown = printable(action) if whole else printable(action[:ACTION_SHOWN])
    lines = [part for line in shown.split("\n") for part in _broken(line, width)]
    left = 0 if whole else max(0, len(action) - ACTION_SHOWN)
    if not whole and len(lines) > ACTION_LINES:
        left += sum(len(line.removeprefix(INDENT)) for line in lines[ACTION_LINES:])
        lines = lines[:ACTION_LINES]
    yield from lines
    if left:
        yield from _wrapped(f"[… about {left} more characters: --step or --json shows them]", width, INDENT)


def _wrapped(text: str, width: int, indent: str) -> list[str]:
    """A sentence of ours, wrapped between words."""
    return textwrap.wrap(text, width, initial_indent=indent, subsequent_indent=indent + "  ")


def _broken(line: str, width: int) -> list[str]:
    """A line of somebody's text, indented and broken wherever it is full, so that it stays what it is."""
    room = width - len(INDENT)
    return [INDENT + line[at : at + room] for at in range(0, len(line), room)] or [""]


def _tokens(calls: Sequence[events.Model]) -> str:
    """`, 812 tokens in (640 cached), 320 out`; '' where the server counted none."""
    given = sum(call.prompt_tokens or 0 for call in calls)
    cached = sum(call.cached_tokens or 0 for call in calls)
    paid = sum(call.completion_tokens or 0 for call in calls)
    if not given and not paid:
        return ""
    return f", {given} tokens in{f' ({cached} cached)' if cached else ''}, {paid} out"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
