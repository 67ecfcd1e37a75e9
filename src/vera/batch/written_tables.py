"""The files that `vera table` may replace: tables, as they were written under a base folder.

BASE/.vera/tables/<sha256>   an empty file: a table of these bytes was written
"""

import hashlib
from pathlib import Path

from vera.store import replace_file

TABLES = (".vera", "tables")


def is_written_table(path: Path, base: Path) -> bool:
    """Whether a file is a table as it was written under `base`. False for a link. Raises OSError."""
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        return _mark(hashlib.file_digest(file, "sha256").hexdigest(), base).exists()


def write_table(path: Path, data: bytes, base: Path) -> None:
    """Write a table, marked before it is there. Raises OSError."""
    mark = _mark(hashlib.sha256(data).hexdigest(), base)
    mark.parent.mkdir(parents=True, exist_ok=True)
    mark.touch()
    replace_file(path, data)


def _mark(sha256: str, base: Path) -> Path:
    return base.joinpath(*TABLES, sha256)
