"""What comes from the web: results of search engines, pages fetched or passing the proxy, whole sites."""

import asyncio
import contextlib
import gzip
import json
import random
from collections.abc import Iterable
from datetime import date

from assurance.batteries import Trial
from assurance.fuzzing import mutate
from assurance.fuzzing.hostile_server import HostileServer, pieces, reply
from assurance.fuzzing.row import Row
from support.connecting import gathered, reaching
from support.fake_brave import news_answer, news_result, web_answer, web_result
from support.fake_engines import (
    ATOM_ENTRY,
    ATOM_ERROR,
    OPENALEX_WORK,
    SEARXNG_RESULT,
    atom,
    openalex,
    searxng,
    wikipedia,
)
from support.fake_index import crossref, crossref_search
from support.fake_web import FakeClock, fetcher_to
from vera.connectors.basket import Limits
from vera.connectors.sitemap import BadSitemap, links_of, read_sitemap
from vera.connectors.values import ConnectorError
from vera.sandbox.egress.authority import AuthorityError, parse_authority, parse_url
from vera.sandbox.egress.dial import Dialer
from vera.sandbox.egress.head import HeadError, forwarded, parse_head
from vera.sandbox.egress.policy import NetworkPolicy
from vera.sandbox.egress.proxy import EgressProxy
from vera.sandbox.egress.secrets import Secrets
from vera.sandbox.egress.types import EgressLimits
from vera.sandbox.fetch.fetcher import FetchLimits
from vera.sandbox.fetch.receipt import FetchError
from vera.sandbox.fetch.tap import HELD_BYTES, Tap
from vera.sandbox.fetch.url import normalise
from vera.websearch.arxiv import Arxiv
from vera.websearch.brave import Brave
from vera.websearch.client import EngineClient
from vera.websearch.openalex import OpenAlex
from vera.websearch.searxng import SearXNG
from vera.websearch.throttle import SearchLimits
from vera.websearch.values import Engine, Malformed, Query
from vera.websearch.wikipedia import Wikipedia
from vera.websearch.works import Crossref, DoiRegistry, Index, OpenAlexWorks, says_unregistered

QUERY = Query(text="written offer GPL", today=date(2026, 11, 26))
JSON_ANSWERS = (
    json.loads(web_answer([web_result(1), web_result(2)]).body),
    json.loads(news_answer([news_result(1)]).body),
    json.loads(searxng([SEARXNG_RESULT], [["google", "CAPTCHA"]]).body),
    json.loads(wikipedia(["Ada Lovelace"]).body),
    json.loads(openalex([OPENALEX_WORK]).body),
    json.loads(crossref("Deep things")[1]),
    json.loads(crossref_search("A", "B")[1]),
    {"responseCode": 1, "handle": "10.1000/xyz"},
    {"error": {"code": "RATE_LIMITED", "detail": "slow down", "info": "x"}, "message": "no"},
)
FEEDS = (atom(ATOM_ENTRY, ATOM_ENTRY).body, atom(ATOM_ERROR).body, atom(before="<!DOCTYPE a []>").body)
PAGE = (
    b"<!doctype html><html><head><title>A page</title><base href='/b/'></head><body><h1>A page</h1>"
    b"<p>The offer is valid for <b>three</b> years.</p><a href='/c?d=e#f' rel='nofollow'>c</a>"
    b"<a href='http://other.test/'>o</a><table><tr><td>1</td></tr></table></body></html>"
)
SITEMAP = (
    b'<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
    b"<url><loc>HOST/docs/a.html</loc><lastmod>2026-01-01</lastmod></url>"
    b"<url><loc>HOST/docs/b.html</loc></url></urlset>"
)
SITEMAP_INDEX = b"<sitemapindex><sitemap><loc>HOST/more.xml</loc></sitemap></sitemapindex>"
ROBOTS = (
    b"User-agent: *\nDisallow: /private/*.html$\nAllow: /docs/\nCrawl-delay: 0.1\nSitemap: HOST/sitemap.xml\n"
)


def engines(base: str) -> tuple[Engine, ...]:
    brave = Brave("a-key", SearchLimits(min_interval_s=0.0), base=base)
    index: tuple[Index, ...] = (Crossref(base), OpenAlexWorks(base), DoiRegistry(base))
    return (brave, SearXNG(base), Wikipedia(base=base), OpenAlex(base=base), Arxiv(base=base), *index)


def answer_of(draw: mutate.Draw) -> bytes:
    if draw.random() < 0.2:
        return mutate.data(draw, FEEDS)
    return mutate.encoded(draw, draw.choice(JSON_ANSWERS))


