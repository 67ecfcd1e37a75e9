"""Folders and files of the person: what is in them, and where the cache keeps what is made of them."""

import hashlib
import os
from pathlib import Path

import platformdirs

from vera.agent.errors import SetupError
from vera.attestation.objects import Digest
from vera.evidence.reading import WRITTEN, walk
from vera.session_files import KEPT, session_around

MAX_FILES = 1_000_000
"""Of an input folder, as the index looks at it."""


def file_facts(path: Path) -> str:
    """What tells a model file from another of its name: its path, size and time."""
    facts = path.expanduser().stat()
    return f"{path.expanduser().resolve()}, {facts.st_size} bytes, {facts.st_mtime_ns}"


def index_folder(real: Path) -> Path:
    """Where the index of an input folder lies, by its real path; it need not be there yet."""
    digest = hashlib.sha256(os.fsencode(real)).hexdigest()[:24]
    return Path(platformdirs.user_cache_dir("vera")) / "index" / digest


def input_folder(
    input_dir: Path, advice: str = "Give one with --input-dir (vera resume: -c run.input_dir=DIR)."
) -> Path:
    """The real path of an input folder. Raises SetupError (2) when it is no folder that can be read.

    `advice` says how to name another folder in this command.
    """
    if not input_dir.is_dir():
        problem = "is not a folder" if input_dir.exists() else "does not exist"
        raise SetupError(f"The input folder {input_dir} {problem}. {advice}", 2)
    if not os.access(input_dir, os.R_OK | os.X_OK):
        raise SetupError(f"The input folder {input_dir} cannot be read by you.", 2)
    real = input_dir.resolve()
    if session_around(real) is not None:
        raise SetupError(
            f"The input folder {input_dir} was written by a session of VERA, and that is no source. "
            "Give the folder of your documents.",
            2,
        )
    return real


def corpus_digest(input_dir: Path) -> Digest:
    """A digest of what the index would see in a folder: names, sizes and times of change, no contents.

    No link is followed. An unreadable folder has a digest, too. What VERA keeps for itself (`.vera`), and
    what a session wrote beside the documents, is no document and does not count.
    """
    sha256 = hashlib.sha256()
    for entry in walk(input_dir, MAX_FILES):
        if KEPT not in entry.path.split("/") and entry.skipped != WRITTEN:
            fields = (entry.path, entry.size, entry.mtime_ns, entry.ctime_ns, entry.skipped)
            sha256.update(repr(fields).encode("utf-8", "backslashreplace") + b"\n")
    return f"sha256:{sha256.hexdigest()}"


def exams_folder() -> Path:
    """Where exams of judges are kept: in the person's cache, never in a project's folder."""
    return Path(platformdirs.user_cache_dir("vera")) / "exams"
