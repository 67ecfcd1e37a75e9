"""Where a run keeps its session when no one says."""

import re
import secrets
from datetime import UTC, datetime
from pathlib import Path

DEFAULT_FOLDER = "work"
"""Under the base folder."""


def default_work_dir(base: Path, task: str) -> Path:
    """`BASE/work/<UTC time>-<first words>-<random mark>`: runs of one task in one second have two folders."""
    words = re.sub(r"[^a-z0-9]+", "-", task.lower()[:200]).strip("-")[:40].strip("-")
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
    return base / DEFAULT_FOLDER / f"{stamp}-{words or 'run'}-{secrets.token_hex(3)}"
