"""`vera token`: who may use the service, and for what."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from vera.service.tokens import Right

_FILE = click.option(
    "--token-file", type=click.Path(path_type=Path), help="File of tokens; one in your user data folder."
)


@click.group()
def token() -> None:
    """Say who may use 'vera serve' and 'vera mcp --http', and for what."""


@token.command()
@click.argument("name")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    type=click.Choice(["verify", "research", "check", "read"]),
    help="What it may do; may be repeated.  [default: all]",
)
@click.option(
    "--at-once",
    type=click.IntRange(1, 1000),
    default=8,
    show_default=True,
    help="Jobs that may wait or run at one time.",
)
@click.option(
    "--per-hour",
    type=click.IntRange(1, 100_000),
    default=600,
    show_default=True,
    help="Requests an hour to verify, research, check or chat.",
)
@_FILE
def add(name: str, scopes: "tuple[Right, ...]", at_once: int, per_hour: int, token_file: Path | None) -> None:
    """Make a token, and print it this once: only its hash is kept.

    It sees what was asked with it and nothing of other tokens.
    """
    from vera.cli.exit import ERROR, stop
    from vera.service import tokens

    try:
        click.echo(tokens.add(token_file or tokens.default_file(), name, scopes, at_once, per_hour))
    except tokens.TokenError as error:
        stop(str(error), ERROR)


@token.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@_FILE
def list_tokens(as_json: bool, token_file: Path | None) -> None:
    """List tokens by name, with what they may do."""
    from vera.cli.exit import ERROR, stop
    from vera.report.printable import printable_json
    from vera.service import tokens

    try:
        known = tokens.Tokens(token_file or tokens.default_file()).all()
    except tokens.TokenError as error:
        stop(str(error), ERROR)
    names = ("name", "scopes", "at_once", "per_hour", "folder", "created")
    if as_json:
        click.echo(printable_json([{name: getattr(each, name) for name in names} for each in known]))
        return
    for each in known:
        may = ", ".join(each.scopes)
        click.echo(
            f"{each.name}: {may}; {each.at_once} at once, {each.per_hour} an hour; serve/{each.folder}"
        )


@token.command()
@click.argument("name")
@_FILE
def remove(name: str, token_file: Path | None) -> None:
    """Take a token away. It opens nothing from then on; its sessions stay."""
    from vera.cli.exit import ERROR, stop
    from vera.service import tokens

    try:
        tokens.remove(token_file or tokens.default_file(), name)
    except tokens.TokenError as error:
        stop(str(error), ERROR)
    click.echo(f"The token {name} opens nothing any more.")
