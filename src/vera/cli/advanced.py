"""`vera advanced`: the commands that few people need, in one place."""

import click

from vera.cli import ADVANCED, LazyGroup


@click.group(cls=LazyGroup, listed={"Commands": ADVANCED})
def advanced() -> None:
    """List the commands that few people need, or run one: 'vera advanced bench' is 'vera bench'."""
