"""`vera export --trajectory`: a run in mini-swe-agent's trajectory format."""

import os
from pathlib import Path

import click


def write(session: Path, path: Path | None) -> None:
    """Write the trajectory of a session, into it or to `path`, which must not exist yet; end by a sentence
    when it cannot be."""
    from vera.agent.spending import spent
    from vera.cli.exit import ERROR, stop
    from vera.report.trajectory import write_trajectory
    from vera.session import check

    try:
        integrity = check(session)
    except FileNotFoundError:
        stop(f"there is no session in {session} (no trace.jsonl).", ERROR)
    if integrity.verdict == "BROKEN":
        stop(f"The session is not whole, so it is not exported: {integrity.sentence}", ERROR)
    if path is not None and os.path.lexists(path):
        stop(f"{path} exists already. Choose another name, or remove it first.", ERROR)
    written = write_trajectory(session, spent, path)
    size = written.stat().st_size
    click.echo(f"{written}: {f'{size / 1e6:.1f} MB' if size >= 1e6 else f'{size / 1e3:.1f} kB'}.")
