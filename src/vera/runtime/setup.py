"""What a run needs before its session and its model: the key, the plugins, the index of its documents."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec

from vera import events
from vera.agent.errors import SetupError
from vera.agent.folders import index_folder, input_folder
from vera.agent.lanes import LaneOptions
from vera.agent.rules import rules_of
from vera.attestation.keys import Signer
from vera.config.address import is_same_server
from vera.config.settings import AUTO, BUILT_IN, Settings
from vera.connectors.gathering import origins_of, receipts_of
from vera.corpus import Corpus, Embedded, EmptyCorpus, IndexReport, IndexUnusable, Progress, Stats
from vera.embedding import Embedder, EmbeddingError
from vera.extraction.extractor import Extractor
from vera.extraction.ocr import Ocr, installed
from vera.lane.budget import BudgetLimits
from vera.runtime.connectors import record
from vera.runtime.plugins import Plugins, open_plugins
from vera.sandbox.egress.types import Connection
from vera.session import Session

UNREADABLE_LISTED = 200


class Input(msgspec.Struct, frozen=True, kw_only=True):
    """The input folder by its real path, its index, and what bringing that up to date found."""

    folder: Path
    corpus: Corpus
    report: IndexReport
    stats: Stats
    embedded: Embedded | None = None


class Prepared(msgspec.Struct, frozen=True, kw_only=True):
    """What a run is built from beside its settings. `found` is None for a run without documents."""

    signer: Signer
    plugins: Plugins
    extractor: Extractor
    found: Input | None = None
    connections: tuple[Connection, ...] = ()

    def record(self, session: Session) -> None:
        """Say in the log what a run begins with."""
        self.plugins.record(session)
        if self.found is not None:
            record(session, self.found.folder, self.connections)
            session.emit(corpus_event(self.found))


def prepare(
    settings: Settings,
    stack: ExitStack,
    progress: Callable[[Progress], None] = lambda _: None,
    functions: Sequence[Callable[..., Any]] = (),
    *,
    documents: bool = True,
    connections: Sequence[Connection] = (),
) -> Prepared:
    """What the settings ask for, `functions` of the caller among the tools; it is closed with `stack`.

    `connections` are those that connectors made. It waits for the index of the input folder, without an event
    loop, so that Ctrl-C ends it; without `documents` there is no index. Raises SetupError.
    """
    folder = settings.run.input_dir
    plugins = open_plugins(settings, functions)
    signer = open_signer(folder)
    extractor = stack.enter_context(Extractor(formats=plugins.formats, ocr=ocr_of(settings)))
    found = None
    if folder is not None and documents:
        found = open_input(folder, settings, extractor, stack, progress)
    made = tuple(connections)
    return Prepared(signer=signer, plugins=plugins, extractor=extractor, found=found, connections=made)


def ocr_of(settings: Settings) -> Ocr | None:
    """What reads scans, None where the settings or the machine have none."""
    return installed() if settings.run.ocr == "auto" else None


def open_signer(input_dir: Path | None) -> Signer:
    """The key that signs verdicts, made on first use; it may not lie where the sandbox sees it.

    Raises SetupError (exit code 5) when it cannot be used.
    """
    from vera.attestation.keys import KeyFileError, load_or_create

    try:
        return load_or_create(outside=[input_dir] if input_dir else [])
    except KeyFileError as error:
        raise SetupError(str(error), 5) from None


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
    corpus = stack.enter_context(
        Corpus(real, index_folder(real), extractor, embedder, origins_of(real), receipts_of(real))
    )
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
    from vera.embedding.choose import NONE, open_embedder
    from vera.model.url import is_local, normalise

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


def lane_options(settings: Settings, limits: BudgetLimits, plugins: Plugins) -> LaneOptions:
    """How the lanes of a run work, by the settings and with what plugins bring."""
    return LaneOptions(
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
        tools=plugins.tools,
        gates=plugins.gates,
    )
