"""A small internet on loopback: name server, web servers and the proxy, all real, on one thread of their own.

`127.1.0.0/16` plays the public internet (the tests name that range); `127.0.0.1` is what it is: this machine.
"""

import asyncio
import contextlib
import socket
import ssl
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from vera.sandbox.egress.dial import Dialer
from vera.sandbox.egress.policy import Mode, NetworkPolicy
from vera.sandbox.egress.proxy import EgressProxy
from vera.sandbox.egress.secrets import Secrets
from vera.sandbox.egress.types import Connection, EgressLimits, Policy
from vera.sandbox.fetch.fetcher import Fetcher, FetchLimits

CERTIFICATES = Path(__file__).parent / "certificates"
AUTHORITY = CERTIFICATES / "authority.pem"

OUTSIDE = "127.1.0.1"
INSIDE = "127.0.0.1"
OUTSIDE_RANGE = "127.1.0.0/16"

T = TypeVar("T")
Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Names:
    """A name server: each name's answers in turn, the last one for ever; `asked` is what it was asked."""

    def __init__(self, **answers: Sequence[Sequence[str]]) -> None:
        self._answers = {name.replace("_", "."): list(each) for name, each in answers.items()}
        self.asked: list[str] = []
        self.silent = False

    def set(self, name: str, *answers: Sequence[str]) -> None:
        self._answers[name] = list(answers)

    async def __call__(self, name: str) -> Sequence[str]:
        self.asked.append(name)
        if self.silent:
            await asyncio.Event().wait()
        answers = self._answers.get(name)
        if not answers:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return answers.pop(0) if len(answers) > 1 else answers[0]


class Web:
    """A server that keeps each request's bytes and gives one answer, then closes."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.requests: list[bytes] = []


class Proxy:
    """An `EgressProxy` behind a real port, as a box's own loopback has one."""

    def __init__(self, port: int, records: list[Connection], proxy: EgressProxy) -> None:
        self.port = port
        self.records = records
        self.proxy = proxy

    def talk(self, data: bytes, *, half_close: bool = False, timeout: float = 20.0) -> bytes:
        """Send these bytes to the proxy and give all that comes back."""
        with self.connect(timeout) as client:
            client.sendall(data)
            if half_close:
                client.shutdown(socket.SHUT_WR)
            return read_all(client)

    def get(self, url: str, *headers: str) -> bytes:
        return self.talk(
            f"GET {url} HTTP/1.1\r\n{''.join(h + chr(13) + chr(10) for h in headers)}\r\n".encode()
        )

    def tunnel(self, authority: str) -> bytes:
        return self.talk(f"CONNECT {authority} HTTP/1.1\r\n\r\n".encode(), half_close=True)

    def connect(self, timeout: float = 20.0) -> socket.socket:
        return socket.create_connection((INSIDE, self.port), timeout=timeout)

    def record(self) -> Connection:
        """The only record there is; waits for it."""
        assert len(self.wait_for(1)) == 1
        return self.records[0]

    def wait_for(self, count: int) -> list[Connection]:
        pause = threading.Event()
        for _ in range(1000):
            if len(self.records) >= count:
                break
            pause.wait(0.01)
        return self.records


