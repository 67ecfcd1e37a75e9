"""`vera replay`: hold a session, or a bundle of one, against itself."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vera.attestation.report import Report

_KEYID = re.compile(r"[0-9a-f]{64}")


@click.command()
@click.argument("session", metavar="SESSION|BUNDLE", type=click.Path(path_type=Path))
@click.option(
    "--trust",
    metavar="KEYID",
    multiple=True,
    help="Accept signatures of this key only (64 hexadecimal digits; may be given several times).",
)
@click.option("--any-signer", is_flag=True, help="Accept a key that VERA cannot say anything about.")
@click.option(
    "--level",
    type=click.IntRange(0, 2),
    default=2,
    show_default=True,
    help="Stop after this level: 0 bytes, 1 verdicts, 2 texts.",
)
@click.option(
    "--entailment-model",
    metavar="DIR|FILE",
    type=click.Path(path_type=Path),
    help="The file of the entailment judge: its labels are computed again.",
)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def replay(
    session: Path,
    trust: tuple[str, ...],
    any_signer: bool,
    level: int,
    entailment_model: Path | None,
    as_json: bool,
) -> None:
    """Check a session, or a bundle made by 'vera export', without a model and without a network.

    \b
    L0  integrity  every hash, chain link, blob, seal and signature
    L1  verdict    claims, findings, spans and result computed again from the log
    L2  text       the text of every source made again from its raw bytes

    Who signed is said, too: your key, a key that you trust ('vera trust add NAME KEY'), or an unknown one,
    which is UNTRUSTED unless you say --any-signer.

    What people said of single claims ('vera review') is checked too. It changes no verdict and no exit code.

    Exit code 0 when all of it agrees, 1 when anything does not (also RULES_CHANGED, EXTRACTOR_CHANGED,
    NOT_REPRODUCED, MISSING, UNSEALED and UNTRUSTED), 2 for wrong usage, 3 when all is whole but nothing was
    attested.
    """
    from vera.attestation.bundle import BundleError, replay_bundle
    from vera.attestation.replay import NoSession
    from vera.attestation.replay import replay as hold_against_itself
    from vera.attestation.signers import known_signers
    from vera.cli.exit import ERROR, clean_errors, stop

    insist_on_signers(trust, any_signer)
    with clean_errors():
        try:
            hold = replay_bundle if session.is_file() else hold_against_itself
            report = hold(session, known_signers(trust, any_signer=any_signer), level, entailment_model)
        except (NoSession, BundleError) as error:
            stop(str(error), ERROR)
        click.echo(_as_json(session, report) if as_json else _as_text(report))
    raise SystemExit(report.exit_code)


def insist_on_signers(trust: tuple[str, ...], any_signer: bool) -> None:
    """End the command by a sentence unless --trust and --any-signer make sense."""
    from vera.cli.exit import USAGE, stop

    for keyid in trust:
        if not _KEYID.fullmatch(keyid):
            stop(f"--trust {keyid!r} is no key id: give the 64 hexadecimal digits that replay shows.", USAGE)
    if trust and any_signer:
        stop("--trust names the only keys that may sign, and --any-signer accepts all: choose one.", USAGE)


def _as_json(session: Path, report: "Report") -> str:
    import msgspec

    from vera.report.printable import printable_json

    plain = {"session": str(session), "exit_code": report.exit_code, **msgspec.to_builtins(report)}
    return printable_json(plain)


def _as_text(report: "Report") -> str:
    """One line a level, then what is behind it."""
    from vera.report.printable import one_printable_line

    width = max(len(level.verdict) for level in report.levels)
    lines = [
        f"{level.name} {level.subject:<9}  {level.verdict:<{width}}  {level.sentence}"
        for level in report.levels
    ]
    lines += _attested_lines(report)
    lines += _remark_lines(report)
    if report.reviews is not None:
        from vera.report.reviews_text import bad_lines

        lines += ["", f"reviews (no verdict rests on them): {report.reviews.sentence}"]
        lines += [f"  {line}" for line in bad_lines(report.reviews.bad)]
    return "\n".join(one_printable_line(line) for line in lines)


def _attested_lines(report: "Report") -> "Iterator[str]":
    confirmed = all(level.verdict == "AGREES" for level in report.levels)
    for each in report.attested:
        why = f" ({each.reason})" if each.reason else ""
        mark = (", chosen" if each.chosen else "") + ("" if confirmed else ", as attested, not confirmed")
        yield from ("", f"round {each.round}{mark}: {each.result}{why}")
        yield from (f"  {each.attestation}", f"  signed {each.signed}")


def _remark_lines(report: "Report") -> "Iterator[str]":
    for level in report.levels:
        if level.remarks:
            yield from ("", f"{level.name}:")
        for remark in level.remarks:
            verdict = f"{remark.verdict}  " if remark.verdict else ""
            yield f"  {verdict}{remark.where}: {remark.sentence}"
