"""From sampled turns to the one that runs: clusters of equal actions, agreement, the selector, the tie-break.

Nothing here reads a clock, a file or the log; only the selector may wait for a judge.
"""

import asyncio
import math
from collections.abc import Sequence
from typing import Any

import msgspec

from vera import events
from vera.protocol import Parsed
from vera.protocol.json_recovery import scrub
from vera.selection.equal import normal_form, shown
from vera.selection.options import SelectionOptions
from vera.selection.selector import (
    ActionCluster,
    Judge,
    SelectionContext,
    Selector,
    SelectorChoice,
    SelectorReply,
)

ALL_UNREADABLE = "all_unreadable"
NO_JUDGE = "no_judge"
NOT_ASKED = "not_asked"
DEADLINE = "deadline"
SELECTOR_ERROR = "selector_error"
BAD_VERDICT = "bad_verdict"
UNDECIDED = "undecided"

GRACE_S = 0.5
"""Seconds beyond the deadline of its judge in which a selector may make something of what it has."""

_MAX_REPLY_LENGTH = 20_000
_MAX_REASON_LENGTH = 500
_MAX_PROBLEM_LENGTH = 64
_MAX_TEXT_LENGTH = 100_000


class CheckedCandidate(msgspec.Struct, frozen=True, kw_only=True):
    """A candidate as selection sees it; `form` is '' for one that cannot be read.

    `form` is its action as equal actions are equal, `shown` as a judge sees it, `text` the whole turn.
    `codes` say what broke the format; `rejected` is the check that speaks against it and `reason` what it
    says.
    """

    form: str = ""
    shown: str = ""
    text: str = ""
    codes: tuple[str, ...] = ()
    rejected: str = ""
    reason: str = ""


def entry(parsed: Parsed, text: str) -> CheckedCandidate:
    """A candidate whose turn was read as `parsed`, from this text."""
    if parsed.turn is None:
        return CheckedCandidate(text=text, codes=tuple(error.code for error in parsed.errors))
    action = parsed.turn.action
    return CheckedCandidate(form=normal_form(action), shown=shown(action), text=text)


async def select(
    step: int,
    entries: Sequence[CheckedCandidate],
    selector: Selector | None,
    scene: SelectionContext,
    judge: Judge | None,
    how: SelectionOptions,
) -> events.Selection:
    """Choose one of the candidates (at least one). Without a selector the first runs.

    Raises nothing but cancellation: whatever a selector does is its verdict or a reason for the fallback.
    """
    if selector is None:
        return _result(step, entries, how, decider="off", selected=0)
    readable = [index for index, each in enumerate(entries) if each.form]
    if not readable:
        return _fallback(step, entries, how, ALL_UNREADABLE, "no candidate could be read")
    clusters = list(_clusters(entries).values()) if is_prepared(selector) else [[each] for each in readable]
    if (agreed := _uncontested(step, entries, selector, clusters, how)) is not None:
        return agreed
    if selector.judges and judge is None:
        return _fallback(step, entries, how, NO_JUDGE, "there is no model to judge")
    asked = _Asked(judge)
    options = [_option(entries, members) for members in clusters]
    picked = await _pick(selector, options, scene, asked, how)
    asked.judge = None  # a selector that would not stop asks no one any more
    return _decided(step, entries, clusters, how, picked, asked.calls)


def _uncontested(
    step: int,
    entries: Sequence[CheckedCandidate],
    selector: Selector,
    clusters: Sequence[list[int]],
    how: SelectionOptions,
) -> events.Selection | None:
    """The action that needs no selector: the only one that is left, or one that enough of the candidates
    take. None for no such action."""
    if len(clusters) == 1:
        several = len(clusters[0]) > 1
        reason = "all that are left take the same action" if several else "no other candidate is left"
        return _result(step, entries, how, decider="only_one", selected=clusters[0][0], reason=reason)
    if selector.judges and how.stop_on_agreement and (agreed := _agreed(clusters, how.agreement_threshold)):
        left = sum(map(len, clusters))
        reason = f"{len(agreed)} of {left} candidates take the same action"
        return _result(step, entries, how, decider="agreement", selected=agreed[0], reason=reason)
    return None


