"""The form that starts a run: no session is made before something was asked, and what was typed is kept.

A refusal for a field is told beside it, on the same form with all that was typed. Files that came with it are
kept in a session then, since no browser sends a file twice by itself.
"""

from collections.abc import Callable, Mapping
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from vera.dashboard import pages
from vera.dashboard.found_models import FoundModels
from vera.dashboard.guard import START_PATH, is_program
from vera.dashboard.query_params import Asked
from vera.dashboard.run_form import CHOICES, tried_form
from vera.dashboard.runs import RunRefused, Runs
from vera.dashboard.sessions import SessionFolder
from vera.dashboard.uploads import UploadRefused, taken

MAX_FILLED = 2000
"""Characters of a field that an address fills in."""

KEPT_BY_BACK = {"cache-control": "private, no-cache"}
"""Of a page with a form for much text: the browser may keep it for its Back button, and asks again."""


class StartRoutes:
    """The handlers of the form, for a new session and for one that was not started."""

    def __init__(self, runs: Runs, session: Callable[[Request], SessionFolder]) -> None:
        self._runs = runs
        self._session = session
        self._found = FoundModels()

    def routes(self) -> list[Route]:
        return [
            Route(START_PATH, self.form, methods=["GET"]),
            Route(START_PATH, self.ask, methods=["POST"]),
            Route("/s/{id}/run", self.start, methods=["POST"]),
        ]

    async def form(self, request: Request) -> Response:
        """The form; an address may fill its fields in (`?task=…&effort=quick`)."""
        given = {
            name: value[:MAX_FILLED]
            for name, value in request.query_params.items()
            if name in {"task", "kind", *CHOICES}
        }
        form = tried_form(await self._found.on(self._runs.form(None)), given, {})
        return HTMLResponse(pages.render_start(request.scope["asked"], None, form), headers=KEPT_BY_BACK)

    async def ask(self, request: Request) -> Response:
        """Make a session of what was asked, and start its run."""
        fields = request.scope["fields"]
        session = None
        try:
            files = taken(request.scope["files"])
            session = await self._runs.draft(fields, files)
            await self._runs.start(session, fields)
        except (RunRefused, UploadRefused) as refused:
            return self._again(request, session, fields, refused)
        return go_on(request, session)

    async def start(self, request: Request) -> Response:
        """Start the run of a session."""
        session, fields = self._session(request), request.scope["fields"]
        try:
            if files := taken(request.scope["files"]):
                await self._runs.keep(session, files)
            await self._runs.start(session, fields)
        except (RunRefused, UploadRefused) as refused:
            return self._again(request, session, fields, refused)
        return go_on(request, session)

    def _again(
        self,
        request: Request,
        session: SessionFolder | None,
        fields: Mapping[str, str],
        refused: RunRefused | UploadRefused,
    ) -> Response:
        """The form as it was sent, with what was wrong; a program is told in a sentence."""
        if isinstance(refused, UploadRefused):
            refused = RunRefused(400, str(refused), {"files": str(refused)})
        form = self._runs.form(session)
        if is_program(request.headers) or form.locked:
            raise refused
        if session is not None:
            self._runs.remember(session, fields)
        asked: Asked = request.scope["asked"]
        form = tried_form(form, fields, refused.fields or {"": str(refused)})
        return HTMLResponse(pages.render_start(asked, session, form), refused.status)


def go_on(request: Request, session: SessionFolder) -> Response:
    """To the session's page; a script is told where it is."""
    address = f"/s/{quote(session.id)}"
    if "x-vera" in request.headers:
        return Response(status_code=204, headers={"location": address})
    return RedirectResponse(address, 303)
