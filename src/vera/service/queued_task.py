"""A job as a task in the queue of a cluster: which job it is, and how far the service lets it go.

The task names the job and holds nothing of it: what was asked lies in the folder that the service and its
workers share.
"""

import re
from pathlib import Path

import msgspec

from vera.batch.task import JOB, BatchTask, canonical_task
from vera.batch.task_file import parse_task
from vera.service.records import ENDED, ID, QUEUED
from vera.service.terms import KEPT
from vera.service.tokens import FOLDER
from vera.service.work import KINDS, Kind, Place, Reach
from vera.store import open_private

EGRESS, SECONDS = "egress.mode", "budget.seconds"
MAX_BYTES = 1 << 16

_TEXT = re.compile(rf"({'|'.join(KINDS)}) ({FOLDER})/({ID})")


class NotQueued(ValueError):
    """A task that is no job of a service."""


class Named(msgspec.Struct, frozen=True, kw_only=True):
    """The job that a task names: its kind, the base of its token, its id, and how far it goes."""

    kind: Kind
    base: Path
    id: str
    reach: Reach

    def place(self, session: Path) -> Place:
        """Where the job lies, with its session elsewhere while it runs."""
        return Place(base=self.base, folder=self.base / "jobs" / self.id, session=session)


def task_of(kind: Kind, place: Place, reach: Reach, endpoint: str) -> BatchTask:
    """The task of a job. Written once, it is the same for every server: `kept`."""
    said = canonical_task(
        JOB,
        f"{kind} {place.base.name}/{place.folder.name}",
        str(reach.folder) if reach.folder else "",
        {EGRESS: reach.egress, SECONDS: reach.seconds},
        place.folder.name,
    )
    _keep(place.folder / QUEUED, said)
    return msgspec.structs.replace(parse_task(said), endpoint=endpoint)


def _keep(path: Path, said: bytes) -> None:
    """Write a file whole. It is not forced to the disk, which whoever asked would wait for: after a power cut
    without it the same task is made from what was asked."""
    temporary = path.with_name(path.name + ".new")
    temporary.unlink(missing_ok=True)
    with open_private(temporary, "xb") as file:
        file.write(said)
    temporary.replace(path)


def kept(place: Place, endpoint: str) -> BatchTask | None:
    """The task as which a job was queued before; None where it was not, or where the file is empty, as a
    power cut leaves it. Raises OSError, NotQueued."""
    try:
        with (place.folder / QUEUED).open("rb") as file:
            said = file.read(MAX_BYTES)
    except FileNotFoundError:
        return None
    if not said.strip(b"\0"):
        return None
    try:
        return msgspec.structs.replace(parse_task(said), endpoint=endpoint)
    except ValueError as error:
        raise NotQueued(f"{place.folder / QUEUED} is no task: {error}") from None


def named(task: BatchTask, base: Path) -> Named:
    """The job that a task names, under the base folder. Raises NotQueued: a row of the queue is not
    trusted."""
    found = _TEXT.fullmatch(task.text)
    egress, seconds = task.settings.get(EGRESS), task.settings.get(SECONDS)
    if found is None or not isinstance(egress, str) or not isinstance(seconds, int | float):
        raise NotQueued("That is no job of 'vera serve'.")
    if not seconds > 0:
        raise NotQueued("A job of 'vera serve' has more than 0 seconds (budget.seconds).")
    kind = next(each for each in KINDS if each == found[1])
    folder = Path(task.input_dir) if task.input_dir else None
    return Named(
        kind=kind,
        base=base / KEPT / found[2],
        id=found[3],
        reach=Reach(folder=folder, egress=egress, seconds=float(seconds)),
    )


def left_in_a_queue(base: Path) -> Path | None:
    """The folder of a job that workers of a cluster may run, None for no such job."""
    queued = (base / KEPT).glob(f"*/jobs/*/{QUEUED}")
    return next((each.parent for each in queued if not (each.parent / ENDED).exists()), None)