def results(trial: Trial) -> None:
    """An answer of any engine is results, or it is Malformed."""
    body = answer_of(trial.random)
    for engine in engines("http://engine.test"):
        for kind in engine.kinds:
            query = Query(text="x", kind=kind, today=QUERY.today)
            with contextlib.suppress(Malformed):
                for hit in engine.read(query, body).hits:
                    str(hit).encode()
        engine.explain(503, body).encode()
    says_unregistered(body)


def engine_over_http(trial: Trial) -> None:
    """A search is a record, whatever the engine sends."""
    draw = trial.random
    sent = [
        list(reply(draw, answer_of(draw), draw.choice(("application/json", "text/html")), slow=False))
        for _ in range(3)
    ]

    async def ask(server: HostileServer) -> None:
        engine = draw.choice(engines(server.url))
        query = Query(text=draw.choice(mutate.SCRIPTS), kind=engine.kinds[0], today=QUERY.today)
        client = EngineClient(engine, FakeClock().clock())
        tried = await client.search(query, fetcher_to(server.port), Secrets(["a-secret-of-the-run"]))
        tried.call.reason.encode()

    with HostileServer(lambda request: sent[len(server.asked) % 3]) as server:
        asyncio.run(ask(server))


def fetch(trial: Trial) -> None:
    """A fetch is bytes within the limits, or a FetchError."""
    draw = trial.random
    limits = FetchLimits(body=4 << 20, wire=4 << 20, silence=1.0, total=6.0)
    seed = draw.getrandbits(64)

    def answer(request: bytes) -> Iterable[bytes | float]:
        own = random.Random(seed + len(server.asked))
        if own.random() < 0.3:
            to = own.choice(
                ("/again", f"{server.url}/x", "//[", "http://10.0.0.1/", "\xe4", "?", "file:///etc")
            )
            return [f"HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n".encode("latin-1")]
        return reply(
            own, mutate.data(own, [PAGE]), own.choice(("text/html", "text/html; charset=latin-1", ""))
        )

    async def get(server: HostileServer) -> None:
        with contextlib.suppress(FetchError):
            page = await fetcher_to(server.port, limits=limits).fetch(f"{server.url}/a")
            assert len(page.body) <= limits.body
            repr(page.receipt).encode("utf-8", "surrogatepass")

    with HostileServer(answer) as server:
        asyncio.run(get(server))


def passing_page(trial: Trial) -> None:
    """A page that passes the proxy is kept whole or not at all, and its room is given back."""
    draw = trial.random
    tap = Tap()
    for _ in range(draw.choice((1, 2, 15))):
        asked = [b"GET http://ok.test/a HTTP/1.1", b"User-Agent: curl/8.5.0", b"Accept: */*", b"X: y"]
        head = parse_head(b"\r\n".join(asked[: draw.randint(1, 4)]))
        watch = tap.watch(head, "192.0.2.1")
        assert watch is not None
        for piece in reply(draw, mutate.data(draw, [PAGE]), "text/html", slow=False):
            if isinstance(piece, bytes):
                watch.feed(piece)
        watch.feed(b"") if draw.random() < 0.5 else watch.close()
        watch.close()
    for page in tap.take().pages:
        assert len(page.body) == page.receipt.size
    assert tap.use(HELD_BYTES)


REQUESTS = (
    b"GET http://127.0.0.1:PORT/a?b=c HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: curl/8\r\n\r\n",
    b"POST http://127.0.0.1:PORT/ HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello",
    b"POST http://127.0.0.1:PORT/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    b"CONNECT 127.0.0.1:PORT HTTP/1.1\r\nHost: x\r\n\r\n\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00",
    b"GET http://fetch.invalid/?url=http%3A%2F%2Fok.test%2F HTTP/1.0\r\n\r\n",
    b"GET /relative HTTP/1.1\r\n\r\n",
)


class Sink:
    """The writing side of a program's connection: it takes everything, and keeps count."""

    def __init__(self) -> None:
        self.size = 0

    def write(self, data: bytes, /) -> None:
        self.size += len(data)

    async def drain(self) -> None:
        await asyncio.sleep(0)

    def close(self) -> None:
        """Nothing to close."""


