"""SearXNG: any instance that answers in JSON, by its address.

Source: https://docs.searxng.org/dev/search_api.html.
"""

from vera.sandbox.egress.address import Address
from vera.sandbox.egress.authority import AuthorityError
from vera.sandbox.egress.policy import NetworkPolicy
from vera.sandbox.fetch.url import normalise
from vera.websearch import plain
from vera.websearch.challenge import names_searxng
from vera.websearch.throttle import SearchLimits
from vera.websearch.values import Ask, Found, Hit, Kind, Malformed, Query

_CATEGORIES: dict[Kind, str] = {"web": "general", "news": "news", "papers": "science"}
_SAFESEARCH = {"off": "0", "moderate": "1", "strict": "2"}
_SILENT_LISTED = 5

HTML_ONLY = "it answers in HTML only: `json` must be added to search.formats in the instance's settings.yml"


class SearXNG:
    """The engine of one instance. `url` is where its start page is."""

    name = "searxng"
    title = "SearXNG"
    kinds: tuple[Kind, ...] = ("web", "news", "papers")
    needs_key = False

    def __init__(self, url: str, limits: SearchLimits | None = None) -> None:
        self.limits = limits or SearchLimits(min_interval_s=1.0)
        self._base = url.strip().partition("?")[0].rstrip("/").removesuffix("/search")

    def request(self, query: Query) -> Ask:
        named = query.freshness if "to" not in query.freshness else ""
        ignored = (
            *(["country"] if query.country else []),
            *(["freshness"] if query.freshness and not named else []),
        )
        parameters = [
            ("q", query.text),
            ("format", "json"),
            ("categories", _CATEGORIES[query.kind]),
            ("language", query.language),
            ("pageno", str(query.offset + 1) if query.offset else ""),
            ("time_range", named),
            ("safesearch", _SAFESEARCH.get(query.safesearch, "")),
        ]
        return plain.ask(f"{self._base}/search", parameters, ignored=ignored)

    def read(self, query: Query, body: bytes) -> Found:
        answer = plain.decode_object(body)
        if "results" not in answer:
            raise Malformed("its answer has no 'results'")
        results = plain.listed(answer, "results")
        silent = _silent(answer.get("unresponsive_engines"))
        if silent and not results:
            raise Malformed(f"it has no results, but these of its engines did not answer: {silent}")
        note = f"did not answer within SearXNG: {silent}" if silent else ""
        return plain.found([_hit(result) for result in results], query, note=note)

    def explain(self, status: int, body: bytes) -> str:
        if status == 403 or names_searxng(body):
            return HTML_ONLY
        return ""


def instance_policy(url: str, run: NetworkPolicy) -> NetworkPolicy:
    """The policy under which the one instance that a person named is asked: its host and port, nothing else.

    An instance often is on this machine or in the local network, and on its own port. Naming it
    opens that one place for searches alone, and not for `fetch` or for commands. A name that leads to a
    private address still needs that range in the run's `allow_cidrs`, else whoever holds the name could lead
    us anywhere. Raises AuthorityError for an address that cannot be read.
    """
    if run.mode == "none":
        return run
    where = normalise(url).authority
    literal: Address | None = where.address
    own = [f"{literal}/{literal.max_prefixlen}"] if literal is not None else []
    if where.host == "localhost":
        own = ["127.0.0.1/32", "::1/128"]
    named = [*(str(network) for network in run.addresses.named), *own]
    return NetworkPolicy.of("allowlist", allow=[str(where)], allow_cidrs=named)


def check_url(url: str) -> str:
    """What is wrong with the address of an instance, in one sentence; '' when nothing is."""
    try:
        normalise(url)
    except AuthorityError as error:
        return str(error)
    return ""


def _silent(value: object) -> str:
    """`[["google", "CAPTCHA"], …]` in words."""
    if not isinstance(value, list):
        return ""
    shown = [words for each in value[:_SILENT_LISTED] if (words := _engine(each))]
    more = len(value) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if shown and more > 0 else "")


def _engine(value: object) -> str:
    """`["google", "CAPTCHA"]` as `google (CAPTCHA)`; '' without a name."""
    parts = value[:2] if isinstance(value, list) else [value]
    name, why = ([plain.text(part, 40) for part in parts] + ["", ""])[:2]
    return f"{name} ({why})" if name and why else name


def _hit(result: object) -> Hit | None:
    if not isinstance(result, dict):
        return None
    engines = result.get("engines")
    names = engines if isinstance(engines, list) else [result.get("engine")]
    return Hit(
        title=plain.from_html(result.get("title"), plain.TITLE_SHOWN),
        url=plain.address(result.get("url")),
        snippet=plain.from_html(result.get("content")),
        date=plain.day(result.get("publishedDate")),
        source=", ".join(name for each in names[:4] if (name := plain.text(each, 30))),
    )
