"""The AHDB: the director's table, the one way into ASSERT, and everything that must not find it."""

import base64
import hashlib
import json
import shutil
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
import rfc8785

from support.theses import DISPUTED, NOW, SUPPORTED, THESIS, UNBACKED, Found, later, stamp, verified_thesis
from support.verified import RIVERS
from vera.attestation.ahdb import head as heads
from vera.attestation.ahdb.admission import assert_from, record
from vera.attestation.ahdb.director import LARGER_BUDGET, assertion, compile_entries
from vera.attestation.ahdb.entries import (
    AnyEntry,
    Assert,
    BlindSpot,
    Hypothesize,
    Retract,
    encode,
    key_of,
    register_of,
)
from vera.attestation.ahdb.journal import TORN, Journal, JournalError, hash_of, parse_lines
from vera.attestation.ahdb.policy import RULES, Inspected, Rule, unmet
from vera.attestation.ahdb.proof import Refused, open_verified, reader
from vera.attestation.ahdb.proposals import NothingThere, propose, retract
from vera.attestation.ahdb.resolve import Standing, standing
from vera.attestation.ahdb.view import view
from vera.attestation.keys import Signer, load_or_create
from vera.attestation.objects import ClaimResult, Findings, digest
from vera.attestation.proposition import thesis_id
from vera.evidence.finding import Finding
from vera.session.log import seal_line

CONTRADICTED = {"ev_0002:2": "CONTRADICTS"}


@pytest.fixture(scope="module")
def signer(tmp_path_factory: pytest.TempPathFactory) -> Signer:
    return load_or_create(tmp_path_factory.mktemp("keys") / "keys")


@pytest.fixture(scope="module")
def supported(tmp_path_factory: pytest.TempPathFactory, signer: Signer) -> Found:
    return verified_thesis(tmp_path_factory.mktemp("supported") / "session", signer)


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "base")


def note(found: Found, journal: Journal, signer: Signer, now: datetime = NOW) -> tuple[AnyEntry, ...]:
    return record(
        found.envelope,
        found.store,
        journal,
        **found.asked,
        signer=signer,
        now=now,
    ).entries


def asserted(found: Found, journal: Journal, signer: Signer, **changed: object) -> Assert:
    """`assert_from` of what was asked, some of it changed."""
    arguments: dict[str, Any] = {**found.asked, "signer": signer, "now": NOW, **changed}
    return assert_from(found.envelope, found.store, journal, **arguments)


def shown(journal: Journal, signer: Signer, now: datetime = NOW) -> Standing:
    return standing(journal, now, {signer.keyid})


def registers(found: Standing) -> list[str]:
    return [register_of(entry) for entry in found.entries]


# What the director writes.


def test_a_supported_attestation_is_asserted_with_everything_that_proves_it(
    supported: Found, journal: Journal, signer: Signer
) -> None:
    entry = asserted(supported, journal, signer)
    attestation = supported.attestation
    assert (entry.key, entry.thesis_id) == (thesis_id(THESIS), thesis_id(THESIS))
    assert entry.text.rstrip(".") == THESIS.rstrip(".")
    assert (entry.evidence_set, entry.cards) == (attestation.evidence_set, attestation.cards)
    assert (entry.request, entry.verifier) == (supported.request, attestation.verifier)
    assert entry.envelope == digest(supported.envelope)
    assert entry.scope == ("files",)
    assert entry.bounds[0] == "Looked at: files."
    blind_spots = ["HYPERTHESIS"] * len(attestation.hyperthesis)
    assert registers(shown(journal, signer)) == [*blind_spots, "ASSERT"]


def test_an_inconclusive_attestation_makes_a_hypothesis_with_a_test(
    tmp_path: Path, journal: Journal, signer: Signer
) -> None:
    *_, entry = note(verified_thesis(tmp_path / "s", signer, UNBACKED), journal, signer)
    assert isinstance(entry, Hypothesize)
    assert (entry.result, entry.reason) == ("INCONCLUSIVE", "NO_EVIDENCE")
    assert any(
        "Find a source that states, without a condition: The Elbe is 1094" in test for test in entry.tests
    )
    assert entry.budget
    assert "SUPPORTED" in entry.promotion


