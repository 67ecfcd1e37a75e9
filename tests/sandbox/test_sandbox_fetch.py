"""`fetch`: bytes with a receipt, under the same policy as the tunnel, at each hop."""

import gzip
import hashlib
import zlib
from asyncio import Event, StreamReader, StreamWriter, sleep
from collections.abc import Callable, Iterator

import pytest
from egress_world import INSIDE, OUTSIDE, World, response, world

from vera.content_coding import DecodeError, Decoder, TooLarge
from vera.sandbox.egress.authority import AuthorityError
from vera.sandbox.egress.types import Connection
from vera.sandbox.fetch.fetcher import FetchLimits
from vera.sandbox.fetch.receipt import FetchError, Kind
from vera.sandbox.fetch.url import normalise
from vera.version import __version__

KEY = "sk-live-0123456789abcdef"
SMALL = FetchLimits(body=50_000, wire=50_000, redirects=3, silence=0.2, total=5.0)


@pytest.fixture
def net() -> Iterator[World]:
    with world() as made:
        yield made


def failure(
    net: World,
    url: str,
    *,
    port: int = 80,
    limits: FetchLimits = SMALL,
    log: Callable[[Connection], object] | None = None,
) -> FetchError:
    fetcher = net.fetcher(ports=[port], limits=limits, log=log)
    with pytest.raises(FetchError) as caught:
        net.do(fetcher.fetch(url))
    return caught.value


def test_a_page_comes_with_a_receipt(net: World) -> None:
    web = net.web(response(b"hello", 'Content-Type: Text/HTML; Charset="UTF-8"', "Set-Cookie: a=b", "X-A: 1"))
    records: list[Connection] = []
    url = f"http://ok.test:{web.port}/a?b"
    fetched = net.do(net.fetcher(ports=[web.port], log=records.append).fetch(f" {url}#part "))
    receipt = fetched.receipt
    assert fetched.body == b"hello"
    assert receipt.requested == f"{url}#part"
    assert (receipt.url, receipt.status, receipt.redirects) == (url, 200, ())
    assert (receipt.address, receipt.tls, receipt.certificate) == (OUTSIDE, "", "")
    assert (receipt.media_type, receipt.charset) == ("text/html", "utf-8")
    assert (receipt.size, receipt.wire_size, receipt.encoding) == (5, 5, "")
    assert receipt.sha256 == hashlib.sha256(b"hello").hexdigest()
    assert [name for name, _ in receipt.headers] == ["content-length", "content-type", "x-a"]
    assert receipt.started > 0
    (record,) = records
    assert (record.method, record.url, record.verdict, record.address) == ("GET", url, "allowed", OUTSIDE)
    assert record.bytes_up == len(web.requests[0])
    assert record.bytes_down > 5


