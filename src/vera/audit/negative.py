"""Negative and complete-set claims: what an answer says is not so, and what it says is all there is.

Both are found in the claims of an answer, and in the question where a claim answers it ("No."). What a task
forbids ("do not use Wikipedia") denies nothing.
"""

import re
from collections.abc import Sequence

import msgspec

from vera.audit.case import Case, CitedLines
from vera.events import Evidence
from vera.evidence.claim import Claim
from vera.evidence.domains import registrable_domain
from vera.evidence.official import official_names as official_names
from vera.evidence.official import owner
from vera.evidence.queries import one_family, query_stems
from vera.text.late_regex import late_regex
from vera.text.negation import DENIES, TEXT_LIMIT, asserted
from vera.text.negation import is_negative as is_negative
from vera.text.words import negations, stems, words

SAME_SUBJECT_PERCENT = 50
"""The share of a claim's content words that a sentence must hold to be about the same."""

_SPAN_LIMIT = 200_000
_MAX_LOOKUPS = 1000
_MAX_FAMILIES = 100

# Words by which a source may deny without any of the above.
_OTHERWISE = late_regex(
    r"\bun(?:known|identified|solved|resolved|able|successful|approved|released|confirmed|announced|available)\b"
    r"|\b(?:without|fail(?:s|ed|ure)?|den(?:y|ies|ied)|refus(?:es?|ed|al)|reject(?:s|ed)?|declin(?:es?|ed)"
    r"|absen(?:t|ce)|exclud(?:es?|ed|ing)|prohibit(?:s|ed)?|forbid(?:s|den)?|forbade|ban(?:s|ned)?|cancell?ed"
    r"|abandoned|ceased|impossible|zero)\b",
    re.IGNORECASE,
)
_ASKS_SET = late_regex(
    r"\b(?:list|name|enumerate|identify|find|give|what are|which are|who are|tell me)\b[^.?!\n]{0,60}?"
    r"\b(?:all|every|each|any and all)\b(?!\s+(?:information|details|this|that|you|about|relevant"
    r"|the following|the information|the details))"
    r"|\b(?:complete|full|exhaustive|entire|whole)\s+(?:list|set|enumeration|inventory|roster)\b"
    r"|\bhow many\b[^.?!\n]{0,200}\b(?:are|were|have|has|did|do|does|exist|is|was)\b"
    r"|\b(?:which|what)\s+(?:\w+\s+){1,4}(?:are|were) there\b"
    r"|\ball\s+(?:of\s+)?the\s+(?:\w+\s+){1,4}(?:that|who|which|of|in)\b",
    re.IGNORECASE,
)
_SAYS_SET = late_regex(
    r"\bthe only\b|\bthe sole\b|\bno others?\b|\bnobody else\b|\bnothing else\b|\bno one else\b"
    r"|\b(?:complete|full|exhaustive|entire)\s+(?:list|set|enumeration|inventory|roster)\b"
    r"|\b(?:all|every one)\s+(?:of\s+)?(?:the\s+)?(?:\w+\s+){0,4}\w+\s+(?:are|were)\s*:"
    r"|\ball\s+(?:of\s+the\s+|the\s+)?(?:members|candidates|entries|cases|items|countries|states|winners)\b"
    r"|\b(?:exactly|only)\s+(?:\d{1,6}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b"
    r"|\bconsists? (?:only|solely|entirely) of\b",
    re.IGNORECASE,
)
_EXCLUDES = late_regex(
    r"\b(?:only|sole|solely|single|exclusive|exclusively|unique|uniquely|exactly|all|every|complete|full"
    r"|no other|none|consists? of|comprises?|namely)\b",
    re.IGNORECASE,
)
_SENTENCE_END = late_regex(r"(?<=[.!?。！？])\s+|\n\s*\n|\n(?=\s*(?:[-*•#|]|\d{1,3}[.)]))")
_ITEM_MARK = late_regex(r"\s*(?:,\s*(?:and|or|und|et|y)\s|,|;|\s(?:and|or|und|et|&)\s)\s*")
_QUALIFIED = late_regex(r"\s+(?:in|as of|since|by|at|on|from|for|until)\s+")
_AFTER_COLON = late_regex(r":\s+|\b(?:are|were|namely|include|includes|comprise|comprises|consists? of)\s+")


def asks_complete_set(question: str) -> bool:
    """Whether a question asks for all of something: "list all …", "how many …", "a complete list of …"."""
    return _ASKS_SET.search(question[:TEXT_LIMIT]) is not None


def says_complete_set(text: str) -> bool:
    """Whether a statement says of what it names that it is all: "the only …", "all members are …"."""
    return _SAYS_SET.search(asserted(text)) is not None


def items(text: str) -> tuple[str, ...]:
    """What a statement enumerates: "The members are A, B and C" gives A, B, C; nothing for fewer than two."""
    tail = _AFTER_COLON.split(text[:TEXT_LIMIT], maxsplit=1)[-1]
    found = [part.strip(" .!?") for part in _ITEM_MARK.split(tail)]
    found[-1] = _QUALIFIED.split(found[-1], maxsplit=1)[0]
    named = [part for part in found if part and len(part.split()) <= 8]
    return (
        tuple(dict.fromkeys(named)) if len(named) >= 2 and len(named) == len([p for p in found if p]) else ()
    )


