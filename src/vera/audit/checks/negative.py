"""Negative and complete-set claims: what is denied must have been looked for, what is all must be listed."""

from collections.abc import Iterator, Sequence

from vera.audit.case import Case, CitedLines, statements
from vera.audit.checks.independence import is_web
from vera.audit.negative import (
    Searches,
    asks_complete_set,
    denied_by,
    domains,
    excludes,
    is_negative,
    items,
    listed_in,
    says_complete_set,
    searches,
    subject,
)
from vera.evidence.claim import Claim
from vera.evidence.finding import Finding
from vera.text.words import STOPWORDS, negations, stem, words

_WORDS_LISTED = 6
_QUERIES_LISTED = 3
_MAX_QUERY_LENGTH = 60


def negative(case: Case) -> Iterator[Finding]:
    """`coverage_missing` (hard) for each load-bearing statement that denies something, where no cited line
    denies it and too little was searched; `set_unproven` (soft) for one that says "these are all" without a
    cited line that lists them.

    A value that a command printed, and printed again in a clean box, was found by looking at everything. Of a
    document without a task no searches are on record: there a missing coverage is soft.
    """
    wants_set = asks_complete_set(case.task)
    for claim, cited in statements(case):
        if not claim.load_bearing or _derived(case, cited):
            continue
        if is_negative(claim.text):
            yield from _coverage(case, claim, cited)
        if says_complete_set(claim.text) or (wants_set and items(claim.text)):
            yield from _set(case, claim, cited)


def _derived(case: Case, cited: Sequence[CitedLines]) -> bool:
    return any(place.evidence.tier == "observed" and case.derived(place.evidence.id) for place in cited)


def _coverage(case: Case, claim: Claim, cited: Sequence[CitedLines]) -> Iterator[Finding]:
    about = subject(case, claim)
    if any(denied_by(place, about) for place in cited):
        return
    made = searches(case, claim)
    wanting = list(_wanting(case, claim, cited, about, made))
    if wanting:
        yield Finding(
            code="coverage_missing",
            label="generic_search",
            severity="hard" if case.task or case.lookups else "soft",
            claim=claim.key,
            evidence=cited[0].evidence.id if cited else "",
            message=f"This denies something, and no cited line says so: {'; '.join(wanting)}; or cite a line "
            "that says it.",
            detail="searched: " + ("; ".join(made.families[:_QUERIES_LISTED]) or "nothing about it"),
        )


def _wanting(
    case: Case, claim: Claim, cited: Sequence[CitedLines], about: frozenset[str], made: Searches
) -> Iterator[str]:
    """What must still be searched or read before the claim may deny something."""
    policy = case.policy
    if len(made.families) < policy.negative_families:
        yield _search_more(claim, case.task, made, policy.negative_families)
    if made.web or any(is_web(place.evidence) for place in cited):
        looked = domains(case, claim, about)
        official, independent = looked.official, looked.independent
        if len(official) < policy.negative_official:
            yield f"read pages of {policy.negative_official} official sites ({_names(official)} so far)"
        spare = max(0, len(official) - policy.negative_official)
        if len(independent) + spare < policy.negative_independent:
            yield f"read {policy.negative_independent} independent site ({_names(independent)} so far)"


def _search_more(claim: Claim, task: str, made: Searches, needed: int) -> str:
    done = "; ".join(f"“{query[:_MAX_QUERY_LENGTH]}”" for query in made.families[:_QUERIES_LISTED])
    used = {stem(word.form) for query in made.families for word in words(query)}
    text = claim.text if len(claim.text.split()) > 2 else task
    denying = {word.form for word in negations(text)}
    fresh = [
        word.form
        for word in words(text[:2000])
        if word.form not in STOPWORDS | denying and stem(word.form) not in used
    ]
    hint = f", for example with {', '.join(list(dict.fromkeys(fresh))[:_WORDS_LISTED])}" if fresh else ""
    return f"make {needed} searches with materially different words ({done or 'none'} so far){hint}"


def _names(found: Sequence[str]) -> str:
    return ", ".join(found[:_QUERIES_LISTED]) or "none"


def _set(case: Case, claim: Claim, cited: Sequence[CitedLines]) -> Iterator[Finding]:
    candidates = items(claim.text)
    about = subject(case, claim)
    if candidates and any(listed_in(candidates, place) for place in cited):
        return
    if any(excludes(place, about) for place in cited):
        return
    yield Finding(
        code="set_unproven",
        label="premature_conclusion",
        severity="soft",
        claim=claim.key,
        evidence=cited[0].evidence.id if cited else "",
        message="This says what all there are, and no cited lines list them; cite a list of the candidates, "
        "and say what holds for each.",
        detail=", ".join(candidates)[:200],
    )
