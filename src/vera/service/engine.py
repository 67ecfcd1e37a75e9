"""What runs the jobs: processes of this machine, or the workers of a cluster. One interface for both."""

import asyncio
from pathlib import Path
from typing import Protocol

from vera.service.records import Ended, Job, Records, State
from vera.service.work import Reach


class Active:
    """A job that waits or runs. `askers` are the requests that wait for it; `reach` is how far it goes, None
    for one that an earlier server took, which is looked up again. `has_result` says that the engine has the
    result on the disk: then it can be told before the end is written."""

    def __init__(self, records: Records, job: Job, reach: Reach | None = None) -> None:
        self.records = records
        self.job = job
        self.reach = reach
        self.place = records.place(job)
        self.state: State = "queued"
        self.askers = 1
        self.has_result = False
        self.over = asyncio.Event()


class Engine(Protocol):
    """Runs jobs, each to its end, whatever server began it."""

    async def open(self) -> None:
        """Begin to work. Raises OSError."""

    async def close(self) -> None:
        """Let go of everything; jobs that run go on."""

    def insist_on_ready(self) -> None:
        """Raises TryLater (503) while no job can be taken."""

    def health(self) -> dict[str, str]:
        """What `/healthz` says beside its status."""

    def has_room(self, running: int) -> bool:
        """Whether a job can be begun beside so many."""

    def goes_on(self, active: Active) -> bool:
        """Whether an earlier server began this job, so that it needs no room."""

    async def run(self, active: Active) -> Ended | None:
        """See a job to its end; None where nothing is to be written about it. Sets `active.state` to
        running when the job begins. Raises Refused, OSError."""

    async def cancel(self, active: Active) -> None:
        """End a job that runs; its file `cancelled` is there already."""

    def session(self, active: Active) -> Path:
        """Where the job's session lies now. Called from any thread."""
