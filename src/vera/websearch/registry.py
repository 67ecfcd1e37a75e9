"""The engines there are, by name. An engine that is added is one more file and one more line here."""

from collections.abc import Callable, Mapping, Sequence

import msgspec

from vera.websearch.arxiv import Arxiv
from vera.websearch.brave import Brave
from vera.websearch.openalex import OpenAlex
from vera.websearch.searxng import SearXNG, check_url
from vera.websearch.throttle import SearchLimits
from vera.websearch.values import Engine
from vera.websearch.wikipedia import Wikipedia


class EngineError(ValueError):
    """The settings of search cannot be used: a sentence that says which and why."""


class EngineOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What the engines need. Without a key there is no Brave, without an address no SearXNG."""

    brave_limits: SearchLimits = SearchLimits()
    brave_api_version: str = ""
    searxng_url: str = ""
    searxng_min_interval_s: float = 1.0
    language: str = "en"
    mailto: str = ""


def _brave(options: EngineOptions, key: str) -> Engine | None:
    return Brave(key, options.brave_limits, api_version=options.brave_api_version) if key else None


def _searxng(options: EngineOptions, _: str) -> Engine | None:
    if not options.searxng_url:
        return None
    return SearXNG(options.searxng_url, SearchLimits(min_interval_s=options.searxng_min_interval_s))


ENGINES: dict[str, Callable[[EngineOptions, str], Engine | None]] = {
    "brave": _brave,
    "searxng": _searxng,
    "wikipedia": lambda options, _: Wikipedia(options.language),
    "openalex": lambda options, _: OpenAlex(mailto=options.mailto),
    "arxiv": lambda options, _: Arxiv(),
}
"""In the order in which they are asked where nothing else is said."""

DEFAULT_ORDER = tuple(ENGINES)


def open_engines(
    order: Sequence[str],
    options: EngineOptions,
    *,
    brave_key: str = "",
    plugins: Mapping[str, Engine] = {},
) -> tuple[Engine, ...]:
    """The engines of `order` that can be asked; one without its key or address is left out. `plugins` are
    engines of plugins, by name.

    Raises EngineError.
    """
    if unknown := [name for name in order if name not in ENGINES and name not in plugins]:
        raise EngineError(
            f"{unknown[0][:40]!a} is no search engine; there are {', '.join([*ENGINES, *plugins])}. Name "
            "them in the order in which they are to be asked."
        )
    if options.searxng_url and (problem := check_url(options.searxng_url)):
        raise EngineError(f"The address of the SearXNG instance cannot be used: {problem}")
    made = (
        plugins[name] if name in plugins else ENGINES[name](options, brave_key)
        for name in dict.fromkeys(order)
    )
    return tuple(engine for engine in made if engine is not None)