def test_a_disputed_attestation_asks_for_a_source_that_decides(
    tmp_path: Path, journal: Journal, signer: Signer
) -> None:
    *_, entry = note(verified_thesis(tmp_path / "s", signer, labels=DISPUTED), journal, signer)
    assert isinstance(entry, Hypothesize)
    assert entry.tests[0] == (
        "Find an independent source that decides between rivers.txt, lines 2-2 and sources.html, lines 2-2."
    )


def test_a_refuted_thesis_is_no_longer_asserted_and_that_is_recorded(
    tmp_path: Path, supported: Found, journal: Journal, signer: Signer
) -> None:
    asserted(supported, journal, signer)
    *_, entry = note(verified_thesis(tmp_path / "s", signer, UNBACKED, labels=CONTRADICTED), journal, signer)
    assert isinstance(entry, Retract)
    assert (entry.of, entry.cause, entry.key) == ("ASSERT", "REFUTED", thesis_id(THESIS))
    assert "UNSUPPORTED (REFUTED)" in entry.text
    found = shown(journal, signer)
    assert "ASSERT" not in registers(found)
    assert entry in found.retracted


def test_a_refuted_thesis_is_remembered_though_it_was_never_asserted(
    tmp_path: Path, journal: Journal, signer: Signer
) -> None:
    *_, entry = note(verified_thesis(tmp_path / "s", signer, UNBACKED, labels=CONTRADICTED), journal, signer)
    assert shown(journal, signer).retracted == (entry,)


def test_sources_that_disagree_take_the_assert_away(
    tmp_path: Path, supported: Found, journal: Journal, signer: Signer
) -> None:
    asserted(supported, journal, signer)
    entries = note(verified_thesis(tmp_path / "s", signer, labels=DISPUTED), journal, signer)
    retracted = [entry for entry in entries if isinstance(entry, Retract) and entry.of == "ASSERT"]
    assert [entry.cause for entry in retracted] == ["DISPUTED"]
    assert "ASSERT" not in registers(shown(journal, signer))


@pytest.mark.parametrize(("text", "labels"), [(UNBACKED, None), (UNBACKED, {}), (SUPPORTED, {})])
def test_row_94_a_look_up_that_decides_nothing_never_takes_an_assert_away(
    text: str,
    labels: dict[str, str] | None,
    tmp_path: Path,
    supported: Found,
    journal: Journal,
    signer: Signer,
) -> None:
    """The same request again, which finds nothing, or whose judge gives no label."""
    before = asserted(supported, journal, signer)
    spots = [entry for entry in shown(journal, signer).entries if isinstance(entry, BlindSpot)]
    again = verified_thesis(
        tmp_path / "s", signer, text, labels=labels, supersedes=before.attestation, issued_at=stamp(NOW)
    )
    assert again.attestation.result == "INCONCLUSIVE"
    assert again.request == before.request
    note(again, journal, signer)
    found = shown(journal, signer)
    assert before in found.entries
    assert [entry for entry in found.entries if isinstance(entry, BlindSpot)] == spots
    assert registers(found).count("HYPOTHESIZE") == 1


@pytest.mark.parametrize(
    ("first", "second", "replaced"),
    [("low", "high", True), ("med", "med", True), ("high", "low", False), ("high", "med", False)],
)
def test_row_100_an_assert_is_replaced_by_evidence_of_at_least_its_tier(
    first: str, second: str, replaced: bool, tmp_path: Path, journal: Journal, signer: Signer
) -> None:
    before = asserted(verified_thesis(tmp_path / "s", signer, risk=first), journal, signer)
    assert before.risk == first
    newer = verified_thesis(tmp_path / "t", signer, risk=second, issued_at=stamp(NOW))
    assert (asserted(newer, journal, signer) == before) is not replaced
    (entry,) = [entry for entry in shown(journal, signer).entries if isinstance(entry, Assert)]
    assert entry.risk == (second if replaced else first)


