"""Get the next turn of a lane: one completion, or several candidates and a selection."""

import time
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from vera import events
from vera.history import WEB_SEARCHES
from vera.lane import context
from vera.lane.budget import BudgetSpent, nearly_spent
from vera.lane.spec import LaneSpec
from vera.model.types import Completion, Model, ModelError, NotAsked, Request, wire
from vera.protocol import Parsed, ToolSpec, Turn, forms, json_schema, tools
from vera.sanitize import one_line
from vera.selection.chooser import Chooser
from vera.selection.options import Sampling
from vera.selection.sample import Call, NoCandidate, sample
from vera.selection.scene import scene
from vera.session import Session
from vera.session.calls import log_call, log_failure
from vera.state import LaneState

ANSWER_TOKENS = 1000
"""Assumed of one turn's own text."""

LOOKS_FIRST = 3
"""Turns after which a lane may answer that has read nothing."""

READING = frozenset(("search", "fetch", *WEB_SEARCHES))
"""Tools of a lane that has something to read."""

HOTTER = 0.4
"""Added to the temperature for each turn in a row that only repeated itself."""

HOTTEST = 1.2

DryRun = Callable[[Turn], tuple[str, str]]
"""What would send a turn back, and its words; ('', '') for nothing."""


class _Asked(msgspec.Struct, frozen=True):
    """A prompt: after which record it was made, its bytes, how many of them began the last one, its step."""

    at_seq: int
    sent: bytes
    prefix: int
    step: int