def test_the_request_is_honest_and_carries_nothing_of_the_person(
    net: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    web = net.web()
    net.do(net.fetcher(ports=[web.port]).fetch(f"http://ok.test:{web.port}/"))
    head = web.requests[0].decode()
    fields = dict(line.split(": ", 1) for line in head.split("\r\n")[1:-2])
    assert set(fields) == {"Host", "User-Agent", "Accept", "Accept-Encoding", "Connection"}
    assert fields["User-Agent"].startswith(f"VERA/{__version__} (")


def test_over_tls_the_host_proves_its_name(net: World) -> None:
    web = net.web(tls=True)
    fetcher = net.fetcher(ports=[web.port])
    receipt = net.do(fetcher.fetch(f"https://ok.test:{web.port}/")).receipt
    assert receipt.tls.startswith("TLSv1.")
    assert len(receipt.certificate) == 64
    net.names.set("other.test", [OUTSIDE])
    with pytest.raises(FetchError, match="certificate") as caught:
        net.do(fetcher.fetch(f"https://other.test:{web.port}/"))
    assert caught.value.kind == "failed"


def test_a_page_that_is_not_found_is_bytes_too(net: World) -> None:
    web = net.web(response(b"gone", status="404 Not Found"))
    fetched = net.do(net.fetcher(ports=[web.port]).fetch(f"http://ok.test:{web.port}/"))
    assert (fetched.receipt.status, fetched.body) == (404, b"gone")


# Redirects


def redirect(location: str, status: str = "302 Found") -> bytes:
    return response(b"", f"Location: {location}", status=status)


@pytest.mark.parametrize(
    "status", ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"]
)
def test_redirects_are_followed_and_recorded(net: World, status: str) -> None:
    page = net.web(b"here")
    first = net.web(redirect(f"http://sub.ok.test:{page.port}/b c?d#e", status))
    records: list[Connection] = []
    fetcher = net.fetcher(ports=[page.port, first.port], log=records.append)
    fetched = net.do(fetcher.fetch(f"http://ok.test:{first.port}/a"))
    assert fetched.body == b"here"
    assert fetched.receipt.url == f"http://sub.ok.test:{page.port}/b%20c?d"
    (hop,) = fetched.receipt.redirects
    assert (hop.url, hop.status, hop.address) == (f"http://ok.test:{first.port}/a", int(status[:3]), OUTSIDE)
    assert [record.host for record in records] == ["ok.test", "sub.ok.test"]
    assert page.requests[0].startswith(b"GET /b%20c?d HTTP/1.1\r\n")
    assert b"Referer" not in page.requests[0]


def test_a_redirect_may_be_relative_and_not_ascii(net: World) -> None:
    web = net.web(redirect("../köln?ß"))
    error = failure(net, f"http://ok.test:{web.port}/a/b", port=web.port)
    assert web.requests[1].startswith(b"GET /k%C3%B6ln?%C3%9F HTTP/1.1\r\n")
    assert error.kind == "redirects"
    assert len(error.redirects) == SMALL.redirects + 1


@pytest.mark.parametrize(
    ("location", "kind"),
    [
        ("http://127.0.0.1:{port}/", "refused"),
        ("http://169.254.169.254/latest/meta-data/", "refused"),
        ("http://inside.test:{port}/", "refused"),
        ("http://ok.test:1/", "refused"),
        ("http://2130706433:{port}/", "redirects"),
        ("http://ok.test@evil.test:{port}/", "redirects"),
        ("file:///etc/passwd", "redirects"),
        ("ftp://ok.test/", "redirects"),
        ("http://[::1", "redirects"),
    ],
)
def test_a_redirect_leads_nowhere_that_could_not_be_asked_for(net: World, location: str, kind: Kind) -> None:
    inside = net.web(address=INSIDE)
    net.names.set("inside.test", [INSIDE])
    first = net.web(redirect(location.format(port=inside.port)))
    fetcher = net.fetcher(ports=[first.port, inside.port, 80])
    with pytest.raises(FetchError) as caught:
        net.do(fetcher.fetch(f"http://ok.test:{first.port}/"))
    assert caught.value.kind == kind
    assert len(caught.value.redirects) == 1
    assert inside.requests == []


def test_a_redirect_is_looked_up_anew_and_checked_anew(net: World) -> None:
    inside = net.web(address=INSIDE)
    first = net.web(redirect(f"http://rebind.test:{inside.port}/"))
    net.names.set("rebind.test", [OUTSIDE], [INSIDE])
    fetcher = net.fetcher(ports=[first.port, inside.port])
    with pytest.raises(FetchError, match="no public address"):
        net.do(fetcher.fetch(f"http://rebind.test:{first.port}/"))
    assert net.names.asked == ["rebind.test", "rebind.test"]
    assert inside.requests == []


# What is not fetched


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("http://127.0.0.1/", "refused"),
        ("http://[::1]/", "refused"),
        ("http://10.0.0.1/", "refused"),
        ("http://inside.test/", "refused"),
        ("http://ok.test:22/", "refused"),
        ("http://nowhere.test/", "failed"),
        ("http://ok.test/", "failed"),
        ("http://0x7f.1/", "url"),
        ("http://user:pass@ok.test/", "url"),
        ("ftp://ok.test/", "url"),
        ("ok.test", "url"),
        ("file:///etc/passwd", "url"),
        ("", "url"),
    ],
)
def test_a_url_that_may_or_can_not_be_fetched_is_one_sentence(net: World, url: str, kind: Kind) -> None:
    net.names.set("inside.test", [INSIDE])
    records: list[Connection] = []
    error = failure(net, url, log=records.append)
    assert error.kind == kind
    assert str(error).endswith(".")
    assert [record.verdict for record in records] == ([] if kind == "url" else [kind])


