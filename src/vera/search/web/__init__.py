"""Web search: one interface over several engines, each asked under its own limits."""

from vera.search.web.chain import Engines, Searched, WebSearch
from vera.search.web.client import LIMITS, Answer, Clock
from vera.search.web.registry import (
    DEFAULT_ORDER,
    ENGINES,
    EngineError,
    EngineOptions,
    open_engines,
)
from vera.search.web.searxng import instance_policy
from vera.search.web.throttle import SearchLimits
from vera.search.web.values import KINDS, Engine, Hit, Kind, Query

__all__ = [
    "DEFAULT_ORDER",
    "ENGINES",
    "KINDS",
    "LIMITS",
    "Answer",
    "Clock",
    "Engine",
    "EngineError",
    "EngineOptions",
    "Engines",
    "Hit",
    "Kind",
    "Query",
    "SearchLimits",
    "Searched",
    "WebSearch",
    "instance_policy",
    "open_engines",
]
