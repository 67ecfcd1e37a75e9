"""`vera show --candidates`: what was sampled for each step, and why one of them was chosen."""

import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import click

from vera.report.candidate_steps import Load, SampledStep

LANE = "main"
NO_TERMINAL = 100
"""Columns where the output is no terminal."""


def show(work_dir: Path, step: int | None, *, as_json: bool) -> None:
    """Print the sampled steps of a run one by one, or the one with this number.

    Ends with a sentence when there is none.
    """
    from vera.cli.exit import USAGE, stop
    from vera.report.printable import printable_json
    from vera.report.selection_json import as_json as in_json
    from vera.report.selection_words import block
    from vera.session import load_text
    from vera.store import Store

    load: Load = partial(load_text, Store(work_dir / "store"))
    wanted = (each for each in _steps(work_dir) if step is None or each.step == step)
    if as_json:
        _print_array(printable_json({"step": each.step, **in_json(each, load)}) for each in wanted)
        return
    width = shutil.get_terminal_size((NO_TERMINAL, 24)).columns
    none = True
    for each in wanted:
        click.echo(("" if none else "\n") + block(each, load, width, whole=step is not None))
        none = False
    if none and step is not None:
        stop(f"no candidates were sampled for step {step}.", USAGE)
    if none:
        click.echo(
            "No candidates were sampled: this run takes one turn a step. More are asked for by "
            "-c candidate_sampling.num_candidates=4"
        )


def _steps(work_dir: Path) -> Iterator[SampledStep]:
    """Each sampled step once: when its turn is taken, the last one also while none is chosen."""
    from vera import events
    from vera.report.candidate_steps import Sampling
    from vera.session import Reader

    sampling, waiting = Sampling(LANE), None
    for _, record in Reader(work_dir / "trace.jsonl").poll():
        sampling.add(record)
        if record.lane != LANE:
            continue
        match record:
            case events.Candidates() | events.Selection():
                waiting = sampling.of(record.step)
            case events.Assistant():
                if (done := sampling.of(record.step)) is not None:
                    yield done
                waiting = None
            case _:
                pass
    if waiting is not None:
        yield waiting


def _print_array(items: Iterator[str]) -> None:
    """A JSON array, an item at a time."""
    click.echo("[", nl=False)
    for number, item in enumerate(items):
        click.echo(("," if number else "") + "\n" + item, nl=False)
    click.echo("\n]")