class World:
    """Everything runs on one event loop in a thread, so that tests may be as blocking as real clients are."""

    def __init__(self) -> None:
        self.names = Names(ok_test=[[OUTSIDE]], sub_ok_test=[[OUTSIDE]], evil_test=[[OUTSIDE]])
        self._loop = asyncio.new_event_loop()
        self._servers: list[asyncio.Server] = []
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(60)

    def close(self) -> None:
        async def stop() -> None:
            for server in self._servers:
                server.close()
            others = asyncio.all_tasks() - {asyncio.current_task()}
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)

        self.do(stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    def serve(self, handler: Handler, address: str = OUTSIDE, *, tls: bool = False) -> int:
        """A server with this handler; its port."""

        async def guarded(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
                await handler(reader, writer)
            writer.close()

        async def start() -> asyncio.Server:
            return await asyncio.start_server(guarded, address, 0, ssl=server_context() if tls else None)

        server = self.do(start())
        self._servers.append(server)
        return int(server.sockets[0].getsockname()[1])

    def web(self, answer: bytes = b"hello", *, address: str = OUTSIDE, tls: bool = False) -> Web:
        """A web server. An answer that begins with HTTP/ is sent as it is, another one as a body."""
        web = Web(0)

        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            request = await reader.readuntil(b"\r\n\r\n")
            length = header_number(request, b"content-length")
            web.requests.append(request)
            if length:
                web.requests[-1] += await reader.readexactly(length)
            writer.write(answer if answer.startswith(b"HTTP/") else response(answer))
            await writer.drain()

        web.port = self.serve(handle, address, tls=tls)
        return web

    def site(self, files: Mapping[str, bytes], *, tls: bool = False) -> Web:
        """A web server of these files, by path; another path is not found."""
        web = Web(0)

        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            request = await reader.readuntil(b"\r\n\r\n")
            web.requests.append(request)
            path = request.split(b" ")[1].decode().partition("?")[0]
            kind = "text/html" if path.endswith("/") else "application/octet-stream"
            found = response(files[path], f"Content-Type: {kind}") if path in files else NOT_FOUND
            writer.write(found)
            await writer.drain()

        web.port = self.serve(handle, tls=tls)
        return web

    def proxy(
        self,
        mode: Mode = "public",
        *,
        ports: Sequence[int] = (),
        allow: Sequence[str] = (),
        allow_cidrs: Sequence[str] = (OUTSIDE_RANGE,),
        secrets: Sequence[str] = (),
        limits: EgressLimits | None = None,
        wrap: Callable[[Policy], Policy] = lambda policy: policy,
        lookup_seconds: float = 10.0,
    ) -> Proxy:
        policy = NetworkPolicy.of(mode, ports=ports, allow=allow, allow_cidrs=allow_cidrs)
        records: list[Connection] = []
        proxy = EgressProxy(
            wrap(policy),
            Dialer(policy.addresses, resolver=self.names, lookup_seconds=lookup_seconds),
            secrets=Secrets(secrets),
            limits=limits,
            log=records.append,
        )
        return Proxy(self.serve(proxy.serve, INSIDE), records, proxy)

    def fetcher(
        self,
        mode: Mode = "public",
        *,
        ports: Sequence[int] = (),
        allow: Sequence[str] = (),
        allow_cidrs: Sequence[str] = (OUTSIDE_RANGE,),
        secrets: Sequence[str] = (),
        limits: FetchLimits | None = None,
        log: Callable[[Connection], object] | None = None,
        room: Callable[[], int] | None = None,
    ) -> Fetcher:
        policy = NetworkPolicy.of(mode, ports=ports, allow=allow, allow_cidrs=allow_cidrs)
        dialer = Dialer(policy.addresses, resolver=self.names)
        return Fetcher(
            policy, dialer, secrets=Secrets(secrets), limits=limits, log=log, tls=client_context, room=room
        )


@contextlib.contextmanager
def world() -> Iterator[World]:
    made = World()
    try:
        yield made
    finally:
        made.close()


def server_context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATES / "server.pem")
    return context


def client_context() -> ssl.SSLContext:
    return ssl.create_default_context(cafile=AUTHORITY)


def response(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


NOT_FOUND = response(b"not here", status="404 Not Found")


def header_number(head: bytes, name: bytes) -> int:
    for line in head.split(b"\r\n"):
        key, _, value = line.partition(b":")
        if key.lower() == name:
            return int(value)
    return 0


def read_all(client: socket.socket) -> bytes:
    data = bytearray()
    with contextlib.suppress(ConnectionResetError):
        while piece := client.recv(65536):
            data += piece
    return bytes(data)
