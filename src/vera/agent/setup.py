"""What a run needs before its first step: a model, the index of the input folder, a box."""

import asyncio
import getpass
import hashlib
import os
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack, ExitStack
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import platformdirs

from vera import events
from vera.agent.errors import SetupError
from vera.agent.research import Environment
from vera.agent.rules import listed, rules_of
from vera.agent.sandbox_log import BoxRecord
from vera.agent.web import Web
from vera.attestation.keys import Signer
from vera.audit.case import AuditPolicy
from vera.config.address import is_same_server
from vera.config.settings import (
    AUTO,
    BUILT_IN,
    ModelSettings,
    SandboxSettings,
    Settings,
    VerificationSettings,
)
from vera.evidence.extractor import Extractor
from vera.model.servers.base import Server
from vera.model.types import Model, ModelError, Probed
from vera.sandbox import image
from vera.sandbox.backends import choose, open_box
from vera.sandbox.box import SupervisedBox
from vera.sandbox.spec import BoxSpec, Quota
from vera.sandbox.types import BoxError, Refusal
from vera.search.corpus import Corpus, Embedded, EmptyCorpus, IndexReport, IndexUnusable, Progress, Stats
from vera.search.embedding import Embedder, EmbeddingError
from vera.session import Session
from vera.verification.context import Rule, VerifierOptions

if TYPE_CHECKING:
    from vera.model.probe import Found

UNREADABLE_LISTED = 200

Say = Callable[[str], None]


class Input(msgspec.Struct, frozen=True, kw_only=True):
    """The input folder by its real path, its index, and what bringing that up to date found."""

    folder: Path
    corpus: Corpus
    report: IndexReport
    stats: Stats
    embedded: Embedded | None = None


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
    key: str | None = settings.key.get_secret_value() or None
    is_wish = file is not None
    try:
        if file is None and base_url in ("", AUTO):
            found, file, is_wish = await _on_this_machine(settings, say)
            if found is None and file is None:
                return _built_in()
            base_url, key = found.base_url if found else "", None
        if file is not None:
            from vera.model.embedded import EmbeddedServer

            say(f"serving {file} with llama.cpp")
            server = EmbeddedServer(file, context_tokens=settings.context_tokens, progress=now)
            try:
                await stack.enter_async_context(server)
            except ModelError as error:
                if is_wish:
                    raise
                say(f"model: the built-in one. {error}")
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


def file_facts(path: Path) -> str:
    """What tells a model file from another of its name: its path, size and time."""
    facts = path.expanduser().stat()
    return f"{path.expanduser().resolve()}, {facts.st_size} bytes, {facts.st_mtime_ns}"


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


def verifier_options(
    settings: Settings, model: Model, verifier: Model | None, place: Environment
) -> VerifierOptions:
    """How the verifier of this run works. The built-in model gets one round: told what is wrong, it would say
    the same again."""
    checked, policy = settings.verification, settings.policy
    box = place.box
    rule: Rule = "model" if verifier else "literal"
    return VerifierOptions(
        rule="entailment" if by_entailment(checked) else rule,
        rounds=1 if model.info.kind == BUILT_IN else checked.rounds,
        check_steps=checked.check_steps,
        readings=checked.readings,
        scores_apart=settings.run.effort == "thorough",
        answer_tokens=min(settings.model.max_tokens, 2000),
        system_role=settings.model.system_role,
        audit=AuditPolicy(
            not_before=checked.not_before,
            not_after=checked.not_after,
            web_sources=checked.web_sources,
            negative_official=policy.negative_claim_min_official,
            negative_independent=policy.negative_claim_min_independent,
            official_domains=tuple(listed(policy.official_domains)),
        ),
        scope=tuple(["files"] * (place.corpus is not None) + ["web"] * (place.web is not None)),
        sandbox=f"{box.backend}, {settings.sandbox.profile}" if box else "",
        rules=rules_of(settings),
        require=checked.require,
    )


