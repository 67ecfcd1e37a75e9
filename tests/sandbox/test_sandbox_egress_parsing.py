"""Whatever bytes a box sends: one record, no exception, and never a second reading."""

import asyncio
import base64
import contextlib
import socket
from urllib.parse import quote

import h11
from hypothesis import given, settings
from hypothesis import strategies as st

from vera.sandbox.egress.client_hello import IncompleteError, NotTlsError, server_name
from vera.sandbox.egress.dial import Dialer
from vera.sandbox.egress.head import CREDENTIALS, HeadError, RequestHead, forwarded, parse_head
from vera.sandbox.egress.policy import NetworkPolicy
from vera.sandbox.egress.proxy import EgressProxy
from vera.sandbox.egress.secrets import Secrets
from vera.sandbox.egress.types import Connection

names = st.sampled_from(
    [
        "Host",
        "Connection",
        "Content-Length",
        "transfer-encoding",
        "Cookie",
        "Authorization",
        "X-A",
        "TE",
        "Expect",
    ]
)
values = st.sampled_from(
    ["5", "close, X-A, content-length", "chunked", "gzip", "", "evil.test", "a b", "5, 5", "\xe9"]
)
targets = st.sampled_from(
    [
        "http://ok.test/",
        "http://OK.test:8080?x",
        "ok.test:443",
        "/",
        "http://evil.test@ok.test/",
        "http://[::1]/a",
    ]
)
request_lines = st.builds(
    "{} {} {}".format,
    st.sampled_from(["GET", "POST", "CONNECT", "get"]),
    targets,
    st.sampled_from(["HTTP/1.1", "HTTP/1.0"]),
)
heads = st.builds(
    lambda line, fields: "\r\n".join([line, *(f"{n}: {v}" for n, v in fields)]).encode("latin-1"),
    request_lines,
    st.lists(st.tuples(names, values), max_size=6),
)


@given(st.one_of(heads, st.binary(max_size=200)))
def test_what_goes_on_is_one_request_to_the_judged_host_for_a_strict_reader(data: bytes) -> None:
    try:
        head = parse_head(data)
    except HeadError:
        return
    if head.url is None:
        return
    reader = h11.Connection(h11.SERVER)
    reader.receive_data(forwarded(head))
    request = reader.next_event()
    assert isinstance(request, h11.Request)
    fields = [(name.decode(), value.decode("latin-1")) for name, value in request.headers]
    assert [value for name, value in fields if name == "host"] == [head.url.host_header]
    assert not {name for name, _ in fields} & CREDENTIALS
    assert request.target.decode() == head.url.target
    assert [value for name, value in fields if name == "connection"] == ["close"]
    assert body_length(fields) == head.length


def body_length(fields: list[tuple[str, str]]) -> int | None:
    found = dict(fields)
    if "transfer-encoding" in found:
        assert "content-length" not in found
        return None
    return int(found.get("content-length", "0"))


class Nothing:
    """A client that listens to nothing."""

    def write(self, data: bytes) -> None: ...

    async def drain(self) -> None: ...

    def close(self) -> None: ...


def serve(data: bytes) -> list[Connection]:
    records: list[Connection] = []

    async def nobody(name: str) -> list[str]:
        raise socket.gaierror(socket.EAI_NONAME, "no such name")

    async def run() -> None:
        policy = NetworkPolicy.of("public")
        proxy = EgressProxy(policy, Dialer(policy.addresses, resolver=nobody), log=records.append)
        reader = asyncio.StreamReader()
        reader.feed_data(data)
        reader.feed_eof()
        await proxy.serve(reader, Nothing())

    asyncio.run(run())
    return records


@settings(max_examples=50, deadline=None)
@given(st.one_of(heads.map(lambda head: head + b"\r\n\r\nmore"), st.binary(max_size=300)))
def test_any_bytes_give_one_record_and_no_exception(data: bytes) -> None:
    (record,) = serve(data)
    assert record.verdict in ("refused", "failed")
    assert record.bytes_up == 0


@given(st.binary(max_size=200))
def test_any_bytes_are_a_hello_or_not(data: bytes) -> None:
    for start in (b"", b"\x16\x03\x01\x00\x40\x01\x00\x00\x3c"):
        with contextlib.suppress(IncompleteError, NotTlsError):
            server_name(start + data)


@given(
    st.text(alphabet=st.characters(codec="utf-8"), min_size=8, max_size=40),
    st.text(max_size=20),
    st.text(max_size=20),
)
def test_a_secret_is_found_in_its_usual_disguises(secret: str, before: str, after: str) -> None:
    secret = secret.strip()
    if len(secret) < 8:
        return
    hidden = base64.b64encode((before + secret + after).encode("utf-8", "replace")).decode()
    looking = Secrets([secret])
    for disguise in (secret, quote(secret), quote(quote(secret)), secret.encode().hex(), hidden):
        assert looking.found_in(f"http://ok.test/?q={before.replace('%', '')}{disguise}")


def test_short_values_are_no_secrets_and_none_is_shown() -> None:
    looking = Secrets(["", "short", "a-long-enough-key"])
    assert not looking.found_in("http://ok.test/short")
    assert "key" not in repr(looking)
    assert not Secrets().found_in("anything")


def test_a_head_with_a_body_says_so() -> None:
    head = parse_head(b"POST http://ok.test/ HTTP/1.1\r\nTransfer-Encoding: chunked")
    assert isinstance(head, RequestHead)
    assert head.chunked
    assert forwarded(head).count(b"Transfer-Encoding: chunked") == 1
    assert b"Content-Length: 0" in forwarded(
        parse_head(b"POST http://ok.test/ HTTP/1.1\r\nContent-Length: 0")
    )
