"""An execution, made ready from its settings: a model, a place without any way out, the lane, who it asks."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager

import msgspec

from vera.agent import execution, research, setup, spending
from vera.agent.asking import Asker
from vera.agent.desk import open_desk
from vera.agent.research import Research
from vera.agent.rules import rules_of
from vera.agent.running import options_of, say_who_is_asked
from vera.attestation.keys import Signer
from vera.config import Settings
from vera.evidence.extractor import Extractor
from vera.lane.budget import Budget
from vera.lane.prompts import Prompts
from vera.sandbox import image
from vera.session import Session


@asynccontextmanager
async def open_execution(
    open_session: Callable[[], Session],
    settings: Settings,
    *,
    extractor: Extractor,
    signer: Signer,
    progress: image.Progress,
) -> AsyncIterator[tuple[Session, Research]]:
    """A session, new or resumed, and its execution, ready to `run`. What was opened is closed at the end.

    The input folder is its verifier's alone. Raises SetupError, RequestError (a required thesis that is
    none), TaskTooLong, PromptError, and what `open_session` raises.
    """
    rules = execution.rules_for(rules_of(settings), settings)
    if settings.run.input_dir is not None:
        setup.input_folder(settings.run.input_dir)
    terms = execution.terms_of(settings)
    async with AsyncExitStack() as stack:
        model = await setup.open_model(settings.model, stack, progress.say, progress.now)
        execution.refuse_open_doors(settings, model)
        verifier = await setup.open_verifier_model(settings.verification, settings.model, model, stack)
        prompts = Prompts(settings.model.prompt_profile)
        session = open_session()
        stack.callback(session.close)
        session.emit(setup.model_event(model))
        say_who_is_asked(model, verifier, progress)
        budget = Budget(spending.limits_of(settings.budget), session.state.spent)
        model, verifier = spending.within_budget(model, verifier, budget, session.state)
        place = await execution.open_place(session, settings, rules, extractor, stack, progress)
        task = session.state.task
        question = session.load(task.task) if task else ""
        lane = execution.make_lane(
            session,
            question,
            model,
            place,
            Asker(session, research.LANE, settings, signer, budget, progress.say, progress.now),
            terms,
            prompts,
            msgspec.structs.replace(options_of(settings, budget.limits), rules=rules),
        )
        desk = open_desk(
            session=session,
            settings=settings,
            place=place,
            model=verifier,
            prompts=prompts,
            options=setup.verifier_options(settings, model, verifier, place),
        )
        yield session, execution.Execution(lane, desk, signer, progress.now, budget, prompts)
