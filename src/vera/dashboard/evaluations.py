"""The routes of evaluations: a list of what `vera eval` kept below the base, and a page for each result."""

import asyncio
import os
from collections.abc import Mapping
from typing import Any

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from vera.dashboard.pages import TEMPLATES
from vera.dashboard.sessions import NoSession, SessionFolder, Sessions
from vera.report.evaluation import (
    FILE,
    MISSES,
    OUTCOMES,
    Asked,
    Evaluation,
    EvaluationError,
    Share,
    read_evaluation,
)
from vera.report.html.environment import environment
from vera.report.view.words import number

MAX_RESULTS = 50
"""Results that the list reads."""

ROWS = 200
"""Questions of one page."""

MAX_DIGITS = 9


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """A result of the list, or the `problem` with its file."""

    folder: SessionFolder
    found: Evaluation | None = None
    problem: str = ""


class Line(msgspec.Struct, frozen=True):
    """A question of a page: the key of its outcome, and the id of its session where there is one."""

    asked: Asked
    outcome: str
    session: str


class Evaluations:
    """The handlers."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    def routes(self) -> list[Route]:
        return [Route("/evaluations", self.all), Route("/evaluations/{id}", self.one)]

    async def all(self, request: Request) -> Response:
        folders = await asyncio.to_thread(self._sessions.holding, FILE, MAX_RESULTS + 1)
        results = [await asyncio.to_thread(_result, each) for each in folders[:MAX_RESULTS]]
        results.sort(key=lambda each: (-each.found.ended if each.found else 0.0, each.folder.name))
        return _page(request, "evaluations", results=results, more=len(folders) > MAX_RESULTS)

    async def one(self, request: Request) -> Response:
        folder = self._sessions.by_id(request.path_params["id"])
        if not os.path.lexists(folder.path / FILE):
            raise HTTPException(404, f"There is no {FILE} in {folder.name}.")
        try:
            found = await asyncio.to_thread(read_evaluation, folder.path)
        except EvaluationError as error:
            raise HTTPException(409, f"{folder.name}: {error}") from None
        only_misses, first = "misses" in request.query_params, _first(request)
        misses = found.misses()
        chosen = misses if only_misses else found.each
        lines = await asyncio.to_thread(self._lines, folder, found, chosen[first : first + ROWS])
        return _page(
            request,
            "evaluation",
            folder=folder,
            found=found,
            lines=lines,
            first=first,
            count=len(chosen),
            misses=len(misses),
            only_misses=only_misses,
        )

    def _lines(self, folder: SessionFolder, found: Evaluation, asked: tuple[Asked, ...]) -> list[Line]:
        return [
            Line(each, each.outcome(found.figures.accepted), self._session(folder, each.session))
            for each in asked
        ]

    def _session(self, folder: SessionFolder, name: str) -> str:
        """The id of a session that lies in the folder; '' for a name that leads anywhere else, or nowhere."""
        if "/" in name:
            return ""
        try:
            session = self._sessions.by_work_dir(os.fspath(folder.path / name))
        except NoSession:
            return ""
        return session.id if session.log.is_file() else ""


def _result(folder: SessionFolder) -> Result:
    try:
        return Result(folder=folder, found=read_evaluation(folder.path))
    except EvaluationError as error:
        return Result(folder=folder, problem=str(error))


def _first(request: Request) -> int:
    text = request.query_params.get("first", "0")
    if not (text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS):
        raise HTTPException(400, "'first' has to be a number.")
    return int(text)


def _page(request: Request, template: str, **values: Any) -> HTMLResponse:
    shown: Mapping[str, Any] = {
        **values,
        "asked": request.scope["asked"],
        "share": share_in_words,
        "OUTCOMES": OUTCOMES,
        "MISSES": MISSES,
        "ROWS": ROWS,
    }
    return HTMLResponse(environment(TEMPLATES).get_template(f"{template}.html.j2").render(shown))


def share_in_words(share: Share) -> str:
    """`75.0 % (50.0–90.0), 12 of 16`; a dash for a share of nothing."""
    if share.value is None:
        return "–"
    interval = f" ({100 * share.interval[0]:.1f}–{100 * share.interval[1]:.1f})" if share.interval else ""
    return f"{100 * share.value:.1f} %{interval}, {number(share.count)} of {number(share.of)}"
