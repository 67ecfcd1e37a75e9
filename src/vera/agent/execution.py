"""Execution: a lane that works and may not search.

What it wants to know it asks (`verify`), what it states it states in the words of an attestation, and files
it changes once the theses that have to hold are SUPPORTED.
"""

import time
from collections.abc import Callable

import msgspec

from vera import events
from vera.agent.asking import SubSession
from vera.agent.conclusion import Result, conclude
from vera.agent.lanes import LANE, Environment, LaneOptions, LanePrompt, main_lane, with_work
from vera.agent.rules import for_task
from vera.agent.stopping import Stopping, decide, heeding, within_time
from vera.attestation.execution import needs_computing, verdict_of
from vera.attestation.keys import Signer
from vera.attestation.objects import ObjectError
from vera.gates.registry import EXECUTE_GATES
from vera.headline import HOLDS
from vera.lane.attested import encoded
from vera.lane.budget import Budget
from vera.lane.loop import Lane
from vera.lane.policy import Policy
from vera.lane.prompts import Prompts
from vera.lane.tools import Tool
from vera.lane.tools.read import Read
from vera.lane.tools.registry import Toolkit, toolset
from vera.lane.tools.verify import Terms, Verify
from vera.model.types import Model
from vera.sanitize import one_line
from vera.selection.chooser import Chooser
from vera.session import Reader, Session
from vera.session.session import TRACE
from vera.store import StoreError
from vera.verification.context import VerifierContext
from vera.verification.verifier import Say

CLAIM_SHOWN = 200
MAX_SHOWN = 12


def make_lane(
    session: Session,
    task: str,
    model: Model,
    place: Environment,
    sub_session: SubSession,
    terms: Terms,
    prompts: Prompts,
    options: LaneOptions,
    chooser: Chooser | None = None,
) -> Lane:
    """The main lane of an execution, new or resumed, ready to `run`. `options.rules` are those of
    `rules_for`. Raises TaskTooLong, PromptError."""
    tools = _tools(session, place, Verify(sub_session, terms), options)
    required = [each.text for each in options.rules.required]
    system = prompts.render(
        "execute_system",
        protocol=model.info.protocol,
        tools=[tool.spec for tool in tools],
        has_shell=place.box is not None,
        work_name=place.work_name,
        isolation=place.box.isolation if place.box else "",
    )
    message = prompts.render(
        "execute_task",
        task=task.strip(),
        required=required,
        one_required=options.rules.one_required and not required,
        scope=terms.scope,
    )
    specs = [tool.spec for tool in tools]
    rules = for_task(options.rules, task, specs, has_input=False, has_web=False, can_render=False)
    rules = msgspec.structs.replace(rules, work_locked=place.box is not None)
    head = LanePrompt(
        purpose="execute",
        system=system,
        task_message=message,
        templates=("execute_system", "execute_task"),
        long_material="a file of the workspace",
    )
    policy = Policy(gates=(*EXECUTE_GATES, *options.gates), rules=rules)
    return main_lane(session, head, model, tools, prompts, policy, options, chooser)


def _tools(session: Session, place: Environment, verify: Verify, options: LaneOptions) -> list[Tool]:
    def attested(handle: str) -> str:
        received = session.state.attestations.get(handle)
        if received is None:
            return ""
        try:
            return encoded(received, session.store)
        except (StoreError, ObjectError, OSError):
            return "{}"

    read = Read(None, session.workspace, place.extractor, attested=attested)
    kit = Toolkit(verify=verify, read=read)
    return toolset(with_work(kit, session, place.box, options.tool_seconds))


class Execution:
    """One run of work: the lane, then the verdict on its answer. An answer that is not carried is taken back
    with what is missing, as often as a verifier would."""

    def __init__(
        self, lane: Lane, context: VerifierContext, signer: Signer, now: Say, budget: Budget, prompts: Prompts
    ) -> None:
        self._lane = lane
        self._context = context
        self._signer = signer
        self._now = now
        self._budget = budget
        self._prompts = prompts
        self._stopping = Stopping()

    def stop(self, reason: str, *, at_once: bool = True) -> None:
        """Finish with what is known, as `Research.stop` does."""
        self._lane.stop(self._stopping.stop(reason), at_once=at_once)

    async def run(self, clock: Callable[[], float] = time.time) -> Result:
        """Work to the end of the run and conclude it. Raises as `Research.run` does."""
        self._context.session.seal(self._signer.seal)
        left = self._budget.seconds_left(self._context.session.state.spent.seconds)
        async with heeding(self._context.session.root, self.stop):
            with within_time(left, self.stop):
                await self._work()
        return conclude(
            self._context.session,
            self._signer,
            interrupted=self._stopping.by_person,
            spent=self._stopping.spent(self._budget),
            require=self._context.options.require,
            clock=clock,
        )

    async def _work(self) -> None:
        """Answers of the lane until one is carried, or there is none."""
        while (answer := (await self._lane.run()).answer) is not None:
            verdict, number = await self._judge(answer)
            if verdict is None or verdict.status in HOLDS or self._ends_here(number):
                break
            self._take_back(answer, verdict, number)

    async def _judge(self, answer: events.Answer) -> tuple[events.ExecutionVerdict | None, int]:
        """The verdict on the answer and which one of the run it is; None when the run was stopped before."""
        session = self._context.session
        text = session.load(answer.text)
        known = session.state.execution
        if known is None or known.answer_seq != answer.seq:
            if needs_computing(text) and await self._decided() is None:
                return None, 0
            records = [record for _, record in Reader(session.root / TRACE).poll()]
            known = session.emit(verdict_of(records, session.store, answer), lane=LANE)
        log = (record for _, record in Reader(session.root / TRACE).poll())
        return known, sum(isinstance(record, events.ExecutionVerdict) for record in log)

    async def _decided(self) -> events.Verifier | None:
        return await decide(self._context, self._signer, self._lane, self._stopping, self._now, last=True)

    def _ends_here(self, number: int) -> bool:
        state = self._lane.state
        out_of_steps = bool(self._lane.max_steps) and state.step >= self._lane.max_steps
        spent = out_of_steps or self._budget.refusal is not None
        return bool(self._stopping.reason) or spent or number >= self._context.options.rounds

    def _take_back(self, answer: events.Answer, verdict: events.ExecutionVerdict, number: int) -> None:
        session = self._context.session
        text = session.load(answer.text)
        open_ = [claim for claim in verdict.claims if not claim.by]
        reply = self._prompts.render(
            "execute_feedback",
            number=number,
            rounds=self._context.options.rounds,
            reason=verdict.reason,
            claims=[
                (one_line(text[claim.start : claim.end], CLAIM_SHOWN), claim.reason)
                for claim in open_[:MAX_SHOWN]
            ],
            more=len(open_[MAX_SHOWN:]),
        )
        session.emit(
            events.VerifierToAgent(round=number, step=answer.step, content=session.text(reply)), lane=LANE
        )
