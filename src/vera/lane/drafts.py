"""Final-like files of a work folder: what a model writes when it thinks that it is done.

Whether a command wrote one is read off the files, not off the command (law 5 of the design).
"""

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

FOLDERS = ("", "output")
MOST_FILES = 500
"""Entries of a folder that are looked at."""

_FINAL = re.compile(r"(?:^|[^a-z])(?:final|answer|report|summary|deliverable)(?![a-z])", re.IGNORECASE)
_TEXT = frozenset({"", ".md", ".txt", ".html", ".rst", ".tex", ".pdf", ".docx"})

Stamps = Mapping[str, tuple[int, int, int]]
"""Path below the work folder → inode, size and time of its last change."""


def drafts(workspace: Path) -> Stamps:
    """The final-like text files at the top of the work folder and in its `output`. Links are passed over."""
    found: dict[str, tuple[int, int, int]] = {}
    for folder in FOLDERS:
        try:
            entries = os.scandir(workspace / folder)
        except OSError:
            continue
        with entries:
            for _, entry in zip(range(MOST_FILES), entries, strict=False):
                path = Path(folder, entry.name)
                if path.suffix.lower() not in _TEXT or not _FINAL.search(path.stem):
                    continue
                with suppress(OSError):
                    if entry.is_file(follow_symlinks=False):
                        about = entry.stat(follow_symlinks=False)
                        found[str(path)] = (about.st_ino, about.st_size, about.st_mtime_ns)
    return found


def written(before: Stamps, after: Stamps) -> tuple[str, ...]:
    """The files that are new or were changed, those in `output` first."""
    changed = [name for name, stamp in after.items() if before.get(name) != stamp]
    return tuple(sorted(changed, key=lambda name: (not name.startswith("output/"), name)))