@pytest.mark.parametrize(
    ("risk", "text", "labels"), [("low", UNBACKED, CONTRADICTED), ("med", SUPPORTED, DISPUTED)]
)
def test_row_95_evidence_of_a_lower_tier_takes_no_assert_away_and_asks_for_more(
    risk: str, text: str, labels: dict[str, str], tmp_path: Path, journal: Journal, signer: Signer
) -> None:
    before = asserted(verified_thesis(tmp_path / "s", signer, risk="high"), journal, signer)
    below = verified_thesis(tmp_path / "t", signer, text, labels=labels, risk=risk, issued_at=stamp(NOW))
    for _ in range(2):
        *_, entry = note(below, journal, signer)
        assert isinstance(entry, Hypothesize)
        assert entry.tests[0].startswith(f"Verify the thesis at risk high, the tier of entry {before.seq}")
    assert before in shown(journal, signer).entries
    again = verified_thesis(tmp_path / "u", signer, text, labels=labels, risk="high", issued_at=stamp(NOW))
    note(again, journal, signer)
    assert "ASSERT" not in registers(shown(journal, signer))


def test_an_assert_that_has_expired_outranks_nothing(
    tmp_path: Path, journal: Journal, signer: Signer
) -> None:
    short = verified_thesis(tmp_path / "s", signer, risk="high", expires_at=stamp(later(days=1)))
    asserted(short, journal, signer)
    low = verified_thesis(tmp_path / "t", signer, risk="low", issued_at=stamp(NOW))
    entry = asserted(low, journal, signer, now=later(days=2))
    assert entry.risk == "low"


def test_an_expired_assert_is_retracted_by_a_look_up_that_decides_nothing(
    tmp_path: Path, journal: Journal, signer: Signer
) -> None:
    asserted(verified_thesis(tmp_path / "s", signer, expires_at=stamp(later(days=1))), journal, signer)
    nothing = verified_thesis(tmp_path / "t", signer, UNBACKED, issued_at=stamp(NOW))
    entries = note(nothing, journal, signer, later(days=2))
    assert [entry.cause for entry in entries if isinstance(entry, Retract) and entry.of == "ASSERT"] == [
        "EXPIRED"
    ]


def test_a_refutation_whose_bytes_are_gone_takes_no_assert_away(
    tmp_path: Path, supported: Found, journal: Journal, signer: Signer
) -> None:
    before = asserted(supported, journal, signer)
    found = verified_thesis(tmp_path / "s", signer, UNBACKED, labels=CONTRADICTED, issued_at=stamp(NOW))
    rivers(found).unlink()
    *_, entry = note(found, journal, signer)
    assert isinstance(entry, Hypothesize)
    assert entry.tests == ("Capture the cited sources again, so that their bytes are kept.",)
    assert before in shown(journal, signer).entries


def test_another_request_that_decides_nothing_leaves_the_assert(
    tmp_path: Path, supported: Found, journal: Journal, signer: Signer
) -> None:
    asserted(supported, journal, signer)
    note(
        verified_thesis(tmp_path / "s", signer, UNBACKED, risk="high", issued_at=stamp(NOW)), journal, signer
    )
    found = registers(shown(journal, signer))
    assert found.count("ASSERT") == 1
    assert found.count("HYPOTHESIZE") == 1


def test_a_thesis_that_is_decided_is_no_hypothesis_any_more(
    tmp_path: Path, supported: Found, journal: Journal, signer: Signer
) -> None:
    note(verified_thesis(tmp_path / "s", signer, UNBACKED), journal, signer)
    assert "HYPOTHESIZE" in registers(shown(journal, signer))
    again = verified_thesis(tmp_path / "t", signer, issued_at=stamp(NOW))
    *_, entry = note(again, journal, signer)
    assert isinstance(entry, Assert)
    assert "HYPOTHESIZE" not in registers(shown(journal, signer))


def test_a_hypothesis_of_a_person_is_decided_by_the_attestation_of_its_thesis(
    supported: Found, journal: Journal, signer: Signer
) -> None:
    name = thesis_id(THESIS.upper())
    proposed = Hypothesize(
        key=name,
        text=THESIS,
        thesis_id=name,
        actor="person",
        tests=("Look.",),
        budget="One.",
        promotion="It.",
    )
    propose(journal, proposed, NOW, signer)
    asserted(supported, journal, signer)
    assert "HYPOTHESIZE" not in registers(shown(journal, signer))


