"""The query families of a claim: materially different ways to ask for what would show it true or false.

Mechanical: the same claim gives the same families. Good–Turing novelty over their results is the stop rule
(`vera.attestation.coverage`), so there are enough of them to be counted.
"""

import re
from collections.abc import Iterator

from vera.evidence.queries import family
from vera.evidence.words import STOPWORDS, folded

MOST_WORDS = 12
"""Of a query: search engines read little more."""

DENIALS = ("not", "except unless", "criticism dispute")
"""What is added to look for the opposite."""

_WORD = re.compile(r"[^\W_][\w.'’%€$£-]*")


def families(claim: str, most: int = 8) -> tuple[str, ...]:
    """At most `most` queries, of different families, the plainest first."""
    found: list[str] = []
    keys: list[str] = []
    for query in _candidates(claim):
        key = family(query, keys)
        if query and key and key not in keys:
            keys.append(key)
            found.append(query)
        if len(found) == most:
            break
    return tuple(found)


def _candidates(claim: str) -> Iterator[str]:
    words = [word.strip(".'’-") for word in _WORD.findall(claim[:4000])]
    content = [word for word in dict.fromkeys(words) if word and folded(word) not in STOPWORDS]
    names = [word for word in content if word[0].isupper() or any(c.isdigit() for c in word)]
    rest = [word for word in content if word not in names]
    plain = " ".join(content[:MOST_WORDS])
    yield plain
    yield " ".join(names[:MOST_WORDS])
    yield " ".join(rest[:MOST_WORDS])
    yield " ".join([*names[:3], *rest[:3]])
    yield " ".join([*names[:3], *rest[3:6]])
    for denial in DENIALS:
        yield f"{' '.join([*names[:3], *rest[:4]])} {denial}".strip()
    yield " ".join(content[: len(content) // 2])
    yield " ".join(content[len(content) // 2 :][:MOST_WORDS])
