"""The proxy as programs in a box meet it: what passes, what is refused, and the record of each connection."""

import hashlib
import socket
import ssl
import threading
from asyncio import Event, StreamReader, StreamWriter
from collections.abc import Iterator

import pytest
from egress_world import (
    INSIDE,
    OUTSIDE,
    Proxy,
    World,
    client_context,
    read_all,
    response,
    world,
)

from vera.sandbox.egress.types import Decision, EgressLimits, Policy, Request

KEY = "sk-live-0123456789abcdef"


@pytest.fixture(scope="module")
def shared() -> Iterator[World]:
    with world() as made:
        yield made


@pytest.fixture
def net(shared: World) -> Iterator[World]:
    with world() as made:
        yield made


def status(answer: bytes) -> int:
    return int(answer.split(b" ")[1]) if answer else 0


def secured(proxy: Proxy, authority: str, name: str) -> ssl.SSLSocket:
    """A TLS client for `name` inside a tunnel to `authority`."""
    client = proxy.connect()
    client.sendall(f"CONNECT {authority} HTTP/1.1\r\n\r\n".encode())
    answer = b""
    while b"\r\n\r\n" not in answer:
        answer += client.recv(1)
    assert status(answer) == 200, answer
    return client_context().wrap_socket(client, server_hostname=name)


# Plain HTTP


def test_a_plain_request_reaches_the_host_in_our_own_words(net: World) -> None:
    web = net.web(b"hello")
    proxy = net.proxy(ports=[web.port])
    answer = proxy.get(
        f"http://OK.test.:{web.port}/a%20b?c", "Host: evil.test", "User-Agent: x", "Keep-Alive: 5"
    )
    assert answer.endswith(b"\r\n\r\nhello")
    sent = f"GET /a%20b?c HTTP/1.1\r\nHost: ok.test:{web.port}\r\nUser-Agent: x\r\nConnection: close\r\n\r\n"
    assert web.requests == [sent.encode()]
    record = proxy.record()
    assert (record.host, record.port, record.method) == ("ok.test", web.port, "GET")
    assert record.url == f"http://ok.test:{web.port}/a%20b?c"
    assert (record.verdict, record.reason, record.address) == ("allowed", "", OUTSIDE)
    assert record.bytes_up == len(web.requests[0])
    assert record.bytes_down == len(answer)
    assert record.started > 0
    assert record.seconds > 0


def test_credentials_and_what_is_meant_for_one_hop_are_not_passed_on(net: World) -> None:
    web = net.web()
    headers = [
        "Authorization: Basic x",
        "Cookie: a=b",
        "cookie2: c",
        "Proxy-Authorization: Basic y",
        "Accept: */*",
    ]
    headers += [
        "Connection: X-Nominated, accept-encoding",
        "X-Nominated: 1",
        "Accept-Encoding: br",
        "TE: gzip",
    ]
    headers += ["Upgrade: h2c", "HTTP2-Settings: x", "Proxy-Connection: keep-alive", "Expect: 100-continue"]
    net.proxy(ports=[web.port]).get(f"http://ok.test:{web.port}/", *headers)
    names = [line.split(b":")[0] for line in web.requests[0].split(b"\r\n")[1:-2]]
    assert names == [b"Host", b"Accept", b"Expect", b"Connection"]


def test_a_body_is_passed_on_and_a_second_request_behind_it_is_not(net: World) -> None:
    web = net.web()
    proxy = net.proxy(ports=[web.port])
    hidden = b"GET http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n"
    proxy.talk(
        f"POST http://ok.test:{web.port}/ HTTP/1.1\r\nContent-Length: 5\r\n\r\n12345".encode() + hidden
    )
    assert web.requests[0].endswith(b"\r\n\r\n12345")
    assert proxy.record().bytes_up == len(web.requests[0])
    proxy.talk(f"GET http://ok.test:{web.port}/ HTTP/1.1\r\n\r\n".encode() + hidden)
    proxy.wait_for(2)
    assert web.requests[1].endswith(b"Connection: close\r\n\r\n")
    assert len(web.requests) == 2