def test_every_blind_spot_stands_as_a_hyperthesis_and_those_no_longer_named_do_not(
    tmp_path: Path, supported: Found, journal: Journal, signer: Signer
) -> None:
    asserted(supported, journal, signer)
    again = verified_thesis(tmp_path / "s", signer, labels=DISPUTED)
    note(again, journal, signer)
    spots = [entry for entry in shown(journal, signer).entries if isinstance(entry, BlindSpot)]
    assert [spot.detector for spot in spots] == [each.detector for each in again.attestation.hyperthesis]
    assert "no_judge" not in {spot.detector for spot in spots}


def test_a_budget_that_ended_early_asks_for_a_larger_one(
    tmp_path: Path, journal: Journal, signer: Signer
) -> None:
    """The reduction is not repeated under another version of the rules, so a made-up reason can be tried."""
    found = verified_thesis(tmp_path / "s", signer, UNBACKED)
    verified = open_verified(found.envelope, reader(found.store), trust={signer.keyid}, **found.asked)
    attestation = msgspec.structs.replace(
        verified.attestation,
        reason="BUDGET",
        claims=(ClaimResult(claim="c1", result="INCONCLUSIVE", reason="BUDGET"),),
    )
    verified = msgspec.structs.replace(verified, attestation=attestation)
    seen = Inspected(verified=verified, missing=frozenset(), moved=frozenset(), now=NOW)
    *_, entry = compile_entries(seen, ())
    assert isinstance(entry, Hypothesize)
    assert entry.budget == LARGER_BUDGET
    assert any("larger budget" in test for test in entry.tests)


def test_the_same_verification_twice_writes_once(supported: Found, journal: Journal, signer: Signer) -> None:
    first = asserted(supported, journal, signer)
    length = len(journal.read().entries)
    assert asserted(supported, journal, signer) == first
    assert note(supported, journal, signer) == (first,)
    assert len(journal.read().entries) == length


def test_the_decision_is_the_last_line_so_that_a_crash_asserts_nothing(
    supported: Found, journal: Journal, signer: Signer
) -> None:
    asserted(supported, journal, signer)
    data = journal.path.read_bytes()
    for cut in range(len(data) - 1):
        assert not any(isinstance(entry, Assert) for entry in parse_lines(data[:cut]).entries)


# The admissibility policy.


def rivers(found: Found) -> Path:
    return found.store.path(hashlib.sha256(RIVERS).hexdigest())


def test_a_source_whose_bytes_are_gone_is_not_admissible(
    tmp_path: Path, journal: Journal, signer: Signer
) -> None:
    found = verified_thesis(tmp_path / "s", signer)
    rivers(found).unlink()
    with pytest.raises(Refused, match="bytes of a cited source are not in the store"):
        asserted(found, journal, signer)
    *_, entry = note(found, journal, signer)
    assert isinstance(entry, Hypothesize)
    assert entry.tests == ("Capture the cited sources again, so that their bytes are kept.",)


def test_an_evidence_set_whose_bytes_came_back_is_promoted(
    tmp_path: Path, journal: Journal, signer: Signer
) -> None:
    found = verified_thesis(tmp_path / "s", signer)
    rivers(found).unlink()
    *_, entry = note(found, journal, signer)
    assert isinstance(entry, Hypothesize)
    found.store.put(RIVERS)
    asserted(found, journal, signer)
    assert "HYPOTHESIZE" not in registers(shown(journal, signer))


def test_an_altered_source_is_not_admissible(tmp_path: Path, journal: Journal, signer: Signer) -> None:
    found = verified_thesis(tmp_path / "s", signer)
    rivers(found).chmod(0o644)
    rivers(found).write_bytes(RIVERS.replace(b"1094", b"1095"))
    with pytest.raises(Refused, match="not in the store"):
        asserted(found, journal, signer)


