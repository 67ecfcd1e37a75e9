"""`vera trust`: the names of the people whose signatures count here."""

import re
import sys
from pathlib import Path

import click

_MAX_BYTES = 10_000
_DIGITS = re.compile(r"[0-9A-Fa-f]+")


@click.group()
def trust() -> None:
    """Say whose signatures you trust, by name: 'vera replay', 'vera show' and the pages use the names.

    Ask the person for their key by another way than the session came to you: 'vera key' prints it.
    """


@trust.command()
@click.argument("name")
@click.argument("key", metavar="KEY|FILE")
def add(name: str, key: str) -> None:
    """Trust what is signed by KEY, as being by NAME.

    KEY is the public key or its id (64 hexadecimal digits), a PEM file, or '-' for PEM on standard input.
    """
    from vera.attestation import signers
    from vera.cli.exit import clean_errors

    with clean_errors():
        signers.add(name, signers.key_in(_given(key)))
        click.echo(f"You trust {name}.")


@trust.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def list_names(as_json: bool) -> None:
    """List names and keys."""
    from vera.attestation import signers
    from vera.cli.exit import clean_errors

    with clean_errors():
        known = {name: key for key, name in signers.names_in().items()}
        if as_json:
            from vera.report.printable import printable_json

            click.echo(printable_json({"trusted": known, "own": signers.own_keyid()}))
            return
        for name, key in sorted(known.items()):
            click.echo(f"{key}  {name}")
        if not known:
            click.echo("You trust no key but your own. See: vera trust add --help", err=True)


@trust.command()
@click.argument("name")
def remove(name: str) -> None:
    """Trust NAME no longer."""
    from vera.attestation import signers
    from vera.cli.exit import clean_errors

    with clean_errors():
        other = signers.remove(name)
        also = f" You still trust the same key as {other}." if other else ""
        click.echo(f"You trust {name} no longer.{also}")


def _given(key: str) -> str:
    """The text of a key: what was typed, or what the file holds."""
    from vera.cli.exit import ERROR, stop

    if key == "-":
        return sys.stdin.buffer.read(_MAX_BYTES).decode("utf-8", "replace")
    path = Path(key)
    if len(key) < 1000 and path.is_file():
        with path.open("rb") as file:
            return file.read(_MAX_BYTES).decode("utf-8", "replace")
    if not (_DIGITS.fullmatch(key.strip()) or "-----" in key):
        stop(f"there is no file {key[:200]}. Give 64 hexadecimal digits, or a PEM file ('vera key').", ERROR)
    return key
