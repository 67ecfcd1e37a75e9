"""A page taken by the host: its bytes, the receipt of how they came, and the text that can be cited."""

import asyncio
from collections.abc import Callable

import msgspec

from vera.evidence.extractor import Extractor
from vera.evidence.source import Unreadable
from vera.evidence.span import Lines
from vera.lane.observation import numbered, one_line
from vera.lane.tools import EvidenceDraft
from vera.sandbox.fetch.fetcher import Fetcher
from vera.sandbox.fetch.receipt import Fetched, FetchError

PRINTED_BYTES = 200_000
"""Of a page's text, what the box's command `fetch` prints at most; the whole of it is evidence."""

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
    """Gets URLs through one fetcher and makes evidence of what comes."""

    def __init__(self, fetcher: Fetcher, extractor: Extractor) -> None:
        self._fetcher = fetcher
        self._extractor = extractor

    async def get(self, url: str) -> EvidenceDraft:
        """The page as evidence, whatever its status. Raises FetchError, or Unreadable (no text in it)."""
        fetched = await self._fetcher.fetch(url)
        name = fetched.receipt.url.partition("?")[0] + SUFFIXES.get(fetched.receipt.media_type, "")
        # In a thread: a large PDF takes seconds, and other lanes and the tunnel go on meanwhile.
        extracted = await asyncio.to_thread(self._extractor.extract, fetched.body, name)
        lines = len(Lines(extracted.text))
        receipt = fetched.receipt
        return EvidenceDraft(
            tier="captured",
            source=one_line(receipt.url, 2000),
            summary=f"fetch {one_line(receipt.url, 120)} · HTTP {receipt.status} · {lines} lines",
            text=extracted.text,
            first=1,
            last=lines,
            lines=lines,
            title=extracted.title,
            media_type=extracted.media_type,
            extractor=extracted.extractor,
            raw=None if fetched.body == extracted.text else fetched.body,
            pages=extracted.pages,
            receipt=_as_json(fetched),
            http_status=receipt.status,
        )


class FetchCommand:
    """The host's side of the command `fetch URL` in a box.

    `record` keeps the evidence and gives its id; it is set when there is a lane to keep it in.
    """

    def __init__(self, capture: Capture) -> None:
        self._capture = capture
        self.record: Callable[[EvidenceDraft, str], str] | None = None

    async def __call__(self, url: str) -> tuple[int, bytes]:
        """The HTTP status for the box's command, and what it prints."""
        if self.record is None:
            return 503, b"fetch: no lane is at work.\n"
        try:
            draft = await self._capture.get(url)
        except (FetchError, Unreadable) as error:
            return 502, f"fetch: {error}\n".encode("utf-8", "replace")
        evidence_id = self.record(draft, "fetch")
        head = f"{evidence_id} · {draft.summary} · captured\n"
        body = "\n".join(numbered(Lines(draft.text), 1, draft.lines)) if draft.lines else "(empty)"
        data = body.encode("utf-8", "replace")
        if len(data) > PRINTED_BYTES:
            data = data[:PRINTED_BYTES] + f"\n[cut here: read {evidence_id} shows the rest]".encode()
        return (200 if (draft.http_status or 0) < 400 else 502), head.encode() + data + b"\n"


def _as_json(fetched: Fetched) -> bytes:
    return msgspec.json.format(msgspec.json.encode(fetched.receipt)) + b"\n"
