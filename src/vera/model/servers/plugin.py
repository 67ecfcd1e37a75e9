"""A kind of model server of a plugin: what it makes of a server's answers, for a bounded time."""

import asyncio
from collections.abc import Awaitable
from typing import Any, TypeVar

import msgspec

from vera.model.servers.base import Ask, Details, Server, Sighting
from vera.plugins import PluginError
from vera.sanitize import one_line

T = TypeVar("T")

SECONDS = 10.0
"""Seconds to recognise a server, and to describe a model of it: as long as its list of models may take."""


def plugin_server(name: str, given: Any) -> Server:
    """The kind `name`. Raises PluginError for what is no Server."""
    if not isinstance(given, Server):
        raise PluginError(f"The plugin {name} is no kind of model server: vera.model.servers.base.Server.")

    async def recognise(ask: Ask) -> Sighting | None:
        return await _within(given.recognise(ask), Sighting, None)

    async def describe(ask: Ask, model: str) -> Details:
        return await _within(given.describe(ask, model), Details, None) or Details()

    def larger_context(model: str, tokens: int) -> str:
        try:
            return one_line(str(given.larger_context(model, tokens)), 300)
        except Exception:  # noqa: BLE001 (code of the plugin; without the line a warning is shorter)
            return ""

    return msgspec.structs.replace(
        given,
        kind=name,
        title=one_line(str(given.title), 60),
        port=0,
        recognise=recognise,
        describe=describe,
        larger_context=larger_context,
    )


async def _within(work: Awaitable[Any], kind: type[T], nothing: None) -> T | None:
    """What the plugin says, None where it fails, takes too long or says something else."""
    try:
        async with asyncio.timeout(SECONDS):
            return msgspec.convert(msgspec.to_builtins(await work), kind)
    except Exception:  # noqa: BLE001 (code of the plugin: such a server is not recognised)
        return nothing
