"""VERA from Python: verify a thesis, answer a question, check a document, replay a session.

Each function has a twin that is awaited, with the same arguments: `verify` and `verify_async`, `research` and
`research_async`, `check` and `check_async`, `replay` and `replay_async`. All of them are names of `vera`.

The plain ones wait. They may be called where an event loop runs, as in a notebook: the work is then done in a
thread with its own loop, and the loop of the caller stands still until it is done.

Settings are those of the command line: packaged defaults, the user's file, `vera.yaml` and `.env` in
the working folder, the environment, then `overrides` (the texts of `-c`: `"model.base_url=builtin"`). Whoever
wants none of these gives `settings` whole (`vera.config.defaults`). `progress` is told what goes on, in
sentences; it is called in the thread that does the work.
"""

import asyncio
import contextlib
import functools
import re
import threading
from collections.abc import Callable, Collection, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, get_args

import msgspec

from vera.agent.conclusion import relied_on
from vera.agent.effort import with_effort
from vera.agent.errors import SetupError, TaskTooLong
from vera.agent.follow_up import Parent, in_words, open_parent
from vera.agent.research_result import Researched, researched_of
from vera.agent.verification_result import Verified, relied_on_thesis
from vera.agent.web import secrets_of
from vera.agent.work_dir import default_work_dir
from vera.api_arguments import (
    inputs_of,
    lines_of,
    overrides_of,
    path_of,
    question_of,
    required_of,
    settings_of,
    texts_of,
)
from vera.attestation.bundle import BundleError, replay_bundle
from vera.attestation.lenses import load_lens
from vera.attestation.objects import Lens, Risk, Volatility
from vera.attestation.replay import NoSession
from vera.attestation.replay import replay as replay_session
from vera.attestation.report import Report as ReplayReport
from vera.attestation.request import RequestError
from vera.attestation.signers import known_signers
from vera.config import ConfigError, Settings, load
from vera.config.settings import Form, Required, requiring
from vera.document_check.run import Options, check_document, require_date
from vera.document_check.run import Report as CheckReport
from vera.lane.prompts import PromptError
from vera.model.types import ModelError
from vera.runtime.connectors import connect, connect_request, sources_of, sources_with
from vera.runtime.research import new_session, open_run
from vera.runtime.reuse import verify_or_reuse
from vera.runtime.setup import prepare
from vera.runtime.thesis import inquiry_of
from vera.session import LogError, SessionError, insist_on_place
from vera.store import StoreError

__all__ = [
    "BundleError",
    "CheckReport",
    "ConfigError",
    "LogError",
    "ModelError",
    "NoSession",
    "PromptError",
    "ReplayReport",
    "RequestError",
    "Researched",
    "SessionError",
    "Settings",
    "SetupError",
    "StoreError",
    "TaskTooLong",
    "Verified",
    "check",
    "check_async",
    "replay",
    "replay_async",
    "research",
    "research_async",
    "verify",
    "verify_async",
]

P = ParamSpec("P")
T = TypeVar("T")

Tell = Callable[[str], None]

_KEYID = re.compile(r"[0-9a-f]{64}")


def _silent(_: str) -> None:
    """No-op callback."""


