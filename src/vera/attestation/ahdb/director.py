"""The director: what a verification changes in the AHDB. Pure: values in, entries out.

| the attestation says | ASSERT | HYPOTHESIZE |
|---|---|---|
| SUPPORTED, admissible | asserted | retracted: it is decided |
| UNSUPPORTED (REFUTED), admissible | retracted, whether or not it stood | retracted: it is decided |
| DISPUTED, admissible | retracted | a test that would decide between the sources |
| one of these, not admissible | stays | a test for each rule that is not met |
| one of these, below the tier of the ASSERT that stands | stays | to verify at that tier |
| anything else | stays | tests from what was left out |

Only evidence takes an ASSERT away, and only evidence of at least the tier that it was admitted at. Each blind
spot becomes a HYPERTHESIS, unless an ASSERT stays, which keeps its own; those of the thesis that are no
longer named are retracted, and so is every ASSERT that has expired. What takes away comes first and the
decision last, so that a crash between two lines of the journal never leaves more asserted than was proved.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from vera.attestation.ahdb.discriminating import discriminating_tests
from vera.attestation.ahdb.entries import (
    MAX_TESTS,
    RANK,
    AnyEntry,
    Assert,
    BlindSpot,
    Cause,
    Hypothesize,
    Retract,
    Slot,
    sentence,
)
from vera.attestation.ahdb.policy import VERSION, Inspected, Verified, unmet
from vera.attestation.ahdb.view import fold, has_expired
from vera.attestation.objects import NAME_LIMIT, TEXT_LIMIT, bounded

PROMOTION = (
    f"A SUPPORTED attestation of this thesis whose evidence set is admissible ({VERSION}) makes it an ASSERT."
)
SAME_BUDGET = "As much as the last request was given."
LARGER_BUDGET = "Twice as much as the last request was given: it ended for want of budget."
MAX_QUALIFIERS = 10


def compile_entries(inspected: Inspected, entries: Iterable[AnyEntry]) -> tuple[AnyEntry, ...]:
    """The entries that a verification adds to a journal, in the order in which they are to be written.

    `entries` is the journal so far.
    """
    verified = inspected.verified
    newest = fold(entries)
    result = verified.attestation.result
    asserted: Slot = ("ASSERT", verified.thesis_id)
    open_: Slot = ("HYPOTHESIZE", verified.thesis_id)
    wanted = _unmet_tests(inspected, newest) if decides(verified) else ()
    spots = tuple(_blind_spots(verified, newest))
    out = [*_lapsed(newest, inspected.now, but=verified.thesis_id)]
    if decides(verified) and not wanted and result != "DISPUTED":
        out += _take(newest, open_, "DECIDED", _by(verified), verified)
        refuted = _retraction(asserted, "REFUTED", _by(verified), verified)
        return (*out, *spots, assertion(verified) if result == "SUPPORTED" else refuted)
    decision = _hypothesis(verified, wanted)
    if result == "DISPUTED" and not wanted:
        out += _take(newest, asserted, "DISPUTED", _by(verified), verified)
    elif standing_assert(newest, inspected) is not None:
        return (*out, decision)
    elif isinstance(expired := newest.get(asserted), Assert):
        out.append(_expiry(expired))
    return (*out, *spots, decision)


def decides(verified: Verified) -> bool:
    """Whether the attestation says something for or against the thesis, whoever may rely on it."""
    return (
        verified.attestation.result in ("SUPPORTED", "DISPUTED") or verified.attestation.reason == "REFUTED"
    )


def standing_assert(newest: dict[Slot, AnyEntry], inspected: Inspected) -> Assert | None:
    """The ASSERT of the thesis that stands and is not from this very attestation, None for none."""
    found = newest.get(("ASSERT", inspected.verified.thesis_id))
    if not isinstance(found, Assert) or found.attestation == inspected.verified.attestation_id:
        return None
    return None if has_expired(found.expires_at, inspected.now) else found


def outranking(newest: dict[Slot, AnyEntry], inspected: Inspected) -> Assert | None:
    """The ASSERT that stands, when it was admitted at a higher tier than this verification was asked at."""
    found = standing_assert(newest, inspected)
    above = found is not None and RANK[found.risk] > RANK[inspected.verified.risk]
    return found if above else None


def _unmet_tests(inspected: Inspected, newest: dict[Slot, AnyEntry]) -> tuple[str, ...]:
    """What it would take for this verification to change the ASSERT; nothing when it does."""
    if broken := unmet(inspected):
        return tuple(rule.test for rule in broken)
    if (above := outranking(newest, inspected)) is None:
        return ()
    verified, attestation = inspected.verified, inspected.verified.attestation
    why = f" ({attestation.reason})" if attestation.reason else ""
    return (
        f"Verify the thesis at risk {above.risk}, the tier of entry {above.seq}, which asserts it: a "
        f"verification at risk {verified.risk} says {attestation.result}{why}.",
    )


def assertion(verified: Verified) -> Assert:
    """The ASSERT of a verification. Whether there may be one is not asked here."""
    attestation = verified.attestation
    return Assert(
        key=verified.thesis_id,
        text=sentence(verified.text),
        thesis_id=verified.thesis_id,
        attestation=verified.attestation_id,
        issued_at=attestation.issued_at,
        expires_at=attestation.expires_at,
        envelope=verified.envelope,
        keyid=verified.keyid,
        request=attestation.request,
        cards=attestation.cards,
        evidence_set=attestation.evidence_set,
        receipts=attestation.receipts,
        verifier=attestation.verifier,
        admitted_by=VERSION,
        scope=verified.scope,
        bounds=tuple(_bounds(verified)),
        strength=verified.word,
        risk=verified.risk,
    )


def _bounds(verified: Verified) -> Iterator[str]:
    """What bounds an ASSERT: where was looked, until when it holds, and what qualifies it."""
    until = verified.attestation.expires_at
    yield f"Looked at: {', '.join(verified.scope)}."
    yield (
        f"Holds until {until}." if until else f"Holds for what was read on {verified.attestation.issued_at}."
    )
    qualifiers = [(name, card) for name, card in verified.cards.items() if card.relation == "QUALIFIES"]
    for name, card in qualifiers[:MAX_QUALIFIERS]:
        where = (
            f"{sentence(verified.sources[card.source].name, 300)}, lines {card.span.first}-{card.span.last}"
        )
        yield f"Qualified by {where} (card {name})."
    if (more := len(qualifiers) - MAX_QUALIFIERS) > 0:
        yield f"Qualified by {more} more cards of its evidence set."


def _hypothesis(verified: Verified, wanted: Sequence[str]) -> Hypothesize:
    attestation = verified.attestation
    wanted = wanted or discriminating_tests(verified)
    return Hypothesize(
        key=verified.thesis_id,
        text=sentence(verified.text),
        thesis_id=verified.thesis_id,
        attestation=verified.attestation_id,
        issued_at=attestation.issued_at,
        tests=tuple(dict.fromkeys(wanted))[:MAX_TESTS],
        budget=LARGER_BUDGET if attestation.reason == "BUDGET" else SAME_BUDGET,
        promotion=PROMOTION,
        request=attestation.request,
        result=attestation.result,
        reason=attestation.reason,
    )


def _blind_spots(verified: Verified, newest: dict[Slot, AnyEntry]) -> Iterator[AnyEntry]:
    attestation = verified.attestation
    named = {f"{verified.thesis_id}:{each.detector}": each for each in attestation.hyperthesis}
    for slot, entry in newest.items():
        if isinstance(entry, BlindSpot) and entry.thesis_id == verified.thesis_id and slot[1] not in named:
            yield _retraction(slot, "SUPERSEDED", _by(verified), verified)
    for key, each in named.items():
        yield BlindSpot(
            key=key,
            text=each.blind_spot,
            thesis_id=verified.thesis_id,
            attestation=verified.attestation_id,
            issued_at=attestation.issued_at,
            boundary=each.boundary,
            risk=each.risk,
            bound=each.bound,
            detector=each.detector,
            thesis=sentence(verified.text),
        )


def _lapsed(newest: dict[Slot, AnyEntry], now: datetime, but: str) -> Iterator[AnyEntry]:
    """For each ASSERT that has expired a RETRACT, and the thesis is open again."""
    for entry in newest.values():
        if not isinstance(entry, Assert) or entry.key == but or not has_expired(entry.expires_at, now):
            continue
        yield _expiry(entry)
        standing = newest.get(("HYPOTHESIZE", entry.key))
        if standing is None or isinstance(standing, Retract):
            yield Hypothesize(
                key=entry.key,
                text=entry.text,
                thesis_id=entry.thesis_id,
                attestation=entry.attestation,
                issued_at=entry.issued_at,
                tests=(f"Verify the thesis again: its attestation expired at {entry.expires_at}.",),
                budget=SAME_BUDGET,
                promotion=PROMOTION,
                request=entry.request,
            )


def _expiry(entry: Assert) -> Retract:
    return Retract(
        key=entry.key,
        of="ASSERT",
        cause="EXPIRED",
        text=f"Its attestation expired at {entry.expires_at}.",
        thesis_id=entry.thesis_id,
        attestation=entry.attestation,
        issued_at=entry.issued_at,
    )


def _take(
    newest: dict[Slot, AnyEntry], slot: Slot, cause: Cause, why: str, verified: Verified
) -> Iterator[Retract]:
    """A RETRACT for what is in the slot, none for an empty one."""
    standing = newest.get(slot)
    if standing is not None and not isinstance(standing, Retract):
        yield _retraction(slot, cause, why, verified)


def _retraction(slot: Slot, cause: Cause, why: str, verified: Verified) -> Retract:
    return Retract(
        key=slot[1],
        of=slot[0],
        cause=cause,
        text=bounded(why, TEXT_LIMIT),
        thesis_id=verified.thesis_id,
        attestation=verified.attestation_id,
        issued_at=verified.attestation.issued_at,
    )


def _by(verified: Verified) -> str:
    attestation = verified.attestation
    reason = f" ({attestation.reason})" if attestation.reason else ""
    about = sentence(verified.text, NAME_LIMIT)
    return f"A later attestation says {attestation.result}{reason} of: {about}"
