"""Pages that programs in a box get over plain HTTP: read by the host while they pass, whole or not at all.

What counts is what a host sent to the egress proxy. A server inside the box never speaks to the proxy, so
nothing in the box can put words into the mouth of a host that was not reached. What passes inside TLS cannot
be read here: of that only the host is known.
"""

import re
import time
from collections.abc import Callable
from typing import Any

import msgspec

from vera.content_coding import DecodeError, Decoder, TooLarge
from vera.sandbox.egress.authority import Authority, Url
from vera.sandbox.egress.head import CREDENTIALS, HOP_BY_HOP, RequestHead
from vera.sandbox.egress.types import PageWatch
from vera.sandbox.fetch.exchange import MAX_HEAD, ResponseHead
from vera.sandbox.fetch.receipt import Fetched
from vera.sandbox.fetch.reply import FetchReply, receipt_of

PAGE_BYTES = 16 << 20
"""The largest page that is kept, before and after decompression."""

HELD_BYTES = 32 << 20
"""All pages of one box that are held at once, unfinished ones included."""

MAX_EVENTS = 50_000
"""Pieces of one page: a host that sends a few bytes at a time costs time for each."""

MAX_PAGES = 12
"""Pages that are kept of one command, and hosts and lost pages that are told."""

_QUALITY = r"(?:\s?;\s?q=[01](?:\.\d{1,3})?)?"
_TYPES = (
    r"(?:\*/\*|text/(?:\*|html|plain|csv|xml)|application/(?:json|xml|xhtml\+xml|pdf)|image/(?:\*|webp|avif))"
)


def _listed(item: str) -> re.Pattern[str]:
    """Up to ten such items with their quality values, separated by commas; RFC 9110, section 12.5."""
    return re.compile(rf"{item}{_QUALITY}(?:\s?,\s?{item}{_QUALITY}){{0,9}}", re.IGNORECASE)


PLAIN_HEADERS = {
    "user-agent": re.compile(
        r"(?:curl|wget|python-urllib|python-requests|python-httpx|go-http-client|httpie)/\d{1,4}(?:\.\d{1,4}){0,3}",
        re.IGNORECASE,
    ),
    "accept": _listed(_TYPES),
    "accept-encoding": _listed(r"(?:identity|gzip|x-gzip|deflate|compress|br|zstd|\*)"),
    "accept-language": _listed(r"(?:[a-z]{2}(?:-[a-z]{2})?|\*)"),
    "cache-control": re.compile(r"no-cache|no-store|max-age=0"),
    "pragma": re.compile(r"no-cache"),
    "upgrade-insecure-requests": re.compile(r"1"),
    "dnt": re.compile(r"[01]"),
}
"""Headers of a request whose response is kept, with what they may say: what common clients send unasked. By
any other a program could have a host say what its address does not show."""

NOT_TEXT = frozenset({"text/css", "text/javascript", "text/event-stream"})
TEXT = re.compile(
    r"text/[a-z0-9.+-]{1,60}|application/(?:[a-z0-9.-]{1,60}\+)?(?:pdf|json|xml)|application/(?:xhtml\+xml|csv)"
)
"""Media types that a person could read."""


class Taken(msgspec.Struct, frozen=True, kw_only=True):
    """What passed since the last look: whole pages, those that were lost as (URL, why), and the hosts of TLS
    tunnels."""

    pages: tuple[Fetched, ...] = ()
    lost: tuple[tuple[str, str], ...] = ()
    secured: tuple[Authority, ...] = ()


class Tap:
    """The pages of one box. `wanted` says of a host whether its pages are sources at all.

    Bounded in memory: at most HELD_BYTES of pages, MAX_PAGES of them and as many names.
    """

    def __init__(self, wanted: Callable[[str], bool] = lambda host: True) -> None:
        self._wanted = wanted
        self._room = HELD_BYTES
        self._pages: dict[tuple[str, str], Fetched] = {}
        self._lost: dict[str, str] = {}
        self._secured: dict[Authority, None] = {}

    def secured(self, where: Authority) -> None:
        """A TLS tunnel to this host carries bytes."""
        if self._wanted(where.host) and len(self._secured) < MAX_PAGES:
            self._secured[where] = None

    def watch(self, head: RequestHead, address: str) -> PageWatch | None:
        """Reads the response to a plain request; None for one that is no visit to a page."""
        url = head.url
        if url is None or head.method != "GET" or head.length != 0 or not self._wanted(url.authority.host):
            return None
        return _Watch(self, url, head.fields, address)

    def take(self) -> Taken:
        """What passed since it was last asked, whose room is free again."""
        taken = Taken(
            pages=tuple(self._pages.values()),
            lost=tuple(self._lost.items()),
            secured=tuple(self._secured),
        )
        for page in taken.pages:
            self.give_back(len(page.body))
        self._pages, self._lost, self._secured = {}, {}, {}
        return taken

    def keep(self, page: Fetched) -> None:
        """A page came whole; its bytes are counted already. One that was kept is not kept twice."""
        key = (page.receipt.url, page.receipt.sha256)
        if key in self._pages:
            self.give_back(len(page.body))
        elif len(self._pages) < MAX_PAGES:
            self._pages[key] = page
        else:
            self.give_back(len(page.body))
            self.lose(page.receipt.url, f"it was more than the {MAX_PAGES}th page of one command")

    def lose(self, url: str, why: str) -> None:
        if len(self._lost) < MAX_PAGES:
            self._lost[url] = why

    def use(self, size: int) -> bool:
        """Whether so many bytes more may be held; they are counted if so."""
        if size > self._room:
            return False
        self._room -= size
        return True

    def give_back(self, size: int) -> None:
        self._room += size


