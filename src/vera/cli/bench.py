"""`vera bench`: how well VERA's own parts work, measured."""

import json
from pathlib import Path

import click

_FILE = click.Path(path_type=Path)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def bench() -> None:
    """Measure VERA's own parts."""


@bench.command()
@click.option("--wice", metavar="FILE", type=_FILE, help="Claims of WiCE, JSON lines.")
@click.option("--quotesum", metavar="FILE", type=_FILE, help="Summaries of QuoteSum, JSON lines.")
@click.option(
    "--fever",
    metavar="EVIDENCE CLAIM LABEL",
    type=_FILE,
    nargs=3,
    help="Pairs of the kind of FEVER: three files whose lines belong together.",
)
@click.option("--mutations", is_flag=True, help="Planted faults. Measured when no data is given.")
@click.option("--limit", metavar="N", type=click.IntRange(min=1), help="Only the first N of each part.")
@click.option("--seed", metavar="N", type=int, default=0, show_default=True, help="For what is drawn by lot.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def verifier(
    wice: Path | None,
    quotesum: Path | None,
    fever: tuple[Path, Path, Path] | None,
    mutations: bool,
    limit: int | None,
    seed: int,
    as_json: bool,
) -> None:
    """Measure the checks that need no model: what they find, and what they wrongly reject.

    A claim is rejected rightly when people say that it is not fully supported. The data is read from the
    files that are named here; none of it comes with VERA.
    """
    from vera.bench.labelled import DataError
    from vera.bench.tables import as_text
    from vera.bench.verifier import measure
    from vera.cli.exit import USAGE, clean_errors, stop

    with clean_errors():
        try:
            figures = measure(
                wice=wice, quotesum=quotesum, fever=fever, mutated=mutations, limit=limit, seed=seed
            )
        except DataError as error:
            stop(str(error), USAGE)
        click.echo(json.dumps(figures, ensure_ascii=False, indent=2) if as_json else as_text(figures))
