"""Which folders may be mounted into a box, and who owns what is made there."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from vera.sandbox.spec import BoxSpec
from vera.sandbox.types import BoxError
from vera.session_files import KEPT, is_session, session_around

# With all that lies below them: devices, sockets, the kernel's own files.
NEVER = (Path("/proc"), Path("/sys"), Path("/dev"), Path("/run"), Path("/boot"))
DOCKER_SOCKETS = (Path("/var/run/docker.sock"), Path("/run/docker.sock"))
# Of a box that is made from this machine's programs, or from an image.
SYSTEM = tuple(Path("/", name) for name in ("usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "etc"))
# What packages bring for people to read: licences, manuals, help pages (FHS 4.11, and where distributions
# keep them). No program needs it (Debian policy 12.3), and a command that searched it would find documents
# that are not the run's. What programs read stays: locale, zoneinfo, terminfo, certificates, fonts, perl.
DOCUMENTS = tuple(
    Path("/usr", *at.split("/"))
    for at in (
        *("share/doc", "share/doc-base", "share/common-licenses", "share/licenses"),
        *("share/man", "share/info", "share/help", "share/gtk-doc", "share/devhelp", "share/gnome/help"),
        *("share/javadoc", "share/dict", "share/games/fortunes"),
        *("local/share/doc", "local/share/man", "local/share/info", "local/man", "local/doc"),
    )
)
MAX_COVERED = 64
"""Folders of an input folder that are covered: each is a separate mount."""

MAX_LOOKED_AT = 200_000
"""Files and folders of it that are looked at."""

# For work that is done for root: an unprivileged user that no distribution gives to a person.
UNPRIVILEGED = 10001


def check(spec: BoxSpec) -> tuple[Path, Path | None]:
    """The real paths of work and input folder. Raises BoxError for what must not be mounted."""
    work = _admitted(spec.work, "work", spec.forbidden)
    return work, _admitted(spec.input, "input", spec.forbidden) if spec.input else None


def _admitted(folder: Path, kind: str, forbidden: tuple[Path, ...]) -> Path:
    real = _real(folder, kind)
    for below in NEVER:
        if real.is_relative_to(below):
            raise BoxError(
                f"The {kind} folder {folder} is part of {below} and is not mounted into a sandbox."
            )
    home = Path.home().resolve()
    guarded = [
        (home, "your home folder"),
        *((socket, "the Docker socket") for socket in DOCKER_SOCKETS),
        *((path.resolve(), "VERA's own files") for path in forbidden),
    ]
    for path, what in guarded:
        if path.is_relative_to(real):
            raise BoxError(
                f"The {kind} folder {folder} holds {what} ({path}) and is not mounted into a sandbox; "
                "choose a folder further down."
            )
    for path in forbidden:
        if real.is_relative_to(path.resolve()):
            raise BoxError(f"The {kind} folder {folder} lies in {path}, which belongs to VERA alone.")
    return real


def _real(folder: Path, kind: str) -> Path:
    """The real path of a folder. Raises BoxError where there is none."""
    try:
        real = folder.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise BoxError(
            f"The {kind} folder {folder} cannot be reached ({error}).", hint=f"mkdir -p {folder}"
        ) from error
    if not real.is_dir():
        raise BoxError(f"The {kind} folder {folder} is not a folder.", hint=f"ls -ld {folder}")
    return real


def shown(hidden: Iterable[Path]) -> list[Path]:
    """Of the folders that a box must not show, by their real paths, those that lie in what every box has
    itself: there an empty folder must take their place. One of them within another needs none.
    """
    real = {path.resolve() for path in hidden}
    inside = {path for path in real if any(path.is_relative_to(below) for below in SYSTEM)}
    return sorted(path for path in inside if inside.isdisjoint(path.parents))


def sessions_in(folder: Path) -> list[Path]:
    """The folders of earlier runs within an input folder, relative to it; in place of each a box has an empty
    one. A folder that holds nothing but such folders stands for them.

    Raises BoxError where they are more than MAX_COVERED, and where the folder itself is that of a run, or
    part of one: an answer of VERA is no source.
    """
    if is_session(folder) or session_around(Path(os.path.realpath(folder))) is not None:
        raise BoxError(
            f"The input folder {folder} holds what a session of VERA wrote, and no command may take that for "
            "documents.",
            hint="put the documents into another folder",
        )
    covered = sorted(path.relative_to(folder) for path in _session_folders(folder))
    if len(covered) > MAX_COVERED:
        raise BoxError(
            f"The input folder {folder} holds more than {MAX_COVERED} folders of earlier runs among its "
            "documents, and no command may take these for documents.",
            hint="move the sessions out of the input folder",
        )
    return covered


def _session_folders(folder: Path) -> Iterator[Path]:
    """Each folder of an earlier run, or in place of such folders the one that holds nothing else."""
    looked_at = 0
    for place, folders, files in os.walk(folder):
        looked_at += len(folders) + len(files)
        if looked_at > MAX_LOOKED_AT:
            return
        here = Path(place)
        sessions = {name: None for name in folders if _is_session(here / name)}
        if sessions and len(sessions) == len(folders) and not files and here != folder:
            yield here
        else:
            yield from (here / name for name in sessions)
        folders[:] = [name for name in folders if name not in sessions]


def _is_session(folder: Path) -> bool:
    return folder.name == KEPT or is_session(folder)


def identity(spec: BoxSpec, work: Path) -> tuple[int, int]:
    """User and group that commands run as: those asked for, or the work folder's owner; never root.

    A work folder of root is handed to an unprivileged user (the folder itself, not what lies in it).
    """
    owner = work.stat()
    uid = owner.st_uid if spec.uid is None else spec.uid
    gid = owner.st_gid if spec.gid is None else spec.gid
    if uid == 0:
        uid = gid = UNPRIVILEGED
        if os.getuid() == 0 and owner.st_uid == 0:
            os.chown(work, uid, gid)
    return uid, gid or uid
