"""Where a run keeps its session when no one says."""

import re
import secrets
from datetime import UTC, datetime
from pathlib import Path

DEFAULT_FOLDER = "work"
"""Under the base folder."""


MOST_AGAIN = 1000


def next_free(chosen: Path) -> Path:
    """The first of `chosen-2`, `chosen-3` … that does not exist. Raises FileExistsError after MOST_AGAIN."""
    for number in range(2, MOST_AGAIN):
        if not (free := chosen.with_name(f"{chosen.name}-{number}")).exists():
            return free
    raise FileExistsError(f"{chosen}-{MOST_AGAIN}")


def default_work_dir(base: Path, task: str) -> Path:
    """`BASE/work/<UTC time>-<first words>-<random mark>`: runs of one task in one second have two folders."""
    words = re.sub(r"[^a-z0-9]+", "-", task.lower()[:200]).strip("-")[:40].strip("-")
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
    return base / DEFAULT_FOLDER / f"{stamp}-{words or 'run'}-{secrets.token_hex(3)}"
