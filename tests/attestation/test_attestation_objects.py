"""Objects: an id is the hash of canonical bytes, and only canonical bytes are an object."""

import hashlib
import json

import msgspec
import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from support.rounds import policy
from vera.attestation.objects import (
    Attestation,
    Card,
    Cluster,
    Confidence,
    Hyperthesis,
    ObjectError,
    Policy,
    Scores,
    Source,
    SpanSelector,
    SubClaim,
    Thesis,
    bounded,
    canonical,
    digest,
    object_id,
    parse,
)

A, B, C = ("sha256:" + letter * 64 for letter in "abc")
BLIND = Hyperthesis(blind_spot="No model read it.", boundary="semantics", risk="r", bound="b", detector="d")


def card(**changed: object) -> Card:
    members: dict[str, object] = {
        "thesis": A,
        "source": B,
        "evidence": "ev_0001",
        "span": SpanSelector(start=6, end=29, first=2, last=2, sha256=C),
        "claim": "c1",
        "relation": "SUPPORTS",
        "confidence": Confidence(method="rule"),
        "maker": "literal/1",
        **changed,
    }
    return Card(**members)  # type: ignore[arg-type] # tests give members of wrong types too


def attestation(**changed: object) -> Attestation:
    members: dict[str, object] = {
        **dict.fromkeys(["thesis", "policy", "findings", "coverage", "evidence_set"], A),
        "cards": (B, C),
        "result": "SUPPORTED",
        "reason": "",
        "claims": (),
        "scores": Scores(),
        "hyperthesis": (BLIND,),
        "verifier": "vera 0.1.0, literal",
        "issued_at": "2026-11-22T01:30:00Z",
        "log": (17, "d" * 64),
        **changed,
    }
    return Attestation(**members)  # type: ignore[arg-type] # as above


def altered(value: Card | Attestation | Policy, **members: object) -> bytes:
    """The canonical bytes of the object with some members set to something else."""
    changed = {**json.loads(canonical(value)), **members}
    return rfc8785.dumps(changed)


def test_an_id_is_the_sha256_of_the_canonical_bytes() -> None:
    data = canonical(card())
    assert data == rfc8785.dumps(json.loads(data))
    assert object_id(card()) == digest(data) == "sha256:" + hashlib.sha256(data).hexdigest()


def test_the_bytes_name_the_kind_and_the_version_of_its_form() -> None:
    assert json.loads(canonical(card()))["kind"] == "card/v1"
    assert json.loads(canonical(attestation()))["kind"] == "attestation/v1"


@pytest.mark.parametrize("value", [card(), card(notes="é\u2028\x07"), card(claim="c2")])
def test_what_is_written_is_read_again(value: Card) -> None:
    assert parse(canonical(value), Card) == value


def test_a_policy_spells_out_every_value() -> None:
    assert set(json.loads(canonical(policy()))) == {"kind", *Policy.__struct_fields__}
    assert parse(canonical(policy()), Policy) == policy()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        canonical(card()) + b"\n",
        b" " + canonical(card()),
        canonical(card()).replace(b'"claim":"c1"', b'"claim":"c1","claim":"c1"'),
        canonical(card()).replace(b'"claim":"c1"', b'"claim":"\\u00631"'),
        canonical(card()).replace(b'"start":6', b'"start":6.0'),
        canonical(card()).replace(b'"kind":"card/v1",', b""),
        canonical(card()).replace(b"card/v1", b"card/v2"),
        canonical(attestation()),
        b"[" * 100_000,
        altered(card(), notes=""),
        altered(card(), more=1),
        altered(card(), relation="PROVES"),
        altered(card(), thesis="sha256:" + "A" * 64),
        altered(card(), thesis="a" * 64),
        altered(card(), thesis=A + "\n"),
        altered(card(), notes="x" * 281),
        altered(card(), span={"start": -1, "end": 2, "first": 1, "last": 1, "sha256": C}),
    ],
)
def test_bytes_that_are_not_the_canonical_form_of_a_card_are_refused(data: bytes) -> None:
    with pytest.raises(ObjectError):
        parse(data, Card)


@pytest.mark.parametrize(
    "members",
    [
        {"hyperthesis": []},
        {"cards": [C, B]},
        {"cards": [B, B]},
        {"cards": ["x"]},
        {"issued_at": "yesterday"},
        {"issued_at": "2026-11-22T01:30:00+01:00"},
        {"expires_at": "2026-11-22T01:30:00Z\n"},
        {"request": "sha256:1"},
        {"log": [17, "d"]},
        {"log": [17]},
        {"scores": {"before": 401}},
        {"round": 0},
    ],
)
def test_an_attestation_that_breaks_its_form_is_refused(members: dict[str, object]) -> None:
    assert parse(canonical(attestation()), Attestation) == attestation()
    with pytest.raises(ObjectError):
        parse(altered(attestation(), **members), Attestation)


def test_a_policy_with_an_unknown_or_a_missing_value_is_refused() -> None:
    inner = json.loads(canonical(policy()))["audit_policy"]
    less = {name: value for name, value in inner.items() if name != "web_sources"}
    for audit_policy in ({**inner, "more": 1}, less):
        with pytest.raises(ObjectError):
            parse(altered(policy(), audit_policy=audit_policy), Policy)


def test_sets_are_kept_sorted_and_each_element_once() -> None:
    assert attestation(cards=(C, B, C)) == attestation(cards=(B, C))
    assert Cluster(key="a.org", sources=(B, A, B), cards=()).sources == (A, B)
    assert policy(scope=("web", "files")).scope == ("files", "web")


def test_a_value_that_json_cannot_hold_has_no_id() -> None:
    source = Source(name="a \ud800 name", tier="captured", canonical=A)
    with pytest.raises(ObjectError):
        object_id(source)


@given(st.text(st.characters(codec=None), max_size=300), st.integers(100, 300))
def test_a_bounded_text_fits_and_has_an_id(text: str, limit: int) -> None:
    fitting = bounded(text, limit)
    assert len(fitting) <= limit
    thesis = Thesis(text=fitting, sub_claims=(SubClaim(key="c1", text=fitting),))
    assert parse(canonical(thesis), Thesis) == thesis


def test_different_long_texts_stay_different_when_cut() -> None:
    assert bounded("x" * 500 + "a", 200) != bounded("x" * 500 + "b", 200)
    assert bounded("x" * 200, 200) == "x" * 200


def test_objects_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        card().claim = "c2"  # type: ignore[misc] # what must fail
    assert hash(card()) == hash(msgspec.structs.replace(card()))
