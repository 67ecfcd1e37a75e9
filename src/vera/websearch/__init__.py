"""Web search: one interface over several engines, each asked under its own limits."""

from vera.websearch.chain import Engines, Searched, WebSearch
from vera.websearch.client import LIMITS, Answer, Clock
from vera.websearch.registry import (
    DEFAULT_ORDER,
    ENGINES,
    EngineError,
    EngineOptions,
    open_engines,
)
from vera.websearch.searxng import instance_policy
from vera.websearch.throttle import SearchLimits
from vera.websearch.values import KINDS, Engine, Hit, Kind, Query

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
