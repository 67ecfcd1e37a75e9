"""`vera check`: hold documents against the sources they name."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from vera.cli.inputs import connector_option

if TYPE_CHECKING:
    from vera.cli.check_sarif import Checked
    from vera.document_check.run import Options


@click.command()
@click.argument("documents", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--sources",
    "--input",
    "sources",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Folder of the files that the document cites: by link, by file name, by title.",
)
@connector_option
@click.option("--fetch", is_flag=True, help="Get the linked pages from the web (public hosts only).")
@click.option(
    "--bibliography",
    is_flag=True,
    help="Look the references up at Crossref, OpenAlex and doi.org; their DOIs and titles are sent there.",
)
@click.option(
    "--max-links",
    metavar="N",
    type=click.IntRange(1, 5000),
    default=200,
    show_default=True,
    help="At most so many pages (--fetch) and references (--bibliography); others are unchecked.",
)
@click.option(
    "--keep",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    help="Keep everything that was read, with receipts and the report, in this folder.",
)
@click.option("--not-before", metavar="DATE", default="", help="Fetched pages must be published on or after.")
@click.option("--not-after", metavar="DATE", default="", help="Fetched pages must be published on or before.")
@click.option(
    "--independent",
    metavar="N",
    type=click.IntRange(1, 20),
    default=1,
    show_default=True,
    help="Independent sources that each statement on web pages needs.",
)
@click.option("--strict", is_flag=True, help="Hints count as hard findings (exit code 4).")
@click.option(
    "--allow-unchecked", is_flag=True, help="End with exit code 0, not 3, for what could not be checked."
)
@click.option(
    "--require",
    type=click.Choice(["verified"]),
    help="End with exit code 3 for what is less than VERIFIED: always, since no meaning is judged.",
)
@click.option("-c", "--config", "overrides", multiple=True, help="KEY=VALUE or FILE.yaml; may be repeated.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "sarif", "github"]),
    help="How to print the result: for a person (text), for programs (json, sarif 2.1.0), or as notes "
    "beside the lines of a pull request (github).",
)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON; the same as --format json.")
def check(
    documents: tuple[Path, ...],
    sources: Path | None,
    connector: tuple[str, ...],
    fetch: bool,
    bibliography: bool,
    max_links: int,
    keep: Path | None,
    not_before: str,
    not_after: str,
    independent: int,
    strict: bool,
    allow_unchecked: bool,
    require: str | None,
    overrides: tuple[str, ...],
    form: str | None,
    as_json: bool,
) -> None:
    """Check the quotations, numbers and names of documents against the sources they name.

    FILE is Markdown, text, HTML, PDF, docx, odt, pptx, epub or rtf, with --bibliography also BibTeX. No
    model is asked. Without --sources, --connector and --fetch nothing is read but FILE, and every source is
    unchecked.

    Exit codes: 0 every statement that names a source was checked, and nothing hard was found; 4 a quotation,
    number or date that is not in its source; 3 nothing hard, but something could not be checked, or
    no statement names a source;
    2 usage; 1 a FILE cannot be checked. Of several files the first of 4, 1, 3 that one of them has.
    """
    from vera.cli.exit import USAGE, clean_errors, stop

    with clean_errors():
        from vera.document_check.run import Options, require_date

        form = _one_format(form, as_json)
        if allow_unchecked and require:
            stop("--allow-unchecked and --require exclude each other. Leave one of them out.", USAGE)
        if keep and len(documents) > 1:
            stop("--keep is for one document: its folder holds one report. Check each on its own.", USAGE)
        require_date("--not-before", not_before)
        require_date("--not-after", not_after)
        options = Options(
            sources=sources,
            keep=keep,
            not_before=not_before,
            not_after=not_after,
            max_links=max_links,
            independent=independent,
        )
        if overrides or connector or fetch or bibliography:
            options = _with_settings(options, overrides, connector, fetch=fetch, bibliography=bibliography)
        run = _check_all(documents, options)
        codes = run.codes(strict=strict, require=require or "quoted", allow_unchecked=allow_unchecked)
        click.echo(_printed(run, codes, form))
    raise SystemExit(_worst(codes))


def _one_format(form: str | None, as_json: bool) -> str:
    """The format to print in. Ends the command where two are asked for."""
    from vera.cli.exit import USAGE, stop

    if as_json and form not in (None, "json"):
        stop(f"--json and --format {form} ask for two formats. Leave one of them out.", USAGE)
    return form or ("json" if as_json else "text")


def _with_settings(
    options: "Options",
    overrides: tuple[str, ...],
    connector: Sequence[str],
    *,
    fetch: bool,
    bibliography: bool,
) -> "Options":
    """The options with what comes from the settings: what may be reached, and what connectors gather."""
    import asyncio

    import msgspec

    from vera import config
    from vera.agent.folders import input_folder
    from vera.agent.web import secrets_of
    from vera.document_check.lookup import Indexes
    from vera.runtime.connectors import sources_with

    settings = config.load(overrides, {"connectors.use": "\n".join(connector) or None}).settings
    secrets = tuple(secrets_of(settings))
    options = msgspec.structs.replace(options, ocr=settings.run.ocr == "auto")
    if connector:
        folder = input_folder(options.sources) if options.sources is not None else None
        gathered = asyncio.run(sources_with(settings, folder))
        options = msgspec.structs.replace(options, sources=gathered, copied=folder)
    if fetch:
        options = msgspec.structs.replace(options, egress=settings.egress, secrets=secrets)
    if bibliography:
        indexes = Indexes(
            settings=settings.bibliography,
            egress=settings.egress,
            secrets=secrets,
            mailto=settings.search.mailto,
            most=options.max_links,
        )
        options = msgspec.structs.replace(options, bibliography=indexes)
    return options


class _Run(NamedTuple):
    """The documents that were checked, and those that could not be: how each is called, and why."""

    checked: "Sequence[Checked]"
    failed: Sequence[tuple[str, str]]

    def codes(self, *, strict: bool, require: str, allow_unchecked: bool) -> list[int]:
        """The exit code of each report, and 1 for each document that has none."""
        codes = [each.report.exit_code(strict=strict, require=require) for each in self.checked]
        if allow_unchecked:
            codes = [0 if code == 3 else code for code in codes]
        return [*codes, *(1 for _ in self.failed)]


def _worst(codes: Sequence[int]) -> int:
    return next((code for code in (4, 1, 3) if code in codes), 0)


def _check_all(documents: Sequence[Path], options: "Options") -> _Run:
    """Check one document after the other. Of several, one that cannot be checked does not end the others.

    Raises SetupError, for several only where the options are at fault or none of the files exists.
    """
    from vera.agent.errors import SetupError
    from vera.cli.check_sarif import Checked
    from vera.cli.progress import Progress
    from vera.document_check.reading import document_bytes, lines_of
    from vera.document_check.run import check_bytes

    checked: list[Checked] = []
    failed: list[tuple[str, str]] = []
    screen = Progress()
    for path in documents:
        try:
            data = document_bytes(path)
            report = check_bytes(data, path, options, screen.now)
        except SetupError as error:
            if len(documents) == 1 or error.exit_code == 2:
                raise
            failed.append((str(path), str(error)))
            continue
        checked.append(Checked(report, lines_of(data, report.format)))
    screen.done()
    return _Run(checked, failed)


def _printed(run: _Run, codes: Sequence[int], form: str) -> str:
    from vera.report.printable import one_printable_line, printable_json

    match form:
        case "json":
            return printable_json(_as_json(run, codes))
        case "sarif":
            from vera.cli.check_sarif import as_sarif

            return printable_json(as_sarif(run.checked, run.failed, _worst(codes)))
        case "github":
            from vera.cli.check_github import as_github, command

            lines = [line for each in run.checked for line in as_github(each.report, each.lines)]
            lines += [command("error", reason, [("title", "vera check")]) for _, reason in run.failed]
            return "\n".join(lines)
        case _:
            from vera.cli.check_text import as_text

            several = len(run.checked) + len(run.failed) > 1
            pieces = [as_text(each.report, named=several) for each in run.checked]
            pieces += [one_printable_line(reason) for _, reason in run.failed]
            return "\n\n".join(pieces)


def _as_json(run: _Run, codes: Sequence[int]) -> dict[str, object]:
    """The report of one document, or those of several under `reports`."""
    import msgspec

    reports = [
        {"exit_code": code, **msgspec.to_builtins(each.report)}
        for code, each in zip(codes, run.checked, strict=False)
    ]
    if len(reports) == 1 and not run.failed:
        return reports[0]
    failed = [{"document": document, "reason": reason} for document, reason in run.failed]
    return {"exit_code": _worst(codes), "reports": reports, "failed": failed}
