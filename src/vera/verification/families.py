"""The query families of a claim: materially different ways to ask for what would show it true or false.

Mechanical: the same claim gives the same families. Good–Turing novelty over their results is the stop rule
(`vera.attestation.coverage`), so there are enough of them to be counted.
"""

import re
from collections.abc import Iterable, Iterator

from vera.evidence.queries import family
from vera.text.words import STOPWORDS, folded

MAX_WORDS = 12
"""Of a query: search engines read little more."""

MAX_FAMILIES = 8

DENIALS = ("not", "except unless", "criticism dispute")
"""What is added to look for the opposite in files."""

OPPOSITE = "actually instead correction"
"""What is added to a claim without its figures: pages with other figures are found by it, too."""

ANGLES = (
    "official statement source",
    "myth dispute criticism wrong",
    "exception unless except limits",
    "history background overview",
    "latest update change",
)
"""What is asked about the subject of a claim besides the claim."""

_LIMIT = 4000
_SUBJECT_WORDS = 4
_WORD = re.compile(r"[^\W_][\w.'’%€$£-]*")


def families(claim: str, most: int = MAX_FAMILIES) -> tuple[str, ...]:
    """At most `most` queries in the words of the claim, of different families, the plainest first."""
    return _different(_in_its_words(claim), most)


def web_families(claim: str, most: int = MAX_FAMILIES) -> tuple[str, ...]:
    """At most `most` queries for search engines, of different families: the plain claim, then what would
    contradict it, then its subject from other sides."""
    return _different(_from_all_sides(claim), most)


def _different(candidates: Iterable[str], most: int) -> tuple[str, ...]:
    found: list[str] = []
    keys: list[str] = []
    for query in candidates:
        key = family(query, keys)
        if query and key and key not in keys:
            keys.append(key)
            found.append(query)
        if len(found) == most:
            break
    return tuple(found)


def _content(claim: str) -> tuple[list[str], list[str]]:
    """The content words of a claim, each once, and those of them that are names or numbers."""
    words = [word.strip(".'’-") for word in _WORD.findall(claim[:_LIMIT])]
    content = [word for word in dict.fromkeys(words) if word and folded(word) not in STOPWORDS]
    return content, [word for word in content if word[0].isupper() or any(c.isdigit() for c in word)]


def _in_its_words(claim: str) -> Iterator[str]:
    content, names = _content(claim)
    if not content:
        return
    rest = [word for word in content if word not in names]
    yield " ".join(content[:MAX_WORDS])
    yield " ".join(names[:MAX_WORDS])
    yield " ".join(rest[:MAX_WORDS])
    yield " ".join([*names[:3], *rest[:3]])
    yield " ".join([*names[:3], *rest[3:6]])
    for denial in DENIALS:
        yield f"{' '.join([*names[:3], *rest[:4]])} {denial}".strip()
    yield " ".join(content[: len(content) // 2])
    yield " ".join(content[len(content) // 2 :][:MAX_WORDS])


def _from_all_sides(claim: str) -> Iterator[str]:
    content, names = _content(claim)
    if not content:
        return
    plain = [word for word in content if not any(c.isdigit() for c in word)] or content
    named = [word for word in plain if word in names][:3]
    subject = " ".join([*named, *(word for word in plain if word not in names)][:_SUBJECT_WORDS])
    yield " ".join(content[:MAX_WORDS])
    yield f"{' '.join(plain[:_SUBJECT_WORDS])} {OPPOSITE}"
    for angle in ANGLES:
        yield f"{subject} {angle}"
    yield subject
    yield " ".join(content[len(content) // 2 :][:MAX_WORDS])
