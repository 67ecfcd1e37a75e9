"""A search engine of a plugin: it says what to ask and reads the answer; VERA asks, under its own limits."""

from typing import Any

import msgspec

from vera.plugins import PluginError
from vera.plugins.calling import PluginFailed, call
from vera.sanitize import one_line
from vera.websearch.throttle import SearchLimits
from vera.websearch.values import KINDS, Ask, Engine, Found, Kind, Malformed, Query, Unfit

SECONDS = 10.0
"""Seconds to make a request or to read an answer. Ours read 1 MB in 0.1 s."""

SAID = 200

_MEMBERS = ("title", "kinds", "needs_key", "limits", "request", "read", "explain")


class PluginEngine:
    """The engine under the plugin's name. Raises PluginError for what is no engine."""

    def __init__(self, name: str, engine: Any) -> None:
        if missing := [each for each in _MEMBERS if not hasattr(engine, each)]:
            raise PluginError(
                f"The plugin {name} is no search engine: it has no {missing[0]!a}. See "
                "vera.websearch.values.Engine."
            )
        if not engine.kinds or not set(engine.kinds) <= set(KINDS):
            raise PluginError(f"The search engine {name} has kinds other than {', '.join(KINDS)}.")
        if not isinstance(engine.limits, SearchLimits):
            raise PluginError(f"The search engine {name} has limits that are no SearchLimits.")
        self._engine: Engine = engine
        self.name = name
        self.title = one_line(str(engine.title), 60)
        self.kinds: tuple[Kind, ...] = tuple(engine.kinds)
        self.needs_key = bool(engine.needs_key)
        self.limits = engine.limits

    def request(self, query: Query) -> Ask:
        """Raises Unfit."""
        try:
            ask = call(lambda: _unfit(self._engine, query), SECONDS)
        except PluginFailed as error:
            raise Unfit(str(error)) from None
        if not isinstance(ask, Ask):
            raise Unfit("it made no request")
        return ask

    def read(self, query: Query, body: bytes) -> Found:
        """Raises Malformed."""
        try:
            return call(lambda: _sound(self._engine.read(query, body)), SECONDS)
        except PluginFailed as error:
            raise Malformed(str(error)) from None

    def explain(self, status: int, body: bytes) -> str:
        try:
            return call(lambda: one_line(str(self._engine.explain(status, body)), SAID), SECONDS)
        except PluginFailed:
            return ""


def _unfit(engine: Engine, query: Query) -> Any:
    try:
        return engine.request(query)
    except Unfit as error:
        raise PluginFailed(one_line(str(error), SAID)) from None


def _sound(found: Found) -> Found:
    """What was read, with members of their types."""
    return msgspec.convert(msgspec.to_builtins(found), Found)