def received(net: World) -> tuple[int, list[bytes]]:
    """A server that keeps all bytes until its client ends, then answers."""
    kept: list[bytes] = []

    async def handle(reader: StreamReader, writer: StreamWriter) -> None:
        data = b""
        while b"0\r\n\r\n" not in data and (more := await reader.read(65536)):
            data += more
        kept.append(data)
        writer.write(response(b"thanks"))

    return net.serve(handle), kept


def test_a_chunked_body_is_written_anew(net: World) -> None:
    port, kept = received(net)
    body = b"5;name=value\r\nhello\r\n00001\r\n!\r\n0\r\nTrailer: x\r\n\r\n"
    head = f"POST http://ok.test:{port}/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
    assert net.proxy(ports=[port]).talk(head + body).endswith(b"thanks")
    assert kept[0].endswith(b"\r\n\r\n5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n")


@pytest.mark.parametrize(
    "body",
    [
        b"5\r\nhelloX\r\n",
        b"x\r\n",
        b"-1\r\n",
        b"5 \r\nhello\r\n",
        b"1" * 300,
        b"5\nhello\r\n",
        b"0\r\n" + b"a: b\r\n" * 99,
    ],
)
def test_a_chunked_body_that_breaks_the_rules_is_not_passed_on(net: World, body: bytes) -> None:
    port, _ = received(net)
    head = f"POST http://ok.test:{port}/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
    proxy = net.proxy(ports=[port])
    assert status(proxy.talk(head + body, half_close=True)) == 400
    assert "body" in proxy.record().reason


@pytest.mark.parametrize(
    "request_head",
    [
        *(
            "GET http://ok.test/ HTTP/2.0",
            "GET  http://ok.test/ HTTP/1.1",
            "GET http://ok.test/",
            "PRI * HTTP/2.0",
        ),
        *(
            "GET / HTTP/1.1",
            "GET https://ok.test/ HTTP/1.1",
            "GET ftp://ok.test/ HTTP/1.1",
            "CONNECT ok.test HTTP/1.1",
        ),
        *(
            "CONNECT ok.test:443/ HTTP/1.1",
            "CONNECT http://ok.test:443 HTTP/1.1",
            "\x16\x03\x01",
            "",
            "\r\n",
            "G\0ET x y",
        ),
        "GET http://ok.test/ HTTP/1.1\r\nA: b\r\n folded",
        "GET http://ok.test/ HTTP/1.1\r\nA : b",
        "GET http://ok.test/ HTTP/1.1\r\nA: b\nHost: evil.test",
        "GET http://ok.test/ HTTP/1.1\r\nA: b\rc",
        "GET http://ok.test/ HTTP/1.1\r\nno colon",
        "POST http://ok.test/ HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 5",
        "POST http://ok.test/ HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked",
        "POST http://ok.test/ HTTP/1.1\r\nContent-Length: +5",
        "POST http://ok.test/ HTTP/1.1\r\nTransfer-Encoding: gzip, chunked",
        "POST http://ok.test/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "GET http://ok.test/ HTTP/1.1" + "\r\nA: b" * 200,
    ],
)
def test_a_request_that_can_be_read_in_two_ways_is_refused(shared: World, request_head: str) -> None:
    asked = len(shared.names.asked)
    proxy = shared.proxy(ports=[80, 443])
    assert status(proxy.talk(request_head.encode("latin-1") + b"\r\n\r\n", half_close=True)) == 400
    assert proxy.record().verdict == "refused"
    assert len(shared.names.asked) == asked


def test_each_connection_carries_one_request_and_the_client_is_told(net: World) -> None:
    web = net.web(response(b"x", "Connection: keep-alive", "Keep-Alive: timeout=5", "X: y"))
    answer = net.proxy(ports=[web.port]).get(f"http://ok.test:{web.port}/")
    assert answer == b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nX: y\r\nConnection: close\r\n\r\nx"


def test_an_interim_response_is_passed_on_before_the_real_one(net: World) -> None:
    web = net.web(b"HTTP/1.1 100 Continue\r\n\r\n" + response(b"x"))
    answer = net.proxy(ports=[web.port]).get(f"http://ok.test:{web.port}/")
    assert answer.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n")


