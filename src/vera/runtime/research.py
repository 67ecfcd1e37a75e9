"""A research run, made ready from its settings: models, session, budget, web, place, verifier, lane."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path

import msgspec

from vera import events
from vera.agent import guided, sub_questions, turn_exam
from vera.agent.extracts import Extracts
from vera.agent.folders import exams_folder
from vera.agent.follow_up import Parent, carry
from vera.agent.gathering import Gathering
from vera.agent.lanes import AGENT, LANE, Environment, LaneOptions, make_lane
from vera.agent.question_before import carried_pages, in_full
from vera.agent.report_run import Part, ReportRun
from vera.agent.research import Research
from vera.agent.web import Web
from vera.config import Settings, public
from vera.config.settings import BUILT_IN, SandboxSettings
from vera.extraction.extractor import Extractor
from vera.lane.budget import BudgetLimits
from vera.lane.prompts import Prompts
from vera.model.types import Model
from vera.runtime.models import by_entailment, open_models
from vera.runtime.place import open_place, refuse_unkept
from vera.runtime.plugins import Plugins
from vera.runtime.setup import Prepared, lane_options
from vera.runtime.verifier_context import context_of
from vera.runtime.web import open_web, search_engines
from vera.sandbox import image
from vera.session import Session
from vera.websearch import Engine, Engines

WEB_REACH = {
    "auto": "fetch and commands may reach public hosts",
    "public": "fetch and commands may reach public hosts",
    "allowlist": "fetch and commands may reach the hosts of the allow-list",
}

FIRST_TURNS = 2
"""Broken turns at the beginning of a run, before any whole one, after which the host acts for the model."""


def new_session(
    root: Path,
    settings: Settings,
    task: str,
    hear: Callable[[events.Record], None] | None = None,
    parent: Parent | None = None,
) -> Session:
    """A session that begins with its task, and with what carries over from its `parent`; `hear` gets its
    records. The task of an execution names no folder: its lane does not see it. Raises SessionError when the
    folder cannot be used."""
    session = Session.create(root, public(settings), origins=settings.origins)
    if hear is not None:
        session.subscribe(hear)
    folder = settings.run.input_dir if settings.run.lane == "research" else None
    input_dir = str(folder.resolve()) if folder else ""
    session.emit(events.Task(task=session.text(task), input_dir=input_dir), lane="")
    if parent is not None:
        carry(session, parent)
    return session


@asynccontextmanager
async def open_run(
    open_session: Callable[[], Session],
    settings: Settings,
    prepared: Prepared,
    progress: image.Progress,
    revise: sub_questions.Revise = list,
) -> AsyncIterator[tuple[Session, Research | ReportRun]]:
    """A session, new or resumed, and its run, ready to `run`. What was opened is closed at the end.

    `revise` is what the person makes of the sub-questions that a model proposes for a report, or that were
    read off the task. The session is opened after the models, so that a mistake leaves none behind. Raises
    SetupError, TaskTooLong, PromptError, and what `open_session` raises.
    """
    async with AsyncExitStack() as stack:
        refuse_unkept(settings)
        asked = sub_questions.given(settings)
        engines = search_engines(settings.search, settings.brave, prepared.plugins.engines)
        models = await open_models(settings, stack, progress, prepared.plugins)
        prompts = Prompts(settings.model.prompt_profile)
        session = models.begin(open_session, prepared, stack, progress)
        budget, model, verifier, chooser = models.within_budget(settings, session)
        await _settle_mode(settings, session, model, prompts, progress)
        web_of = partial(_open_web, session, settings, engines, prepared.extractor)
        web = _main_web(settings, model, web_of, progress)
        sandbox = _sandbox(settings, session)
        place = await open_place(session, sandbox, prepared, web, model, stack, progress)
        place = msgspec.structs.replace(place, pages=carried_pages(session.state, place.corpus))
        context = context_of(session, settings, place, model, verifier, prompts, prepared.plugins.checks)

        def answering(task: str, options: LaneOptions, lane: str = LANE, *, acts: bool = True) -> Research:
            chooses = chooser.in_lane(lane) if chooser is not None else None
            made = make_lane(session, task, model, place, prompts, options, chooses, lane=lane)
            instead = _instead(session, task, model, settings, place, options, web_of, progress)
            return Research(made, context, prepared.signer, progress.now, budget, instead, acts=acts)

        def part(asked: Part) -> Research:
            return answering(asked.question, _share(options, asked), session.state.acting, acts=asked.acts)

        options = _options(settings, budget.limits, prepared.plugins, model)
        if not _is_report(settings, session):
            task = session.state.task
            yield session, answering(session.load(task.task) if task else "", options)
            return
        await sub_questions.settle(context, _proposer(session, model), asked, revise, progress.say)
        signer, steps = prepared.signer, options.max_steps
        yield (
            session,
            ReportRun(context, signer, budget, part, max_steps=steps, say=progress.say, now=progress.now),
        )


async def _settle_mode(
    settings: Settings, session: Session, model: Model, prompts: Prompts, progress: image.Progress
) -> None:
    """Log who acts in the run; the built-in model has no other way than its own."""
    mode = settings.run.mode
    if model.info.kind != BUILT_IN:
        role = settings.model.system_role
        await turn_exam.settle(mode, session, model, prompts, role, exams_folder(), progress.now)
    elif mode in guided.ROOMS:
        progress.say(f"--mode {mode} needs a language model: the built-in one gives extracts")


def _open_web(
    session: Session, settings: Settings, engines: Sequence[Engine], extractor: Extractor, lane: str
) -> Web | None:
    """The web of a lane; that of the main one is logged in the lane of the sub-question under way."""
    rests = {name: use.rests_until for name, use in session.state.engines.items()}
    asked = Engines(engines, calls=session.state.searches, rests_until=rests)
    acting = (lambda: session.state.acting) if lane == LANE else None
    return open_web(session, settings, asked, extractor=extractor, lane=lane, acting=acting)


def _main_web(
    settings: Settings, model: Model, web_of: Callable[[str], Web | None], progress: image.Progress
) -> Web | None:
    """The web of the main lane, of which it is said what it reaches; none for the built-in model."""
    web = web_of(LANE) if model.info.kind != BUILT_IN else None
    if web is not None:
        progress.say(f"web: {WEB_REACH[settings.egress.mode]}; --egress none closes it")
    return web


def _options(settings: Settings, limits: BudgetLimits, plugins: Plugins, model: Model) -> LaneOptions:
    """How the lanes of the run work. A model may fail in its first turns where the host can act instead."""
    options = lane_options(settings, limits, plugins)
    if settings.run.mode != turn_exam.AUTO or model.info.kind == BUILT_IN:
        return options
    rules = msgspec.structs.replace(options.rules, first_turns_limit=FIRST_TURNS)
    return msgspec.structs.replace(options, rules=rules)


def _share(options: LaneOptions, part: Part) -> LaneOptions:
    """How the lane of a sub-question works, within its share of the budget."""
    searches = part.limits.searches and part.limits.searches + part.before.searches
    return msgspec.structs.replace(
        options,
        max_steps=part.max_steps,
        limits=part.limits,
        before=part.before,
        rules=msgspec.structs.replace(options.rules, search_budget=searches),
    )


def _is_report(settings: Settings, session: Session) -> bool:
    """Whether the run is a report: one that goes on stays what it was begun as."""
    begun = bool(session.state.answers) or session.state.lane(LANE).started is not None
    return session.state.sub_questions is not None or (settings.run.form == "report" and not begun)


def _proposer(session: Session, model: Model) -> Model | None:
    """The model that proposes sub-questions; None for the built-in one, and for one that cannot act."""
    mode_now = session.state.mode
    cannot_act = mode_now is not None and mode_now.mode != AGENT and not mode_now.asked
    return None if model.info.kind == BUILT_IN or cannot_act else model


def _sandbox(settings: Settings, session: Session) -> SandboxSettings:
    """The sandbox of the run; none where the model runs no commands."""
    acts = session.state.mode is None or session.state.mode.mode == AGENT
    return settings.sandbox if acts else settings.sandbox.model_copy(update={"backend": "none"})


def _instead(
    session: Session,
    task: str,
    model: Model,
    settings: Settings,
    place: Environment,
    options: LaneOptions,
    web_of: Callable[[str], Web | None],
    progress: image.Progress,
) -> guided.Guided | None:
    """What answers where the model does not act, or came to no answer; None in place of the built-in one."""
    if model.info.kind == BUILT_IN:
        return None
    checked = settings.verification
    has_input = place.corpus is not None or bool(place.pages)
    return guided.Guided(
        session,
        task,
        model,
        Extracts(session, task, place, options),
        Gathering(session, in_full(session, task), web_of, options, has_input=has_input),
        auto=settings.run.mode == turn_exam.AUTO,
        judged=bool(checked.model_base_url) or checked.rule == "model" or by_entailment(checked),
        now=progress.now,
    )
