"""`vera report`: a run as one HTML file."""

import hashlib
import os
from pathlib import Path

import click


@click.command()
@click.argument("run", metavar="RUN", type=click.Path(path_type=Path))
@click.option("--html", "as_html", is_flag=True, help="Write HTML (may be left out).")
@click.option(
    "--markdown",
    is_flag=True,
    help="Write Markdown: answer.md with footnotes, and what people said of the claims.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="The file to write (it must not exist yet), '-' for standard output; default: RUN/report.html.",
)
def report(run: Path, as_html: bool, markdown: bool, output: Path | None) -> None:
    """Write a run into one HTML file: its answer, the claims with the cited lines, what people said of them,
    and how to check them.

    The file has no script and loads nothing: it can be mailed, kept and printed. Exit code 1 when the log was
    altered.
    """
    from vera.cli.exit import clean_errors, whole_log

    with clean_errors():
        from vera.dashboard import audit_log
        from vera.dashboard.run_page import look_at
        from vera.report.footnotes import cited_places
        from vera.report.html.document import report_html
        from vera.session import replace_file
        from vera.store import Store

        if as_html and markdown:
            raise click.UsageError("Choose --html or --markdown.")
        target = run / ("report.md" if markdown else "report.html")
        if output is not None and output != target:
            _refuse_existing(output)
            target = output

        integrity = whole_log(run)
        if markdown:
            text = _markdown(run)
        else:
            found = look_at(run)
            cited = cited_places(found.state, Store(run / "store"))
            text = report_html(found.page, work_dir=str(run), integrity=integrity.sentence, quotes=cited)
        data = text.encode("utf-8", "replace")
        if str(target) == "-":
            click.echo(data, nl=False)
            return
        replace_file(target, data)
        if target.parent == run:
            audit_log.write(run, "kept", file=target.name, sha256=hashlib.sha256(data).hexdigest())
        click.echo(str(target))


def _refuse_existing(output: Path) -> None:
    """End the command where the file that is to be written exists."""
    from vera.cli.exit import ERROR, stop

    if str(output) != "-" and os.path.lexists(output):
        stop(f"{output} exists already. Choose another name, or remove it first.", ERROR)


def _markdown(run: Path) -> str:
    """answer.md as it would be made now, with the status that the session may say, the reviews, and the
    citations as footnotes."""
    from vera.agent.finished import finished
    from vera.report import footnotes_markdown, reviews_text

    made = finished(run)
    return footnotes_markdown.markdown(made.task, made.report, reviews_text.markdown(made.page))
