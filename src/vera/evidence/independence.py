"""Independence of sources: which of them are one source in two coats.

Two pages count as one when they belong to one registrable domain, after archives and other wrappers around
their addresses are taken off, or when one holds the text of the other: 5-word shingles (Broder, "On the
resemblance and containment of documents", 1997), compared exactly.
"""

import ipaddress
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

import msgspec

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList

COPY_CONTAINMENT = 0.3
"""Share of the smaller text's shingles from which two texts are copies."""

SHORT_CONTAINMENT = 0.8
"""The same for a text of fewer than SHORT_SHINGLES shingles, where one common sentence weighs too much."""

SHORT_SHINGLES = 26
SHINGLE_WORDS = 5
TOTAL_WORDS = 1_000_000
"""Words that are compared over all sources; of many long sources only the beginnings are."""

_DOCUMENT_WORDS = 50_000
_POSTINGS = 16
_URL_LIMIT = 4000
_WRAPPERS = 5
_BOILERPLATE_WORDS = 8
_SAME_STORY = 0.8
_SITE_PAGES = 50
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_CJK}]|(?:(?![{_CJK}])[^\W_])+")
_WAYBACK_BANNER = re.compile(
    r"(?i)^(?:the wayback machine - |wayback machine$|\d{1,9} captures?$|about this capture$|collected by$"
    r"|timestamps?$|success$|fail$|\W{0,3}https?://web\.archive\.org/)"
)


class SourceDoc(msgspec.Struct, frozen=True, kw_only=True):
    """A source to compare: its `key` (any name, each once), its address ('' for none) and its text."""

    key: str
    url: str
    text: str


class Link(msgspec.Struct, frozen=True, kw_only=True):
    """Why two sources are one: `domain` is the registrable domain that they share, '' for copies, of which
    `shared` percent of the smaller text stand in the other."""

    first: str
    second: str
    domain: str = ""
    shared: int = 0


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """Sources that count as one, in the order in which they came, and the links that make them one.

    `key` is the registrable domain of the first, or its key where it has none.
    """

    key: str
    sources: tuple[str, ...]
    links: tuple[Link, ...] = ()


def unwrap(url: str) -> str:
    """The address inside web archives, caches, AMP and redirect wrappers, at most five deep. What has no
    wrapper, or is no web address, comes back as it is.

    Only hosts that are known to wrap are unwrapped: any site may write another's address into its path.
    """
    address = url.strip()[:_URL_LIMIT]
    for _ in range(_WRAPPERS):
        inner = _inner(address)
        if not inner or inner == address:
            break
        address = inner
    return address


def registrable_domain(url: str) -> str:
    """The name that one owner registered: `bbc.co.uk` for `https://news.bbc.co.uk/1`, after unwrapping.

    By the Public Suffix List with its private part, so `foo.github.io` and `bar.github.io` are two owners.
    Names are in lower case and in the ASCII form of IDNA; an IP address, `localhost` and any name without a
    dot come with their port. '' for what is no web address (http or https).
    """
    split = _split(unwrap(url))
    host = _host(split) if split else ""
    if not split or not host:
        return ""
    if "." not in host or _is_address(host):
        return f"{host}:{_port(split)}" if _port(split) else host
    return _suffixes().privatesuffix(host) or host


def shingles(text: str) -> set[int]:
    """The hashes of every five words in a row. Case and punctuation do not count; a Chinese or Japanese
    character is a word. Hashes differ between processes, whether two are equal does not."""
    return _shingles(_WORD.findall(text.lower()))


def containment(a: set[int], b: set[int]) -> float:
    """Of the smaller set's shingles, the share that the other holds too; 0 when one is empty."""
    smaller = min(len(a), len(b))
    return len(a & b) / smaller if smaller else 0.0


