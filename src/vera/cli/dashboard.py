"""`vera dashboard`: runs in the browser."""

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vera.cli.allow import allow_option
from vera.cli.options import host_names

if TYPE_CHECKING:
    from vera.config import Settings

FLAGS = {"host": "dashboard.host", "port": "dashboard.port", "base_dir": "run.base_dir"}
LOOPBACK = ("127.0.0.1", "::1", "localhost")


@click.command()
@click.option("--base-dir", type=click.Path(), help="Folder that holds the sessions, under work/.")
@click.option("--host", help="Address to listen at.  [default: 127.0.0.1]")
@click.option("--port", type=click.IntRange(0, 65535), help="Port to listen at; 0 is any.  [default: 8844]")
@click.option("--no-open", is_flag=True, help="Do not open a browser.")
@click.option(
    "--token-file",
    type=click.Path(path_type=Path),
    help="File that holds the token, made if it is not there; one in your user data folder by default.",
)
@click.option("--allow-remote", is_flag=True, help="Listen at an address that other machines can reach.")
@click.option(
    "--allow-host",
    "names",
    callback=host_names,
    multiple=True,
    metavar="NAME",
    help="A name by which the dashboard may be called, such as that of a proxy; may be repeated.",
)
@allow_option("a form of the dashboard")
@click.option("-c", "--config", "overrides", multiple=True, help="KEY=VALUE or FILE.yaml; may be repeated.")
def dashboard(
    no_open: bool,
    token_file: Path | None,
    allow_remote: bool,
    names: tuple[str, ...],
    allow: tuple[str, ...],
    overrides: tuple[str, ...],
    **options: str | int | None,
) -> None:
    """Watch, start and stop runs in the browser.

    Prints the address with its token, which opens everything: keep it to yourself. The token stays the same
    until its file is removed. Ctrl-C ends the dashboard; runs that it started go on.
    """
    from vera.cli.exit import ERROR, USAGE, clean_errors, stop

    with clean_errors():
        from vera.config.handed import allowed_of

        allowed = allowed_of(allow, ())
        port = options["port"]
        settings = _settings(overrides, options)
        host = settings.dashboard.host
        if host not in LOOPBACK and not allow_remote:
            stop(_not_here_only(host, settings.dashboard.port), USAGE)

        from vera.dashboard.app import create_app
        from vera.dashboard.serve import CannotListen, listen, serve
        from vera.dashboard.tokens import TokenFileError, default_file, load_or_create

        path = default_file() if token_file is None else token_file
        try:
            token = load_or_create(path)
            listening = listen(host, settings.dashboard.port if port is None else int(port))
        except (TokenFileError, CannotListen) as error:
            stop(str(error), ERROR)
        with listening:
            shown = f"[{host}]" if ":" in host else host
            hosts = frozenset({"127.0.0.1", "localhost", "[::1]", shown, *names})
            app = create_app(
                settings.run.base_dir,
                token=token,
                hosts=hosts,
                any_address=host not in LOOPBACK,
                allowed=allowed,
            )
            address = f"http://{shown}:{listening.getsockname()[1]}/?token={token}"
            click.echo(f"The dashboard of {settings.run.base_dir.resolve()}:\n  {address}\nCtrl-C ends it.")
            with (
                _browser(address, path.parent) if not no_open and _has_screen() else contextlib.nullcontext()
            ):
                serve(app, listening)


def _settings(overrides: tuple[str, ...], options: Mapping[str, str | int | None]) -> "Settings":
    """The settings with the options; their warnings are shown. Port 0 is no setting."""
    from vera import config

    flags = {FLAGS[name]: value for name, value in options.items()}
    if options["port"] == 0:
        del flags[FLAGS["port"]]
    loaded = config.load(overrides, flags)
    for warning in loaded.warnings:
        click.echo(f"vera: warning: {warning}", err=True)
    return loaded.settings


def _not_here_only(host: str, port: int) -> str:
    return (
        f"{host} can be reached from other machines, and whoever has the token can start runs on this one. "
        f"From another machine, better: 'ssh -L {port}:127.0.0.1:{port} THIS_MACHINE', or a proxy with TLS "
        "in front of 127.0.0.1 (--allow-host NAME). To listen there all the same, without encryption: "
        "--allow-remote"
    )


def _has_screen() -> bool:
    """Whether a person sits at this terminal who has a browser with windows."""
    here = sys.platform == "darwin" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    return bool(here) and sys.stdout.isatty()


@contextlib.contextmanager
def _browser(address: str, folder: Path) -> Iterator[None]:
    """Open the address by a page that only this user can read: others see a browser's command line."""
    import html
    import tempfile
    import webbrowser

    with tempfile.NamedTemporaryFile("w", dir=folder, prefix="open-", suffix=".html") as page:
        page.write(f'<!doctype html><meta http-equiv="refresh" content="0; url={html.escape(address)}">')
        page.flush()
        with contextlib.suppress(webbrowser.Error):
            webbrowser.open(Path(page.name).as_uri())
        yield
