"""Best of N for a run, from its settings: how candidates are sampled, who chooses among them, and by what."""

from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Any

import msgspec

from vera.agent.errors import SetupError
from vera.agent.lanes import LANE
from vera.config import Settings
from vera.config.selection import ActionVerifierSettings, CandidateSamplingSettings
from vera.config.settings import BUILT_IN
from vera.lane.budget import Budget, within
from vera.model.types import Model, ModelError
from vera.sandbox import image
from vera.selection.chooser import Chooser
from vera.selection.options import Sampling, SelectionOptions
from vera.selection.registry import SELECTORS, SelectorError, selector
from vera.selection.templates import TemplateError, Templates, named
from vera.session import Session

NAMED_ALIKE = tuple(name for name in SelectionOptions.__struct_fields__ if name != "selector")
"""What the settings call the same as the options."""


class Choosing(msgspec.Struct, frozen=True, kw_only=True):
    """What a run has to choose with, before there is a session. `judge` is None where no one is asked."""

    sampling: Sampling
    options: SelectionOptions
    templates: Templates
    judge: Model | None
    plugins: Mapping[str, Any] = {}


async def open_choosing(
    settings: Settings,
    model: Model,
    stack: AsyncExitStack,
    progress: image.Progress,
    plugins: Mapping[str, Any] = {},
) -> Choosing | None:
    """What the settings ask for; None where each turn is taken as it comes. It is closed with `stack`.
    `plugins` are selectors of plugins, classes by their name.

    Raises SetupError: a selector or template that cannot be used (2), or a judge that is not available (5).
    """
    sampling, verifier = settings.candidate_sampling, settings.action_verifier
    if not (verifier.verifier_class or verifier.verifier_type in {*SELECTORS, *plugins}):
        raise SetupError(
            f"action_verifier.verifier_type must be one of {', '.join([*SELECTORS, *plugins])}, not "
            f"{verifier.verifier_type}. One of a plugin is enabled with --plugin {verifier.verifier_type}.",
            2,
        )
    if sampling.num_candidates == 1:
        return None
    if model.info.kind == BUILT_IN:
        progress.say("one candidate a step: the built-in model always gives the same turn")
        return None
    options = options_of(verifier)
    try:
        templates = templates_of(verifier)
        judges = bool(options.selector) and selector(options.selector, plugins).judges
    except (SelectorError, TemplateError) as error:
        raise SetupError(str(error), 2) from None
    judge = await _open_judge(settings, model, stack) if judges else None
    if judge is not None and judge is not model:
        progress.say(f"selector: {judge.info.name} ({judge.info.kind} at {judge.info.base_url})")
    return Choosing(
        sampling=sampling_of(sampling), options=options, templates=templates, judge=judge, plugins=plugins
    )


def chooser_of(choosing: Choosing | None, session: Session, budget: Budget, seen: float) -> Chooser | None:
    """Who chooses in this session, within its budget; `seen` are the bytes of a token so far."""
    if choosing is None:
        return None
    judge = choosing.judge
    return Chooser(
        session,
        LANE,
        choosing.sampling,
        choosing.options,
        within(judge, budget, budget.limits.selector, seen, needed=False) if judge is not None else None,
        choosing.templates,
        choosing.plugins,
    )


def sampling_of(settings: CandidateSamplingSettings) -> Sampling:
    """How candidates are sampled; what is null is not sent."""
    given = settings.sampling_kwargs.model_dump(exclude_none=True)
    return Sampling(
        num_candidates=settings.num_candidates,
        use_n=settings.use_n,
        temperature=given.pop("temperature", None),
        max_tokens=given.pop("max_tokens", None),
        fields=given,
        straggler_s=settings.straggler_s,
    )


def options_of(settings: ActionVerifierSettings) -> SelectionOptions:
    """How one of them is chosen."""
    chosen = settings.verifier_class or settings.verifier_type
    same = {name: getattr(settings, name) for name in NAMED_ALIKE}
    return SelectionOptions(selector=chosen if settings.enabled else "", **same)


def templates_of(settings: ActionVerifierSettings) -> Templates:
    """The judge's prompts: those of a folder where one is named, each replaced by a text of the settings.

    Raises TemplateError.
    """
    system, selection = settings.system_template, settings.selection_template
    if settings.prompt_name and not (system and selection):
        given = named(settings.prompt_dir or ".", settings.prompt_name)
        system, selection = system or given[0], selection or given[1]
    return Templates(system, selection)


async def _open_judge(settings: Settings, model: Model, stack: AsyncExitStack) -> Model:
    """The model that judges: another server's or another one of the same server where one is named, else the
    one that answers."""
    asked, own = settings.action_verifier.model, settings.model
    if not asked.base_url and asked.name in ("", model.info.name):
        return model
    from vera.model.connect import connect

    # A key goes to the address that a person named for it, to no server that was found or started here.
    mine = own.key if own.base_url and own.file is None else None
    secret = asked.key if asked.base_url else mine
    key = secret.get_secret_value() if secret is not None else ""
    try:
        judge = await connect(
            asked.base_url or model.info.base_url,
            asked.name,
            key or None,
            timeout_s=own.timeout_s,
            total_deadline_s=own.deadline_s,
            protocol="auto",
            context_tokens=None,
        )
    except ModelError as error:
        raise SetupError(f"The selector's model: {error}", 5) from None
    stack.push_async_callback(judge.close)
    return judge
