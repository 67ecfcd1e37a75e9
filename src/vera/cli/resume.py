"""`vera resume`: go on with an interrupted run."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from vera.state import RunState

BUILT_IN = "builtin"


@click.command()
@click.argument("work_dir", type=click.Path(path_type=Path))
@click.option("--max-steps", type=int, help="Steps the run may take in all; 0 is unlimited.")
@click.option("--budget-tokens", type=int, help="Tokens the run may spend in all; 0 is unlimited.")
@click.option("--budget-cost", type=float, help="Cost the run may reach in all; 0 is unlimited.")
@click.option("--budget-seconds", type=float, help="Seconds the run may take in all; 0 is unlimited.")
@click.option("--budget-searches", type=int, help="Requests to search engines in all; 0 is unlimited.")
@click.option("-c", "--config", "overrides", multiple=True, help="KEY=VALUE or FILE.yaml; may be repeated.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
def resume(
    work_dir: Path, overrides: tuple[str, ...], as_json: bool, quiet: bool, **limits: float | None
) -> None:
    """Go on with an interrupted run, under the settings it was started with.

    A command that was under way is not run again: the model is told that it may have run. Keys are not in
    the log; they come from the environment as before.
    """
    from vera.cli.exit import clean_errors

    with clean_errors():
        from vera import config
        from vera.cli.execute import execute
        from vera.cli.progress import Progress
        from vera.cli.run import FLAGS
        from vera.session import Session

        progress = Progress(quiet=quiet)
        session = Session.resume(work_dir, progress)
        try:
            state = session.state
            begun_with = state.session.settings if state.session else {}
            logged = as_overrides(begun_with) + as_asked(state)
            flags: dict[str, str | None] = {}
            if begun_with.get("run", {}).get("lane") != "execute":  # whose task names no folder
                flags["run.input_dir"] = (state.task.input_dir if state.task else "") or None
            flags |= as_withheld(begun_with, overrides)
            flags |= {FLAGS[name]: str(limit) for name, limit in limits.items() if limit is not None}
            settings = config.load([*logged, *overrides], flags).settings
            execute(lambda: session, settings, as_json=as_json, progress=progress)
        finally:
            session.close()


def as_asked(state: "RunState") -> list[str]:
    """The server that was found and the form of a turn that was chosen, in the form of -c: the prompt of a
    lane is written for one form, and a server may have been found by itself."""
    server = state.model_server
    if server is None:
        return []
    if server.kind == BUILT_IN:
        return [f"model.base_url={BUILT_IN}"]
    pinned = [f"model.protocol={server.protocol}"]
    settings = state.session.settings if state.session else {}
    if not settings.get("model", {}).get("file"):
        pinned += [f"model.base_url={server.base_url}", f"model.name={server.model}"]
    return pinned


def as_overrides(logged: Mapping[str, Any]) -> list[str]:
    """The settings of a run, as its log has them, in the form of -c. Keys are not in a log: left out."""
    from vera.config.catalogue import catalogue

    return [
        f"{key}={str(value).lower() if isinstance(value, bool) else value}"
        for key, setting in catalogue().items()
        if not setting.secret and (value := _logged(logged, key)) is not None
    ]


def as_withheld(logged: Mapping[str, Any], overrides: Sequence[str]) -> dict[str, str | None]:
    """An empty key for each address that got none when the run began, unless it is named again.

    The working folder had named it, or it was found by itself; in the log it looks like the person's choice.
    """
    from vera.config.aliases import canonical
    from vera.config.folder import KEYED_ADDRESSES

    named = {canonical(text.partition("=")[0]) for text in overrides if "=" in text}
    return {
        each.key: ""
        for each in KEYED_ADDRESSES
        if each.address not in named
        and (_logged(logged, each.key) == "not set" or not _logged(logged, each.address))
    }


def _logged(logged: Mapping[str, Any], key: str) -> object:
    """What the log of a run has for a setting; None for one that it does not know."""
    value: object = logged
    for part in key.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value
