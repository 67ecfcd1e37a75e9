"""Brave Search: web and news, with a key.

Source: https://api-dashboard.search.brave.com/api-reference (Web Search, News Search), read November 2026.
"""

from typing import Any

from vera.sandbox.fetch.exchange import Fields
from vera.websearch import plain
from vera.websearch.throttle import SearchLimits
from vera.websearch.values import Ask, Found, Hit, Kind, Malformed, Query, Unfit

BASE = "https://api.search.brave.com/res/v1"
MAX_CHARACTERS, MAX_WORDS, MAX_PAGES = 400, 50, 10
"""Of a query, and of the pages of its results; more is refused by the interface."""

_FRESHNESS = {"day": "pd", "week": "pw", "month": "pm", "year": "py"}
_TOKEN_CODES = ("TOKEN", "KEY", "SUBSCRIPTION_NOT")


class Brave:
    """The engine for one key, which is sent in the header X-Subscription-Token and nowhere else.

    `api_version` goes into Api-Version; empty: the newest.
    """

    name = "brave"
    title = "Brave"
    kinds: tuple[Kind, ...] = ("web", "news")
    needs_key = True

    def __init__(self, key: str, limits: SearchLimits, *, api_version: str = "", base: str = BASE) -> None:
        self.limits = limits
        self._base = base.rstrip("/")
        version: Fields = (("Api-Version", api_version),) if api_version else ()
        self._fields: Fields = (("X-Subscription-Token", key), *version)

    def request(self, query: Query) -> Ask:
        if len(query.text) > MAX_CHARACTERS or len(query.text.split()) > MAX_WORDS:
            raise Unfit(f"it takes at most {MAX_CHARACTERS} characters and {MAX_WORDS} words")
        if query.offset >= MAX_PAGES:
            raise Unfit(f"it gives at most {MAX_PAGES} pages of results (offset 0 to {MAX_PAGES - 1})")
        parameters = [
            ("q", query.text),
            ("count", str(query.count)),
            ("offset", str(query.offset) if query.offset else ""),
            ("country", query.country.upper()),
            ("search_lang", query.language),
            ("freshness", _FRESHNESS.get(query.freshness, query.freshness)),
            ("safesearch", query.safesearch),
            ("text_decorations", "false"),
            *([("result_filter", "web")] if query.kind == "web" else []),
        ]
        return plain.ask(f"{self._base}/{query.kind}/search", parameters, fields=self._fields)

    def read(self, query: Query, body: bytes) -> Found:
        answer = plain.decode_object(body)
        results: Any = answer
        if query.kind == "web":
            # Without any result the part "web" is left out.
            results = answer.get("web", {})
            if not isinstance(results, dict):
                raise Malformed("its 'web' is no object")
        if answer.get("type") not in ("search", "news"):
            raise Malformed("its answer is not of the type 'search' or 'news'")
        return plain.found([_hit(result) for result in plain.listed(results, "results")], query)

    def explain(self, status: int, body: bytes) -> str:
        try:
            error = plain.member(plain.decode_object(body), "error")
        except Malformed:
            error = {}
        code, detail = plain.text(error.get("code"), 60), plain.text(error.get("detail"), 160)
        if status in (401, 403) or any(part in code.upper() for part in _TOKEN_CODES):
            return "it does not accept the key: check BRAVE_API_KEY" + (f" ({code})" if code else "")
        return ": ".join(part for part in (code, detail) if part)


def _hit(result: object) -> Hit | None:
    if not isinstance(result, dict):
        return None
    published = plain.day(result.get("page_age"))
    profile, place = plain.member(result, "profile"), plain.member(result, "meta_url")
    return Hit(
        title=plain.from_html(result.get("title"), plain.TITLE_SHOWN),
        url=plain.address(result.get("url")),
        snippet=plain.from_html(result.get("description")),
        date=published,
        age=plain.text(result.get("age"), plain.NAME_SHOWN),
        source=plain.text(profile.get("name"), plain.NAME_SHOWN)
        or plain.text(place.get("hostname"), plain.NAME_SHOWN),
    )
