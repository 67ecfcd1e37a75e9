"""The list of sessions: where each run stands, with a strip of its claims."""

import asyncio
import contextlib
from collections.abc import Sequence

import msgspec

from vera.attestation.outcome import fingerprint
from vera.dashboard.follow import Followers
from vera.dashboard.sessions import SessionFolder, Sessions
from vera.report.view.model import Header

MAX_ROWS = 100
PATIENCE_SECONDS = 0.3
"""What a page waits for logs to be read; the rest is known when it is loaded again."""


class SessionRow(msgspec.Struct, frozen=True, kw_only=True):
    """One session. `header` is None while its log was not read yet, or where there is none; `verdicts` are
    those of its claims, in their order; `modified` is when its log was last written to (Unix time), or 0."""

    session: SessionFolder
    modified: float
    header: Header | None = None
    verdicts: tuple[str, ...] = ()
    problem: str = ""


class Overview:
    """The rows of a base folder; a session is read again only when a file of it has changed."""

    def __init__(self, sessions: Sessions, followers: Followers) -> None:
        self._sessions = sessions
        self._followers = followers
        self._rows: dict[str, tuple[str, SessionRow]] = {}
        self._reading: asyncio.Task[None] | None = None

    async def rows(self) -> tuple[Sequence[SessionRow], int]:
        """The newest sessions, and how many are left out."""
        listed, left_out = await asyncio.to_thread(self._sessions.listed)
        shown = listed[:MAX_ROWS]
        self._rows = {each.id: self._rows[each.id] for each in shown if each.id in self._rows}
        if self._reading is None or self._reading.done():
            self._reading = asyncio.create_task(self._read(shown))
        await asyncio.wait([self._reading], timeout=PATIENCE_SECONDS)
        rows = [
            self._rows[each.id][1]
            if each.id in self._rows
            else SessionRow(session=each, modified=_written(each))
            for each in shown
        ]
        return rows, left_out + len(listed) - len(shown)

    async def _read(self, sessions: Sequence[SessionFolder]) -> None:
        for session in sessions:
            seen = await asyncio.to_thread(fingerprint, session.path)
            if session.id in self._rows and self._rows[session.id][0] == seen:
                header = self._rows[session.id][1].header
                if header is None or header.ended_ts is not None:
                    continue
            self._rows[session.id] = (seen, await self._row(session))

    async def _row(self, session: SessionFolder) -> SessionRow:
        modified = _written(session)
        if not session.log.exists():
            return SessionRow(session=session, modified=modified)
        follower = self._followers.lent(session)
        page = await follower.page()
        return SessionRow(
            session=session,
            modified=modified,
            header=page.header,
            verdicts=tuple(claim.verdict for claim in page.claims),
            problem=follower.problem,
        )


def _written(session: SessionFolder) -> float:
    """When its log was written last; of a session without a log, when its folder was made. 0 for neither."""
    for path in (session.log, session.path):
        with contextlib.suppress(OSError):
            return path.lstat().st_mtime_ns / 1e9
    return 0.0
