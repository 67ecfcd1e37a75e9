"""A server on loopback that sends bytes, and HTTP replies that lie about themselves."""

import contextlib
import gzip
import socket
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator

from assurance.fuzzing import mutate
from assurance.fuzzing.mutate import Draw
from support.bombs import bomb

Pieces = Iterable[bytes | float]
"""What is sent, piece by piece; a number is so many seconds of silence."""

MOST_SENT = 96 << 20
"""Bytes of one reply: a stream without end, for any reader with a bound."""

_HEAD_SECONDS = 20.0


class HostileServer:
    """Answers each connection with what `answer` makes of the request's first bytes, then hangs up."""

    def __init__(self, answer: Callable[[bytes], Pieces]) -> None:
        self._answer = answer
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = int(self._listening.getsockname()[1])
        self.asked: list[bytes] = []
        self._open: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> "HostileServer":
        return self

    def __exit__(self, *error: object) -> None:
        for each in (self._listening, *self._open):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
        for thread in self._threads:
            thread.join(_HEAD_SECONDS)

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listening.accept()
                self._open.append(near)
                thread = threading.Thread(target=self._serve, args=(near,), daemon=True)
                self._threads.append(thread)
                thread.start()

    def _serve(self, near: socket.socket) -> None:
        with contextlib.suppress(OSError), near:
            near.settimeout(_HEAD_SECONDS)
            request = b""
            while b"\r\n\r\n" not in request and (piece := near.recv(1 << 16)):
                request += piece
            self.asked.append(request)
            for piece in self._answer(request):
                if isinstance(piece, float):
                    time.sleep(piece)
                else:
                    near.sendall(piece)
            near.shutdown(socket.SHUT_WR)
            near.settimeout(0.2)
            while near.recv(1 << 16):
                pass


def reply(draw: Draw, body: bytes, content_type: str, *, slow: bool = True) -> Iterator[bytes | float]:
    """An HTTP reply with this body, most of the time; its head, its framing or its coding may lie."""
    kind = draw.choice(KINDS)
    body, fields = kind(draw, body) if draw.random() < 0.7 else (body, [_length(body)])
    status = draw.choice(
        ("200 OK",) * 8 + ("204 No Content", "206 Partial", "304 Not Modified", "429 Slow", "500 Oh")
    )
    lines = [f"HTTP/1.{draw.choice('1111110')} {status}", f"Content-Type: {content_type}", *fields]
    if draw.random() < 0.15:
        draw.choice(FLOODS)(draw, lines)
    head = "\r\n".join([*lines, "", ""]).encode("latin-1", "replace")
    if draw.random() < 0.08:
        head = mutate.data(draw, [head], 1 << 19)
    yield from pieces(draw, head + body, slow=slow)


