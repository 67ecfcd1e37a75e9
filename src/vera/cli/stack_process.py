"""Which dashboard `vera stack up` started for a base folder: BASE/.vera/stack/run.pid."""

from pathlib import Path

from vera.dashboard import run_process
from vera.sandbox.owner import Owner

LOG = "dashboard.log"


class StackError(Exception):
    """The stack cannot be started or stopped: a sentence that ends with what to do."""


def stack_folder(base: Path) -> Path:
    """Where it stands which dashboard was started for a base folder."""
    return base / ".vera" / "stack"


def running(base: Path) -> Owner | None:
    """The dashboard that was started for it, when it still runs."""
    process = run_process.read(stack_folder(base))
    return process if process is not None and run_process.is_alive(process) else None
