"""Pages that programs get through the proxy: read by the host while they pass, whole or not at all."""

import asyncio
import gzip
from collections.abc import Iterator

import pytest
from egress_world import INSIDE, OUTSIDE_RANGE, Proxy, World, response, world

from vera.sandbox.egress.dial import Dialer
from vera.sandbox.egress.policy import NetworkPolicy
from vera.sandbox.egress.proxy import EgressProxy
from vera.sandbox.fetch.tap import HELD_BYTES, MAX_PAGES, PAGE_BYTES, Tap

PAGE = b"<html><body><p>The bridge was opened in 1998.</p></body></html>"
HTML = "Content-Type: text/html; charset=utf-8"


@pytest.fixture(name="internet")
def _internet() -> Iterator[World]:
    with world() as made:
        yield made


def tapped(internet: World, port: int) -> tuple[Proxy, Tap]:
    tap = Tap(lambda host: host != "sub.ok.test")
    policy = NetworkPolicy.of("public", ports=[port], allow_cidrs=[OUTSIDE_RANGE])
    proxy = EgressProxy(policy, Dialer(policy.addresses, resolver=internet.names), tap=tap)
    return Proxy(internet.serve(proxy.serve, INSIDE), [], proxy), tap


def all_is_given_back(tap: Tap) -> bool:
    tap.take()
    return tap.use(HELD_BYTES)


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: text/html\r\n\r\n"
CHUNKS = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (PAGE[:9], PAGE[9:])) + b"0\r\n\r\n"
PLAIN = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + PAGE
HINTED = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + response(PAGE, HTML)


@pytest.mark.parametrize(
    "answer",
    [
        response(PAGE, HTML),
        response(gzip.compress(PAGE), HTML, "Content-Encoding: gzip"),
        CHUNKED + CHUNKS,
        PLAIN,
        HINTED,
    ],
    ids=["length", "gzip", "chunked", "to the end", "after a hint"],
)
def test_a_page_is_read_whole_while_it_passes(internet: World, answer: bytes) -> None:
    port = internet.web(answer).port
    proxy, tap = tapped(internet, port)
    url = f"http://ok.test:{port}/bridge?x=1"
    proxy.get(url, "User-Agent: curl/8", "Cookie: a=b")
    (page,) = tap.take().pages
    assert page.body == PAGE
    assert (page.receipt.url, page.receipt.status, page.receipt.media_type) == (url, 200, "text/html")
    assert page.receipt.asked == (("User-Agent", "curl/8"),)
    assert tap.take().pages == ()
    assert all_is_given_back(tap)


@pytest.mark.parametrize(
    "answer",
    [
        response(PAGE, HTML, status="404 Not Found"),
        response(PAGE, HTML, status="206 Partial Content"),
        response(PAGE, "Location: /b", status="302 Found"),
        response(b"\x89PNG", "Content-Type: image/png"),
        response(b"p {}", "Content-Type: text/css"),
        response(PAGE),
        b"no HTTP at all",
    ],
    ids=["missing", "part", "moved", "picture", "style", "without a type", "no HTTP"],
)
def test_what_is_no_page_is_not_captured(internet: World, answer: bytes) -> None:
    if not answer.startswith(b"HTTP/"):
        answer = b"HTTP/1.1 nonsense\r\n\r\n"
    port = internet.web(answer).port
    proxy, tap = tapped(internet, port)
    proxy.get(f"http://ok.test:{port}/")
    assert tap.take().pages == ()
    assert all_is_given_back(tap)


def test_what_was_cut_short_or_coded_otherwise_is_told_and_not_captured(internet: World) -> None:
    short = b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\nContent-Type: text/html\r\n\r\n" + PAGE
    for answer, why in (
        (short, "it broke off"),
        (response(b"xx", HTML, "Content-Encoding: br"), "its content coding is 'br'"),
        (response(b"xx", HTML, "Content-Encoding: gzip"), "its compressed body is damaged"),
        (response(gzip.compress(b"a" * (PAGE_BYTES + 1)), HTML, "Content-Encoding: gzip"), "it is larger"),
    ):
        port = internet.web(answer).port
        proxy, tap = tapped(internet, port)
        proxy.get(f"http://ok.test:{port}/")
        taken = tap.take()
        assert taken.pages == ()
        ((url, said),) = taken.lost
        assert url == f"http://ok.test:{port}/"
        assert said.startswith(why)
        assert all_is_given_back(tap)


