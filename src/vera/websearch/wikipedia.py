"""Wikipedia: full-text search of one language's encyclopedia.

Source: https://www.mediawiki.org/wiki/API:Search. Its User-Agent policy is met by the host's own header.
"""

from urllib.parse import quote

from vera.websearch import plain
from vera.websearch.throttle import SearchLimits
from vera.websearch.values import Ask, Found, Hit, Kind, Malformed, Query

BASE = "https://{language}.wikipedia.org"
MAX_CHARACTERS = 300


class Wikipedia:
    """The engine; `language` is that of the encyclopedia where a query names none."""

    name = "wikipedia"
    title = "Wikipedia"
    kinds: tuple[Kind, ...] = ("web",)
    needs_key = False
    limits = SearchLimits(min_interval_s=0.5)

    def __init__(self, language: str = "en", *, base: str = BASE) -> None:
        self._language = language
        self._base = base

    def request(self, query: Query) -> Ask:
        ignored = [
            name for name in ("country", "freshness", "safesearch") if getattr(query, name) not in ("", "off")
        ]
        parameters = [
            ("action", "query"),
            ("list", "search"),
            ("srsearch", query.text[:MAX_CHARACTERS]),
            ("srlimit", str(query.count)),
            ("sroffset", str(query.offset * query.count) if query.offset else ""),
            ("srprop", "snippet|timestamp"),
            ("format", "json"),
            ("formatversion", "2"),
        ]
        return plain.ask(f"{self._site(query)}/w/api.php", parameters, ignored=tuple(ignored))

    def read(self, query: Query, body: bytes) -> Found:
        answer = plain.decode_object(body)
        if error := plain.member(answer, "error"):
            raise Malformed(f"it says: {plain.text(error.get('info'), 160) or 'an error'}")
        if not isinstance(answer.get("query"), dict):
            raise Malformed("its answer has no 'query'")
        results = plain.listed(answer["query"], "search")
        return plain.found([self._hit(result, query) for result in results], query)

    def explain(self, status: int, body: bytes) -> str:
        return ""

    def _site(self, query: Query) -> str:
        # Its sites are by language, and not by country: of pt-br the encyclopedia is pt.
        return self._base.format(language=(query.language or self._language).partition("-")[0])

    def _hit(self, result: object, query: Query) -> Hit | None:
        title = plain.text(result.get("title"), plain.TITLE_SHOWN) if isinstance(result, dict) else ""
        if not title or not isinstance(result, dict):
            return None
        edited = plain.day(result.get("timestamp"))
        return Hit(
            title=title,
            url=plain.address(f"{self._site(query)}/wiki/{quote(title.replace(' ', '_'), safe='-._~()')}"),
            snippet=plain.from_html(result.get("snippet")),
            age=f"last edited {edited}" if edited else "",
            source=self.title,
        )