def clusters(sources: Sequence[SourceDoc]) -> tuple[Group, ...]:
    """The sources as groups that are independent of each other, in the order of their first members.

    Lines that a site repeats on pages which are no copies of each other, short lines that stand on pages of
    three sites or more, and the banner of the Wayback Machine do not count as text.
    """
    domains = [registrable_domain(source.url) for source in sources]
    links = [*_domain_links(domains), *_copy_links(sources, domains)]
    parents = list(range(len(sources)))
    used: dict[int, list[Link]] = {}
    for first, second, shared in links:
        a, b = _root(parents, first), _root(parents, second)
        if a == b:
            continue
        parents[max(a, b)] = min(a, b)
        link = Link(
            first=sources[first].key,
            second=sources[second].key,
            domain="" if shared else domains[first],
            shared=shared,
        )
        used[min(a, b)] = [*used.pop(min(a, b), []), *used.pop(max(a, b), []), link]
    members: dict[int, list[int]] = {}
    for index in range(len(sources)):
        members.setdefault(_root(parents, index), []).append(index)
    return tuple(
        Group(
            key=domains[root] or sources[root].key,
            sources=tuple(sources[index].key for index in indexes),
            links=tuple(used.get(root, ())),
        )
        for root, indexes in members.items()
    )


# Addresses

_TIMED = re.compile(
    r"/(?:\d{4,14}(?:\*|[a-z]{2}_)?|\d{4}\.\d{2}\.\d{2}-\d{6}|\*|o|newest|oldest|latest)/(?=\S)"
)
_ARCHIVES = frozenset({
    "web.archive.org", "wayback.archive.org", "web-beta.archive.org", "wayback.archive-it.org", "arquivo.pt",
    "webarchive.nationalarchives.gov.uk", "webarchive.loc.gov", "timetravel.mementoweb.org", "archive.today",
    "archive.is", "archive.ph", "archive.li", "archive.vn", "archive.fo", "archive.md", "webarchive.org.uk",
    "www.webarchive.org.uk", "web.archive.org.au", "webarchive.nla.gov.au", "vefsafn.is",
})  # fmt: skip
_READERS = frozenset({"r.jina.ai", "12ft.io", "freedium.cfd"})
_PARAMETERS = {
    "google": ("q", "url", "u"),
    "duckduckgo.com": ("uddg",),
    "l.facebook.com": ("u",),
    "lm.facebook.com": ("u",),
    "l.instagram.com": ("u",),
    "out.reddit.com": ("url",),
    "youtube.com": ("q",),
    "linkedin.com": ("url",),
    "slack-redir.net": ("url",),
    "webcitation.org": ("url",),
    "translate.yandex.com": ("url",),
    "12ft.io": ("q",),
}
_GOOGLE = re.compile(r"(?:www|translate|webcache)\.google(?:usercontent)?(?:\.[a-z]{2,3}){1,2}|google\.com")
_AMP_PATH = re.compile(
    r"/(?:(?:[aciprv]|ii|wp)/)?(?P<secure>s/)?(?P<rest>[a-z0-9-]{1,63}\.[^/\s]{1,250}(?:/.*)?)", re.I
)
_LOOKS_LIKE_ADDRESS = re.compile(r"(?i)(?:https?:/{1,2})?[^\s/?#]{1,250}\.[^\s/?#]{1,250}(?:[/?#:]|$)")


def _inner(address: str) -> str:
    """The address that this one wraps, '' for none."""
    split = _split(address)
    host = _host(split) if split else ""
    if not split or not host:
        return ""
    path = split.path + (f"?{split.query}" if split.query else "")
    if host in _ARCHIVES:
        return _archived(host, path)
    if host.endswith(".translate.goog"):
        return _translated(host, split)
    if host.endswith(".cdn.ampproject.org") or (_GOOGLE.fullmatch(host) and path.startswith("/amp/")):
        return _amp(path.removeprefix("/amp") if path.startswith("/amp/") else path)
    if host in _READERS and (inner := _address(path[1:])):
        return inner
    return _parameter(host, split)


def _archived(host: str, path: str) -> str:
    timed = _TIMED.search(path)
    if timed:
        return _address(path[timed.end() :])
    for head in ("/web/", "/"):
        if path.startswith((f"{head}http:/", f"{head}https:/")):
            return _address(path[len(head) :])
    return ""


