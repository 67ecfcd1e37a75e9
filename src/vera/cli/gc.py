"""`vera gc`: remove old or large sessions."""

import os
import re
import time
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from vera.dashboard.sessions import SessionFolder, Sessions

_AGE = re.compile(r"([0-9]{1,6})([hdw])")
_HOURS = {"h": 1, "d": 24, "w": 168}
_SIZE = re.compile(r"([0-9]{1,9})(kB|MB|GB)")
_BYTES = {"kB": 10**3, "MB": 10**6, "GB": 10**9}


@click.command()
@click.option("--older-than", metavar="AGE", help="Last written to before that: 12h, 30d, 8w.")
@click.option("--larger-than", metavar="SIZE", help="More than this: 500kB, 100MB, 2GB.")
@click.option("--keep-verified", is_flag=True, help="Keep each whose answer is VERIFIED or QUOTED.")
@click.option("--base-dir", type=click.Path(), help="Folder below which sessions are looked for.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@click.option("-c", "--config", "overrides", multiple=True, help="KEY=VALUE or FILE.yaml; may be repeated.")
def gc(
    older_than: str | None,
    larger_than: str | None,
    keep_verified: bool,
    base_dir: str | None,
    yes: bool,
    overrides: tuple[str, ...],
) -> None:
    """Remove the sessions of the base folder that are old, large, or both, after asking.

    With --older-than and --larger-than a session goes only when both are true. With --keep-verified each one
    stays of which it cannot be said that its answer does not hold: also one that is signed by an unknown key.
    Sessions that people reviewed stay in any case ('vera rm' removes one by name). Folders of --input that no
    session uses any more are removed too.
    """
    from vera.cli.exit import clean_errors
    from vera.cli.rm import remove_after_asking, sessions_of

    if older_than is None and larger_than is None:
        raise click.UsageError("Say which: --older-than 30d, --larger-than 100MB, or both.")
    before = time.time() - _seconds(older_than) if older_than is not None else None
    size = _bytes(larger_than) if larger_than is not None else None
    with clean_errors():
        sessions = sessions_of(base_dir, overrides)
        found = _found(sessions, before, size, keep_verified=keep_verified)
        if found:
            remove_after_asking(sessions, found, yes=yes)
        else:
            click.echo("There is no such session.")
        _remove_unused_inputs(sessions, yes=yes)


def _remove_unused_inputs(sessions: "Sessions", *, yes: bool) -> None:
    """Remove, after asking, the folders that `--input` made and that no session of the base folder names."""
    import shutil

    from vera.agent.inputs import unused
    from vera.report.view.words import counted

    logs = (sessions.folder(os.fsdecode(name)).log for name in sessions.stamps())
    folders = unused(sessions.base, (log for log in logs if log.is_file()))
    if not folders:
        return
    what = counted(len(folders), "folder")
    if yes or click.confirm(f"Remove {what} of --input that no session here uses?", err=True):
        for each in folders:
            shutil.rmtree(each)
        click.echo(f"{what} of --input removed.")


def _found(
    sessions: "Sessions", before: float | None, size: int | None, *, keep_verified: bool
) -> "list[SessionFolder]":
    """The sessions that go, the oldest first."""
    from vera.attestation.reviews import FILE
    from vera.dashboard.removal import held_in
    from vera.dashboard.run_status import is_worked_on

    stamps = sorted(sessions.stamps().items(), key=lambda each: each[1][1])
    found = [
        sessions.folder(os.fsdecode(name))
        for name, (_, written) in stamps
        if before is None or written < before
    ]
    found = [each for each in found if not os.path.lexists(each.path / FILE)]
    if size is not None:
        found = [each for each in found if held_in(each).size > size]
    found = [each for each in found if not is_worked_on(each.path, each.log)]
    return _without_verified(found) if keep_verified else found


def _without_verified(found: "list[SessionFolder]") -> "list[SessionFolder]":
    """Leaves out each session whose answer holds, or may hold."""
    from vera.attestation.known_outcomes import outcomes_of
    from vera.attestation.outcome import UNCHECKED, UNTRUSTED
    from vera.headline import HOLDS

    kept = {*HOLDS, UNCHECKED, UNTRUSTED}
    outcomes = outcomes_of(each.path for each in found if each.log.is_file())
    return [each for each in found if each.path not in outcomes or outcomes[each.path].word not in kept]


def _seconds(age: str) -> float:
    if (found := _AGE.fullmatch(age)) is None:
        raise click.BadParameter(f"{age!r} is no age: write 12h, 30d or 8w.", param_hint="--older-than")
    return int(found[1]) * _HOURS[found[2]] * 3600.0


def _bytes(size: str) -> int:
    if (found := _SIZE.fullmatch(size)) is None:
        raise click.BadParameter(
            f"{size!r} is no size: write 500kB, 100MB or 2GB.", param_hint="--larger-than"
        )
    return int(found[1]) * _BYTES[found[2]]
