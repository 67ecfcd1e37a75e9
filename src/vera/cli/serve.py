"""`vera serve`: VERA over HTTP."""

import logging
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vera.cli.cluster import LOCAL, access_to, engine_option
from vera.cli.options import (
    BUDGET,
    MODEL,
    budget_options,
    host_names,
    model_options,
    renamed_option,
    settings_of,
)

if TYPE_CHECKING:
    from vera.service.engine import Engine
    from vera.service.terms import Terms

LOOPBACK = ("127.0.0.1", "::1", "localhost")
FLAGS = {
    **MODEL,
    **BUDGET,
    "egress": "egress.mode",
    "verifier": "verification.rule",
}


@click.command()
@click.option("--base-dir", type=click.Path(), help="Folder that holds what the service keeps, under serve/.")
@click.option(
    "--input-root",
    "roots",
    multiple=True,
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Folder of documents that a request may name; may be repeated.",
)
@click.option("--allow-egress", is_flag=True, help="Let requests ask for the web.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen at.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8855,
    show_default=True,
    help="Port to listen at; 0 is any.",
)
@click.option("--token-file", type=click.Path(path_type=Path), help="File of tokens (see vera token).")
@click.option("--allow-remote", is_flag=True, help="Listen at an address that other machines can reach.")
@click.option(
    "--allow-host",
    "names",
    callback=host_names,
    multiple=True,
    metavar="NAME",
    help="A name by which the service may be called, such as that of a proxy; may be repeated.",
)
@renamed_option(
    "--slots",
    "--jobs",
    type=click.IntRange(1, 64),
    help="Jobs that run at one time.  [default: 2]",
)
@click.option(
    "--queue", type=click.IntRange(1, 10_000), default=100, show_default=True, help="Jobs that may wait."
)
@renamed_option(
    "--budget-seconds",
    "--max-seconds",
    type=click.FloatRange(1, 604_800),
    default=3600.0,
    show_default=True,
    help="Seconds a job may take.",
)
@engine_option
@budget_options("budget_seconds")
@model_options
@click.option(
    "--egress",
    type=click.Choice(["auto", "none", "allowlist", "public"]),
    help="What of the web may be reached, with --allow-egress.",
)
@click.option(
    "--verifier",
    type=click.Choice(["auto", "model", "entailment", "literal"]),
    help="Who says what a span means.  [default: auto]",
)
@click.option("-c", "--config", "overrides", multiple=True, help="KEY=VALUE or FILE.yaml; may be repeated.")
def serve(
    base_dir: str | None,
    roots: tuple[Path, ...],
    allow_egress: bool,
    host: str,
    port: int,
    token_file: Path | None,
    allow_remote: bool,
    names: tuple[str, ...],
    slots: int | None,
    queue: int,
    budget_seconds: float,
    engine: str,
    overrides: tuple[str, ...],
    **options: Any,
) -> None:
    """Serve verification, research and checks over HTTP.

    Whoever has a token ('vera token add NAME') may ask for what its scope names, over the folders that
    --input-root names. Ctrl-C ends the service; jobs that run go on, and the next start finds them.
    With --engine URL the workers of a cluster run the jobs ('vera worker'), whose --store is the base folder.
    """
    from vera.cli.batch import clean_batch_errors
    from vera.cli.exit import ERROR, NOT_READY, USAGE, stop

    with clean_batch_errors():
        from vera.dashboard.serve import CannotListen, listen
        from vera.service.records import InUse, held
        from vera.service.tokens import TokenError, default_file, read_file

        if host not in LOOPBACK and not allow_remote:
            stop(_not_here_only(host, port), USAGE)
        flags = {name: str(value) for name, value in settings_of(FLAGS, options).items()}
        terms = _terms(overrides, flags, base_dir, roots, egress=allow_egress, seconds=budget_seconds)
        path = default_file() if token_file is None else token_file
        logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="vera serve: %(message)s")
        try:
            if not path.exists() or not read_file(path):
                stop("There is no token yet, so no one could ask. Type: vera token add NAME", NOT_READY)
            with held(terms.base), listen(host, port) as listening:
                _answer(_engine(terms, engine, slots), terms, path, listening, host, names, queue=queue)
        except (TokenError, CannotListen, InUse) as error:
            stop(str(error), ERROR)


def _terms(
    overrides: tuple[str, ...],
    flags: dict[str, str],
    base_dir: str | None,
    roots: tuple[Path, ...],
    *,
    egress: bool,
    seconds: float,
) -> "Terms":
    """What the options allow. Raises ConfigError."""
    from vera import config
    from vera.agent.effort import with_effort
    from vera.service.terms import Terms, insist_on_isolation, named_roots

    loaded = config.load(overrides, {**flags, "run.base_dir": base_dir})
    for warning in loaded.warnings:
        click.echo(f"vera: warning: {warning}", err=True)
    settings = with_effort(loaded)
    insist_on_isolation(settings)
    base = settings.run.base_dir.resolve()
    return Terms(
        base=base,
        settings=settings,
        overrides=overrides,
        flags=flags,
        roots=named_roots(roots, base),
        egress=egress,
        seconds=seconds,
    )


def _engine(terms: "Terms", url: str, at_once: int | None) -> "Engine":
    """What runs the jobs. Raises BatchError; ends the command where jobs of a cluster would be run twice."""
    from vera.cli.exit import USAGE, stop

    if url == LOCAL:
        from vera.service.processes import Processes
        from vera.service.queued_task import left_in_a_queue

        if (job := left_in_a_queue(terms.base)) is not None:
            stop(
                f"The job {job.name} is in the queue of a cluster, whose workers run it. Name the database "
                "with --engine postgresql://…, or give another --base-dir. When the cluster is gone for "
                f"good, remove {job / 'queued.json'}, and those of other jobs.",
                USAGE,
            )
        return Processes(terms, at_once=at_once or 2)
    if at_once is not None:
        stop(
            "With --engine the slots of the workers count (vera worker --slots N). Leave --slots out.", USAGE
        )
    access = access_to(url, terms.base)
    from vera.batch.postgres_running import insist_on_database
    from vera.service.cluster import Cluster

    insist_on_database(access)
    return Cluster(terms, access)


def _answer(
    engine: "Engine",
    terms: "Terms",
    tokens: Path,
    listening: socket.socket,
    host: str,
    names: tuple[str, ...],
    *,
    queue: int,
) -> None:
    """Serve until a signal ends it."""
    from vera.dashboard.serve import serve as answer
    from vera.service.app import create_app
    from vera.service.jobs import Jobs

    shown = f"[{host}]" if ":" in host else host
    app = create_app(
        Jobs(terms, engine, most_waiting=queue),
        tokens,
        hosts=frozenset({"127.0.0.1", "localhost", "[::1]", shown, *names}),
        any_address=host not in LOOPBACK,
    )
    address = f"http://{shown}:{listening.getsockname()[1]}"
    click.echo(f"VERA serves {terms.base} at:\n  {address}\nCtrl-C ends it; jobs that run go on.")
    answer(app, listening)


def _not_here_only(host: str, port: int) -> str:
    return (
        f"{host} can be reached from other machines, and tokens would cross the network without encryption. "
        f"Better: a proxy with TLS in front of 127.0.0.1:{port} (--allow-host NAME). To listen there all the "
        "same: --allow-remote"
    )
