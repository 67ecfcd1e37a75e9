"""The dashboard's routes, and what stands behind each.

Every page is made by a function of `pages` (values in, HTML out) and every effect on a run by `runs`; what is
new in a session goes out as a stream (`stream`). After a form the answer is 303 to the session's page, and
with the header `X-Vera` 204 with its `Location`. What is refused is a page for a browser, and for a program
or a script one sentence as text, with the same status.
"""

import asyncio
import contextlib
import gzip
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from functools import partial
from http import HTTPStatus
from pathlib import Path

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from vera.config.handed import Allowed
from vera.dashboard import pages, pdf_pages
from vera.dashboard.again import NOTHING_AROUND, REFUSED, Around, around, filled, sentence_of
from vera.dashboard.downloads import attachment, download, stored_bytes
from vera.dashboard.evaluations import Evaluations
from vera.dashboard.follow import Follower, Followers
from vera.dashboard.guard import Guard, is_program
from vera.dashboard.keeping import Keeping
from vera.dashboard.list_watch import LIST, ListWatch
from vera.dashboard.log_ends import MAIN_LANE
from vera.dashboard.metrics import MAX_NARROWED, BaseMetrics
from vera.dashboard.overview import Overview
from vera.dashboard.query_params import Asked
from vera.dashboard.refused_form import page_before, refused_form
from vera.dashboard.rendered_places import place_svg
from vera.dashboard.run_form import StartForm, tried_form
from vera.dashboard.runs import RunRefused, Runs
from vera.dashboard.session_index import KINDS, REVERSED, SORTS, Wanted
from vera.dashboard.sessions import NoSession, SessionFolder, Sessions
from vera.dashboard.shares import share
from vera.dashboard.start_routes import KEPT_BY_BACK, StartRoutes, go_on
from vera.dashboard.static_files import StaticFiles
from vera.dashboard.step_index import StepIndex, StepIndexes
from vera.dashboard.step_view import loader, request_of, step_view
from vera.dashboard.stream import EventStream, Followed, page_chunks, record_chunks, shared_chunks
from vera.dashboard.tokens import Tokens
from vera.dashboard.two_runs import Run, flat
from vera.report.view.changes import PARTS
from vera.report.view.model import Header
from vera.report.view.versioned_cache import VersionedCache
from vera.session.tags import read_tags
from vera.store import Store, StoreError

METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]"})
MAX_OFFSET_DIGITS = 16
LARGE_LOG = 4 << 20
"""Bytes of a log that are not read yet, from which on its page may say first that it is being read."""

PATIENCE_SECONDS = 0.8
"""What a page waits for them."""

MAX_SHARED = 64
"""Sessions whose pages share a stream."""

COMPRESSED_FROM = 1024
"""Bytes of an answer that is compressed for a browser that takes it; a stream of events never is."""

COMPRESSION = 4
"""The level of gzip: 6 takes half as long again for a page that is 4 % smaller."""

MAX_PACKED = 128 << 10
"""Bytes of metrics whose compressed form is kept for the next who asks; larger ones are compressed each time,
in a thread."""


_BARE = {"content-security-policy": "default-src 'none'", "x-content-type-options": "nosniff"}
_ROUTING = {404: "There is nothing at this address.", 405: "That cannot be done at this address."}
_OWN_FAULT = "Something went wrong here. What it was stands where 'vera dashboard' was started."


def create_app(
    base_dir: Path,
    *,
    token: str,
    hosts: frozenset[str] = LOOPBACK,
    any_address: bool = False,
    allowed: Allowed | None = None,
) -> Starlette:
    """The dashboard of a base folder, for whoever has the token.

    `hosts` are the names by which it may be called, without ports; `any_address`: by any IP address too.
    `allowed` is what a form may set beside what `config.trust` says. Raises NotADirectoryError when there is
    no such folder.
    """
    dashboard = Dashboard(base_dir, allowed)
    guard = Middleware(
        Guard,
        tokens=Tokens(token),
        hosts=hosts,
        any_address=any_address,
        static=dashboard.static.prefix,
        login_page=pages.render_login,
    )
    packed = Middleware(GZipMiddleware, minimum_size=COMPRESSED_FROM, compresslevel=COMPRESSION)
    app = Starlette(
        routes=dashboard.routes(),
        middleware=[guard, packed],
        exception_handlers={
            HTTPException: _http_problem,
            NoSession: _problem(404),
            RunRefused: _run_refused,
            StoreError: _problem(404),
            Exception: _own_fault,
        },
        lifespan=dashboard.lifespan,
    )
    app.router.redirect_slashes = False
    app.state.end_streams = dashboard.end_streams
    return app


