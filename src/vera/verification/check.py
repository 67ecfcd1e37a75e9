"""A check: one yes/no question, looked up in its own clean-room lane.

The lane gets the question, its source, the task and what evidence exists, never the worker's own words. Its
answer counts only with captured lines that it has read itself, or with the output of a command that it ran
itself: any other answer, and any failure, is `unknown` with its reason. A verifier that fails stops no run.
"""

import re
from collections.abc import Iterable, Sequence

from vera import events
from vera.audit.shown import was_read
from vera.evidence.prompt_quoting import fence, named
from vera.lane.loop import Lane
from vera.lane.policy import Policy
from vera.lane.spec import LaneSpec
from vera.lane.tools import Tool
from vera.lane.tools.lazy_shell import LazyShell
from vera.model.types import Model, ModelError
from vera.sandbox.types import BoxError
from vera.sanitize import one_line
from vera.state import LaneState
from vera.store import StoreError
from vera.text.span import Lines
from vera.usage import BYTES_PER_TOKEN
from vera.verification.ask import together
from vera.verification.context import VerifierContext, lane_of

REPEATS = 3
"""Failures of one kind in a row that end a check lane."""

EVIDENCE_LISTED = 40
TASK_ROOM = 4000
EVIDENCE_ROOM = 4000
"""Bytes of a check's first message that task and evidence list may take."""

Outcome = tuple[str, tuple[events.Cited, ...], str]
"""An answer, the citations that carry it, and why it is unknown."""

_TEMPLATES = ("check_system", "check_task")
_ANSWER = re.compile(r"\s*(yes|no|unknown)\s*(?:[.:;\[【\n—–-]|\Z)", re.IGNORECASE)


async def check_all(
    context: VerifierContext, number: int, questions: Sequence[events.Question]
) -> tuple[events.VerifierCheck, ...]:
    """Every question looked up, in order, as many at once as the model's endpoint serves.

    What a round that was interrupted has answered already is not asked again.
    """
    done = {(known.check, known.question): known for known in context.session.state.rounds[number].checks}

    async def one(index: int, question: events.Question) -> events.VerifierCheck:
        return done.get((index, question)) or await check(context, number, index, question)

    return tuple(await together(context, (one(index, asked) for index, asked in enumerate(questions, 1))))


async def check(
    context: VerifierContext, number: int, index: int, question: events.Question
) -> events.VerifierCheck:
    """One question looked up, and the answer logged.

    Raises LogError only: a model, source or sandbox that fails makes the answer `unknown`.
    """
    name = _free_name(context.session.state.lanes, f"check-{number}.{index}")
    answer, citations, reason = await _answer(context, name, question)
    return context.session.emit(
        events.VerifierCheck(
            round=number,
            check=index,
            question=question,
            check_lane=name,
            answer=answer,
            citations=citations,
            reason=reason,
        ),
        lane=lane_of(number),
    )


async def _answer(context: VerifierContext, name: str, question: events.Question) -> Outcome:
    if context.model is None:
        return "unknown", (), "there is no model to look it up"
    try:
        return _outcome(context, await _look_up(context, context.model, name, question))
    except (ModelError, BoxError, StoreError) as error:
        lane = context.session.state.lane(name)
        if lane.started and not lane.ended:
            context.session.emit(
                events.LaneEnded(reason="failed", detail=one_line(str(error), 500)), lane=name
            )
        return "unknown", (), f"the look-up failed: {one_line(str(error), 500)}"


async def _look_up(context: VerifierContext, model: Model, name: str, question: events.Question) -> LaneState:
    async with context.open_tools(name) as tools:
        spec = _spec(context, model, name, question, tools)
        lane = Lane(context.session, spec, model, tools, context.prompts, Policy(rules=context.options.rules))
        for tool in tools:
            if isinstance(tool, LazyShell):
                tool.keep_pages(lane.record)
        return await lane.run()


