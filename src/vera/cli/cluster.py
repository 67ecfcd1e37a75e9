"""The options of the commands that work with a cluster, and the way to it that they name."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

if TYPE_CHECKING:
    from vera.batch.postgres_running import Access

F = TypeVar("F", bound=Callable[..., object])

LOCAL = "local"


def engine_option(command: F) -> F:
    """`--engine URL`: where the tasks or jobs are run."""
    return click.option(
        "--engine",
        default=LOCAL,
        show_default=True,
        metavar="URL",
        help="local, or the database of a cluster: postgresql://USER@HOST:5432/DATABASE. Its password: "
        "PGPASSWORD or PGPASSFILE.",
    )(command)


def access_to(url: str, base: Path) -> "Access":
    """The way to a cluster. Warns of a password in the address, and takes that of the environment: what this
    process starts does not inherit it.

    Raises BatchError: 2 for what is no address, 5 when the extra is missing.
    """
    from vera.batch.postgres_url import Address, password_warning, take_password

    if warning := password_warning(url):
        click.echo(f"vera: warning: {warning}", err=True)
    password = take_password()
    Address(url, password)  # what is wrong with it is said before anything is loaded for it

    from vera.batch.postgres_running import Access

    return Access(url=url, base=base, password=password)
