"""`vera completion`: the script that lets a shell complete commands and options."""

import click


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the script that completes the commands and options of 'vera' in your shell.

    Load it where your shell starts, as in the examples. bash must be 4.4 or newer.
    """
    from click.shell_completion import get_completion_class

    from vera.cli import main

    found = get_completion_class(shell)
    assert found is not None
    # The class of bash runs `bash` for its version in source(), and fails on a machine without one.
    made = found(main, {}, "vera", "_VERA_COMPLETE")
    click.echo(made.source_template % made.source_vars(), nl=False)
