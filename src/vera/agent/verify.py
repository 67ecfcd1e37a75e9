"""Verifying a thesis: a request in, a session with its attestation out."""

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack, ExitStack, contextmanager
from pathlib import Path

import msgspec

from vera import events
from vera.agent import spending
from vera.agent.deadline import Deadline, TimedModel, TimedTool
from vera.agent.errors import SetupError
from vera.agent.follow_up import Parent, carry
from vera.agent.knowledge import Knowledge
from vera.agent.lanes import LANE
from vera.agent.plugins import open_plugins
from vera.agent.register import register
from vera.agent.research import Environment, Research, Result
from vera.agent.rules import listed, rules_of
from vera.agent.setup import (
    Input,
    by_entailment,
    corpus_event,
    model_event,
    open_input,
    open_model,
    open_signer,
    open_verifier_model,
    probed,
    verifier_options,
)
from vera.agent.verifier_context import open_verifier_context
from vera.agent.web import Web, network_policy, open_web, search_engines
from vera.attestation.keys import Signer
from vera.attestation.objects import Constraints, Lens, OptionalDigest, VerifyRequest
from vera.attestation.request import Budget, request_objects, requested, sub_claims
from vera.attestation.tiers import RISK_TIERS, bars
from vera.config import Settings, public
from vera.config.settings import BUILT_IN
from vera.evidence.claim import Claim
from vera.evidence.extractor import Extractor
from vera.evidence.official import official_names
from vera.gates.registry import CHECK_GATES
from vera.lane.budget import Budget as RunBudget
from vera.lane.loop import Lane
from vera.lane.policy import Policy
from vera.lane.prompts import Prompts
from vera.lane.spec import LaneSpec
from vera.lane.tools import Tool
from vera.lane.tools.read import Read
from vera.lane.tools.registry import Toolkit, toolset
from vera.search.web import Engines
from vera.session import Session
from vera.verification.context import VerifierContext, VerifierOptions
from vera.verification.exam import examined
from vera.verification.retriever import EvidenceRetriever, SearchPlan, allowed

LOOK_UP = "thesis"
"""The lane in which it is said how the look-up ended."""

LOOK_UP_SHARE = 0.75
"""Of the time, what a look-up may take when a model is to read what was found."""

Say = Callable[[str], None]


class ThesisJob(msgspec.Struct, frozen=True, kw_only=True):
    """A validated request, how far it may go, and the folder of documents that it is about (None: none)."""

    request: VerifyRequest
    lens: Lens
    budget: Budget
    input_dir: Path | None = None


def _silent(_: str) -> None:
    """No-op callback."""


def settings_for(settings: Settings, job: ThesisJob) -> Settings:
    """The settings of the run: what the request's scope, constraints, risk and budget make of the user's
    settings.

    They only narrow: a thesis is looked up without a shell, on the web only when its scope says so, in one
    round. The domains that its constraints allow are held at each connection (`within`): a list of hosts in
    the settings would close the search engines, too.
    """
    request, budget = job.request, job.budget
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
            "tokens": _lower(settings.budget.tokens, budget.tokens),
            "seconds": _lower(settings.budget.seconds, budget.seconds),
            "searches": _lower(settings.budget.searches, budget.searches),
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


