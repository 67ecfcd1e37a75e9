"""The models of a run, from its settings: who answers, who verifies, who chooses among turns."""

from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from vera import events
from vera.agent import spending
from vera.agent.errors import SetupError
from vera.agent.folders import file_facts
from vera.config.settings import AUTO, BUILT_IN, ModelSettings, Settings, VerificationSettings
from vera.lane.budget import Budget
from vera.model.servers.base import Server
from vera.model.types import Model, ModelError, Probed
from vera.runtime.choosing import Choosing, chooser_of, open_choosing
from vera.runtime.plugins import Plugins
from vera.runtime.setup import Prepared
from vera.sandbox import image
from vera.selection.chooser import Chooser
from vera.session import Session

if TYPE_CHECKING:
    from vera.model.embedded import EmbeddedServer
    from vera.model.probe import Found

Say = Callable[[str], None]


class Models(msgspec.Struct, frozen=True, kw_only=True):
    """Who answers, who verifies (None: no model does), and what turns are chosen with (None: each is taken as
    it comes)."""

    answers: Model
    verifies: Model | None
    choosing: Choosing | None

    def begin(
        self,
        open_session: Callable[[], Session],
        prepared: Prepared,
        stack: AsyncExitStack,
        progress: image.Progress,
    ) -> Session:
        """The session, closed with `stack`; what the run begins with is said in its log and to the person."""
        session = open_session()
        stack.callback(session.close)
        prepared.record(session)
        session.emit(model_event(self.answers))
        self._say(progress)
        return session

    def within_budget(
        self, settings: Settings, session: Session
    ) -> tuple[Budget, Model, Model | None, Chooser | None]:
        """The budget of the run, and within it who answers, verifies and chooses."""
        seconds, state = probed(self.answers).seconds, session.state
        budget = Budget(spending.limits_of(settings.budget), state.spent, seconds)
        answers, verifies = spending.within_budget(self.answers, self.verifies, budget, state)
        chooser = chooser_of(self.choosing, session, budget, spending.bytes_per_token(state))
        return budget, answers, verifies, chooser

    def _say(self, progress: image.Progress) -> None:
        """Tell of a verifier that is its own model, of what each server that is not local gets to see, and of
        a slow model."""
        verifier, judge = self.verifies, self.choosing.judge if self.choosing else None
        if verifier is not None and verifier is not self.answers:
            progress.say(f"verifier: {verifier.info.name} ({verifier.info.kind} at {verifier.info.base_url})")
        asked = dict.fromkeys(each for each in (self.answers, verifier, judge) if each is not None)
        for server in [each.info for each in asked if not each.info.local]:
            from vera.model.url import disclosure

            if sentence := disclosure(server.base_url):
                progress.say(sentence)
        if slow := spending.slowness(self.answers.info.name, probed(self.answers)):
            progress.say(slow)


async def open_models(
    settings: Settings,
    stack: AsyncExitStack,
    progress: image.Progress,
    plugins: Plugins,
    accept: Callable[[Model], None] = lambda _: None,
) -> Models:
    """The models that the settings ask for, closed with `stack`. `accept` raises what speaks against working
    with the one that answers. Raises SetupError."""
    model = await open_model(
        settings.model, stack, progress.say, progress.now, settings.budget.seconds, plugins.servers
    )
    accept(model)
    verifier = await open_verifier_model(settings.verification, settings.model, model, stack)
    choosing = await open_choosing(settings, model, stack, progress, plugins.selectors)
    return Models(answers=model, verifies=verifier, choosing=choosing)


async def open_model(
    settings: ModelSettings,
    stack: AsyncExitStack,
    say: Say,
    now: Say,
    seconds: float = 0.0,
    servers: Sequence[Server] = (),
) -> Model:
    """The model to ask: a file of one's own, the configured server, the pulled model that is named, a server
    found on this machine that a person agreed to (`found_server`), the pulled model (`pulled_models`), or the
    built-in extractive model. Whatever was started ends with `stack`.

    `seconds` is the time budget of the run, of which the probe takes a part (0: no limit), `servers` are the
    kinds that plugins know. Raises SetupError (exit code 5) when what was asked for is not available.
    """
    if settings.base_url == BUILT_IN and settings.file is None:
        return _built_in()
    from vera.agent.speeds import keep_speed
    from vera.model.connect import connect

    base_url, name, file = settings.base_url, settings.name, settings.file
    key, is_wish = settings.key.get_secret_value() or None, file is not None
    try:
        if file is None and base_url in ("", AUTO):
            found, file, is_wish = await _on_this_machine(settings, say)
            base_url, key = found.base_url if found else "", None
            if not (base_url or file):
                return _built_in()
        if file is not None:
            server = await _served(file, settings, stack, say, now, is_wish=is_wish)
            if server is None:
                return _built_in()
            base_url, name, key = server.base_url, "", server.key
        model = await connect(
            base_url,
            name,
            key,
            timeout_s=settings.timeout_s,
            total_deadline_s=settings.deadline_s,
            protocol=settings.protocol,
            context_tokens=settings.context_tokens,
            assumed=settings.assumed,
            weights=file_facts(file) if file else "",
            seconds=seconds,
            servers=servers,
            progress=now,
        )
    except ModelError as error:
        raise SetupError(str(error), 5) from None
    stack.push_async_callback(model.close)
    stack.callback(keep_speed, model)
    return model


