"""How well the checks without a model work: on labelled data given by path, and on planted faults."""

from pathlib import Path
from typing import Any

from vera.bench import judging, labelled, locating, mutations


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

    `limit` bounds the claims, summaries, pairs and statements of each part. Raises `labelled.DataError`.
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
