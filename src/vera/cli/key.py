"""`vera key`: the public key with which this person's sessions are signed."""

import click


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def key(as_json: bool) -> None:
    """Print your public key (PEM) and its id, to give to those who check your sessions.

    They type 'vera trust add NAME FILE' with it. The key is made when there is none yet.
    """
    from vera.attestation.keys import KeyFileError, load_or_create
    from vera.cli.exit import NOT_READY, clean_errors, stop

    with clean_errors():
        try:
            signer = load_or_create()
        except KeyFileError as error:
            stop(str(error), NOT_READY)
        if as_json:
            from vera.report.printable import printable_json

            click.echo(
                printable_json({"keyid": signer.keyid, "public": signer.public.hex(), "pem": signer.pem})
            )
            return
        click.echo(signer.pem, nl=False)
        click.echo(f"key id {signer.keyid}", err=True)