@pytest.mark.parametrize("odd", [b"HTTP/9 ?\r\n\r\nx", b"HTTP/", b"HTTP/1.1 200 OK\r\nA: " + b"b" * 400_000])
def test_a_response_that_is_not_http_goes_through_as_it_is(net: World, odd: bytes) -> None:
    web = net.web(odd)
    assert net.proxy(ports=[web.port]).get(f"http://ok.test:{web.port}/") == odd


def test_a_host_that_hangs_up_is_said_to_have_done_so(net: World) -> None:
    async def hang_up(reader: StreamReader, writer: StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")

    port = net.serve(hang_up)
    proxy = net.proxy(ports=[port])
    assert status(proxy.get(f"http://ok.test:{port}/")) == 502
    assert "without an answer" in proxy.record().reason


# What is refused


PROBES = {
    "another host": ("evil.test", 403),
    "a suffix trick": ("ok.test.evil.test", 403),
    "a prefix trick": ("notok.test", 403),
    "a name below": ("deep.sub.ok.test", 403),
    "a user name": ("ok.test@evil.test", 400),
    "a user name and password": ("ok.test:80@evil.test", 400),
    "a backslash": ("evil.test\\.ok.test", 400),
    "an encoded host": ("%6fk.test", 400),
    "an encoded end of host": ("ok.test%2f.evil.test", 400),
    "an encoded zero byte": ("evil.test%00.ok.test", 400),
    "an address": ("127.1.0.1", 403),
    "this machine": ("127.0.0.1", 403),
    "metadata": ("169.254.169.254", 403),
    "a short address": ("127.1", 400),
    "a decimal address": ("2130706433", 400),
    "a hexadecimal address": ("0x7f000001", 400),
    "an octal address": ("0177.0.0.1", 400),
    "an address with a dot": ("127.0.0.1.", 400),
    "an IPv6 address": ("[::1]", 403),
    "an IPv4 address in IPv6": ("[::ffff:127.1.0.1]", 403),
    "an IPv6 address with a zone": ("[fe80::1%25lo]", 400),
    "wide digits": ("１２７.0.0.1", 400),
    "localhost": ("localhost", 403),
    "data in a name": ("c2VjcmV0.evil.test", 403),
    "no host": ("", 400),
}


@pytest.mark.parametrize("what", PROBES)
def test_beside_an_allow_list_there_is_no_second_path(shared: World, what: str) -> None:
    host, expected = PROBES[what]
    web = shared.web()
    asked = len(shared.names.asked)
    proxy = shared.proxy("allowlist", allow=["ok.test", "sub.ok.test"], ports=[web.port])
    assert status(proxy.get(f"http://{host}:{web.port}/")) == expected
    assert status(proxy.tunnel(f"{host}:{web.port}")) == expected
    assert [record.verdict for record in proxy.wait_for(2)] == ["refused", "refused"]
    assert web.requests == []
    # Not even a name server hears of it.
    assert len(shared.names.asked) == asked


@pytest.mark.parametrize("host", ["ok.test", "OK.TEST", "ok.test.", "sub.ok.test"])
def test_what_is_on_the_list_passes_however_it_is_spelled(shared: World, host: str) -> None:
    web = shared.web()
    proxy = shared.proxy("allowlist", allow=["ok.test", "*.ok.test"], ports=[web.port])
    assert status(proxy.get(f"http://{host}:{web.port}/")) == 200


def test_another_port_is_refused(shared: World) -> None:
    web, other = shared.web(), shared.web()
    proxy = shared.proxy(ports=[web.port])
    assert status(proxy.get(f"http://ok.test:{other.port}/")) == 403
    assert status(proxy.tunnel(f"ok.test:{other.port}")) == 403
    assert str(web.port) in proxy.records[0].reason


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "169.254.169.254", "10.0.0.1", "[::1]", "[fe80::1]", "0.0.0.0", "[::]"]
)
def test_public_is_the_public_internet_only(shared: World, host: str) -> None:
    proxy = shared.proxy(ports=[80], allow_cidrs=[])
    assert status(proxy.get(f"http://{host}/")) == 403
    assert "no public address" in proxy.record().reason