async def verify_async(
    thesis: str,
    *,
    input_dir: Path | str | None = None,
    inputs: Sequence[Path | str] | None = None,
    connectors: Sequence[str] = (),
    scope: Sequence[str] | str | None = None,
    risk: Risk = "med",
    volatility: Volatility = "slow",
    lens: Lens | Path | str = "general",
    allow_domains: Sequence[str] | str = (),
    deny_domains: Sequence[str] | str = (),
    not_before: str = "",
    not_after: str = "",
    source_types: Sequence[str] | str = (),
    languages: Sequence[str] | str = (),
    required: Sequence[str] | str = (),
    require: Required = "quoted",
    budget_sources: int | None = None,
    budget_searches: int | None = None,
    budget_tokens: int | None = None,
    budget_bytes: int | None = None,
    budget_seconds: float | None = None,
    work_dir: Path | str | None = None,
    base_dir: Path | str | None = None,
    fresh: bool = False,
    trust: Collection[str] = (),
    parent: Path | str | None = None,
    trust_session: bool = False,
    settings: Settings | None = None,
    overrides: Sequence[str] = (),
    progress: Tell = _silent,
    **older: float | None,
) -> Verified:
    """Is a thesis borne out by what can be looked at? Evidence cards and a signed attestation, no answer.

    Looked at is the `scope`: `files` (those of `input_dir`, or of `inputs`: files, folders, archives; the
    default where one is given), `web` (the default otherwise), `kb` (sources of earlier sessions under
    `base_dir`), `connectors` (those named in `connectors`: a configured name, or "NAME=KIND:ADDRESS"; and the
    pages whose addresses are `inputs`). `risk` says how much depends on it,
    `volatility` how soon it may change, which decides when the verdict expires; `lens` is the name of a
    rubric, the path of one, or a Lens. Lists may be sequences, or strings with commas. The caps of the budget
    are on all of the look-up together; None is the default of each. Their older names, `max_…`, are accepted.

    The session is its own folder: `work_dir`, which must be new or empty, or one under `base_dir`. The
    same request again is answered by the verdict of before while that stands (`reused`), unless `fresh` is
    asked for; `trust` holds the ids of keys that count like one's own. With `require="verified"` the exit
    code is 3 for what is less than VERIFIED.

    With `parent`, the folder of a finished session, it begins with what that one captured (`kb`), after it
    was replayed. One that does not hold, or whose signer is unknown, is refused unless `trust_session`
    accepts it.

    >>> verdict = verify(
    ...     "GPL version 3 requires the written offer to be valid for at least three years.",
    ...     input_dir="examples/licences",
    ...     overrides=["model.base_url=builtin"],
    ... )
    >>> verdict.word, verdict.result
    ('QUOTED', 'SUPPORTED')
    >>> [(verdict.sources[card.source].name, card.relation) for card in verdict.cards.values()]
    [('GPL-3.txt', 'SUPPORTS')]

    Raises RequestError for what cannot be asked, ConfigError for settings, SetupError when a folder, a model
    or the signing key is not available, SessionError when the work folder cannot be used, ModelError when the
    model is lost on the way, and LogError, StoreError or OSError when nothing can be written.
    """
    session = path_of("work_dir", work_dir)
    chosen = _with_sources(
        requiring(_settings(settings, overrides, progress), required_of(require)),
        input_dir,
        inputs,
        connectors,
    )
    base = Path(base_dir) if base_dir is not None else chosen.run.base_dir
    chosen = chosen.model_copy(update={"run": chosen.run.model_copy(update={"base_dir": base})})
    connected, scope_now = await connect_request(chosen, scope, say=progress)
    chosen = connected.settings
    before = await _parent(parent, base, progress, trust_session=trust_session)
    rubric = lens if isinstance(lens, Lens) else load_lens(str(lens), paths=True)
    inquiry = await asyncio.to_thread(
        inquiry_of,
        thesis,
        chosen.run.input_dir,
        rubric,
        scope=scope_now,
        connections=connected.connections,
        follows=before is not None,
        risk=risk,
        volatility=volatility,
        allow_domains=allow_domains,
        deny_domains=deny_domains,
        not_before=not_before,
        not_after=not_after,
        source_types=source_types,
        languages=languages,
        required=required,
        **_caps(
            {
                "sources": budget_sources,
                "searches": budget_searches,
                "tokens": budget_tokens,
                "bytes": budget_bytes,
                "seconds": budget_seconds,
            },
            older,
        ),
    )
    answered = await verify_or_reuse(
        inquiry,
        chosen,
        base,
        session or default_work_dir(base, inquiry.request.text),
        chosen=session is not None,
        fresh=fresh,
        trust=_key_ids(trust),
        parent=before,
        say=progress,
        now=progress,
    )
    return answered.verified if before is None else relied_on_thesis(answered.verified, before.found)