def inspected(found: Found, signer: Signer, **changed: object) -> Inspected:
    """What the rules look at, some of it changed."""
    verified = open_verified(found.envelope, reader(found.store), trust={signer.keyid}, **found.asked)
    verified = msgspec.structs.replace(verified, **changed)
    return Inspected(verified=verified, missing=frozenset(), moved=frozenset(), now=NOW)


def test_what_holds_is_admissible(supported: Found, signer: Signer) -> None:
    assert unmet(inspected(supported, signer)) == ()


def breaking(rule: str, found: Found, signer: Signer) -> Inspected:
    """A verification of which one rule of the policy does not hold."""
    seen = inspected(found, signer)
    verified = seen.verified
    ((source_id, source),) = verified.sources.items()
    page = msgspec.structs.replace(source, name="https://rivers.test/elbe", retrieval=digest(b"receipt"))
    hard = Finding(code="number", label="numeric", severity="hard", message="No.")
    attestation = msgspec.structs.replace(verified.attestation, expires_at=stamp(NOW))
    observed = msgspec.structs.replace(source, tier="observed")
    changes: dict[str, dict[str, object]] = {
        "unexpired": {"attestation": attestation},
        "recomputed": {"recomputed": False},
        "has_support": {"cards": {}},
        "captured_or_derived": {"sources": {source_id: observed}},
        "receipts_kept": {"sources": {source_id: page}},
        "no_hard_finding": {"findings": Findings(findings=(hard,))},
    }
    seen = inspected(found, signer, **changes.get(rule, {}))
    if rule == "bytes_kept":
        return msgspec.structs.replace(seen, missing=frozenset({source.canonical}))
    return msgspec.structs.replace(seen, moved=frozenset(verified.cards)) if rule == "spans_hold" else seen


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_each_rule_of_the_policy_keeps_an_evidence_set_in_quarantine(
    rule: Rule, supported: Found, signer: Signer
) -> None:
    seen = breaking(rule.name, supported, signer)
    assert unmet(seen) == (rule,)
    *_, entry = compile_entries(seen, ())
    assert isinstance(entry, Hypothesize)
    assert entry.tests == (rule.test,)


# What never reaches ASSERT.


def test_a_result_that_is_not_supported_is_refused(tmp_path: Path, journal: Journal, signer: Signer) -> None:
    found = verified_thesis(tmp_path / "s", signer, UNBACKED)
    with pytest.raises(Refused, match=r"It says INCONCLUSIVE \(NO_EVIDENCE\); only SUPPORTED is asserted"):
        asserted(found, journal, signer)
    assert not journal.path.exists()


def test_a_result_that_its_objects_do_not_give_is_refused(
    tmp_path: Path, journal: Journal, signer: Signer
) -> None:
    claims = (ClaimResult(claim="c1", result="SUPPORTED", supports=1),)
    found = verified_thesis(tmp_path / "s", signer, UNBACKED, result="SUPPORTED", reason="", claims=claims)
    with pytest.raises(Refused, match="Its objects give INCONCLUSIVE, and it says SUPPORTED"):
        asserted(found, journal, signer)
    with pytest.raises(Refused, match="Its objects give"):
        note(found, journal, signer)


def test_an_evidence_set_that_is_not_that_of_the_cards_is_refused(
    tmp_path: Path, journal: Journal, signer: Signer
) -> None:
    found = verified_thesis(tmp_path / "s", signer, evidence_set=digest(b"something else"))
    with pytest.raises(Refused, match="evidence set"):
        asserted(found, journal, signer)


def test_an_attestation_of_an_answer_that_no_request_asked_for_is_refused(
    tmp_path: Path, journal: Journal, signer: Signer
) -> None:
    found = verified_thesis(tmp_path / "s", signer, asked=False)
    with pytest.raises(Refused, match="answers no VERIFY_REQUEST"):
        asserted(found, journal, signer)


def test_an_attestation_of_another_request_is_refused(
    supported: Found, journal: Journal, signer: Signer
) -> None:
    with pytest.raises(Refused, match="answers another VERIFY_REQUEST"):
        asserted(supported, journal, signer, request=digest(b"another"))