def test_a_list_of_allowed_hosts_binds_fetch_too(net: World) -> None:
    web = net.web()
    fetcher = net.fetcher("allowlist", allow=["ok.test"], ports=[web.port])
    net.do(fetcher.fetch(f"http://ok.test:{web.port}/"))
    with pytest.raises(FetchError, match="not on this run's list"):
        net.do(fetcher.fetch(f"http://sub.ok.test:{web.port}/"))
    assert net.names.asked == ["ok.test"]


@pytest.mark.parametrize(
    "url",
    [
        f"http://ok.test/?k={KEY}",
        f"http://{KEY}.ok.test/",
        f"http://{KEY}@ok.test/",
        f"http://ok.test/#{KEY}",
    ],
)
def test_a_known_secret_is_not_sent_and_not_repeated(net: World, url: str) -> None:
    records: list[Connection] = []
    fetcher = net.fetcher(secrets=[KEY], log=records.append)
    with pytest.raises(FetchError) as caught:
        net.do(fetcher.fetch(url))
    assert KEY not in str(caught.value)
    assert KEY not in repr(records)
    assert net.names.asked == []


# Bounds


@pytest.mark.parametrize(
    "answer",
    [
        response(b"x" * 60_000),
        b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 60_000,
        response(gzip.compress(b"\0" * 10_000_000), "Content-Encoding: gzip"),
        response(zlib.compress(b"\0" * 10_000_000), "Content-Encoding: deflate"),
    ],
    ids=["long", "announced", "endless", "gzip bomb", "deflate bomb"],
)
def test_a_body_that_is_too_large_is_not_kept(net: World, answer: bytes) -> None:
    web = net.web(answer)
    error = failure(net, f"http://ok.test:{web.port}/", port=web.port)
    assert error.kind == "too_large"
    assert "50000 bytes" in str(error)


@pytest.mark.parametrize("answer", [response(b"x" * 60_000), b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 60_000])
def test_of_a_budget_no_byte_more_is_read_and_the_head_counts(net: World, answer: bytes) -> None:
    web, records = net.web(answer), []
    fetcher = net.fetcher(ports=[web.port], log=records.append, room=lambda: 1000)
    with pytest.raises(FetchError, match="larger than the 1000 bytes that are left of the budget") as caught:
        net.do(fetcher.fetch(f"http://ok.test:{web.port}/"))
    assert caught.value.kind == "over_budget"
    assert 0 < records[0].bytes_down <= 1000


