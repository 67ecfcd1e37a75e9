"""`vera export --otlp`: what a person reads of it."""

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vera.cli.exit import ERROR, NOT_READY, USAGE, stop
from vera.extras import install_command

if TYPE_CHECKING:
    from vera.export.otlp import Export


def send(session: Path, url: str, with_content: bool) -> None:
    """Send the session's trace; what was sent goes to stdout, what went wrong to stderr.

    Ends the command with exit code 1 when not all of it arrived.
    """
    from vera.export.otlp_endpoint import EndpointError, endpoint

    if not (session / "trace.jsonl").is_file():
        stop(f"there is no session in {session} (no trace.jsonl).", ERROR)
    try:
        to = endpoint(url, os.environ)
    except EndpointError as error:
        stop(str(error), USAGE)
    try:
        from vera.export.otlp import ExportFailed, export
    except ModuleNotFoundError as missing:
        if not (missing.name or "").startswith(("google", "opentelemetry")):
            raise
        stop(f"the export needs the extra 'otel'. Type: {install_command('otel')}", NOT_READY)
    if to.warning:
        _say(to.warning)
    try:
        done = asyncio.run(export(session, to, with_content=with_content))
    except ExportFailed as failed:
        if failed.done.spans:
            _say(f"{failed.done.spans} spans had been taken before.")
        stop(str(failed), ERROR)
    _report(session, done)


def _report(session: Path, done: "Export") -> None:
    from vera.report.printable import printable

    requests = "1 request" if done.requests == 1 else f"{done.requests} requests"
    trace = f", trace {done.trace_id}" if done.trace_id else ""
    click.echo(printable(f"{session}: {done.spans} spans in {requests} to {done.url}{trace}."))
    if done.left_open:
        _say(
            f"The run is under way: {done.left_open} spans that are still open were left out, the run's own "
            "among them. Export it again once it has ended."
        )
    for message in done.messages:
        _say(f"the collector says: {message}.")
    if done.broken:
        _say(f"{done.broken} What stands before was sent.")
    if done.rejected:
        _say(f"the collector rejected {done.rejected} spans.")
    if done.rejected or done.broken:
        raise SystemExit(ERROR)


def _say(sentence: str) -> None:
    from vera.report.printable import printable

    click.echo(f"vera: {printable(sentence)}", err=True)
