"""`vera metrics`: sessions as Prometheus metrics."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from vera.events import Blob
    from vera.metrics import Metrics

MAX_FINDINGS = 16 << 20
"""Bytes of one audit's findings; larger ones are counted without their labels."""


@click.command()
@click.argument("sessions", metavar="SESSION...", nargs=-1, required=True, type=click.Path(path_type=Path))
def metrics(sessions: tuple[Path, ...]) -> None:
    """Print the metrics of sessions, finished or under way, in Prometheus' text format.

    Counters add up all sessions that are named; gauges stand only for runs that have not ended, with the
    folder as it was named in the label 'session'.

    Exit code 1 when a session could not be read to its end; the others are counted all the same, and where
    there is nothing to count nothing is printed.
    """
    from vera.cli.exit import ERROR, clean_errors, stop

    with clean_errors():
        from vera.metrics import Metrics

        folded, problems = Metrics(_load), []
        once = {session.resolve(): session for session in sessions}
        for session in once.values():
            if problem := _fold(folded, session):
                problems.append(problem)
        if not (problems and folded.is_empty):
            click.echo(folded.render(), nl=False)
        if problems:
            stop("\nvera: ".join(problems), ERROR)


def _fold(folded: "Metrics", session: Path) -> str:
    """Count what the session's log has; '' or what kept it from being read to its end."""
    from vera.session import LogBroken, Reader

    path = session / "trace.jsonl"
    if not path.is_file():
        return f"there is no session in {session} (no trace.jsonl)."
    try:
        for _, record in Reader(path).poll():
            folded.apply(record, str(session))
    except LogBroken as broken:
        return f"{session}: {broken} What stands before is counted."
    except OSError as error:
        return f"{session} cannot be read: {error.strerror}."
    return ""


def _load(session: str, blob: "Blob") -> bytes | None:
    """The bytes of a blob, None when they are too many, altered or gone."""
    from vera.store import Store, StoreError

    store = Store(Path(session) / "store")
    try:
        if store.path(blob.sha256).stat().st_size > MAX_FINDINGS:
            return None
        return store.get(blob.sha256)
    except (StoreError, OSError):
        return None
