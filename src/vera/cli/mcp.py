"""`vera mcp`: verification as a service for other agents."""

import asyncio
import json
import logging
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vera.cli.options import BUDGET, MODEL, budget_options, model_options
from vera.extras import install_command

if TYPE_CHECKING:
    from vera.config import Settings

FLAGS = {
    "input_dir": "run.input_dir",
    "base_dir": "run.base_dir",
    **MODEL,
    **BUDGET,
    "egress": "egress.mode",
    "verifier": "verification.rule",
}


@click.command()
@click.option("--input-dir", type=click.Path(), help="Folder of documents that may be looked at.")
@click.option("--base-dir", type=click.Path(), help="Folder that holds the sessions, under work/.")
@model_options
@budget_options("max_steps")
@click.option(
    "--egress",
    type=click.Choice(["auto", "none", "allowlist", "public"]),
    help="What of the web may be reached.",
)
@click.option(
    "--verifier",
    type=click.Choice(["auto", "model", "entailment", "literal"]),
    help="Who says what a span means.  [default: auto]",
)
@click.option("-c", "--config", "overrides", multiple=True, help="KEY=VALUE or FILE.yaml; may be repeated.")
@click.option("--print-config", is_flag=True, help="Print the JSON to paste into a client, and end.")
def mcp(overrides: tuple[str, ...], print_config: bool, **options: Any) -> None:
    """Serve verification to another agent over the Model Context Protocol (extra 'mcp').

    Requests come on standard input, answers go to standard output. Three tools are offered: verify_claim,
    check_report and get_evidence; none that searches. Nothing outside of the two folders is read for a
    caller.
    """
    from vera.cli.exit import NOT_READY, clean_errors, stop

    with clean_errors():
        from vera import config
        from vera.agent.effort import with_effort

        loaded = config.load(overrides, {FLAGS[name]: value for name, value in options.items()})
        settings = with_effort(loaded)
        for warning in loaded.warnings:
            click.echo(f"vera: warning: {warning}", err=True)
        folder, base = _folders(settings)
        if print_config:
            click.echo(json.dumps(client_config(settings, folder, base, overrides), indent=2))
            return
        if not (find_spec("mcp") and find_spec("mcp_types")):
            stop(f"the service needs the extra 'mcp'. Type: {install_command('mcp')}", NOT_READY)
        from vera.mcp.server import serve
        from vera.mcp.service import Service

        logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="vera mcp: %(message)s")
        asyncio.run(serve(Service(base=base, input_dir=folder, settings=settings)))


def client_config(
    settings: "Settings", folder: Path | None, base: Path, overrides: tuple[str, ...]
) -> dict[str, object]:
    """What a client needs to start this service as it was asked for here, wherever it runs. No keys."""
    from vera.config.aliases import canonical
    from vera.config.schema import catalogue

    # -P: a client may start it in any folder, and nothing there is to be imported.
    arguments = ["-P", "-m", "vera", "mcp", "--base-dir", str(base)]
    if folder is not None:
        arguments += ["--input-dir", str(folder)]
    for flag, value, usual in (
        ("--model-base-url", settings.model.base_url, ""),
        ("--model-name", settings.model.name, ""),
        ("--model-file", _real(settings.model.file), ""),
        ("--egress", settings.egress.mode, "auto"),
        ("--verifier", settings.verification.rule, "auto"),
        ("--budget-tokens", settings.budget.tokens, 0),
        ("--budget-cost", settings.budget.cost, 0),
        ("--budget-seconds", settings.budget.seconds, 0),
        ("--budget-searches", settings.budget.searches, 0),
    ):
        if value != usual:
            arguments += [flag, str(value)]
    for text in overrides:
        setting = catalogue().get(canonical(text.partition("=")[0]))
        if setting is None or not setting.secret:
            arguments += ["-c", str(Path(text).resolve()) if Path(text).is_file() else text]
    return {"mcpServers": {"vera": {"command": sys.executable, "args": arguments}}}


def _real(file: Path | None) -> str:
    return str(file.resolve()) if file else ""


def _folders(settings: "Settings") -> tuple[Path | None, Path]:
    """The folders of documents and of sessions by their real paths."""
    from vera.agent.folders import input_folder

    folder = settings.run.input_dir
    return input_folder(folder) if folder else None, settings.run.base_dir.resolve()