def _caps(given: dict[str, float | None], older: dict[str, float | None]) -> dict[str, float | None]:
    """The caps of a budget, of which some may have their names of before. Raises TypeError for another
    argument, and for a cap that is given twice."""
    for argument, cap in older.items():
        name = argument.removeprefix("max_")
        if name == argument or name not in given:
            raise TypeError(f"There is no argument {argument!r}.")
        if given[name] is not None:
            raise TypeError(f"budget_{name} and {argument} are one cap. Give one of them.")
        given = {**given, name: cap}
    return given


def _with_sources(
    settings: Settings,
    input_dir: Path | str | None,
    inputs: Sequence[Path | str] | None,
    connectors: Sequence[str],
) -> Settings:
    """The settings with the folder, the inputs and the connectors of a call, where they are given. Raises
    RequestError."""
    named, folder = inputs_of(inputs), path_of("input_dir", input_dir)
    if named is not None and folder is not None:
        raise RequestError("Give input_dir or inputs, not both.")
    if folder is not None:
        run = settings.run.model_copy(update={"input_dir": folder, "inputs": ""})
        settings = settings.model_copy(update={"run": run})
    if named is not None:
        run = settings.run.model_copy(update={"inputs": "\n".join(named)})
        settings = settings.model_copy(update={"run": run})
    used = lines_of("connectors", connectors)
    if not used:
        return settings
    given = settings.connectors.model_copy(update={"use": "\n".join(used)})
    return settings.model_copy(update={"connectors": given})


async def research_async(
    question: str,
    *,
    input_dir: Path | str | None = None,
    inputs: Sequence[Path | str] | None = None,
    connectors: Sequence[str] = (),
    work_dir: Path | str | None = None,
    base_dir: Path | str | None = None,
    require: Required = "quoted",
    form: Form = "answer",
    sub_questions: Sequence[str] = (),
    tools: Sequence[Callable[..., Any]] = (),
    parent: Path | str | None = None,
    trust_session: bool = False,
    settings: Settings | None = None,
    overrides: Sequence[str] = (),
    progress: Tell = _silent,
) -> Researched:
    """Answer a question, with every statement cited, and verify the answer: what `vera run` does.

    `input_dir` is the folder of documents to answer from. In its place `inputs` are files, folders, archives
    and the addresses of pages, which are fetched first. `connectors` are further sources of documents: each
    the name of a configured one, or "NAME=KIND:ADDRESS". The session is `work_dir`, which must be new or
    empty, or its own folder under `base_dir`. One that is cut short (the task is cancelled, the model is
    lost) goes on with `vera resume`. Where the model is lost or comes to no usable answer, the closest lines
    answer. With `require="verified"` the exit code is 3 for what is less than VERIFIED.

    With `form="report"` at most eight `sub_questions` are answered one after the other, and the answer is one
    text of what holds of theirs. Without any a model proposes them, or they are read off the question.

    `tools` are functions that the model may call, plain or async. The signature and the first paragraph of
    the docstring tell it how: arguments are str, int, float or bool. They run here, in a thread, for
    `plugins.seconds` at most; an async one gets a separate event loop. What they return is an observation
    that supports no statement: what is to be cited has to be fetched or read by VERA.

    With `parent`, the folder of a finished session, the question follows that one: what it captured can be
    read and cited, and its verdicts do not count. It is replayed first; one that does not hold, or whose
    signer is unknown, is refused unless `trust_session` accepts it.

    >>> outcome = research(
    ...     "For how long must a written offer for source code be valid under GPL version 3?",
    ...     input_dir="examples/licences",
    ...     overrides=["model.base_url=builtin"],
    ... )
    >>> outcome.status, outcome.exit_code
    ('QUOTED', 0)
    >>> {citation.source for citation in outcome.citations}
    {'GPL-3.txt'}

    Raises ConfigError for settings, SetupError when a folder, a model, a sandbox that was spelled out, a
    tool, a plugin or the signing key is not available, TaskTooLong for a question that does not fit the
    model, PromptError for an unknown set of prompts, SessionError when the work folder cannot be used, and
    LogError, StoreError or OSError when nothing can be written.
    """
    question, asked = question_of(question), texts_of("sub_questions", sub_questions)
    if form not in get_args(Form):
        raise RequestError(f"There is no form {form!r}. It is answer or report.")
    session_dir = path_of("work_dir", work_dir)
    loaded = _with_sources(
        requiring(_settings(settings, overrides, progress), required_of(require)),
        input_dir,
        inputs,
        connectors,
    )
    base = Path(base_dir) if base_dir is not None else loaded.run.base_dir
    loaded = loaded.model_copy(update={"run": loaded.run.model_copy(update={"base_dir": base})})
    connected = await connect(loaded, sources_of(loaded), progress)
    loaded = connected.settings
    wanted: dict[str, Any] = {"lane": "research"}
    if form != "answer" or asked:
        lines = "\n".join(" ".join(each.split()) for each in asked)
        wanted |= {"form": form, "sub_questions": lines or loaded.run.sub_questions}
    run = loaded.run.model_copy(update=wanted)
    chosen = loaded.model_copy(update={"run": run})
    root = session_dir or default_work_dir(base, question)
    insist_on_place(root)
    before = await _parent(parent, base, progress, trust_session=trust_session)
    with ExitStack() as stack:
        made = connected.connections
        prepared = await asyncio.to_thread(prepare, chosen, stack, functions=tools, connections=made)
        start = functools.partial(new_session, root, chosen, question, parent=before)
        opened = open_run(start, chosen, prepared, _Told(progress))
        async with opened as (session, ready):
            result = await ready.run()
            if before is not None:
                result = relied_on(result, before.found, session.root)
            return researched_of(session.state, session.root, result, question)


