"""How well one of several candidates is chosen: simulated, on labelled trajectories, on recorded steps.

    python benchmarks/selection.py [SESSION...] [--trajectories PATH] [--labels FILE] [--steps N] [--json]

Without sessions or trajectories the simulation. `docs/performance.md` has its figures.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from choosing import comparison, labels, sessions, trajectories
from choosing.attempts import read_attempts
from choosing.tables import as_text

from vera.bench.eval_data import DataError
from vera.cli.exit import USAGE, clean_errors, stop

EXAMPLES = """\b
Examples:
  python benchmarks/selection.py --steps 1000
  python benchmarks/selection.py work/first --json"""

_FILE = click.Path(path_type=Path)


def measure(
    *,
    recorded: Sequence[Path] = (),
    attempts: Sequence[Path] = (),
    labelled: Path | None = None,
    simulated: bool = False,
    steps: int = comparison.STEPS,
    seed: int = 0,
) -> dict[str, Any]:
    """The figures of every source that is named: trajectories by folder (`attempts`), sessions (`recorded`),
    the simulation.

    Without a session or a trajectory the simulation. The labels in `labelled` are those of the sessions, or
    where there are none of the trajectories. Raises DataError.
    """
    figures: dict[str, Any] = {}
    if attempts:
        passed = labels.read_trajectory_labels(labelled) if labelled and not recorded else {}
        figures["trajectories"] = {
            str(path): trajectories.measure(read_attempts(path, passed), seed) for path in attempts
        }
    if recorded:
        good = labels.read_step_labels(labelled) if labelled else {}
        sampled = [step for root in recorded for step in sessions.read_session(root)]
        figures["sessions"] = sessions.measure(sampled, good, seed)
    if simulated or not figures:
        figures["simulation"] = comparison.measure(count=steps, seed=seed)
    return figures


@click.command(context_settings={"help_option_names": ["-h", "--help"]}, epilog=EXAMPLES)
@click.argument("recorded", metavar="[SESSION...]", nargs=-1, type=_FILE)
@click.option(
    "--trajectories",
    "attempts",
    metavar="PATH",
    type=_FILE,
    multiple=True,
    help="Labelled trajectories, a file or a folder. Each PATH has its own table.",
)
@click.option(
    "--labels",
    "labelled",
    metavar="FILE",
    type=_FILE,
    help="What is good, JSON lines: of sessions, else of trajectories.",
)
@click.option(
    "--simulate", "simulated", is_flag=True, help="The simulation. Measured when nothing else is named."
)
@click.option(
    "--steps",
    metavar="N",
    type=click.IntRange(min=2, max=1_000_000),
    default=comparison.STEPS,
    show_default=True,
    help="Steps of each row of the simulation.",
)
@click.option("--seed", metavar="N", type=int, default=0, show_default=True, help="For what is drawn by lot.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def selection(as_json: bool, **sources: Any) -> None:
    """Measure how one of several candidates is chosen: against chance, and against one who knows.

    \b
    Nothing named, or --simulate:
      policies and judges made by lot, with the selectors that runs use.
    --trajectories PATH:
      whole attempts with a known end, chosen by rules that need no model.
      LLM-as-a-Verifier's files say themselves whether they passed; for
      *.traj.json (mini-swe-agent's and VERA's) --labels does, with lines like
      {"trajectory": "a/b.traj.json", "task": "t1", "passed": true}
    SESSION...:
      what was sampled and chosen in recorded sessions: how far candidates
      agree, who decided, how often a judge was asked. With --labels also
      how good the choices were, by lines like
      {"session": "FOLDER", "step": 3, "good": [0, 2]}
    """
    if sources["labelled"] and not (sources["recorded"] or sources["attempts"]):
        raise click.UsageError("--labels needs the sessions or the trajectories that it is about.")
    with clean_errors():
        try:
            figures = measure(**sources)
        except DataError as error:
            stop(str(error), USAGE)
        click.echo(json.dumps(figures, ensure_ascii=False, indent=2) if as_json else as_text(figures))


if __name__ == "__main__":
    selection()