def proxied(trial: Trial) -> None:
    """A request of a program in the sandbox is passed on or refused; the connection ends, with a record."""
    draw = trial.random
    sent = list(reply(draw, PAGE, "text/html", slow=False))
    limits = EgressLimits(head_seconds=1.0, idle_seconds=1.0, linger_seconds=1.0, life_seconds=5.0)

    async def asked_for(url: str, rendered: bool) -> tuple[int, bytes]:
        return 200, b"text"

    async def serve(server: HostileServer) -> None:
        allow = [f"127.0.0.1:{server.port}"]
        policy = NetworkPolicy.of("allowlist", allow=allow, allow_cidrs=["127.0.0.1/32"])
        proxy = EgressProxy(
            policy,
            Dialer(policy.addresses),
            secrets=Secrets(["a-secret-of-the-run"]),
            limits=limits,
            fetch=asked_for,
            tap=Tap(),
        )
        port = str(server.port).encode()
        request = mutate.data(draw, [each.replace(b"PORT", port) for each in REQUESTS], 1 << 18)
        reader = asyncio.StreamReader(limit=1 << 18)
        serving = asyncio.create_task(proxy.serve(reader, Sink()))
        for piece in pieces(draw, request, slow=False):
            if isinstance(piece, bytes):
                reader.feed_data(piece)
                await asyncio.sleep(0)
        reader.feed_eof()
        await asyncio.wait_for(serving, 20)

    with HostileServer(lambda request: sent) as server:
        asyncio.run(serve(server))


URLS = (
    "https://www.gnu.org/licenses/gpl-3.0.html?a=b#c",
    "http://[2001:db8::1]:8080/x",
    "http://127.0.0.1:80/%2e%2e/",
    "https://xn--mnchen-3ya.example/ü?ö=ß",
    "http://user:word@host.example/",
    "HTTP://0x7f.1/",
    "https://bücher.example./",
)


def address(trial: Trial) -> None:
    """An address has one reading or none: what was read is read again as the same."""
    said = mutate.text(trial.random, URLS, 1 << 15)
    with contextlib.suppress(AuthorityError):
        read = normalise(said)
        assert normalise(str(read)) == read
        assert parse_url(str(read)) == read
        read.authority.address  # noqa: B018 (it must not raise)
    with contextlib.suppress(AuthorityError):
        parse_authority(said[:300], 80)
    with contextlib.suppress(HeadError):
        head = parse_head(mutate.data(trial.random, REQUESTS).partition(b"\r\n\r\n")[0])
        if head.url is not None:
            forwarded(head)


def site(trial: Trial) -> None:
    """A site is documents and a list of what was left out, or a ConnectorError."""
    draw = trial.random
    seed = draw.getrandbits(64)

    def answer(request: bytes) -> Iterable[bytes | float]:
        own = random.Random(f"{seed} {request[:100]!r}")
        path = [*request.split(b" "), b"", b""][1]
        host = server.url.encode()
        if path.startswith(b"/robots"):
            body, kind = mutate.data(own, [ROBOTS]), "text/plain"
        elif b".xml" in path:
            body, kind = mutate.data(own, [SITEMAP, SITEMAP_INDEX]), "application/xml"
            body = gzip.compress(body) if own.random() < 0.2 else body
        else:
            body, kind = mutate.data(own, [PAGE]), "text/html"
        body = body.replace(b"HOST", host)
        if own.random() < 0.15:
            return reply(own, body, kind, slow=False)
        head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
        return [head.encode(), body]

    limits = Limits(documents=4, bytes=1 << 24, seconds=3.0)
    with HostileServer(answer) as server, contextlib.suppress(ConnectorError):
        gathered(trial.folder, f"hand=site:{server.url}/docs/#pages=4", reaching(server.url), limits)


def map_of_a_site(trial: Trial) -> None:
    """A sitemap is addresses, or it is a BadSitemap; a page has so many links at most."""
    draw = trial.random
    made = mutate.data(draw, [SITEMAP, SITEMAP_INDEX, b"http://a.test/\nhttp://b.test/\n"])
    with contextlib.suppress(BadSitemap):
        read_sitemap(gzip.compress(made, 1) if draw.random() < 0.2 else made)
    for link in links_of(mutate.data(draw, [PAGE]), "http://a.test/b"):
        assert link.startswith("http")


ROWS = (
    Row("answers of search engines: read", results, seconds=5, megabytes=64, share=4),
    Row("answers of search engines: over HTTP", engine_over_http, seconds=10, megabytes=100, share=3),
    Row("web pages: fetched", fetch, seconds=10, megabytes=100, share=4),
    Row("web pages: passing the proxy", passing_page, seconds=10, megabytes=150, share=2),
    Row("web addresses and heads of requests", address, seconds=5, megabytes=64, share=3),
    Row("requests of programs in the sandbox", proxied, seconds=10, megabytes=100, share=3),
    Row("web sites: sitemaps and links", map_of_a_site, seconds=10, megabytes=200, share=2),
    Row("web sites: gathered", site, seconds=20, megabytes=200, share=1),
)
