"""The SDK's own client, and `vera mcp` in a process of its own, spoken to over its standard streams."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

T = TypeVar("T")

PASSED_ON = ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")


class Answer(msgspec.Struct, frozen=True):
    """What a call gave: its texts, the JSON object beside them (None: none), and the progress on the way."""

    failed: bool
    texts: tuple[str, ...]
    value: Any
    progress: tuple[tuple[float, str], ...] = ()


def converse(
    talk: Callable[[Client], Awaitable[T]], *arguments: object, cwd: Path, log: Path, **options: Any
) -> T:
    """Start `vera mcp ARGUMENTS` in `cwd`, talk to it, and end it; its stderr goes to `log`."""
    given = os.environ
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-P", "-m", "vera", "mcp", *map(str, arguments)],
        env={name: given[name] for name in PASSED_ON if name in given},
        cwd=cwd,
    )

    async def main() -> T:
        with log.open("w") as stderr:
            async with Client(stdio_client(parameters, stderr), **options) as client:
                return await talk(client)

    return asyncio.run(asyncio.wait_for(main(), 120))


async def call(client: Client, tool: str, **arguments: Any) -> Answer:
    """Call a tool and hear its progress."""
    heard: list[tuple[float, str]] = []

    async def listen(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, message or ""))

    result = await client.call_tool(tool, arguments, progress_callback=listen)
    texts = tuple(each.text for each in result.content if each.type == "text")
    return Answer(result.is_error, texts, result.structured_content, tuple(heard))


def raw(*arguments: object, cwd: Path, stdin: str) -> "subprocess.CompletedProcess[str]":
    """`vera mcp` with these lines on its standard input, to its end."""
    return subprocess.run(
        [sys.executable, "-P", "-m", "vera", "mcp", *map(str, arguments)],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=60,
    )
