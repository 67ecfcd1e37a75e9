"""Where a run keeps its session when nobody says."""

import re
from datetime import UTC, datetime
from pathlib import Path


def default_work_dir(base: Path, task: str, mark: str = "") -> Path:
    """`BASE/work/<UTC time>-<first words>`, and `-<mark>` after it where one is given.

    A mark that nobody else has keeps apart what one second brings twice.
    """
    words = re.sub(r"[^a-z0-9]+", "-", task.lower()[:200]).strip("-")[:40].strip("-")
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
    return base / "work" / "-".join(filter(None, (stamp, words or "run", mark)))
