"""OpenAlex: the open index of scholarly works.

Source: https://docs.openalex.org (Works, Search; Rate limits). Without a key it gives a daily allowance.
"""

from typing import Any

from vera.websearch import plain
from vera.websearch.freshness import dates
from vera.websearch.throttle import SearchLimits
from vera.websearch.values import Ask, Found, Hit, Kind, Malformed, Query

BASE = "https://api.openalex.org"
_FIELDS = "id,doi,display_name,publication_date,primary_location,abstract_inverted_index,cited_by_count"
_MAX_WORDS = 120
"""Of an abstract, how many are put together: a snippet shows no more."""


class OpenAlex:
    """The engine; `mailto` is an address that OpenAlex may write to when something goes wrong, or ''."""

    name = "openalex"
    title = "OpenAlex"
    kinds: tuple[Kind, ...] = ("papers",)
    needs_key = False
    limits = SearchLimits(min_interval_s=0.2)

    def __init__(self, *, mailto: str = "", base: str = BASE) -> None:
        self._mailto = mailto
        self._base = base.rstrip("/")

    def request(self, query: Query) -> Ask:
        filters = []
        if span := dates(query.freshness, query.today):
            filters = [f"from_publication_date:{span[0]}", f"to_publication_date:{span[1]}"]
        language = query.language.partition("-")[0]
        if language:
            filters.append(f"language:{language}")
        parameters = [
            ("search", query.text),
            ("filter", ",".join(filters)),
            ("per-page", str(query.count)),
            ("page", str(query.offset + 1) if query.offset else ""),
            ("select", _FIELDS),
            ("mailto", self._mailto),
        ]
        ignored = ("country",) if query.country else ()
        return plain.ask(f"{self._base}/works", parameters, ignored=ignored)

    def read(self, query: Query, body: bytes) -> Found:
        answer = plain.decode_object(body)
        if "results" not in answer:
            raise Malformed("its answer has no 'results'")
        return plain.found([_hit(result) for result in plain.listed(answer, "results")], query)

    def explain(self, status: int, body: bytes) -> str:
        try:
            answer = plain.decode_object(body)
        except Malformed:
            return ""
        return plain.text(answer.get("message") or answer.get("error"), 160)


def _hit(result: object) -> Hit | None:
    if not isinstance(result, dict):
        return None
    place = plain.member(result, "primary_location")
    addresses = (plain.address(each) for each in (place.get("landing_page_url"), result.get("doi")))
    cited = result.get("cited_by_count")
    return Hit(
        title=plain.from_html(result.get("display_name"), plain.TITLE_SHOWN),
        url=next((each for each in addresses if each), "") or plain.address(result.get("id")),
        snippet=plain.from_html(_abstract(result.get("abstract_inverted_index"))),
        date=plain.day(result.get("publication_date")),
        age=f"cited {cited} times" if isinstance(cited, int) and not isinstance(cited, bool) else "",
        source=plain.text(plain.member(place, "source").get("display_name"), plain.NAME_SHOWN),
    )


def _abstract(index: Any) -> str:
    """The beginning of an abstract that comes as the places of each of its words."""
    if not isinstance(index, dict):
        return ""
    words: dict[int, str] = {}
    for word, places in index.items():
        if isinstance(places, list):
            for place in places[:_MAX_WORDS]:
                if isinstance(place, int) and 0 <= place < _MAX_WORDS:
                    words[place] = word[:80]
    return " ".join(words[place] for place in sorted(words))
