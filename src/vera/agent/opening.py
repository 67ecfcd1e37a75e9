"""What every run opens, in its order: the models, the session, the budget, the verifier's context."""

from collections.abc import Callable
from contextlib import AsyncExitStack

import msgspec

from vera.agent import setup, spending
from vera.agent.choosing import chooser_of, open_choosing
from vera.agent.plugins import NONE, Plugins
from vera.agent.research import Environment
from vera.agent.verifier_context import open_verifier_context
from vera.config import Settings
from vera.lane.budget import Budget
from vera.lane.prompts import Prompts
from vera.model.types import Model
from vera.sandbox import image
from vera.selection.chooser import Chooser
from vera.session import Session
from vera.verification.context import VerifierContext


class Opened(msgspec.Struct, frozen=True, kw_only=True):
    """A session, new or resumed, with its task, the models that answer and verify (None: no model does) and
    who chooses among candidate turns (None: each is taken as it comes), all within the budget, the prompts,
    and what plugins bring."""

    session: Session
    task: str
    model: Model
    verifier: Model | None
    chooser: Chooser | None
    budget: Budget
    prompts: Prompts
    plugins: Plugins = NONE


async def open_common(
    open_session: Callable[[], Session],
    settings: Settings,
    stack: AsyncExitStack,
    progress: image.Progress,
    *,
    accept: Callable[[Model], None] = lambda _: None,
    found: setup.Input | None = None,
    plugins: Plugins = NONE,
) -> Opened:
    """What a run has before its place and its lane; it is closed with `stack`.

    `accept` raises what speaks against working with the model. The session is opened last, so that a
    mistake leaves none behind. Raises SetupError, PromptError, and what `accept` and `open_session` raise.
    """
    model = await setup.open_model(
        settings.model, stack, progress.say, progress.now, settings.budget.seconds, plugins.servers
    )
    accept(model)
    verifier = await setup.open_verifier_model(settings.verification, settings.model, model, stack)
    choosing = await open_choosing(settings, model, stack, progress, plugins.selectors)
    prompts = Prompts(settings.model.prompt_profile)
    session = open_session()
    stack.callback(session.close)
    plugins.record(session)
    if found is not None:
        session.emit(setup.corpus_event(found))
    session.emit(setup.model_event(model))
    judge = choosing.judge if choosing else None
    _say_who_is_asked(model, verifier, judge, progress)
    probed = setup.probed(model)
    if slow := spending.slowness(model.info.name, probed):
        progress.say(slow)
    budget = Budget(spending.limits_of(settings.budget), session.state.spent, probed.seconds)
    model, verifier = spending.within_budget(model, verifier, budget, session.state)
    task = session.state.task
    return Opened(
        session=session,
        task=session.load(task.task) if task else "",
        model=model,
        verifier=verifier,
        chooser=chooser_of(choosing, session, budget, spending.bytes_per_token(session.state)),
        budget=budget,
        prompts=prompts,
        plugins=plugins,
    )


def verifier_context_of(opened: Opened, settings: Settings, place: Environment) -> VerifierContext:
    """The context at which the answers of a run that works at `place` are verified."""
    return open_verifier_context(
        session=opened.session,
        settings=settings,
        place=place,
        model=opened.verifier,
        prompts=opened.prompts,
        options=setup.verifier_options(settings, opened.model, opened.verifier, place),
        plugin_checks=opened.plugins.checks,
    )


def _say_who_is_asked(
    model: Model, verifier: Model | None, judge: Model | None, progress: image.Progress
) -> None:
    """The verifier where it is its own model, and what every server that is not local gets to see."""
    if verifier is not None and verifier is not model:
        progress.say(f"verifier: {verifier.info.name} ({verifier.info.kind} at {verifier.info.base_url})")
    for asked in dict.fromkeys(each for each in (model, verifier, judge) if each and not each.info.local):
        from vera.model.url import disclosure

        if sentence := disclosure(asked.info.base_url):
            progress.say(sentence)
