"""`vera plugins`: which plugins are installed, and which of them runs load."""

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vera.plugins.installed import Installed


@click.command()
@click.option("-c", "--config", "overrides", multiple=True, help="KEY=VALUE or FILE.yaml; may be repeated.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def plugins(overrides: tuple[str, ...], as_json: bool) -> None:
    """List the plugins that are installed, of whatever family, and which of them a run loads.

    Nothing is imported. A plugin is loaded when you enable it by name: --plugin NAME, or plugins.enabled in
    your own settings. It then runs on this machine with your rights.
    """
    from vera.cli.exit import clean_errors

    with clean_errors():
        from vera import config
        from vera.agent.rules import listed
        from vera.plugins.installed import installed
        from vera.report.printable import printable, printable_json

        enabled = frozenset(listed(config.load(overrides).settings.plugins.enabled))
        found = installed()
        if as_json:
            click.echo(printable_json([_row(each, enabled) for each in found]))
            return
        for line in _lines(found, enabled):
            click.echo(printable(line))


def _row(plugin: "Installed", enabled: frozenset[str]) -> dict[str, Any]:
    from vera.plugins.installed import sha256_of

    return {
        "group": f"vera.{plugin.family}",
        "name": plugin.name,
        "distribution": plugin.distribution,
        "version": plugin.version,
        "enabled": plugin.name in enabled,
        "module": plugin.module,
        "sha256": sha256_of(plugin.module),
    }


def _lines(found: "tuple[Installed, ...]", enabled: frozenset[str]) -> "Iterator[str]":
    if not found:
        yield "No plugins are installed. How to write one: docs/how-to/write-a-plugin.md"
        return
    cells = [_cells(_row(each, enabled)) for each in found]
    widths = [max(len(cell[at]) for cell in cells) for at in range(4)]
    for cell in cells:
        yield "  ".join([*(part.ljust(width) for part, width in zip(cell, widths, strict=False)), cell[4]])
    if strangers := sorted(enabled - {each.name for each in found}):
        yield f"Enabled, and not installed: {', '.join(strangers)}. A run with them does not start."


def _cells(row: dict[str, Any]) -> tuple[str, str, str, str, str]:
    return (
        row["group"],
        row["name"],
        f"{row['distribution']} {row['version']}",
        "enabled" if row["enabled"] else "not enabled",
        row["sha256"][:16],
    )
