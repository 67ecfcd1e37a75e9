"""What a query asks: its family and its intent, the query that an address carries, and who answers it."""

import re
from collections.abc import Sequence
from functools import lru_cache
from urllib.parse import SplitResult, parse_qsl, unquote_plus, urlsplit

from vera.evidence.domains import unwrap
from vera.evidence.hosts import COMMENTARY, PACKAGE_INDEXES, SEARCH_ENGINES, entry_of, host_of
from vera.text.words import folded, stems, words

SAME_FAMILY_PERCENT = 60
"""The share of their words in common from which two queries are one."""

QUERY_LIMIT = 400
"""The characters of a query taken from an address."""

FAMILY_LIMIT = 240
"""The characters of a family's key."""

_TEXT_LIMIT = 4000
_MAX_KNOWN = 200

_PARAMETERS = ("q", "query", "search", "keyword", "term", "s", "text")
_ENGINE_PARAMETERS = (*_PARAMETERS, "p", "wd", "word", "w")
# Parameters that other pages use for numbers and flags: a query there holds a letter.
_LOOSE = frozenset({"s", "text", "term", "p", "w"})
_PATH = re.compile(
    r"/(?:search|query|name|compound/name)/([^/?#]{1,2000})|/wiki/([^?#]{1,2000})", re.IGNORECASE
)
_FILE = re.compile(r"\.(?:php|html?|aspx?|jsp|cgi|json|xml|js|css|png|svg)$", re.IGNORECASE)
_GOOGLE = re.compile(r"(?:www\.)?google\.(?:com|[a-z]{2}|com?\.[a-z]{2})")

_TRUTH_WORDS = """
    official officially press newsroom announcement announcements announces announced statement changelog
    filing filings regulator gazette offiziell offizielle pressemitteilung ankündigung bekanntmachung officiel
    officielle communiqué annonce oficial comunicado anuncio ufficiale comunicato annuncio anúncio officieel
    persbericht официальный официально официальное заявление пресс-релиз анонс офіційний oficjalny resmi
    açıklama رسمي رسمية بيان आधिकारिक घोषणा 官方 公告 公式 官宣 声明 공식 공지"""
_CONTEXT_WORDS = """
    rumor rumors rumour rumours rumored rumoured leak leaks leaked fake hoax scam torrent download speculation
    opinion opinions reviews forum criticism myth debunked gerücht gerüchte fälschung betrug meinung rumeur
    rumeurs fuite arnaque rumores filtración estafa opinión bufala truffa boato boatos слух слухи утечка фейк
    мнение plotka plotki söylenti شائعة شائعات تسريب अफवाह 传闻 謠言 谣言 爆料 假的 루머 유출"""


def family(query: str, known: Sequence[str]) -> str:
    """The key of a query's family: the folded stems of its content words, each once, sorted, with spaces.

    A query that is one with a known family (`one_family`) gets that family's key, so word order, inflection,
    a word more and filler make no new one. Any script; at most `FAMILY_LIMIT` characters, '' for a query of
    nothing. Of `known`, keys that this function gave, the last 200 are compared.
    """
    key = _key(query)
    recent = known[-_MAX_KNOWN:]
    if not key or key in recent:
        return key
    asked = _parts(key)
    return next((each for each in recent if each and one_family(asked, _parts(each))), key)


def query_stems(query: str) -> frozenset[str]:
    """What queries are compared by: the stems of the content words, or the words as they are when there is
    none that carries content."""
    text = query[:_TEXT_LIMIT]
    return frozenset(stems(text)) or frozenset(folded(text).split())


def one_family(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two queries differ so little that they are one: by one word added, or in few words."""
    common, every = len(one & other), len(one | other)
    return 100 * common >= SAME_FAMILY_PERCENT * every or (
        common == min(len(one), len(other)) and every - common < 2
    )


def vector(query_or_url: str, domain: str, official: bool) -> str:
    """The intent of a query or of a visit to an address: ground_truth, context, search or general.

    ground_truth asks the subject or a public body itself: the site is official, or the query says so
    ("official", "press", "官方"). context asks what is said around it: rumours, reviews, a site of
    commentary. search asks a search engine for anything else; so does every plain query. general is the
    rest, also a call without query and address. Only whole words of the query count: what is in the path
    of an address proves nothing about who speaks there.
    """
    text = query_or_url.strip()[:_TEXT_LIMIT]
    is_url = text.lower().startswith(("http://", "https://"))
    query, subject = (query_of_url(text), text) if is_url else (text, domain)
    asked = {word.form for word in words(query)}
    if official or asked & _forms(_TRUTH_WORDS):
        return "ground_truth"
    host = host_of(subject)
    if asked & _forms(_CONTEXT_WORDS) or entry_of(host, COMMENTARY):
        return "context"
    if (query and not is_url) or is_search_engine(host):
        return "search"
    return "general"


def query_of_url(url: str) -> str:
    """The query that an address carries, on one line and at most `QUERY_LIMIT` characters; '' for none.

    It is the value of q, query, search, keyword, term, s or text, or what follows /search/, /query/, /name/
    or /wiki/ in the path. The address is taken out of archives and other wrappers before.
    """
    split = _split(unwrap(url))
    if split is None:
        return ""
    found = _parameter(split) or _in_path(split.path)
    return " ".join(found.encode("utf-8", "replace").decode("utf-8").split())[:QUERY_LIMIT].strip()


def is_search_engine(domain_or_url: str) -> bool:
    """Whether a host is a search engine's, so that its pages are leads and no sources. Given a URL, its host
    is judged: search.brave.com is one, brave.com is not."""
    host = host_of(domain_or_url)
    return host in SEARCH_ENGINES or _GOOGLE.fullmatch(host) is not None


def is_package_index(host: str) -> bool:
    """Whether package managers get software from this host (`pypi.org`, `us.archive.ubuntu.com`); a port and
    the scheme do not count."""
    return bool(entry_of(host_of(host), PACKAGE_INDEXES))


def _key(query: str) -> str:
    kept: list[str] = []
    room = FAMILY_LIMIT
    for stem in sorted(query_stems(query.encode("utf-8", "replace").decode("utf-8"))):
        room -= len(stem) + 1
        if room < -1 and kept:
            break
        kept.append(stem[:FAMILY_LIMIT])
    return " ".join(kept)


@lru_cache(maxsize=4096)
def _parts(key: str) -> frozenset[str]:
    return frozenset(key.split())


@lru_cache(maxsize=4)
def _forms(table: str) -> frozenset[str]:
    return frozenset(word.form for word in words(table))


def _split(url: str) -> SplitResult | None:
    try:
        split = urlsplit(url.replace("\\", "/"))
    except ValueError:
        return None
    return split if split.scheme.lower() in {"http", "https"} else None


def _parameter(split: SplitResult) -> str:
    values: dict[str, str] = {}
    for name, value in parse_qsl(split.query[:_TEXT_LIMIT], errors="replace"):
        values.setdefault(name.lower(), value)
    wanted = _ENGINE_PARAMETERS if is_search_engine(split.netloc) else _PARAMETERS
    for name in wanted:
        value = values.get(name, "").strip()
        if value and (name not in _LOOSE or any(map(str.isalpha, value))):
            return value
    return ""


def _in_path(path: str) -> str:
    found = _PATH.search(path[:_TEXT_LIMIT])
    if not found:
        return ""
    text = unquote_plus(found[1] or found[2], errors="replace").replace("_", " ")
    return "" if _FILE.search(text) else text
