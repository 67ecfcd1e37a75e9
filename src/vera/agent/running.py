"""A research run, made ready from its settings: a model, the web, a place, the lane and its verifier."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path

import msgspec

from vera import events
from vera.agent import guided, mode, research, setup, sub_questions
from vera.agent.extracts import Extracts
from vera.agent.follow_up import Parent, carried_pages, carry, in_full
from vera.agent.gathering import Gathering
from vera.agent.lanes import LANE, LaneOptions, options_of
from vera.agent.opening import Opened, open_common, verifier_context_of
from vera.agent.plugins import NONE, Plugins
from vera.agent.report_run import Part, ReportRun
from vera.agent.research import Research
from vera.agent.verifier_context import exams_folder
from vera.agent.web import Web, open_web, search_engines
from vera.attestation.keys import Signer
from vera.config import Settings, public
from vera.config.settings import BUILT_IN, SandboxSettings
from vera.evidence.extractor import Extractor
from vera.model.types import Model
from vera.sandbox import image
from vera.search.web import Engines
from vera.session import Session
from vera.verification.context import VerifierContext

WEB_REACH = {
    "auto": "fetch and commands may reach public hosts",
    "public": "fetch and commands may reach public hosts",
    "allowlist": "fetch and commands may reach the hosts of the allow-list",
}


FIRST_TURNS = 2
"""Broken turns at the beginning of a run, before any whole one, after which the host acts for the model."""


def new_session(root: Path, settings: Settings, task: str, parent: Parent | None = None) -> Session:
    """A session that begins with its task, and with what carries over from the session before. Raises
    SessionError when the folder cannot be used."""
    session = Session.create(root, public(settings), origins=settings.origins)
    input_dir = str(settings.run.input_dir.resolve()) if settings.run.input_dir else ""
    session.emit(events.Task(task=session.text(task), input_dir=input_dir), lane="")
    if parent is not None:
        carry(session, parent)
    return session


@asynccontextmanager
async def open_run(
    open_session: Callable[[], Session],
    settings: Settings,
    *,
    extractor: Extractor,
    found: setup.Input | None,
    signer: Signer,
    progress: image.Progress,
    plugins: Plugins = NONE,
    revise: sub_questions.Revise = list,
) -> AsyncIterator[tuple[Session, Research | ReportRun]]:
    """A session, new or resumed, and its run, ready to `run`. What was opened is closed at the end.

    `revise` is what the person makes of the sub-questions that a model proposes for a report, or that were
    read off the task. The session is opened last but for what needs one, so that a mistake leaves none
    behind. Raises SetupError, TaskTooLong, PromptError, and what `open_session` raises.
    """
    async with AsyncExitStack() as stack:
        setup.refuse_unkept(settings)
        asked = sub_questions.given(settings)
        engines = search_engines(settings.search, settings.brave, plugins.engines)
        opened = await open_common(open_session, settings, stack, progress, found=found, plugins=plugins)
        session, model = opened.session, opened.model
        if model.info.kind != BUILT_IN:
            await mode.settle(
                settings.run.mode,
                session,
                model,
                opened.prompts,
                settings.model.system_role,
                exams_folder(),
                progress.now,
            )
        elif settings.run.mode in guided.ROOMS:
            progress.say(
                f"--mode {settings.run.mode} needs a language model: the built-in one gives extracts"
            )

        def web_of(lane: str) -> Web | None:
            rests = {name: use.rests_until for name, use in session.state.engines.items()}
            asked = Engines(engines, calls=session.state.searches, rests_until=rests)
            return open_web(session, settings, asked, extractor=extractor, lane=lane, acting=acting(lane))

        def acting(lane: str) -> Callable[[], str] | None:
            """The lane of now where the main one is meant: that of a sub-question in a report."""
            return (lambda: session.state.acting) if lane == LANE else None

        web = web_of(LANE) if model.info.kind != BUILT_IN else None
        if web is not None:
            progress.say(f"web: {WEB_REACH[settings.egress.mode]}; --egress none closes it")
        place = await setup.open_place(
            session, _sandbox(settings, session), extractor, found, web, model, stack, progress
        )
        place = msgspec.structs.replace(place, pages=carried_pages(session.state, place.corpus))
        options = msgspec.structs.replace(
            options_of(settings, opened.budget.limits), tools=plugins.tools, gates=plugins.gates
        )
        if settings.run.mode == mode.AUTO and model.info.kind != BUILT_IN:
            rules = msgspec.structs.replace(options.rules, first_turns_limit=FIRST_TURNS)
            options = msgspec.structs.replace(options, rules=rules)
        context = verifier_context_of(opened, settings, place)
        if _is_report(settings, session):
            await sub_questions.settle(context, _proposer(opened), asked, revise, progress.say)
            open_part = partial(_part, opened, settings, place, options, web_of, context, signer, progress)
            most = options.max_steps
            yield (
                session,
                ReportRun(
                    context,
                    signer,
                    opened.budget,
                    open_part,
                    max_steps=most,
                    say=progress.say,
                    now=progress.now,
                ),
            )
            return
        lane = research.make_lane(session, opened.task, model, place, opened.prompts, options, opened.chooser)
        instead = _instead(opened, settings, place, options, web_of, progress)
        yield session, Research(lane, context, signer, progress.now, opened.budget, instead)


def _is_report(settings: Settings, session: Session) -> bool:
    """Whether the run is a report: one that goes on stays what it was begun as."""
    begun = bool(session.state.answers) or session.state.lane(LANE).started is not None
    return session.state.sub_questions is not None or (settings.run.form == "report" and not begun)


def _proposer(opened: Opened) -> Model | None:
    """The model that proposes sub-questions; None for the built-in one, and for one that cannot act."""
    mode_now = opened.session.state.mode
    cannot_act = mode_now is not None and mode_now.mode != research.AGENT and not mode_now.asked
    return None if opened.model.info.kind == BUILT_IN or cannot_act else opened.model


def _part(
    opened: Opened,
    settings: Settings,
    place: research.Environment,
    options: LaneOptions,
    web_of: Callable[[str], Web | None],
    context: VerifierContext,
    signer: Signer,
    progress: image.Progress,
    part: Part,
) -> Research:
    """The run of a sub-question, in the lane of now. Raises TaskTooLong, PromptError."""
    name = opened.session.state.acting
    searches = part.limits.searches and part.limits.searches + part.before.searches
    within = msgspec.structs.replace(
        options,
        max_steps=part.max_steps,
        limits=part.limits,
        before=part.before,
        rules=msgspec.structs.replace(options.rules, search_budget=searches),
    )
    lane = research.make_lane(
        opened.session,
        part.question,
        opened.model,
        place,
        opened.prompts,
        within,
        opened.chooser.in_lane(name) if opened.chooser else None,
        lane=name,
    )
    asked = msgspec.structs.replace(opened, task=part.question)
    instead = _instead(asked, settings, place, within, web_of, progress)
    return Research(lane, context, signer, progress.now, opened.budget, instead, acts=part.acts)


def _sandbox(settings: Settings, session: Session) -> SandboxSettings:
    """The sandbox of the run; none where the model runs no commands."""
    acts = session.state.mode is None or session.state.mode.mode == research.AGENT
    return settings.sandbox if acts else settings.sandbox.model_copy(update={"backend": "none"})


def _instead(
    opened: Opened,
    settings: Settings,
    place: research.Environment,
    options: LaneOptions,
    web_of: Callable[[str], Web | None],
    progress: image.Progress,
) -> guided.Guided | None:
    """What answers where the model does not act, or came to no answer; None in place of the built-in one."""
    if opened.model.info.kind == BUILT_IN:
        return None
    checked = settings.verification
    return guided.Guided(
        opened.session,
        opened.task,
        opened.model,
        Extracts(opened.session, opened.task, place, options),
        Gathering(
            opened.session,
            in_full(opened.session, opened.task),
            web_of,
            options,
            has_input=place.corpus is not None or bool(place.pages),
        ),
        auto=settings.run.mode == mode.AUTO,
        judged=bool(checked.model_base_url) or checked.rule == "model" or setup.by_entailment(checked),
        now=progress.now,
    )
