"""The envelope: in-toto in DSSE, one spelling only, read by others' tools too."""

import base64
import hashlib
import json
from collections.abc import Callable
from typing import Any

import pytest
import rfc8785
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer import CryptoSigner, SSlibKey

from support.verified import ANSWER, PAGE, RIVERS, answer, begin, gathered, open_session
from vera.attestation.build import Built, build
from vera.attestation.dsse import PAYLOAD_TYPE, EnvelopeError
from vera.attestation.envelope import (
    PREDICATE_TYPE,
    STATEMENT_TYPE,
    open_envelope,
    seal_envelope,
)
from vera.attestation.keys import Signer
from vera.attestation.objects import canonical
from vera.extraction.canonical import extract

PRIVATE = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
SIGNER = Signer(PRIVATE)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    session = open_session(tmp_path_factory.mktemp("session"))
    begin(session, 1, answer(session))
    made = build(gathered(session, 1))
    session.close()
    return made


@pytest.fixture(scope="module")
def envelope(built: Built) -> bytes:
    return seal_envelope(built, SIGNER)


def digest(data: bytes) -> dict[str, str]:
    return {"sha256": hashlib.sha256(data).hexdigest()}


def signed(payload: bytes, **members: str) -> bytes:
    """A canonical envelope of any payload, signed rightly."""
    kind = members.pop("payloadType", PAYLOAD_TYPE)
    message = b"DSSEv1 %d %b %d %b" % (len(kind), kind.encode(), len(payload), payload)
    signature = {
        "keyid": SIGNER.keyid,
        "public": SIGNER.public.hex(),
        "sig": base64.b64encode(SIGNER.sign(message)).decode(),
        **members,
    }
    outer = {"payload": base64.b64encode(payload).decode(), "payloadType": kind, "signatures": [signature]}
    return rfc8785.dumps(outer) + b"\n"


def test_what_was_sealed_is_opened(built: Built, envelope: bytes) -> None:
    opened = open_envelope(envelope)
    assert opened.attestation == built.attestation
    assert (opened.keyid, opened.public) == (SIGNER.keyid, SIGNER.public)
    assert signed(opened.payload) == envelope


def test_the_payload_is_an_in_toto_statement_about_answer_and_sources(envelope: bytes) -> None:
    statement = json.loads(open_envelope(envelope).payload)
    assert statement["_type"] == STATEMENT_TYPE == "https://in-toto.io/Statement/v1"
    assert statement["predicateType"] == PREDICATE_TYPE
    assert statement["predicate"]["attestation"]["kind"] == "attestation/v1"
    assert statement["subject"] == [
        {"name": "answer", "digest": digest(ANSWER.encode())},
        {"name": "rivers.txt", "digest": digest(RIVERS)},
        {"name": "sources.html", "digest": digest(PAGE)},
        {"name": "sources.html (text)", "digest": digest(extract(PAGE, "sources.html").text)},
    ]


def test_the_same_attestation_gives_the_same_envelope(built: Built, envelope: bytes) -> None:
    assert seal_envelope(built, SIGNER) == envelope
    assert envelope.endswith(b"}\n")
    assert rfc8785.dumps(json.loads(envelope)) + b"\n" == envelope


def key_of(signer: Signer) -> SSlibKey:
    return SSlibKey(signer.keyid, "ed25519", "ed25519", {"public": signer.public.hex()})


def test_securesystemslib_verifies_ours(envelope: bytes) -> None:
    theirs = Envelope.from_dict(json.loads(envelope))
    assert theirs.verify([key_of(SIGNER)], 1).keys() == {SIGNER.keyid}
    assert theirs.to_dict() == json.loads(envelope)
    other = Signer(Ed25519PrivateKey.generate())
    impostor = SSlibKey(SIGNER.keyid, "ed25519", "ed25519", {"public": other.public.hex()})
    with pytest.raises(VerificationError):
        theirs.verify([impostor], 1)


def test_we_verify_what_securesystemslib_signed(envelope: bytes) -> None:
    payload = open_envelope(envelope).payload
    theirs = Envelope(payload, PAYLOAD_TYPE, {})
    theirs.sign(CryptoSigner(PRIVATE, key_of(SIGNER)))
    outer = theirs.to_dict()
    outer["signatures"][0]["public"] = SIGNER.public.hex()
    assert rfc8785.dumps(outer) + b"\n" == envelope
    assert open_envelope(rfc8785.dumps(outer) + b"\n").payload == payload


def respelled(change: Callable[[dict[str, Any]], None]) -> Callable[[bytes], bytes]:
    def apply(data: bytes) -> bytes:
        outer = json.loads(data)
        change(outer)
        return rfc8785.dumps(outer) + b"\n"

    return apply


