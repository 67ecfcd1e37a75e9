"""The envelope: an attestation as an in-toto Statement (v1), signed in a DSSE envelope.

An envelope file is canonical JSON (RFC 8785) and a newline, and holds one payload in canonical JSON: there is
exactly one way to write it, and every other one is refused. DSSE lets a signature carry further members,
so the signer's public key is beside its key id; programs that know only DSSE ignore it.
"""

import base64
import binascii
import hashlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import msgspec

from vera.attestation import keys
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
    Policy,
    Proposition,
    Source,
    Thesis,
    VerifyRequest,
    canonical,
    hexadecimal,
    parse,
)
from vera.session.pae import pae

if TYPE_CHECKING:
    from vera.attestation.build import Built

PAYLOAD_TYPE = "application/vnd.in-toto+json"
STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "https://github.com/vera-agent/vera/attestation/v1"

MAX_BYTES = 64 << 20
"""A larger file is no envelope of ours."""


class EnvelopeError(ValueError):
    """An envelope that cannot be relied on: a sentence that says why."""


class Digests(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The digest set of a subject: its sha256 in hexadecimal."""

    sha256: str


class Subject(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the statement is about: bytes, by a name for people and a digest for programs."""

    name: str
    digest: Digests


class Predicate(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is stated of the subjects."""

    attestation: Attestation


class Statement(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An in-toto Statement, v1."""

    type: str = msgspec.field(name="_type", default=STATEMENT_TYPE)
    subject: tuple[Subject, ...]
    predicate_type: str = msgspec.field(name="predicateType", default=PREDICATE_TYPE)
    predicate: Predicate


class DsseSignature(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`sig` in base64 as DSSE has it, `public` the raw key in hexadecimal."""

    keyid: str
    public: str
    sig: str


class DsseEnvelope(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """attestation.json: a DSSE envelope with one signature; `payload` is a statement in base64."""

    payload: str
    payload_type: str = msgspec.field(name="payloadType")
    signatures: tuple[DsseSignature, ...]


class Opened(msgspec.Struct, frozen=True, kw_only=True):
    """An envelope whose signature holds: its payload as bytes and as a statement, and who signed it."""

    payload: bytes
    statement: Statement
    keyid: str
    public: bytes

    @property
    def attestation(self) -> Attestation:
        return self.statement.predicate.attestation


def objects_of(attestation: Attestation, read: Callable[[Digest], bytes]) -> dict[Digest, AnyObject]:
    """Everything that an attestation names, by id: thesis, policy, findings, coverage, cards and sources; the
    request that it answers, with its proposition and its lens.

    `read` gives the bytes of an id. Raises ObjectError for bytes that are not the canonical form of the
    object that is named, and whatever `read` raises.
    """
    found: dict[Digest, AnyObject] = {}

    def take(name: Digest, kind: type[Kind]) -> Kind:
        value = parse(read(name), kind)
        found[name] = value
        return value

    take(attestation.thesis, Thesis)
    take(attestation.policy, Policy)
    take(attestation.findings, Findings)
    clusters = take(attestation.coverage, Coverage).clusters
    sources = {source for cluster in clusters for source in cluster.sources}
    sources |= {take(card, Card).source for card in attestation.cards}
    for source in sorted(sources):
        take(source, Source)
    if attestation.request:
        request = take(attestation.request, VerifyRequest)
        take(request.thesis, Proposition)
        take(request.rubric, Lens)
    return found


def payload_of(attestation: Attestation, objects: Mapping[Digest, AnyObject]) -> bytes:
    """The statement of an attestation, in canonical form, from its objects (`objects_of`).

    The subjects are the answer, and of each source its raw bytes and its text.
    """
    subjects = set[tuple[str, Digest]]()
    for each in objects.values():
        if isinstance(each, Thesis) and each.answer:
            subjects.add(("answer", each.answer))
        elif isinstance(each, Source):
            subjects.add((f"{each.name} (text)" if each.raw else each.name, each.canonical))
            if each.raw:
                subjects.add((each.name, each.raw))
    subject = tuple(Subject(name, Digests(hexadecimal(sha256))) for name, sha256 in sorted(subjects))
    return canonical(Statement(subject=subject, predicate=Predicate(attestation)))


def seal_envelope(built: "Built", signer: keys.Signer) -> bytes:
    """The envelope file of an attestation, signed."""
    payload = payload_of(built.attestation, objects_of(built.attestation, built.objects.__getitem__))
    return _as_file(payload, signer.keyid, signer.public, signer.sign(pae(PAYLOAD_TYPE, payload)))


def open_envelope(data: bytes) -> Opened:
    """What an envelope file holds, its signature verified before its payload is read.

    Raises EnvelopeError for one that is not written as `seal_envelope` writes it, byte for byte, or whose
    signature does not hold. Whether the signer can be trusted is not asked here.
    """
    if len(data) > MAX_BYTES:
        raise EnvelopeError(f"The envelope is larger than {MAX_BYTES >> 20} MB.")
    try:
        outer = msgspec.json.decode(data, type=DsseEnvelope)
    except (msgspec.MsgspecError, ValueError) as error:
        raise EnvelopeError(f"The envelope is no DSSE envelope of VERA: {error}.") from None
    if outer.payload_type != PAYLOAD_TYPE or len(outer.signatures) != 1:
        raise EnvelopeError(f"The envelope must hold one {PAYLOAD_TYPE} payload with one signature.")
    signature = outer.signatures[0]
    try:
        payload = base64.b64decode(outer.payload, validate=True)
        signed = base64.b64decode(signature.sig, validate=True)
        public = bytes.fromhex(signature.public)
    except (binascii.Error, ValueError) as error:
        raise EnvelopeError(f"The envelope is not encoded as it must be: {error}.") from None
    if _as_file(payload, signature.keyid, public, signed) != data:
        raise EnvelopeError("The envelope is not in canonical form (RFC 8785): it was written again.")
    if hashlib.sha256(public).hexdigest() != signature.keyid:
        raise EnvelopeError("The public key in the envelope is not that of its key id.")
    if not keys.verify(public, signed, pae(PAYLOAD_TYPE, payload)):
        raise EnvelopeError(
            "The signature of the envelope does not hold: it was altered after it was signed."
        )
    return Opened(payload=payload, statement=_statement(payload), keyid=signature.keyid, public=public)


def _statement(payload: bytes) -> Statement:
    try:
        statement = msgspec.json.decode(payload, type=Statement)
        written = canonical(statement)
    except (msgspec.MsgspecError, ObjectError, ValueError) as error:
        raise EnvelopeError(f"The payload is no statement of VERA: {error}.") from None
    if statement.type != STATEMENT_TYPE or statement.predicate_type != PREDICATE_TYPE:
        raise EnvelopeError(f"The payload is no {STATEMENT_TYPE} with predicate {PREDICATE_TYPE}.")
    if written != payload:
        raise EnvelopeError("The payload of the envelope is not in canonical form (RFC 8785).")
    return statement


def _as_file(payload: bytes, keyid: str, public: bytes, signed: bytes) -> bytes:
    envelope = DsseEnvelope(
        payload=base64.b64encode(payload).decode(),
        payload_type=PAYLOAD_TYPE,
        signatures=(DsseSignature(keyid=keyid, public=public.hex(), sig=base64.b64encode(signed).decode()),),
    )
    return canonical(envelope) + b"\n"
