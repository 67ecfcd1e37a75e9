"""A payload with one signature: an envelope of DSSE 1.0, Ed25519.

An envelope file is canonical JSON (RFC 8785) and a newline: there is exactly one way to write it, and every
other one is refused. DSSE lets a signature carry further members, so the signer's public key is beside its
key id; programs that know only DSSE ignore it.
"""

import base64
import binascii
import hashlib

import msgspec

from vera.attestation import keys
from vera.attestation.objects import canonical
from vera.decode_errors import DECODE_ERRORS
from vera.session.pae import pae

PAYLOAD_TYPE = "application/vnd.in-toto+json"

MAX_BYTES = 64 << 20
"""A larger file is no envelope of ours."""


class EnvelopeError(ValueError):
    """An envelope that cannot be relied on: a sentence that says why."""


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


class Signed(msgspec.Struct, frozen=True, kw_only=True):
    """The payload of an envelope whose signature holds, and who signed it."""

    payload: bytes
    keyid: str
    public: bytes


def sign(payload: bytes, signer: keys.Signer) -> bytes:
    """The envelope file of an in-toto statement in canonical form."""
    return as_file(payload, signer.keyid, signer.public, signer.sign(pae(PAYLOAD_TYPE, payload)))


def open_signed(data: bytes) -> Signed:
    """What an envelope file holds. Its signature is verified, its payload is not read.

    Raises EnvelopeError for one that is not written as `sign` writes it, byte for byte, or whose signature
    does not hold. Whether the signer can be trusted is not asked here.
    """
    if len(data) > MAX_BYTES:
        raise EnvelopeError(f"The envelope is larger than {MAX_BYTES >> 20} MB.")
    try:
        outer = msgspec.json.decode(data, type=DsseEnvelope)
    except DECODE_ERRORS as error:
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
    if as_file(payload, signature.keyid, public, signed) != data:
        raise EnvelopeError("The envelope is not in canonical form (RFC 8785): it was written again.")
    if hashlib.sha256(public).hexdigest() != signature.keyid:
        raise EnvelopeError("The public key in the envelope is not that of its key id.")
    if not keys.verify(public, signed, pae(PAYLOAD_TYPE, payload)):
        raise EnvelopeError(
            "The signature of the envelope does not hold: it was altered after it was signed."
        )
    return Signed(payload=payload, keyid=signature.keyid, public=public)


def as_file(payload: bytes, keyid: str, public: bytes, signed: bytes) -> bytes:
    """The bytes of an envelope with this payload, key and signature."""
    envelope = DsseEnvelope(
        payload=base64.b64encode(payload).decode(),
        payload_type=PAYLOAD_TYPE,
        signatures=(DsseSignature(keyid=keyid, public=public.hex(), sig=base64.b64encode(signed).decode()),),
    )
    return canonical(envelope) + b"\n"