def base64_with_other_trailing_bits(data: bytes) -> bytes:
    """The last character before the padding carries bits that decode to nothing."""
    outer = json.loads(data)
    text = outer["signatures"][0]["sig"]
    assert text.endswith("==")
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    other = text[:-3] + alphabet[alphabet.index(text[-3]) ^ 1] + "=="
    assert base64.b64decode(other) == base64.b64decode(text)
    outer["signatures"][0]["sig"] = other
    return rfc8785.dumps(outer) + b"\n"


OTHERWISE: dict[str, Callable[[bytes], bytes]] = {
    "no newline": lambda data: data[:-1],
    "a second newline": lambda data: data + b"\n",
    "a space": lambda data: data.replace(b'":', b'": ', 1),
    "an escape": lambda data: data.replace(b"payloadType", b"\\u0070ayloadType"),
    "another order of members": lambda data: (
        json.dumps(dict(reversed(json.loads(data).items())), separators=(",", ":")).encode() + b"\n"
    ),
    "a member twice": lambda data: data.replace(b'{"payload":', b'{"payload":"","payload":', 1),
    "a byte order mark": lambda data: b"\xef\xbb\xbf" + data,
    "other trailing bits": base64_with_other_trailing_bits,
    "an unknown member": respelled(lambda outer: outer.update(note="")),
    "no signature": respelled(lambda outer: outer.update(signatures=[])),
    "two signatures": respelled(lambda outer: outer.update(signatures=outer["signatures"] * 2)),
    "another type": respelled(lambda outer: outer.update(payloadType="text/plain")),
    "a cut payload": respelled(lambda outer: outer.update(payload=outer["payload"][:-4])),
    "base64 of URLs": respelled(lambda outer: outer.update(payload="-_" + outer["payload"])),
    "another key id": respelled(lambda outer: outer["signatures"][0].update(keyid="0" * 64)),
    "upper-case hexadecimal": respelled(
        lambda outer: outer["signatures"][0].update(public=outer["signatures"][0]["public"].upper())
    ),
    "no public key": respelled(lambda outer: outer["signatures"][0].pop("public")),
    "no JSON": lambda data: b"\x00",
    "nothing": lambda data: b"",
    "a list": lambda data: b"[]\n",
}


@pytest.mark.parametrize("what", OTHERWISE)
def test_an_envelope_that_is_spelled_otherwise_is_refused(what: str, envelope: bytes) -> None:
    changed = OTHERWISE[what](envelope)
    assert changed != envelope
    with pytest.raises(EnvelopeError):
        open_envelope(changed)


def test_a_key_of_another_under_its_own_id_did_not_sign_it(envelope: bytes) -> None:
    other = Signer(Ed25519PrivateKey.generate())
    outer = json.loads(envelope)
    outer["signatures"][0].update(keyid=other.keyid, public=other.public.hex())
    with pytest.raises(EnvelopeError, match="signature of the envelope does not hold"):
        open_envelope(rfc8785.dumps(outer) + b"\n")


PAYLOADS: dict[str, Callable[[dict[str, Any]], bytes]] = {
    "with a space": lambda statement: canonical(statement) + b" ",
    "not canonical": lambda statement: json.dumps(statement).encode(),
    "of another predicate": lambda statement: canonical({**statement, "predicateType": "https://x"}),
    "of another statement": lambda statement: canonical({**statement, "_type": "https://x"}),
    "with an unknown member": lambda statement: canonical({**statement, "note": ""}),
    "without a predicate": lambda statement: canonical({**statement, "predicate": {}}),
    "that is no JSON": lambda statement: b"\xff",
}


@pytest.mark.parametrize("what", PAYLOADS)
def test_a_rightly_signed_payload_is_refused(what: str, envelope: bytes) -> None:
    statement = json.loads(open_envelope(envelope).payload)
    assert open_envelope(signed(canonical(statement)))
    with pytest.raises(EnvelopeError):
        open_envelope(signed(PAYLOADS[what](statement)))


@given(st.data())
def test_any_changed_byte_is_refused(envelope: bytes, data: st.DataObject) -> None:
    position = data.draw(st.integers(0, len(envelope) - 1))
    value = data.draw(st.integers(0, 255).filter(lambda byte: byte != envelope[position]))
    with pytest.raises(EnvelopeError):
        open_envelope(envelope[:position] + bytes([value]) + envelope[position + 1 :])


@given(st.binary(max_size=300))
def test_any_other_bytes_are_refused_in_a_sentence(data: bytes) -> None:
    with pytest.raises(EnvelopeError):
        open_envelope(data)