async def look_up(
    job: ThesisJob,
    settings: Settings,
    root: Path,
    *,
    earlier: Knowledge | None = None,
    supersedes: OptionalDigest = "",
    parent: Parent | None = None,
    say: Say = _silent,
    now: Say = _silent,
) -> Result:
    """Verify a thesis in a new session at `root`. `earlier` is what sessions of before know, `supersedes`
    the attestation in whose place the new one stands, and `parent` the session that it goes on from.

    Raises SetupError, SessionError, ModelError, LogError, StoreError and OSError as `vera run` does.
    """
    settings = settings_for(settings, job)
    with ExitStack() as folders:
        signer = open_signer(job.input_dir)
        plugins = open_plugins(settings)
        extractor = folders.enter_context(Extractor(formats=plugins.formats))
        found = None
        if job.input_dir is not None:
            found = await asyncio.to_thread(
                open_input, job.input_dir, settings, extractor, folders, lambda progress: None
            )
        async with AsyncExitStack() as stack:
            model = await open_model(
                settings.model, stack, say, now, settings.budget.seconds, plugins.servers
            )
            verifier = await open_verifier_model(settings.verification, settings.model, model, stack)
            measured = probed(model)
            if slow := spending.slowness(model.info.name, measured):
                say(slow)
            engines = search_engines(settings.search, settings.brave, plugins.engines)
            deadline = Deadline(settings.budget.seconds, used=measured.seconds)
            is_literal = verifier is None and not by_entailment(settings.verification)
            plan = _plan(job, settings, earlier, files=found is not None, literal=is_literal)
            if not (plan.files or plan.web or plan.earlier or (parent and parent.captures)):
                raise SetupError(_nowhere(job.request), 2)
            session = begin(job, settings, root, supersedes, parent)
            stack.callback(session.close)
            session.subscribe(_told(now))
            plugins.record(session)
            if found is not None:
                session.emit(corpus_event(found))
            session.emit(model_event(model))
            budget = RunBudget(spending.limits_of(settings.budget), session.state.spent)
            reader, judge = spending.within_budget(model, verifier, budget, session.state)
            web = open_web(
                session,
                settings,
                Engines(engines),
                extractor=extractor,
                lane=LANE,
                kept=earlier.response if earlier else None,
                judge=within(job.request.constraints),
                most_bytes=job.budget.bytes,
            )
            place = _place(extractor, found, web)
            share = 1.0 if judge is None else LOOK_UP_SHARE
            look_up_ends = Deadline(settings.budget.seconds * share)
            prompts = Prompts(settings.model.prompt_profile)
            tools = _tools(session, place, earlier, job, settings)
            context = open_verifier_context(
                session=session,
                settings=settings,
                place=place,
                model=TimedModel(judge, deadline) if judge else None,
                prompts=prompts,
                options=_options(verifier_options(settings, model, verifier, place), job),
                plugin_checks=plugins.checks,
            )
            if judge is not None and verifier is not model and model.info.kind != BUILT_IN:
                context = msgspec.structs.replace(context, reader=TimedModel(reader, deadline))
            # Before the look-up: who decides what lines say determines which lines are cited.
            context = await examined(context, now)
            plan = msgspec.structs.replace(plan, literal=context.options.rule == "literal")
            retriever = EvidenceRetriever(session, LANE, plan, place.corpus, lambda: look_up_ends.is_over)
            lane = _lane(
                session, [TimedTool(tool, look_up_ends) for tool in tools], retriever, settings, prompts
            )
            run = ThesisRun(lane, context, signer, now, budget, retriever=retriever, deadline=deadline)
            result = await run.run()
            register(session, settings.run.base_dir, signer, say)
            return result


def _told(now: Say) -> Callable[[events.Record], None]:
    """Says what a look-up is doing at each moment."""

    def tell(record: events.Record) -> None:
        match record:
            case events.ToolStarted(lane="main"):
                now(f"looking: {record.tool}")
            case events.Evidence(lane="main"):
                now(f"looking: {record.summary}")
            case _:
                pass

    return tell


def begin(
    job: ThesisJob,
    settings: Settings,
    root: Path,
    supersedes: OptionalDigest = "",
    parent: Parent | None = None,
) -> Session:
    """A new session with the request in it, and what carries over from the session before."""
    request = job.request
    session = Session.create(root, public(settings), origins=settings.origins)
    for data in request_objects(request, job.lens).values():
        session.store.put(data)
    input_dir = str(job.input_dir.resolve()) if job.input_dir else ""
    session.emit(events.Task(task=session.text(request.text), input_dir=input_dir), lane="")
    if parent is not None:
        carry(session, parent, request)
    session.emit(requested(request, job.budget, supersedes), lane=LANE)
    return session


def within(constraints: Constraints) -> Callable[[str, str], str]:
    """Why a page of a host may not be fetched under these constraints, as a sentence; '' when it may."""

    def judge(host: str, url: str) -> str:
        if allowed(host, constraints.allow_domains, constraints.deny_domains):
            return ""
        return f"the request does not let {host} be opened"

    return judge


def _nowhere(request: VerifyRequest) -> str:
    """Why there is nothing to look at, and what to do."""
    missing = {
        "web": "the web may not be reached by these settings",
        "kb": "no earlier session under this base folder has a source that may count",
        "connectors": "no connector is configured",
        "files": "no folder of files is given",
    }
    why = "; ".join(missing[place] for place in request.scope)
    return f"Nothing can be looked at: {why}. Give files with --input-dir DIR, or --scope web."