def test_an_address_of_this_machine_is_refused_even_if_it_were_public(
    shared: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vera.sandbox.egress.address.special", lambda address: "")
    proxy = shared.proxy(ports=[80], allow_cidrs=[])
    assert status(proxy.get("http://127.0.0.1/")) == 403
    assert "the machine that VERA runs on" in proxy.record().reason


def test_a_policy_of_none_refuses_all_and_says_so(shared: World) -> None:
    answer = shared.proxy("none").get("http://ok.test/")
    assert answer.startswith(b"HTTP/1.1 403 ok.test:80: this sandbox has no network\r\n")
    assert answer.endswith(b"Forbidden: ok.test:80: this sandbox has no network\n")


def test_the_refusal_of_a_head_request_has_no_body(shared: World) -> None:
    answer = shared.proxy("none").talk(b"HEAD http://ok.test/ HTTP/1.1\r\n\r\n")
    assert answer.endswith(b"\r\n\r\n")


def test_a_policy_may_be_wrapped_in_one_that_refuses_more(net: World) -> None:
    class NoPosts:
        def __init__(self, inner: Policy) -> None:
            self.inner = inner

        def decide(self, request: Request) -> Decision:
            if request.url.endswith("/secret"):
                return Decision(False, "try the\r\nindex first: ünlucky")
            return self.inner.decide(request)

    web = net.web()
    proxy = net.proxy(ports=[web.port], wrap=NoPosts)
    assert status(proxy.get(f"http://ok.test:{web.port}/")) == 200
    answer = proxy.get(f"http://ok.test:{web.port}/secret")
    assert answer.startswith(b"HTTP/1.1 403 try the??index first: ?nlucky\r\n")
    assert proxy.records[1].reason == "try the\r\nindex first: ünlucky"


# Names and addresses


def test_the_checked_address_is_the_dialled_one(net: World) -> None:
    inside, outside = net.web(b"inside", address=INSIDE), net.web(b"outside")
    for port in (inside.port, outside.port):
        net.names.set("rebind.test", [OUTSIDE], [INSIDE])
        proxy = net.proxy(ports=[port])
        proxy.get(f"http://rebind.test:{port}/")
        again = proxy.get(f"http://rebind.test:{port}/")
        assert status(again) == 403
        assert b"127.0.0.1 is no public address" in again
    assert [record.address for record in proxy.records] == [OUTSIDE, ""]
    assert (len(inside.requests), len(outside.requests)) == (0, 1)
    assert net.names.asked == ["rebind.test"] * 4


def test_an_allowed_name_with_a_private_address_is_refused(net: World) -> None:
    inside = net.web(address=INSIDE)
    net.names.set("ok.test", [INSIDE, "::1", "::ffff:127.1.0.1"])
    proxy = net.proxy("allowlist", allow=["ok.test"], ports=[inside.port])
    assert status(proxy.get(f"http://ok.test:{inside.port}/")) == 403
    assert status(proxy.tunnel(f"ok.test:{inside.port}")) == 403
    assert inside.requests == []


def test_of_several_addresses_only_public_ones_are_dialled_in_turn(net: World) -> None:
    inside = net.web(address=INSIDE)
    web = net.web()
    net.names.set("ok.test", [INSIDE, "127.1.9.9", OUTSIDE])
    proxy = net.proxy(ports=[inside.port, web.port])
    assert proxy.get(f"http://ok.test:{web.port}/").endswith(b"hello")
    assert proxy.record().address == OUTSIDE
    assert inside.requests == []


def test_a_name_without_address_and_a_host_that_is_not_there_are_failures(net: World) -> None:
    proxy = net.proxy(ports=[80, 1])
    assert status(proxy.get("http://nowhere.test/")) == 502
    net.names.set("odd.test", ["no address"])
    assert status(proxy.get("http://odd.test/")) == 502
    assert status(proxy.get("http://ok.test:1/")) == 502
    assert [record.verdict for record in proxy.records] == ["failed"] * 3
    assert "connection refused" in proxy.records[2].reason
    assert [record.address for record in proxy.records] == [""] * 3


def test_a_silent_name_server_is_not_waited_for(net: World) -> None:
    net.names.silent = True
    proxy = net.proxy(ports=[80], lookup_seconds=0.05)
    assert status(proxy.get("http://ok.test/")) == 504
    assert "in time" in proxy.record().reason


# Tunnels


def test_a_tunnel_carries_tls_from_end_to_end(net: World) -> None:
    web = net.web(b"secret hello", tls=True)
    proxy = net.proxy("allowlist", allow=["ok.test"], ports=[web.port])
    with secured(proxy, f"ok.test:{web.port}", "ok.test") as client:
        client.sendall(b"GET / HTTP/1.1\r\nAuthorization: Bearer mine\r\n\r\n")
        assert read_all(client).endswith(b"secret hello")
    assert b"Bearer mine" in web.requests[0]  # nothing inside TLS is seen or changed
    record = proxy.record()
    assert (record.method, record.url, record.verdict) == ("CONNECT", "", "allowed")
    assert (record.host, record.port, record.address) == ("ok.test", web.port, OUTSIDE)
    assert record.bytes_up > 300
    assert record.bytes_down > 300


def test_inside_a_tunnel_tls_must_ask_for_the_judged_host(net: World) -> None:
    web = net.web(tls=True)
    proxy = net.proxy("allowlist", allow=["ok.test"], ports=[web.port])
    with pytest.raises(ssl.SSLError, match="ACCESS_DENIED"):
        secured(proxy, f"ok.test:{web.port}", "sub.ok.test")
    record = proxy.record()
    assert (record.verdict, record.bytes_up) == ("refused", 0)
    assert "sub.ok.test" in record.reason


@pytest.mark.parametrize(
    "first",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"SSH-2.0-x\r\n",
        b"\x16\x03\x01\x00\x05\x02\x00\x00\x01\x00",
        b"\x16\x03\x01\xff\xff",
        b"",
    ],
)
def test_a_tunnel_carries_nothing_but_tls(net: World, first: bytes) -> None:
    web = net.web()
    proxy = net.proxy(ports=[web.port])
    answer = proxy.talk(f"CONNECT ok.test:{web.port} HTTP/1.1\r\n\r\n".encode() + first, half_close=True)
    assert answer == b"HTTP/1.1 200 Connection established\r\n\r\n"
    assert web.requests == []
    assert (proxy.record().verdict, proxy.record().bytes_up) == ("refused", 0)


