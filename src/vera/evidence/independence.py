"""Independence of sources: which of them are one source in two coats.

Two pages count as one when they belong to one registrable domain, after archives and other wrappers around
their addresses are taken off, when their domains look alike, when the address of one holds that of the other,
or when one holds the text of the other: 5-word shingles (Broder, "On the resemblance and containment of
documents", 1997), compared exactly but for characters that look alike.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice

import msgspec

from vera.evidence.domains import named_domains, registrable_domain
from vera.text.late_regex import late_regex
from vera.text.look_alikes import latin, skeleton

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
_BOILERPLATE_WORDS = 8
_SAME_STORY = 0.8
_SITE_PAGES = 50
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = late_regex(rf"[{_CJK}]|(?:(?![{_CJK}])[^\W_])+")
_WAYBACK_BANNER = late_regex(
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
    `shared` percent of the smaller text are in the other."""

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


def containment(a: set[int], b: set[int]) -> float:
    """Of the smaller set's shingles, the share that the other holds too; 0 when one is empty."""
    smaller = min(len(a), len(b))
    return len(a & b) / smaller if smaller else 0.0


def clusters(sources: Sequence[SourceDoc]) -> tuple[Group, ...]:
    """The sources as groups that are independent of each other, in the order of their first members.

    Lines that a site repeats on pages which are no copies of each other, short lines that are on pages of
    three sites or more, and the banner of the Wayback Machine do not count as text.
    """
    domains = [registrable_domain(source.url) for source in sources]
    named = [named_domains(source.url) for source in sources]
    links = [*_domain_links(domains, named), *_copy_links(sources, domains)]
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


def _shingles(words: Sequence[str]) -> set[int]:
    """The hashes of every five words in a row. They differ between processes, whether two are equal does
    not."""
    return set(map(hash, zip(*(islice(words, start, None) for start in range(SHINGLE_WORDS)), strict=False)))


def _domain_links(domains: Sequence[str], named: Sequence[Collection[str]]) -> Iterator[tuple[int, int, int]]:
    """Pairs of one domain, of domains that look alike, or of which one has the other in its address."""
    first: dict[str, int] = {}
    for index, domain in enumerate(domains):
        for name in (domain, *named[index]):
            shape = skeleton(name)
            if shape and first.setdefault(shape, index) != index:
                yield min(first[shape], index), max(first[shape], index), 0


def _copy_links(sources: Sequence[SourceDoc], domains: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """Pairs of copies, with the percentage of the smaller that the other holds."""
    lines = [_lines(source.text, _room(len(sources))) for source in sources]
    whole = [_words(page) for page in lines]
    everything = [_shingles(words) for words in whole]
    site = _site_lines(lines, domains, everything)
    common = _common_lines(lines, domains)
    dropped = [site.get(domain, set()) | common for domain in domains]
    texts = [
        _without(page, drop, shingled) if drop else shingled
        for page, drop, shingled in zip(lines, dropped, everything, strict=True)
    ]
    yield from _same_words(whole)
    for (first, second), count in _overlaps(texts).items():
        smaller = min(len(texts[first]), len(texts[second]))
        bound = SHORT_CONTAINMENT if smaller < SHORT_SHINGLES else COPY_CONTAINMENT
        if count >= bound * smaller:
            yield first, second, max(1, round(100 * count / smaller))


def _without(page: Sequence[tuple[str, ...]], drop: set[tuple[str, ...]], whole: set[int]) -> set[int]:
    """The shingles of a page without the lines to drop; all of them where next to nothing would be left: a
    page whose every line others have too is their story, and no boilerplate."""
    words = _words(line for line in page if line not in drop)
    return _shingles(words) if 5 * len(words) >= sum(map(len, page)) else whole


def _room(sources: int) -> int:
    return min(_DOCUMENT_WORDS, TOTAL_WORDS // max(sources, 1))


def _lines(text: str, room: int) -> list[tuple[str, ...]]:
    """The lines as words, without empty ones and the banner of the Wayback Machine; at most `room` words."""
    out: list[tuple[str, ...]] = []
    for line in text.split("\n"):
        text = line.lower() if line.isascii() else latin(line)
        words = tuple(_WORD.findall(text[: 40 * room]))
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
    """By domain, the lines that are on two of its pages, where these are not copies of each other: a story
    that one site shows twice is no boilerplate."""
    pages: dict[str, list[int]] = {}
    for index, domain in enumerate(domains):
        known = pages.setdefault(domain, []) if domain else None
        if known is not None and all(
            containment(texts[index], texts[other]) < _SAME_STORY for other in known[:_SITE_PAGES]
        ):
            known.append(index)
    return {
        domain: _repeated([lines[index] for index in own]) for domain, own in pages.items() if len(own) > 1
    }


def _repeated(pages: Sequence[Sequence[tuple[str, ...]]]) -> set[tuple[str, ...]]:
    """The lines that are on more than one of these pages."""
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
