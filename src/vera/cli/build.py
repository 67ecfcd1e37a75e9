"""`vera build`: the image of the docker sandbox."""

import asyncio

import click


@click.command()
@click.option("--base-image", help="Debian or Ubuntu image to build on, from this machine or its registry.")
@click.option("--browser", is_flag=True, help="Build the image with a browser, for fetch --render.")
@click.option("--no-cache", is_flag=True, help="Build every layer again, with today's packages.")
@click.option("-c", "--config", "overrides", multiple=True, help="KEY=VALUE or FILE.yaml; may be repeated.")
@click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
def build(
    base_image: str | None, browser: bool, no_cache: bool, overrides: tuple[str, ...], quiet: bool
) -> None:
    """Build the image of the docker sandbox and print its name.

    A run builds it by itself when it is missing. Its name tells its content: another version of VERA, base
    image or certificate authority of this machine is another image. With --browser, the image that pages
    are rendered in is built on it: no run does that by itself. Exit code 5 when it cannot be built.
    """
    from vera.cli.exit import NOT_READY, clean_errors, stop

    with clean_errors():
        from vera import config
        from vera.cli.progress import Progress
        from vera.sandbox.image import build_browser_image, build_image
        from vera.sandbox.types import BoxError

        settings = config.load(overrides, {"sandbox.base_image": base_image}).settings.sandbox

        class Lines(Progress):
            """Here the engine's own lines are what is wanted: each of them stays."""

            def now(self, line: str) -> None:
                self.say(line)

        progress = Lines(quiet=quiet)
        try:
            make = build_browser_image if browser else build_image
            name = asyncio.run(make(settings.base_image, progress, no_cache=no_cache))
        except BoxError as error:
            stop(f"{error} Next: {error.hint}" if error.hint else str(error), NOT_READY)
    click.echo(name)
