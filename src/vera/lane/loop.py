"""The one loop: a lane thinks, acts and observes until it has answered or must stop.

It keeps no memory itself. What comes next is read off the folded log (`LaneState`), so a run that was
killed between any two records goes on from there: a logged turn is acted on without asking the model
again, and an effect that was started is never started twice.
"""

import asyncio
import json
import time
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any, TypeVar

from vera import events
from vera.evidence.moves import CallIntent
from vera.extraction.marks import told
from vera.gates.parse_error import limit_of
from vera.lane import context
from vera.lane.advice import follows
from vera.lane.answer import resolve
from vera.lane.at_work import AtWork
from vera.lane.observation import captured, observation, shown
from vera.lane.policy import GateRunner, Policy
from vera.lane.prompts import Prompts
from vera.lane.spec import LaneSpec
from vera.lane.tools import Call, EvidenceDraft, Outcome, Tool, check_arguments, failed
from vera.lane.tools.note import bounded
from vera.lane.turns import Turns
from vera.model.types import Model
from vera.protocol import Parsed, Turn
from vera.sandbox.render.rendered import Picture
from vera.sanitize import one_line
from vera.selection.chooser import Chooser
from vera.session import Session
from vera.state import LaneState
from vera.text.span import Lines

SUBMIT = "submit"
BROKEN_SHOWN = 200
"""Characters of a turn that broke the format, as the model sees it again: all of it would be an example."""

E = TypeVar("E", bound=events.Event)


