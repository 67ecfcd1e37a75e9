"""The way out of a real box: programs inside, the tunnel over the supervisor's stream, the proxy outside."""

import asyncio
import contextlib
import hashlib
import os
import shlex
import shutil
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from egress_world import AUTHORITY, OUTSIDE, OUTSIDE_RANGE, World, world
from hypothesis import given
from hypothesis import strategies as st
from sandbox_machine import BUBBLEWRAP, DOCKER, LINUX, spec_for

from vera.sandbox.backends import open_box
from vera.sandbox.backends.host import Host
from vera.sandbox.box import SupervisedBox
from vera.sandbox.egress.dial import Dialer
from vera.sandbox.egress.exchange import FetchService, Sink
from vera.sandbox.egress.policy import NetworkPolicy
from vera.sandbox.egress.proxy import EgressProxy
from vera.sandbox.egress.tunnel import MAX_STREAMS, WINDOW, Tunnel
from vera.sandbox.egress.types import Connection, EgressLimits
from vera.sandbox.fetch.receipt import FetchError

pytestmark = LINUX


@pytest.fixture
def net() -> Iterator[World]:
    with world() as made:
        yield made


class Room:
    """A box with a way out, on the world's own event loop."""

    def __init__(self, net: World, box: SupervisedBox, records: list[Connection]) -> None:
        self.net, self.box, self.records = net, box, records

    def run(self, command: str, timeout: float = 60.0) -> str:
        result = self.net.do(self.box.run(command, timeout=timeout))
        return (result.head + result.tail).decode()

    def get(self, url: str, *options: str) -> str:
        """What a program of the box's own Python gets through the proxy; the base needs no curl for it."""
        proxy = f"http://127.0.0.1:{self.box.proxy_port}"
        return self.run(f"python3 -c {shlex.quote(GET)} {proxy} {url} {' '.join(options)} 2>&1")


GET = """
import hashlib, sys, urllib.request
proxy, url = sys.argv[1:3]
data = sys.argv[3].encode() * 1000 if sys.argv[3:] else None
opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": proxy}))
try:
    with opener.open(url, data) as answer:
        body = answer.read()
    print(len(body), hashlib.sha256(body).hexdigest())
except urllib.error.HTTPError as error:
    print(error)
"""


@contextlib.contextmanager
def room(
    net: World,
    backend: str,
    work: Path,
    *,
    ports: list[int],
    limits: EgressLimits | None = None,
    fetch: FetchService | None = None,
) -> Iterator[Room]:
    policy = NetworkPolicy.of("public", ports=ports, allow_cidrs=[OUTSIDE_RANGE])
    records: list[Connection] = []
    dialer = Dialer(policy.addresses, resolver=net.names)
    proxy = EgressProxy(policy, dialer, limits=limits, fetch=fetch, log=records.append)
    spec = spec_for(backend, work)
    if os.getuid() == 0 and backend == "bubblewrap":
        spec = replace(spec, uid=None)

    async def start() -> SupervisedBox:
        if backend != "host":
            return await open_box(backend, spec, egress=proxy.serve)
        # It shares the host's loopback, so any free port.
        box = SupervisedBox(Host().launch(spec), egress=proxy.serve, proxy_port=0)
        await box.start()
        return box

    box = net.do(start())
    try:
        yield Room(net, box, records)
    finally:
        net.do(box.close())


ALL = pytest.mark.parametrize("backend", ["host", DOCKER, BUBBLEWRAP])


def digest(content: bytes) -> str:
    return f"{len(content)} {hashlib.sha256(content).hexdigest()}\n"


@ALL
def test_a_program_in_the_box_gets_a_page_and_the_host_has_the_record(
    net: World, work: Path, backend: str
) -> None:
    web = net.web(b"hello")
    with room(net, backend, work, ports=[web.port]) as box:
        assert box.get(f"http://ok.test:{web.port}/") == digest(b"hello")
        (record,) = box.records
    assert (record.host, record.verdict, record.address) == ("ok.test", "allowed", OUTSIDE)


@ALL
def test_what_the_policy_refuses_is_refused_with_its_reason(net: World, work: Path, backend: str) -> None:
    web = net.web()
    with room(net, backend, work, ports=[web.port]) as box:
        said = box.get(f"http://10.0.0.1:{web.port}/")
        assert "403" in said
        assert "no public address" in said
        assert "only these may be connected to" in box.get("http://ok.test:22/")


