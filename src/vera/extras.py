"""The command that installs an optional part of VERA."""

import shlex
import sys
from pathlib import Path


def install_command(extra: str) -> str:
    """What to type for an extra, in any folder where VERA runs from a clone, else in a clone of it.

    VERA is on no package index: a name alone would install what somebody else has put there.
    """
    clone = Path(__file__).parents[2]
    where = str(clone) if (clone / "pyproject.toml").is_file() else "."
    return f"{shlex.quote(sys.executable)} -m pip install -e {shlex.quote(f'{where}[{extra}]')}"