async def _served(
    file: Path, settings: ModelSettings, stack: AsyncExitStack, say: Say, now: Say, *, is_wish: bool
) -> "EmbeddedServer | None":
    """A server of the file; None for a file that was found and not named, and that cannot be served. Raises
    ModelError."""
    from vera.model.embedded import EmbeddedServer

    say(f"serving {file} with llama.cpp")
    server = EmbeddedServer(file, context_tokens=settings.context_tokens, progress=now)
    try:
        await stack.enter_async_context(server)
    except ModelError as error:
        if is_wish:
            raise
        say(f"model: the built-in one. {error}")
        return None
    return server


def probed(model: Model) -> Probed:
    """What the probe of its server measured."""
    if model.info.kind == BUILT_IN:
        return Probed()
    from vera.model.client import ChatClient

    return model.probed if isinstance(model, ChatClient) else Probed()


async def _on_this_machine(settings: ModelSettings, say: Say) -> tuple["Found | None", Path | None, bool]:
    """The found server or the pulled file to use (neither: the built-in model answers), and whether that file
    is what the settings name. What is used, and why, is said."""
    from vera.agent.found_server import BUILT_IN_ANSWERS, candidates, choose, recall
    from vera.agent.pulled_models import choose_pulled, path_of, pulled
    from vera.model.probe import discover

    can_serve = find_spec("xllamacpp") is not None
    model, called = choose_pulled(pulled(), settings.name, can_serve=can_serve)
    is_named = model is not None and model.name == settings.name
    if not is_named:
        choice = choose(candidates(await discover()), settings.base_url, recall(), called)
        sentence = choice.sentence or (f"model: {called}" if called != BUILT_IN_ANSWERS else "")
        if sentence:
            say(sentence)
        if choice.found is not None:
            return choice.found, None, False
    return None, path_of(model.name) if model else None, is_named


async def open_verifier_model(
    settings: VerificationSettings, asked: ModelSettings, model: Model, stack: AsyncExitStack
) -> Model | None:
    """The model that verifies: another server's where one is named, else the one that answers.

    None under the rules literal and entailment, which need none. Raises SetupError (exit code 5) when it is
    not available, (2) when a model is to verify and there is none.
    """
    if settings.rule == "literal" or by_entailment(settings):
        return None
    if settings.model_base_url:
        from vera.model.connect import connect

        try:
            verifier = await connect(
                settings.model_base_url,
                settings.model_name,
                settings.model_key.get_secret_value() or None,
                timeout_s=asked.timeout_s,
                total_deadline_s=asked.deadline_s,
                protocol="auto",
                context_tokens=None,
            )
        except ModelError as error:
            raise SetupError(f"The verifier's model: {error}", 5) from None
        stack.push_async_callback(verifier.close)
        return verifier
    if model.info.kind != BUILT_IN:
        return model
    if settings.rule == "model":
        raise SetupError(
            "The built-in model cannot verify. Name a server with -c verification.model_base_url=ADDRESS, or "
            "use -c verification.rule=literal.",
            2,
        )
    return None


def by_entailment(settings: VerificationSettings) -> bool:
    """Whether an entailment judge labels. Raises SetupError (2) when it is to and no file is named."""
    if settings.rule == "entailment" and not settings.entailment_model:
        raise SetupError(
            "The rule entailment needs a model file: name one with --entailment-model DIR or FILE.onnx.", 2
        )
    return bool(settings.entailment_model) and settings.rule in ("auto", "entailment")


def model_event(model: Model) -> events.ModelServer:
    """What the probe found, for the log."""
    info = model.info
    return events.ModelServer(
        kind=info.kind,
        base_url=info.base_url,
        model=info.name,
        protocol=info.protocol,
        context_tokens=info.context_tokens,
        parallel=info.parallel,
        local=info.local,
        warnings=info.warnings,
    )


def _built_in() -> Model:
    from vera.builtin import Extractive

    return Extractive()
