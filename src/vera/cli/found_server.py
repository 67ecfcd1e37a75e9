"""The one question about a model server that was found on this machine, on a terminal only."""

import asyncio
import sys

import click

from vera.cli.progress import Progress
from vera.config import Settings
from vera.report.printable import one_printable_line


def ask_once(settings: Settings, progress: Progress) -> None:
    """Ask whether to use the server that was found, unless a model is named or the answer is known.

    Where no person can be asked nothing is, and the built-in model is used.
    """
    if settings.model.base_url or settings.model.file is not None or not _a_person_is_here():
        return
    from vera.agent import found_server
    from vera.agent.pulled_models import named
    from vera.model.probe import discover

    if settings.model.name and named(settings.model.name):
        return
    seen = found_server.candidates(asyncio.run(discover()))
    candidate = found_server.unasked(seen, found_server.recall())
    if candidate is None:
        return
    click.echo(one_printable_line(f"Found {found_server.what_goes_there(candidate)}."), err=True)
    use = click.confirm("Use it, now and from now on?", default=False, err=True)
    try:
        found_server.remember(candidate, use=use)
    except OSError as error:
        progress.say(f"warning: the answer could not be kept: {error.strerror or error}")


def _a_person_is_here() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()
