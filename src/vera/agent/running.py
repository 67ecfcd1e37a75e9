"""A research run, made ready from its settings: a model, the web, a place, the lane and its verifier."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from vera import events
from vera.agent import research, setup, spending
from vera.agent.desk import open_desk
from vera.agent.research import Research, ResearchOptions
from vera.agent.rules import rules_of
from vera.agent.web import open_web, search_engines
from vera.attestation.keys import Signer
from vera.config import Settings, public
from vera.config.settings import BUILT_IN
from vera.evidence.extractor import Extractor
from vera.lane.budget import Budget, Limits
from vera.lane.prompts import Prompts
from vera.model.types import Model
from vera.sandbox import image
from vera.search.web import Engines
from vera.session import Session

WEB_REACH = {
    "auto": "fetch and commands may reach public hosts",
    "public": "fetch and commands may reach public hosts",
    "allowlist": "fetch and commands may reach the hosts of the allow-list",
}


def new_session(root: Path, settings: Settings, task: str) -> Session:
    """A session that begins with its task. Raises SessionError when the folder cannot be used."""
    session = Session.create(root, public(settings))
    input_dir = str(settings.run.input_dir.resolve()) if settings.run.input_dir else ""
    session.emit(events.Task(task=session.text(task), input_dir=input_dir), lane="")
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
) -> AsyncIterator[tuple[Session, Research]]:
    """A session, new or resumed, and its run, ready to `run`. What was opened is closed at the end.

    The session is opened last but for what needs one, so that a mistake leaves none behind. Raises
    SetupError, TaskTooLong, PromptError, and what `open_session` raises.
    """
    async with AsyncExitStack() as stack:
        model = await setup.open_model(settings.model, stack, progress.say, progress.now)
        verifier = await setup.open_verifier_model(settings.verification, settings.model, model, stack)
        engines = search_engines(settings.search, settings.brave)
        prompts = Prompts(settings.model.prompt_profile)
        session = open_session()
        stack.callback(session.close)
        if found is not None:
            session.emit(setup.corpus_event(found))
        session.emit(setup.model_event(model))
        say_who_is_asked(model, verifier, progress)
        budget = Budget(spending.limits_of(settings.budget), session.state.spent)
        model, verifier = spending.within_budget(model, verifier, budget, session.state)
        web = None
        if model.info.kind != BUILT_IN:
            web = open_web(
                session,
                settings,
                Engines(
                    engines,
                    calls=session.state.searches,
                    rests_until={name: use.rests_until for name, use in session.state.engines.items()},
                ),
                extractor=extractor,
                lane=research.LANE,
            )
        if web is not None:
            progress.say(f"web: {WEB_REACH[settings.egress.mode]}; --egress none closes it")
        place = await setup.open_place(
            session, settings.sandbox, extractor, found, web, model, stack, progress
        )
        task = session.state.task
        question = session.load(task.task) if task else ""
        lane = research.make_lane(
            session, question, model, place, prompts, options_of(settings, budget.limits)
        )
        desk = open_desk(
            session=session,
            settings=settings,
            place=place,
            model=verifier,
            prompts=prompts,
            options=setup.verifier_options(settings, model, verifier, place),
        )
        yield session, Research(lane, desk, signer, progress.now, budget)


def say_who_is_asked(model: Model, verifier: Model | None, progress: image.Progress) -> None:
    """The verifier where it is a model of its own, and what every server that is not local gets to see."""
    if verifier is not None and verifier is not model:
        progress.say(f"verifier: {verifier.info.name} ({verifier.info.kind} at {verifier.info.base_url})")
    for asked in dict.fromkeys(each for each in (model, verifier) if each and not each.info.local):
        from vera.model.url import disclosure

        if sentence := disclosure(asked.info.base_url):
            progress.say(sentence)


def options_of(settings: Settings, limits: Limits) -> ResearchOptions:
    """How the main lane works, by the settings."""
    return ResearchOptions(
        max_steps=settings.run.max_steps,
        temperature=settings.model.temperature,
        answer_tokens=settings.model.max_tokens,
        system_role=settings.model.system_role,
        high_tokens=settings.context.high_tokens,
        max_chars=settings.context.max_chars or 0,
        tail_steps=settings.context.tail_steps,
        tool_seconds=settings.sandbox.max_tool_seconds,
        search_count=settings.brave.default_count,
        rules=rules_of(settings),
        limits=limits,
    )