def _spec(
    context: VerifierContext, model: Model, name: str, question: events.Question, tools: Sequence[Tool]
) -> LaneSpec:
    options, info, prompts = context.options, model.info, context.prompts
    answer_tokens, high_tokens = options.answer_tokens, options.high_tokens
    if info.context_tokens is not None:
        answer_tokens = min(answer_tokens, info.context_tokens // 4)
        high_tokens = min(high_tokens, int(0.7 * info.context_tokens) - answer_tokens)
    state = context.session.state
    task = context.session.task_text()
    known = _known(state.evidence.values(), question.source)
    return LaneSpec(
        name=name,
        purpose="check",
        system=prompts.render(
            "check_system",
            protocol=info.protocol,
            tools=[tool.spec for tool in tools],
            steps=options.check_steps,
        ),
        task_message=prompts.render(
            "check_task",
            question=fence("question", named("question", question.question), TASK_ROOM).text,
            source=fence("source", named("source", question.source), TASK_ROOM).text,
            task=fence("primary task", named("task", task), TASK_ROOM).text,
            evidence=fence("evidence", known, EVIDENCE_ROOM).text if known else "",
        ),
        protocol=info.protocol,
        system_role=options.system_role,
        temperature=0.0,
        max_steps=options.check_steps,
        answer_tokens=answer_tokens,
        high_tokens=high_tokens,
        room=max(1500, min(8000, int(high_tokens * BYTES_PER_TOKEN) // 6)),
        scope="verifier_check",
        templates=_TEMPLATES,
        repeat_limit=REPEATS,
    )


def _known(evidence: Iterable[events.Evidence], source: str) -> list[tuple[str, str]]:
    """The captured evidence by id: what the question is about first, then the newest."""
    captured = [each for each in evidence if each.tier == "captured" and not each.lead]
    asked = [each for each in captured if source in (each.id, each.source)]
    rest = [each for each in reversed(captured) if source not in (each.id, each.source)]
    return [(each.id, each.summary) for each in (*asked, *rest)[:EVIDENCE_LISTED]]


def _free_name(taken: Iterable[str], name: str) -> str:
    """The name, or with b, c, … behind it when an interrupted run has used it."""
    names = {name, *(f"{name}{chr(letter)}" for letter in range(ord("b"), ord("z") + 1))}.difference(taken)
    return min(names, default=f"{name}z")


def _outcome(context: VerifierContext, lane: LaneState) -> Outcome:
    if lane.answer is None:
        ended = lane.ended
        why = (ended.detail or ended.reason) if ended else "it did not end"
        return "unknown", (), f"the look-up ended without an answer: {why}"
    said = _ANSWER.match(context.session.load(lane.answer.text))
    if said is None:
        return "unknown", (), "the answer is not one of the words yes, no and unknown with its citation"
    evidence = context.session.state.evidence
    carried = tuple(
        cited
        for cited in lane.answer.citations
        if not cited.problem
        and _carries(evidence[cited.evidence], lane.name)
        and was_read(evidence, cited, lane.name, _lines(context, evidence[cited.evidence]))
    )
    answer = said[1].lower()
    if answer == "unknown":
        return answer, carried, "the source does not decide it"
    if not carried:
        why = f"it said {answer}, but cited no lines that it read and no command that succeeded"
        return "unknown", (), why
    return answer, carried, ""


def _lines(context: VerifierContext, evidence: events.Evidence) -> Lines | None:
    try:
        return Lines(context.session.store.get(evidence.text.sha256))
    except StoreError:
        return None


def _carries(evidence: events.Evidence, lane: str) -> bool:
    """Whether lines of it can decide a check: captured with content, or printed by its own command."""
    if evidence.tier == "captured":
        return not evidence.lead and (evidence.http_status or 200) < 400
    return evidence.lane == lane and evidence.tool == "shell" and evidence.exit_code == 0