class Lane:
    """A lane at work on a session. `run` returns its final state; `stop` ends it at the next safe point.

    With a `chooser` several turns are sampled for each step and it chooses the one that counts. `at_work` is
    told that commands work for this lane.
    """

    def __init__(
        self,
        session: Session,
        spec: LaneSpec,
        model: Model,
        tool_list: Sequence[Tool],
        prompts: Prompts,
        policy: Policy = Policy(),  # noqa: B008 (it is frozen)
        chooser: Chooser | None = None,
        at_work: AtWork | None = None,
    ) -> None:
        self._session = session
        self._spec = spec
        self._tools = {tool.spec.name: tool for tool in tool_list}
        self._prompts = prompts
        self.gate_runner = GateRunner(session, spec.name, policy, prompts)
        self._at_work = at_work
        self._turns = Turns(session, spec, model, [tool.spec for tool in tool_list], chooser)
        self._rules = policy.rules
        self._by = "builtin" if model.info.kind == "builtin" else "model"
        self._brought: list[tuple[events.Evidence, bool]] = []
        self._said: list[str] = []
        self._stop_reason = ""
        self._stop_at_once = False
        self._current: asyncio.Task[None] | None = None

    @property
    def name(self) -> str:
        return self._spec.name

    @property
    def max_steps(self) -> int:
        """Turns that the lane may take; 0 is unlimited."""
        return self._spec.max_steps

    @property
    def state(self) -> LaneState:
        return self._session.state.lane(self._spec.name)

    def stop(self, reason: str, *, at_once: bool = True) -> None:
        """End the lane as soon as what is being waited for could be cancelled, or, not at once, when the step
        that runs is done, its action included; nothing logged is lost."""
        self._stop_reason = reason
        self._stop_at_once = self._stop_at_once or at_once
        if at_once and self._current is not None:
            self._current.cancel()

    async def run(self) -> LaneState:
        """Work until the lane has ended.

        Raises ModelError when the model cannot be reached any more: the session can be resumed.
        """
        if self._at_work is not None:
            self._at_work.begin(self.record, self.gate_runner)
        if self.state.started is None:
            self._start()
            self.gate_runner.begin()
        while (state := self.state).ended is None:
            if state.answer is not None:
                self._emit(events.LaneEnded(reason="answered"))
            elif state.open_call is not None:
                self._give_up(state.open_call)
            elif self._stop_reason and (self._stop_at_once or (state.sampled or state.pending) is None):
                self._emit(events.LaneEnded(reason=self._stop_reason))
            elif state.sampled is not None:
                await self._interruptible(self._choose(state, state.sampled))
            elif state.pending is not None:
                await self._interruptible(self._act(state, state.pending))
            elif state.history.ending is not None:
                await self._end(state.history.ending)
            elif state.failing and 0 < self._spec.repeat_limit <= state.failing.count:
                detail = f"{state.failing.tool} failed {state.failing.count} times in the same way"
                self._emit(events.LaneEnded(reason="loop", detail=detail))
            elif self._spec.max_steps and state.step >= self._spec.max_steps:
                self._emit(events.LaneEnded(reason="steps", detail=f"all {state.step} steps are used"))
            elif context.epoch_is_over(state):
                size = context.estimated_bytes(state)
                self._emit(
                    events.ContextEpoch(
                        step=state.step + 1, tail_steps=self._spec.tail_steps, prompt_bytes=size
                    )
                )
            elif self.gate_runner.before_turn():
                await self._interruptible(self._turns.ask(state))
        return self.state

    async def _interruptible(self, step: Coroutine[Any, Any, None]) -> None:
        self._current = asyncio.ensure_future(step)
        try:
            await self._current
        except asyncio.CancelledError:
            if not self._stop_reason:
                raise
        finally:
            self._current = None

    def _start(self) -> None:
        spec, keep = self._spec, self._session.text
        self._emit(
            events.LaneStarted(
                purpose=spec.purpose,
                system=keep(spec.system),
                task_message=keep(spec.task_message),
                tools=tuple(self._tools),
                protocol=spec.protocol,
                system_role=spec.system_role,
                prompt_sha256=self._prompts.sha256(*spec.templates),
                high_tokens=spec.high_tokens,
                max_bytes=spec.max_bytes,
                tail_steps=spec.tail_steps,
                broken_shown=BROKEN_SHOWN,
            )
        )

    async def _choose(self, state: LaneState, sampled: events.Candidates) -> None:
        await self._turns.choose(state, sampled, lambda turn: self._would(sampled.step, turn))

    def _would(self, step: int, turn: Turn) -> tuple[str, str]:
        """What would send this turn back, and its words; ('', '') for nothing. Nothing is written down."""
        name, args = turn.action.tool, turn.action.args
        if name is None:
            return self.gate_runner.would_answer(step)
        tool = self._tools.get(name)
        if tool is None:
            return "unknown_tool", f"there is no tool {one_line(name, 64)}"
        if problem := check_arguments(tool.spec, args):
            return "bad_arguments", problem
        refused = self.gate_runner.would_call(step, name, args, noted=bool(turn.note))
        return refused if refused[0] or name != SUBMIT else self.gate_runner.would_answer(step)

    async def _act(self, state: LaneState, pending: events.Assistant) -> None:
        """Do the one thing that the pending turn asks for."""
        parsed = self._turns.parse(self._session.load(pending.content), pending.tool_calls)
        turn = parsed.turn
        if turn is None:
            self._refuse(state, pending, parsed)
            return
        if turn.note and not state.pending_noted and (note := bounded(turn.note)):
            self._emit(events.Note(step=pending.step, text=note))
        self._said = self.gate_runner.turn(pending.step, turn)
        action = turn.action
        if action.final is not None:
            if not self.gate_runner.answer(pending.step, pending.ts, self._said):
                self._answer(pending.step, action.final)
            return
        assert action.tool is not None
        await self._call(pending, action.tool, turn, parsed)

    def _refuse(self, state: LaneState, pending: events.Assistant, parsed: Parsed) -> None:
        cut = pending.finish_reason == "length"
        again = state.parse_errors > 0 and not (cut or pending.tool_calls) and _same_text(state, pending)
        count = state.parse_errors + (2 if again else 1)
        limit = limit_of(state, self._rules)
        reply = self._prompts.render(
            "format_error",
            errors=parsed.errors,
            cut=cut,
            again=again,
            looped=pending.finish_reason == events.REPETITION,
            answer_tokens=self._turns.answer_tokens,
            count=count,
            limit=limit,
            lines=self.gate_runner.broken(pending.step, pending.ts, cut=cut),
        )
        self._emit(
            events.PolicyParseError(
                step=pending.step,
                count=count,
                limit=limit,
                codes=tuple(error.code for error in parsed.errors),
                reply=self._session.text(reply),
            )
        )

    def _answer(self, step: int, answer: str, submitted: str = "") -> None:
        evidence, store = self._session.state.evidence, self._session.store
        self._emit(
            events.Answer(
                step=step,
                text=self._session.text(answer),
                citations=resolve(answer, evidence, store),
                submitted=submitted,
                by=self._by,
            )
        )

    async def _call(self, pending: events.Assistant, name: str, turn: Turn, parsed: Parsed) -> None:
        session, step, args = self._session, pending.step, turn.action.args
        call_id = session.state.next_call_id()
        tool = self._tools.get(name)
        problem = check_arguments(tool.spec, args) if tool else f"its tools are {', '.join(self._tools)}"
        aim = self.gate_runner.aim(name, args)
        if not problem and self._may_not(pending, name, args, aim, noted=bool(turn.note)):
            return
        started_at = time.monotonic()
        self._brought = []
        encoded = json.dumps(args, ensure_ascii=False)
        self._note_choice(step, name, args)
        self._emit(
            events.ToolStarted(
                step=step,
                call=call_id,
                tool=one_line(name, 64),
                args=session.text(encoded),
                recovered=parsed.recovered,
            )
        )
        if tool is None:
            outcome = failed(one_line(name, 64), "unknown_tool", f"there is no such tool; {problem}")
        elif problem:
            outcome = failed(name, "bad_arguments", problem)
        else:
            outcome = await tool.run(args, self._what_a_call_knows())
        if outcome.final is not None:
            self._hand_in(step, outcome)
            return
        evidence_id = self._log_evidence(step, call_id, name, outcome)
        pages = [(self._keep(step, call_id, name, each, None), each) for each in outcome.captured]
        move = self.gate_runner.move(
            step,
            one_line(name, 64),
            args,
            aim,
            outcome="ok" if outcome.outcome == "ok" else "failed",
            failure_type=outcome.error_type,
            call=call_id,
            brought=self._brought,
            wrote=outcome.wrote,
        )
        also = [*captured(pages, self._spec.room), *outcome.said]
        self._log_outcome(move, evidence_id, outcome, also, parsed, time.monotonic() - started_at)

    def _note_choice(self, step: int, name: str, args: Mapping[str, Any]) -> None:
        """Write down whether the first call after the verifier's feedback follows it, or a later one does."""
        state, advice = self.state, self.state.open_advice
        matched = advice is not None and follows(advice, name, args)
        if matched or state.advice is not None:
            self._emit(events.PolicyChoice(step=step, tool=one_line(name, 64), matched=matched))

    def _what_a_call_knows(self) -> Call:
        session = self._session
        return Call(room=self._spec.room, store=session.store, evidence=session.state.evidence)

    def _may_not(
        self, pending: events.Assistant, name: str, args: Mapping[str, Any], aim: CallIntent, *, noted: bool
    ) -> bool:
        """Whether a gate sent the call back, which closes the step. Handing a file in is an answer too."""
        gate_runner, step = self.gate_runner, pending.step
        if gate_runner.call(step, pending.ts, name, args, aim, noted=noted, said=self._said):
            return True
        return name == SUBMIT and bool(gate_runner.answer(step, pending.ts, self._said))

    async def _end(self, ending: events.Policy) -> None:
        """End the lane as a gate said; a file that it named is handed in first."""
        tool = self._tools.get(SUBMIT)
        if isinstance(ending, events.PolicyFinalizationStop) and tool is not None:
            outcome = await tool.run({"path": ending.subject}, self._what_a_call_knows())
            if outcome.final is not None:
                self._hand_in(ending.step, outcome)
                return
        reason = events.gate_name(ending).removeprefix("policy_")
        self._emit(events.LaneEnded(reason=reason, detail=ending.reason))

    def _hand_in(self, step: int, outcome: Outcome) -> None:
        for output in outcome.outputs:
            self._emit(output)
        self._answer(step, outcome.final or "", submitted=outcome.submitted)

    def _log_evidence(self, step: int, call_id: str, name: str, outcome: Outcome) -> str:
        """What a call noted and brought; the id of its evidence, '' for none."""
        if outcome.note:
            self._emit(events.Note(step=step, text=outcome.note, by=outcome.note_by))
        if outcome.notes_restored:
            self._emit(events.PolicyNotesGuard(step=step, detail=outcome.notes_restored))
        draft = outcome.evidence
        return self._keep(step, call_id, name, draft, outcome.exit_code) if draft else ""

    def _log_outcome(
        self,
        move: events.Move,
        evidence_id: str,
        outcome: Outcome,
        also: Sequence[str],
        parsed: Parsed,
        seconds: float,
    ) -> None:
        """Write down what became of a call, and what the model sees of it: `also` stands under its body."""
        step, draft, body = move.step, outcome.evidence, outcome.body
        self.gate_runner.after_call(move, evidence_id)
        if draft is not None and not body:
            text = Lines(told(draft.text, draft.marks))
            body = shown(text, draft.first, draft.last, self._spec.room, evidence_id)
        low = [(each.source, each.low_signal) for each, _ in self._brought if each.low_signal]
        turned_away = [f"REFUSED: {said}" for said in self.state.history.turned_away]
        nudges = self.gate_runner.observed(step, move.tool, low)
        said = [*also, *turned_away, *self._said, *nudges, self._footer(step, parsed)]
        seen = observation(evidence_id, outcome.header, body, "\n".join(line for line in said if line))
        self._emit(
            events.Tool(
                step=step,
                call=move.call,
                tool=move.tool,
                outcome=outcome.outcome,
                obs=self._session.text(seen),
                evidence=evidence_id,
                error_type=outcome.error_type,
                exit_code=outcome.exit_code,
                seconds=round(seconds, 6),
            )
        )

    def record(self, draft: EvidenceDraft, tool: str) -> str:
        """Keep what was captured while a call is under way (a command that fetched a page); its id."""
        started = self.state.open_call
        step, call_id = (started.step, started.call) if started else (self.state.step, "")
        return self._keep(step, call_id, tool, draft, None)

    def _keep(self, step: int, call_id: str, tool: str, draft: EvidenceDraft, exit_code: int | None) -> str:
        state, text = self._session.state, self._blob(draft.text)
        is_new = not state.was_seen(text.sha256, draft.first, draft.last)
        kept = self._emit(
            events.Evidence(
                id=state.next_evidence_id(),
                call=call_id,
                step=step,
                tool=tool,
                tier=draft.tier,
                source=draft.source,
                summary=draft.summary,
                text=text,
                lines=draft.lines,
                first=draft.first,
                last=draft.last,
                lead=draft.lead,
                title=draft.title,
                media_type=draft.media_type,
                extractor=draft.extractor,
                raw=None if draft.raw is None else self._blob(draft.raw),
                pages=draft.pages,
                exit_code=exit_code,
                receipt=None if draft.receipt is None else self._blob(draft.receipt),
                within=None if draft.within is None else self._blob(draft.within),
                http_status=draft.http_status,
                low_signal=draft.low_signal,
                marks=draft.marks,
                dated=draft.dated,
                carried=draft.carried,
                opened=None if draft.opened is None else self._blob(draft.opened),
                origin=draft.origin,
                shown=None if draft.shown is None else self._shown(draft.shown),
            )
        )
        self._brought.append((kept, is_new))
        return kept.id

    def _shown(self, picture: Picture) -> events.Shown:
        return events.Shown(
            picture=self._blob(picture.data),
            layout=self._blob(picture.layout),
            width=picture.width,
            height=picture.height,
        )

    def _blob(self, data: bytes) -> events.Blob:
        return events.Blob(self._session.store.put(data), len(data))

    def _footer(self, step: int, parsed: Parsed) -> str:
        """Where the run stands: frozen into the observation, so that the prompt only ever grows."""
        parts = []
        if parsed.ignored_actions:
            parts.append(f"{parsed.ignored_actions} further action(s) in your turn were not run: one a turn.")
        limit = self._spec.max_steps
        if limit:
            parts.append(f"Step {step} of {limit}.")
            if limit - step == 2:
                parts.append("Two steps are left: answer now with what you have.")
        parts.append(self._turns.nearly_spent())
        return " ".join(part for part in parts if part)

    def _give_up(self, started: events.ToolStarted) -> None:
        """A call was under way when the run stopped: it may have run, and is not run again."""
        reply = self._prompts.render("interrupted", tool=started.tool)
        self._emit(
            events.Tool(
                step=started.step,
                call=started.call,
                tool=started.tool,
                outcome="interrupted",
                obs=self._session.text(reply),
                error_type="interrupted",
            )
        )

    def _emit(self, event: E) -> E:
        return self._session.emit(event, lane=self._spec.name)


def _same_text(state: LaneState, pending: events.Assistant) -> bool:
    """Whether the turn is in words the one before it; one without words is not."""
    said = pending.content
    return bool(said and state.tail) and state.tail[-1].messages[0].content == said