def test_where_nothing_is_left_of_a_budget_no_server_is_asked(net: World) -> None:
    web, records = net.web(response(b"hello")), []
    fetcher = net.fetcher(ports=[web.port], log=records.append, room=lambda: 0)
    with pytest.raises(FetchError) as caught:
        net.do(fetcher.fetch(f"http://ok.test:{web.port}/"))
    assert (caught.value.kind, web.requests) == ("over_budget", [])
    assert [each.bytes_down for each in records] == [0]


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"not HTTP at all\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nA: " + b"b" * 200_000,
        b"HTTP/1.1 100 Continue\r\n\r\n" * 40,
    ],
    ids=["nothing", "short", "broken chunk", "no HTTP", "endless head", "only interim"],
)
def test_a_server_that_breaks_the_rules_is_a_failure(net: World, answer: bytes) -> None:
    async def serve(reader: StreamReader, writer: StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()

    port = net.serve(serve)
    assert failure(net, f"http://ok.test:{port}/", port=port).kind == "failed"


def test_a_silent_server_is_not_waited_for(net: World) -> None:
    async def keep_silent(reader: StreamReader, writer: StreamWriter) -> None:
        await Event().wait()

    port = net.serve(keep_silent)
    error = failure(net, f"http://ok.test:{port}/", port=port)
    assert (error.kind, "no byte came for 0.2 s" in str(error)) == ("timeout", True)


def test_a_slow_server_is_not_waited_for_beyond_the_whole_time(net: World) -> None:
    async def drip(reader: StreamReader, writer: StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            writer.write(b"x")
            await writer.drain()
            await sleep(0.05)

    port = net.serve(drip)
    limits = FetchLimits(total=0.5, silence=10.0)
    error = failure(net, f"http://ok.test:{port}/", port=port, limits=limits)
    assert (error.kind, "0.5 s" in str(error)) == ("timeout", True)


@pytest.mark.parametrize(
    ("coding", "packed"),
    [
        ("gzip", gzip.compress(b"hello")),
        ("X-GZIP", gzip.compress(b"hel") + gzip.compress(b"lo")),
        ("deflate", zlib.compress(b"hello")),
        ("deflate", zlib.compress(b"hello")[2:-4]),
        ("identity", b"hello"),
    ],
)
def test_compressed_bodies_are_unpacked_and_the_receipt_says_so(
    net: World, coding: str, packed: bytes
) -> None:
    web = net.web(response(packed, f"Content-Encoding: {coding}"))
    fetched = net.do(net.fetcher(ports=[web.port]).fetch(f"http://ok.test:{web.port}/"))
    assert fetched.body == b"hello"
    assert fetched.receipt.wire_size == len(packed)
    assert fetched.receipt.encoding == ("" if coding == "identity" else coding.lower().removeprefix("x-"))


@pytest.mark.parametrize(
    ("coding", "packed"),
    [
        ("gzip", gzip.compress(b"hello" * 100)[:-9]),
        ("gzip", b"no gzip"),
        ("gzip", gzip.compress(b"x") * 17),
        ("br", b"x"),
        ("gzip, gzip", b"x"),
    ],
)
def test_a_body_that_cannot_be_unpacked_is_a_failure(net: World, coding: str, packed: bytes) -> None:
    web = net.web(response(packed, f"Content-Encoding: {coding}"))
    assert failure(net, f"http://ok.test:{web.port}/", port=web.port).kind == "encoding"


def test_a_decoder_gives_back_what_was_packed_however_it_is_cut() -> None:
    content = bytes(range(256)) * 50
    packed = gzip.compress(content)
    for step in (1, 7, len(packed)):
        decoder = Decoder("gzip", len(content))
        out = b"".join(decoder.feed(packed[at : at + step]) for at in range(0, len(packed), step))
        decoder.finish()
        assert out == content
    with pytest.raises(TooLarge):
        Decoder("gzip", len(content) - 1).feed(packed)
    with pytest.raises(DecodeError):
        Decoder("zstd", 10)


# URLs as people write them


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("https://de.wikipedia.org/wiki/Köln", "https://de.wikipedia.org/wiki/K%C3%B6ln"),
        ("HTTPS://Bücher.example:8443/a b?q=ä#teil", "https://xn--bcher-kva.example:8443/a%20b?q=%C3%A4"),
        ("http://ok.test", "http://ok.test/"),
        ("http://ok.test/100%25%20x?a=[1]&b={2}", "http://ok.test/100%25%20x?a=[1]&b=%7B2%7D"),
        ("http://１２７.0.0.1/", "http://127.0.0.1/"),
    ],
)
def test_a_url_is_read_as_it_was_meant(written: str, read: str) -> None:
    assert str(normalise(written)) == read


@pytest.mark.parametrize(
    "written",
    [
        "http://ok.test\\@evil.test/",
        "http://ok.test/\\x",
        "http://o\nk.test/",
        "http://☃" + "a" * 300,
        "http://ä..b/",
    ],
)
def test_a_url_with_two_readings_is_refused(written: str) -> None:
    with pytest.raises(AuthorityError):
        normalise(written)
