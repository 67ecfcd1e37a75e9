"""The verdict on a claim: six that are told apart, each with the lines that it rests on."""

from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from support.theses import DISPUTED, SUPPORTED, THESIS, UNBACKED, verified_thesis
from support.verified import RIVERS, answer, begin, decide, open_session, read_file, verified
from support.viewing import view
from vera import events
from vera.attestation.keys import Signer
from vera.attestation.objects import Card, ClaimResult, Confidence, SpanSelector, Unread
from vera.evidence.finding import Finding
from vera.report.view.model import VERDICTS
from vera.report.view.quotations import OTHER_BYTES, Quotations
from vera.report.view.verdicts import verdict_on

ANY = "sha256:" + "a" * 64


@pytest.fixture(scope="module")
def signer() -> Signer:
    return Signer(Ed25519PrivateKey.generate())


def result(name: str, reason: str = "", supports: int = 0, contradicts: int = 0) -> ClaimResult:
    return ClaimResult(
        claim="c1",
        result=name,  # type: ignore[arg-type] # one of its words
        reason=reason,  # type: ignore[arg-type] # any of its words
        supports=supports,
        contradicts=contradicts,
    )


def card(relation: str) -> Card:
    return Card(
        thesis=ANY,
        source=ANY,
        evidence="ev_0001",
        span=SpanSelector(start=0, end=1, first=1, last=1, sha256=ANY),
        claim="c1",
        relation=relation,  # type: ignore[arg-type] # any of its words
        confidence=Confidence(method="rule"),
        maker="literal/1",
    )


def finding(code: str, severity: str = "hard") -> Finding:
    return Finding(
        code=code,
        label="wrong_evidence",
        severity=severity,  # type: ignore[arg-type] # hard or soft
        message=f"It is {code}.",
    )


@pytest.mark.parametrize(
    ("given", "cards", "findings", "unread", "verdict", "reason"),
    [
        (result("SUPPORTED", supports=2), ["SUPPORTS"], [], [], "supported", "2 independent sources say so."),
        (
            result("UNSUPPORTED", "REFUTED", contradicts=1),
            ["CONTRADICTS"],
            [],
            [],
            "contradicted",
            "1 independent source says otherwise.",
        ),
        (
            result("DISPUTED", supports=1, contradicts=2),
            ["SUPPORTS", "CONTRADICTS"],
            [],
            [],
            "disputed",
            "1 independent source says so, 2 independent sources say otherwise.",
        ),
        (
            result("UNSUPPORTED", "NO_EVIDENCE", supports=1, contradicts=1),
            ["SUPPORTS", "CONTRADICTS"],
            ["number_differs"],
            [],
            "disputed",
            "1 independent source says so, 1 independent source says otherwise.",
        ),
        (
            result("UNSUPPORTED", "NO_EVIDENCE"),
            [],
            ["number_differs"],
            [],
            "unresolved",
            "It is number_differs.",
        ),
        (
            result("INCONCLUSIVE", "NO_EVIDENCE"),
            ["IRRELEVANT"],
            [],
            [],
            "unresolved",
            "No cited line says so.",
        ),
        (result("INCONCLUSIVE", "NO_EVIDENCE"), [], [], [], "unchecked", "No line was read for it."),
        (
            result("INCONCLUSIVE", "JUDGE_UNRELIABLE"),
            ["IRRELEVANT"],
            [],
            ["the reply is no JSON"],
            "unchecked",
            "Its lines were not read: the reply is no JSON.",
        ),
        (None, [], [], [], "unchecked", "No one has looked at it."),
        (
            result("UNSUPPORTED", "NO_EVIDENCE"),
            [],
            ["quotation_false"],
            [],
            "dropped",
            "It is quotation_false.",
        ),
    ],
)
def test_a_verdict_is_one_of_six(
    given: ClaimResult | None,
    cards: list[str],
    findings: list[str],
    unread: list[str],
    verdict: str,
    reason: str,
) -> None:
    said = verdict_on(
        given,
        [card(each) for each in cards],
        [finding(each) for each in findings],
        [Unread(claim="c1", why=each) for each in unread],
        load_bearing=True,
    )
    assert said == (verdict, reason)
    assert verdict in VERDICTS


def test_the_claims_of_a_verified_answer_come_with_the_lines_that_carry_them(
    tmp_path: Path, signer: Signer
) -> None:
    verified(tmp_path / "s", signer)
    claims = view(tmp_path / "s").claims()
    assert {key: claim.verdict for key, claim in claims.items()} == dict.fromkeys(
        ("c1", "c2", "c3"), "supported"
    )
    (shown,) = claims["c1"].cards
    assert shown.quotation == ("The Elbe is 1094 kilometres long.",)
    assert (shown.relation, shown.evidence, shown.first, shown.last) == ("SUPPORTS", "ev_0002", 2, 2)
    assert (shown.source, shown.source_class, shown.tier, shown.problem) == (
        "rivers.txt",
        "file",
        "captured",
        "",
    )


def test_a_thesis_that_a_source_contradicts_is_not_called_unchecked(tmp_path: Path, signer: Signer) -> None:
    verified_thesis(tmp_path / "s", signer, UNBACKED, labels=DISPUTED)
    (claim,) = view(tmp_path / "s").claims().values()
    assert (claim.text, claim.verdict) == (THESIS, "contradicted")