def test_a_response_without_end_passes_and_is_not_held(internet: World) -> None:
    """More than is kept streams through; what was held of it is let go at the bound."""
    size, held = 4 * PAGE_BYTES, []

    async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")
        for _ in range(size >> 20):
            writer.write(b"a" * (1 << 20))
            await writer.drain()
            held.append(HELD_BYTES - tap._room)

    port = internet.serve(endless)
    proxy, tap = tapped(internet, port)
    came = proxy.get(f"http://ok.test:{port}/")
    assert len(came) > size
    assert max(held) <= PAGE_BYTES
    assert held[-1] == 0
    ((_, why),) = tap.take().lost
    assert why.startswith("it is larger than")


def test_the_host_of_the_connection_is_the_source_whatever_the_program_says(internet: World) -> None:
    """A Host header, a second address or a header with words of the program's own give no other source."""
    site = internet.web(response(PAGE, HTML))
    proxy, tap = tapped(internet, site.port)
    proxy.get(f"http://evil.test:{site.port}/", "Host: ok.test")
    (page,) = tap.take().pages
    assert page.receipt.url == f"http://evil.test:{site.port}/"
    proxy.get(f"http://evil.test:{site.port}/", "X-Say: the bridge was opened in 1888")
    taken = tap.take()
    assert taken.pages == ()
    assert taken.lost == ((f"http://evil.test:{site.port}/", "it was asked for with the header X-Say"),)
    proxy.talk(f"POST http://ok.test:{site.port}/ HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc".encode())
    proxy.get(f"http://sub.ok.test:{site.port}/")
    assert (tap.take().pages, tap.take().lost) == ((), ())


FREE_TEXT = (
    "User-Agent: Vexium melts at 999 degrees",
    "User-Agent: curl/8 Vexium-melts",
    "Referer: http://ok.test/Vexium/melts",
    "Accept: text/vexium-melts-at-999",
    "Accept-Language: vexium, melts",
    "Accept-Charset: vexium-melts",
    'If-None-Match: "vexium melts"',
    "Cache-Control: vexium=999",
    "Pragma: vexium melts",
)


@pytest.mark.parametrize("line", FREE_TEXT)
def test_a_header_with_words_of_the_program_loses_the_page(internet: World, line: str) -> None:
    """A host that prints what visitors send would say what the command put there."""
    port = internet.web(response(PAGE, HTML)).port
    proxy, tap = tapped(internet, port)
    url = f"http://ok.test:{port}/"
    proxy.get(url, line)
    taken = tap.take()
    assert taken.pages == ()
    assert taken.lost == ((url, f"it was asked for with the header {line.partition(':')[0]}"),)


CLIENTS = (
    ("User-Agent: curl/7.88.1", "Accept: */*"),
    ("User-Agent: Wget/1.21.3", "Accept: */*", "Accept-Encoding: identity"),
    ("Accept-Encoding: identity", "User-Agent: Python-urllib/3.11"),
    ("User-Agent: python-requests/2.32.3", "Accept-Encoding: gzip, deflate, br, zstd", "Accept: */*"),
    ("Accept: text/html,application/xhtml+xml;q=0.9, */*;q=0.8", "Accept-Language: de-DE,de;q=0.9,en;q=0.5"),
)


@pytest.mark.parametrize("lines", CLIENTS)
def test_what_usual_clients_send_keeps_the_page(internet: World, lines: tuple[str, ...]) -> None:
    port = internet.web(response(PAGE, HTML)).port
    proxy, tap = tapped(internet, port)
    proxy.get(f"http://ok.test:{port}/", *lines)
    assert [page.body for page in tap.take().pages] == [PAGE]


def test_a_page_in_very_many_pieces_is_lost(internet: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vera.sandbox.fetch.tap.MAX_EVENTS", 20)
    drops = b"".join(b"1\r\n%c\r\n" % byte for byte in PAGE) + b"0\r\n\r\n"
    port = internet.web(CHUNKED + drops).port
    proxy, tap = tapped(internet, port)
    proxy.get(f"http://ok.test:{port}/")
    taken = tap.take()
    assert taken.pages == () and taken.lost[0][1] == "it came in more than 20 pieces"
    assert all_is_given_back(tap)


def test_pages_of_one_command_are_bounded_and_the_same_page_counts_once(internet: World) -> None:
    port = internet.web(response(PAGE, HTML)).port
    proxy, tap = tapped(internet, port)
    for number in range(MAX_PAGES + 2):
        proxy.get(f"http://ok.test:{port}/{number}")
        proxy.get(f"http://ok.test:{port}/0")
    taken = tap.take()
    assert len(taken.pages) == MAX_PAGES
    assert len(taken.lost) == 2
    assert all_is_given_back(tap)


def test_private_addresses_stay_closed_and_bring_nothing(internet: World) -> None:
    site = internet.web(response(PAGE, HTML), address=INSIDE)
    proxy, tap = tapped(internet, site.port)
    assert b"403" in proxy.get(f"http://{INSIDE}:{site.port}/").splitlines()[0]
    assert site.requests == []
    assert tap.take().pages == ()
