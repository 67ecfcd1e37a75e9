"""A thesis that is verified: what is asked, how far it may go, its lane, and the run of it."""

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from vera import events
from vera.agent.conclusion import Result, choose, conclude
from vera.agent.deadline import Deadline, TimedTool
from vera.agent.knowledge import Knowledge
from vera.agent.lanes import LANE, Environment, sources
from vera.agent.question import settle_form
from vera.agent.rules import rules_of
from vera.agent.stopping import heeding
from vera.attestation.ahdb.admission import record
from vera.attestation.ahdb.entries import register_of
from vera.attestation.ahdb.journal import TORN, Journal, JournalError
from vera.attestation.ahdb.proof import Refused
from vera.attestation.keys import Signer
from vera.attestation.objects import Constraints, Lens, VerifyRequest
from vera.attestation.request import Budget
from vera.attestation.tiers import RISK_TIERS, bars
from vera.config import Settings
from vera.gates.registry import CHECK_GATES
from vera.lane.budget import Budget as RunBudget
from vera.lane.loop import Lane
from vera.lane.policy import Policy
from vera.lane.prompts import Prompts
from vera.lane.spec import LaneSpec
from vera.lane.tools import Tool
from vera.lane.tools.read import Read
from vera.lane.tools.registry import toolset
from vera.sandbox.egress.types import Connection
from vera.session import Session
from vera.verification.context import VerifierContext
from vera.verification.retriever import EvidenceRetriever, allowed

LOOK_UP = "thesis"
"""The lane in which it is said how the look-up ended."""


SAYS = {
    "ASSERT": "the thesis is asserted",
    "HYPOTHESIZE": "the thesis is kept as an open hypothesis, with tests that would decide it",
    "RETRACT": "the thesis is not asserted, or no longer",
    "HYPERTHESIS": "what could not be ruled out is noted",
}
"""What the last entry of a verification did, for a person."""


class ThesisJob(msgspec.Struct, frozen=True, kw_only=True):
    """A validated request, how far it may go, and the folder of documents that it is about (None: none).

    `connections` are those by which connectors gathered that folder.
    """

    request: VerifyRequest
    lens: Lens
    budget: Budget
    input_dir: Path | None = None
    connections: tuple[Connection, ...] = ()


def narrowed(job: ThesisJob, settings: Settings) -> ThesisJob:
    """The job with its budget lowered to the limits of the settings."""
    limits = settings.budget
    budget = msgspec.structs.replace(
        job.budget,
        tokens=int(_lower(limits.tokens, job.budget.tokens)),
        seconds=float(_lower(limits.seconds, job.budget.seconds)),
        searches=int(_lower(limits.searches, job.budget.searches)),
    )
    return msgspec.structs.replace(job, budget=budget)


def settings_for(settings: Settings, job: ThesisJob) -> Settings:
    """The settings of the run: what the request's scope, constraints, risk and budget make of the user's
    settings.

    They only narrow: a thesis is looked up without a shell, on the web only when its scope says so, in one
    round. The domains that its constraints allow are held at each connection (`within`): a list of hosts in
    the settings would close the search engines, too.
    """
    request, budget = job.request, narrowed(job, settings).budget
    egress = settings.egress
    if "web" not in request.scope:
        egress = egress.model_copy(update={"mode": "none"})
    needed, tier = bars(request.risk, job.lens), RISK_TIERS[request.risk]
    verification = settings.verification.model_copy(
        update={
            "rounds": 1,
            "readings": max(settings.verification.readings, tier.readings),
            "web_sources": max(settings.verification.web_sources, needed.web_sources),
            "not_before": request.constraints.not_before or settings.verification.not_before,
            "not_after": request.constraints.not_after or settings.verification.not_after,
        }
    )
    limits = settings.budget.model_copy(
        update={
            "tokens": budget.tokens,
            "seconds": budget.seconds,
            "searches": budget.searches,
        }
    )
    return settings.model_copy(
        update={
            "egress": egress,
            "verification": verification,
            "budget": limits,
            "sandbox": settings.sandbox.model_copy(update={"backend": "none"}),
            "run": settings.run.model_copy(update={"input_dir": job.input_dir}),
        }
    )


