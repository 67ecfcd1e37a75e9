"""How well the checks without a model work: on labelled data given by path, and on planted faults.

    python benchmarks/verifier.py [--wice FILE] [--quotesum FILE] [--fever EVIDENCE CLAIM LABEL] [--json]

Without data the mutation test on the fixtures in benchmarks/checks. `docs/verification.md` has the figures.
"""

import json
from pathlib import Path
from typing import Any

import click
from checks import judging, labelled, locating, mutations
from checks.tables import as_text

from vera.bench.eval_data import DataError
from vera.cli.exit import USAGE, clean_errors, stop

EXAMPLES = """\b
Examples:
  python benchmarks/verifier.py --limit 50
  python benchmarks/verifier.py --mutations --json"""

_FILE = click.Path(path_type=Path)


def measure(
    *,
    wice: Path | None = None,
    quotesum: Path | None = None,
    fever: tuple[Path, Path, Path] | None = None,
    covidfact: tuple[Path, Path, Path] | None = None,
    averitec: Path | None = None,
    mutated: bool = False,
    limit: int | None = None,
    seed: int = 0,
) -> dict[str, Any]:
    """The figures of every part that is asked for, by its name. Without labelled data the mutations.

    `limit` bounds the claims, summaries, pairs and statements of each part. Raises DataError.
    """
    most = labelled.ROW_LIMIT if limit is None else limit
    figures: dict[str, Any] = {}
    if wice is not None:
        figures["wice"] = judging.measure(labelled.read_wice(wice, most), seed)
    if quotesum is not None:
        figures["quotesum"] = locating.measure(labelled.read_quotesum(quotesum, most), seed)
    if fever is not None:
        figures["fever"] = judging.measure(labelled.read_pairs(*fever, most), seed, titled=False)
    if covidfact is not None:
        figures["covidfact"] = judging.measure(labelled.read_pairs(*covidfact, most), seed, titled=False)
    if averitec is not None:
        figures["averitec"] = judging.measure(labelled.read_averitec(averitec, most), seed)
    if mutated or not figures:
        figures["mutations"] = mutations.measure(seed, limit)
    return figures


@click.command(context_settings={"help_option_names": ["-h", "--help"]}, epilog=EXAMPLES)
@click.option("--wice", metavar="FILE", type=_FILE, help="Claims of WiCE, JSON lines.")
@click.option("--quotesum", metavar="FILE", type=_FILE, help="Summaries of QuoteSum, JSON lines.")
@click.option(
    "--fever",
    metavar="EVIDENCE CLAIM LABEL",
    type=_FILE,
    nargs=3,
    help="Pairs of the kind of FEVER: three files whose lines belong together.",
)
@click.option(
    "--covidfact",
    metavar="EVIDENCE CLAIM LABEL",
    type=_FILE,
    nargs=3,
    help="Pairs of COVID-Fact: three files likewise.",
)
@click.option("--averitec", metavar="FILE", type=_FILE, help="Claims of AVeriTeC, a JSON list.")
@click.option("--mutations", "mutated", is_flag=True, help="Planted faults. Measured when no data is given.")
@click.option("--limit", metavar="N", type=click.IntRange(min=1), help="Only the first N of each part.")
@click.option("--seed", metavar="N", type=int, default=0, show_default=True, help="For what is drawn by lot.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def verifier(as_json: bool, **parts: Any) -> None:
    """Measure the checks that need no model: what they find, and what they wrongly reject.

    A claim is rejected rightly when people say that it is not fully supported. The data is read from the
    files that are named here; none of it comes with VERA. AVeriTeC's claims with the label Not Enough
    Evidence are left out.
    """
    with clean_errors():
        try:
            figures = measure(**parts)
        except DataError as error:
            stop(str(error), USAGE)
        click.echo(json.dumps(figures, ensure_ascii=False, indent=2) if as_json else as_text(figures))


if __name__ == "__main__":
    verifier()
