"""Renders pages: a fresh box, one browser, one page; the DOM comes out, and nothing else."""

import asyncio
import hashlib
import json
import os
import shlex
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from vera.decode_errors import DECODE_ERRORS
from vera.sandbox.egress.authority import AuthorityError
from vera.sandbox.egress.dial import Dialer
from vera.sandbox.egress.proxy import EgressProxy
from vera.sandbox.egress.secrets import Secrets
from vera.sandbox.egress.types import Connection, EgressLimits, Policy, Request
from vera.sandbox.engine_events import Tell
from vera.sandbox.fetch.url import normalise
from vera.sandbox.render import chromium
from vera.sandbox.render.browser_location import BrowserBox, open_browser_box, ways
from vera.sandbox.render.rendered import Answer, Picture, Piece, Rendered, RenderError, RenderReceipt
from vera.sandbox.spec import BoxSpec, MiB
from vera.sandbox.types import BoxError

DRIVER = Path(__file__).with_name("driver.py")
DOM_FILE = "dom.html"
PICTURE_FILE, LAYOUT_FILE = "picture.webp", "layout.json"
PICTURE_WIDTH, MAX_HEIGHT = 1000, 6000
"""Pixels of the picture of a page; what is further down is not on it."""

MAX_PICTURE, MAX_LAYOUT = 2 << 20, 4 << 20
"""Bytes of a picture, and of where its text is. A page with more has none."""

PAGES = ("", "text/html", "application/xhtml+xml")

MAX_CONNECTIONS = 200
MAX_PROBLEM = 300
# Of a page's time, the part that is kept for taking its DOM: a third, and no more than this.
MAX_RESERVED_SECONDS = 10.0
# Enough for a page and what it loads. It is not where files are downloaded or uploaded.
TUNNEL = EgressLimits(requests=2000, uploaded=4 << 20, uploaded_to_host=1 << 20, downloaded=256 << 20)
# Chromium's threads count as processes.
PROCESSES = 512
PROFILE_SPACE = 1024 * MiB

UNKNOWN = (
    "The bytes that came from each server are not kept: the DOM is what the page's scripts made of them.",
    "What passed inside TLS was seen by the browser alone: the status and the certificates are its word.",
    "Text inside frames, canvases and shadow trees is no part of the DOM.",
)


@dataclass(frozen=True, kw_only=True)
class RenderLimits:
    """Bounds of one page: `seconds` of wall time, the start of its box included; `dom` bytes;
    `page_seconds` of the page's own clock, which runs ahead while nothing is loaded, so that timers are not
    waited for. `at_once` pages are rendered, others wait."""

    seconds: float = 45.0
    dom: int = 8 << 20
    page_seconds: float = 10.0
    at_once: int = 1