@pytest.mark.parametrize("backend", [DOCKER, BUBBLEWRAP])
def test_beside_the_tunnel_there_is_no_way_out(net: World, work: Path, backend: str) -> None:
    web = net.web()
    with room(net, backend, work, ports=[web.port]) as box:
        direct = (
            "import socket\n"
            f"for address in ('{OUTSIDE}', '127.0.0.1', '1.1.1.1'):\n"
            f"    try: socket.create_connection((address, {web.port}), 2); print('open')\n"
            "    except OSError as error: print('closed')\n"
            "try: socket.getaddrinfo('ok.test', 80); print('open')\n"
            "except OSError: print('closed')\n"
        )
        assert box.run(f"python3 -c {shlex.quote(direct)}") == "closed\n" * 4
        assert "127.0.0.1:3128" in box.run("echo $https_proxy")
    assert (web.requests, box.records) == ([], [])


@ALL
def test_many_megabytes_pass_in_both_directions(net: World, work: Path, backend: str) -> None:
    content = bytes(range(256)) * 40_000
    web = net.web(content)
    with room(net, backend, work, ports=[web.port]) as box:
        assert box.get(f"http://ok.test:{web.port}/", "x" * 2000) == digest(content)
    assert web.requests[0].endswith(b"x" * 2_000_000)


def test_connections_run_beside_each_other_and_beside_commands(net: World, work: Path) -> None:
    slow = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        await slow.wait()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")
        await writer.drain()

    async def let_go() -> None:
        slow.set()

    port, web = net.serve(serve), net.web(b"quick")
    with room(net, "host", work, ports=[port, web.port]) as box:
        proxy = f"http://127.0.0.1:{box.box.proxy_port}"
        get = f"python3 -c {shlex.quote(GET)} {proxy}"
        box.run(f"for i in 1 2 3; do {get} http://ok.test:{port}/ > $i & done")
        assert box.get(f"http://ok.test:{web.port}/") == digest(b"quick")
        net.do(let_go())
        assert box.run("wait; cat 1 2 3") == digest(b"x") * 3


def test_a_program_that_is_killed_or_reads_nothing_holds_up_nobody(net: World, work: Path) -> None:
    web, big = net.web(b"quick"), net.web(b"x" * 20_000_000)
    deaf = (
        "import socket, sys, time\n"
        "for _ in range(5):\n"
        "    s = socket.create_connection(('127.0.0.1', int(sys.argv[1])))\n"
        f"    s.sendall(b'GET http://ok.test:{big.port}/ HTTP/1.1\\r\\n\\r\\n')\n"
        "    globals().setdefault('kept', []).append(s)\n"
        "print('sent', flush=True)\n"
        "time.sleep(1000)\n"
    )
    with room(net, "host", work, ports=[web.port, big.port]) as box:
        port = box.box.proxy_port
        box.run(
            f"python3 -c {shlex.quote(deaf)} {port} > said & echo $!; until [ -s said ]; do sleep 0.01; done"
        )
        assert box.get(f"http://ok.test:{web.port}/") == digest(b"quick")
        box.run("kill -9 $!; wait")
        assert box.get(f"http://ok.test:{web.port}/") == digest(b"quick")
        for _ in range(500):
            if len(box.records) == 7:
                break
            box.run("sleep 0.01")
        assert len(box.records) == 7


def test_more_connections_than_there_may_be_wait_for_their_turn(net: World, work: Path) -> None:
    web = net.web(b"x")
    with room(net, "host", work, ports=[web.port]) as box:
        many = (
            "import socket, sys\n"
            "ends = [socket.create_connection(('127.0.0.1', int(sys.argv[1]))) for _ in range(200)]\n"
            "for end in ends[:100]: end.close()\n"
            f"for end in ends[100:]: end.sendall(b'GET http://ok.test:{web.port}/ HTTP/1.1\\r\\n\\r\\n')\n"
            "print(sum(end.recv(12) == b'HTTP/1.1 200' for end in ends[100:]))\n"
        )
        assert box.run(f"python3 -c {shlex.quote(many)} {box.box.proxy_port}") == "100\n"


def test_a_box_that_is_closed_ends_its_connections_and_they_are_recorded(net: World, work: Path) -> None:
    reached = threading.Event()

    async def keep_silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        reached.set()
        await asyncio.Event().wait()

    port = net.serve(keep_silent)
    with room(net, "host", work, ports=[port]) as box:
        proxy = f"http://127.0.0.1:{box.box.proxy_port}"
        box.run(f"python3 -c {shlex.quote(GET)} {proxy} http://ok.test:{port}/ >/dev/null 2>&1 &")
        assert reached.wait(20)
    assert [record.reason for record in box.records] == ["the sandbox was closed"]


