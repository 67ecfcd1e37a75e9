"""How well one of several candidates is chosen: simulated, on labelled trajectories, on recorded steps."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from vera.bench import selection_labels, selection_sessions, selection_simulated, selection_trajectories
from vera.bench.selection_reading import read_attempts


def measure(
    *,
    sessions: Sequence[Path] = (),
    trajectories: Sequence[Path] = (),
    labels: Path | None = None,
    simulated: bool = False,
    steps: int = selection_simulated.STEPS,
    seed: int = 0,
) -> dict[str, Any]:
    """The figures of every source that is named: `trajectories` by folder, `sessions`, `simulation`.

    Without a session or a trajectory the simulation. `labels` are those of the sessions, or where there are
    none of the trajectories. Raises `labelled.DataError`.
    """
    figures: dict[str, Any] = {}
    if trajectories:
        passed = selection_labels.read_trajectory_labels(labels) if labels and not sessions else {}
        figures["trajectories"] = {
            str(path): selection_trajectories.measure(read_attempts(path, passed), seed)
            for path in trajectories
        }
    if sessions:
        good = selection_labels.read_step_labels(labels) if labels else {}
        sampled = [step for root in sessions for step in selection_sessions.read_session(root)]
        figures["sessions"] = selection_sessions.measure(sampled, good, seed)
    if simulated or not figures:
        figures["simulation"] = selection_simulated.measure(count=steps, seed=seed)
    return figures
