"""`vera report`: a run as one HTML file."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from vera.report.view.model import RunPage


@click.command()
@click.argument("run", metavar="RUN", type=click.Path(path_type=Path))
@click.option("--html", "as_html", is_flag=True, help="Write HTML (the only form there is; may be left out).")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Where to write it: RUN/report.html unless said otherwise, '-' for standard output.",
)
def report(run: Path, as_html: bool, output: Path | None) -> None:
    """Write a run into one HTML file: its answer, the claims with the cited lines, and how to check them.

    The file has no script and loads nothing: it can be mailed, kept and printed. Exit code 1 when the log was
    altered.
    """
    from vera.cli.exit import ERROR, clean_errors, stop

    with clean_errors():
        from vera.report.html.document import report_html
        from vera.session import check, replace_file

        try:
            integrity = check(run)
        except FileNotFoundError:
            stop(f"there is no session in {run} (no trace.jsonl).", ERROR)
        if integrity.verdict == "BROKEN":
            stop(integrity.sentence, ERROR)
        page = _page(run)
        text = report_html(page, work_dir=str(run), integrity=integrity.sentence)
        data = text.encode("utf-8", "replace")
        if output is not None and str(output) == "-":
            click.echo(data, nl=False)
            return
        target = output or run / "report.html"
        replace_file(target, data)
        click.echo(str(target))


def _page(run: Path) -> "RunPage":
    """The run's page as its log is now, with what the session may say of its end."""
    from functools import partial

    from vera.attestation.outcome import outcome_of
    from vera.attestation.signers import known_signers
    from vera.dashboard.run_status import is_worked_on
    from vera.report.view.fold import ViewFold
    from vera.report.view.outcome import with_outcome
    from vera.session import Reader, load_text
    from vera.state import RunState
    from vera.store import Store

    store, state = Store(run / "store"), RunState()
    fold = ViewFold(partial(load_text, store))
    outcome = outcome_of(run, known_signers())
    for offset, record in Reader(run / "trace.jsonl").poll():
        state.apply(record)
        fold.apply(record, offset)
    alive = is_worked_on(run, run / "trace.jsonl")
    page = fold.page(state, store, session=str(run), alive=alive, now=state.last_ts)
    return with_outcome(page, outcome)