def refuse_unkept(settings: Settings) -> None:
    """Raise SetupError (2) for a promise that commands on this machine itself would not keep."""
    if settings.sandbox.backend != "host":
        return
    promises = {
        "--profile sealed": settings.sandbox.profile == "sealed",
        f"--egress {settings.egress.mode}": settings.egress.mode in ("none", "allowlist"),
    }
    if asked := " and ".join(name for name, is_asked in promises.items() if is_asked):
        raise SetupError(
            f"--sandbox host cannot keep {asked}: commands run on this machine itself and use its network as "
            "you do. Choose a sandbox (--sandbox docker or bubblewrap), --sandbox none for a run without "
            f"commands, or leave out {asked}.",
            2,
        )


def host_warning() -> str:
    """What a command without a sandbox can reach, in a line."""
    return (
        f"WARNING: commands run WITHOUT A SANDBOX, as {_user()} on this machine: they can read, change and "
        "delete every file that you can, look at your processes (VERA's own memory with its keys too), and "
        "reach the internet, your network and every service on this machine. Their environment holds no key."
    )


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return f"user {os.getuid()}"


def open_signer(input_dir: Path | None) -> Signer:
    """The key that signs verdicts, made on first use; it may not lie where the sandbox sees it.

    Raises SetupError (exit code 5) when it cannot be used.
    """
    from vera.attestation.keys import KeyFileError, load_or_create

    try:
        return load_or_create(outside=[input_dir] if input_dir else [])
    except KeyFileError as error:
        raise SetupError(str(error), 5) from None


def _built_in() -> Model:
    from vera.model.extractive import Extractive

    return Extractive()


def open_input(
    input_dir: Path,
    settings: Settings,
    extractor: Extractor,
    stack: ExitStack,
    progress: Callable[[Progress], None],
) -> Input:
    """The input folder's index, brought up to date. It is closed with `stack`.

    An embedding model that cannot be used is no error: `embedded` says so, and words alone are searched.
    Raises SetupError: no such folder (2), nothing in it can be read (1), or the index cannot be used (1).
    """
    real = input_folder(input_dir)
    embedder, problem = embedder_of(settings, stack)
    corpus = stack.enter_context(Corpus(real, index_folder(real), extractor, embedder))
    try:
        report = corpus.update(progress)
        stats = corpus.stats()
        embedded = None
        if embedder is not None:
            embedded = corpus.embed(settings.search.embedding_seconds, progress)
        elif problem:
            embedded = Embedded(model=settings.search.embedding, chunks=0, of=stats.chunks, problem=problem)
        return Input(folder=real, corpus=corpus, report=report, stats=stats, embedded=embedded)
    except (EmptyCorpus, IndexUnusable) as error:
        raise SetupError(str(error), 1) from None


def embedder_of(settings: Settings, stack: ExitStack) -> tuple[Embedder | None, str]:
    """The embedding model of the settings, closed with `stack`; and why there is none where one is wanted."""
    from vera.model.url import is_local, normalise
    from vera.search.embedding.choose import NONE, open_embedder

    search, model = settings.search, settings.model
    wanted = search.embedding
    if wanted == NONE:
        return None, ""
    if wanted == "server":
        wanted = model.base_url
        if wanted in ("", AUTO, BUILT_IN):
            return None, (
                "search.embedding=server needs the address of a server: set model.base_url, or give the "
                "address as search.embedding itself."
            )
        wanted = normalise(wanted)
    address = wanted.startswith(("http://", "https://"))
    key = model.key.get_secret_value() if address and is_same_server(wanted, model.base_url) else ""
    local = not address or is_local(wanted)
    try:
        embedder = open_embedder(wanted, search.embedding_model, key, local=local)
    except EmbeddingError as error:
        return None, str(error)
    if embedder is not None:
        stack.callback(embedder.close)
    return embedder, ""


def index_folder(real: Path) -> Path:
    """Where the index of an input folder lies, by its real path; it need not be there yet."""
    digest = hashlib.sha256(os.fsencode(real)).hexdigest()[:24]
    return Path(platformdirs.user_cache_dir("vera")) / "index" / digest