def is_prepared(selector: Selector) -> bool:
    """Whether candidates are checked and clustered before this selector sees them."""
    return bool(getattr(selector, "prepared", True))


class _Asked:
    """The judge while the selector may ask it, and how often it was asked."""

    def __init__(self, judge: Judge | None) -> None:
        self.judge = judge
        self.calls = 0

    async def __call__(self, scene: SelectionContext, options: Sequence[ActionCluster]) -> SelectorReply:
        if self.judge is None:
            return SelectorReply(problem=NO_JUDGE, reason="there is no model to judge")
        self.calls += 1
        reply = await self.judge(scene, options)
        self.calls -= reply.problem == NOT_ASKED
        return reply


async def _pick(
    selector: Selector,
    options: Sequence[ActionCluster],
    scene: SelectionContext,
    judge: Judge,
    how: SelectionOptions,
) -> SelectorChoice:
    """What the selector says, whatever it does: it may be a class of the user."""

    async def run() -> Any:
        return await selector.select(options, scene, judge, how)

    task = asyncio.ensure_future(run())
    try:
        await asyncio.wait({task}, timeout=how.deadline_s + GRACE_S)
    finally:
        if not task.done():
            task.cancel()
            task.add_done_callback(_forget)
    if not task.done():
        return SelectorChoice(
            problem=DEADLINE, reason=f"the selector took more than {how.deadline_s:g} seconds"
        )
    if task.cancelled() or (error := task.exception()) is not None:
        said = "it was cancelled" if task.cancelled() else f"{type(error).__name__}: {error}"
        return SelectorChoice(problem=SELECTOR_ERROR, reason=f"the selector failed: {said}")
    return _usable(task.result(), len(options))


def _forget(task: "asyncio.Task[Any]") -> None:
    if not task.cancelled():
        task.exception()


def _usable(given: Any, count: int) -> SelectorChoice:
    """What a selector gave back as a verdict on `count` options, or the problem that it is."""
    if not isinstance(given, SelectorChoice):
        said = f"the selector gave back {type(given).__name__}, not a SelectorChoice"
        return SelectorChoice(problem=BAD_VERDICT, reason=said)
    try:
        # A struct is not checked when it is made, so its members are checked here.
        picked = msgspec.convert(msgspec.to_builtins(given), SelectorChoice)
    except (msgspec.ValidationError, TypeError, ValueError, OverflowError) as error:
        return SelectorChoice(problem=BAD_VERDICT, reason=f"the selector's verdict has a wrong form: {error}")
    problem = _contradiction(picked, count)
    return SelectorChoice(problem=BAD_VERDICT, reason=problem) if problem else picked


def _contradiction(picked: SelectorChoice, count: int) -> str:
    """What in this verdict does not fit `count` options; '' when all does."""
    places = (*picked.tied, *picked.order, *(() if picked.chosen is None else (picked.chosen,)))
    if any(not 0 <= place < count for place in places):
        return f"the selector named an option that is not there (there are {count})"
    if picked.tied and picked.chosen is not None and picked.chosen not in picked.tied:
        return "the selector's choice is not among those that it calls equal to it"
    if len(picked.scores) not in (0, count) or not all(map(math.isfinite, picked.scores)):
        return "the selector's scores are not one finite number for each option"
    return ""


def _clusters(entries: Sequence[CheckedCandidate]) -> dict[str, list[int]]:
    """The candidates that are left, by their action, in order of first appearance.

    Left are those that no check rejects; all that can be read when every one is rejected.
    """
    readable = [index for index, each in enumerate(entries) if each.form]
    left = [index for index in readable if not entries[index].rejected] or readable
    clusters: dict[str, list[int]] = {}
    for index in left:
        clusters.setdefault(entries[index].form, []).append(index)
    return clusters


def _option(entries: Sequence[CheckedCandidate], members: Sequence[int]) -> ActionCluster:
    first = entries[members[0]]
    return ActionCluster(
        index=members[0],
        votes=len(members),
        action=first.shown,
        text=first.text[:_MAX_TEXT_LENGTH],
        size=min(len(entries[index].shown) for index in members),
    )