class Turns:
    """Asks for the turns of a lane and logs them; nothing of them is acted on here."""

    def __init__(
        self,
        session: Session,
        spec: LaneSpec,
        model: Model,
        tool_specs: Sequence[ToolSpec],
        chooser: Chooser | None,
    ) -> None:
        self._session = session
        self._spec = spec
        self._model = model
        self._specs = tool_specs
        self._chooser = chooser
        self._before = b""

    @property
    def _state(self) -> LaneState:
        return self._session.state.lane(self._spec.name)

    @property
    def answer_tokens(self) -> int:
        """The room for one turn: twice as much after the model was cut off again and again."""
        raised = self._state.history.times(events.PolicyLengthNudge)
        return self._spec.answer_tokens * (2 if raised else 1)

    async def ask(self, state: LaneState) -> None:
        """Ask the model and log its turn, or the candidates for it."""
        request = Request(
            messages=context.assemble(state, self._session.load),
            temperature=self._temperature(state),
            max_tokens=self.answer_tokens,
            schema=self._schema(state) if self._spec.protocol == "json_schema" else None,
            tools=tuple(tools.definitions(self._specs)) if self._spec.protocol == "tools" else (),
        )
        sent, step = wire(request.messages), state.step + 1
        asked = _Asked(self._session.state.seq, sent, context.shared_prefix(self._before, sent), step)
        try:
            # What is left near the end of a budget is for one whole answer, not for several cut ones.
            if self._chooser is None or self.nearly_spent(self._chooser.sampling.num_candidates):
                await self._one_turn(request, asked)
            else:
                await self._candidates(request, asked, self._chooser.sampling)
        except BudgetSpent as spent:
            self._emit(events.LaneEnded(reason=spent.limit, detail=str(spent)))
            return
        self._before = sent

    def _schema(self, state: LaneState) -> dict[str, Any]:
        """The schema of the next turn. Its grammar has no answer before something was read, where there is
        something to read, and only evidence that exists. It is bounded for servers of this network: hosted
        ones refuse `maxLength`."""
        run = self._session.state
        names = {spec.name for spec in self._specs}
        return json_schema.schema(
            self._specs,
            bounded=self._model.info.local,
            may_answer=bool(run.evidence) or state.step >= LOOKS_FIRST or not names & READING,
            evidence=None if "verify" in names else tuple(run.evidence),
        )

    def _temperature(self, state: LaneState) -> float:
        """The temperature of the next turn: another one after a turn that only repeated itself, which at the
        same temperature is the likeliest turn again."""
        usual = self._spec.temperature
        return max(usual, min(HOTTEST, round(usual + HOTTER * state.history.looped_turns, 3)))

    async def _one_turn(self, request: Request, asked: "_Asked") -> None:
        started = time.monotonic()
        try:
            completion = await self._model.complete(request)
        except NotAsked:
            raise
        except ModelError as error:
            self._log_failure(request, asked, str(error), time.monotonic() - started)
            raise
        content, choice = self._log_call(request, completion, asked), completion.choices[0]
        self._emit(
            events.Assistant(
                step=asked.step,
                content=content,
                tool_calls=choice.tool_calls,
                finish_reason=choice.finish_reason,
            )
        )

    async def _candidates(self, request: Request, asked: "_Asked", sampling: Sampling) -> None:
        try:
            sampled = await sample(self._model, request, sampling)
        except NoCandidate as none:
            self._log_calls(none.calls, asked)
            raise
        self._log_calls(sampled.calls, asked)
        made = [call for call in sampled.calls if call.made]
        keep = self._session.text
        self._emit(
            events.Candidates(
                step=asked.step,
                asked=sampling.num_candidates,
                candidates=tuple(
                    events.Candidate(
                        content=keep(choice.content),
                        reasoning=keep(choice.reasoning),
                        tool_calls=choice.tool_calls,
                        finish_reason=choice.finish_reason,
                        call=number,
                    )
                    for number, call in enumerate(made, 1)
                    for choice in (call.completion.choices if call.completion else ())
                ),
                calls=len(made),
                problem=one_line(sampled.problem, 500),
                seconds=round(sampled.seconds, 6),
            )
        )

    def _log_calls(self, calls: Sequence[Call], asked: "_Asked") -> None:
        """The calls of a step that were made; all have the same prompt."""
        for call in calls:
            if call.completion is not None:
                self._log_call(call.request, call.completion, asked)
            elif call.made:
                self._log_failure(call.request, asked, call.problem, call.latency_s)

    def _log_call(self, request: Request, completion: Completion, asked: "_Asked") -> events.Text:
        return log_call(
            self._session,
            self._spec.name,
            asked.step,
            self._spec.scope,
            self._model.info.name,
            request,
            completion,
            at_seq=asked.at_seq,
            sent=asked.sent,
            prefix=asked.prefix,
            keep_request=False,
        )

    def _log_failure(self, request: Request, asked: "_Asked", problem: str, seconds: float) -> None:
        log_failure(
            self._session,
            self._spec.name,
            asked.step,
            self._spec.scope,
            request,
            problem,
            latency_s=seconds,
            sent=asked.sent,
            prefix=asked.prefix,
        )

    async def choose(self, state: LaneState, sampled: events.Candidates, would: DryRun) -> None:
        """Choose one of the candidates, and log the choice and the turn. A choice that was logged stands."""
        chosen = sampled.candidates[0]
        if state.selected is not None:
            chosen = sampled.candidates[state.selected.selected]
        elif self._chooser is not None:  # else a run that sampled is resumed without
            session = self._session
            question = session.state.question
            task = session.load(question) if question is not None else ""
            selection = await self._chooser.choose(
                sampled,
                read=lambda each: self.parse(session.load(each.content), each.tool_calls),
                would=would,
                scene=scene(state, task, session.load, self.parse, self._chooser.history_steps),
                failing=state.failing,
            )
            self._emit(selection)
            chosen = sampled.candidates[selection.selected]
        self._emit(
            events.Assistant(
                step=sampled.step,
                content=chosen.content,
                tool_calls=chosen.tool_calls,
                finish_reason=chosen.finish_reason,
            )
        )

    def parse(self, content: str, tool_calls: Sequence[dict[str, Any]]) -> Parsed:
        """A message of the model in this lane's wire form."""
        return forms.parse(self._spec.protocol, content, tool_calls)

    def nearly_spent(self, first: int = 0) -> str:
        """The sentence that asks for an answer while something is left for it, after so many turns more; ''
        while there is more."""
        state = self._state
        turn_tokens = int(context.estimated_bytes(state) / state.bytes_per_token) + ANSWER_TOKENS
        spec, spent = self._spec, self._session.state.spent
        return nearly_spent(spec.limits, spent, turn_tokens, first * turn_tokens, spec.before)

    def _emit(self, event: events.Event) -> None:
        self._session.emit(event, lane=self._spec.name)
