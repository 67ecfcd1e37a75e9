"""What VERA writes into the folder of a session, by name. None of it is a source of a later run."""

import os
import re
from collections.abc import Collection
from pathlib import Path

TRACE = "trace.jsonl"
CONTROL_LOG = "session.log"
KEPT = ".vera"
"""The folder of what outlives runs."""

README = "README.txt"
UPLOADS = "input"
"""The files of a person that were dropped on a form of the dashboard."""

OURS = frozenset(
    (
        *(TRACE, CONTROL_LOG, "reviews.jsonl", "tags.json", "answer.md", "attestation.json", "seal.json"),
        *("store", "workspace", "output", "stop.request"),
        *("notes.md", "evidence.jsonl", "move_ledger.jsonl", "query_ledger.jsonl", "trajectory.traj.json"),
        *("container.log", "container_events.log", "run.log", "run.pid", "theses", "checks", UPLOADS),
        *("report.html", "report.md", README),
    )
)
"""What VERA writes into the folder of a session."""

TEMPORARY = re.compile(
    r"trace\.jsonl\.(?:torn|unbegun-[0-9]{1,3})|\.(?:derive|empty|input|new)-.{0,200}|.{1,200}\.new"
)
"""Names that VERA gives for a time, or to what it sets aside."""

_BESIDE_TRACE = ("workspace", "store", "seal.json")
"""One of them lies beside the log in every session, and in every bundle that was unpacked."""

_BEFORE_TRACE = frozenset(
    (
        *(CONTROL_LOG, "run.log", "run.pid", "stop.request", "tags.json", "workspace", UPLOADS, KEPT),
        *("container.log", "container_events.log"),
    )
)
"""What a folder may hold before its session begins: files of the dashboard, and of a start that failed."""


def are_of_session(names: Collection[str]) -> bool:
    """Whether a folder with these names in it is the folder of a session."""
    return TRACE in names and any(name in names for name in _BESIDE_TRACE)


def is_session(folder: Path) -> bool:
    """Whether this is the folder of a session."""
    return are_of_session([name for name in (TRACE, *_BESIDE_TRACE) if os.path.lexists(folder / name)])


def is_written(name: str, names: Collection[str]) -> bool:
    """Whether VERA wrote what has this name in the folder of a session, which holds `names`.

    The files that a person dropped on a form are theirs. VERA writes a README.txt into an unpacked bundle
    only, which has no workspace.
    """
    if name == README:
        return "workspace" not in names
    return (name in OURS and name != UPLOADS) or TEMPORARY.fullmatch(name) is not None


def session_around(path: Path) -> Path | None:
    """The session that wrote a file or folder, which is given by its real path; None for any other."""
    for folder in path.parents:
        name = path.relative_to(folder).parts[0]
        if name in OURS and name not in (UPLOADS, README) and is_session(folder):
            return folder
    return None


def others_in(folder: Path) -> list[str]:
    """The names in a folder that keep a session from beginning in it: none where it is new or empty, holds a
    session, or what was left of a start that failed. Raises OSError."""
    try:
        names = sorted(path.name for path in folder.iterdir())
    except FileNotFoundError:
        return []
    if TRACE in names or any(name.startswith(f"{TRACE}.unbegun-") for name in names):
        return []
    return [name for name in names if name not in _BEFORE_TRACE and not TEMPORARY.fullmatch(name)]
