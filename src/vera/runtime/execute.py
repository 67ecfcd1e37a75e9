"""An execution, made ready from its settings: models, session, budget, place, lane, verifier."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path

import msgspec

from vera.agent.asking import SubSession, Verification
from vera.agent.errors import SetupError
from vera.agent.execution import Execution, make_lane
from vera.agent.folders import corpus_digest, input_folder
from vera.agent.lanes import LANE
from vera.agent.rules import rules_of
from vera.agent.thesis import ThesisJob
from vera.agent.verification_result import Verified
from vera.attestation.request import normalised, thesis_id
from vera.config import Settings
from vera.config.settings import BUILT_IN
from vera.gates.kernel import Required, Rules
from vera.lane.prompts import Prompts
from vera.lane.tools.verify import Terms
from vera.model.types import Model
from vera.runtime.models import open_models
from vera.runtime.place import open_guarded_place
from vera.runtime.reuse import verify_or_reuse
from vera.runtime.setup import Prepared, lane_options
from vera.runtime.verifier_context import context_of
from vera.sandbox import image
from vera.session import Session


@asynccontextmanager
async def open_execution(
    open_session: Callable[[], Session], settings: Settings, prepared: Prepared, progress: image.Progress
) -> AsyncIterator[tuple[Session, Execution]]:
    """A session, new or resumed, and its execution, ready to `run`. What was opened is closed at the end.

    The input folder is its verifier's alone. Raises SetupError, RequestError (a required thesis that is
    not a statement), TaskTooLong, PromptError, and what `open_session` raises.
    """
    rules = rules_for(rules_of(settings), settings)
    if settings.run.input_dir is not None:
        input_folder(settings.run.input_dir)
    terms = terms_of(settings)
    async with AsyncExitStack() as stack:
        accept = partial(refuse_open_doors, settings)
        models = await open_models(settings, stack, progress, prepared.plugins, accept)
        prompts = Prompts(settings.model.prompt_profile)
        session = models.begin(open_session, prepared, stack, progress)
        budget, model, verifier, chooser = models.within_budget(settings, session)
        place = await open_guarded_place(session, settings, rules, prepared, stack, progress)
        theses = SubSession(session, LANE, settings, prepared.signer, budget, _verification(progress))
        options = lane_options(settings, budget.limits, prepared.plugins)
        options = msgspec.structs.replace(options, rules=rules)
        lane = make_lane(session, session.task_text(), model, place, theses, terms, prompts, options, chooser)
        context = context_of(session, settings, place, model, verifier, prompts, prepared.plugins.checks)
        yield session, Execution(lane, context, prepared.signer, progress.now, budget, prompts)


def _verification(progress: image.Progress) -> Verification:
    """How a thesis of an execution is verified: as one of a person's is."""

    async def verify(job: ThesisJob, settings: Settings, root: Path) -> Verified:
        base, say, now = settings.run.base_dir, progress.say, progress.now
        return (await verify_or_reuse(job, settings, base, root, chosen=True, say=say, now=now)).verified

    return verify


def terms_of(settings: Settings) -> Terms:
    """Where theses of this run may be looked up, at which tier at least, over which files."""
    folder = settings.run.input_dir
    scope = tuple(["files"] * (folder is not None) + ["web"] * (settings.egress.mode != "none"))
    if not scope:
        raise SetupError(
            "Nothing can be verified: there is no input folder and no web. Give --input-dir DIR, or leave "
            "out --egress none.",
            2,
        )
    return Terms(
        scope=scope, risk=settings.run.risk, corpus=corpus_digest(folder.resolve()) if folder else ""
    )


def rules_for(rules: Rules, settings: Settings) -> Rules:
    """The rules with what must be SUPPORTED before files are changed: the theses that the person named, and
    at risk high one thesis in any case. Raises RequestError for what is no thesis."""
    texts = [line for line in settings.run.require_theses.splitlines() if line.strip()]
    return msgspec.structs.replace(
        rules,
        required=tuple(Required(thesis_id(text), normalised(text)) for text in texts),
        one_required=settings.run.risk == "high",
    )


def refuse_open_doors(settings: Settings, model: Model) -> None:
    """Raise SetupError for what would let an execution search, or leave it no one to work."""
    sandbox = settings.sandbox
    if sandbox.backend == "host" or sandbox.privileged:
        what = "--privileged" if sandbox.privileged else "--sandbox host"
        raise SetupError(
            f"The execute lane has no network and no files but its own, and {what} isolates from neither. "
            "Leave it out, or use --sandbox none for a lane without commands.",
            2,
        )
    if model.info.kind == BUILT_IN:
        raise SetupError(
            "The execute lane needs a language model to do the work; the built-in one only finds passages. "
            "Start a server, or name one: vera run --lane execute --model-base-url URL",
            5,
        )
