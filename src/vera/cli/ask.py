"""`vera ask`: a question or a thesis that follows a finished session."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vera.cli.inputs import SOURCES, connector_option, input_option, take_sources
from vera.cli.options import BUDGET, MODEL, budget_options, model_options

if TYPE_CHECKING:
    from vera.agent.follow_up import Parent
    from vera.cli.progress import Progress
    from vera.config import Settings

EXAMPLE = 'vera ask --session DIR "QUESTION"'

FLAGS = {
    **SOURCES,
    "work_dir": "run.work_dir",
    "input_dir": "run.input_dir",
    "base_dir": "run.base_dir",
    **BUDGET,
    "effort": "run.effort",
    **MODEL,
    "egress": "egress.mode",
    "require": "verification.require",
}
"""Option → the setting it sets."""


@click.command()
@click.argument("question", required=False)
@click.option(
    "--session",
    type=click.Path(path_type=Path),
    required=True,
    help="The finished session to go on from; it is replayed first.",
)
@click.option("--thesis", help="Check this thesis instead: text, '-' for standard input, or @FILE.")
@click.option("--task", help="The question: text, '-' for standard input, or @FILE.")
@click.option(
    "--trust-session",
    is_flag=True,
    help="Go on also from a session that does not hold, or whose signer is unknown.",
)
@click.option(
    "--scope", help="With --thesis: where else to look: files, web, connectors, separated by commas."
)
@click.option("--work-dir", type=click.Path(), help="Session folder; a new one under work/ by default.")
@input_option("to look at, too")
@click.option("--input-dir", type=click.Path(), help="Folder of documents to look at, too.")
@connector_option
@click.option("--base-dir", type=click.Path(), help="Folder that holds the work folders.")
@model_options
@budget_options()
@click.option(
    "--effort",
    type=click.Choice(["quick", "normal", "thorough"]),
    help="Step limit: quick 20, normal 80, thorough 200.",
)
@click.option(
    "--egress",
    type=click.Choice(["auto", "none", "allowlist", "public"]),
    help="What of the web may be reached.  [default: auto, which is public but for sealed]",
)
@click.option(
    "--require",
    type=click.Choice(["verified"]),
    help="End with exit code 3 for what is less than VERIFIED.",
)
@click.option("-c", "--config", "overrides", multiple=True, help="KEY=VALUE or FILE.yaml; may be repeated.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
@click.option("--handed", is_flag=True, hidden=True)
@click.option("--as-thesis", is_flag=True, hidden=True, help="What is handed over is a thesis.")
def ask(
    question: str | None,
    session: Path,
    thesis: str | None,
    task: str | None,
    overrides: tuple[str, ...],
    **options: Any,
) -> None:
    """Ask a question that follows a finished session, or check a thesis about it.

    The session is replayed first, and refused where it does not hold or its signer is unknown. What it
    captured carries over as evidence; its verdicts do not count. Exit codes are those of 'vera run'.
    """
    from vera.cli.exit import clean_errors

    with clean_errors():
        from vera.agent.effort import with_effort
        from vera.agent.follow_up import in_words, open_parent
        from vera.cli.found_server import ask_once
        from vera.cli.progress import Progress
        from vera.config import load
        from vera.config.handed import read_handed

        given = read_handed(sys.stdin.buffer) if options["handed"] else None
        is_thesis = thesis is not None or options["as_thesis"]
        text = given.text if given else _text(question, task, thesis)
        take_sources(options)
        flags = {FLAGS[name]: value for name, value in options.items() if name in FLAGS and value is not None}
        loaded = load(overrides, {**flags, "run.lane": "research"}, handed=given)
        settings = loaded.settings if is_thesis else with_effort(loaded)
        progress = Progress(quiet=options["quiet"])
        for warning in loaded.warnings:
            progress.say(f"warning: {warning}")
        parent = open_parent(session, trust_session=options["trust_session"], base=settings.run.base_dir)
        progress.say(in_words(parent))
        ask_once(settings, progress)
        if is_thesis:
            raise SystemExit(_verify(text, parent, settings, options, progress))
        _research(text, parent, settings, options, progress)


def _text(question: str | None, task: str | None, thesis: str | None) -> str:
    """What is asked. Ends the command when there is nothing, or two."""
    from vera.cli.exit import USAGE, stop
    from vera.cli.run import read_text

    if thesis is None:
        return read_text(question, task, "question", "--task", EXAMPLE)
    if question is not None or task is not None:
        stop("a question and a thesis were given: choose one.", USAGE)
    return read_text(None, thesis, "thesis", "--thesis", EXAMPLE)


def _research(
    text: str, parent: "Parent", settings: "Settings", options: Mapping[str, Any], progress: "Progress"
) -> None:
    import asyncio

    from vera.agent.work_dir import default_work_dir
    from vera.cli.execute import execute
    from vera.runtime.connectors import connect, sources_of
    from vera.runtime.research import new_session
    from vera.session import Session, insist_on_place

    connected = asyncio.run(connect(settings, sources_of(settings), progress.say))
    settings = connected.settings
    root = settings.run.work_dir or default_work_dir(settings.run.base_dir, text)
    insist_on_place(root)

    def open_session() -> Session:
        return new_session(root, settings, text, progress, parent)

    execute(
        open_session,
        settings,
        as_json=options["as_json"],
        progress=progress,
        connections=connected.connections,
    )


def _verify(
    text: str, parent: "Parent", settings: "Settings", options: Mapping[str, Any], progress: "Progress"
) -> int:
    import asyncio

    from vera.attestation.lenses import load_lens
    from vera.cli.verify_thesis import finish
    from vera.runtime.connectors import connect_request
    from vera.runtime.thesis import inquiry_of

    connected, scope = asyncio.run(connect_request(settings, options["scope"], say=progress.say))
    settings = connected.settings
    inquiry = inquiry_of(
        text,
        settings.run.input_dir,
        load_lens("general", paths=True),
        scope=scope,
        follows=True,
        connections=connected.connections,
    )
    return finish(
        inquiry, settings, progress, as_json=options["as_json"], fresh=True, text=text, parent=parent
    )
