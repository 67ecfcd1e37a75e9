"""`--input`: the files, folders and archives that a command reads."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., object])

_TOLD = 20
"""Files that are named among those left out."""


def input_option(purpose: str) -> Callable[[F], F]:
    """`--input PATH`, as often as wanted; `purpose` ends its help ("to answer from")."""
    return click.option(
        "--input",
        "inputs",
        metavar="PATH",
        multiple=True,
        type=click.Path(),
        help=f"File, folder or archive {purpose}; may be repeated.",
    )


def take_inputs(options: dict[str, Any], overrides: Sequence[str], *, quiet: bool) -> None:
    """Put the folder of `inputs` into the options as `input_dir`. Ends the command where both were given;
    raises SetupError for what cannot be read."""
    inputs = options.pop("inputs", ())
    if not inputs:
        return
    if options.get("input_dir") is not None:
        from vera.cli.exit import USAGE, stop

        stop("--input and --input-dir were both given. Give each file and folder with --input.", USAGE)
    options["input_dir"] = input_folder_of(inputs, options.get("base_dir"), overrides, quiet=quiet)


def input_folder_of(
    inputs: Sequence[str], base_dir: str | None, overrides: Sequence[str], *, quiet: bool
) -> str:
    """The one folder in which the inputs are; what got another name or is left out is told on stderr.

    Raises SetupError.
    """
    from vera.agent.inputs import lay_out
    from vera.config import load
    from vera.report.printable import one_printable_line

    laid = lay_out(inputs, load(overrides, {"run.base_dir": base_dir}).settings.run.base_dir)
    told = [f"{path} is called {name} here: another input has its name" for path, name in laid.renamed]
    told += [f"not read: {path}: {why}" for path, why in laid.left_out[:_TOLD]]
    if (more := len(laid.left_out) - _TOLD) > 0:
        told.append(f"… and {more} more")
    for line in [] if quiet else told:
        click.echo(one_printable_line(line), err=True)
    return str(laid.folder)
