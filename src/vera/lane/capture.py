"""A page taken by the host: its bytes, the receipt of how they came, and the text that can be cited.

Of a rendered page the bytes are its DOM and the receipt names the browser that made it. The text is made from
these bytes as from those of any page, so that anyone can make it again without a browser.
"""

import asyncio
import shlex
from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit

import msgspec

from vera import events
from vera.evidence.low_signal import low_signal
from vera.evidence.moves import urls_in
from vera.extraction.extractor import Extractor
from vera.extraction.marks import told
from vera.extraction.source import Extracted, Unreadable
from vera.lane.at_work import AtWork
from vera.lane.observation import numbered
from vera.lane.tools import EvidenceDraft
from vera.sandbox.egress.authority import Authority
from vera.sandbox.fetch.fetcher import Fetcher
from vera.sandbox.fetch.receipt import Fetched, FetchError, Receipt
from vera.sandbox.fetch.tap import Tap
from vera.sandbox.render.rendered import RenderError, RenderReceipt
from vera.sandbox.render.renderer import Renderer
from vera.sanitize import one_line
from vera.text.span import Lines

PRINTED_BYTES = 200_000
"""Of a page's text, what the box's command `fetch` prints at most; the whole of it is evidence."""

NO_TEXT = "it holds no text"
"""How the extractor says that a document was read and is empty."""

PROPOSED = 3
"""Addresses of one host that are proposed after a command that reached it over TLS."""

SUFFIXES = {
    "text/html": ".html",
    "application/xhtml+xml": ".html",
    "application/pdf": ".pdf",
    "application/json": ".json",
    "text/csv": ".csv",
    "text/markdown": ".md",
    "text/plain": ".txt",
}


class Capture:
    """Gets URLs through one fetcher, or has them rendered, and makes evidence of what comes."""

    def __init__(self, fetcher: Fetcher, extractor: Extractor, renderer: Renderer | None = None) -> None:
        self._fetcher = fetcher
        self._extractor = extractor
        self._renderer = renderer

    def can_render(self) -> bool:
        """Whether pages can be rendered here. May block for a moment."""
        return self._renderer is not None and self._renderer.can_render()

    async def get(self, url: str) -> EvidenceDraft:
        """The page as evidence, whatever its status. Raises FetchError, or Unreadable (no text in it).

        A page whose text its scripts would bring is evidence even when it has none: that it came like this.
        """
        return await self._draft(await self._fetcher.fetch(url), "fetch")

    async def passed(self, fetched: Fetched) -> EvidenceDraft:
        """A page that a command got, as evidence. Raises Unreadable (no text in it)."""
        return await self._draft(fetched, "shell")

    async def _draft(self, fetched: Fetched, how: str) -> EvidenceDraft:
        name = fetched.receipt.url.partition("?")[0] + SUFFIXES.get(fetched.receipt.media_type, "")
        # In a thread: a large PDF takes seconds, and other lanes and the tunnel go on meanwhile.
        receipt = fetched.receipt
        extracted = await asyncio.to_thread(self._extract, fetched, name)
        lines = len(Lines(extracted.text))
        return EvidenceDraft(
            tier="captured",
            source=one_line(receipt.url, 2000),
            summary=f"{how} {one_line(receipt.url, 120)} · HTTP {receipt.status} · {lines} lines",
            text=extracted.text,
            first=1,
            last=lines,
            lines=lines,
            title=extracted.title,
            media_type=extracted.media_type,
            extractor=extracted.extractor,
            raw=None if fetched.body == extracted.text else fetched.body,
            pages=extracted.pages,
            marks=extracted.marks,
            dated=extracted.dated,
            receipt=_as_json(receipt),
            http_status=fetched.status,
            low_signal=_low_signal(fetched, extracted.text),
        )

    async def render(self, url: str) -> EvidenceDraft:
        """The DOM of the page as evidence, whatever its status. Raises RenderError, or Unreadable."""
        if self._renderer is None:
            raise RenderError("Pages are not rendered here: fetch the URL without render.", "no_browser")
        rendered = await self._renderer.render(url)
        extracted = await asyncio.to_thread(self._extractor.extract, rendered.dom, "dom.html")
        lines = len(Lines(extracted.text))
        receipt = rendered.receipt
        return EvidenceDraft(
            tier="captured",
            source=one_line(receipt.url, 2000),
            summary=f"fetch --render {one_line(receipt.url, 120)} · {_browser_and_status(receipt)} · "
            f"{lines} lines",
            text=extracted.text,
            first=1,
            last=lines,
            lines=lines,
            title=extracted.title,
            media_type=extracted.media_type,
            extractor=extracted.extractor,
            raw=rendered.dom,
            marks=extracted.marks,
            dated=extracted.dated,
            receipt=_as_json(receipt),
            http_status=receipt.status,
            shown=rendered.picture,
        )

    def _extract(self, fetched: Fetched, name: str) -> Extracted:
        """Raises Unreadable, but for a page that only seems to have no text."""
        try:
            return self._extractor.extract(fetched.body, name)
        except Unreadable as unreadable:
            if str(unreadable) != NO_TEXT or not _low_signal(fetched, b""):
                raise
            return Extracted(text=b"", title="", media_type=fetched.receipt.media_type, extractor="")


