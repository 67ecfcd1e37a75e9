"""From a signed attestation to the AHDB: the one way into ASSERT, and what the director does by itself.

A forged envelope, one of another thesis or request, one that a later attestation has superseded, and one
that has expired change nothing that is asserted: each is refused with a sentence.
"""

from collections.abc import Collection, Iterable
from datetime import datetime, timedelta

import msgspec

from vera.attestation.ahdb.director import compile_entries, decides, outranking
from vera.attestation.ahdb.entries import AnyEntry, Assert, Hypothesize, Retract
from vera.attestation.ahdb.journal import Appended, Journal
from vera.attestation.ahdb.policy import Inspected, Verified, unmet
from vera.attestation.ahdb.proof import (
    Refused,
    asserts,
    issued,
    keep_proof,
    open_verified,
    reader,
    refuse_superseded,
)
from vera.attestation.ahdb.view import fold, has_expired
from vera.attestation.keys import Signer
from vera.attestation.objects import Digest, digest, hexadecimal
from vera.store import Store, StoreError

CLOCK_SKEW = timedelta(minutes=5)
"""How far two clocks may differ. An attestation from further ahead would outrank all that come after it."""


def assert_from(
    envelope: bytes,
    store: Store,
    journal: Journal,
    *,
    thesis_id: Digest,
    request: Digest,
    signer: Signer,
    trust: Collection[str] = (),
    now: datetime,
) -> Assert:
    """Assert the thesis that the attestation in an envelope supports, and return the entry.

    `store` holds what the attestation names; `thesis_id` and `request` are what was asked; `signer` signs the
    journal's head, and its key, with those of `trust`, may have signed. The standing entry is given for an
    attestation that is asserted already, and for one below the tier at which its thesis stands. Raises
    Refused unless the attestation is SUPPORTED, of this thesis and request, unexpired, the newest of its
    thesis, signed by a trusted key, and its evidence set is admissible; JournalError.
    """
    keys = {signer.keyid, *trust}
    inspected = _inspect(envelope, store, thesis_id=thesis_id, request=request, trust=keys, now=now)
    attestation = inspected.verified.attestation
    if attestation.result != "SUPPORTED":
        why = f" ({attestation.reason})" if attestation.reason else ""
        raise Refused(f"It says {attestation.result}{why}; only SUPPORTED is asserted.")
    if broken := unmet(inspected):
        raise Refused(" ".join(rule.sentence for rule in broken))
    found = _append(envelope, store, journal, inspected, signer, trust).entries[-1]
    if not isinstance(found, Assert):
        raise Refused("What it asserted was retracted. Verify the thesis again.")
    return found


def record(
    envelope: bytes,
    store: Store,
    journal: Journal,
    *,
    thesis_id: Digest,
    request: Digest,
    signer: Signer,
    trust: Collection[str] = (),
    now: datetime,
) -> Appended:
    """Write what a verification changes, whatever its result (`director.compile_entries`).

    The last of the entries is the decision: ASSERT, HYPOTHESIZE, or the RETRACT of a refuted thesis. A
    verification that was recorded before gives its decision again and writes nothing. Arguments and errors
    are those of `assert_from`, except that any result is recorded, and an evidence set that is not
    admissible makes a HYPOTHESIZE.
    """
    keys = {signer.keyid, *trust}
    inspected = _inspect(envelope, store, thesis_id=thesis_id, request=request, trust=keys, now=now)
    return _append(envelope, store, journal, inspected, signer, trust)


def _inspect(
    envelope: bytes,
    store: Store,
    *,
    thesis_id: Digest,
    request: Digest,
    trust: Collection[str],
    now: datetime,
) -> Inspected:
    verified = open_verified(envelope, reader(store), trust=trust, thesis_id=thesis_id, request=request)
    issued_at = verified.attestation.issued_at
    if issued(verified) > now + CLOCK_SKEW:
        raise Refused(f"It says that it was issued at {issued_at}, which is yet to come.")
    texts, missing = _texts(verified, store)
    moved = {
        name
        for name, card in verified.deciding()
        if (text := texts.get(verified.sources[card.source].canonical)) is not None
        and card.span.sha256 != digest(text[card.span.start : card.span.end])
    }
    return Inspected(verified=verified, missing=missing, moved=moved, now=now)


def _append(
    envelope: bytes,
    store: Store,
    journal: Journal,
    inspected: Inspected,
    signer: Signer,
    trust: Collection[str],
) -> Appended:
    verified = inspected.verified
    known: list[AnyEntry] = []

    def compiled(entries: tuple[AnyEntry, ...]) -> tuple[AnyEntry, ...]:
        if (decision := _decided_before(entries, inspected)) is not None:
            known.append(decision)
            return ()
        refuse_superseded(entries, verified)
        made = compile_entries(inspected, entries)
        if isinstance(made[-1], Assert):
            keep_proof(envelope, verified, reader(store), journal.proofs)
        return made

    appended = journal.append(compiled, inspected.now, signer, trust)
    return msgspec.structs.replace(appended, entries=tuple(known)) if known else appended


def _decided_before(entries: Iterable[AnyEntry], inspected: Inspected) -> AnyEntry | None:
    """The standing decision that was compiled from this very attestation, or the ASSERT of a higher tier that
    it agrees with; None when there is none.

    A hypothesis no longer counts when the evidence set has become admissible since.
    """
    verified = inspected.verified
    newest = fold(entries)
    asserted = newest.get(("ASSERT", verified.thesis_id))
    standing = isinstance(asserted, Assert) and asserts(asserted, verified)
    if asserted is not None and standing and not has_expired(asserted.expires_at, inspected.now):
        return asserted
    above = outranking(newest, inspected)
    admissible = decides(verified) and not unmet(inspected)
    if admissible and verified.attestation.result == "SUPPORTED" and above is not None:
        return above
    refuted = isinstance(asserted, Retract) and asserted.cause == "REFUTED"
    if asserted is not None and refuted and asserted.attestation == verified.attestation_id:
        return asserted
    open_ = newest.get(("HYPOTHESIZE", verified.thesis_id))
    if not isinstance(open_, Hypothesize) or open_.attestation != verified.attestation_id:
        return None
    changed = admissible and above is None and verified.attestation.result != "DISPUTED"
    return None if changed else open_


def _texts(verified: Verified, store: Store) -> tuple[dict[Digest, bytes], set[Digest]]:
    """The texts of the cited sources by id, and the digests of bytes that the store has not whole."""
    texts: dict[Digest, bytes] = {}
    missing: set[Digest] = set()
    sources = {card.source for _, card in verified.deciding()}
    named = set(verified.attestation.receipts)
    for source in (verified.sources[each] for each in sources):
        named |= {source.canonical, source.raw or source.canonical, source.retrieval or source.canonical}
    for name in sorted(named):
        try:
            texts[name] = store.get(hexadecimal(name))
        except (StoreError, OSError):
            missing.add(name)
    return texts, missing