def test_an_attestation_of_another_thesis_is_refused(
    supported: Found, journal: Journal, signer: Signer
) -> None:
    with pytest.raises(Refused, match="attestation of another thesis"):
        asserted(supported, journal, signer, thesis_id=thesis_id("The Rhine is 1233 kilometres long."))


def test_a_request_that_was_exchanged_does_not_lend_its_thesis(
    tmp_path: Path, journal: Journal, signer: Signer
) -> None:
    """What was verified says the Elbe; the attestation was made to name a request about the Rhine."""
    rhine = "The Rhine is 1094 kilometres long."
    found = verified_thesis(tmp_path / "s", signer, named=rhine)
    with pytest.raises(Refused, match="not the thesis of the request"):
        asserted(found, journal, signer, thesis_id=thesis_id(rhine), request=found.attestation.request)


def test_a_signer_who_is_not_trusted_is_refused(supported: Found, journal: Journal, tmp_path: Path) -> None:
    other = load_or_create(tmp_path / "other")
    with pytest.raises(Refused, match="which is not trusted"):
        asserted(supported, journal, other)
    with pytest.raises(Refused, match="which is not trusted"):
        asserted(supported, journal, other, trust=())


def test_a_forged_envelope_is_refused(supported: Found, journal: Journal, signer: Signer) -> None:
    outer = json.loads(supported.envelope)
    payload = base64.b64decode(outer["payload"]).replace(b'"files_as_given"', b'"files_as_stolen"')
    outer["payload"] = base64.b64encode(payload).decode()
    forged = Found(
        rfc8785.dumps(outer) + b"\n",
        supported.store,
        supported.thesis_id,
        supported.request,
        supported.attestation,
    )
    with pytest.raises(Refused, match="altered after it was signed"):
        asserted(forged, journal, signer)


@pytest.mark.parametrize("data", [b"", b"{}", b"\xff\xfe", b"[" * 100_000])
def test_what_is_no_envelope_is_refused(
    data: bytes, supported: Found, journal: Journal, signer: Signer
) -> None:
    broken = Found(data, supported.store, supported.thesis_id, supported.request, supported.attestation)
    with pytest.raises(Refused, match="envelope"):
        asserted(broken, journal, signer)


def test_an_attestation_that_has_expired_is_refused(tmp_path: Path, journal: Journal, signer: Signer) -> None:
    found = verified_thesis(tmp_path / "s", signer, expires_at=stamp(NOW))
    with pytest.raises(Refused, match="has expired"):
        asserted(found, journal, signer)
    *_, entry = note(found, journal, signer)
    assert isinstance(entry, Hypothesize)
    assert entry.tests == ("Verify the thesis again: its attestation has expired.",)


def test_a_time_that_is_in_no_calendar_has_come(tmp_path: Path, journal: Journal, signer: Signer) -> None:
    found = verified_thesis(tmp_path / "s", signer, expires_at="2099-02-31T00:00:00Z")
    with pytest.raises(Refused, match="has expired"):
        asserted(found, journal, signer)


def test_an_attestation_from_the_future_is_refused(tmp_path: Path, journal: Journal, signer: Signer) -> None:
    found = verified_thesis(tmp_path / "s", signer, issued_at=stamp(later(hours=1)))
    with pytest.raises(Refused, match="yet to come"):
        asserted(found, journal, signer)


def test_an_old_attestation_does_not_come_back_after_a_later_one(
    tmp_path: Path, supported: Found, journal: Journal, signer: Signer
) -> None:
    asserted(supported, journal, signer)
    note(verified_thesis(tmp_path / "s", signer, UNBACKED, labels=CONTRADICTED), journal, signer)
    with pytest.raises(Refused, match="A later attestation of this thesis was recorded"):
        asserted(supported, journal, signer)
    assert "ASSERT" not in registers(shown(journal, signer))


def test_what_a_person_retracted_is_not_asserted_again_by_the_same_attestation(
    supported: Found, journal: Journal, signer: Signer
) -> None:
    entry = asserted(supported, journal, signer)
    retract(journal, entry.seq, "The file was a draft.", NOW, signer)
    with pytest.raises(Refused, match="was retracted"):
        asserted(supported, journal, signer)
    with pytest.raises(NothingThere, match="no longer stands"):
        retract(journal, entry.seq, "Again.", NOW, signer)


