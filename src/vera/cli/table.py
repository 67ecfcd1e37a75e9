"""`vera table`: every document of a folder by every question, each cell cited and marked."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vera.cli.cluster import LOCAL, access_to, engine_option
from vera.cli.options import BUDGET, MODEL, budget_options, model_options, settings_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vera.report.table.model import Table

FORMATS = ("html", "csv", "xlsx", "json")


@click.command()
@click.option(
    "--questions",
    metavar="FILE",
    type=click.Path(path_type=Path),
    required=True,
    help="CSV file with a column 'question', and 'title' for a shorter heading where wanted.",
)
@click.option(
    "--input",
    "--input-dir",
    "inputs",
    metavar="PATH",
    required=True,
    multiple=True,
    help="File, folder or archive of documents, each of which is asked alone; may be repeated.",
)
@click.option(
    "--out",
    "outs",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    multiple=True,
    help="The table to write: .html, .csv, .xlsx or .json; may be repeated. Of files that exist only a "
    "table of this command is replaced.",
)
@click.option("--base-dir", type=click.Path(), help="Folder that holds the sessions, under runs/.")
@engine_option
@click.option(
    "--slots", type=click.IntRange(1, 256), default=4, show_default=True, help="Cells that run at once."
)
@model_options
@budget_options()
@click.option(
    "--require",
    type=click.Choice(["verified"]),
    help="A cell that is less than VERIFIED ends with exit code 3.",
)
@click.option("--retry-failed", is_flag=True, help="Ask again what failed before.")
@click.option("-c", "--config", "overrides", multiple=True, help="KEY=VALUE or FILE.yaml; may be repeated.")
@click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
def table(
    questions: Path,
    inputs: tuple[str, ...],
    outs: tuple[Path, ...],
    base_dir: str | None,
    engine: str,
    slots: int,
    require: str | None,
    retry_failed: bool,
    overrides: tuple[str, ...],
    quiet: bool,
    **flags: object,
) -> None:
    """Ask every document every question, and write the answers as a table.

    Each cell is a separate run over one document: it has the run's word (VERIFIED, QUOTED, PARTIAL,
    UNRESOLVED, …), the answer, the lines that it cites, and its session. What is done is not asked again: the
    same command goes on, and asks again about a document that has changed.

    With --engine URL the workers of a cluster run the cells (vera worker): --base-dir is the folder that all
    machines share, the model is the workers', and Ctrl-C ends the waiting only.

    Exit codes as of 'vera batch': the worst of the cells, 1, 5, 4, 6, 3, 0; 2 for a wrong file; 130 when
    interrupted, with the table as far as it is.
    """
    from vera.cli.batch import base_of, carried_of, clean_batch_errors, without_keys

    _refuse_formats(outs)
    with clean_batch_errors():
        from vera.batch.questions import read_questions
        from vera.batch.running import Options, run_batch
        from vera.batch.runs import documents_folder
        from vera.batch.table import lay_out, table_of, tasks_of
        from vera.batch.task_settings import TaskSettings
        from vera.config.handed import allowed_of

        base = base_of(base_dir, overrides)
        access = access_to(engine, base) if engine != LOCAL else None
        for out in outs:
            _refuse_place(out, inputs, base)
        asked, input_dir = read_questions(questions), _folder(inputs, base)
        besides = set(_places(questions.resolve(), inputs, input_dir))
        sheet = lay_out(input_dir, base, asked.asked, besides)
        settings = settings_of(
            {**MODEL, **BUDGET, "require": "verification.require"}, {**flags, "require": require}
        )
        given = without_keys((*overrides, *(f"{key}={value}" for key, value in settings.items())))
        allowed = allowed_of((), (documents_folder(base),))
        options = Options(
            slots=slots, limits={}, overrides=given, allowed=allowed, retry_failed=retry_failed, quiet=quiet
        )
        if not quiet:
            _say(asked.repeated, sheet.skipped)
        listed = tasks_of(sheet, TaskSettings(given, allowed))
        if access is None:
            code, summary = run_batch(listed, base, options, sys.stderr)
        else:
            from vera.batch.postgres_running import submit_batch
            from vera.batch.task_file import carrying

            listed = carrying(listed, carried_of(settings))
            code, summary = submit_batch(listed, access, options, sys.stderr, wait=True)
        made = table_of(sheet, summary)
        for out in outs:
            _refuse_place(out, inputs, base)  # a cell takes minutes: the file may be new
            _write(made, out, _title(inputs), base)
    click.echo(f"{_counts(made)}\n" + "\n".join(map(str, outs)))
    raise SystemExit(code)


def _folder(inputs: tuple[str, ...], base: Path) -> Path:
    """The folder that was given, or one in which all that was given is laid out."""
    from vera.agent.folders import input_folder
    from vera.agent.inputs import is_address
    from vera.agent.inputs import lay_out as laid_out
    from vera.cli.exit import USAGE, stop
    from vera.report.printable import printable

    if address := next((each for each in inputs if is_address(each)), ""):
        stop(f"{address} is a page of the web, and a table is of files. Save it as a file first.", USAGE)
    if len(inputs) == 1 and not Path(inputs[0]).is_file():
        return input_folder(Path(inputs[0]), "Give one with --input.")
    laid = laid_out(inputs, base)
    for path, why in laid.left_out[:20]:
        click.echo(printable(f"not read: {path}: {why}"), err=True)
    return laid.folder


def _places(file: Path, inputs: tuple[str, ...], folder: Path) -> "Iterator[Path]":
    """Where a file that is no document would be found: at its own place, and where an input was laid out."""
    yield file
    for given in map(Path, inputs):
        real = given.resolve()
        if file.is_relative_to(real):
            yield folder.resolve() / real.name / file.relative_to(real)


def _title(inputs: tuple[str, ...]) -> str:
    names = [Path(each).resolve().name or each for each in inputs]
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"Answers from {', '.join(names[:3])}{more}"


def _refuse_formats(outs: tuple[Path, ...]) -> None:
    """End the command, before anything is asked, for a table that could not be written."""
    from importlib.util import find_spec

    from vera.cli.exit import USAGE, stop

    for out in outs:
        if out.suffix[1:].lower() not in FORMATS:
            stop(f"{out} is no name of a table: it ends in .html, .csv, .xlsx or .json.", USAGE)
        if not out.parent.is_dir():
            stop(f"The folder {out.parent} does not exist. Make it first.", USAGE)
        if out.suffix.lower() == ".xlsx" and find_spec("xlsxwriter") is None:
            from vera.report.table.xlsx import missing

            stop(missing(), USAGE)


def _refuse_place(out: Path, inputs: tuple[str, ...], base: Path) -> None:
    """End the command for a table among the documents, or in the place of a file that is no such table."""
    from vera.batch.written_tables import is_written_table
    from vera.cli.exit import USAGE, stop

    place = out.parent.resolve() / out.name
    for folder in inputs:
        if place.is_relative_to(Path(folder).resolve()):
            stop(f"{out} is in the input {folder}, and a table is no document. Choose another folder.", USAGE)
    if os.path.lexists(out) and not is_written_table(out, base):
        stop(
            f"{out} exists already, and it is no table as this command wrote it below {base}. "
            "Choose another name, or remove it first.",
            USAGE,
        )


def _say(repeated: int, skipped: tuple[tuple[str, str], ...]) -> None:
    from vera.report.printable import one_printable_line
    from vera.report.view.words import counted

    if repeated:
        click.echo(f"{counted(repeated, 'question')} repeated: asked once", err=True)
    for path, why in skipped[:20]:
        click.echo(one_printable_line(f"not asked: {path}: {why}"), err=True)
    if len(skipped) > 20:
        click.echo(f"… and {len(skipped) - 20} more, which the table names", err=True)


def _write(made: "Table", out: Path, title: str, base: Path) -> None:
    from vera.batch.written_tables import write_table

    match out.suffix[1:].lower():
        case "html":
            from vera.report.table.page import table_html

            data = table_html(made, title=title, beside=out.resolve().parent)
        case "csv":
            from vera.report.table.csv_text import table_csv

            data = table_csv(made)
        case "xlsx":
            from vera.report.table.xlsx import table_xlsx

            data = table_xlsx(made)
        case _:
            from vera.report.table.json_text import table_json

            data = table_json(made)
    write_table(out, data, base)


def _counts(made: "Table") -> str:
    """How many cells have which word, in a line."""
    from vera.headline import HEADLINES
    from vera.report.view.words import counted

    words = [cell.word for row in made.rows for cell in row.cells]
    parts = [f"{words.count(word)} {word}" for word in HEADLINES if word in words]
    return f"{counted(len(words), 'cell')}: {', '.join(parts)}"
