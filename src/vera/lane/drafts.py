"""Final-like files of a work folder: what a model writes when it thinks that it is done.

Whether a command wrote one is read off the files, not off the command (law 5 of the design).
"""

import hashlib
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from vera.evidence.reading import read_regular
from vera.extraction.source import Unreadable

FOLDERS = ("", "output")
MAX_FILES = 500
"""Entries of a folder that are looked at."""

_FINAL = re.compile(r"(?:^|[^a-z])(?:final|answer|report|summary|deliverable)(?![a-z])", re.IGNORECASE)
_TEXT = frozenset({"", ".md", ".txt", ".html", ".rst", ".tex", ".pdf", ".docx"})

LARGEST = 1 << 20
"""Bytes of a file that are compared; of a larger one every change counts as written again."""


class Draft(msgspec.Struct, frozen=True):
    """A file as it was seen: inode, size and time of its last change, and the sha256 of its bytes ('' for one
    that is too large or cannot be read)."""

    stamp: tuple[int, int, int]
    sha256: str

    @property
    def size(self) -> int:
        return self.stamp[1]


Drafts = Mapping[str, Draft]
"""By path below the work folder."""


def drafts(workspace: Path, known: Drafts) -> Drafts:
    """The final-like text files at the top of the work folder and in its `output`. Links are passed over, and
    what is as it was `known` is not read again."""
    found: dict[str, Draft] = {}
    for folder in FOLDERS:
        try:
            entries = os.scandir(workspace / folder)
        except OSError:
            continue
        with entries:
            for _, entry in zip(range(MAX_FILES), entries, strict=False):
                path = Path(folder, entry.name)
                if path.suffix.lower() not in _TEXT or not _FINAL.search(path.stem):
                    continue
                with suppress(OSError):
                    if entry.is_file(follow_symlinks=False):
                        about = entry.stat(follow_symlinks=False)
                        name, stamp = str(path), (about.st_ino, about.st_size, about.st_mtime_ns)
                        old = known.get(name)
                        if old is None or old.stamp != stamp:
                            old = Draft(stamp, _sha256(workspace, name))
                        found[name] = old
    return found


def written(workspace: Path, before: Drafts, after: Drafts) -> tuple[str, ...]:
    """The files that are new or were written again, those in `output` first. One that only grew is work going
    on: it is not counted."""
    changed = [
        name
        for name, draft in after.items()
        if (old := before.get(name)) != draft and not (old and _grew(workspace, name, old, draft))
    ]
    return tuple(sorted(changed, key=lambda name: (not name.startswith("output/"), name)))


def _grew(workspace: Path, name: str, old: Draft, new: Draft) -> bool:
    if not 0 < old.size < new.size or not old.sha256:
        return False
    return _sha256(workspace, name, old.size) == old.sha256


def _sha256(workspace: Path, name: str, size: int | None = None) -> str:
    """The hash of a file, or of its first `size` bytes."""
    try:
        data = read_regular(workspace, name, LARGEST)
    except Unreadable:
        return ""
    return hashlib.sha256(data[:size]).hexdigest()
