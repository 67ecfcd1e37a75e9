"""`vera index`: bring the full-text index of a folder up to date, by itself."""

import json
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from vera.cli.inputs import input_option, take_sources

if TYPE_CHECKING:
    from vera.cli.progress import Progress as Screen
    from vera.config import Settings
    from vera.corpus import Corpus, Progress, State

_UNREADABLE_SHOWN = 20
_UNREADABLE_LISTED = 10_000
_PLAIN_LINE_SECONDS = 10.0
_SETTLED_SECONDS = 2.0
_NOT_UP_TO_DATE = 3


@click.command()
@click.argument("folder", metavar="[DIR]", required=False, type=click.Path(path_type=Path))
@input_option("to index as one folder, as a run with the same --input reads it")
@click.option(
    "--embedding-file",
    metavar="FILE",
    type=click.Path(),
    help="Embed all passages too: a GGUF file, or the folder or zip file of a sentence-transformer.",
)
@click.option("--status", is_flag=True, help="Say what there is, without reading or writing anything more.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.option("-c", "--config", "overrides", multiple=True, help="KEY=VALUE or FILE.yaml; may be repeated.")
@click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
def index(
    folder: Path | None,
    inputs: tuple[str, ...],
    embedding_file: str | None,
    status: bool,
    as_json: bool,
    overrides: tuple[str, ...],
    quiet: bool,
) -> None:
    """Bring the index of a folder of documents up to date, archives and mailboxes in it included.

    A run with --input-dir does this by itself; for a large folder do it before. Only what is new or changed
    is read. Interrupted or killed, it keeps what is indexed and goes on there the next time. With an
    embedding model (search.embedding) all passages are embedded too.

    Exit codes: 0 up to date; 1 nothing can be read, or the index cannot be written; 2 no such folder; 3 with
    --status, when there is no index or the folder has changed; 130 interrupted.
    """
    from vera.cli.exit import clean_errors

    with clean_errors():
        from vera.agent.folders import index_folder, input_folder
        from vera.cli.progress import Progress as Screen
        from vera.corpus import Corpus
        from vera.extraction.extractor import Extractor
        from vera.runtime.plugins import open_plugins
        from vera.runtime.setup import embedder_of, ocr_of

        _refuse_both(folder, inputs, status=status)
        screen = Screen(quiet=quiet)
        with ExitStack() as stack:
            settings = _settings(folder, inputs, overrides, embedding_file, screen)
            assert settings.run.input_dir is not None
            real = input_folder(settings.run.input_dir, "Type: vera index DIR")
            formats = open_plugins(settings).formats
            extractor = stack.enter_context(Extractor(formats=formats, ocr=ocr_of(settings)))
            embedder, problem = (None, "") if status else embedder_of(settings, stack)
            corpus = stack.enter_context(Corpus(real, index_folder(real), extractor, embedder))
            if status:
                raise SystemExit(_tell_status(corpus, real, as_json))
            if problem:
                screen.say(f"indexed by words alone: {problem}")
            _update(corpus, real, screen, as_json, embeds=embedder is not None)


def _refuse_both(folder: Path | None, inputs: tuple[str, ...], *, status: bool) -> None:
    """End the command where no folder is named or two are, or where `--status` would have to put inputs into
    one."""
    from vera.cli.exit import USAGE, stop

    if (folder is None) == (not inputs):
        both = "DIR and --input were both given." if inputs else "There is nothing to index."
        stop(f"{both} Type: vera index DIR, or vera index --input PATH", USAGE)
    if inputs and status and not (len(inputs) == 1 and Path(inputs[0]).is_dir()):
        stop("--status writes nothing, so it takes one folder. Without it --input takes several.", USAGE)


def _settings(
    folder: Path | None,
    inputs: tuple[str, ...],
    overrides: tuple[str, ...],
    embedding_file: str | None,
    screen: "Screen",
) -> "Settings":
    """The settings, with the folder that is meant as their input folder."""
    import asyncio

    from vera.config import load
    from vera.runtime.connectors import connect
    from vera.runtime.inputs import pages_of

    options: dict[str, Any] = {"inputs": inputs}
    take_sources(options)
    wanted = {"search.embedding": embedding_file, "run.inputs": options["inputs"]}
    settings = load(overrides, wanted).settings
    if folder is not None:
        run = settings.run.model_copy(update={"input_dir": folder, "inputs": ""})
        return settings.model_copy(update={"run": run})
    return asyncio.run(connect(settings, pages_of(settings), screen.say)).settings


def _update(corpus: "Corpus", real: Path, screen: "Screen", as_json: bool, *, embeds: bool) -> None:
    from vera.attestation.report import counted
    from vera.cli.exit import ERROR, INTERRUPTED, stop
    from vera.corpus import EmptyCorpus, IndexUnusable, StopIndexing

    try:
        with _stoppable() as stopped:
            report = corpus.update(_Heard(screen, stopped))
            embedded = corpus.embed(progress=_Heard(screen, stopped)) if embeds else None
        screen.done()
    except StopIndexing:
        screen.done()
        stop("interrupted. What was indexed is kept; the same command goes on from there.", INTERRUPTED)
    except (EmptyCorpus, IndexUnusable) as error:
        screen.done()
        stop(str(error), ERROR)
    if embedded is not None and (told := " ".join(filter(None, (embedded.note, embedded.problem)))):
        screen.say(told)
    state = corpus.state()
    assert state is not None
    if as_json:
        read = {
            "read": report.read,
            "unchanged": report.unchanged,
            "removed": report.removed,
            "bytes_read": report.bytes,
            "documents_read": report.documents,
            "seconds": round(report.seconds, 3),
        }
        click.echo(json.dumps(_members(real, state) | read, indent=2, ensure_ascii=False))
        return
    rate = report.bytes / 1e6 / max(report.seconds, 1e-3)
    did = f"{counted(report.read, 'file')} looked at, {report.bytes / 1e6:.1f} MB in {report.seconds:.1f} s"
    click.echo(f"{did} ({rate:.1f} MB/s); {report.unchanged} unchanged, {report.removed} gone.")
    _print(state)


def _tell_status(corpus: "Corpus", real: Path, as_json: bool) -> int:
    state = corpus.state()
    if state is None:
        if as_json:
            click.echo(json.dumps({"folder": str(real), "indexed": False, "up_to_date": False}, indent=2))
        else:
            from vera.cli.exit import as_typed

            click.echo(as_typed(f"There is no index of {real} by this version yet: vera index makes one."))
        return _NOT_UP_TO_DATE
    if as_json:
        click.echo(json.dumps(_members(real, state), indent=2, ensure_ascii=False))
    else:
        _print(state)
    return 0 if _is_up_to_date(state) else _NOT_UP_TO_DATE


def _print(state: "State") -> None:
    from vera.attestation.report import counted
    from vera.report.printable import one_printable_line

    stats = state.stats
    inside = f", those in {counted(state.containers, 'archive or mail', 'archives and mails')} included"
    click.echo(
        f"{counted(stats.files, 'document')} with text{inside if state.containers else ''}: "
        f"{stats.bytes / 1e6:.1f} MB of text in {counted(stats.chunks, 'chunk')}."
    )
    click.echo(f"index: {state.place}, {state.disk / 1e6:.1f} MB on the disk")
    click.echo(f"digest: {state.digest}")
    for name, reason in state.unreadable[:_UNREADABLE_SHOWN]:
        click.echo(f"  not readable: {one_printable_line(f'{name}: {reason}')}")
    if (more := len(state.unreadable) - _UNREADABLE_SHOWN) > 0:
        click.echo(f"  … and {more} more: --status --json lists them.")
    if not _is_up_to_date(state):
        click.echo(
            f"Not up to date: {state.new} new, {state.changed} changed, {state.gone} gone, "
            f"{state.unfinished} not read to the end."
        )


def _members(real: Path, state: "State") -> dict[str, Any]:
    """What is known of an index, for JSON."""
    unreadable = state.unreadable[:_UNREADABLE_LISTED]
    return {
        "folder": str(real),
        "indexed": True,
        "up_to_date": _is_up_to_date(state),
        "index": state.place,
        "disk_bytes": state.disk,
        "digest": state.digest,
        "documents": state.stats.files,
        "chunks": state.stats.chunks,
        "text_bytes": state.stats.bytes,
        "containers": state.containers,
        "containers_unfinished": state.unfinished,
        "new": state.new,
        "changed": state.changed,
        "gone": state.gone,
        "unreadable_count": len(state.unreadable),
        "unreadable": [{"name": name, "reason": reason} for name, reason in unreadable],
    }


def _is_up_to_date(state: "State") -> bool:
    return not (state.new or state.changed or state.gone or state.unfinished)


class _Heard:
    """Shows how far an update is, and ends it when the person wants so."""

    def __init__(self, screen: "Screen", stopped: list[int]) -> None:
        self._screen = screen
        self._stopped = stopped
        self._began = time.monotonic()
        self._plain = self._began
        self._waiting = False

    def __call__(self, progress: "Progress") -> None:
        from vera.corpus import StopIndexing

        if self._stopped:
            raise StopIndexing
        line = _line(progress, time.monotonic() - self._began)
        if progress.phase == "waiting":
            if not self._waiting:
                self._screen.say(progress.message)
            self._waiting = True
            self._began = time.monotonic()
            return
        self._screen.now(line)
        if not self._screen.live and time.monotonic() - self._plain >= _PLAIN_LINE_SECONDS:
            self._plain = time.monotonic()
            self._screen.say(line)


def _line(progress: "Progress", seconds: float) -> str:
    """`1203 of 5000 files, 15321 documents, 512 of 1034 MB, 23.1 MB/s, 0:22 left`."""
    if progress.phase != "indexing":
        return progress.message
    rate = progress.bytes / max(seconds, 1e-3)
    parts = [f"{progress.files} of {progress.total} files"]
    if progress.documents > progress.files:
        parts.append(f"{progress.documents} documents")
    parts.append(f"{progress.bytes / 1e6:.0f} of {progress.total_bytes / 1e6:.0f} MB")
    parts.append(f"{rate / 1e6:.1f} MB/s")
    left = (progress.total_bytes - progress.bytes) / rate if rate else 0.0
    if seconds >= _SETTLED_SECONDS and left > 0:
        parts.append(f"{_duration(left)} left")
    return ", ".join(parts)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


@contextmanager
def _stoppable() -> Iterator[list[int]]:
    """A list that the first SIGINT or SIGTERM is put into; the second one ends at once."""
    stopped: list[int] = []

    def heard(number: int, _: FrameType | None) -> None:
        if stopped:
            raise KeyboardInterrupt
        stopped.append(number)

    before = {each: signal.signal(each, heard) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopped
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