class Dashboard:
    """The handlers of one app."""

    def __init__(self, base_dir: Path, allowed: Allowed | None = None) -> None:
        self.sessions = Sessions(base_dir)
        self.runs = Runs(self.sessions.base, self.sessions, allowed)
        self.followers = Followers(lambda session: self.runs.status(session).alive, self._live_texts)
        self.overview = Overview(self.sessions, self.followers)
        self.list_watch = ListWatch(self.sessions, lambda: self.overview.unread)
        self.metrics = BaseMetrics(self.sessions)
        self.packed = VersionedCache(1 + MAX_NARROWED)
        self.static = StaticFiles()
        self.indexes = StepIndexes()
        self.keeping = Keeping(self.sessions, self.followers)
        self.pdf_pages = pdf_pages.PdfPages()

    @contextlib.asynccontextmanager
    async def lifespan(self, app: Starlette) -> AsyncIterator[None]:
        yield
        self.end_streams()
        self.overview.close()
        await self.runs.close()

    def end_streams(self) -> None:
        """Let every stream end."""
        self.followers.close()
        self.list_watch.close()

    def routes(self) -> list[Route]:
        """Every route, in order."""
        return [
            Route("/", self.index),
            Route("/compare", self.two_runs),
            Route("/over-time", self.over_time),
            Route("/new", self.new, methods=["POST"]),
            *StartRoutes(self.runs, self._session).routes(),
            Route("/events", self.events_of_work_dir),
            Route("/events/pages", self.shared_events),
            Route("/metrics", self.exposition),
            Route("/healthz", healthz),
            Route("/login", self.login),
            Route("/static/{version}/{name}", self.static_file),
            Route("/s/{id}", self.run_page),
            Route("/s/{id}/events", self.events),
            Route("/s/{id}/parts/{names}", self.parts),
            Route("/s/{id}/claim/{key:path}", self.claim),
            Route("/s/{id}/source/{sha256}", self.source),
            Route("/s/{id}/page/{sha256}", self.page_picture),
            Route("/s/{id}/place/{sha256}", self.rendered_place),
            Route("/s/{id}/file/{path:path}", self.file),
            Route("/s/{id}/share/{name}", self.share),
            Route("/s/{id}/bytes/{sha256}", self.bytes),
            Route("/s/{id}/steps", self.step_list),
            Route("/s/{id}/steps/{step}", self.step),
            Route("/s/{id}/steps/{step}/request", self.step_request),
            Route("/s/{id}/log/{name}", self.log),
            Route("/s/{id}/compare", self.compare),
            Route("/s/{id}/ask", self.ask_form),
            Route("/s/{id}/ask", self.ask, methods=["POST"]),
            Route("/s/{id}/again", self.again),
            Route("/s/{id}/stop", self.stop, methods=["POST"]),
            Route("/s/{id}/resume", self.resume, methods=["POST"]),
            Route("/s/{id}/replay", self.replay, methods=["POST"]),
            *self.keeping.routes(),
            *Evaluations(self.sessions).routes(),
        ]

    async def index(self, request: Request) -> Response:
        if work_dir := request.query_params.get("work_dir"):
            return RedirectResponse(f"/s/{self.sessions.by_work_dir(work_dir).id}", 303)
        began = time.time()
        listed = await self.overview.listed(_wanted(request))
        return HTMLResponse(pages.render_index(_asked(request), listed, began))

    async def over_time(self, request: Request) -> Response:
        wanted = _wanted(request)
        listed = await self.overview.listed(wanted)
        days = await self.overview.days(wanted)
        return HTMLResponse(pages.render_over_time(_asked(request), listed, days))

    async def two_runs(self, request: Request) -> Response:
        ids = request.query_params.getlist("s")
        if len(ids) != 2 or ids[0] == ids[1]:
            raise HTTPException(400, "Choose two sessions of the list to compare.")
        before, after = [await self._run(self._existing(self.sessions.by_id(each))) for each in ids]
        return HTMLResponse(pages.render_two_runs(_asked(request), before, after))

    async def _run(self, session: SessionFolder) -> Run:
        follower = self.followers.of(session)
        page = await follower.page()
        return Run(session=session, page=page, settings=flat(follower.settings()))

    async def login(self, request: Request) -> Response:
        if _asked(request).signed_in:
            return RedirectResponse("/", 303)
        return HTMLResponse(pages.render_login(_asked(request), "/", ""))

    async def run_page(self, request: Request) -> Response:
        session = self._session(request)
        follower = self.followers.of(session)
        if follower.unread > LARGE_LOG and not await follower.read_within(PATIENCE_SECONDS):
            reading = pages.render_reading(_asked(request), session, follower.offset, follower.unread)
            return HTMLResponse(reading, headers={"refresh": "1"})
        page = await follower.page()
        return HTMLResponse(
            pages.render_run(
                _asked(request, follower),
                session,
                page,
                self.runs.status(session),
                self.runs.form(session),
                follower.changed,
                follower.kept_parts,
                await self._around(follower),
                await asyncio.to_thread(read_tags, session.path),
            )
        )

    async def parts(self, request: Request) -> Response:
        session, names = self._session(request), request.path_params["names"].split(",")
        if not set(names) <= set(PARTS) or len(names) > len(PARTS):
            raise HTTPException(404)
        follower = self.followers.of(session)
        page = await follower.page()
        run = self.runs.recent_status(session)  # the page was made with it
        asked, kept = _asked(request, follower), follower.kept_parts
        around = await self._around(follower) if "header" in names else NOTHING_AROUND
        return HTMLResponse(
            pages.render_parts(asked, session, page, run, names, follower.changed, kept, around)
        )

    async def claim(self, request: Request) -> Response:
        session = self._session(request)
        follower = self.followers.of(session)
        page = await follower.page()
        return _found(
            pages.render_claim(_asked(request, follower), session, page, request.path_params["key"])
        )

    async def source(self, request: Request) -> Response:
        session = self._session(request)
        follower = self.followers.of(session)
        page = await follower.page()
        first, last = _number(request, "first"), _number(request, "last")
        return _found(
            pages.render_source(
                _asked(request, follower),
                session,
                page,
                request.path_params["sha256"],
                first,
                last,
                follower.store,
            )
        )

    async def page_picture(self, request: Request) -> Response:
        follower = self.followers.of(self._session(request))
        page = await follower.page()
        lines = _number(request, "first"), _number(request, "last")
        card = pdf_pages.card_of(page.claims, request.path_params["sha256"], *lines)
        if card is None or card.pdf is None:
            raise HTTPException(404, "No card cites these lines of a PDF.")
        try:
            whole = "whole" in request.query_params
            made = await self.pdf_pages.picture(follower.store, card, card.pdf, whole=whole)
            return pdf_pages.answer(made)
        except pdf_pages.Busy:
            raise HTTPException(503, "Other pages are being drawn. Try again in a moment.") from None

    async def rendered_place(self, request: Request) -> Response:
        follower = self.followers.of(self._session(request))
        page = await follower.page()
        lines = _number(request, "first"), _number(request, "last")
        card = pdf_pages.card_of(page.claims, request.path_params["sha256"], *lines)
        if card is None or card.shown is None:
            raise HTTPException(404, "No card cites these lines of a rendered page.")
        made = await asyncio.to_thread(place_svg, follower.store, card, card.shown)
        return pdf_pages.answer(made, "image/svg+xml")

    async def compare(self, request: Request) -> Response:
        session = self._session(request)
        follower = self.followers.of(session)
        page = await follower.page()
        a, b = _number(request, "a"), _number(request, "b")
        return _found(pages.render_compare(_asked(request, follower), session, page, a, b))

    async def log(self, request: Request) -> Response:
        session = self._session(request)
        before = _number(request, "before")
        return _found(pages.render_log(_asked(request), session, request.path_params["name"], before))

    async def file(self, request: Request) -> Response:
        follower = self.followers.of(self._session(request))
        page = await follower.page()
        path = request.path_params["path"]
        found = next((each for each in page.files if each.path == path and each.sha256), None)
        if found is None:
            raise HTTPException(404, "There is no such file among those that were handed in.")
        return await asyncio.to_thread(download, found, follower.store)

    async def bytes(self, request: Request) -> Response:
        store = Store(self._session(request).path / "store")
        return await asyncio.to_thread(stored_bytes, request.path_params["sha256"], store)

    async def step_list(self, request: Request) -> Response:
        session, lane = self._session(request), request.query_params.get("lane", MAIN_LANE)
        first = _number(request, "first")
        index = await self._index(session)
        return _found(pages.render_steps(_asked(request), session, index, lane, first))

    async def step(self, request: Request) -> Response:
        session = self._session(request)
        index, lane, step = (
            await self._index(session),
            request.query_params.get("lane", MAIN_LANE),
            _step(request),
        )
        load = loader(Store(session.path / "store"))
        try:
            view = await asyncio.to_thread(step_view, index, lane, step, load)
        except (OSError, ValueError) as error:
            raise HTTPException(409, f"That step cannot be read: {error}") from None
        return _found(pages.render_step(_asked(request), session, index, view) if view else None)

    async def step_request(self, request: Request) -> Response:
        session = self._session(request)
        index, load = await self._index(session), loader(Store(session.path / "store"))
        line = index.line(request.query_params.get("lane", MAIN_LANE), _step(request))
        found = await asyncio.to_thread(request_of, index, line, load) if line else None
        if line is None or found is None:
            raise HTTPException(404, "The model was not asked at that step.")
        if not found[1]:
            raise HTTPException(409, "The request made again from the log is not the one that was sent.")
        return attachment(found[0], f"step-{line.step}-request.json")

    async def share(self, request: Request) -> Response:
        session = self._session(request)
        follower = self.followers.of(session)
        page = await follower.page()
        return await asyncio.to_thread(share, request.path_params["name"], session, page, follower.cited)

    async def events(self, request: Request) -> EventStream:
        return self._stream(request, self._session(request))

    async def events_of_work_dir(self, request: Request) -> EventStream:
        work_dir = request.query_params.get("work_dir", "")
        return self._stream(request, self._existing(self.sessions.by_work_dir(work_dir)))

    async def shared_events(self, request: Request) -> EventStream:
        """One stream for several pages of a browser, named as `s=SESSION:OFFSET` (LIST for the list of them);
        a session that was removed ends for itself."""
        named = request.query_params.getlist("s")
        if not 0 < len(named) <= MAX_SHARED:
            raise HTTPException(400, f"Name 1 to {MAX_SHARED} sessions, each as s=SESSION:OFFSET.")
        wanted: dict[Followed, int] = {}
        gone: dict[str, str] = {}
        for each in named:
            name, _, text = each.partition(":")
            if name == LIST:
                wanted[self.list_watch] = min(_offset(text), wanted.get(self.list_watch, _offset(text)))
                continue
            session, offset = self.sessions.by_id(name), _offset(text)
            if not session.exists:
                gone[session.id] = f"There is no session in {session.name} any more."
                continue
            follower = self.followers.of(session)
            wanted[follower] = min(offset, wanted.get(follower, offset))
        return EventStream(shared_chunks(wanted, gone), *wanted)

    async def exposition(self, request: Request) -> Response:
        if work_dir := request.query_params.get("work_dir"):
            session = self._existing(self.sessions.by_work_dir(work_dir))
            text = await self.metrics.exposition_of(session)
        else:
            text = await self.metrics.exposition()
        headers = {"content-type": METRICS_TYPE}
        if len(text) <= MAX_PACKED and "gzip" in request.headers.get("accept-encoding", ""):
            text = self.packed.once((work_dir,), text, partial(gzip.compress, text, COMPRESSION, mtime=0))
            headers |= {"content-encoding": "gzip", "vary": "Accept-Encoding"}
        return Response(text, headers=headers)

    async def static_file(self, request: Request) -> Response:
        found = self.static.answer(request.path_params["version"], request.path_params["name"])
        if found is None:
            raise HTTPException(404)
        return found

    async def new(self, request: Request) -> Response:
        return go_on(request, await self.runs.new())

    async def ask_form(self, request: Request) -> Response:
        """The form for a question that follows a session, or for a sentence of it that is to be checked."""
        session, claim = self._session(request), request.query_params.get("claim", "")
        page = await self.followers.of(session).page()
        sentence = sentence_of(page, claim) if claim else ""
        if sentence is None:
            raise HTTPException(404)
        form = await self._filled(session, sentence, "thesis" if claim else "question")
        return HTMLResponse(pages.render_ask(_asked(request), session, page, form), headers=KEPT_BY_BACK)

    async def ask(self, request: Request) -> Response:
        session, fields = self._session(request), _fields(request)
        page = await self.followers.of(session).page()
        try:
            if page.header.verdict in REFUSED:
                sentence = f"This session is {page.header.verdict}: {page.header.reason}"
                in_a_terminal = f"vera ask --session {session.name} --trust-session"
                raise RunRefused(409, f"{sentence} If you trust it, go on in a terminal: {in_a_terminal}")
            if problems := await self.runs.check(fields):
                raise RunRefused(400, next(iter(problems.values())), problems)
            return go_on(request, await self.runs.follow(session, fields))
        except RunRefused as refused:
            form = self.runs.form(None)
            if is_program(request.headers) or form.locked:
                raise
            form = tried_form(form, fields, refused.fields or {"": str(refused)})
            return HTMLResponse(pages.render_ask(_asked(request), session, page, form), refused.status)

    async def again(self, request: Request) -> Response:
        """The form of a new session, with the task and the settings of this one."""
        session = self._session(request)
        follower = self.followers.of(session)
        page = await follower.page()
        kind = "thesis" if follower.kind() == "thesis" else "question"
        form = await self._filled(session, page.header.task, kind)
        form = msgspec.structs.replace(form, again_of=follower.begins)
        return HTMLResponse(pages.render_start(_asked(request), None, form), headers=KEPT_BY_BACK)

    async def _filled(self, session: SessionFolder, task: str, kind: str) -> StartForm:
        """The form with the settings of a session, and what of them a form may not choose here."""
        follower = self.followers.of(session)
        await follower.fresh()
        settings, origins = follower.settings(), follower.origins()
        blank, base = self.runs.form(None), self.sessions.base
        form = filled(blank, task, follower.input_dir(), settings, origins, base)
        problems = await self.runs.check({"task": task or "a question", **form.values})
        return msgspec.structs.replace(form, kind=kind, errors={} if form.locked else problems)

    async def _around(self, follower: Follower) -> Around:
        family = await self.overview.family(follower)
        return around(family, lambda name: self.sessions.folder(os.fsdecode(name)))

    async def stop(self, request: Request) -> Response:
        session = self._session(request)
        await self.runs.stop(session)
        return go_on(request, session)

    async def resume(self, request: Request) -> Response:
        session = self._session(request)
        await self.runs.resume(session, _fields(request))
        return go_on(request, session)

    async def replay(self, request: Request) -> Response:
        session = self._session(request)
        outcome = await self.runs.replay(session)
        return HTMLResponse(pages.render_replay(_asked(request), session, outcome))

    def _session(self, request: Request) -> SessionFolder:
        return self._existing(self.sessions.by_id(request.path_params["id"]))

    async def _index(self, session: SessionFolder) -> StepIndex:
        """The steps of a session, as far as its log was written."""
        index = self.indexes.of(session.log)
        await asyncio.to_thread(index.read)
        return index

    def _existing(self, session: SessionFolder) -> SessionFolder:
        if not session.exists:
            raise NoSession(f"There is no session in {session.name} (yet).")
        return session

    def _stream(self, request: Request, session: SessionFolder) -> EventStream:
        follower = self.followers.of(session)
        begin = _begin(request)
        if request.query_params.get("view") == "page":
            return EventStream(page_chunks(follower, begin), follower)
        return EventStream(record_chunks(follower, begin or 0), follower)

    def _live_texts(self, session: SessionFolder, header: Header) -> Mapping[str, str]:
        return pages.live_texts(header, self.runs.recent_status(session))


