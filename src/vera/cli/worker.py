"""`vera worker`: one of the machines that run the tasks of a batch."""

import sys
from pathlib import Path

import click

from vera.cli.allow import allow_input_option, allow_option


@click.command()
@click.option(
    "--engine",
    "url",
    required=True,
    metavar="URL",
    help="The database: postgresql://USER@HOST:5432/DATABASE. Its password: PGPASSWORD or PGPASSFILE.",
)
@click.option(
    "--store",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder that all machines share; the sessions go to runs/ in it.",
)
@click.option(
    "--slots", type=click.IntRange(1, 256), default=4, show_default=True, help="Tasks that run at once here."
)
@click.option(
    "--limit",
    "limits",
    multiple=True,
    metavar="ENDPOINT=N",
    help="Tasks that run at once at this model server, on all machines together; may be repeated.",
)
@click.option(
    "--lease",
    type=click.FloatRange(3, 3600),
    default=60.0,
    show_default=True,
    help="After this many seconds of silence other workers take over its tasks.",
)
@click.option(
    "--warm",
    type=click.IntRange(0, 16),
    expose_value=False,
    help="Does nothing; accepted for older scripts. Each sandbox starts with its task.",
)
@allow_option("a row of the queue")
@allow_input_option("none")
@click.option("--drain", is_flag=True, help="End when nothing is queued and nothing runs, anywhere.")
@click.option(
    "--new-interpreter",
    is_flag=True,
    default=sys.platform != "linux",
    help="Start each attempt with its own interpreter, which takes longer. Always so on macOS.",
)
@click.option("-c", "--config", "overrides", multiple=True, help="KEY=VALUE or FILE.yaml; may be repeated.")
@click.option("-q", "--quiet", is_flag=True, help="Nothing on stderr but errors.")
def worker(
    url: str,
    store: Path,
    slots: int,
    limits: tuple[str, ...],
    lease: float,
    drain: bool,
    new_interpreter: bool,
    allow: tuple[str, ...],
    allow_input: tuple[str, ...],
    overrides: tuple[str, ...],
    quiet: bool,
) -> None:
    """Run what `vera batch --engine` or `vera serve --engine` queued, beside any number of other machines.

    Ctrl-C ends it when what runs is done; a second one, or SIGTERM, stops that at once and puts it back into
    the queue. A worker that dies loses nothing but time: others take over its tasks when its lease is over.
    """
    from vera.cli.batch import clean_batch_errors, limits_of, without_keys
    from vera.cli.cluster import access_to

    with clean_batch_errors():
        from msgspec import structs

        from vera import config
        from vera.batch.runs import documents_folder
        from vera.config.handed import allowed_of

        access = access_to(url, store.resolve())
        from vera.batch.postgres_running import WorkerOptions, run_worker
        from vera.service.attempts import with_jobs

        rest = without_keys(overrides)
        for sentence in config.load(rest).warnings:
            click.echo(f"vera: warning: {sentence}", err=True)
        given = allowed_of(allow, allow_input)
        allowed = structs.replace(given, inputs=(*given.inputs, str(documents_folder(access.base))))
        options = WorkerOptions(
            slots=slots,
            limits=limits_of(limits),
            overrides=rest,
            allowed=allowed,
            lease=lease,
            drain=drain,
            new_interpreter=new_interpreter,
            quiet=quiet,
            jobs=with_jobs(access.base, rest, allowed),
        )
        code = run_worker(access, options, sys.stderr)
    raise SystemExit(code)