def client_hello(name: str | None) -> bytes:
    out = ssl.MemoryBIO()
    context = ssl.create_default_context()
    context.check_hostname = False
    client = context.wrap_bio(ssl.MemoryBIO(), out, server_hostname=name)
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    return out.read()


def test_a_hello_may_come_in_pieces_and_records(net: World) -> None:
    whole = client_hello("ok.test")
    message = whole[5:]
    cut = b"".join(
        b"\x16\x03\x01" + len(part).to_bytes(2, "big") + part
        for part in (message[:3], message[3:50], message[50:])
    )
    got = threading.Event()

    async def listen(reader: StreamReader, writer: StreamWriter) -> None:
        assert await reader.readexactly(len(cut)) == cut
        got.set()

    port = net.serve(listen)
    with net.proxy(ports=[port]).connect() as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        client.sendall(f"CONNECT ok.test:{port} HTTP/1.1\r\n\r\n".encode())
        for start in range(0, len(cut), 40):
            client.sendall(cut[start : start + 40])
        assert got.wait(10)


def test_without_a_name_in_tls_only_an_address_can_be_meant(net: World) -> None:
    web = net.web(tls=True)
    proxy = net.proxy(ports=[web.port])
    head = "CONNECT {}:" + f"{web.port} HTTP/1.1\r\n\r\n"
    proxy.talk(head.format("ok.test").encode() + client_hello(None), half_close=True)
    proxy.talk(head.format(OUTSIDE).encode() + client_hello(None), half_close=True)
    assert [record.verdict for record in proxy.wait_for(2)] == ["refused", "allowed"]


# Bounds


