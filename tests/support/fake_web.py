"""A web server on loopback that answers from a script, and a clock that only moves when somebody waits."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlsplit

from vera.sandbox.egress.dial import Dialer
from vera.sandbox.egress.policy import NetworkPolicy
from vera.sandbox.egress.secrets import Secrets
from vera.sandbox.egress.types import Connection
from vera.sandbox.fetch.fetcher import Fetcher, FetchLimits
from vera.websearch import Clock

LOOPBACK = "127.0.0.1"
SMALL = FetchLimits(body=1 << 20, wire=1 << 20, redirects=0, silence=0.3, total=2.0)


@dataclass(frozen=True)
class Asked:
    """A request as it came."""

    path: str
    parameters: dict[str, str]
    headers: dict[str, str]
    raw: bytes


@dataclass(frozen=True)
class Reply:
    """What is sent back. `silent` sends the head and then nothing for ever."""

    body: bytes = b"{}"
    status: int = 200
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "application/json"),)
    silent: bool = False


@dataclass
class FakeWeb:
    """A server at work: `asked` in order; `answer` is called for each request."""

    answer: Callable[[Asked], Reply]
    port: int = 0
    asked: list[Asked] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self.port}"

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            raw = await reader.readuntil(b"\r\n\r\n")
            first, *lines = raw.decode("latin-1").split("\r\n")
            target = urlsplit(first.split(" ")[1])
            headers = dict(line.split(": ", 1) for line in lines if ": " in line)
            asked = Asked(
                target.path,
                dict(parse_qsl(target.query)),
                {name.lower(): value for name, value in headers.items()},
                raw,
            )
            self.asked.append(asked)
            reply = self.answer(asked)
            fields = [*reply.headers, ("Content-Length", str(len(reply.body)))]
            head = [f"HTTP/1.1 {reply.status} X", *(f"{name}: {value}" for name, value in fields), "", ""]
            writer.write("\r\n".join(head).encode("latin-1"))
            if reply.silent:
                await reader.read()
            writer.write(reply.body)
            await writer.drain()
        writer.close()


@contextlib.asynccontextmanager
async def fake_web(answer: Callable[[Asked], Reply]) -> AsyncIterator[FakeWeb]:
    web = FakeWeb(answer)
    server = await asyncio.start_server(web.handle, LOOPBACK, 0)
    web.port = int(server.sockets[0].getsockname()[1])
    try:
        yield web
    finally:
        server.close()


class FakeClock:
    """Time stands still but for `sleep`; `waits` is what was waited."""

    def __init__(self, now: float = 1_800_000_000.0) -> None:
        self.now = now
        self.waits: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.waits.append(round(seconds, 6))
        until = self.now + seconds
        await asyncio.sleep(0)
        self.now = max(self.now, until)

    def clock(self) -> Clock:
        return Clock(monotonic=lambda: self.now, wall=lambda: self.now, sleep=self.sleep)


def fetcher_to(
    *ports: int,
    secrets: Sequence[str] = (),
    log: Callable[[Connection], object] | None = None,
    limits: FetchLimits = SMALL,
) -> Fetcher:
    """The host's fetcher under a policy that leads to these ports of this machine and nowhere else."""
    allow = [f"{LOOPBACK}:{port}" for port in ports]
    policy = NetworkPolicy.of("allowlist", allow=allow, allow_cidrs=[f"{LOOPBACK}/32"])
    return Fetcher(policy, Dialer(policy.addresses), secrets=Secrets(secrets), log=log, limits=limits)