class FetchCommand:
    """The host's side of the command `fetch [--render] URL` in a box, for the lane at work."""

    def __init__(self, capture: Capture, at_work: AtWork) -> None:
        self._capture = capture
        self._at_work = at_work

    async def __call__(self, url: str, render: bool) -> tuple[int, bytes]:
        """The HTTP status for the box's command, and what it prints."""
        record = self._at_work.record
        if record is None:
            return 503, b"fetch: no lane is at work.\n"
        if objection := self._at_work.refuses_page(url):
            return 403, f"fetch: refused: {objection}\n".encode("utf-8", "replace")
        try:
            draft = await (self._capture.render(url) if render else self._capture.get(url))
        except (FetchError, RenderError, Unreadable) as error:
            return 502, f"fetch: {error}\n".encode("utf-8", "replace")
        evidence_id = record(draft, "fetch")
        head = f"{evidence_id} · {draft.summary} · captured\n"
        body = (
            "\n".join(numbered(Lines(told(draft.text, draft.marks)), 1, draft.lines))
            if draft.lines
            else "(empty)"
        )
        data = body.encode("utf-8", "replace")
        if len(data) > PRINTED_BYTES:
            data = data[:PRINTED_BYTES] + f"\n[cut here: read {evidence_id} shows the rest]".encode()
        came = draft.lines > 0 and (draft.http_status or 0) < 400
        return (200 if came else 502), head.encode() + data + b"\n"


class CommandPages:
    """The pages that commands in a box get with their own programs (curl, wget, Python).

    Over plain HTTP the host reads them while they pass, and they are evidence as a fetched page is. Into TLS
    it cannot look: there, and where a page was lost, `fetch` is proposed.
    """

    def __init__(self, tap: Tap, capture: Capture) -> None:
        self._tap = tap
        self._capture = capture

    async def of(
        self, command: str, known: Iterable[events.Evidence]
    ) -> tuple[tuple[EvidenceDraft, ...], tuple[str, ...]]:
        """What passed since the last command: pages as evidence, and a line for the model for each that did
        not become evidence. `known` is the evidence so far."""
        taken = self._tap.take()
        drafts: list[EvidenceDraft] = []
        said: list[str] = []
        for page in taken.pages:
            try:
                drafts.append(await self._capture.passed(page))
            except Unreadable as unreadable:
                url = one_line(page.receipt.url)
                said.append(f"{url} came, but holds no text that can be cited ({unreadable}).")
        for url, why in taken.lost:
            said.append(f"{one_line(url)} was not captured: {why}. {_to_cite(url)}")
        captured = {each.source: each.id for each in known if each.tier == "captured" and not each.lead}
        for where in taken.secured:
            said += _behind_tls(where, command, captured)
        return tuple(drafts), tuple(said)


def _behind_tls(where: Authority, command: str, captured: Mapping[str, str]) -> list[str]:
    """How to cite what came through TLS from a host: its addresses in the command, each once, else
    its first page."""
    named = [url for url in urls_in(command) if _is_at(url, where) and not set("${}*") & set(url)]
    urls = list(dict.fromkeys(named))[:PROPOSED] or [f"https://{where}/".replace(":443/", "/")]
    ways = [f"It is captured as {captured[url]}." if url in captured else _to_cite(url) for url in urls]
    return [f"What came from {where.host} is inside TLS, so it was not captured. {' '.join(ways)}"]


def _is_at(url: str, where: Authority) -> bool:
    try:
        split = urlsplit(url)
        return split.hostname == where.host and (split.port or 443) in (where.port, 80)
    except ValueError:
        return False


def _to_cite(url: str) -> str:
    return f"To cite it: fetch {shlex.quote(one_line(url))} (the tool, or the command in the shell)."


def _low_signal(fetched: Fetched, text: bytes) -> str:
    receipt = fetched.receipt
    return low_signal(fetched.body, receipt.media_type, text, http_status=fetched.status)


def _browser_and_status(receipt: RenderReceipt) -> str:
    status = "HTTP status unknown" if receipt.status is None else f"HTTP {receipt.status}"
    return f"{one_line(receipt.browser, 60)} · {status}"


def _as_json(receipt: Receipt | RenderReceipt) -> bytes:
    return msgspec.json.format(msgspec.json.encode(receipt)) + b"\n"