class Renderer:
    """Renders pages under one egress policy; keeps nothing between two.

    `backend` is the sandbox that the person chose and `base_image` what docker's image is built on. `log`
    gets one record for each connection, `tell` what happens to each box; `run` and `lane` are on its label.
    """

    def __init__(
        self,
        policy: Policy,
        dialer: Dialer,
        *,
        backend: str,
        base_image: str,
        secrets: Secrets | None = None,
        limits: RenderLimits | None = None,
        log: Callable[[Connection], object] | None = None,
        tell: Tell | None = None,
        run: str = "",
        lane: str = "main",
    ) -> None:
        self._policy = policy
        self._dialer = dialer
        self._backend = backend
        self._base_image = base_image
        self._secrets = secrets or Secrets()
        self._limits = limits or RenderLimits()
        self._log = log or (lambda connection: None)
        self._tell = tell
        self._run, self._lane = run, lane
        self._free = asyncio.Semaphore(self._limits.at_once)

    def can_render(self) -> bool:
        """Whether there is a browser for a box. May block for a moment."""
        try:
            return bool(ways(self._backend, self._base_image)[0])
        except BoxError:
            return False

    async def render(self, url: str) -> Rendered:
        """The page as a browser has it in the end, whatever its HTTP status. Raises RenderError."""
        target = self._admitted(url)
        async with self._free:
            work = Path(tempfile.mkdtemp(prefix="vera-render-"))
            try:
                return await self._within_time(url.strip(), target, work)
            except TimeoutError:
                raise RenderError(
                    f"{target} was not rendered within {self._limits.seconds:g} s.", "timeout"
                ) from None
            except BoxError as error:
                raise RenderError(f"{target} was not rendered: {error}", "failed") from None
            finally:
                await asyncio.to_thread(shutil.rmtree, work, True)

    def _admitted(self, url: str) -> str:
        """The URL as the browser gets it. Raises RenderError before any box is started."""
        if self._secrets.found_in(url):
            raise RenderError("The URL is not rendered: a key or password of this run is in it.", "refused")
        try:
            target = normalise(url)
        except AuthorityError as error:
            raise RenderError(str(error), "url") from None
        where = target.authority
        asked = Request(method="GET", host=where.host, port=where.port, url=str(target))
        decision = self._policy.decide(asked)
        if not decision.allowed:
            raise RenderError(f"{target} is not rendered: {decision.reason}.", "refused")
        # It is never sent; the pages of many applications are told apart by it alone.
        _, mark, fragment = url.strip().partition("#")
        is_plain = fragment.isascii() and fragment.isprintable() and " " not in fragment
        return f"{target}{mark}{fragment}" if is_plain else str(target)

    async def _within_time(self, requested: str, target: str, work: Path) -> Rendered:
        """Raises TimeoutError, BoxError, RenderError."""
        started, began = time.time(), time.monotonic()
        connections: list[Connection] = []

        def log(connection: Connection) -> None:
            # A browser opens spare connections to its proxy and asks nothing on them: they lead nowhere.
            if connection.method or connection.bytes_up:
                connections.append(connection)
                self._log(connection)

        proxy = EgressProxy(self._policy, self._dialer, secrets=self._secrets, limits=TUNNEL, log=log)
        spec = BoxSpec(work=work, pids=PROCESSES, tmp=PROFILE_SPACE, run=self._run, lane=self._lane)
        async with asyncio.timeout(self._limits.seconds):
            browser = await open_browser_box(
                self._backend, self._base_image, spec, egress=proxy.serve, tell=self._tell
            )
            try:
                answer = await self._drive(browser, target, began)
            finally:
                await browser.box.close()  # each connection has its record after it
        connections.sort(key=lambda connection: connection.started)
        final = _document(target, answer, connections)
        dom = await asyncio.to_thread(_read_dom, work, self._limits.dom)
        picture = await asyncio.to_thread(_read_picture, work, answer.height) if answer.height else None
        receipt = RenderReceipt(
            requested=requested,
            url=final,
            browser=answer.browser,
            backend=browser.box.backend,
            isolation=browser.box.isolation,
            status=answer.status,
            media_type=answer.media_type.lower(),
            tls=answer.tls,
            settled=answer.settled,
            page_seconds=self._limits.page_seconds,
            connections=tuple(connections[:MAX_CONNECTIONS]),
            connection_count=len(connections),
            size=len(dom),
            sha256=hashlib.sha256(dom).hexdigest(),
            started=started,
            seconds=time.monotonic() - began,
            unknown=UNKNOWN,
        )
        return Rendered(receipt=receipt, dom=dom, picture=picture)

    async def _drive(self, browser: BrowserBox, target: str, began: float) -> Answer:
        limits = self._limits
        left = limits.seconds - (time.monotonic() - began)
        reserved = min(MAX_RESERVED_SECONDS, limits.seconds / 3)
        order = {
            "argv": chromium.command(browser.program),
            "url": target,
            "seconds": left - reserved,
            "grace": reserved / 3,
            "budget_ms": limits.page_seconds * 1000,
            "most_bytes": limits.dom,
            "dom": f"{browser.box.work}/{DOM_FILE}",
            "picture": f"{browser.box.work}/{PICTURE_FILE}",
            "layout": f"{browser.box.work}/{LAYOUT_FILE}",
            "width": PICTURE_WIDTH,
            "most_height": MAX_HEIGHT,
            "log": chromium.LOG,
        }
        source = await asyncio.to_thread(DRIVER.read_text, "utf-8")
        command = shlex.join(["python3", "-I", "-S", "-c", source, json.dumps(order)])
        result = await browser.box.run(command, timeout=left)
        if result.reason != "exited":
            raise TimeoutError
        try:
            return msgspec.json.decode(result.head, type=Answer)
        except DECODE_ERRORS:
            said = " ".join(result.head.decode("utf-8", "replace").split())[:MAX_PROBLEM]
            raise BoxError(f"the browser's driver failed: {said}") from None