def pieces(draw: Draw, sent: bytes, *, slow: bool = True) -> Iterator[bytes | float]:
    """The bytes in pieces, sometimes with a pause between two of them, sometimes cut off."""
    if draw.random() < 0.05:
        sent = sent[: draw.randint(0, len(sent))]
    size = draw.choice((1 << 22, 1 << 16, 1 << 16, 1000, max(1, len(sent) // 5)))
    pause = 0.3 if slow and draw.random() < 0.02 else 0.0
    for at in range(0, len(sent), size):
        yield sent[at : at + size]
        if pause and at // size < 3:
            yield pause


def _length(body: bytes) -> str:
    return f"Content-Length: {len(body)}"


def _chunked(draw: Draw, body: bytes) -> tuple[bytes, list[str]]:
    size = draw.choice((1, 7, 1000, 1 << 20))
    size = max(size, len(body) // 2000)
    parts = [body[at : at + size] for at in range(0, len(body), size)]
    coded = b"".join(
        b"%x%s\r\n%s\r\n" % (len(each), draw.choice((b"", b"", b";a=b")), each) for each in parts
    )
    return coded + draw.choice((b"0\r\n\r\n", b"0\r\nX: y\r\n\r\n", b"", b"0\r\n")), [
        "Transfer-Encoding: chunked"
    ]


def _chunked_wrongly(draw: Draw, body: bytes) -> tuple[bytes, list[str]]:
    said = draw.choice((b"-1", b"ffffffffffffffff", b"0x10", b"", b"zz", b"7" * 5000, b"1 0", b"+5", b"1_0"))
    coded, fields = _chunked(draw, body)
    return draw.choice((said + b"\r\n" + body, coded + said + b"\r\n", body)), fields


def _lying_length(draw: Draw, body: bytes) -> tuple[bytes, list[str]]:
    said = draw.choice(
        (len(body) + 1, max(0, len(body) - 1), 0, 10**18, -1, "9" * 5000, "1e3", "0x5", "", "५")
    )
    both = draw.choice(([], [_length(body)], ["Transfer-Encoding: chunked"]))
    return body, [f"Content-Length: {said}", *both]


def _endless(draw: Draw, body: bytes) -> tuple[bytes, list[str]]:
    return body, draw.choice(([], ["Connection: close"], ["Connection: keep-alive"]))


def _compressed(draw: Draw, body: bytes) -> tuple[bytes, list[str]]:
    coding = draw.choice(
        ("gzip", "x-gzip", "deflate", "GZIP", "gzip, gzip", "br", "zstd", "identity", "deflate, gzip")
    )
    made = body
    for name in coding.lower().split(", "):
        if "gzip" in name:
            made = gzip.compress(made, 1)
        elif name == "deflate":
            made = draw.choice((zlib.compress(made), zlib.compress(made)[2:-4]))
    if draw.random() < 0.3:
        made = mutate.data(draw, [made])
    return made, [f"Content-Encoding: {coding}", _length(made)]


def _bomb(draw: Draw, body: bytes) -> tuple[bytes, list[str]]:
    layers = draw.choice((1, 2, 3))
    made = bomb(layers)
    return made, [f"Content-Encoding: {', '.join(['gzip'] * layers)}", _length(made)]


def _header_flood(draw: Draw, lines: list[str]) -> None:
    lines += [f"X-{each}: {'v' * draw.choice((1, 50))}" for each in range(draw.choice((50, 200, 20_000)))]


def _long_header(draw: Draw, lines: list[str]) -> None:
    lines.append(
        f"{draw.choice(('X', 'Location', 'Retry-After', 'Content-Type'))}: {'a' * draw.choice((9000, 2**20))}"
    )


def _odd_header(draw: Draw, lines: list[str]) -> None:
    lines.append(draw.choice(ODD))


def _interim(draw: Draw, lines: list[str]) -> None:
    lines[:0] = ["HTTP/1.1 103 Early", ""] * draw.choice((1, 5, 2000))


FLOODS = (_header_flood, _long_header, _odd_header, _odd_header, _interim)
KINDS = (
    _chunked,
    _chunked,
    _chunked_wrongly,
    _lying_length,
    _endless,
    _endless,
    _compressed,
    _compressed,
    _bomb,
)
ODD = (
    "Content-Type: text/html; charset=utf-7",
    "Content-Type: text/html; charset=\xff\xfe",
    "Content-Type: text/html; charset=" + "a" * 500,
    "Content-Type: multipart/x-mixed-replace; boundary=b",
    "Retry-After: 99999999999999999999",
    "Retry-After: nan",
    "Retry-After: Fri, 99 Foo 0000 99:99:99 GMT",
    "Retry-After: -5",
    "X-RateLimit-Remaining: 0, 0\r\nX-RateLimit-Reset: 1e9, 99999999999999999999",
    "Location: /again",
    "Location: http://[::1",
    "Location: \xe4\xf6\xfc//%00",
    "Set-Cookie: a=b",
    "Folded: a\r\n b",
    "No colon",
    ": no name",
    "A b: c",
    "Content-Length: 5\r\nContent-Length: 6",
    "Trailer: X",
    "Upgrade: h2c",
)
