"""`vera attest`: a signed statement about files, and its check."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from vera.attestation.files import CheckedFiles
    from vera.attestation.signers import Signers


@click.command()
@click.argument("files", metavar="FILE", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--predicate",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="What is stated of the files: a JSON object.",
)
@click.option("--type", "predicate_type", metavar="URI", help="The type of the predicate.")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The envelope to write (it must not exist yet).",
)
@click.option(
    "--check",
    "envelope",
    metavar="ENVELOPE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Hold the files against this envelope.",
)
@click.option(
    "--trust",
    metavar="KEYID",
    multiple=True,
    help="With --check: accept signatures of this key only (may be given several times).",
)
@click.option("--any-signer", is_flag=True, help="With --check: accept a key that VERA knows nothing about.")
@click.option("--json", "as_json", is_flag=True, help="With --check: print as JSON.")
def attest(
    files: tuple[Path, ...],
    predicate: Path | None,
    predicate_type: str | None,
    output: Path | None,
    envelope: Path | None,
    trust: tuple[str, ...],
    any_signer: bool,
    as_json: bool,
) -> None:
    """Sign a statement about files with your key, or check one.

    With --type, --predicate and --output: the names of the files, their sha256 and the predicate become an
    in-toto Statement (v1), signed in a DSSE envelope.

    With --check: exit code 0 when the signature holds, you know the key, and every file is one that was
    signed, under its name; 1 otherwise.
    """
    if envelope is not None:
        if predicate or predicate_type or output:
            raise click.UsageError("--check goes without --type, --predicate and --output.")
        _check(files, envelope, trust, any_signer, as_json)
    elif predicate is None or predicate_type is None or output is None:
        raise click.UsageError("Give --type, --predicate and --output to sign, or --check to check.")
    elif trust or any_signer or as_json:
        raise click.UsageError("--trust, --any-signer and --json go with --check.")
    else:
        _sign(files, predicate_type, predicate, output)


def _sign(files: tuple[Path, ...], predicate_type: str, predicate: Path, output: Path) -> None:
    from vera.attestation.files import MAX_PREDICATE_BYTES, StatementError, attest_files, open_regular
    from vera.cli.exit import USAGE, clean_errors, stop
    from vera.runtime.setup import open_signer

    with clean_errors():
        try:
            with open_regular(predicate) as file:
                stated = file.read(MAX_PREDICATE_BYTES + 1)
            envelope = attest_files(files, predicate_type, stated, open_signer(None))
        except StatementError as error:
            stop(str(error), USAGE)
        with output.open("xb") as file:
            file.write(envelope)
    click.echo(f"{output}: {len(files)} files." if len(files) > 1 else f"{output}: 1 file.")


def _check(
    files: tuple[Path, ...], envelope: Path, trust: tuple[str, ...], any_signer: bool, as_json: bool
) -> None:
    from vera.attestation.dsse import MAX_BYTES, EnvelopeError
    from vera.attestation.files import StatementError, check_files, open_regular
    from vera.attestation.signers import known_signers
    from vera.cli.exit import ERROR, clean_errors, stop
    from vera.cli.replay import insist_on_signers

    insist_on_signers(trust, any_signer)
    with clean_errors():
        try:
            with open_regular(envelope) as file:
                data = file.read(MAX_BYTES + 1)
            checked = check_files(data, files)
        except (EnvelopeError, StatementError) as error:
            stop(str(error), ERROR)
        signers = known_signers(trust, any_signer=any_signer)
        holds = signers.accepts(checked.keyid) and not any(each.why for each in checked.files)
        click.echo(_as_json(checked, signers, holds) if as_json else _as_text(checked, signers))
    raise SystemExit(0 if holds else ERROR)


def _as_json(checked: "CheckedFiles", signers: "Signers", holds: bool) -> str:
    import msgspec

    from vera.report.printable import printable_json

    return printable_json(
        {
            "holds": holds,
            "keyid": checked.keyid,
            "signed": signers.who(checked.keyid),
            "files": [msgspec.to_builtins(each) for each in checked.files],
            "predicateType": checked.statement.predicate_type,
            "predicate": checked.statement.predicate,
        }
    )


def _as_text(checked: "CheckedFiles", signers: "Signers") -> str:
    """One line a file, then who signed, and what type of statement."""
    from vera.attestation.signers import HOW_TO_TRUST
    from vera.report.printable import one_printable_line

    lines = [
        f"{'DIFFERS' if each.why else 'AGREES '}  {each.name}" + (f": {each.why}" if each.why else "")
        for each in checked.files
    ]
    lines.append(f"signed {signers.who(checked.keyid)} (key id {checked.keyid})")
    if not signers.accepts(checked.keyid):
        lines.append(f"UNTRUSTED. {HOW_TO_TRUST}")
    lines.append(f"states {checked.statement.predicate_type}")
    return "\n".join(one_printable_line(line) for line in lines)