def test_uploads_to_one_host_and_in_all_have_a_limit(net: World) -> None:
    web = net.web()
    limits = EgressLimits(uploaded_to_host=3000, uploaded=5000)
    proxy = net.proxy(ports=[web.port], limits=limits)

    def post(host: str, size: int) -> int:
        head = f"POST http://{host}:{web.port}/ HTTP/1.1\r\nContent-Length: {size}\r\n\r\n"
        return status(proxy.talk(head.encode() + b"x" * size))

    assert post("ok.test", 2000) == 200
    assert post("ok.test", 2000) == 403
    assert post("sub.ok.test", 1900) == 200
    assert post("evil.test", 1900) == 403
    assert "at most 3000 bytes to ok.test" in proxy.records[1].reason
    assert "at most 5000 bytes in all" in proxy.records[3].reason
    assert sum(record.bytes_up for record in proxy.records) <= 5000


def test_an_upload_that_is_cut_off_keeps_its_count_and_reason(net: World) -> None:
    port, _ = received(net)
    proxy = net.proxy(ports=[port], limits=EgressLimits(uploaded_to_host=200_000))
    head = f"POST http://ok.test:{port}/ HTTP/1.1\r\nContent-Length: 900000\r\n\r\n"
    assert status(proxy.talk(head.encode() + b"x" * 900_000)) == 403
    record = proxy.record()
    assert record.verdict == "allowed"
    assert 0 < record.bytes_up <= 200_000
    assert "at most 200000 bytes" in record.reason


def test_downloads_have_a_limit(net: World) -> None:
    web = net.web(b"x" * 500_000)
    proxy = net.proxy(ports=[web.port], limits=EgressLimits(downloaded=300_000))
    assert len(proxy.get(f"http://ok.test:{web.port}/")) <= 300_000
    assert "receive at most" in proxy.record().reason


def test_a_head_that_is_too_long_or_too_slow_is_refused(net: World) -> None:
    proxy = net.proxy(ports=[80], limits=EgressLimits(head=2000, head_seconds=0.2))
    assert status(proxy.get("http://ok.test/", "A: " + "b" * 3000)) == 431
    assert status(proxy.talk(b"GET http://ok.test/ HT")) == 408
    assert status(proxy.talk(b"CONNECT ok.test:80 HTTP/1.1\r\n")) == 408


def test_connections_at_once_and_requests_in_all_have_a_limit(net: World) -> None:
    web = net.web()
    proxy = net.proxy(ports=[web.port], limits=EgressLimits(connections=2, requests=4))
    url = f"http://ok.test:{web.port}/"
    with proxy.connect() as first, proxy.connect() as second:
        first.sendall(b"G")
        second.sendall(b"G")
        assert status(proxy.get(url)) == 503
    proxy.wait_for(3)
    assert status(proxy.get(url)) == 200
    assert status(proxy.get(url)) == 429
    assert status(proxy.get(url)) == 429
    assert len(proxy.wait_for(5)) == 5  # the last one says that the rest is not recorded


def silent_server(net: World) -> int:
    async def keep_silent(reader: StreamReader, writer: StreamWriter) -> None:
        await Event().wait()

    return net.serve(keep_silent)


def test_a_connection_ends_when_nothing_passes(net: World) -> None:
    port = silent_server(net)
    proxy = net.proxy(ports=[port], limits=EgressLimits(idle_seconds=0.1))
    assert status(proxy.get(f"http://ok.test:{port}/")) == 504
    assert "no byte passed" in proxy.record().reason


@pytest.mark.parametrize(
    "head", ["GET http://ok.test:{}/ HTTP/1.1\r\n\r\n", "CONNECT ok.test:{} HTTP/1.1\r\n\r\n"]
)
def test_a_client_that_sends_no_more_is_kept_for_a_short_while_only(net: World, head: str) -> None:
    port = silent_server(net)
    proxy = net.proxy(ports=[port], limits=EgressLimits(linger_seconds=0.05))
    hello = client_hello("ok.test") if head.startswith("CONNECT") else b""
    proxy.talk(head.format(port).encode() + hello, half_close=True)
    assert proxy.record().verdict == "allowed"
    assert proxy.record().reason == ("" if hello else "no byte passed for 0.05 s")