async def check_async(
    document: Path | str,
    *,
    sources: Path | str | None = None,
    connectors: Sequence[str] = (),
    fetch: bool = False,
    max_links: int = 200,
    keep: Path | str | None = None,
    not_before: str = "",
    not_after: str = "",
    independent: int = 1,
    settings: Settings | None = None,
    overrides: Sequence[str] = (),
    progress: Tell = _silent,
) -> CheckReport:
    """Hold the quotations, numbers and names of a document against the sources it names. No model is asked.

    `document` is the path of a file: Markdown, text, HTML, PDF, docx, odt, pptx, epub or rtf. `sources` is
    the folder of the files that it cites, `connectors` are further sources of them: each the name of a
    configured one, or "NAME=KIND:ADDRESS". `fetch` gets the pages that it links (public hosts only, at most
    `max_links`), `keep` is a folder for everything that was read. Pages must be published between
    `not_before` and `not_after`, and each statement about the web needs so many `independent` sources.

    >>> text = 'Of the offer it says that it is "valid for at least five years" [1].\\n\\n[1]: GPL-3.txt\\n'
    >>> _ = Path("report.md").write_text(text)
    >>> report = check("report.md", sources="examples/licences")
    >>> [(problem.line, problem.code) for problem in report.findings.problems]
    [(1, 'quotation_false')]
    >>> report.exit_code()
    4

    Raises SetupError when a file or folder is not available, or is no document, and ConfigError for settings.
    """
    require_date("not_before", not_before)
    require_date("not_after", not_after)
    egress, withheld, folder = None, tuple[str, ...](), path_of("sources", sources)
    ocr = True
    if fetch or connectors or overrides or settings is not None:
        chosen = _with_sources(_settings(settings, overrides, progress), None, None, connectors)
        egress, withheld = chosen.egress if fetch else None, tuple(secrets_of(chosen))
        folder = await sources_with(chosen, folder) if connectors else folder
        ocr = chosen.run.ocr == "auto"
    options = Options(
        sources=folder,
        copied=path_of("sources", sources) if connectors else None,
        ocr=ocr,
        egress=egress,
        secrets=withheld,
        keep=path_of("keep", keep),
        not_before=not_before,
        not_after=not_after,
        max_links=max_links,
        independent=independent,
    )
    return await asyncio.to_thread(check_document, Path(document), options, progress)


