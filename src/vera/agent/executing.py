"""An execution, made ready from its settings: a model, a place without any way out, the lane, who it asks."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

import msgspec

from vera.agent import execution, setup
from vera.agent.asking import SubSession
from vera.agent.lanes import LANE, options_of
from vera.agent.opening import open_common, verifier_context_of
from vera.agent.plugins import NONE, Plugins
from vera.agent.research import Research
from vera.agent.rules import rules_of
from vera.attestation.keys import Signer
from vera.config import Settings
from vera.evidence.extractor import Extractor
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
    plugins: Plugins = NONE,
) -> AsyncIterator[tuple[Session, Research]]:
    """A session, new or resumed, and its execution, ready to `run`. What was opened is closed at the end.

    The input folder is its verifier's alone. Raises SetupError, RequestError (a required thesis that is
    not a statement), TaskTooLong, PromptError, and what `open_session` raises.
    """
    rules = execution.rules_for(rules_of(settings), settings)
    if settings.run.input_dir is not None:
        setup.input_folder(settings.run.input_dir)
    terms = execution.terms_of(settings)
    async with AsyncExitStack() as stack:
        opened = await open_common(
            open_session,
            settings,
            stack,
            progress,
            accept=partial(execution.refuse_open_doors, settings),
            plugins=plugins,
        )
        session, budget = opened.session, opened.budget
        place = await execution.open_place(session, settings, rules, extractor, stack, progress)
        lane = execution.make_lane(
            session,
            opened.task,
            opened.model,
            place,
            SubSession(session, LANE, settings, signer, budget, progress.say, progress.now),
            terms,
            opened.prompts,
            msgspec.structs.replace(options_of(settings, budget.limits), rules=rules, gates=plugins.gates),
            opened.chooser,
        )
        context = verifier_context_of(opened, settings, place)
        yield session, execution.Execution(lane, context, signer, progress.now, budget, opened.prompts)