def within(constraints: Constraints) -> Callable[[str, str], str]:
    """Why a page of a host may not be fetched under these constraints, as a sentence; '' when it may."""

    def judge(host: str, url: str) -> str:
        if allowed(host, constraints.allow_domains, constraints.deny_domains):
            return ""
        return f"the request does not let {host} be opened"

    return judge


def lane_of(
    session: Session,
    retriever: EvidenceRetriever,
    tools: Sequence[Tool],
    deadline: Deadline,
    settings: Settings,
    prompts: Prompts,
) -> Lane:
    """The lane of a look-up: the retriever takes the turns of a model, until its time is over."""
    spec = LaneSpec(
        name=LANE,
        purpose="thesis",
        system=prompts.render("seeker"),
        task_message=session.task_text(),
        max_steps=0,  # the look-up is bounded by its queries, their results, and the budget
        scope="thesis",
        templates=("seeker",),
    )
    timed = [TimedTool(tool, deadline) for tool in tools]
    return Lane(session, spec, retriever, timed, prompts, Policy(gates=CHECK_GATES, rules=rules_of(settings)))


def tools_of(
    session: Session, place: Environment, earlier: Knowledge | None, job: ThesisJob, settings: Settings
) -> Sequence[Tool]:
    """What a thesis is looked up with; `earlier` only where the request's scope has it."""
    kit = sources(place, place.web, settings.brave.default_count)
    return toolset(
        msgspec.structs.replace(
            kit,
            library=earlier if "kb" in job.request.scope else None,
            read=Read(place.corpus, session.workspace, place.extractor, place.input_name),
        )
    )


class ThesisRun:
    """A run whose answer the retriever looks for: one round, after it was said how the look-up ended.

    The time of a look-up ends its calls, not the run: what is known is still to be concluded.
    """

    def __init__(
        self,
        lane: Lane,
        context: VerifierContext,
        signer: Signer,
        now: Callable[[str], None],
        budget: RunBudget,
        *,
        retriever: EvidenceRetriever,
        deadline: Deadline,
    ) -> None:
        self._lane = lane
        self._context = context
        self._signer = signer
        self._now = now
        self._budget = budget
        self._retriever = retriever
        self._deadline = deadline

    async def run(self, clock: Callable[[], float] = time.time) -> Result:
        """Look, verify what was found, and conclude. Raises as `Research.run` does."""
        session = self._context.session
        session.seal(self._signer.seal)
        async with heeding(session.root):
            await self._decide()
        return conclude(
            session, self._signer, spent=self._spent(), require=self._context.options.require, clock=clock
        )

    async def _decide(self) -> None:
        session = self._context.session
        await settle_form(self._context)
        if (await self._lane.run()).answer is not None:
            from vera.verification.verifier import verify

            cut = self._retriever.cut()
            ended = events.LaneEnded(reason="budget" if cut else "answered", detail=cut)
            session.emit(ended, lane=LOOK_UP)
            choose(session, await verify(self._context, self._signer, last=True, now=self._now))

    def _spent(self) -> str:
        if self._deadline.is_over or self._retriever.cut() == "seconds":
            return self._deadline.sentence
        return str(self._budget.refusal or "")


def _lower(one: float, other: float) -> float:
    """The lower of two limits, where 0 means no limit."""
    return min(one, other) if one and other else one or other


def register(session: Session, base: Path, signer: Signer, say: Callable[[str], None]) -> None:
    """Enter the verdict of a session on a thesis into the journal under `base`, and say what that changed.

    A verdict that may not be entered is said and changes nothing: the session holds it all the same.
    """
    state = session.state
    chosen = state.rounds.get(state.chosen.round) if state.chosen else None
    if chosen is None or chosen.decision is None or state.requested is None:
        return
    try:
        appended = record(
            session.store.get(chosen.decision.envelope.sha256),
            session.store,
            Journal(base),
            thesis_id=state.requested.thesis_id,
            request=f"sha256:{state.requested.request.sha256}",
            signer=signer,
            now=datetime.now(UTC),
        )
    except (Refused, JournalError) as error:
        say(f"ahdb: not entered: {error}")
        return
    if appended.unsigned:
        say(f"ahdb: {appended.unsigned} lines that VERA did not sign were moved to .vera/{TORN}")
    if appended.entries:
        say(f"ahdb: {SAYS[register_of(appended.entries[-1])]}; 'vera ahdb show' lists the register")