class _Watch:
    """One response, fed as it comes from the host. After its end, or a reason to stop, it holds nothing."""

    def __init__(self, tap: Tap, url: Url, fields: tuple[tuple[str, str], ...], address: str) -> None:
        import h11

        self._tap = tap
        self._url = url
        self._asked = tuple(pair for pair in fields if pair[0].lower() not in HOP_BY_HOP | CREDENTIALS)
        self._address = address
        self._started, self._began = time.time(), time.monotonic()
        self._http: h11.Connection | None = h11.Connection(h11.CLIENT, max_incomplete_event_size=MAX_HEAD)
        self._http.send(h11.Request(method="GET", target=url.target, headers=[("Host", url.host_header)]))
        self._http.send(h11.EndOfMessage())
        self._head: ResponseHead | None = None
        self._decoder: Decoder | None = None
        self._body = bytearray()
        self._events = 0
        self._held = 0
        self._wire = 0

    def feed(self, data: bytes) -> None:
        """The next bytes of the response, head and coding included; b"" at its end."""
        import h11

        if self._http is None:
            return
        try:
            self._http.receive_data(data)
            while self._http is not None:
                event = self._http.next_event()
                if event is h11.NEED_DATA or event is h11.PAUSED:
                    return
                self._take(event)
        except h11.RemoteProtocolError:
            self._stop("it broke off" if self._head is not None else "")
        except TooLarge:
            self._stop(f"it is larger than the {PAGE_BYTES} bytes that are kept")
        except DecodeError as error:
            self._stop(str(error))

    def close(self) -> None:
        """Nothing more comes."""
        self._stop("the command did not read it to its end")

    def _take(self, event: Any) -> None:
        import h11

        match event:
            case h11.Response():
                self._begin(event)
            case h11.Data():
                self._add(bytes(event.data))
            case h11.EndOfMessage():
                self._finish()
            case h11.ConnectionClosed():
                self._stop("it broke off")

    def _begin(self, response: Any) -> None:
        headers = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in response.headers)
        head = ResponseHead(response.status_code, headers)
        media_type = head.header("content-type").partition(";")[0].strip().lower()
        if head.status != 200 or media_type in NOT_TEXT or not TEXT.fullmatch(media_type):
            self._stop("")
            return
        self._head = head
        if odd := _odd(self._asked):
            self._stop(f"it was asked for with the header {odd}")
            return
        announced = head.header("content-length")
        if announced.isdecimal() and int(announced[:20]) > PAGE_BYTES:
            raise TooLarge
        self._decoder = Decoder(head.header("content-encoding"), PAGE_BYTES)

    def _add(self, data: bytes) -> None:
        assert self._decoder is not None
        self._wire += len(data)
        piece = self._decoder.feed(data)
        if self._wire > PAGE_BYTES:
            raise TooLarge
        if not self._tap.use(len(piece)):
            self._stop(f"other pages of the command hold the {HELD_BYTES} bytes that are kept at once")
            return
        self._held += len(piece)
        self._body += piece
        self._events += 1
        if self._events > MAX_EVENTS:
            self._stop(f"it came in more than {MAX_EVENTS} pieces")

    def _finish(self) -> None:
        assert self._decoder is not None and self._head is not None
        self._decoder.finish()
        reply = FetchReply(
            url=self._url,
            head=self._head,
            address=self._address,
            tls="",
            certificate=b"",
            body=bytes(self._body),
            wire_size=self._wire,
            coding=self._decoder.coding,
        )
        receipt = receipt_of(str(self._url), reply, (), self._started, self._began)
        receipt = msgspec.structs.replace(receipt, asked=self._asked)
        self._held = 0  # the tap counts them from here on
        self._tap.keep(Fetched(receipt=receipt, body=reply.body))
        self._stop("")

    def _stop(self, why: str) -> None:
        """Let go of what was read; a page that a person could read and that did not come is told."""
        if self._http is None:
            return
        if why and self._head is not None:
            self._tap.lose(str(self._url), why)
        self._tap.give_back(self._held)
        self._http, self._body, self._held = None, bytearray(), 0


def _odd(asked: tuple[tuple[str, str], ...]) -> str:
    """The name of a header that no client sends like this by itself, '' for none."""
    for name, value in asked:
        usual = PLAIN_HEADERS.get(name.lower())
        if usual is None or not usual.fullmatch(value.strip()):
            return name
    return ""
