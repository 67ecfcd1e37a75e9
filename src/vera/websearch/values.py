"""The values of web search: what is asked, what an engine answers, and the record of each call."""

from datetime import date
from typing import Literal, Protocol

import msgspec

from vera.sandbox.fetch.exchange import Fields
from vera.websearch.throttle import SearchLimits

Kind = Literal["web", "news", "papers"]
KINDS: tuple[Kind, ...] = ("web", "news", "papers")

Outcome = Literal["ok", "empty", "refused", "failed", "challenge", "skipped"]
Cause = Literal[
    "",
    "budget",
    "circuit",
    "unfit",
    "secret",
    "policy",
    "http",
    "redirect",
    "network",
    "too_large",
    "over_budget",
    "format",
]


class Query(msgspec.Struct, frozen=True, kw_only=True):
    """What is looked for. Empty strings ask for nothing special.

    `count` results from page `offset` (0 is the first). `country` is a code of ISO 3166-1 in lower case,
    `language` a tag such as en or pt-br, `freshness` as `freshness.parse` gives it, `safesearch` off,
    moderate or strict. `today` is the day from which a freshness counts back.
    """

    text: str
    kind: Kind = "web"
    count: int = 10
    offset: int = 0
    country: str = ""
    language: str = ""
    freshness: str = ""
    safesearch: str = ""
    today: date


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """One result, in plain text. `url` can be fetched as it is.

    `date` is the day of publication (ISO 8601) where the engine gives one, `age` what else it says of the
    page's age, `source` who published it as far as the engine knows.
    """

    title: str
    url: str
    snippet: str = ""
    date: str = ""
    age: str = ""
    source: str = ""


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """The results that could be used, best first. `dropped` counts those without a usable address."""

    hits: tuple[Hit, ...]
    dropped: int = 0
    note: str = ""


class Ask:
    """One GET of an engine. `fields` are header lines, which may hold a key: its repr does not show them.

    `parameters` are what is in the query string; `ignored` names what of the query the engine cannot do.
    """

    def __init__(
        self, url: str, parameters: tuple[tuple[str, str], ...], fields: Fields, ignored: tuple[str, ...] = ()
    ) -> None:
        self.url = url
        self.parameters = parameters
        self.fields = fields
        self.ignored = ignored

    def __repr__(self) -> str:
        return f"Ask({self.url!r})"


class Malformed(ValueError):
    """The body is not what the engine's interface promises; the message says what is wrong with it."""


class Unfit(ValueError):
    """The engine cannot be asked this; the message says why."""


class Engine(Protocol):
    """A search engine as two pure functions around one HTTP request. Bodies are untrusted."""

    @property
    def name(self) -> str: ...

    @property
    def title(self) -> str:
        """Its name for people."""
        ...

    @property
    def kinds(self) -> tuple[Kind, ...]: ...

    @property
    def needs_key(self) -> bool: ...

    @property
    def limits(self) -> SearchLimits: ...

    def request(self, query: Query) -> Ask:
        """Raises Unfit."""
        ...

    def read(self, query: Query, body: bytes) -> Found:
        """The results of an answer with status 200. Raises Malformed."""
        ...

    def explain(self, status: int, body: bytes) -> str:
        """What an answer with another status says, in a few words; '' when that is not known."""
        ...
