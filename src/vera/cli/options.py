"""Options that several commands have: one name and one help for each, and the setting that it sets."""

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

_HOST = re.compile(r"[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\]")

F = TypeVar("F", bound=Callable[..., object])

MODEL = {"model_base_url": "model.base_url", "model_name": "model.name", "model_file": "model.file"}
BUDGET = {
    "max_steps": "run.max_steps",
    "budget_tokens": "budget.tokens",
    "budget_cost": "budget.cost",
    "budget_seconds": "budget.seconds",
    "budget_searches": "budget.searches",
}
"""Option → the setting it sets."""


class Renamed(click.Option):
    """An option with an older name that still works and that the help leaves out."""

    def __init__(self, declared: list[str], *, old: str, **options: Any) -> None:
        super().__init__([*declared, old], **options)
        self._old = old

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        names = self.opts
        try:
            self.opts = [name for name in names if name != self._old]
            return super().get_help_record(ctx)
        finally:
            self.opts = names


def host_names(ctx: click.Context, param: click.Parameter, names: tuple[str, ...]) -> tuple[str, ...]:
    """Names by which a server is called, in small letters. An address with a scheme, a port or a path is
    refused: no request has it as its host."""
    for name in names:
        if not _HOST.fullmatch(name):
            sentence = f"{name[:100]!r} is no name of a host. Give the name alone, such as vera.example.org."
            raise click.BadParameter(sentence, ctx, param)
    return tuple(map(str.lower, names))


def renamed_option(name: str, old: str, **options: Any) -> Callable[[F], F]:
    """An option that was called `old` before."""
    return click.option(name, cls=Renamed, old=old, **options)


_MODEL = (
    click.option(
        "--model-base-url", help="OpenAI-compatible server (http://127.0.0.1:1234), builtin or auto."
    ),
    click.option("--model-name", help="Model to ask for; the loaded one by default."),
    click.option(
        "--model-file", type=click.Path(), help="GGUF file to serve with llama.cpp (extra 'local')."
    ),
)
_BUDGET = {
    "max_steps": click.option(
        "--max-steps", type=int, help="Steps a run may take; 0 is unlimited.  [default: 80]"
    ),
    "budget_tokens": click.option(
        "--budget-tokens", type=int, help="Tokens a run may spend; 0 is unlimited."
    ),
    "budget_cost": click.option(
        "--budget-cost", type=float, help="Cost a run may reach, by the prices in the settings."
    ),
    "budget_seconds": click.option(
        "--budget-seconds", type=float, help="Seconds a run may take; 0 is unlimited."
    ),
    "budget_searches": click.option(
        "--budget-searches", type=int, help="Requests to search engines a run may make; 0 is unlimited."
    ),
}


def model_options(command: F) -> F:
    """`--model-base-url`, `--model-name` and `--model-file`, which set what `MODEL` says."""
    for option in reversed(_MODEL):
        command = option(command)
    return command


def budget_options(*left_out: str) -> Callable[[F], F]:
    """Those of `BUDGET`, but for the options that a command has no use for, or another meaning of."""

    def add(command: F) -> F:
        for name, option in reversed(_BUDGET.items()):
            command = command if name in left_out else option(command)
        return command

    return add


def settings_of(flags: Mapping[str, str], options: Mapping[str, object]) -> dict[str, object]:
    """Setting → value of the options that were given."""
    return {flags[name]: value for name, value in options.items() if name in flags and value is not None}