def _agreed(clusters: Sequence[list[int]], threshold: float) -> list[int]:
    """The largest cluster when its share of the candidates that are left is above the threshold, and no other
    is as large; else nothing."""
    largest, second = sorted(clusters, key=len, reverse=True)[:2]
    left = sum(map(len, clusters))
    return largest if len(largest) > max(threshold * left, len(second)) else []


def _decided(
    step: int,
    entries: Sequence[CheckedCandidate],
    clusters: Sequence[list[int]],
    how: SelectionOptions,
    picked: SelectorChoice,
    calls: int,
) -> events.Selection:
    """The selection that a verdict makes; where it says nothing, the fallback's."""
    order = picked.order or (tuple(range(len(clusters))) if picked.scores else ())
    scores = tuple(picked.scores[place] for place in order) if picked.scores else ()
    best = sorted(scores, reverse=True)
    seen: dict[str, Any] = {
        "compared": tuple(clusters[place][0] for place in order),
        "scores": scores,
        "margin": round(best[0] - best[1], 6) if len(best) > 1 else None,
        "judge_calls": calls,
        "output": _output(picked.replies),
    }
    if picked.chosen is None:
        problem = _one_line(picked.problem, _MAX_PROBLEM_LENGTH) or UNDECIDED
        return _fallback(step, entries, how, problem, picked.reason or "nothing was decided", **seen)
    tied = [clusters[place] for place in picked.tied]
    is_tie = len(tied) > 1
    chosen = min(tied, key=lambda each: _brevity(entries, each)) if is_tie else clusters[picked.chosen]
    parsed = clusters[picked.chosen][0] if calls else None
    return _result(
        step,
        entries,
        how,
        decider="tie_break" if is_tie else "selector",
        selected=chosen[0],
        reason=f"{picked.reason}; the shortest of {len(tied)} equals" if is_tie else picked.reason,
        parsed_index=parsed,
        **seen,
    )


def _brevity(entries: Sequence[CheckedCandidate], members: Sequence[int]) -> tuple[int, str]:
    """Shorter first; among equally long ones an order that does not hang on who came first."""
    return min(len(entries[index].shown) for index in members), entries[members[0]].form


def _fallback(
    step: int,
    entries: Sequence[CheckedCandidate],
    how: SelectionOptions,
    problem: str,
    reason: str,
    **seen: Any,
) -> events.Selection:
    """The configured one: the first candidate, or the first that can be read and that no check rejects."""
    valid = [members[0] for members in _clusters(entries).values()]
    selected = min(valid, default=0) if how.fallback == "first_valid" else 0
    return _result(
        step,
        entries,
        how,
        decider="fallback",
        selected=selected,
        reason=reason,
        fallback=how.fallback,
        fallback_reason=problem,
        **seen,
    )


def _result(
    step: int,
    entries: Sequence[CheckedCandidate],
    how: SelectionOptions,
    *,
    decider: str,
    selected: int,
    reason: str = "",
    **seen: Any,
) -> events.Selection:
    groups = {
        index: number for number, members in enumerate(_clusters(entries).values(), 1) for index in members
    }
    weighed = tuple(
        events.Weighed(
            action=each.form,
            codes=each.codes,
            rejected=each.rejected,
            reason=each.reason,
            group=groups.get(index, 0),
        )
        for index, each in enumerate(entries)
    )
    return events.Selection(
        step=step,
        selected=selected,
        decider=decider,
        selector=how.selector,
        reason=_one_line(reason, _MAX_REASON_LENGTH),
        weighed=weighed,
        seed=how.seed,
        **seen,
    )


def _one_line(text: str, most: int) -> str:
    return scrub(" ".join(text.split())[:most])


def _output(replies: Sequence[str]) -> str:
    kept = [scrub(reply[:_MAX_REPLY_LENGTH]) for reply in replies]
    return msgspec.json.encode(kept).decode() if kept else ""
