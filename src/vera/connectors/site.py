"""A web site: the pages below an address, by its sitemaps or by its links, as its robots.txt allows.

Every request is made by VERA's fetcher under the egress policy of the run. Nothing of another origin is
asked for, redirects included. robots.txt is read by RFC 9309.
"""

import asyncio
import hashlib
import time
from collections import deque
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

from vera.connectors.basket import LARGEST, Basket
from vera.connectors.reach import Reach, Unreachable
from vera.connectors.sitemap import BadSitemap, Sitemap, links_of, read_sitemap
from vera.connectors.values import ConnectorError, Source
from vera.extras import install_command
from vera.sandbox.egress.authority import AuthorityError
from vera.sandbox.fetch.fetcher import Fetcher
from vera.sandbox.fetch.receipt import Fetched, FetchError
from vera.sandbox.fetch.url import normalise

if TYPE_CHECKING:
    from protego import Protego

PAGES = 200
"""Pages that are asked for unless the option `pages` says otherwise."""

MOST_PAGES = 10_000
MAX_SITEMAPS = 50
MAX_QUEUE = 50_000
ROBOTS_BYTES = 512 << 10
"""Of robots.txt, that are read: RFC 9309 asks for at least 500 KiB."""

PAUSE_SECONDS = 0.1
"""Between two requests, unless robots.txt asks for more."""

AGENT = "VERA"
_SUFFIXES = {
    "text/html": ".html",
    "application/xhtml+xml": ".html",
    "application/pdf": ".pdf",
    "text/plain": ".txt",
    "text/markdown": ".md",
    "application/json": ".json",
    "text/csv": ".csv",
}
_KNOWN = (".html", ".htm", ".pdf", ".txt", ".md", ".json", ".csv", ".docx", ".xlsx")


class Site:
    """`site:https://HOST/PATH/`: the pages below that address. Option: `pages`, how many at most."""

    version = "1"

    async def gather(self, source: Source, basket: Basket, reach: Reach) -> str:
        """Put the pages of the site into the basket. A site has no revision. Raises ConnectorError."""
        source.only("pages")
        most = source.number("pages", PAGES, MOST_PAGES)
        crawl = _Crawl(source, basket, reach)
        await crawl.read_robots()
        found = [url for url in await crawl.from_sitemaps() if crawl.is_inside(url)]
        await crawl.pages(found or [crawl.start], most, follow=not found)
        if not basket.documents:
            raise ConnectorError(f"The connector {source.name}: {_why_nothing(basket)}")
        return ""


def _why_nothing(basket: Basket) -> str:
    for name, why in basket.left_out:
        return f"no page could be gathered. {name}: {why}."
    return f"no page could be gathered within {basket.ended_at or 'its limits'}."