def _translated(host: str, split: SplitResult) -> str:
    label = host.removesuffix(".translate.goog")
    return f"https://{label.replace('--', chr(0)).replace('-', '.').replace(chr(0), '-')}{split.path}"


def _amp(path: str) -> str:
    found = _AMP_PATH.fullmatch(path)
    return f"{'https' if found['secure'] else 'http'}://{found['rest']}" if found else ""


def _parameter(host: str, split: SplitResult) -> str:
    bare = host.removeprefix("www.").removeprefix("html.")
    google = _GOOGLE.fullmatch(host)
    names = _PARAMETERS["google"] if google else _PARAMETERS.get(bare, ())
    if not names or (google and not re.match(r"/(?:url|translate|search|imgres)", split.path)):
        return ""
    try:
        values = parse_qs(split.query, max_num_fields=100)
    except ValueError:
        return ""
    for name in names:
        value = values.get(name, [""])[0]
        if value.startswith("cache:"):
            value = re.sub(r"^cache:(?:[\w-]{1,40}:(?!/))?", "", value).split(" ")[0].split("+")[0]
        elif google and split.path.startswith("/search"):
            continue
        if inner := _address(value):
            return inner
    return ""


def _address(text: str) -> str:
    """`text` as an address with its scheme, '' when it does not look like one."""
    text = text.strip().lstrip("/")
    if re.match(r"(?i)https?%3a", text):
        text = unquote(text)
    if not _LOOKS_LIKE_ADDRESS.match(text):
        return ""
    scheme = re.match(r"(?i)(https?):/{1,2}", text)
    return f"{scheme[1].lower()}://{text[scheme.end() :]}" if scheme else f"http://{text}"


def _split(url: str) -> SplitResult | None:
    try:
        split = urlsplit(url.strip())
    except ValueError:
        return None
    return split if split.scheme.lower() in {"http", "https"} else None


def _host(split: SplitResult) -> str:
    """The host in lower case and ASCII, without a last dot; '' for none."""
    host = (split.hostname or "").strip().rstrip(".").replace("。", ".")
    if not host or len(host) > 255 or any(char.isspace() for char in host):
        return ""
    if not host.isascii():
        try:
            host = host.encode("idna").decode("ascii")
        except UnicodeError:
            return ""
    return host.lower()


def _port(split: SplitResult) -> int | None:
    try:
        return split.port or {"http": 80, "https": 443}[split.scheme.lower()]
    except ValueError:
        return None


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


@lru_cache(maxsize=1)
def suffix_list_version() -> str:
    """The version of the Public Suffix List by which registrable domains are told."""
    from importlib.metadata import version

    return version("publicsuffixlist")


@lru_cache(maxsize=1)
def _suffixes() -> "PublicSuffixList":
    from publicsuffixlist import PublicSuffixList

    return PublicSuffixList()


# Texts


def _shingles(words: Sequence[str]) -> set[int]:
    return set(map(hash, zip(*(islice(words, start, None) for start in range(SHINGLE_WORDS)), strict=False)))


