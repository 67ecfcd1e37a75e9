"""A smallest run, so that a process whose forks are runs has made what each of them needs."""

import asyncio
import contextlib
import tempfile
from pathlib import Path

from vera.attestation.keys import KeyFileError, load_or_create
from vera.audit import absence
from vera.config.loading import defaults
from vera.extraction.extractor import Extractor
from vera.lane.prompts import Prompts
from vera.model.transport import Transport
from vera.runtime.plugins import NONE as NO_PLUGINS
from vera.runtime.research import new_session, open_run
from vera.runtime.setup import Prepared
from vera.session import LogError, SessionError

SMALLEST_RUN = {
    "model.base_url": "builtin",
    "sandbox.backend": "none",
    "egress.mode": "none",
    "verification.rule": "literal",
}


def rehearse() -> None:
    """Go through a smallest run of the built-in model in a temporary folder, which needs nothing and asks
    no one, and make what only a run with a model server needs: it takes 0.2 s of processor time, and each
    fork then half as much as without (benchmarks/batch.py).

    No thread and no event loop is left. Where there is no place for temporary files, it is left out.
    """
    Prompts().compile_all()
    absence.compile_all()
    with (
        contextlib.suppress(OSError, KeyFileError, LogError, SessionError),
        tempfile.TemporaryDirectory(prefix="vera-rehearsal-", ignore_cleanup_errors=True) as folder,
    ):
        asyncio.run(_run(Path(folder)))


async def _run(folder: Path) -> None:
    settings = defaults(SMALLEST_RUN)
    with Extractor() as extractor:
        prepared = Prepared(signer=load_or_create(folder / "keys"), plugins=NO_PLUGINS, extractor=extractor)
        task = "What is rehearsed?"
        opened = open_run(
            lambda: new_session(folder / "session", settings, task), settings, prepared, _Silent()
        )
        async with opened as (_, run):
            await run.run()
    await Transport("http://127.0.0.1").close()


class _Silent:
    """Shows nothing of a run."""

    def say(self, line: str) -> None: ...

    def now(self, line: str) -> None: ...
