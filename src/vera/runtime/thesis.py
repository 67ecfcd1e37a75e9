"""The verification of a thesis, made ready from its request and its settings, and run to its end."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from vera import events
from vera.agent import spending
from vera.agent.conclusion import Result
from vera.agent.deadline import Deadline, TimedModel
from vera.agent.errors import SetupError
from vera.agent.folders import corpus_digest, input_folder
from vera.agent.follow_up import Parent, carry
from vera.agent.knowledge import Knowledge
from vera.agent.lanes import LANE
from vera.agent.rules import listed
from vera.agent.thesis import (
    ThesisJob,
    ThesisRun,
    lane_of,
    narrowed,
    register,
    settings_for,
    tools_of,
    within,
)
from vera.agent.web import Web, network_policy
from vera.attestation.objects import Lens, OptionalDigest, VerifyRequest
from vera.attestation.parents import AGREES
from vera.attestation.request import RequestError, request_objects, request_of, requested, sub_claims
from vera.attestation.tiers import bars
from vera.config import Settings, public
from vera.config.settings import BUILT_IN
from vera.connectors.gathering import list_of
from vera.evidence.claim import Claim
from vera.evidence.official import official_names
from vera.lane.budget import Budget
from vera.lane.prompts import Prompts
from vera.model.types import Model
from vera.runtime.models import by_entailment, model_event, open_model, open_verifier_model, probed
from vera.runtime.place import without_shell
from vera.runtime.setup import Prepared, prepare
from vera.runtime.verifier_context import context_of
from vera.runtime.web import open_web, search_engines
from vera.sandbox.egress.types import Connection
from vera.session import Session
from vera.verification.context import VerifierContext
from vera.verification.exam import examined
from vera.verification.lookup_history import Seen
from vera.verification.retriever import EvidenceRetriever, SearchPlan
from vera.websearch import Engines

LOOK_UP_SHARE = 0.75
"""Of the time, what a look-up may take when a model is to read what was found."""

Say = Callable[[str], None]


def _silent(_: str) -> None:
    """No-op callback."""


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
    job, settings = narrowed(job, settings), settings_for(settings, job)
    with ExitStack() as stack:
        prepared = await asyncio.to_thread(prepare, settings, stack, connections=job.connections)

        def open_session() -> Session:
            return begin(job, settings, root, supersedes, parent)

        known = bool(parent and parent.captures)
        opened = open_thesis(open_session, job, settings, prepared, earlier, say, now, known=known)
        async with opened as (session, run):
            result = await run.run()
            if parent is None or parent.found == AGREES:
                register(session, settings.run.base_dir, prepared.signer, say)
            else:
                say(f"ahdb: not entered: the replay of the session before found {parent.found}")
            return result


@asynccontextmanager
async def open_thesis(
    open_session: Callable[[], Session],
    job: ThesisJob,
    settings: Settings,
    prepared: Prepared,
    earlier: Knowledge | None,
    say: Say,
    now: Say,
    *,
    known: bool = False,
) -> AsyncIterator[tuple[Session, ThesisRun]]:
    """A new session and the run that verifies its thesis, under the settings of the job; `known`: sources
    carry over into it. What was opened is closed at the end. Raises SetupError, PromptError, and what
    `open_session` raises."""
    budgeted, plugins = settings.budget, prepared.plugins
    async with AsyncExitStack() as stack:
        model = await open_model(settings.model, stack, say, now, budgeted.seconds, plugins.servers)
        verifier = await open_verifier_model(settings.verification, settings.model, model, stack)
        if slow := spending.slowness(model.info.name, probed(model)):
            say(slow)
        engines = Engines(search_engines(settings.search, settings.brave, plugins.engines))
        deadline = Deadline(budgeted.seconds, used=probed(model).seconds)
        literal = verifier is None and not by_entailment(settings.verification)
        plan = _plan(job, settings, earlier, files=prepared.found is not None, literal=literal)
        if not (known or plan.files or plan.web or plan.earlier):
            raise SetupError(_nowhere(job.request), 2)
        session = open_session()
        stack.callback(session.close)
        session.subscribe(_told(now))
        prepared.record(session)
        session.emit(model_event(model))
        budget = Budget(spending.limits_of(budgeted), session.state.spent)
        seen = Seen(session, LANE)
        place = without_shell(prepared, _open_web(session, settings, engines, prepared, job, earlier, seen))
        ends = Deadline(budgeted.seconds * (1.0 if verifier is None else LOOK_UP_SHARE))
        prompts = Prompts(settings.model.prompt_profile)
        reader, judge = spending.within_budget(model, verifier, budget, session.state)
        context = context_of(session, settings, place, model, judge, prompts, plugins.checks)
        # Before the look-up: who decides what lines say determines which lines are cited.
        context = await examined(_timed(context, job, reader, deadline, own=verifier is not model), now)
        plan = msgspec.structs.replace(plan, literal=context.options.rule == "literal")
        retriever = EvidenceRetriever(seen, plan, place.corpus, lambda: ends.is_over)
        tools = tools_of(session, place, earlier, job, settings)
        lane = lane_of(session, retriever, tools, ends, settings, prompts)
        signer = prepared.signer
        yield session, ThesisRun(lane, context, signer, now, budget, retriever=retriever, deadline=deadline)


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


def _nowhere(request: VerifyRequest) -> str:
    """Why there is nothing to look at, and what to do."""
    missing = {
        "web": "the web may not be reached by these settings",
        "kb": "no earlier session under this base folder has a source that may count",
        "connectors": "no connector is named or configured",
        "files": "no folder of files is given",
    }
    why = "; ".join(missing[place] for place in request.scope)
    return f"Nothing can be looked at: {why}. Give files with --input-dir DIR, or --scope web."


def _timed(
    context: VerifierContext, job: ThesisJob, reader: Model, deadline: Deadline, *, own: bool
) -> VerifierContext:
    """The context with the quorum of the request, and models that are cut off when the time is over: where
    the judge is another one than the model that answers (`own`), that one is the reader.

    There are no checks: they would be searches of a model that has read the pages, beyond the budget of the
    look-up, and the retriever has asked for both sides.
    """
    needed = bars(job.request.risk, job.lens)
    options = msgspec.structs.replace(
        context.options, checks=0, min_score=needed.min_score, file_sources=needed.file_sources
    )
    context = msgspec.structs.replace(context, options=options)
    if context.model is None:
        return context
    reads = own and reader.info.kind != BUILT_IN
    return msgspec.structs.replace(
        context,
        model=TimedModel(context.model, deadline),
        reader=TimedModel(reader, deadline) if reads else None,
    )


def _open_web(
    session: Session,
    settings: Settings,
    engines: Engines,
    prepared: Prepared,
    job: ThesisJob,
    earlier: Knowledge | None,
    seen: Seen,
) -> Web | None:
    """The web within the constraints of the request and what `seen` leaves of its bytes; a page of before is
    fetched only if it has changed."""
    return open_web(
        session,
        settings,
        engines,
        extractor=prepared.extractor,
        lane=LANE,
        kept=earlier.response if earlier else None,
        judge=within(job.request.constraints),
        bytes_left=lambda: max(0, job.budget.bytes - seen.bytes),
    )


def _plan(
    job: ThesisJob, settings: Settings, earlier: Knowledge | None, *, files: bool, literal: bool
) -> SearchPlan:
    """What is looked for, and where."""
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
        files=files and _looks_in_files(job),
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


def _looks_in_files(job: ThesisJob) -> bool:
    """Whether the scope has the files of the folder, or the connectors by which they were gathered."""
    gathered = job.input_dir is not None and bool(list_of(job.input_dir))
    return "files" in job.request.scope or (gathered and "connectors" in job.request.scope)


def inquiry_of(
    thesis: object,
    folder: Path | None,
    lens: Lens,
    *,
    scope: object = None,
    follows: bool = False,
    connections: tuple[Connection, ...] = (),
    **asked: Any,
) -> ThesisJob:
    """The inquiry; what is in `folder` now is part of it. Without a scope it looks at the folder where there
    is one, else at the web. One that `follows` a session looks at what carries over from it (`kb`), too, and
    at the web only when the scope says so. `connections` are those by which connectors gathered the folder
    (`vera.runtime.connectors`), `asked` further arguments of `request_of`.

    Raises RequestError for what cannot be asked, SetupError (2) when there is no such folder or it
    cannot be read.
    """
    if folder is not None:
        input_folder(folder)
    looked_in = _scope(scope, folder, follows=follows)
    corpus = corpus_digest(folder) if folder else ""
    request, budget = request_of(thesis, scope=looked_in, lens=lens, corpus=corpus, **asked)
    if folder is None and "files" in request.scope:
        raise RequestError("The scope names files, and no folder of files was given.")
    return ThesisJob(request=request, lens=lens, budget=budget, input_dir=folder, connections=connections)


def _scope(scope: object, folder: Path | None, *, follows: bool) -> object:
    """The scope in force, by default that of what there is to look at."""
    looked_in = scope if scope is not None else ("files" if folder else "kb" if follows else "web")
    if follows and isinstance(looked_in, str):
        return f"{looked_in},kb"
    if follows and isinstance(looked_in, list | tuple):
        return [*looked_in, "kb"]
    return looked_in