class _Crawl:
    """One visit to a site, from its address to the last page."""

    def __init__(self, source: Source, basket: Basket, reach: Reach) -> None:
        self._name, self._basket = source.name, basket
        try:
            self.start = str(normalise(source.address))
        except AuthorityError as error:
            raise ConnectorError(f"The connector {source.name}: {error}") from None
        self._origin = _origin(self.start)
        self._prefix = urlsplit(self.start).path.rpartition("/")[0] + "/"
        self._robots: Protego | None = None
        self._pause, self._last = PAUSE_SECONDS, 0.0
        try:
            self._fetcher: Fetcher = reach.fetcher(self._may, LARGEST)
            self._small: Fetcher = reach.fetcher(self._is_of_site, ROBOTS_BYTES)
        except Unreachable as error:
            raise ConnectorError(f"The connector {source.name} cannot fetch {self.start}: {error}.") from None

    def is_inside(self, url: str) -> bool:
        """Whether a page lies below the address of the source."""
        return not self._is_of_site(url) and urlsplit(url).path.startswith(self._prefix)

    def _is_of_site(self, url: str) -> str:
        try:
            return "" if _origin(url) == self._origin else "it is not of the site of the connector"
        except ValueError:
            return "it is no address"

    def _may(self, url: str) -> str:
        """Why an address may not be fetched; asked again at each redirect."""
        if said := self._is_of_site(url):
            return said
        allowed = self._robots is None or self._robots.can_fetch(url, AGENT)
        return "" if allowed else "the robots.txt of the site does not allow it"

    async def read_robots(self) -> None:
        """Read robots.txt. One that is not there allows everything, one that cannot be read nothing: then
        ConnectorError is raised, as it is without the package that reads it."""
        try:
            from protego import Protego
        except ImportError:
            raise ConnectorError(
                f"The connector {self._name} needs the package protego. Install it: "
                f"{install_command('connectors')}"
            ) from None
        address = urljoin(self.start, "/robots.txt")
        answer = await self._get(self._small, address)
        if isinstance(answer, str) or answer.status >= 500 or answer.status == 429:
            why = answer if isinstance(answer, str) else f"the server answered {answer.status}"
            raise ConnectorError(
                f"The connector {self._name}: its robots.txt cannot be read, so nothing is fetched: {why}"
            )
        if answer.status < 300:
            self._robots = Protego.parse(answer.body.decode("utf-8", "replace"))
            self._pause = max(PAUSE_SECONDS, float(self._robots.crawl_delay(AGENT) or 0.0))

    async def from_sitemaps(self) -> list[str]:
        """The pages that the sitemaps name, in their order, each once."""
        named: Iterable[str] = self._robots.sitemaps if self._robots is not None else ()
        queue = deque(dict.fromkeys([*list(named)[:MAX_SITEMAPS], urljoin(self.start, "/sitemap.xml")]))
        seen, pages = set[str](), dict[str, None]()
        while queue and not self._basket.is_full:
            url = queue.popleft()
            if url in seen or self._is_of_site(url):
                continue
            if len(seen) >= MAX_SITEMAPS:
                self._basket.leave_out(url, f"beyond the limit of {MAX_SITEMAPS} sitemaps")
                break
            seen.add(url)
            sitemap = await self._sitemap(url)
            if sitemap is None:
                continue
            queue.extend(sitemap.sitemaps[:MAX_SITEMAPS])
            pages.update(dict.fromkeys(filter(self.is_inside, sitemap.pages)))
            if len(pages) >= MAX_QUEUE:
                self._basket.leave_out(url, f"beyond the limit of {MAX_QUEUE} pages that sitemaps name")
                break
        return list(pages)[:MAX_QUEUE]

    async def _sitemap(self, url: str) -> Sitemap | None:
        """The sitemap at an address; None where there is none, or it cannot be read."""
        answer = await self._get(self._fetcher, url)
        if isinstance(answer, str) or answer.status != 200:
            return None
        try:
            return await asyncio.to_thread(read_sitemap, answer.body)
        except BadSitemap as error:
            self._basket.leave_out(url, f"a sitemap that cannot be read: {error}")
            return None

    async def pages(self, urls: Iterable[str], most: int, *, follow: bool) -> None:
        """Fetch pages into the basket, at most so many; `follow` their links below the address, too."""
        queue = deque(urls)
        known, asked = set(queue), 0
        while queue:
            if asked >= most or self._basket.is_full:
                limit = self._basket.ended_at or f"its limit of {most} pages"
                for url in queue:
                    self._basket.leave_out(url, f"beyond {limit}")
                return
            url = queue.popleft()
            asked += 1
            answer = await self._page(url)
            if isinstance(answer, str):
                self._basket.leave_out(url, answer)
                continue
            at = answer.receipt.url
            kind = answer.receipt.media_type
            self._basket.add(page_name(at, kind), answer.body, at)
            if follow and _SUFFIXES.get(kind) == ".html":
                queue.extend(self._new_links(answer, known))

    def _new_links(self, page: Fetched, known: set[str]) -> Iterator[str]:
        """The links of a page below the address of the source that are not yet known; then they are."""
        for link in links_of(page.body, page.receipt.url):
            if link not in known and self.is_inside(link) and len(known) < MAX_QUEUE:
                known.add(link)
                yield link

    async def _page(self, url: str) -> Fetched | str:
        """The page at an address, or why it is left out."""
        answer = await self._get(self._fetcher, url)
        if isinstance(answer, str):
            return answer
        if answer.status != 200:
            return f"the server answered {answer.status}"
        at = answer.receipt.url
        if not self.is_inside(at):
            return f"it leads to {at}, which is not below the address of the source"
        return answer

    async def _get(self, fetcher: Fetcher, url: str) -> Fetched | str:
        """The answer to a request, or why there is none; not before the site's pause is over."""
        wait = self._last + self._pause - time.monotonic()
        if wait >= self._basket.seconds_left:
            return "its time was over"
        await asyncio.sleep(max(0.0, wait))
        try:
            async with asyncio.timeout(self._basket.seconds_left):
                return await fetcher.fetch(urldefrag(url).url)
        except FetchError as error:
            return str(error)
        except TimeoutError:
            return "its time was over"
        finally:
            self._last = time.monotonic()


def _origin(url: str) -> tuple[str, str, int | None]:
    """Scheme, host and port (RFC 6454). Raises ValueError."""
    parts: Any = urlsplit(url)
    return (
        parts.scheme,
        (parts.hostname or "").rstrip("."),
        parts.port or {"http": 80, "https": 443}.get(parts.scheme),
    )


def page_name(url: str, media_type: str) -> str:
    """A page's name in the folder, by its address: `host/path`, with a suffix that tells its format."""
    parts = urlsplit(url)
    path = unquote(parts.path).strip("/")
    if not path or parts.path.endswith("/"):
        path = f"{path}/index".lstrip("/")
    steps = [step if step not in ("", ".", "..") else "_" for step in path.split("/")]
    cut = "/".join(_short(step) for step in steps)
    if parts.query:
        cut += f"_{hashlib.sha256(parts.query.encode()).hexdigest()[:12]}"
    suffix = _SUFFIXES.get(media_type, "")
    has_one = cut.lower().endswith(suffix or _KNOWN)
    return f"{parts.netloc.replace(':', '_')}/{cut}{'' if has_one else suffix}"


def _short(step: str) -> str:
    """A step of a path that a file can be called."""
    step = "".join(each if each.isprintable() else "_" for each in step)
    if len(step.encode()) <= 120:
        return step
    return f"{step[:40]}_{hashlib.sha256(step.encode()).hexdigest()[:12]}"