def test_a_port_that_is_taken_is_said_so(net: World, work: Path) -> None:
    port = net.serve(lambda reader, writer: asyncio.sleep(0), "127.0.0.1")

    async def start() -> str:
        async def serve(reader: asyncio.StreamReader, writer: Sink) -> None: ...

        box = SupervisedBox(Host().launch(spec_for("host", work)), egress=serve, proxy_port=port)
        try:
            await box.start()
        except Exception as error:  # noqa: BLE001 - shown below
            return str(error)
        return ""

    assert f"no way out by port {port}" in net.do(start())


@pytest.mark.parametrize("backend", [DOCKER, BUBBLEWRAP])
def test_curl_and_git_find_the_proxy_in_their_environment(net: World, work: Path, backend: str) -> None:
    web = net.web(b"hello", tls=True)
    shutil.copy(AUTHORITY, work / "authority.pem")
    with room(net, backend, work, ports=[web.port]) as box:
        if box.run("command -v curl git | wc -l") != "2\n":
            pytest.skip("the box has no curl or git")
        assert box.run(f"curl -sS --cacert authority.pem https://ok.test:{web.port}/") == "hello"
        said = box.run("git ls-remote https://evil.test:1/x.git 2>&1")
        assert "CONNECT tunnel failed, response 403" in said


@ALL
def test_the_command_fetch_has_the_host_get_a_page(net: World, work: Path, backend: str) -> None:
    web = net.web(b"hello")
    fetcher = net.fetcher(ports=[web.port])

    async def fetch(url: str, render: bool) -> tuple[int, bytes]:
        if render:
            return 200, b"rendered " + url.encode() + b"\n"
        try:
            fetched = await fetcher.fetch(url)
        except FetchError as error:
            return 502, f"fetch: {error}\n".encode()
        return 200, b"1: " + fetched.body + b"\n"

    with room(net, backend, work, ports=[web.port], fetch=fetch) as box:
        proxy = f"export http_proxy=http://127.0.0.1:{box.box.proxy_port}"
        assert box.run(f"{proxy}; fetch 'http://ok.test:{web.port}/a?b=c&d=%20#e'") == "1: hello\n"
        assert web.requests[0].startswith(b"GET /a?b=c&d=%20 HTTP/1.1\r\n")
        assert box.run(f"{proxy}; fetch --render 'http://ok.test/#/a?b'") == "rendered http://ok.test/#/a?b\n"
        said = box.run("fetch http://10.0.0.1/ 2>&1 >/dev/null; echo $?; fetch; echo $?")
        assert "10.0.0.1:80: of its ports only these" in said
        assert said.endswith("\n1\nusage: fetch [--render] URL\n2\n")
    assert box.records == []


def test_a_box_without_a_fetcher_says_so(net: World, work: Path) -> None:
    with room(net, "host", work, ports=[80]) as box:
        proxy = f"http_proxy=http://127.0.0.1:{box.box.proxy_port}"
        assert "pages are not fetched here" in box.run(f"{proxy} fetch http://ok.test/ 2>&1")
        assert "has no network" in box.run("fetch http://ok.test/ 2>&1")
    assert [record.verdict for record in box.records] == ["refused"]


# Whatever a box sends in its supervisor's place


frames = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.sampled_from(["open", "data", "end", "close", "ack", "listen", ""]),
        st.integers(-10, 1 << 40),
        st.binary(max_size=50),
    ),
    max_size=40,
)


@given(frames)
def test_no_sequence_of_frames_breaks_the_host_side(sent: list[tuple[int, str, int, bytes]]) -> None:
    async def echo(reader: asyncio.StreamReader, writer: Sink) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(10):
                writer.write(data)
                await writer.drain()

    async def main() -> None:
        tunnel = Tunnel(echo, lambda header, payload: None)
        for frame in sent:
            tunnel.on_frame(*frame)
            await asyncio.sleep(0)
        await tunnel.close()

    asyncio.run(main())


def test_a_box_is_held_to_its_window_and_to_its_number_of_connections() -> None:
    sent: list[str] = []

    async def deaf(reader: asyncio.StreamReader, writer: Sink) -> None:
        await asyncio.Event().wait()

    async def main() -> tuple[int, int]:
        tunnel = Tunnel(deaf, lambda header, payload: sent.append(header["do"]))
        for number in range(MAX_STREAMS + 5):
            tunnel.on_frame(number, "open", 0, b"")
        refused = sent.count("close")
        for _ in range(100):
            tunnel.on_frame(0, "data", 0, b"x" * (WINDOW // 4))
        held = 0
        for stream in tunnel._streams.values():
            held += len(stream.reader._buffer)  # type: ignore[attr-defined] # asyncio does not tell its size
        await tunnel.close()
        return refused, held

    refused, held = asyncio.run(main())
    assert refused == 5
    assert held <= 3 * WINDOW
