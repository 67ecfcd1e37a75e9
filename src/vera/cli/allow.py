"""The options by which a person lets someone else set what is theirs to set."""

from collections.abc import Callable
from typing import TypeVar

import click

F = TypeVar("F", bound=Callable[..., object])


def allow_option(who: str) -> Callable[[F], F]:
    """`--allow KEY=VALUE`, for `who` ("a task")."""
    return click.option(
        "--allow",
        multiple=True,
        metavar="KEY=VALUE",
        help=f"Let {who} set this, which otherwise only you may set so; may be repeated.",
    )


def allow_input_option(default: str) -> Callable[[F], F]:
    """`--allow-input DIR`; `default` says which folder it is where it is not given."""
    return click.option(
        "--allow-input",
        multiple=True,
        type=click.Path(),
        metavar="DIR",
        help=f"Folder in which the input folders of tasks may lie; may be repeated.  [default: {default}]",
    )
