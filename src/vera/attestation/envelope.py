"""The envelope: an attestation as an in-toto Statement (v1), signed in a DSSE envelope (`dsse`).

The payload is canonical JSON (RFC 8785), too: an attestation has exactly one envelope for a key.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import msgspec

from vera.attestation import dsse, keys
from vera.attestation.dsse import EnvelopeError
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
from vera.decode_errors import DECODE_ERRORS

if TYPE_CHECKING:
    from vera.attestation.build import Built

STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "https://github.com/vera-agent/vera/attestation/v1"


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
    return dsse.sign(payload, signer)


def open_envelope(data: bytes) -> Opened:
    """What an envelope file holds, its signature verified before its payload is read.

    Raises EnvelopeError for one that is not written as `seal_envelope` writes it, byte for byte, or whose
    signature does not hold. Whether the signer can be trusted is not asked here.
    """
    signed = dsse.open_signed(data)
    return Opened(
        payload=signed.payload,
        statement=_statement(signed.payload),
        keyid=signed.keyid,
        public=signed.public,
    )


def _statement(payload: bytes) -> Statement:
    try:
        statement = msgspec.json.decode(payload, type=Statement)
        written = canonical(statement)
    except (ObjectError, *DECODE_ERRORS) as error:
        raise EnvelopeError(f"The payload is no statement of VERA: {error}.") from None
    if statement.type != STATEMENT_TYPE or statement.predicate_type != PREDICATE_TYPE:
        raise EnvelopeError(f"The payload is no {STATEMENT_TYPE} with predicate {PREDICATE_TYPE}.")
    if written != payload:
        raise EnvelopeError("The payload of the envelope is not in canonical form (RFC 8785).")
    return statement