# What stands.


def test_an_assert_is_not_shown_after_it_expired_and_the_next_verification_opens_its_thesis_again(
    tmp_path: Path, journal: Journal, signer: Signer
) -> None:
    asserted(verified_thesis(tmp_path / "s", signer, expires_at=stamp(later(days=1))), journal, signer)
    assert "ASSERT" in registers(shown(journal, signer))
    assert "ASSERT" not in registers(shown(journal, signer, later(days=1)))
    other = verified_thesis(
        tmp_path / "t",
        signer,
        "The Rhine is 1233 kilometres long [ev_0002:3].",
        thesis="The Rhine is 1233 kilometres long.",
    )
    entries = note(other, journal, signer, later(days=2))
    swept = [entry for entry in entries if entry.thesis_id == thesis_id(THESIS)]
    assert [register_of(entry) for entry in swept] == ["RETRACT", "HYPOTHESIZE"]
    assert isinstance(swept[0], Retract)
    assert swept[0].cause == "EXPIRED"


def test_an_assert_that_somebody_wrote_into_the_journal_is_not_proved(
    supported: Found, journal: Journal, signer: Signer
) -> None:
    entry = asserted(supported, journal, signer)
    forged = msgspec.structs.replace(
        entry, seq=entry.seq + 1, key=thesis_id("Cats bark"), text="Cats bark", prev=journal.read().head
    )
    append_unsigned(journal, forged)
    found = shown(journal, signer)
    assert (found.unsigned, found.line) == (1, entry.seq + 1)
    assert registers(found).count("ASSERT") == 1
    sign_as_it_is(journal, signer)
    found = shown(journal, signer)
    assert [each.why for each in found.unproved] == ["It does not say what its attestation says."]
    assert registers(found).count("ASSERT") == 1


def test_row_99_a_retracted_line_written_again_asserts_nothing(
    tmp_path: Path, supported: Found, journal: Journal, signer: Signer
) -> None:
    entry = asserted(supported, journal, signer)
    refuted = verified_thesis(tmp_path / "s", signer, UNBACKED, labels=CONTRADICTED, issued_at=stamp(NOW))
    note(refuted, journal, signer)
    content = journal.read()
    line = len(content.entries) + 1
    again = msgspec.structs.replace(entry, seq=line, ts=content.entries[-1].ts, prev=content.head)
    append_unsigned(journal, again)
    found = shown(journal, signer)
    assert (found.unsigned, found.line) == (1, line)
    assert "ASSERT" not in registers(found)
    sign_as_it_is(journal, signer)
    (unproved,) = shown(journal, signer).unproved
    assert unproved.entry.seq == line
    assert "entry" in unproved.why
    assert "ASSERT" not in registers(shown(journal, signer))


def test_row_99_the_next_writer_moves_what_is_not_signed_aside(
    supported: Found, journal: Journal, signer: Signer
) -> None:
    entry = asserted(supported, journal, signer)
    forged = msgspec.structs.replace(entry, seq=entry.seq + 1, prev=journal.read().head)
    append_unsigned(journal, forged)
    proposed = Hypothesize(key="x", text="X.", actor="person", tests=("x",), budget="x", promotion="x")
    appended = propose(journal, proposed, NOW, signer)
    assert (appended.unsigned, appended.entries[0].seq) == (1, entry.seq + 1)
    assert b'"register":"ASSERT"' in journal.path.with_name(TORN).read_bytes()
    assert shown(journal, signer).unsigned == 0


def test_an_assert_without_its_tier_is_not_proved(supported: Found, journal: Journal, signer: Signer) -> None:
    """A journal that is made to look old, so that it needs no head, asserts nothing by new rules."""
    entry = asserted(supported, journal, signer)
    bare = msgspec.structs.replace(entry, seq=1, prev="", risk="")
    journal.path.write_bytes(seal_line(encode(bare))[0])
    journal.path.with_name(heads.NAME).unlink()
    found = shown(journal, signer)
    assert (found.keyid, len(found.unproved)) == ("", 1)


