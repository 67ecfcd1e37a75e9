"""The admissibility policy: which evidence set an ASSERT may point at. Rules as data, in order; pure.

A verification is UNTRUSTED until its envelope and everything it names hold (`proof`, which refuses it
otherwise), then QUARANTINED; when every rule here holds it is PROMOTED, and its thesis is asserted. When the
ASSERT has expired, or was retracted or superseded, it is RETRACTED. Nothing is promoted by hand.
"""

from collections.abc import Callable, Iterator, Mapping, Set
from datetime import datetime

import msgspec

from vera.attestation.ahdb.view import has_expired
from vera.attestation.coverage import is_web
from vera.attestation.objects import (
    Attestation,
    Card,
    Coverage,
    Digest,
    Findings,
    Result,
    Risk,
    Scope,
    Source,
    Thesis,
)
from vera.evidence.claim import Relation
from vera.headline import Headline

VERSION = "ahdb-policy/2"
"""Changes whenever another evidence set may be admitted."""


_SUPPORTS: Set[Relation] = frozenset({"SUPPORTS"})
_RESTS_ON: Mapping[Result, Set[Relation]] = {
    "UNSUPPORTED": frozenset({"CONTRADICTS"}),
    "DISPUTED": frozenset({"SUPPORTS", "CONTRADICTS"}),
}
"""Result → the relations of the cards that it rests on, where these are not those that support."""


class Verified(msgspec.Struct, frozen=True, kw_only=True):
    """A signed attestation, opened, with everything that it names.

    `envelope` is the sha256 of the envelope's bytes, `keyid` who signed. `thesis_id`, `text`, `scope` and
    `risk` are those of the request that it answers, `word` says how strongly it is proved (`vera.headline`).
    `recomputed`: the result came out again from the objects here.
    """

    attestation: Attestation
    attestation_id: Digest
    envelope: Digest
    keyid: str
    thesis_id: Digest
    text: str
    word: Headline
    scope: tuple[Scope, ...]
    risk: Risk
    thesis: Thesis
    findings: Findings
    coverage: Coverage
    cards: Mapping[Digest, Card]
    sources: Mapping[Digest, Source]
    recomputed: bool

    def deciding(self) -> Iterator[tuple[Digest, Card]]:
        """The cards that the result rests on, with their ids."""
        relations = _RESTS_ON.get(self.attestation.result, _SUPPORTS)
        return ((name, card) for name, card in self.cards.items() if card.relation in relations)


class Inspected(msgspec.Struct, frozen=True, kw_only=True):
    """What the rules look at: a verification, the digests of bytes that its store does not have whole
    (`missing`), the cards whose lines are not what they were (`moved`), and the time."""

    verified: Verified
    missing: Set[Digest]
    moved: Set[Digest]
    now: datetime


class Rule(msgspec.Struct, frozen=True):
    """A rule of the policy. `broken` is whether it does not hold, `sentence` what is then said and `test`
    what would fix it."""

    name: str
    broken: Callable[[Inspected], bool]
    sentence: str
    test: str


def unmet(inspected: Inspected) -> tuple[Rule, ...]:
    """The rules that do not hold, in order; none for an evidence set that is admissible."""
    return tuple(rule for rule in RULES if rule.broken(inspected))


def _is_expired(seen: Inspected) -> bool:
    return has_expired(seen.verified.attestation.expires_at, seen.now)


def _is_not_recomputed(seen: Inspected) -> bool:
    return not seen.verified.recomputed


def _has_no_support(seen: Inspected) -> bool:
    return not any(seen.verified.deciding())


def _rests_on_output(seen: Inspected) -> bool:
    return any(source.tier == "observed" for source in _deciding_sources(seen))


def _misses_bytes(seen: Inspected) -> bool:
    return any(
        {source.canonical, source.raw or source.canonical} & seen.missing
        for source in _deciding_sources(seen)
    )


def _has_moved(seen: Inspected) -> bool:
    return any(name in seen.moved for name, _ in seen.verified.deciding())


def _misses_receipts(seen: Inspected) -> bool:
    receipts = set(seen.verified.attestation.receipts)
    fetched = (source.retrieval for source in _deciding_sources(seen) if is_web(source))
    return bool(receipts & seen.missing) or any(receipt not in receipts for receipt in fetched)


def _has_hard_finding(seen: Inspected) -> bool:
    """What the audit holds against a thesis keeps it from being asserted, and not from being refuted."""
    if seen.verified.attestation.result != "SUPPORTED":
        return False
    return any(finding.severity == "hard" for finding in seen.verified.findings.findings)


def _deciding_sources(seen: Inspected) -> Iterator[Source]:
    return (seen.verified.sources[card.source] for _, card in seen.verified.deciding())


RULES: tuple[Rule, ...] = (
    Rule(
        "unexpired",
        _is_expired,
        "The attestation has expired.",
        "Verify the thesis again: its attestation has expired.",
    ),
    Rule(
        "recomputed",
        _is_not_recomputed,
        "Its result was computed by another version of the rules.",
        "Verify the thesis again with this version of VERA.",
    ),
    Rule(
        "has_support",
        _has_no_support,
        "No card decides it.",
        "Find a source that states the thesis, and cite its lines.",
    ),
    Rule(
        "captured_or_derived",
        _rests_on_output,
        "A cited source is output of a sandbox that was not computed again.",
        "Compute the cited output again in a clean box, or cite a file or a page.",
    ),
    Rule(
        "bytes_kept",
        _misses_bytes,
        "The bytes of a cited source are not in the store.",
        "Capture the cited sources again, so that their bytes are kept.",
    ),
    Rule(
        "spans_hold",
        _has_moved,
        "The cited lines are not those that were hashed.",
        "Verify the thesis again from the sources as they are kept.",
    ),
    Rule(
        "receipts_kept",
        _misses_receipts,
        "The receipt of a cited page is missing.",
        "Fetch the cited pages again, so that their receipts are kept.",
    ),
    Rule(
        "no_hard_finding",
        _has_hard_finding,
        "The audit has a hard finding.",
        "Settle the hard findings of the audit.",
    ),
)
"""Every rule of the policy."""
