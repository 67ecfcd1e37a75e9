"""`vera config`: the settings in force, and where each was set."""

import json
import os
from collections.abc import Mapping

import click

from vera.config import ConfigError, Loaded, load, user_config_file
from vera.config.catalogue import Setting, catalogue, sections, unknown, written
from vera.config.errors import plain


class ConfigCommand(click.Command):
    """Its help ends with the place of the person's own settings, which differs between systems."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
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
    chosen = [each for each in catalogue().values() if which in ("", each.section, each.key)]
    if not chosen:
        raise ConfigError(unknown(which))
    return chosen


def _value(loaded: Loaded, setting: Setting) -> object:
    value: object = loaded.settings
    for part in setting.key.split("."):
        value = getattr(value, part)
    if setting.secret:
        return "set" if value else "not set"
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _tree(loaded: Loaded, chosen: list[Setting], origin: bool) -> Mapping[str, Mapping[str, object]]:
    tree: dict[str, dict[str, object]] = {}
    for each in chosen:
        value = _value(loaded, each)
        shown = {"value": value, "origin": str(loaded.origin[each.key])} if origin else value
        tree.setdefault(each.section, {})[each.leaf] = shown
    return tree


def _yaml(loaded: Loaded, chosen: list[Setting]) -> str:
    """YAML that can be read back: what is hidden, and what has no use yet, is told in comments."""
    import yaml

    lines: list[str] = []
    for section, values in _tree(loaded, chosen, origin=False).items():
        if later := sections()[section].later:
            lines.append(f"# used by {later}, which a later version brings")
        lines.append(f"{section}:")
        for leaf, value in values.items():
            if catalogue()[f"{section}.{leaf}"].secret:
                lines.append(f"  # {leaf}: {value} (hidden)")
            else:
                line = yaml.safe_dump({leaf: value}, allow_unicode=True, width=10**6)
                lines.append(f"  {line.rstrip()}")
    return "\n".join(lines) + "\n"


def _table(loaded: Loaded, chosen: list[Setting]) -> str:
    rows = [
        (each.key, written(_value(loaded, each)), plain(str(loaded.origin[each.key]), 300)) for each in chosen
    ]
    first, second = (max(len(row[column]) for row in rows) for column in (0, 1))
    return "\n".join(
        f"{key:<{first}}  {value:<{second}}  {click.style(where, dim=where == 'default')}"
        for key, value, where in rows
    )
