"""`vera rm`: remove sessions."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from vera.dashboard.sessions import SessionFolder, Sessions


@click.command()
@click.argument("session", metavar="SESSION...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--base-dir", type=click.Path(), help="Folder below which sessions may be removed.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@click.option("-c", "--config", "overrides", multiple=True, help="KEY=VALUE or FILE.yaml; may be repeated.")
def rm(session: tuple[Path, ...], base_dir: str | None, yes: bool, overrides: tuple[str, ...]) -> None:
    """Remove sessions with everything in their folders, after asking.

    Only sessions below the base folder are removed, over no link, and none that a process works on. A folder
    that also holds files which VERA did not write stays as it is.
    """
    from vera.cli.exit import ERROR, clean_errors, stop
    from vera.dashboard.sessions import NoSession

    with clean_errors():
        sessions = sessions_of(base_dir, overrides)
        try:
            found = [sessions.by_work_dir(str(Path.cwd() / each)) for each in dict.fromkeys(session)]
        except NoSession as error:
            stop(f"{error} Another base folder is named with --base-dir.", ERROR)
        if missing := next((each for each in found if not _holds_session(each)), None):
            stop(f"there is no session in {missing.name}.", ERROR)
        remove_after_asking(sessions, found, yes=yes)


def _holds_session(folder: "SessionFolder") -> bool:
    """Whether a session is in this folder itself, not in one below it."""
    from vera.dashboard.sessions import CONTROL_LOG

    return any(map(os.path.lexists, (folder.log, folder.path / CONTROL_LOG)))


def sessions_of(base_dir: str | None, overrides: tuple[str, ...]) -> "Sessions":
    """The sessions of the base folder that is named or configured."""
    from vera import config
    from vera.cli.exit import ERROR, stop
    from vera.dashboard.sessions import Sessions

    base = config.load(overrides, {"run.base_dir": base_dir}).settings.run.base_dir
    try:
        return Sessions(base)
    except NotADirectoryError:
        stop(f"there is no folder {base}.", ERROR)


def remove_after_asking(sessions: "Sessions", found: "Iterable[SessionFolder]", *, yes: bool) -> None:
    """List the sessions with their sizes, ask, and remove them. What cannot be removed is said, and the
    command then ends with exit code 1."""
    from vera.cli.exit import ERROR, in_words, stop
    from vera.dashboard.removal import NotRemoved, held_in, remove
    from vera.dashboard.sessions import NoSession
    from vera.report.view.words import counted, size_in_words

    total, named = 0, list(found)
    for each in named:
        held = held_in(each)
        total += held.size
        click.echo(f"{each.name}  {counted(held.files, 'file')}, {size_in_words(held.size)}")
    asked = f"Remove {counted(len(named), 'session')} ({size_in_words(total)})? That cannot be undone."
    if not yes and not click.confirm(asked, err=True):
        stop("nothing was removed.", ERROR)
    problems = 0
    for each in named:
        try:
            remove(sessions, each)
        except (NotRemoved, NoSession) as error:
            problems += 1
            click.echo(f"vera: {error}", err=True)
        except OSError as error:
            problems += 1
            click.echo(f"vera: {each.name} was not removed: {in_words(error)}", err=True)
    click.echo(f"{counted(len(named) - problems, 'session')} removed.")
    if problems:
        raise SystemExit(ERROR)