def subject(case: Case, claim: Claim) -> frozenset[str]:
    """The stems that a search about the claim would use: the claim's, or the question's for a bare "No."."""
    own = _content(claim.text)
    return own if len(own) > 1 else own | _content(case.task)


def denied_by(place: CitedLines, about: frozenset[str]) -> bool:
    """Whether the cited lines deny the same: a negative sentence that is about the subject, alone or with the
    sentences next to it."""
    sentences = _sentences(place.span.text)
    for index, sentence in enumerate(sentences):
        if _negated(sentence):
            near = " ".join(sentences[max(0, index - 1) : index + 2])
            if _shares(about, frozenset(stems(near))):
                return True
    return False


class Searches(msgspec.Struct, frozen=True):
    """The searches about a claim: one query of each family, and the evidence ids of all of them."""

    families: tuple[str, ...]
    evidence: tuple[str, ...]
    web: bool


def searches(case: Case, claim: Claim) -> Searches:
    """The searches with a receipt that concern the claim, near-duplicates as one family.

    One concerns it that holds a name of the claim or the question, or two of the claim's words. The order and
    the inflection of words do not count, and they may be of any script.
    """
    about = subject(case, claim)
    anchors = frozenset(stems(" ".join(official_names(f"{claim.text}\n{case.task}"))))
    families: list[tuple[frozenset[str], str]] = []
    receipts: list[str] = []
    web = False
    for lookup in case.lookups[:_MAX_LOOKUPS]:
        asked = query_stems(lookup.query)
        if lookup.evidence not in case.evidence or not _concerns(asked, about, anchors):
            continue
        receipts.append(lookup.evidence)
        web = web or lookup.tool != "search"
        if len(families) < _MAX_FAMILIES and not any(one_family(asked, known) for known, _ in families):
            families.append((asked, lookup.query))
    return Searches(tuple(query for _, query in families), tuple(receipts), web)


class Domains(msgspec.Struct, frozen=True):
    """Where was looked: registrable domains that speak officially on the subject, and others."""

    official: tuple[str, ...]
    independent: tuple[str, ...]


def domains(case: Case, claim: Claim, about: frozenset[str]) -> Domains:
    """The domains of the pages that were got and answered, and that the claim cites or whose title or address
    is about its subject."""
    cited = {cite.evidence for cite in claim.cites}
    names = official_names(f"{claim.text}\n{case.task}")
    listed = frozenset(case.policy.official_domains)
    found: dict[str, bool] = {}
    for evidence in case.evidence.values():
        if not _is_page(evidence):
            continue
        if evidence.id in cited or about & frozenset(stems(f"{evidence.title} {_spelled(evidence.source)}")):
            domain = registrable_domain(evidence.source)
            if domain:
                found[domain] = owner(evidence.source, names=names, official_domains=listed).official
    return Domains(
        official=tuple(sorted(domain for domain, official in found.items() if official)),
        independent=tuple(sorted(domain for domain, official in found.items() if not official)),
    )


def listed_in(candidates: Sequence[str], place: CitedLines) -> bool:
    """Whether the cited lines hold every candidate."""
    there = frozenset(stems(place.span.text))
    return all(frozenset(stems(candidate)) <= there for candidate in candidates)


def excludes(place: CitedLines, about: frozenset[str]) -> bool:
    """Whether a sentence of the cited lines, about the subject, says itself that these are all."""
    return any(
        _EXCLUDES.search(sentence) and _shares(about, frozenset(stems(sentence)))
        for sentence in _sentences(place.span.text)
    )


def _content(text: str) -> frozenset[str]:
    """The stems of the words that carry the content: no negations."""
    denying = {word.start for word in negations(text[:TEXT_LIMIT])}
    kept = (word.form for word in words(text[:TEXT_LIMIT]) if word.start not in denying)
    return frozenset(stems(" ".join(kept)))


def _negated(sentence: str) -> bool:
    return bool(DENIES.search(sentence) or _OTHERWISE.search(sentence))


def _sentences(text: str) -> list[str]:
    return [" ".join(part.split()) for part in _SENTENCE_END.split(text[:_SPAN_LIMIT]) if part.strip()]


def _shares(about: frozenset[str], there: frozenset[str]) -> bool:
    return bool(about) and 100 * len(about & there) >= SAME_SUBJECT_PERCENT * len(about)


def _concerns(asked: frozenset[str], about: frozenset[str], anchors: frozenset[str]) -> bool:
    return bool(asked & anchors) or len(asked & about) >= max(1, min(2, len(asked), len(about)))


def _is_page(evidence: Evidence) -> bool:
    status = evidence.http_status
    return (
        evidence.tier == "captured"
        and not evidence.lead
        and evidence.source.lower().startswith(("http://", "https://"))
        and (status is None or 200 <= status < 300)
    )


def _spelled(url: str) -> str:
    return re.sub(r"[/_.?&=#%+-]+", " ", url[:500])
