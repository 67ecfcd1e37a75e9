"""`vera config`: the settings in force, and where each was set."""

import json
import os
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import click

from vera.config import ConfigError, Loaded, load, user_config_file
from vera.config.aliases import canonical
from vera.config.errors import plain
from vera.config.schema import Setting, catalogue, sections, value_of, written
from vera.config.suggestions import unknown

if TYPE_CHECKING:
    import yaml


class ConfigCommand(click.Command):
    """Its help ends with the place of the user's settings, which differs between systems."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_epilog(ctx, formatter)
        formatter.write_paragraph()
        formatter.write_text("Your own settings:")
        with formatter.indentation():
            formatter.write(f"{' ' * formatter.current_indent}{user_config_file()}\n")


@click.command(cls=ConfigCommand)
@click.argument("which", metavar="[SECTION|SETTING]", default="")
@click.option(
    "-c",
    "--config",
    "overrides",
    multiple=True,
    metavar="KEY=VALUE|FILE",
    help="Set a value, or read a YAML file.",
)
@click.option("--origin", is_flag=True, help="Say for each value where it was set.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def config(which: str, overrides: tuple[str, ...], origin: bool, as_json: bool) -> None:
    """Print every setting in force, as YAML that vera.yaml could hold; keys are never printed.

    A value comes from the first of these that has it: an option, -c KEY=VALUE, -c FILE, the environment,
    .env and then vera.yaml in this folder, your own settings, the defaults.
    """
    try:
        loaded = load(overrides)
        chosen = _chosen(which)
    except ConfigError as error:
        raise click.UsageError(str(error)) from None
    for warning in loaded.warnings:
        click.echo(f"Warning: {warning}", err=True)
    if as_json:
        click.echo(json.dumps(_tree(loaded, chosen, origin), indent=2, ensure_ascii=False))
    elif origin:
        click.echo(_table(loaded, chosen), color=False if "NO_COLOR" in os.environ else None)
    else:
        click.echo(_yaml(loaded, chosen), nl=False)


def _chosen(which: str) -> list[Setting]:
    """The settings that the argument names. Raises ConfigError if there are none."""
    name = canonical(which)
    inside = f"{name}." if name else ""
    chosen = [each for key, each in catalogue().items() if key == name or key.startswith(inside)]
    if not chosen:
        raise ConfigError(unknown(which))
    return chosen


def _value(loaded: Loaded, setting: Setting) -> object:
    value = value_of(loaded.settings, setting.key)
    if setting.secret:
        return "set" if value else "not set"
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _tree(loaded: Loaded, chosen: list[Setting], origin: bool) -> Mapping[str, Any]:
    """The chosen settings as groups within groups."""
    tree: dict[str, Any] = {}
    for each in chosen:
        branch = tree
        for group in each.section.split("."):
            branch = branch.setdefault(group, {})
        value = _value(loaded, each)
        branch[each.leaf] = {"value": value, "origin": str(loaded.origin[each.key])} if origin else value
    return tree


def _yaml(loaded: Loaded, chosen: list[Setting]) -> str:
    """YAML that can be read back: what is hidden, and what has no use yet, is told in comments."""
    return "\n".join(_lines(_tree(loaded, chosen, origin=False), "")) + "\n"


def _lines(tree: Mapping[str, Any], group: str) -> Iterator[str]:
    """The lines of what a group holds; '' is all of them."""
    for name, value in tree.items():
        key = f"{group}.{name}" if group else name
        if key in sections():
            yield f"{name}:"
            yield from (f"  {line}" if line else "" for line in _lines(value, key))
        elif catalogue()[key].secret:
            yield f"# {name}: {value} (hidden)"
        else:
            yield from _setting(name, value)


def _setting(name: str, value: object) -> list[str]:
    """The lines of a setting."""
    import yaml

    text = yaml.dump({name: value}, Dumper=_dumper(), allow_unicode=True, width=10**6)
    return text.removesuffix("\n").split("\n")


@cache
def _dumper() -> "type[yaml.SafeDumper]":
    """It writes a text of several lines as it is read, where YAML can."""
    import yaml

    class Dumper(yaml.SafeDumper):
        pass

    def text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
        style = "|" if "\n" in value else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    Dumper.add_representer(str, text)
    return Dumper


def _table(loaded: Loaded, chosen: list[Setting]) -> str:
    rows = [
        (each.key, written(_value(loaded, each)), plain(str(loaded.origin[each.key]), 300)) for each in chosen
    ]
    first, second = (max(len(row[column]) for row in rows) for column in (0, 1))
    return "\n".join(
        f"{key:<{first}}  {value:<{second}}  {click.style(where, dim=where == 'default')}"
        for key, value, where in rows
    )