async def healthz(request: Request) -> Response:
    """Whether the server answers; for whoever asks."""
    return PlainTextResponse("ok\n")


def _asked(request: Request, follower: Follower | None = None) -> Asked:
    asked: Asked = request.scope["asked"]
    return msgspec.structs.replace(asked, notice=follower.problem) if follower else asked


def _fields(request: Request) -> Mapping[str, str]:
    fields: Mapping[str, str] = request.scope["fields"]
    return fields


def _begin(request: Request) -> int | None:
    """The offset that a stream is to begin at: what the browser saw last, or what the page has."""
    text = request.headers.get("last-event-id") or request.query_params.get("from")
    return None if text is None else _offset(text)


def _offset(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= MAX_OFFSET_DIGITS):
        raise HTTPException(400, "An event's id is a number: the byte behind its record in the log.")
    return int(text)


def _wanted(request: Request) -> Wanted:
    """The list of sessions that an address asks for."""
    given = {
        name: request.query_params.get(name, "")[: pages.MAX_ASKED]
        for name in ("q", "state", "kind", "batch", "tag")
    }
    sort = request.query_params.get("sort", "age")
    if sort.removeprefix(REVERSED) not in SORTS or given["kind"] not in ("", *KINDS):
        raise HTTPException(400, f"Sort by {', '.join(SORTS)}; the kinds are {', '.join(KINDS)}.")
    return Wanted(
        words=given["q"],
        state=given["state"],
        kind=given["kind"],
        batch=given["batch"],
        tag=given["tag"],
        sort=sort,
        page=max(1, _number(request, "page")),
    )