def append_unsigned(journal: Journal, entry: AnyEntry) -> None:
    """Write a line as somebody else can who has no key."""
    with journal.path.open("ab") as file:
        file.write(seal_line(encode(entry))[0])


def sign_as_it_is(journal: Journal, signer: Signer) -> None:
    """Sign the journal whatever stands in it, as the first writer does to one without a head."""
    last = parse_lines(journal.path.read_bytes()).entries[-1]
    head = heads.signed(last.seq, hash_of(last), signer)
    journal.path.with_name(heads.NAME).write_bytes(msgspec.json.encode(head))


def test_a_line_that_says_more_than_its_attestation_gives_way_to_one_that_does_not(
    supported: Found, journal: Journal, signer: Signer
) -> None:
    entry = asserted(supported, journal, signer)
    wider = msgspec.structs.replace(
        entry, seq=entry.seq + 1, scope=("files", "web"), prev=journal.read().head
    )
    append_unsigned(journal, wider)
    sign_as_it_is(journal, signer)
    assert "ASSERT" not in registers(shown(journal, signer))
    again = asserted(supported, journal, signer)
    assert again.scope == ("files",)
    assert shown(journal, signer).unproved == ()


def test_an_assert_records_how_strongly_it_is_proved_and_no_line_says_more(
    supported: Found, journal: Journal, signer: Signer
) -> None:
    entry = asserted(supported, journal, signer)
    assert entry.strength == "QUOTED"
    for number, strength in enumerate(("VERIFIED", ""), 1):
        other = msgspec.structs.replace(
            entry, seq=entry.seq + number, strength=strength, prev=journal.read().head
        )
        append_unsigned(journal, other)
        sign_as_it_is(journal, signer)
        assert "ASSERT" not in registers(shown(journal, signer))


def test_the_journal_itself_takes_no_assert_that_is_not_proved(
    supported: Found, journal: Journal, signer: Signer, tmp_path: Path
) -> None:
    entry = asserted(supported, journal, signer)
    elsewhere = Journal(tmp_path / "elsewhere")
    with pytest.raises(Refused, match="not among the proofs"):
        elsewhere.append(lambda _: (entry,), NOW, signer)
    other = load_or_create(tmp_path / "other")
    with pytest.raises(JournalError, match="not trusted"):
        journal.append(lambda _: (entry,), NOW, other)
    assert elsewhere.read().entries == ()


def test_an_assert_outlives_its_session(tmp_path: Path, journal: Journal, signer: Signer) -> None:
    asserted(verified_thesis(tmp_path / "s", signer), journal, signer)
    shutil.rmtree(tmp_path / "s")
    assert "ASSERT" in registers(shown(journal, signer))


def test_without_a_trusted_key_nothing_is_asserted(
    supported: Found, journal: Journal, signer: Signer
) -> None:
    asserted(supported, journal, signer)
    with pytest.raises(JournalError, match=r"head of the AHDB journal is signed by key .* not trusted"):
        standing(journal, NOW, ())


def test_the_same_words_are_one_key_however_they_are_spaced() -> None:
    assert key_of("DRIVE", " ship  it\n") == key_of("DRIVE", "ship it") != key_of("BELIEVE", "ship it")


def test_the_view_knows_no_clock(supported: Found, journal: Journal, signer: Signer) -> None:
    asserted(supported, journal, signer)
    entries = journal.read().entries
    assert view(entries, NOW) == view(entries, NOW)


def test_a_page_that_supports_a_thesis_is_bounded_by_its_lines(
    tmp_path: Path, journal: Journal, signer: Signer
) -> None:
    """A card that QUALIFIES names itself among the bounds of the ASSERT."""
    qualified = verified_thesis(
        tmp_path / "s", signer, labels={"ev_0003:2": "QUALIFIES", "ev_0002:2": "SUPPORTS"}
    )
    verified = open_verified(
        qualified.envelope, reader(qualified.store), trust={signer.keyid}, **qualified.asked
    )
    assert any(bound.startswith("Qualified by sources.html, lines 2-2 (card sha256:") for bound in
               assertion(verified).bounds)  # fmt: skip
