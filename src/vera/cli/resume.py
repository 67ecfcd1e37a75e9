"""`vera resume`: go on with an interrupted run."""

from pathlib import Path

import click


@click.command()
@click.argument("work_dir", type=click.Path(path_type=Path))
@click.option("--max-steps", type=int, help="Steps the run may take in all; 0 is unlimited.")
@click.option("-c", "--config", "overrides", multiple=True, help="KEY=VALUE or FILE.yaml; may be repeated.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="No progress on stderr.")
def resume(
    work_dir: Path, max_steps: int | None, overrides: tuple[str, ...], as_json: bool, quiet: bool
) -> None:
    """Go on with an interrupted run, under the settings it was started with.

    A command that was under way is not run again: the model is told that it may have run. Keys are not in
    the log; they come from the environment as before.
    """
    from vera.cli.exit import clean_errors

    with clean_errors():
        from vera import config
        from vera.cli.execute import STEPS_BY_EFFORT, execute
        from vera.cli.progress import Progress
        from vera.session import Session

        session = Session.resume(work_dir)
        try:
            state = session.state
            logged = config.from_public(state.session.settings if state.session else {})
            if state.task and state.task.input_dir:
                logged["run.input_dir"] = state.task.input_dir
            if max_steps is not None:
                logged["run.max_steps"] = max_steps
            loaded = config.load(overrides, logged)
            settings = loaded.settings
            execute(
                lambda: session,
                settings,
                max_steps=settings.run.max_steps,
                as_json=as_json,
                progress=Progress(quiet=quiet),
            )
        finally:
            session.close()
