"""`vera` alone: on a terminal it asks for a question and a folder, and runs what was answered."""

import shlex
import sys
from pathlib import Path

import click

TRIES = 3


def ask_for_question(ctx: click.Context) -> None:
    """Ask for what `vera run` needs and run it. Without a terminal: the help, and exit code 2."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise click.exceptions.NoArgsIsHelpError(ctx)
    question = _answer("Your question (Enter ends): ")
    if not question:
        click.echo("No question was asked. All commands: vera --help", err=True)
        ctx.exit(2)
    folder = _folder()
    options = ["--input-dir", folder] if folder else []
    click.echo(f"This is: {shlex.join(['vera', 'run', question, *options])}\n", err=True)
    command = ctx.command
    assert isinstance(command, click.Group)
    run = command.get_command(ctx, "run")
    assert run is not None
    with run.make_context("run", [*options, "--", question], parent=ctx) as context:
        run.invoke(context)


def _folder() -> str:
    """A folder that exists, '' for none. Three answers that name no folder end the command."""
    for _ in range(TRIES):
        answer = _answer("Folder of documents to answer from (Enter for none): ")
        if not answer or Path(answer).expanduser().is_dir():
            return str(Path(answer).expanduser()) if answer else ""
        click.echo(f"There is no folder {answer}.", err=True)
    raise SystemExit(2)


def _answer(prompt: str) -> str:
    """A line from the terminal. Ctrl-C and the end of the input end the command."""
    from vera.cli.exit import INTERRUPTED, stop

    click.echo(prompt, nl=False, err=True)
    try:
        line = sys.stdin.readline()
    except KeyboardInterrupt:
        stop("interrupted.", INTERRUPTED)
    return line.strip()