def _document(target: str, answer: Answer, connections: Sequence[Connection]) -> str:
    """The URL of the document that was rendered. Raises RenderError when there is none available."""
    blocked = [each for each in connections if each.verdict != "allowed"]
    if answer.kind:
        if blocked and answer.problem.startswith("net::"):
            raise _not_reached(target, blocked[-1])  # nothing else was asked for after it
        problem = " ".join(answer.problem.split())[:MAX_PROBLEM]
        raise RenderError(f"{target} was not rendered: {problem}.", answer.kind)
    try:
        document = str(normalise(answer.url))
    except AuthorityError:
        raise RenderError(f"{target} leads to no web page but to {answer.url[:100]!a}.", "failed") from None
    _insist_on_reached(target, document, connections)
    if answer.media_type.lower() not in PAGES:
        raise RenderError(
            f"{target} is {answer.media_type[:60]!a}, no web page: fetch it without rendering.", "failed"
        )
    _, mark, fragment = answer.url.partition("#")
    return f"{document}{mark}{fragment}" if fragment.isascii() and fragment.isprintable() else document


def _insist_on_reached(target: str, document: str, connections: Sequence[Connection]) -> None:
    """Raises RenderError where the document was asked for and never allowed: what the browser then shows is
    our own refusal."""
    asked = [each for each in connections if each.url == document]
    if asked and all(each.verdict != "allowed" for each in asked):
        raise _not_reached(target, asked[0])


def _not_reached(target: str, connection: Connection) -> RenderError:
    if connection.verdict == "refused":
        return RenderError(f"{target} is not rendered: {connection.reason}.", "refused")
    return RenderError(f"{target} cannot be rendered: {connection.reason}.", "failed")


def _read_dom(work: Path, most: int) -> bytes:
    """What the box left as its DOM. Raises BoxError."""
    try:
        data = _read(work / DOM_FILE, most)
    except OSError as error:
        raise BoxError(f"the browser left no DOM ({error.strerror}).") from None
    if data is None:
        raise BoxError("the browser left something else than a DOM.")
    return data


def _read_picture(work: Path, height: int) -> Picture | None:
    """What the box left as the picture of the page; None where it left none, or one that is too large."""
    try:
        data, layout = _read(work / PICTURE_FILE, MAX_PICTURE), _read(work / LAYOUT_FILE, MAX_LAYOUT)
        pieces = msgspec.json.decode(layout or b"", type=list[Piece])
    except (OSError, *DECODE_ERRORS):
        return None
    if data is None or data[:4] != b"RIFF" or data[8:12] != b"WEBP" or height > MAX_HEIGHT:
        return None
    return Picture(data=data, layout=msgspec.json.encode(pieces), width=PICTURE_WIDTH, height=height)


def _read(path: Path, most: int) -> bytes | None:
    """A regular file of no more than `most` bytes, that is no link; None for any other. Raises OSError."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with open(os.open(path, flags), "rb") as file:  # noqa: PTH123 - a descriptor
        if stat.S_ISREG(os.fstat(file.fileno()).st_mode) and len(data := file.read(most + 1)) <= most:
            return data
    return None
