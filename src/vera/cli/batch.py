"""`vera batch`: many tasks, each a separate session."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from vera.cli.allow import allow_input_option, allow_option
from vera.cli.cluster import LOCAL, access_to, engine_option
from vera.cli.inputs import SOURCES, connector_option, input_option, take_sources
from vera.cli.options import BUDGET, MODEL, budget_options, model_options, settings_of

if TYPE_CHECKING:
    from vera.batch.runs import Runs
    from vera.batch.task import BatchTask
    from vera.config.handed import Scalar

F = TypeVar("F", bound=Callable[..., object])

SUBCOMMANDS = ("run", "status", "requeue", "cancel")
DEFAULT = "run"
SHORTEST_ID = 6


class Batch(click.Group):
    """A group whose command may be left out: what names none of them is the file of `run`."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in SUBCOMMANDS:
            args = [DEFAULT, *args]
        return super().resolve_command(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Those of `run`, as the group has none."""
        self.commands[DEFAULT].format_options(ctx, formatter)
        self.format_commands(ctx, formatter)


@click.group(
    cls=Batch,
    subcommand_metavar="TASKS.jsonl | COMMAND ...",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
def batch() -> None:
    """Run many tasks, each in its own session; what is done is never run again.

    A line of TASKS.jsonl is {"task": "…"} to answer a question or {"thesis": "…"} to verify one, with
    "input_dir", "settings" ({"run.max_steps": 20}) and "name" where wanted. The same command again goes on
    with what is not done. The exit code is the worst of the tasks': 1, 5, 4, 6, 3, 0; 2 when the file is
    wrong, 130 when interrupted.
    """


def _common(command: F) -> F:
    base = click.option("--base-dir", type=click.Path(), help="Folder that holds the runs, under runs/.")
    as_json = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
    return engine_option(base(as_json(command)))


def _overrides(command: F) -> F:
    return click.option(
        "-c", "--config", "overrides", multiple=True, help="KEY=VALUE or FILE.yaml; may be repeated."
    )(command)


@batch.command()
@click.argument("tasks", metavar="TASKS.jsonl", type=click.Path(path_type=Path))
@click.option(
    "--slots", type=click.IntRange(1, 256), default=4, show_default=True, help="Tasks that run at once."
)
@click.option(
    "--limit",
    "limits",
    multiple=True,
    metavar="ENDPOINT=N",
    help="Tasks that run at once at this model server (its base URL, builtin, file or auto); may be "
    "repeated.",
)
@click.option(
    "--warm",
    type=click.IntRange(0, 16),
    expose_value=False,
    help="Does nothing; accepted for older scripts. Each sandbox starts with its task.",
)
@click.option(
    "--require",
    type=click.Choice(["verified"]),
    help="A task whose answer is less than VERIFIED ends with exit code 3.",
)
@model_options
@budget_options()
@input_option("for each task that names no input")
@connector_option
@allow_option("a task")
@allow_input_option("that of the file")
@click.option("--no-wait", is_flag=True, help="With --engine: queue the tasks, and end.")
@click.option("--retry-failed", is_flag=True, help="Run tasks again that failed before.")
@click.option(
    "--new-interpreter",
    is_flag=True,
    default=sys.platform != "linux",
    help="Start each attempt with its own interpreter, which takes longer. Always so on macOS.",
)
@_common
@_overrides
@click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
def run(
    tasks: Path,
    base_dir: str | None,
    overrides: tuple[str, ...],
    limits: tuple[str, ...],
    as_json: bool,
    engine: str,
    require: str | None,
    no_wait: bool,
    allow: tuple[str, ...],
    allow_input: tuple[str, ...],
    inputs: tuple[str, ...],
    connector: tuple[str, ...],
    **options: Any,
) -> None:
    """Run the tasks of a file that are not done.

    Ctrl-C lets running tasks end the step that they are in and begins no other; a second stops them at
    once. Either way the same command goes on from there.

    With --engine URL the tasks are queued for `vera worker` and waited for. --base-dir is then the folder
    that all machines share, and Ctrl-C ends the waiting only. Budgets, --require and --input go with each
    task; the model and -c are the worker's, and here say only at which endpoint a limit counts.
    """
    with clean_batch_errors():
        from vera.batch.running import Options, read, run_batch
        from vera.config.handed import allowed_of

        base = base_of(base_dir, overrides)
        flags = {name: options.pop(name) for name in (*MODEL, *BUDGET)} | {"require": require}
        set_by_flag = settings_of({**MODEL, **BUDGET, "require": "verification.require"}, flags)
        if inputs or connector:
            if engine != LOCAL:
                _refuse_elsewhere(inputs, connector)
            given = {"inputs": inputs, "connector": connector}
            set_by_flag |= _documents(given, base, overrides, quiet=options["quiet"])
        options["overrides"] = without_keys((*overrides, *(f"{k}={v}" for k, v in set_by_flag.items())))
        # Without that folder there is no task file either, which is what the person is told.
        beside = (tasks.parent,) if tasks.parent.is_dir() else ()
        allowed = allowed_of(allow, allow_input or beside)
        chosen = Options(limits=limits_of(limits), allowed=allowed, **options)
        listed = read(tasks, options["overrides"], allowed)
        if engine == LOCAL:
            code, summary = run_batch(listed, base, chosen, sys.stderr)
        else:
            access = access_to(engine, base)
            from vera.batch.postgres_running import submit_batch
            from vera.batch.task_file import carrying

            listed = carrying(listed, carried_of(set_by_flag), str(set_by_flag.get("run.input_dir", "")))
            code, summary = submit_batch(listed, access, chosen, sys.stderr, wait=not no_wait)
    _print(summary, as_json)
    raise SystemExit(code)


def _refuse_elsewhere(inputs: Sequence[str], connectors: Sequence[str]) -> None:
    """End the command where other machines run the tasks: they do not see what is fetched to this one."""
    from vera.agent.inputs import is_address
    from vera.cli.exit import USAGE, stop

    if connectors or any(map(is_address, inputs)):
        stop(
            "--connector and web pages are fetched to this machine, and with --engine others run the tasks. "
            'Name the folder in each task ("input_dir"), or give each worker -c run.input_dir=DIR.',
            USAGE,
        )


def _documents(
    given: dict[str, Any], base: Path, overrides: Sequence[str], *, quiet: bool
) -> dict[str, object]:
    """The settings by which each task reads what was given: it is gathered once, for all of them."""
    import asyncio

    from vera.config import load
    from vera.report.printable import one_printable_line
    from vera.runtime.connectors import connect, sources_of

    take_sources(given)

    def say(line: str) -> None:
        if not quiet:
            click.echo(one_printable_line(line), err=True)

    wanted = {SOURCES[name]: value for name, value in given.items()}
    settings = load(overrides, {"run.base_dir": str(base), **wanted}).settings
    folder = asyncio.run(connect(settings, sources_of(settings), say)).settings.run.input_dir
    assert folder is not None
    return {"run.input_dir": folder.resolve(), "run.inputs": "", "connectors.use": ""}


@batch.command()
@_common
@_overrides
def status(base_dir: str | None, overrides: tuple[str, ...], as_json: bool, engine: str) -> None:
    """Show where every task under a base folder stands; with --engine URL also who works, on stderr.

    Exit code 0, whatever the tasks came to.
    """
    with clean_batch_errors():
        from vera.batch.runs import Runs
        from vera.batch.summary import summary_of

        base = base_of(base_dir, overrides)
        if engine == LOCAL:
            runs = Runs(_existing(base))
            summary = summary_of(runs, list(runs.tasks()), live=runs.is_locked())
        else:
            access = access_to(engine, base)
            from vera.batch.postgres_running import look, said_of

            summary, workers = look(access)
            click.echo(said_of(workers), err=True)
    _print(summary, as_json)


@batch.command()
@click.argument("names", metavar="[TASK]...", nargs=-1)
@_common
@_overrides
def requeue(
    names: tuple[str, ...], base_dir: str | None, overrides: tuple[str, ...], as_json: bool, engine: str
) -> None:
    """Open tasks again that failed, are held or were cancelled; without TASK all of them.

    A TASK is a name, or the beginning of an id. The next `vera batch TASKS.jsonl` runs them; with --engine
    URL they are queued at once.
    """
    _mark(names, base_dir, overrides, "requeued", ("failed", "held", "cancelled"), as_json, engine)


@batch.command()
@click.argument("names", metavar="[TASK]...", nargs=-1)
@click.option("--all", "every", is_flag=True, help="Everything that is not done.")
@_common
@_overrides
def cancel(
    names: tuple[str, ...],
    every: bool,
    base_dir: str | None,
    overrides: tuple[str, ...],
    as_json: bool,
    engine: str,
) -> None:
    """Do not run tasks that are open; one that is running is stopped.

    A TASK is a name, or the beginning of an id. `vera batch requeue` opens them again.
    """
    from vera.cli.exit import USAGE, stop

    if bool(names) == every:
        stop("name the tasks to cancel, or give --all, not both.", USAGE)
    _mark(names, base_dir, overrides, "cancelled", ("open", "running", "failed", "held"), as_json, engine)


def _mark(
    names: Sequence[str],
    base_dir: str | None,
    overrides: Sequence[str],
    kind: str,
    states: Sequence[str],
    as_json: bool,
    engine: str,
) -> None:
    with clean_batch_errors():
        from vera.attestation.report import counted
        from vera.batch.runs import Runs
        from vera.batch.status import standing
        from vera.report.printable import printable_json

        base = _existing(base_of(base_dir, overrides))
        runs = Runs(base)
        chosen = [task.id for task in _chosen(runs, names)]
        if engine == LOCAL:
            runs.refuse_cluster()
            live, marked = runs.is_locked(), []
            for task in chosen:
                if standing(runs.history(task), live=live).state in states:
                    runs.set_mark(task, kind)
                    marked.append(task)
        else:
            access = access_to(engine, base)
            from vera.batch.postgres_running import mark

            marked = mark(access, chosen, kind)
    if as_json:
        click.echo(printable_json({kind: marked}))
    else:
        click.echo(f"{counted(len(marked), 'task')} {kind}")


def _chosen(runs: "Runs", names: Sequence[str]) -> "list[BatchTask]":
    """The tasks of these names or beginnings of ids, all for none. Ends the command for an unknown one."""
    from vera.cli.exit import USAGE, stop

    tasks = list(runs.tasks())
    if not names:
        return tasks
    chosen = []
    for name in names:
        found = [
            task
            for task in tasks
            if task.name == name or (len(name) >= SHORTEST_ID and task.id.startswith(name))
        ]
        if not found:
            stop(f"there is no task {name!r} under {runs.root}. See: vera batch status", USAGE)
        chosen += found
    return chosen


def _print(summary: Any, as_json: bool) -> None:
    from vera.batch.summary import as_dict
    from vera.batch.summary_text import summary_text
    from vera.report.printable import printable, printable_json

    click.echo(printable_json(as_dict(summary)) if as_json else printable(summary_text(summary)))


def base_of(base_dir: str | None, overrides: Sequence[str]) -> Path:
    from vera import config

    return config.load(overrides, {"run.base_dir": base_dir}).settings.run.base_dir.resolve()


def _existing(base: Path) -> Path:
    """The base folder. Ends the command where there is none."""
    from vera.cli.exit import USAGE, stop

    if not base.is_dir():
        stop(f"there is no folder {base}. Name the base folder of the batch with --base-dir.", USAGE)
    return base


def carried_of(settings: Mapping[str, object]) -> "dict[str, Scalar]":
    """Of the settings of options, those that go with each task to the workers of a cluster: budgets and what
    an answer must be. Which model is asked is a worker's own."""
    names = {*BUDGET.values(), "verification.require"}
    return {
        key: value for key, value in settings.items() if key in names and isinstance(value, str | int | float)
    }


def limits_of(texts: Sequence[str]) -> dict[str, int]:
    """Endpoint → how many tasks may run there. Ends the command for anything else."""
    from vera.batch.task_settings import endpoint_of
    from vera.cli.exit import USAGE, stop
    from vera.model.types import ModelError

    limits = {}
    for text in texts:
        endpoint, _, number = text.rpartition("=")
        if not endpoint or not number.isascii() or not number.isdigit() or not 1 <= int(number[:9]) <= 1000:
            stop(f"--limit {text!r} is not ENDPOINT=N. An example: --limit http://127.0.0.1:1234=4", USAGE)
        try:
            limits[endpoint_of(endpoint)] = int(number)
        except ModelError as error:
            stop(f"--limit {text!r}: {error}", USAGE)
    return limits


def without_keys(overrides: Sequence[str]) -> tuple[str, ...]:
    """The overrides with each key replaced by a reference to the environment, in which the attempts find it:
    a key never is in an argument. An empty text, which says that no key is sent, stays."""
    import os

    from vera.config import resolve_secret
    from vera.config.aliases import canonical
    from vera.config.schema import catalogue

    rest = []
    for text in overrides:
        key, equals, value = text.partition("=")
        setting = catalogue().get(canonical(key)) if equals else None
        if setting is not None and setting.secret:
            secret, warning = resolve_secret(value, os.environ)
            if secret:
                os.environ[setting.own_env] = secret.get_secret_value()
                text = f"{setting.key}=env:{setting.own_env}"
            if warning:
                click.echo(f"vera: warning: {warning}", err=True)
        rest.append(text)
    return tuple(rest)


@contextmanager
def clean_batch_errors() -> Iterator[None]:
    from vera.batch.errors import BatchError
    from vera.cli.exit import clean_errors, stop

    with clean_errors():
        try:
            yield
        except BatchError as error:
            stop(str(error), error.exit_code)
