"""`vera stack up|down`: the sandbox checked and the dashboard started in the background, and its end."""

import os
import select
import sys
from typing import TextIO

import click

from vera.cli.exit import ERROR, NOT_READY, USAGE, clean_errors, stop

ANSWER_SECONDS = 10.0
"""How long a pipe may say nothing before it counts as one that says nothing."""

MAX_STEPS = 10_000_000
ASKED_TIMES = 3


@click.group()
def stack() -> None:
    """Start or stop the dashboard in the background, with the sandbox checked first."""


@stack.command()
@click.option("--base-dir", type=click.Path(), help="Folder that holds the sessions, under work/.")
@click.option("--host", help="Address to listen at.  [default: 127.0.0.1]")
@click.option("--port", type=int, help="Port to listen at.  [default: 8844]")
@click.option("--max-steps", type=int, help="Do not ask for the step budget; 0 is unlimited.")
@click.option("-c", "--config", "overrides", multiple=True, help="KEY=VALUE or FILE.yaml; may be repeated.")
def up(
    base_dir: str | None,
    host: str | None,
    port: int | None,
    max_steps: int | None,
    overrides: tuple[str, ...],
) -> None:
    """Ask for the step budget of runs, check the sandbox with a real start, start the dashboard.

    The budget is asked for on a terminal, or read from a pipe: 1 is unlimited, 2 is followed by a number.
    With neither it is MAX_STEPS, or the default. It counts for runs that are started in the dashboard.

    Exit code 5 when the sandbox that was asked for, or the dashboard, cannot be started.
    """
    with clean_errors():
        from vera import config
        from vera.cli import stack_up
        from vera.cli.stack_process import StackError

        flags = {
            "run.base_dir": base_dir,
            "run.max_steps": max_steps,
            "dashboard.host": host,
            "dashboard.port": port,
        }
        settings = config.load(overrides, flags).settings
        base = settings.run.base_dir.resolve()
        if not base.is_dir():
            stop(f"there is no folder {base}.", USAGE)
        try:
            stack_up.refuse_second(base)
            steps = max_steps if max_steps is not None else ask_steps(settings.run.max_steps)
            shown = settings.run.max_steps if steps is None else steps
            click.echo(f"Step budget of runs: {shown or 'unlimited'}")
            click.echo(f"Sandbox: {stack_up.check_sandbox(settings.sandbox)}")
            click.echo(stack_up.start(base, settings.dashboard, steps))
        except StackError as error:
            stop(str(error), NOT_READY)


@stack.command()
@click.option("--base-dir", type=click.Path(), help="The folder that it was started for.")
@click.option("--keep-runs", is_flag=True, help="Let runs that were started in the dashboard go on.")
@click.option("-c", "--config", "overrides", multiple=True, help="KEY=VALUE or FILE.yaml; may be repeated.")
def down(base_dir: str | None, keep_runs: bool, overrides: tuple[str, ...]) -> None:
    """Stop the dashboard that 'vera stack up' started, its runs, and their sandboxes.

    Runs finish with what is known, and 'vera resume' goes on with them. Nothing else is touched.
    """
    with clean_errors():
        from vera import config
        from vera.cli import stack_down
        from vera.cli.stack_process import StackError

        base = config.load(overrides, {"run.base_dir": base_dir}).settings.run.base_dir.resolve()
        try:
            for line in stack_down.stop_all(base, keep_runs=keep_runs):
                click.echo(line)
        except StackError as error:
            stop(str(error), ERROR)


def ask_steps(configured: int, stream: TextIO | None = None) -> int | None:
    """The steps that runs may take as answered on `stream` (stdin), 0 for unlimited; None without an answer,
    which leaves it at what is `configured`."""
    stream = sys.stdin if stream is None else stream
    if stream is None or stream.closed:
        return None
    for _ in range(ASKED_TIMES if stream.isatty() else 1):
        answer = _answer_of_person(stream, configured) if stream.isatty() else _piped(stream)
        if not answer.strip():
            return None
        if (steps := steps_of(answer)) is not None:
            return steps
        click.echo("That is neither 1, nor 2 and a whole number.", err=True)
    raise click.UsageError(
        f"The step budget is 1 for unlimited, or 2 and a whole number from 1 to {MAX_STEPS}: "
        "printf '2\\n30\\n' | bash start_stack.sh, or MAX_STEPS=30 in the environment."
    )


def _answer_of_person(stream: TextIO, configured: int) -> str:
    shown = configured or "unlimited"
    click.echo(f"Step budget of runs: 1 = unlimited, 2 = a number, Enter = {shown}: ", nl=False, err=True)
    answer = stream.readline()
    if answer.strip() == "2":
        click.echo("How many steps: ", nl=False, err=True)
        answer = "2 " + stream.readline()
    return answer


def _piped(stream: TextIO) -> str:
    """The first two lines. A pipe that stays open and says nothing is not waited for."""
    try:
        descriptor = stream.fileno()
    except OSError:  # no real file: a test's, or a notebook's
        return stream.read(1000)
    said = b""
    while len(said) < 1000 and said.count(b"\n") < 2 and said.strip() != b"1":
        if not select.select([descriptor], [], [], ANSWER_SECONDS)[0]:
            break
        if not (more := os.read(descriptor, 1000)):
            break
        said += more
    return said.decode("utf-8", "replace")


def steps_of(answer: str) -> int | None:
    """The steps of an answer: `1` is unlimited (0), `2 30` thirty; None for anything else."""
    match answer.split():
        case ["1", *_]:
            return 0
        case ["2", number, *_] if number.isascii() and number.isdigit() and len(number) <= 8:
            return int(number) if 0 < int(number) <= MAX_STEPS else None
        case _:
            return None
