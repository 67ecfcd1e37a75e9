"""A research run, made ready from its settings: a model, the web, a place, the lane and its verifier."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import msgspec

from vera import events
from vera.agent import guided, mode, research, setup
from vera.agent.extracts import Extracts
from vera.agent.gathering import Gathering
from vera.agent.lanes import LANE, LaneOptions, options_of
from vera.agent.opening import Opened, open_common, verifier_context_of
from vera.agent.research import Research
from vera.agent.verifier_context import exams_folder
from vera.agent.web import Web, open_web, search_engines
from vera.attestation.keys import Signer
from vera.config import Settings, public
from vera.config.settings import BUILT_IN, SandboxSettings
from vera.evidence.extractor import Extractor
from vera.sandbox import image
from vera.search.web import Engines
from vera.session import Session

WEB_REACH = {
    "auto": "fetch and commands may reach public hosts",
    "public": "fetch and commands may reach public hosts",
    "allowlist": "fetch and commands may reach the hosts of the allow-list",
}


FIRST_TURNS = 2
"""Broken turns at the beginning of a run, before any whole one, after which the host acts for the model."""


def new_session(root: Path, settings: Settings, task: str) -> Session:
    """A session that begins with its task. Raises SessionError when the folder cannot be used."""
    session = Session.create(root, public(settings), origins=settings.origins)
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
        setup.refuse_unkept(settings)
        engines = search_engines(settings.search, settings.brave)
        opened = await open_common(open_session, settings, stack, progress, found=found)
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
            return open_web(session, settings, asked, extractor=extractor, lane=lane)

        web = web_of(LANE) if model.info.kind != BUILT_IN else None
        if web is not None:
            progress.say(f"web: {WEB_REACH[settings.egress.mode]}; --egress none closes it")
        place = await setup.open_place(
            session, _sandbox(settings, session), extractor, found, web, model, stack, progress
        )
        options = options_of(settings, opened.budget.limits)
        if settings.run.mode == mode.AUTO and model.info.kind != BUILT_IN:
            rules = msgspec.structs.replace(options.rules, first_turns_limit=FIRST_TURNS)
            options = msgspec.structs.replace(options, rules=rules)
        lane = research.make_lane(session, opened.task, model, place, opened.prompts, options, opened.chooser)
        context = verifier_context_of(opened, settings, place)
        yield (
            session,
            Research(
                lane,
                context,
                signer,
                progress.now,
                opened.budget,
                None
                if model.info.kind == BUILT_IN
                else _instead(opened, settings, place, options, web_of, progress),
            ),
        )


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
) -> guided.Guided:
    """What answers where the model does not act, or came to no answer."""
    checked = settings.verification
    return guided.Guided(
        opened.session,
        opened.task,
        opened.model,
        Extracts(opened.session, opened.task, place, options),
        Gathering(opened.session, opened.task, web_of, options, has_input=place.corpus is not None),
        auto=settings.run.mode == mode.AUTO,
        judged=bool(checked.model_base_url) or checked.rule == "model",
        now=progress.now,
    )
