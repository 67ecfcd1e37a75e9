"""`vera export`: a session for others: a file that replays, the formats of other programs, or a trace."""

from pathlib import Path

import click

from vera.cli.export_document import FORMATS, format_options, write_document


@click.command()
@click.argument("session", type=click.Path(path_type=Path))
@click.option(
    "--bundle",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The file to write (a zip; it must not exist yet).",
)
@format_options
@click.option("--trajectory", is_flag=True, help="Write the run in mini-swe-agent's trajectory format.")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="With --trajectory: the file to write (it must not exist yet); default: in the session folder.",
)
@click.option(
    "--otlp",
    metavar="URL",
    is_flag=False,
    flag_value="",
    help="Send the run's trace to this OpenTelemetry collector, or without URL to that of the environment.",
)
@click.option("--with-content", is_flag=True, help="With --otlp: send prompts, replies and results too.")
def export(
    session: Path,
    bundle: Path | None,
    trajectory: bool,
    output: Path | None,
    otlp: str | None,
    with_content: bool,
    **formats: Path | None,
) -> None:
    """Write a session into one file, or send it to an OpenTelemetry collector.

    --bundle: the answer, log, attestations and every stored byte in one file. Anyone checks it with 'vera
    replay FILE'. Of an execution the sessions of its theses are in it, too. The same session gives the same
    file, byte for byte. The log is in it whole: the question, every prompt and reply, every page that was
    read, and the settings.

    --csl, --ris: the sources that the answer cites, for a reference manager. --docx, --pdf: the answer to
    send to someone. --claim-review: the verdict on each claim. --warc: every page that was fetched. Each says
    the word for how strongly the answer is proved. Markdown and HTML: 'vera report'.

    --trajectory: the main lane's messages as mini-swe-agent writes them, for its inspector and similar tools,
    with every candidate and why one was chosen.

    --otlp: the run as a tree of spans, over OTLP/HTTP. A key for the collector is taken from the environment
    variable OTEL_EXPORTER_OTLP_HEADERS. The same log gives the same ids, so it can be sent again.
    """
    from vera.cli.exit import clean_errors

    chosen = [(name, file) for name in FORMATS if (file := formats[name.replace("-", "_")]) is not None]
    if [bundle is not None, trajectory, otlp is not None].count(True) + len(chosen) != 1:
        names = ", ".join(f"--{name}" for name in ("bundle", *FORMATS))
        raise click.UsageError(f"Say what to export, one at a time: {names} FILE, --trajectory, --otlp URL.")
    _insist_on_match(output, trajectory, otlp, with_content)
    with clean_errors():
        if bundle is not None:
            _bundle(session, bundle)
        for name, file in chosen:
            write_document(session, name, file)
        if trajectory:
            from vera.cli.export_trajectory import write

            write(session, output)
        if otlp is not None:
            from vera.cli.export_otlp import send

            send(session, otlp, with_content)


def _insist_on_match(output: Path | None, trajectory: bool, otlp: str | None, with_content: bool) -> None:
    """Raises UsageError for an option of another export."""
    if output is not None and not trajectory:
        raise click.UsageError("--output goes with --trajectory.")
    if with_content and otlp is None:
        raise click.UsageError("--with-content goes with --otlp.")


def _bundle(session: Path, bundle: Path) -> None:
    from vera.attestation.bundle import BundleError, pack
    from vera.attestation.replay import NoSession
    from vera.cli.exit import ERROR, stop

    try:
        packed = pack(session, bundle)
    except (BundleError, NoSession) as error:
        stop(str(error), ERROR)
    click.echo(f"{bundle}: {packed.members} files, {packed.size / 1e6:.1f} MB.")
    if packed.missing:
        click.echo(
            f"vera: {len(packed.missing)} blobs that a replay needs are not in the session; "
            "its replay will say MISSING.",
            err=True,
        )
