"""`vera check`: hold a document against the sources it names."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from vera.agent.check_document import Report
    from vera.audit.document_findings import Problem

_CLAIM_SHOWN = 300
_LINES_SHOWN = 12
_MAX_SHOWN = 100


@click.command()
@click.argument("document", metavar="FILE", type=click.Path(path_type=Path))
@click.option(
    "--sources",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Folder of the files that the document cites: by link, by file name, by title.",
)
@click.option("--fetch", is_flag=True, help="Get the linked pages from the web (public hosts only).")
@click.option(
    "--max-links",
    metavar="N",
    type=click.IntRange(1, 5000),
    default=200,
    show_default=True,
    help="Pages that --fetch gets at most; others are unchecked.",
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
    "--require",
    type=click.Choice(["verified"]),
    help="End with exit code 3 for what is less than VERIFIED: always, since no meaning is judged.",
)
@click.option("-c", "--config", "overrides", multiple=True, help="KEY=VALUE or FILE.yaml; may be repeated.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def check(
    document: Path,
    sources: Path | None,
    fetch: bool,
    max_links: int,
    keep: Path | None,
    not_before: str,
    not_after: str,
    independent: int,
    strict: bool,
    require: str | None,
    overrides: tuple[str, ...],
    as_json: bool,
) -> None:
    """Check the quotations, numbers and names of a document against the sources it names.

    FILE is Markdown, text, HTML, docx or PDF. No model is asked. Without --sources and --fetch nothing is
    read but FILE, and every source is unchecked.

    Exit codes: 0 every statement that names a source was checked, and nothing hard was found; 4 a quotation,
    number or date that is not in its source; 3 nothing hard, but something could not be checked, or
    no statement names a source;
    2 usage; 1 FILE cannot be checked.
    """
    from vera.cli.exit import clean_errors

    with clean_errors():
        from vera.agent.check_document import Options, check_document, require_date
        from vera.cli.progress import Progress

        for name, value in (("--not-before", not_before), ("--not-after", not_after)):
            require_date(name, value)
        egress, secrets = None, tuple[str, ...]()
        if fetch:
            from vera import config
            from vera.agent.web import secrets_of

            settings = config.load(overrides).settings
            egress, secrets = settings.egress, tuple(secrets_of(settings))
        options = Options(
            sources=sources,
            egress=egress,
            secrets=secrets,
            keep=keep,
            not_before=not_before,
            not_after=not_after,
            max_links=max_links,
            independent=independent,
        )
        screen = Progress()
        report = check_document(document, options, screen.now)
        screen.done()
        code = report.exit_code(strict=strict, require=require or "quoted")
        click.echo(_as_json(report, code) if as_json else _as_text(report))
    raise SystemExit(code)


def _as_json(report: "Report", code: int) -> str:
    import msgspec

    from vera.report.printable import printable_json

    return printable_json({"exit_code": code, **msgspec.to_builtins(report)})


def _as_text(report: "Report") -> str:
    """Each problem with its line, the sources that could not be had, and a last line of figures."""
    from vera.attestation.report import counted
    from vera.report.printable import one_printable_line

    found = report.findings
    lines: list[str] = []
    for problem in found.problems[:_MAX_SHOWN]:
        lines += [*_problem(problem), ""]
    if len(found.problems) > _MAX_SHOWN:
        lines += [f"{len(found.problems) - _MAX_SHOWN} more: --json shows all.", ""]
    for missing in found.unchecked[:_MAX_SHOWN]:
        lines.append(f"unchecked: {missing.source} ({_numbered(missing.lines)}): {missing.reason}")
    if len(found.unchecked) > _MAX_SHOWN:
        lines.append(f"{len(found.unchecked) - _MAX_SHOWN} more unchecked: --json shows all.")
    lines += [f"unchecked: {found.unread}."] if found.unread else []
    lines += [f"note: {note}" for note in report.notes]
    if lines and lines[-1]:
        lines.append("")
    counts = [
        words
        for number, words in (
            (found.count("hard"), counted(found.count("hard"), "hard finding")),
            (found.count("hint"), counted(found.count("hint"), "hint")),
            (len(found.unchecked), counted(len(found.unchecked), "source") + " unchecked"),
        )
        if number
    ]
    lines.append(
        f"{report.document}: {counted(found.claims, 'statement')}, {found.named} with a source, "
        f"{found.checked} checked: quotations, numbers, dates and names compared, meaning not judged. "
        + (", ".join(counts) or "No finding")
        + "."
    )
    if not found.named:
        lines.append("No statement names a source, so nothing was checked.")
    return "\n".join(one_printable_line(line) for line in lines)


def _problem(problem: "Problem") -> list[str]:
    shown = problem.claim if len(problem.claim) <= _CLAIM_SHOWN else problem.claim[: _CLAIM_SHOWN - 1] + "…"
    lines = [f"line {problem.line}: {problem.severity}: {problem.message}"]
    if shown:
        lines.append(f"  statement: {shown}")
    if "[-" in problem.detail or "{+" in problem.detail:
        lines.append(f"  difference: {problem.detail}")
    return lines


def _numbered(lines: tuple[int, ...]) -> str:
    shown = ", ".join(map(str, lines[:_LINES_SHOWN]))
    more = f" and {len(lines) - _LINES_SHOWN} more" if len(lines) > _LINES_SHOWN else ""
    return f"line{'s' if len(lines) > 1 else ''} {shown}{more}"
