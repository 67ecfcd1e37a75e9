"""`vera ahdb`: what is asserted, open, wanted, believed and out of sight, and how it came to be so."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from vera.attestation.ahdb.journal import Appended, Journal
    from vera.attestation.keys import Signer

F = TypeVar("F", bound=Callable[..., object])

_KEYID = re.compile(r"[0-9a-f]{64}")


def _keyids(context: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
    from vera.cli.exit import USAGE, stop

    for keyid in given:
        if not _KEYID.fullmatch(keyid):
            stop(f"--trust {keyid!r} is no key id: give the 64 hexadecimal digits that replay shows.", USAGE)
    return given


@click.group()
def ahdb() -> None:
    """The register of what is asserted, open, wanted, believed and out of sight.

    \b
    ASSERT       theses that a signed attestation supports, until it expires
    HYPOTHESIZE  open theses, with the tests that would decide them
    DRIVE        what is wanted, and what may not be given up for it
    BELIEVE      what is taken as given, and what would change it
    HYPERTHESIS  what the evidence cannot rule out

    It is a journal, BASE/.vera/ahdb.jsonl: nothing in it is changed, only added.
    """


def _common(command: F) -> F:
    base = click.option("--base-dir", type=click.Path(), help="Folder whose .vera holds the journal.")
    trust = click.option(
        "--trust",
        metavar="KEYID",
        multiple=True,
        callback=_keyids,
        help="Accept what this key signed, besides your own (64 hexadecimal digits; may be repeated).",
    )
    return base(trust(click.option("--json", "as_json", is_flag=True, help="Print as JSON.")(command)))


@ahdb.command()
@_common
def show(base_dir: str | None, trust: tuple[str, ...], as_json: bool) -> None:
    """Show what stands now; each ASSERT is proved again from its signed attestation.

    Exit code 1 when the journal is broken, an ASSERT in it is not proved, or lines stand behind its signed
    head.
    """
    from vera.cli.exit import ERROR, clean_errors

    with clean_errors():
        from vera.attestation.ahdb.resolve import standing
        from vera.cli.ahdb_text import standing_text

        journal = _journal(base_dir)
        found = standing(journal, datetime.now(UTC), {*trust, *_own_key()})
        click.echo(standing_text(journal.path, found, as_json))
        _say_torn(found.torn, found.unsigned)
        _say_unsealed(bool(found.keyid), bool(found.entries or found.expired or found.retracted))
    if found.unproved or found.unsigned:
        raise SystemExit(ERROR)


@ahdb.command()
@_common
def history(base_dir: str | None, trust: tuple[str, ...], as_json: bool) -> None:
    """Show every entry, the oldest first, with the chain and the signed head verified.

    Exit code 1 when the journal is broken, or lines stand behind its signed head.
    """
    from vera.cli.exit import ERROR, clean_errors

    with clean_errors():
        from vera.attestation.ahdb.journal import JournalError, not_trusted
        from vera.cli.ahdb_text import behind, history_text

        journal = _journal(base_dir)
        content = journal.read()
        if why := not_trusted(content, {*trust, *_own_key()}):
            raise JournalError(why)
        click.echo(history_text(journal.path, content.entries, as_json))
        _say_torn(content.torn, content.unsigned)
        _say_unsealed(bool(content.keyid), bool(content.entries))
    if content.unsigned:
        click.echo(f"vera: {behind(len(content.entries) + 1, content.unsigned)}", err=True)
        raise SystemExit(ERROR)


@ahdb.command()
@click.argument("register", metavar="REGISTER")
@click.argument("text", metavar="TEXT")
@click.option("--key", help="Name of the entry: a later one of this name takes its place.")
@click.option("--test", "tests", multiple=True, help="hypothesize: what would decide it; may be repeated.")
@click.option("--budget", help="hypothesize: what the test may cost.")
@click.option("--promotion", help="hypothesize: what makes it an ASSERT.  [default: an attestation]")
@click.option("--priority", type=click.IntRange(1, 9), help="drive: 1 is the first.")
@click.option("--trade-off", help="drive: what may be given up for it.")
@click.option("--red-line", help="drive: what may not.")
@click.option("--prior", help="believe: where the belief comes from.")
@click.option("--tier", type=click.Choice(["low", "med", "high"]), help="believe: how firm it is.")
@click.option("--trigger", help="believe: what would change it.")
@click.option("--effect", help="believe: what it allows or rules out.")
@_common
def propose(
    register: str,
    text: str,
    key: str | None,
    base_dir: str | None,
    trust: tuple[str, ...],
    as_json: bool,
    **given: Any,
) -> None:
    """Write a hypothesis, a drive or a belief: REGISTER is hypothesize, drive or believe.

    Nothing can be proposed for ASSERT: only attestations write there.
    """
    from vera.cli.exit import USAGE, clean_errors, stop

    with clean_errors():
        from vera.attestation.ahdb.proposals import propose as append
        from vera.cli.ahdb_proposal import ProposalError, proposal
        from vera.cli.ahdb_text import entry_text

        try:
            entry = proposal(register, text, key, given)
        except ProposalError as error:
            stop(str(error), USAGE)
        appended = append(_journal(base_dir), entry, datetime.now(UTC), _signer(), trust)
        _say_moved(appended)
        click.echo(entry_text(appended.entries[0], as_json))


@ahdb.command()
@click.argument("seq", type=int, metavar="SEQ")
@click.option("--reason", required=True, help="Why it no longer stands.")
@_common
def retract(seq: int, reason: str, base_dir: str | None, trust: tuple[str, ...], as_json: bool) -> None:
    """Take entry number SEQ away. It stays in the history, and so does the reason."""
    from vera.cli.exit import USAGE, clean_errors, stop

    with clean_errors():
        from vera.attestation.ahdb.proposals import NothingThere
        from vera.attestation.ahdb.proposals import retract as append
        from vera.cli.ahdb_proposal import ProposalError, checked
        from vera.cli.ahdb_text import entry_text

        try:
            reason = checked("--reason", reason)
            appended = append(_journal(base_dir), seq, reason, datetime.now(UTC), _signer(), trust)
        except (NothingThere, ProposalError) as error:
            stop(str(error), USAGE)
        _say_moved(appended)
        click.echo(entry_text(appended.entries[0], as_json))


def _signer() -> "Signer":
    """This user's key, made on first use: it signs the head of the journal."""
    from vera.runtime.setup import open_signer

    return open_signer(None)


