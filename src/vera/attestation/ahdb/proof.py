"""What an ASSERT rests on, opened and held against itself: before it is appended, and whenever it is shown.

Nothing in an envelope is believed for being said: the signature must be that of a trusted key, every id that
of the bytes, the result that of the objects, and the request one about the thesis that is asked for.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime

import msgspec

from vera.attestation import reduce
from vera.attestation.ahdb.director import assertion
from vera.attestation.ahdb.entries import AnyEntry, Assert, moment, slot_of
from vera.attestation.ahdb.policy import Verified
from vera.attestation.dsse import EnvelopeError
from vera.attestation.envelope import Opened, objects_of, open_envelope, payload_of
from vera.attestation.objects import (
    AnyObject,
    Attestation,
    Card,
    Coverage,
    Digest,
    Findings,
    Kind,
    Lens,
    ObjectError,
    OptionalDigest,
    Policy,
    Source,
    Thesis,
    VerifyRequest,
    canonical,
    digest,
    hexadecimal,
    object_id,
    parse,
)
from vera.attestation.proposition import RequestError, thesis_id
from vera.attestation.strength import strength
from vera.store import Store, StoreError

Read = Callable[[Digest], bytes]
"""The bytes of an id. Raises StoreError or OSError."""


class Refused(ValueError):
    """An attestation that may change nothing in the AHDB: a sentence that says why."""


def reader(store: Store) -> Read:
    """The blobs of a store by the ids of objects."""
    return lambda name: store.get(hexadecimal(name))


def open_verified(
    envelope: bytes, read: Read, *, trust: Collection[str], thesis_id: Digest, request: Digest
) -> Verified:
    """The attestation in an envelope with all that it names, which `read` gives.

    `trust` holds the key ids that may have signed; none of them: no one may. `thesis_id` and `request` are
    what was asked. Raises Refused.
    """
    try:
        opened = open_envelope(envelope)
        if opened.keyid not in trust:
            raise Refused(f"It is signed by key {opened.keyid}, which is not trusted (--trust KEYID).")
        _check_request(opened.attestation.request, request)
        asked = parse(read(request), VerifyRequest)
        if asked.thesis != thesis_id:
            raise Refused("It is an attestation of another thesis.")
        return _verified(envelope, opened, objects_of(opened.attestation, read))
    except (EnvelopeError, StoreError) as error:
        raise Refused(str(error)) from None
    except ObjectError as error:
        raise Refused(f"It names {error}.") from None
    except OSError as error:
        raise Refused(f"What it names cannot be read: {error.strerror or error}.") from None


def proved(entry: Assert, proofs: Store, trust: Collection[str]) -> Verified:
    """What proves an ASSERT, from the proofs that lie beside the journal.

    Raises Refused when they do not give this very entry.
    """
    try:
        envelope = proofs.get(hexadecimal(entry.envelope))
    except (StoreError, OSError):
        raise Refused("Its envelope is not among the proofs of the journal.") from None
    verified = open_verified(
        envelope, reader(proofs), trust=trust, thesis_id=entry.thesis_id, request=entry.request
    )
    if verified.attestation.result != "SUPPORTED":
        raise Refused(f"Its attestation says {verified.attestation.result}.")
    if not asserts(entry, verified):
        raise Refused("It does not say what its attestation says.")
    return verified


def asserts(entry: Assert, verified: Verified) -> bool:
    """Whether an ASSERT says what this verification proves, wherever in a journal it stands.

    One without a tier or a strength is of an older VERA, and so must be the rules of its attestation.
    """
    place = {"seq": entry.seq, "ts": entry.ts, "prev": entry.prev, "admitted_by": entry.admitted_by}
    newer = () if verified.recomputed else ("risk", "strength")
    older = {name: "" for name in newer if not getattr(entry, name)}
    return msgspec.structs.replace(assertion(verified), **place, **older) == entry


def refuse_superseded(before: Iterable[AnyEntry], verified: Verified) -> None:
    """Raise Refused for an attestation that a later one of its thesis has replaced, or that was retracted,
    in the entries of a journal `before` its place."""
    issued_at, asserted = issued(verified), False
    for entry in before:
        if entry.thesis_id != verified.thesis_id:
            continue
        if entry.issued_at and moment(entry.issued_at) > issued_at:
            raise Refused(f"A later attestation of this thesis was recorded (entry {entry.seq}).")
        if isinstance(entry, Assert) and entry.attestation == verified.attestation_id:
            asserted = True
        elif asserted and slot_of(entry) == ("ASSERT", verified.thesis_id):
            raise Refused(f"What it asserted was retracted (entry {entry.seq}). Verify the thesis again.")


def issued(verified: Verified) -> datetime:
    """When the attestation was issued. Raises Refused for a time that is in no calendar."""
    try:
        return moment(verified.attestation.issued_at)
    except ValueError:
        raise Refused(f"{verified.attestation.issued_at} is no time.") from None


def keep_proof(envelope: bytes, verified: Verified, read: Read, proofs: Store) -> None:
    """Keep the envelope and every object that it names. Raises StoreError, OSError."""
    for name in sorted(objects_of(verified.attestation, read)):
        proofs.put(read(name))
    proofs.put(envelope)


def _check_request(answered: OptionalDigest, asked: Digest) -> None:
    if not answered:
        raise Refused("It answers no VERIFY_REQUEST, so it attests an answer and no thesis.")
    if answered != asked:
        raise Refused("It answers another VERIFY_REQUEST than the one that was made.")


def _verified(envelope: bytes, opened: Opened, objects: Mapping[Digest, AnyObject]) -> Verified:
    attestation = opened.attestation
    asked = _object(objects, attestation.request, VerifyRequest)
    thesis = _object(objects, attestation.thesis, Thesis)
    cards = _of_kind(objects, Card)
    if payload_of(attestation, objects) != opened.payload:
        raise Refused("The subjects of the statement are not those of its attestation.")
    if attestation.evidence_set != digest(canonical(sorted(cards))):
        raise Refused("Its evidence set is not that of its cards.")
    if any(card.thesis != attestation.thesis for card in cards.values()):
        raise Refused("It holds a card of another thesis.")
    if not _says(thesis.text, asked.thesis) or not _says(asked.text, asked.thesis):
        raise Refused("What was verified is not the thesis of the request.")
    return Verified(
        attestation=attestation,
        attestation_id=object_id(attestation),
        envelope=digest(envelope),
        keyid=opened.keyid,
        thesis_id=asked.thesis,
        text=asked.text,
        word=strength(attestation, _object(objects, attestation.policy, Policy)),
        scope=asked.scope,
        risk=asked.risk,
        thesis=thesis,
        findings=_object(objects, attestation.findings, Findings),
        coverage=_object(objects, attestation.coverage, Coverage),
        cards=cards,
        sources=_of_kind(objects, Source),
        recomputed=_recomputed(attestation, asked, thesis, objects),
    )


def _recomputed(
    attestation: Attestation, asked: VerifyRequest, thesis: Thesis, objects: Mapping[Digest, AnyObject]
) -> bool:
    """Whether the objects give the attested result. Raises Refused when they give another under the same
    version of the reduction; under another version it cannot be said."""
    policy = _object(objects, attestation.policy, Policy)
    if policy.reduce != reduce.VERSION:
        return False
    reduced = reduce.reduce(
        thesis=thesis,
        policy=policy,
        findings=_object(objects, attestation.findings, Findings),
        coverage=_object(objects, attestation.coverage, Coverage),
        cards=_of_kind(objects, Card),
        sources=_of_kind(objects, Source),
        request=asked,
        lens=_object(objects, asked.rubric, Lens),
    )
    attested = (attestation.result, attestation.reason, attestation.claims, attestation.scores)
    if attested != (reduced.result, reduced.reason, reduced.claims, reduced.scores):
        raise Refused(f"Its objects give {reduced.result}, and it says {attestation.result}.")
    return True


def _object(objects: Mapping[Digest, AnyObject], name: Digest, kind: type[Kind]) -> Kind:
    found = objects[name]
    assert isinstance(found, kind)
    return found


def _of_kind(objects: Mapping[Digest, AnyObject], kind: type[Kind]) -> dict[Digest, Kind]:
    return {name: each for name, each in objects.items() if isinstance(each, kind)}


def _says(text: str, wanted: Digest) -> bool:
    """Whether a text is this thesis, whatever way it is set."""
    try:
        return thesis_id(text) == wanted
    except RequestError:
        return False
