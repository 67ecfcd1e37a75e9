"""A built attestation: the same record gives the same bytes, and nothing mechanical is believed."""

import json
import os
import random
import subprocess
import sys

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.rounds import (
    WATER,
    check,
    derived,
    evidence,
    label,
    labels,
    page,
    policy,
    record,
    scores,
    sha256,
)
from vera import events
from vera.attestation.build import Built, build, case_of, claims_of, labels_of
from vera.attestation.objects import (
    KINDS,
    AnyObject,
    Card,
    Coverage,
    Findings,
    Lens,
    Proposition,
    Source,
    Thesis,
    VerifyRequest,
    canonical,
    digest,
    object_id,
    parse,
)
from vera.attestation.record import Record
from vera.attestation.reduce import reduce

ANSWER = "The river is 312 km long [ev_0001:2]. It rises in the Eifel [ev_0001:3]."
GOOD = scores(400, 300, 350)


def judged(answer: str = ANSWER, **changed: object) -> Record:
    found = (labels("c1", label("ev_0001", 2, 2)), labels("c2", label("ev_0001", 3, 3)))
    return record(answer, [evidence("ev_0001")], **{"labels": found, "scores": GOOD, **changed})


def ruled(answer: str = ANSWER, *more: events.Evidence, **changed: object) -> Record:
    return record(answer, [evidence("ev_0001"), *more], **{"policy": policy("literal"), **changed})


def of_kind(built: Built, kind: type[AnyObject]) -> list[AnyObject]:
    tag = str(kind.__struct_config__.tag)
    return [
        parse(data, kind)  # type: ignore[type-var] # one of the kinds, not known which
        for data in built.objects.values()
        if json.loads(data)["kind"] == tag
    ]


def thesis_of(built: Built) -> Thesis:
    (thesis,) = of_kind(built, Thesis)
    assert isinstance(thesis, Thesis)
    return thesis


def verdict(found: Record) -> tuple[str, str]:
    attestation = build(found).attestation
    return attestation.result, attestation.reason


@pytest.mark.parametrize("found", [judged(), ruled()])
def test_every_claim_that_stands_makes_the_answer_supported(found: Record) -> None:
    assert verdict(found) == ("SUPPORTED", "")


def test_every_object_is_there_under_the_hash_of_its_bytes() -> None:
    built = build(judged())
    attestation = built.attestation
    assert all(digest(data) == name for name, data in built.objects.items())
    assert object_id(attestation) == built.attestation_id
    named = {attestation.thesis, attestation.policy, attestation.findings, attestation.coverage}
    assert named | {built.attestation_id} | set(attestation.cards) <= built.objects.keys()
    asked_only = {Proposition, Lens, VerifyRequest}
    assert {json.loads(data)["kind"] for data in built.objects.values()} == {
        kind.__struct_config__.tag for kind in KINDS if kind not in asked_only
    }
    for card in of_kind(built, Card):
        assert isinstance(card, Card)
        assert {card.thesis, card.source} <= built.objects.keys()
    assert attestation.evidence_set == digest(canonical(sorted(attestation.cards)))


def test_the_result_follows_from_the_objects_alone() -> None:
    built = build(judged())
    sources = {object_id(source): source for source in of_kind(built, Source)}
    cards = {object_id(card): card for card in of_kind(built, Card)}
    (findings,), (coverage,) = of_kind(built, Findings), of_kind(built, Coverage)
    again = reduce(
        thesis=thesis_of(built),
        policy=policy(),
        findings=findings,  # type: ignore[arg-type] # of_kind gives any object
        coverage=coverage,  # type: ignore[arg-type] # as above
        cards=cards,  # type: ignore[arg-type] # as above
        sources=sources,  # type: ignore[arg-type] # as above
    )
    attestation = built.attestation
    assert (again.result, again.reason, again.claims, again.scores) == (
        attestation.result,
        attestation.reason,
        attestation.claims,
        attestation.scores,
    )


@given(st.randoms())
def test_the_order_in_which_labels_were_logged_changes_no_byte_of_a_card(mixed: random.Random) -> None:
    shuffled = list(judged().labels)
    mixed.shuffle(shuffled)
    first, second = build(judged()), build(judged(labels=tuple(shuffled)))
    assert first.objects == second.objects


def test_the_same_record_gives_the_same_bytes() -> None:
    assert build(judged()) == build(judged())


