"""The server over standard input and output, until the other end closes it or a signal ends it."""

import asyncio
import json
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from types import TracebackType
from typing import Any, Self

import anyio
from mcp.server.stdio import stdio_server
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError
from pydantic import ValidationError

from vera.mcp.server import make_server
from vera.mcp.service import Service

CHUNK = 1 << 16
STDIN = 0


def serve(service: Service) -> None:
    """Answer over standard input and output until the other end closes it. Meanwhile what anything prints
    goes to standard error (`stdio_server` sees to that). Raises KeyboardInterrupt for SIGINT and SIGTERM."""
    with _closable_input() as end_input:
        if asyncio.run(_was_interrupted(service, end_input)):
            raise KeyboardInterrupt


async def _was_interrupted(service: Service, end_input: Callable[[], None]) -> bool:
    """Serve. Whether a signal ended it."""
    heard: list[int] = []
    serving = asyncio.create_task(_serve(service))

    def end(number: int) -> None:
        heard.append(number)
        end_input()
        serving.cancel()

    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, end, number)
    try:
        await serving
    except asyncio.CancelledError:
        if not heard:
            raise
    return bool(heard)


async def _serve(service: Service) -> None:
    server = make_server(lambda context, right: nullcontext(service))
    try:
        async with stdio_server() as (incoming, outgoing):
            answered = _Answered(incoming, outgoing)
            await server.run(answered, outgoing, server.create_initialization_options())
    except* (BrokenPipeError, ConnectionResetError):
        pass  # the other end has gone, and no one is left to be told


@contextmanager
def _closable_input() -> Iterator[Callable[[], None]]:
    """Within, standard input is a socket, which a thread fills with what comes; the call ends it.

    `stdio_server` reads in a thread that nothing can wake up but the end of its input.
    """
    given = os.dup(STDIN)
    inner, outer = socket.socketpair()
    os.dup2(inner.fileno(), STDIN)
    inner.close()

    def end() -> None:
        with suppress(OSError):
            outer.shutdown(socket.SHUT_WR)

    def hand_on() -> None:
        with suppress(OSError):
            while data := os.read(given, CHUNK):
                outer.sendall(data)
        end()

    threading.Thread(target=hand_on, daemon=True, name="standard input").start()
    try:
        yield end
    finally:
        end()
        os.dup2(given, STDIN)


class _Answered:
    """The messages that come. What is no message is answered with an error, which the SDK does over HTTP and
    leaves out here; its sender would wait for an answer otherwise."""

    def __init__(
        self, incoming: ReadStream[SessionMessage | Exception], outgoing: WriteStream[SessionMessage]
    ) -> None:
        self._incoming = incoming
        self._outgoing = outgoing

    @property
    def last_context(self) -> Any:
        """The context of who sent the last message (see `ReadStream`)."""
        return getattr(self._incoming, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        while isinstance(found := await self._incoming.receive(), ValidationError):
            if (error := _error_for(found)) is not None:
                with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                    await self._outgoing.send(SessionMessage(error))
        return found

    async def aclose(self) -> None:
        await self._incoming.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()


def _error_for(invalid: ValidationError) -> JSONRPCError | None:
    """The answer to what is no message; None for an empty line, and for an answer of the client."""
    for each in invalid.errors(include_url=False, include_context=False):
        found = each["input"]
        if each["type"] == "json_invalid":
            return _error(PARSE_ERROR, "This is no JSON.", _parsed(found)) if str(found).strip() else None
        if each["type"] == "missing" and isinstance(found, dict):
            is_answer = "method" not in found and bool({"result", "error"} & found.keys())
            return None if is_answer else _error(INVALID_REQUEST, "This is no request.", found)
    return _error(INVALID_REQUEST, "This is no request.", None)


def _parsed(line: object) -> object:
    """What Python reads in a line. It reads some that is no JSON by the letter, such as half a character."""
    try:
        return json.loads(str(line))
    except (ValueError, RecursionError):
        return None


def _error(code: int, sentence: str, message: object) -> JSONRPCError:
    """The answer with the id of the message, if it has one."""
    name = message.get("id") if isinstance(message, dict) else None
    known = name if isinstance(name, str | int) and not isinstance(name, bool) else None
    return JSONRPCError(jsonrpc="2.0", id=known, error=ErrorData(code=code, message=sentence))