async def replay_async(
    path: Path | str,
    *,
    trust: Collection[str] = (),
    any_signer: bool = False,
    level: int = 2,
    entailment_model: Path | str | None = None,
) -> ReplayReport:
    """Hold a session, or a bundle of one, against itself, without a model and without a network.

    Level 0 reads bytes and signatures, 1 computes the verdicts again, 2 makes every text again from its raw
    bytes. It must be signed by your key or one that you trust (`vera trust add`), by one of the key ids in
    `trust` when that holds any, or by anybody with `any_signer`; else level 0 is UNTRUSTED. With
    `entailment_model`, a folder or `.onnx` file, the labels of an entailment judge are computed again.

    >>> verdict = verify(
    ...     "GPL version 3 requires the written offer to be valid for at least three years.",
    ...     input_dir="examples/licences",
    ...     overrides=["model.base_url=builtin"],
    ... )
    >>> report = replay(verdict.session)
    >>> [(level.name, level.verdict) for level in report.levels]
    [('L0', 'AGREES'), ('L1', 'AGREES'), ('L2', 'AGREES')]
    >>> verdict.attestation_id in [each.attestation for each in report.attested]
    True

    Raises NoSession or BundleError when there is none, RequestError for an invalid key id or level,
    TrustError when your keys cannot be read, and OSError when the session cannot be read.
    """
    if level not in (0, 1, 2):
        raise RequestError(f"There is no level {level!r}. It is 0 (bytes), 1 (verdicts) or 2 (texts).")
    source, signers = Path(path), known_signers(_key_ids(trust), any_signer=any_signer)
    hold = replay_bundle if source.is_file() else replay_session
    judge = Path(entailment_model) if entailment_model else None
    return await asyncio.to_thread(hold, source, signers, level, judge)


async def _parent(folder: Path | str | None, base: Path, say: Tell, *, trust_session: bool) -> Parent | None:
    """The session to go on from, replayed. Raises SetupError."""
    if folder is None:
        return None
    found = await asyncio.to_thread(open_parent, Path(folder), trust_session=trust_session, base=base)
    say(in_words(found))
    return found


def _blocking(function: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """The function for callers that wait: the same arguments and documentation, the name without `_async`."""

    @functools.wraps(function)
    def wait(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(function(*args, **kwargs))
        return _in_a_thread(function(*args, **kwargs))

    wait.__name__ = wait.__qualname__ = function.__name__.removesuffix("_async")
    return wait


verify = _blocking(verify_async)
research = _blocking(research_async)
check = _blocking(check_async)
replay = _blocking(replay_async)


def _in_a_thread(work: Coroutine[Any, Any, T]) -> T:
    """What `work` gives, done in a thread with its own loop; an interrupt of the caller cancels it."""
    interrupted = threading.Event()
    cancels: list[Callable[[], object]] = []

    async def watched() -> T:
        task, loop = asyncio.current_task(), asyncio.get_running_loop()
        assert task is not None
        cancels.append(lambda: loop.call_soon_threadsafe(task.cancel))
        if interrupted.is_set():  # before there was anything to cancel
            task.cancel()
        return await work

    with ThreadPoolExecutor(1, "vera") as pool:
        try:
            return pool.submit(asyncio.run, watched()).result()
        except KeyboardInterrupt:
            interrupted.set()
            for cancel in cancels:
                with contextlib.suppress(RuntimeError):  # the loop has closed: there is nothing to cancel
                    cancel()
            raise


class _Told(msgspec.Struct, frozen=True):
    """Progress for one listener, who hears what stays and what passes alike."""

    say: Tell

    def now(self, line: str) -> None:
        if line:
            self.say(line)


def _settings(settings: Settings | None, overrides: Sequence[str], tell: Tell) -> Settings:
    """Those that were given whole, or those of this place with the overrides. Raises ConfigError."""
    whole, texts = settings_of(settings), overrides_of(overrides)
    if whole is not None:
        if texts:
            raise ConfigError("Give settings or overrides, not both.")
        return whole
    loaded = load(texts)
    for warning in loaded.warnings:
        tell(f"warning: {warning}")
    return with_effort(loaded)


def _key_ids(trust: Collection[str]) -> Collection[str]:
    """Raises RequestError for what is no key id."""
    if isinstance(trust, str) or not all(_KEYID.fullmatch(keyid) for keyid in trust):
        raise RequestError("trust holds key ids, each of 64 hexadecimal digits, as a replay shows them.")
    return trust