PROCESS = """
from support.rounds import evidence, label, labels, page, policy, record
from vera.attestation.build import build
texts = [b"The Ahr is 89 km long. Its source is in Blankenheim, near Cologne, since 1821.\\n" * 9,
         b"Line of a story about the Ahr and the Rhine and Bonn.\\n" * 9]
found = [page("ev_0001", "https://a.example/1", texts[0]), page("ev_0002", "https://b.org/2", texts[1]),
         page("ev_0003", "https://c.a.example/3", texts[0]), evidence("ev_0004", texts[1])]
answer = '''The Ahr is 95 km long [ev_0001:1] and never floods Bonn, Paris or Rome [ev_0003:2].
Only Berlin, Hamburg and Munich said "no story" in 1921, 12 % of all [ev_0002:1-3; ev_0009:1].
There is no other river called Ahr. [ev_0004:1]'''
given = tuple(labels(f"c{n}", label("ev_0001", 1, 1), label("ev_0002", 1, 1, "CONTRADICTS"))
              for n in range(9))
for rule in ("model", "literal"):
    print(*build(record(answer, found, texts, labels=given, policy=policy(rule))).objects.values())
"""


def test_another_process_gives_the_same_bytes() -> None:
    """Whatever order its sets have: the seed of Python's hashes differs."""
    printed = {
        subprocess.run(
            [sys.executable, "-c", PROCESS],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            check=True,
            timeout=60,
            capture_output=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(printed) == 1
    assert all(b"findings/v1" in each for each in printed)


def test_the_log_the_time_and_the_receipts_are_attested() -> None:
    pages = [
        page("ev_0001", "https://a.example/", WATER),
        page("ev_0002", "https://b.org/", b"312 km long.\n"),
    ]
    found = record(ANSWER, pages, [WATER, b"312 km long.\n"], labels=judged().labels)
    attestation = build(found).attestation
    assert (attestation.log, attestation.issued_at) == (found.log, found.issued_at)
    receipt = pages[0].receipt
    assert receipt is not None
    assert attestation.receipts == ("sha256:" + receipt.sha256,)


def test_another_answer_question_or_claim_gives_other_ids() -> None:
    changed = [
        judged(),
        judged(ANSWER + " "),
        judged(task="How long is the Ahr?"),
        judged(log=(18, "b" * 64)),
        judged(policy=policy(min_score=310)),
    ]
    assert len({build(found).attestation_id for found in changed}) == len(changed)


def test_the_question_is_normalised_and_bounded() -> None:
    assert thesis_of(build(judged(task="How  long\n is it, e\u0301?"))).text == "How long is it, \u00e9?"
    assert len(thesis_of(build(judged(task="x" * 100_000))).text) == 20_000


def test_literal_labels_of_the_log_are_not_believed() -> None:
    wrong = "The river is 313 km long [ev_0001:2]."
    forged = (labels("c1", label("ev_0001", 2, 2)),)
    assert verdict(ruled(wrong, labels=forged))[0] != "SUPPORTED"
    assert build(ruled(wrong, labels=forged)).objects == build(ruled(wrong)).objects
    found = ruled()
    assert [each.claim for each in labels_of(found, case_of(found))] == ["c1", "c2"]


def test_a_judge_that_says_four_with_a_failing_audit_is_overruled() -> None:
    wrong = "The river is 313 km long [ev_0001:2]."
    found = judged(wrong, labels=(labels("c1", label("ev_0001", 2, 2)),), scores=scores(400, 400, 400))
    assert verdict(found) == ("UNSUPPORTED", "NO_EVIDENCE")


def test_a_low_score_keeps_a_supported_answer_open() -> None:
    assert verdict(judged(scores=scores(400, 100, 300))) == ("INCONCLUSIVE", "SCORE")
    assert verdict(judged(scores=())) == ("INCONCLUSIVE", "JUDGE_UNRELIABLE")
    assert verdict(judged(scores=scores(400, None, 400))) == ("INCONCLUSIVE", "JUDGE_UNRELIABLE")


@pytest.mark.parametrize("points", [0, 99, 401, -5, 10**30])
def test_a_score_out_of_range_is_none(points: int) -> None:
    assert verdict(judged(scores=scores(400, points, 400))) == ("INCONCLUSIVE", "JUDGE_UNRELIABLE")


def test_a_check_without_a_captured_span_is_unknown() -> None:
    bare, capped = build(judged(checks=(check("c1", "yes"),))), build(judged(checks=(check("c1", "no"),)))
    assert bare.attestation.scores.after == capped.attestation.scores.after == 200
    captured = check("c1", "yes", events.Cited(evidence="ev_0001", first=2, last=2))
    assert verdict(judged(checks=(captured,))) == ("SUPPORTED", "")
    missed = check("c1", "yes", events.Cited(evidence="ev_0009", problem="there is no such evidence"))
    assert verdict(judged(checks=(missed,))) == ("INCONCLUSIVE", "SCORE")


def test_an_unparsable_reading_is_recorded_and_is_no_label() -> None:
    found = (labels("c1", label("ev_0001", 2, 2)), labels("c2", problem="reading 1: no JSON"))
    built = build(judged(labels=found))
    assert built.attestation.claims[1].reason == "JUDGE_UNRELIABLE"
    (findings,) = of_kind(built, Findings)
    assert isinstance(findings, Findings)
    assert [(each.claim, each.why) for each in findings.unread] == [("c2", "reading 1: no JSON")]


def test_a_claim_that_only_points_says_what_stands_there() -> None:
    named = evidence("ev_0001", source="GPL-3.txt")
    found = record("1. GPL-3.txt [ev_0001:2-3]", [named], policy=policy("literal"))
    (claim,) = thesis_of(build(found)).sub_claims
    assert claim.form == "extract"
    assert claim.text == '"GPL-3.txt", lines 2-3: reads as quoted.'
    assert verdict(found) == ("SUPPORTED", "")


def test_a_command_called_like_a_claim_makes_no_extract_of_it() -> None:
    command = "notes.txt"
    printed = evidence("ev_0002", b"no\n", tier="observed", tool="shell", source=command, exit_code=0)
    found = ruled("notes.txt [ev_0001:2]\n\nnotes.txt [ev_0002:1]", printed)
    assert "extract" not in [claim.form for claim in claims_of(found.answer, found.evidence.values())]


@pytest.mark.parametrize("again", [(), (derived("ev_0002", "different"),)])
def test_output_that_was_not_computed_again_supports_nothing(again: tuple[events.Derivation, ...]) -> None:
    printed = evidence(
        "ev_0002", b"312\n", tool="shell", tier="observed", source="wc -l /input/a", exit_code=0
    )
    answer = "It has 312 lines [ev_0002:1]."
    found = (labels("c1", label("ev_0002", 1, 1)),)
    texts = [WATER, b"312\n"]
    result = verdict(record(answer, [printed], texts, labels=found, scores=GOOD, derivations=again))
    assert result[0] != "SUPPORTED"


def test_of_two_derivations_the_one_that_failed_counts() -> None:
    for outcomes in (["same", "different"], ["different", "same"]):
        found = judged(derivations=tuple(derived("ev_0001", outcome) for outcome in outcomes))
        assert case_of(found).derivations["ev_0001"].outcome == "different"


def test_an_empty_answer_proves_nothing() -> None:
    assert verdict(record(""))[0] == "INCONCLUSIVE"


def test_a_missing_blob_leaves_the_claim_without_evidence() -> None:
    found = judged(texts={}, unreadable={sha256(WATER): "it is not in the store"})
    assert verdict(found)[0] != "SUPPORTED"


HOSTILE = st.text(st.characters(codec=None), max_size=40) | st.sampled_from(
    ["[ev_0001:2]", "[ev_0001:2-99999]", "[ev_0009]", "312 km", "\x00", "\ud800", "x" * 9000]
)


@given(st.lists(HOSTILE, max_size=8).map(" ".join), HOSTILE, HOSTILE, st.integers(-2, 9), st.integers(-2, 9))
def test_whatever_was_logged_gives_objects_that_can_be_read(
    answer: str, task: str, word: str, first: int, last: int
) -> None:
    given = events.VerifierLabels(
        round=1,
        claim="c1",
        labels=(
            events.SpanLabel(evidence="ev_0001", first=first, last=last, relation=word),
            events.SpanLabel(evidence=word, first=first, last=last, relation="SUPPORTS"),
        ),
        maker=word,
        problem=word,
    )
    question = events.Question(claim=word, question=word, source=word, label=word, kind=word)
    asked = events.VerifierCheck(
        round=1, check=1, question=question, check_lane="check-1.1", answer=word, reason=word
    )
    named = evidence("ev_0001", source=word, title=word, media_type=word, extractor=word)
    found = record(
        answer,
        [named],
        task=task,
        labels=(given,),
        checks=(asked,),
        scores=(events.Score(criterion=word, points=last, method=word, order=word),),
        verifier=word,
        notes=(word,),
    )
    built = build(found)
    kinds = {kind.__struct_config__.tag: kind for kind in KINDS}
    for data in built.objects.values():
        parse(data, kinds[json.loads(data)["kind"]])  # type: ignore[type-var] # any of the kinds
    assert msgspec.json.encode(built.attestation.result) != b'"SUPPORTED"'