def test_a_client_that_only_stops_sending_still_gets_its_answer(net: World) -> None:
    web = net.web()
    answer = net.proxy(ports=[web.port]).talk(
        f"GET http://ok.test:{web.port}/ HTTP/1.1\r\n\r\n".encode(), half_close=True
    )
    assert answer.endswith(b"hello")


def test_a_connection_ends_when_its_time_is_over(net: World) -> None:
    port = silent_server(net)
    proxy = net.proxy(ports=[port], limits=EgressLimits(life_seconds=0.2))
    assert status(proxy.get(f"http://ok.test:{port}/")) == 502
    assert "as long as a connection may be" in proxy.record().reason


def test_a_client_that_goes_away_ends_its_connection(net: World) -> None:
    gone = threading.Event()

    async def pour(reader: StreamReader, writer: StreamWriter) -> None:
        try:
            while True:
                writer.write(b"x" * 65536)
                await writer.drain()
        finally:
            gone.set()

    port = net.serve(pour)
    proxy = net.proxy(ports=[port])
    with proxy.connect() as client:
        client.sendall(f"GET http://ok.test:{port}/ HTTP/1.1\r\n\r\n".encode())
        client.recv(1000)
    assert gone.wait(10)
    assert proxy.record().verdict == "allowed"


def test_a_connection_that_is_cancelled_has_its_record_too() -> None:
    with world() as net:
        port = silent_server(net)
        proxy = net.proxy(ports=[port])
        client = proxy.connect()
        client.sendall(f"GET http://ok.test:{port}/ HTTP/1.1\r\n\r\n".encode())
        pause = threading.Event()
        while not proxy.proxy.usage.sent:
            pause.wait(0.01)
    client.close()
    assert proxy.record().reason == "the sandbox was closed"
    assert proxy.record().verdict == "allowed"


def test_many_megabytes_arrive_whole(net: World) -> None:
    content = bytes(range(256)) * 80_000
    web = net.web(content)
    answer = net.proxy(ports=[web.port]).get(f"http://ok.test:{web.port}/")
    assert hashlib.sha256(answer.split(b"\r\n\r\n", 1)[1]).digest() == hashlib.sha256(content).digest()


# Secrets


@pytest.mark.parametrize(
    "request_text",
    [
        f"GET http://ok.test/?k={KEY} HTTP/1.1",
        f"GET http://ok.test/?k={KEY.upper()} HTTP/1.1",
        f"GET http://ok.test/?k={KEY.replace('-', '%2d')} HTTP/1.1",
        f"GET http://ok.test/?k={KEY.replace('-', '%252d')} HTTP/1.1",
        f"GET http://ok.test/?k={KEY.encode().hex()} HTTP/1.1",
        f"GET http://{KEY}.ok.test/ HTTP/1.1",
        f"GET http://{KEY[:9]}.{KEY[9:]}.ok.test/ HTTP/1.1",
        f"CONNECT {KEY}.ok.test:443 HTTP/1.1",
        f"CONNECT {KEY}@ok.test:443 HTTP/1.1",
        f"GET http://ok.test/ HTTP/1.1\r\nX-Key: {KEY}",
        f"GET http://ok.test/ HTTP/1.1\r\nX-{KEY}: x",
        f"{KEY.replace('_', '-')[:7]}{'a' * 8} http://ok.test/{KEY} HTTP/1.1",
    ],
)
def test_a_known_secret_leaves_neither_in_a_url_nor_in_a_header(shared: World, request_text: str) -> None:
    asked = len(shared.names.asked)
    proxy = shared.proxy(ports=[80, 443], secrets=[KEY])
    answer = proxy.talk(f"{request_text}\r\n\r\n".encode(), half_close=True)
    assert status(answer) in (400, 403)
    record = proxy.record()
    assert (record.verdict, record.bytes_up) == ("refused", 0)
    assert KEY not in repr(record).lower()
    if "X-" not in request_text:
        assert (record.host, record.url) == ("", "")
    assert len(shared.names.asked) == asked
