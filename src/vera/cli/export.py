"""`vera export`: a session as one file that replays on another machine."""

from pathlib import Path

import click


@click.command()
@click.argument("session", type=click.Path(path_type=Path))
@click.option(
    "--bundle",
    metavar="FILE",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="The file to write (a zip; it must not exist yet).",
)
def export(session: Path, bundle: Path) -> None:
    """Write a session with its answer, log, attestations and every stored byte into one file.

    Anyone checks it with 'vera replay FILE'. The same session gives the same file, byte for byte. The log is
    in it whole: the question, every prompt and reply, every page that was read, and the settings.
    """
    from vera.attestation.bundle import BundleError, pack
    from vera.attestation.replay import NoSession
    from vera.cli.exit import ERROR, clean_errors, stop

    with clean_errors():
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
