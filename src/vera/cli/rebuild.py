"""`vera rebuild`: make a session's ledgers and notes again from its log."""

from pathlib import Path

import click


@click.command()
@click.argument("work_dir", type=click.Path(path_type=Path))
def rebuild(work_dir: Path) -> None:
    """Make notes.md and the ledgers again from trace.jsonl, byte for byte.

    Prints the names of the files that were different.
    """
    from vera.cli.exit import clean_errors

    with clean_errors():
        from vera.session import rebuild as make_again

        changed = make_again(work_dir)
        for name in changed:
            click.echo(f"made again: {name}")
        if not changed:
            click.echo("All files match the log. Nothing was rebuilt.")