def _journal(base_dir: str | None) -> "Journal":
    from vera import config
    from vera.attestation.ahdb.journal import Journal

    flags = {} if base_dir is None else {"run.base_dir": base_dir}
    return Journal(Path(config.load((), flags).settings.run.base_dir))


def _own_key() -> set[str]:
    """The id of this user's key, if there is one; none is made."""
    from vera.attestation import keys

    if not (keys.default_folder() / keys.FILE).exists():
        return set()
    try:
        return {keys.load_or_create().keyid}
    except keys.KeyFileError as error:
        click.echo(f"vera: {error}", err=True)
        return set()


def _say_unsealed(signed: bool, entries: bool) -> None:
    if entries and not signed:
        click.echo(
            "vera: this journal is unsealed: an older VERA wrote it, without a signed head. Lines that were "
            "cut off or added at its end are not noticed. The next entry signs it as it is.",
            err=True,
        )


def _say_torn(torn: int, unsigned: int) -> None:
    if torn and not unsigned:
        click.echo(
            f"vera: the last {torn} bytes of the journal are no whole entry and were left out.", err=True
        )


def _say_moved(appended: "Appended") -> None:
    if appended.torn:
        what = (
            f"{appended.unsigned} lines that were not signed" if appended.unsigned else "an unfinished entry"
        )
        sentence = f"vera: {appended.torn} bytes of {what} were moved to .vera/ahdb.jsonl.torn."
        click.echo(sentence, err=True)
