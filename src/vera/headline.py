"""The words that say how strongly an answer or a thesis is proved: one list for code, log, pages and docs.

| RESULT | reason | rule | word |
|---|---|---|---|
| SUPPORTED | | `model` or `entailment` | VERIFIED |
| SUPPORTED | | `literal` or `containment` | QUOTED |
| any | REFUTED | any | REFUTED |
| DISPUTED | any other | any | DISPUTED |
| INCONCLUSIVE, UNSUPPORTED | PARTIAL | any | PARTIAL |
| INCONCLUSIVE, UNSUPPORTED | any other | any | UNRESOLVED |

An attestation holds RESULT, reason and rule, so an old session gets its word by today's list.
"""

from collections.abc import Iterable, Mapping
from typing import Literal, get_args

Headline = Literal["VERIFIED", "QUOTED", "PARTIAL", "UNRESOLVED", "DISPUTED", "REFUTED"]
"""The strongest first.

- VERIFIED: every statement is supported by its cited lines, as a qualified judge read them, or was computed
  and came out again.
- QUOTED: the cited lines of every statement hold its words, by a rule; no judge has read them.
- PARTIAL: some statement is unchecked or not supported, and another is supported.
- UNRESOLVED: nothing is proved either way.
- DISPUTED: sources contradict each other.
- REFUTED: the cited sources say otherwise.
"""

HEADLINES: tuple[Headline, ...] = get_args(Headline)

JUDGED = frozenset({"model", "entailment"})
"""The rules under which a judge that has passed its exam reads the lines."""

UNDER_WAY = ("IN_PROGRESS", "BLOCKED")
"""What a run is called that has not ended: it works, or it lacks what it needs. No verdict."""

STATUSES = (*UNDER_WAY, *HEADLINES)
"""Every word that the status of a run can be."""

EXIT_CODES: Mapping[Headline, int] = {
    "VERIFIED": 0,
    "QUOTED": 0,
    "PARTIAL": 3,
    "UNRESOLVED": 3,
    "DISPUTED": 4,
    "REFUTED": 4,
}

HOLDS = frozenset(word for word, code in EXIT_CODES.items() if code == 0)
"""The words of an answer that may be used as it is."""

OPEN = frozenset(HEADLINES) - HOLDS
"""The others."""

NOT_REQUIRED = 3
"""The exit code of what holds, and is less than was required."""


def headline(result: str, reason: str, rule: str) -> Headline:
    """The word for a verdict, by the table above."""
    if reason == "REFUTED":
        return "REFUTED"
    if result == "DISPUTED":
        return "DISPUTED"
    if result != "SUPPORTED":
        return "PARTIAL" if reason == "PARTIAL" else "UNRESOLVED"
    return "VERIFIED" if rule in JUDGED else "QUOTED"


def word_of(status: str) -> Headline:
    """The word that a status is, UNRESOLVED for what is none of them."""
    return next((word for word in HEADLINES if word == status), "UNRESOLVED")


def weakest(words: Iterable[Headline]) -> Headline:
    """The weakest of the words; VERIFIED where there is none."""
    return max(words, key=HEADLINES.index, default="VERIFIED")


def exit_code(word: str, code: int, require: str) -> int:
    """The exit code `code` of a run whose status is `word`, where at least quoted or verified is required."""
    return NOT_REQUIRED if require == "verified" and code == 0 and word != "VERIFIED" else code