def _domain_links(domains: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    first: dict[str, int] = {}
    for index, domain in enumerate(domains):
        if domain and first.setdefault(domain, index) != index:
            yield first[domain], index, 0


def _copy_links(sources: Sequence[SourceDoc], domains: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """Pairs of copies, with the percentage of the smaller that the other holds."""
    lines = [_lines(source.text, _room(len(sources))) for source in sources]
    whole = [_words(page) for page in lines]
    everything = [_shingles(words) for words in whole]
    site = _site_lines(lines, domains, everything)
    common = _common_lines(lines, domains)
    dropped = [site.get(domain, set()) | common for domain in domains]
    texts = [
        _shingles(_words(line for line in page if line not in drop)) if drop else shingled
        for page, drop, shingled in zip(lines, dropped, everything, strict=True)
    ]
    yield from _same_words(whole)
    for (first, second), count in _overlaps(texts).items():
        smaller = min(len(texts[first]), len(texts[second]))
        bound = SHORT_CONTAINMENT if smaller < SHORT_SHINGLES else COPY_CONTAINMENT
        if count >= bound * smaller:
            yield first, second, max(1, round(100 * count / smaller))


def _room(sources: int) -> int:
    return min(_DOCUMENT_WORDS, TOTAL_WORDS // max(sources, 1))


def _lines(text: str, room: int) -> list[tuple[str, ...]]:
    """The lines as words, without empty ones and the banner of the Wayback Machine; at most `room` words."""
    out: list[tuple[str, ...]] = []
    for line in text.split("\n"):
        words = tuple(_WORD.findall(line.lower()[: 40 * room]))
        if words and not _WAYBACK_BANNER.match(line.strip()[:200]):
            out.append(words[:room])
            room -= len(words)
        if room <= 0:
            break
    return out


def _words(lines: Iterable[tuple[str, ...]]) -> list[str]:
    return [word for line in lines for word in line]


def _site_lines(
    lines: Sequence[Sequence[tuple[str, ...]]], domains: Sequence[str], texts: Sequence[set[int]]
) -> dict[str, set[tuple[str, ...]]]:
    """By domain, the lines that stand on two of its pages, where these are not copies of each other: a story
    that one site shows twice is no boilerplate."""
    pages: dict[str, list[int]] = {}
    for index, domain in enumerate(domains):
        known = pages.setdefault(domain, []) if domain else None
        if known is not None and all(
            containment(texts[index], texts[other]) < _SAME_STORY for other in known[:50]
        ):
            known.append(index)
    return {
        domain: _repeated([lines[index] for index in own]) for domain, own in pages.items() if len(own) > 1
    }


def _repeated(pages: Sequence[Sequence[tuple[str, ...]]]) -> set[tuple[str, ...]]:
    """The lines that stand on more than one of these pages."""
    counts = Counter(line for page in pages for line in set(page))
    return {line for line, count in counts.items() if count > 1}


def _common_lines(lines: Sequence[Sequence[tuple[str, ...]]], domains: Sequence[str]) -> set[tuple[str, ...]]:
    """Short lines on pages of three sites or more: "Skip to content", "All rights reserved"."""
    sites: dict[tuple[str, ...], set[str]] = {}
    for index, page in enumerate(lines):
        for line in page:
            if len(line) <= _BOILERPLATE_WORDS:
                sites.setdefault(line, set()).add(domains[index] or str(index))
    return {line for line, owners in sites.items() if len(owners) >= 3}


def _same_words(texts: Sequence[list[str]]) -> Iterator[tuple[int, int, int]]:
    """Pages too short for shingles are copies when their words are the same."""
    first: dict[tuple[str, ...], int] = {}
    for index, words in enumerate(texts):
        if 0 < len(words) < SHINGLE_WORDS and first.setdefault(tuple(words), index) != index:
            yield first[tuple(words)], index, 100


def _overlaps(texts: Sequence[set[int]]) -> Counter[tuple[int, int]]:
    """How many shingles each pair has in common, by an inverted index: pairs without any cost nothing.

    A shingle that very many share is counted for the first few only; they are one group already, or it is
    boilerplate.
    """
    holders: dict[int, tuple[int, ...]] = {}
    pairs: Counter[tuple[int, int]] = Counter()
    for index, shingled in enumerate(texts):
        known = holders.keys() & shingled
        by_holders = Counter(map(holders.__getitem__, known))
        for others, count in by_holders.items():
            for other in others:
                pairs[other, index] += count
        for shingle in known:
            others = holders[shingle]
            if len(others) < _POSTINGS:
                holders[shingle] = (*others, index)
        holders.update(dict.fromkeys(shingled - known, (index,)))
    return pairs


def _root(parents: list[int], index: int) -> int:
    while parents[index] != index:
        parents[index] = parents[parents[index]]
        index = parents[index]
    return index