def _options(options: VerifierOptions, job: ThesisJob) -> VerifierOptions:
    """As for an answer, with the quorum of the request, and without checks: they would be searches of a model
    that has read the pages, beyond the budget of the look-up, and the retriever has asked for both sides."""
    needed = bars(job.request.risk, job.lens)
    return msgspec.structs.replace(
        options, checks=0, min_score=needed.min_score, file_sources=needed.file_sources
    )


class ThesisRun(Research):
    """A run whose answer the retriever looked for: one round, after it was said how the look-up ended."""

    def __init__(
        self,
        lane: Lane,
        context: VerifierContext,
        signer: Signer,
        now: Say,
        budget: RunBudget,
        *,
        retriever: EvidenceRetriever,
        deadline: Deadline,
    ) -> None:
        super().__init__(lane, context, signer, now, budget)
        self._retriever = retriever
        self._deadline = deadline

    @contextmanager
    def _within_time(self) -> Iterator[None]:
        """The time of a look-up ends its calls, not the run: what is known is still to be concluded."""
        yield

    def _spent(self) -> str:
        if self._deadline.is_over or self._retriever.cut() == "seconds":
            return self._deadline.sentence
        return super()._spent()

    async def _verify(self, *, last: bool) -> events.Verifier | None:
        cut = self._retriever.cut()
        ended = events.LaneEnded(reason="budget" if cut else "answered", detail=cut)
        self._context.session.emit(ended, lane=LOOK_UP)
        return await super()._verify(last=last)


def _place(extractor: Extractor, found: Input | None, web: Web | None) -> Environment:
    corpus = found.corpus if found else None
    return Environment(
        extractor=extractor, box=None, corpus=corpus, files=found.stats.files if found else 0, web=web
    )


def _plan(
    job: ThesisJob, settings: Settings, earlier: Knowledge | None, *, files: bool, literal: bool
) -> SearchPlan:
    request, budget, constraints = job.request, job.budget, job.request.constraints
    claims = tuple(
        Claim(key=f"c{number}", text=text, start=0, end=len(text))
        for number, text in enumerate(sub_claims(request), 1)
    )
    web = network_policy(settings.egress, closed=settings.sandbox.profile == "sealed") is not None
    leads = earlier.leads(request, [claim.text for claim in claims], time.time()) if earlier else ()
    return SearchPlan(
        claims=claims,
        literal=literal,
        web=web and "web" in request.scope,
        files=files and "files" in request.scope,
        sources=budget.sources,
        searches=budget.searches,
        bytes=budget.bytes,
        needed=settings.verification.web_sources,
        files_needed=bars(request.risk, job.lens).file_sources,
        allow_domains=constraints.allow_domains,
        deny_domains=constraints.deny_domains,
        source_types=constraints.source_types,
        languages=constraints.languages,
        not_before=settings.verification.not_before,
        not_after=settings.verification.not_after,
        names=official_names(request.text),
        official_domains=frozenset(listed(settings.policy.official_domains)),
        earlier=tuple(lead for lead in leads if lead.tool == "kb" or web),
    )


def _lane(
    session: Session,
    tools: Sequence[Tool],
    retriever: EvidenceRetriever,
    settings: Settings,
    prompts: Prompts,
) -> Lane:
    spec = LaneSpec(
        name=LANE,
        purpose="thesis",
        system=prompts.render("seeker"),
        task_message=session.load(session.state.task.task) if session.state.task else "",
        max_steps=0,  # the look-up is bounded by its queries, their results, and the budget
        scope="thesis",
        templates=("seeker",),
    )
    return Lane(
        session,
        spec,
        retriever,
        tools,
        prompts,
        Policy(gates=CHECK_GATES, rules=rules_of(settings)),
    )


def _tools(
    session: Session, place: Environment, earlier: Knowledge | None, job: ThesisJob, settings: Settings
) -> Sequence[Tool]:
    web = place.web
    return toolset(
        Toolkit(
            corpus=place.corpus,
            files=place.files,
            capture=web.capture if web is not None else None,
            web=web.search if web is not None else None,
            count=settings.brave.default_count,
            library=earlier if "kb" in job.request.scope else None,
            read=Read(place.corpus, session.workspace, place.extractor, place.input_name),
        )
    )


def _lower(one: float, other: float) -> float:
    """The lower of two limits, where 0 means no limit."""
    return min(one, other) if one and other else one or other
