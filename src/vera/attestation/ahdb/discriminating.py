"""Tests that would decide an open thesis, derived mechanically from what its verification left out."""

from collections.abc import Iterator

from vera.attestation.ahdb.entries import MAX_TESTS, sentence
from vera.attestation.ahdb.policy import Verified
from vera.attestation.objects import ClaimResult, Digest, Omission

_SHORT = 300
_ADDRESSES = ("http://", "https://")

_BY_REASON = {
    "BUDGET": "Verify the thesis again with a larger budget: the last one ended before everything was read.",
    "JUDGE_UNRELIABLE": "Have another model label the spans: the last one could not be relied on.",
    "SCORE": "Have the answer judged again after its open checks are settled.",
    "FINDINGS": "Settle the hard findings of the audit.",
}


def discriminating_tests(verified: Verified) -> tuple[str, ...]:
    """One to MAX_TESTS sentences, the most telling first: contradictions, sources that are named and were
    not read, claims that lack an independent source, and what the reason of the result asks for."""
    found = dict.fromkeys(_tests(verified))
    looked_at = ", ".join(verified.scope)
    beyond = f"Look beyond {looked_at} for a source that states the thesis or its opposite."
    return tuple(found)[:MAX_TESTS] or (beyond,)


def _tests(verified: Verified) -> Iterator[str]:
    yield from _between(verified)
    yield from (_fetch(omission) for omission in verified.coverage.omissions if _has_address(omission))
    texts = {claim.key: claim.text for claim in verified.thesis.sub_claims}
    for claim in verified.attestation.claims:
        yield from _of_claim(claim, sentence(texts.get(claim.claim, claim.claim), _SHORT))
    if test := _BY_REASON.get(verified.attestation.reason):
        yield test
    for omission in verified.coverage.omissions:
        if not _has_address(omission):
            elsewhere = omission.pointer if omission.pointer != omission.cell else ""
            where = f" at {sentence(elsewhere, _SHORT)}" if elsewhere else ""
            yield f"Close the gap {sentence(omission.cell, _SHORT)}{where}: {sentence(omission.why, _SHORT)}"


def _between(verified: Verified) -> Iterator[str]:
    for supporting, contradicting in verified.coverage.contradictions:
        if supporting in verified.cards and contradicting in verified.cards:
            places = f"{_place(verified, supporting)} and {_place(verified, contradicting)}"
            yield f"Find an independent source that decides between {places}."


def _of_claim(claim: ClaimResult, text: str) -> Iterator[str]:
    if claim.result == "DISPUTED":
        yield f"Find an independent source that decides whether: {text}"
    elif claim.reason == "COVERAGE" and claim.contradicts:
        yield f"Find a further independent source that states or denies: {text}"
    elif claim.reason == "COVERAGE" and claim.supports:
        yield f"Find a further independent source of: {text}"
    elif claim.result != "SUPPORTED" and claim.reason in ("NO_EVIDENCE", "PARTIAL", "COVERAGE"):
        yield f"Find a source that states, without a condition: {text}"


def _fetch(omission: Omission) -> str:
    return f"Fetch {sentence(omission.pointer, _SHORT)} ({sentence(omission.why, _SHORT).rstrip('.')})."


def _has_address(omission: Omission) -> bool:
    return omission.pointer.lower().startswith(_ADDRESSES)


def _place(verified: Verified, name: Digest) -> str:
    card = verified.cards[name]
    return f"{sentence(verified.sources[card.source].name, _SHORT)}, lines {card.span.first}-{card.span.last}"
