"""The routes by which a person keeps order: reviews of claims, tags, and removing, which asks first."""

import asyncio
from collections.abc import Mapping, Sequence
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from vera.dashboard import pages
from vera.dashboard.follow import Followers
from vera.dashboard.guard import is_program
from vera.dashboard.removal import NotRemoved, held_in, remove
from vera.dashboard.reviewing import review
from vera.dashboard.runs import RunRefused
from vera.dashboard.sessions import NoSession, SessionFolder, Sessions
from vera.session.tags import TagError, read_tags, tags_in, write_tags

MAX_REMOVED = 50
"""Sessions that one form removes: as many as a list shows."""

MAX_IDS = 48 << 10
"""Characters of their ids."""


class Keeping:
    """The handlers. Each form has passed the guard, as every write has."""

    def __init__(self, sessions: Sessions, followers: Followers) -> None:
        self._sessions = sessions
        self._followers = followers

    def routes(self) -> list[Route]:
        return [
            Route("/remove", self.ask, methods=["GET"]),
            Route("/remove", self.remove, methods=["POST"]),
            Route("/s/{id}/review", self.review, methods=["POST"]),
            Route("/s/{id}/tags", self.tags, methods=["POST"]),
        ]

    async def review(self, request: Request) -> Response:
        session = self._session(request.path_params["id"])
        follower = self._followers.of(session)
        page = await follower.page()
        number = await asyncio.to_thread(review, session.path, page, follower.head, _fields(request))
        return _go_to(request, f"/s/{quote(session.id)}#claim-{number}")

    async def tags(self, request: Request) -> Response:
        session = self._session(request.path_params["id"])
        try:
            tags = tags_in(_fields(request).get("tags", ""))
            await asyncio.to_thread(write_tags, session.path, tags)
        except TagError as error:
            raise RunRefused(400, str(error), {"tags": str(error)}) from None
        except OSError as error:
            raise RunRefused(503, f"The tags cannot be written: {error.strerror}.") from None
        return _go_to(request, f"/s/{quote(session.id)}#tags")

    async def ask(self, request: Request) -> Response:
        """The page that says what would be removed, and asks."""
        return await self._asking(request, self._named(request.query_params.getlist("s")))

    async def _asking(
        self, request: Request, found: Sequence[SessionFolder], problem: str = "", status: int = 200
    ) -> Response:
        held = await asyncio.to_thread(lambda: [held_in(each) for each in found])
        tags = await asyncio.to_thread(lambda: [read_tags(each.path) for each in found])
        page = pages.render_remove(request.scope["asked"], list(zip(found, held, tags, strict=True)), problem)
        return HTMLResponse(page, status)

    async def remove(self, request: Request) -> Response:
        given = _fields(request).get("sessions", "")
        found = self._named(given.split(",") if given and len(given) <= MAX_IDS else [])
        done: list[str] = []
        for number, each in enumerate(found):
            try:
                await asyncio.to_thread(remove, self._sessions, each)
            except (NotRemoved, NoSession, OSError) as error:
                before = f" Removed before it: {', '.join(done)}." if done else " Nothing was removed."
                sentence = f"{_in_words(error)}{before}"
                left = [other for other in found[number:] if other.exists]
                if not left or is_program(request.headers):
                    raise RunRefused(409, sentence) from None
                return await self._asking(request, left, sentence, 409)
            done.append(each.name)
        return _go_to(request, "/")

    def _named(self, ids: list[str]) -> list[SessionFolder]:
        if not 0 < len(ids) <= MAX_REMOVED or len(set(ids)) != len(ids):
            raise HTTPException(400, f"Choose the sessions in the list, {MAX_REMOVED} at most.")
        return [self._session(each) for each in ids]

    def _session(self, session_id: str) -> SessionFolder:
        session = self._sessions.by_id(session_id)
        if not session.exists:
            raise NoSession(f"There is no session in {session.name} (yet).")
        return session


def _fields(request: Request) -> Mapping[str, str]:
    fields: Mapping[str, str] = request.scope["fields"]
    return fields


def _in_words(error: Exception) -> str:
    return f"{error.strerror}." if isinstance(error, OSError) and error.strerror else str(error)


def _go_to(request: Request, address: str) -> Response:
    if "x-vera" in request.headers:
        return Response(status_code=204, headers={"location": address})
    return RedirectResponse(address, 303)