def test_a_thesis_with_sources_on_both_sides_is_disputed(tmp_path: Path, signer: Signer) -> None:
    verified_thesis(tmp_path / "s", signer, labels=DISPUTED)
    (claim,) = view(tmp_path / "s").claims().values()
    assert claim.verdict == "disputed"
    assert [each.relation for each in claim.cards] == ["SUPPORTS", "CONTRADICTS"]


def test_a_line_that_only_asks_leaves_a_claim_unresolved(tmp_path: Path, signer: Signer) -> None:
    verified_thesis(tmp_path / "s", signer, UNBACKED)
    (claim,) = view(tmp_path / "s").claims().values()
    assert (claim.verdict, claim.reason) == ("unresolved", "No cited line says so.")


def test_a_citation_of_another_line_is_unresolved(tmp_path: Path, signer: Signer) -> None:
    verified_thesis(tmp_path / "s", signer, "The Elbe is 1094 kilometres long [ev_0002:3].")
    (claim,) = view(tmp_path / "s").claims().values()
    assert claim.verdict == "unresolved"
    assert claim.findings


def test_before_a_verdict_claims_are_unchecked_and_show_what_was_labelled(tmp_path: Path) -> None:
    session = open_session(tmp_path / "s")
    begin(session, 1, answer(session))
    session.close()
    claims = view(tmp_path / "s").claims()
    assert {claim.verdict for claim in claims.values()} == {"unchecked"}
    assert claims["c1"].reason == "Round 1 of verification has not decided yet."
    (shown,) = claims["c1"].cards
    assert (shown.id, shown.quotation) == ("", ("The Elbe is 1094 kilometres long.",))


def test_an_answer_that_no_round_is_about_has_unchecked_claims(tmp_path: Path) -> None:
    session = open_session(tmp_path / "s")
    answer(session)
    session.close()
    claims = view(tmp_path / "s").claims()
    assert [claim.verdict for claim in claims.values()] == ["unchecked"] * 3


def test_a_source_that_was_altered_gives_no_quotation(tmp_path: Path, signer: Signer) -> None:
    verified(tmp_path / "s", signer)
    viewed = view(tmp_path / "s")
    path = viewed.store.path(viewed.state.evidence["ev_0002"].text.sha256)
    path.chmod(0o644)
    path.write_bytes(RIVERS.replace(b"1094", b"1904"))
    claims = viewed.claims()
    (shown,) = claims["c1"].cards
    assert (shown.quotation, shown.problem) == (
        (),
        "Its text in the store was altered, so nothing of it is shown.",
    )
    assert claims["c2"].cards[0].quotation


def test_a_source_that_is_gone_gives_no_quotation(tmp_path: Path, signer: Signer) -> None:
    verified(tmp_path / "s", signer)
    viewed = view(tmp_path / "s")
    viewed.store.path(viewed.state.evidence["ev_0002"].text.sha256).unlink()
    (shown,) = viewed.claims()["c1"].cards
    assert (shown.quotation, shown.problem) == ((), "Its text is not in the store.")


def test_lines_whose_bytes_are_not_those_of_the_span_are_not_shown(tmp_path: Path) -> None:
    session = open_session(tmp_path / "s")
    text = read_file(session, "more.txt", b"one\ntwo\nthree\n").text.sha256
    session.close()
    quotations = Quotations(session.store)
    assert quotations.cut(text, 1, 2, "").lines == ("one", "two")
    assert quotations.cut(text, 1, 2, "a" * 64).problem == OTHER_BYTES
    assert quotations.cut(text, 3, 9, "").problem == "The stored text has no such lines."
    assert quotations.cut("../../etc/passwd", 1, 1, "").problem


def test_an_attestation_that_is_gone_leaves_unchecked_claims_and_says_why(
    tmp_path: Path, signer: Signer
) -> None:
    decision = verified(tmp_path / "s", signer)
    viewed = view(tmp_path / "s")
    viewed.store.path(decision.attestation.removeprefix("sha256:")).unlink()
    claims = viewed.claims()
    assert {claim.verdict for claim in claims.values()} == {"unchecked"}
    assert claims["c1"].reason.startswith(
        "The attestation cannot be shown: The store has no whole attestation"
    )


def test_the_claims_of_a_decided_round_stay_while_the_next_one_goes_on(
    tmp_path: Path, signer: Signer
) -> None:
    session = open_session(tmp_path / "s")
    begin(session, 1, answer(session, SUPPORTED))
    decide(session, signer, 1)
    begin(session, 2, answer(session))
    session.close()
    viewed = view(tmp_path / "s")
    first = viewed.fold.claims(viewed.state, viewed.store, 1)
    assert [claim.verdict for claim in first] == ["supported"]
    assert {claim.verdict for claim in viewed.claims(2).values()} == {"unchecked"}
    assert list(viewed.claims()) == ["c1", "c2", "c3"]
    viewed.add(events.VerifierLabels(seq=99, round=2, claim="c1", labels=(), maker="m"))
    assert viewed.fold.claims(viewed.state, viewed.store, 1) is first
    assert viewed.claims(7) == {}
