"""The model that judges: asked about a scene and its options, each call in the log, its failure a word."""

import asyncio
import time
from collections.abc import Sequence

import msgspec

from vera.model.types import Completion, Message, Model, ModelError, NotAsked, Request, wire
from vera.selection.options import SelectionOptions
from vera.selection.pipeline import DEADLINE, NOT_ASKED
from vera.selection.selector import ActionCluster, SelectionContext, SelectorReply
from vera.selection.templates import TemplateError, Templates
from vera.session import Session
from vera.session.calls import log_call, log_failure

SCOPE = "selector"

JUDGE_FAILED = "judge_failed"
CUT_OFF = "cut_off"

MIN_ROOM = 6_000
"""Bytes of a prompt that are always used, however small the model's context."""

_BYTES_PER_TOKEN = 3


class ModelJudge:
    """Asks one model about the options of one step, until the moment `until` of the running loop's clock.

    It raises nothing of the model: a call that failed, came too late or was not made is a problem. Calls that
    are made are records `model` and `model_io` of scope `selector`, with their request.
    """

    def __init__(
        self,
        session: Session,
        lane: str,
        step: int,
        model: Model,
        templates: Templates,
        how: SelectionOptions,
        until: float,
    ) -> None:
        self._session = session
        self._lane = lane
        self._step = step
        self._model = model
        self._templates = templates
        self._how = how
        self._until = until

    async def __call__(self, scene: SelectionContext, options: Sequence[ActionCluster]) -> SelectorReply:
        try:
            request = self._request(scene, options)
        except TemplateError as error:
            return SelectorReply(problem=NOT_ASKED, reason=str(error))
        at_seq, sent, began = self._session.state.seq, wire(request.messages), time.monotonic()
        try:
            async with asyncio.timeout_at(self._until):
                completion = await self._model.complete(request)
        except NotAsked as why:
            return SelectorReply(problem=NOT_ASKED, reason=str(why))
        except TimeoutError:
            late = f"no answer within the {self._how.deadline_s:g} seconds of a selection"
            return self._failed(request, DEADLINE, late, sent, began)
        except ModelError as error:
            return self._failed(request, JUDGE_FAILED, str(error), sent, began)
        self._log(request, completion, at_seq, sent)
        choice = completion.choices[0]
        if choice.finish_reason == "length" and not choice.content.strip():
            return SelectorReply(
                problem=CUT_OFF, reason="the judge reached its token limit before it said anything"
            )
        return SelectorReply(content=choice.content)

    def _request(self, scene: SelectionContext, options: Sequence[ActionCluster]) -> Request:
        system, question = self._fitting(scene, options)
        started = self._session.state.lane(self._lane).started
        role = started.system_role if started else "system"
        if role == "user":
            messages: tuple[Message, ...] = (Message(role="user", content=f"{system}\n\n{question}"),)
        else:
            messages = (Message(role=role, content=system), Message(role="user", content=question))
        return Request(messages=messages, temperature=self._how.temperature, max_tokens=self._how.max_tokens)

    def _fitting(self, scene: SelectionContext, options: Sequence[ActionCluster]) -> tuple[str, str]:
        """The two messages; where they are too long for the model's context, without the oldest steps and
        the oldest evidence."""
        room = self._room()
        while True:
            system, question = self._templates.render(
                scene,
                options,
                index_base=self._how.selection_index_base,
                with_text=self._how.include_candidate_text,
            )
            size = len(system.encode("utf-8", "replace")) + len(question.encode("utf-8", "replace"))
            if size <= room or not (scene.steps or scene.evidence):
                return system, question
            scene = _shorter(scene)

    def _room(self) -> float:
        context = self._model.info.context_tokens
        if context is None:
            return float("inf")
        return max(MIN_ROOM, (context * 9 // 10 - self._how.max_tokens) * _BYTES_PER_TOKEN)

    def _log(self, request: Request, completion: Completion, at_seq: int, sent: bytes) -> None:
        log_call(
            self._session,
            self._lane,
            self._step,
            SCOPE,
            self._model.info.name,
            request,
            completion,
            at_seq=at_seq,
            sent=sent,
        )

    def _failed(
        self, request: Request, problem: str, reason: str, sent: bytes, began: float
    ) -> SelectorReply:
        said = log_failure(
            self._session,
            self._lane,
            self._step,
            SCOPE,
            request,
            reason,
            latency_s=time.monotonic() - began,
            sent=sent,
        )
        return SelectorReply(problem=problem, reason=f"the judge failed: {said}")


def _shorter(scene: SelectionContext) -> SelectionContext:
    """The scene without the older half of its steps or of its evidence, whichever takes more room."""
    steps, evidence = scene.steps, scene.evidence
    of_steps = sum(len(step.action) + len(step.observation) for step in steps)
    if steps and of_steps >= sum(map(len, evidence)):
        return msgspec.structs.replace(scene, steps=steps[(len(steps) + 1) // 2 :])
    return msgspec.structs.replace(scene, evidence=evidence[(len(evidence) + 1) // 2 :])
