"""`--input` and `--connector`: where the documents come from that a command reads."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., object])

SOURCES = {"inputs": "run.inputs", "connector": "connectors.use"}
"""Option → the setting it sets."""


def input_option(purpose: str) -> Callable[[F], F]:
    """`--input PATH|URL`, as often as wanted; `purpose` ends its help ("to answer from")."""
    return click.option(
        "--input",
        "inputs",
        metavar="PATH|URL",
        multiple=True,
        help=f"File, folder, archive or web page {purpose}; may be repeated.",
    )


connector_option = click.option(
    "--connector",
    multiple=True,
    metavar="NAME[=KIND:ADDRESS]",
    help="Read documents from there too: a configured connector, or folder, git, page, site, zotero or "
    "bibtex with an address; may be repeated.",
)


def take_sources(options: dict[str, Any]) -> None:
    """Join what was given several times into the text that its setting has, one a line. Ends the command
    where an input folder was given beside inputs, and for a name that no line can hold."""
    from vera.cli.exit import USAGE, stop

    inputs = options.get("inputs", ())
    if inputs and options.get("input_dir") is not None:
        stop("--input and --input-dir were both given. Give each file and folder with --input.", USAGE)
    for each in inputs:
        if not each.strip():
            stop("An --input is empty. Name a file or a folder.", USAGE)
        if each != each.strip() or len(each.splitlines()) != 1:
            stop(
                f"{each!a} begins or ends with a blank, or has a line break: give its folder with --input.",
                USAGE,
            )
    for name in SOURCES:
        if name in options:
            options[name] = "\n".join(options[name]) or None