def input_folder(input_dir: Path) -> Path:
    """The real path of an input folder. Raises SetupError (2) when it is no folder that can be read."""
    if not input_dir.is_dir():
        problem = "is not a folder" if input_dir.exists() else "does not exist"
        raise SetupError(
            f"The input folder {input_dir} {problem}. Give one with --input-dir (vera resume: -c "
            "run.input_dir=DIR).",
            2,
        )
    if not os.access(input_dir, os.R_OK | os.X_OK):
        raise SetupError(f"The input folder {input_dir} cannot be read by you.", 2)
    return input_dir.resolve()


def corpus_event(found: Input) -> events.Corpus:
    """What the index update found, for the log; a long list of unreadable files is cut."""
    report, embedded = found.report, found.embedded
    return events.Corpus(
        files=found.stats.files,
        read=report.read,
        size=found.stats.bytes,
        seconds=round(report.seconds, 3),
        skipped=len(report.unreadable),
        unreadable=report.unreadable[:UNREADABLE_LISTED],
        embedding=embedded.model if embedded else "",
        embedded=embedded.chunks if embedded else 0,
        chunks=embedded.of if embedded else 0,
        embedding_problem=embedded.problem if embedded else "",
    )


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


async def open_place(
    session: Session,
    settings: SandboxSettings,
    extractor: Extractor,
    found: Input | None,
    web: Web | None,
    model: Model,
    stack: AsyncExitStack,
    progress: image.Progress,
) -> Environment:
    """Where the lane works: a started box where one is wanted and can be had, else no shell, and it is said.

    The built-in model uses no shell, so no box is ever started for it. The image of a docker box is built
    when it is missing. Raises SetupError (exit code 5) when a backend or rights that were spelled out are not
    available.
    """
    corpus = found.corpus if found else None
    files = found.stats.files if found else 0
    no_shell = Environment(extractor=extractor, box=None, corpus=corpus, files=files, web=web)
    if settings.backend == "none" or model.info.kind == "builtin":
        return no_shell
    spec = BoxSpec(
        work=session.workspace,
        input=found.folder if found else None,
        profile=settings.profile,
        privileged=settings.privileged,
        quota=Quota(settings.work_bytes, settings.work_files),
        run=session.root.name,
        forbidden=(session.root / "trace.jsonl", session.store.root),
    )
    box = await start_box(session, settings, spec, web, stack, progress)
    if box is None:
        return no_shell
    session.emit(
        events.Sandbox(backend=box.backend, isolation=box.isolation, profile=spec.profile, work_dir=box.work)
    )
    if box.backend == "host":
        progress.say(host_warning())
    return msgspec.structs.replace(no_shell, box=box, work_name=box.work, input_name=box.input)


async def start_box(
    session: Session,
    settings: SandboxSettings,
    spec: BoxSpec,
    web: Web | None,
    stack: AsyncExitStack,
    progress: image.Progress,
) -> SupervisedBox | None:
    """A started box, closed with `stack`; None where none can be had and none was insisted on, which is
    logged. Raises SetupError as `open_place` does."""
    record = BoxRecord(session)
    stack.callback(record.close)

    def passed_over(backend: str, why: BoxError) -> None:
        progress.say(f"sandbox: not {backend}: {why}")

    try:
        for backend in choose(settings.backend):
            await asyncio.to_thread(backend.reap)
        box = await open_box(
            settings.backend,
            spec,
            log=record.write,
            egress=web.proxy.serve if web else None,
            image=partial(image.ensure_image, settings.base_image, progress, may_build=settings.build),
            tell=record.tell,
            passed_over=passed_over,
        )
    except BoxError as error:
        progress.now("")
        must_be = settings.backend != "auto" or settings.profile == "lab" or settings.privileged
        if must_be or isinstance(error, Refusal):
            hint = f" Next: {error.hint}" if error.hint else ""
            raise SetupError(f"{error}{hint}", 5) from None
        session.emit(events.Sandbox(backend="none", isolation=f"the agent has no shell: {error}"))
        return None
    stack.push_async_callback(box.close)
    return box
