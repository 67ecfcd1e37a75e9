"""`vera eval`: questions with known answers, and how often the answers and verdicts are right."""

import asyncio
import signal
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from vera.cli.options import renamed_option

if TYPE_CHECKING:
    from vera.bench.eval_data import Question
    from vera.bench.eval_run import Sessions
    from vera.bench.eval_sessions import Outcome
    from vera.cli.progress import Progress

T = TypeVar("T")

_FILE = click.Path(path_type=Path)
MAX_GENERATED = 5000
MAX_SLOTS = 64


@click.command(name="eval")
@click.argument("data", metavar="DATA.jsonl", required=False, type=_FILE)
@renamed_option(
    "--first", "--limit", metavar="N", type=click.IntRange(min=1), help="Only the first N questions."
)
@click.option(
    "--work-dir", metavar="DIR", type=_FILE, help="Folder of the sessions.  [default: work/eval-NAME]"
)
@click.option(
    "--slots",
    metavar="N",
    type=click.IntRange(1, MAX_SLOTS),
    default=1,
    show_default=True,
    help="Runs at a time.",
)
@click.option(
    "--require",
    type=click.Choice(["verified"]),
    help="Count only VERIFIED answers, and end with exit code 3 when an answerable question has none.",
)
@click.option("-c", "--config", "overrides", multiple=True, help="KEY=VALUE or FILE.yaml; may be repeated.")
@click.option("--seed", metavar="N", type=int, default=0, show_default=True, help="Random seed.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON, with each question.")
@click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
@click.option(
    "--generate", metavar="DIR", type=_FILE, help="Write made-up documents and questions, ask none."
)
@click.option(
    "--count",
    metavar="N",
    type=click.IntRange(3, MAX_GENERATED),
    default=200,
    show_default=True,
    help="With --generate: questions.",
)
@click.option(
    "--world", metavar="FILE", type=_FILE, help="With --generate: tables of your own to make it from."
)
def evaluate(
    data: Path | None,
    first: int | None,
    work_dir: Path | None,
    slots: int,
    require: str | None,
    overrides: tuple[str, ...],
    seed: int,
    as_json: bool,
    quiet: bool,
    generate: Path | None,
    count: int,
    world: Path | None,
) -> None:
    """Ask questions whose answers are known, and say how often VERA is right.

    \b
    DATA.jsonl has a question in each line:
      {"question": "When does the lease end?", "answer": "31 May 2027",
       "input_dir": "papers"}
    "answer" is a text, a list of accepted texts, or null where the documents
    hold none; "id", "group" and "evidence" ({"file": …, "quotation": …})
    may be given too. "input_dir" is seen from the file's folder.

    Each question is run once, in its own session folder; the same command again runs only what is
    missing. From the same runs come the figures without the verifier and with it.
    """
    from vera.cli.exit import clean_errors

    with clean_errors():
        if generate is not None:
            if data is not None:
                raise click.UsageError("--generate writes questions: name no DATA.jsonl beside it.")
            _generate(generate, count, seed, world)
        elif world is not None:
            raise click.UsageError("--world is for --generate DIR: a set is made from it first.")
        elif data is None:
            raise click.UsageError("there are no questions. Name a file, or make one with --generate DIR.")
        else:
            only = require is not None
            _evaluate(data, first, work_dir, slots, overrides, seed, only, as_json=as_json, quiet=quiet)


def _generate(folder: Path, count: int, seed: int, tables: Path | None) -> None:
    from vera.bench.eval_data import DataError
    from vera.bench.eval_generate import QUESTIONS, generate
    from vera.bench.eval_world import read_world, world
    from vera.cli.exit import USAGE, stop

    try:
        documents = generate(folder, count, seed, read_world(tables) if tables else world())
    except FileExistsError:
        stop(f"{folder} is not empty. Name a new folder.", USAGE)
    except DataError as error:
        stop(str(error), USAGE)
    click.echo(f"{documents} documents and {count} questions. Go on with: vera eval {folder / QUESTIONS}")


def _evaluate(
    data: Path,
    first: int | None,
    work_dir: Path | None,
    slots: int,
    overrides: tuple[str, ...],
    seed: int,
    only_verified: bool,
    *,
    as_json: bool,
    quiet: bool,
) -> None:
    from vera import config
    from vera.bench.eval_figures import figures_of, per_question
    from vera.bench.eval_run import Sessions
    from vera.bench.eval_tables import as_text
    from vera.cli.progress import Progress
    from vera.headline import HOLDS, NOT_REQUIRED
    from vera.report.evaluation import FILE as EVALUATION
    from vera.report.evaluation import write_evaluation
    from vera.report.printable import printable, printable_json

    questions = _read(data, first)
    loaded = config.load(overrides)
    folder = work_dir or Path(loaded.settings.run.base_dir) / "work" / f"eval-{data.stem}"
    sessions = Sessions(folder, overrides, dict(config.public(loaded.settings)))
    progress = Progress(quiet=quiet)
    for warning in loaded.warnings:
        progress.say(f"warning: {warning}")
    outcomes = _collected(questions, sessions, slots, progress)
    figures = figures_of(outcomes, seed, {"VERIFIED"} if only_verified else HOLDS)
    each, model = per_question(outcomes), loaded.settings.model
    try:
        write_evaluation(folder, data.stem, model.name or model.base_url, time.time(), figures, each)
    except OSError as error:
        progress.say(f"warning: {folder / EVALUATION} was not written: {error.strerror}.")
    if as_json:
        click.echo(printable_json({**figures, "each": each}))
    else:
        click.echo(printable(as_text(figures)))
        progress.say(f"Sessions: {folder}")
    if only_verified and any(map(_is_unproved, outcomes)):
        raise SystemExit(NOT_REQUIRED)


def _read(data: Path, first: int | None) -> "list[Question]":
    from vera.bench.eval_data import MAX_QUESTIONS, DataError, read_questions
    from vera.cli.exit import USAGE, stop

    try:
        return read_questions(data, first or MAX_QUESTIONS)
    except DataError as error:
        stop(str(error), USAGE)


def _collected(
    questions: "list[Question]", sessions: "Sessions", slots: int, progress: "Progress"
) -> "list[Outcome]":
    """What came of each question. Ends the command where the runs were stopped."""
    from vera.bench.eval_data import DataError
    from vera.bench.eval_run import collect
    from vera.cli.exit import ERROR, INTERRUPTED, stop

    try:
        outcomes = asyncio.run(_until_told(collect(questions, sessions, slots, progress.now)))
    except DataError as error:
        progress.done()
        stop(f"{error} What was done is kept: the same command goes on.", ERROR)
    except (asyncio.CancelledError, KeyboardInterrupt):
        progress.done()
        stop("stopped. What was done is kept: the same command goes on.", INTERRUPTED)
    progress.done()
    return outcomes


def _is_unproved(outcome: "Outcome") -> bool:
    """Whether a question that has an answer got none that is VERIFIED."""
    return outcome.answerable and outcome.status != "VERIFIED"


async def _until_told(work: Coroutine[None, None, T]) -> T:
    """What `work` gives, unless SIGTERM cancels it: then its processes are stopped as Ctrl-C stops them."""
    current = asyncio.current_task()
    assert current is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, current.cancel)
    return await work