def _step(request: Request) -> int:
    text: str = request.path_params["step"]
    if not (text.isascii() and text.isdigit() and len(text) <= MAX_OFFSET_DIGITS):
        raise HTTPException(404)
    return int(text)


def _number(request: Request, name: str) -> int:
    text = request.query_params.get(name, "0")
    if not (text.isascii() and text.isdigit() and len(text) <= MAX_OFFSET_DIGITS):
        raise HTTPException(400, f"'{name}' has to be a number.")
    return int(text)


def _found(page: str | None) -> Response:
    if page is None:
        raise HTTPException(404)
    return HTMLResponse(page)


def _answer(
    request: Request, status: int, sentence: str, headers: Mapping[str, str] | None = None
) -> Response:
    if is_program(request.headers):
        return PlainTextResponse(f"{sentence}\n", status, headers=headers)
    back = page_before(request.url.path) if request.method == "POST" else ""
    page = pages.render_problem(_asked(request), status, sentence, back)
    return HTMLResponse(page, status, headers=headers)


def _problem(status: int) -> Callable[[Request, Exception], Awaitable[Response]]:
    async def answer(request: Request, error: Exception) -> Response:
        return _answer(request, status, str(error))

    return answer


async def _http_problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    by_router = error.detail == HTTPStatus(error.status_code).phrase
    sentence = _ROUTING.get(error.status_code, error.detail) if by_router else error.detail
    return _answer(request, error.status_code, sentence, error.headers)


async def _run_refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, RunRefused)
    form = refused_form(request.url.path, _fields(request), str(error), error.fields)
    if form is None or is_program(request.headers):
        return _answer(request, error.status, str(error))
    return HTMLResponse(pages.render_refused(_asked(request), form), error.status)


async def _own_fault(request: Request, error: Exception) -> Response:
    """Made outside of the guard, which is why it sets its headers itself."""
    return PlainTextResponse(f"{_OWN_FAULT}\n", 500, headers=_BARE)
