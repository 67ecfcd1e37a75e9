"""What a judge's probes do to its labels, to the verdict, and to the objects."""

import msgspec
import pytest

from support.asked import thesis_record
from support.rounds import label, labels, policy, record, scores
from vera import events
from vera.attestation.build import Built, build
from vera.attestation.objects import Findings, parse
from vera.attestation.probed import probed
from vera.attestation.record import Record


def said(*relations: str) -> tuple[events.VerifierProbe, ...]:
    """The first is stated by its lines, the others are not."""
    kinds = ("stated", "number", "negation", "unrelated")
    return tuple(
        events.VerifierProbe(round=1, probe=kind, claim=f"{kind}.", said=relation)
        for kind, relation in zip(kinds, relations, strict=False)
    )


def judged(*probes: events.VerifierProbe) -> Record:
    return thesis_record(
        policy=policy(),
        labels=(labels("c1", label("ev_0001", 2, 2, "SUPPORTS", 2, 2)),),
        scores=scores(400),
        probes=probes,
    )


def findings(built: Built) -> Findings:
    return parse(built.objects[built.attestation.findings], Findings)


ALWAYS = said(*["SUPPORTS"] * 4)
RIGHT = said("SUPPORTS", "CONTRADICTS", "IRRELEVANT", "QUALIFIES")


@pytest.mark.parametrize(
    ("probes", "right", "trusted"),
    [
        (ALWAYS, 1, False),
        (RIGHT, 4, True),
        (said("SUPPORTS", "IRRELEVANT", "SUPPORTS", "SUPPORTS"), 2, True),
        (said("IRRELEVANT", "IRRELEVANT", "IRRELEVANT", "IRRELEVANT"), 3, False),
        (said("CONTRADICTS", "CONTRADICTS", "CONTRADICTS", "CONTRADICTS"), 3, False),
        (said("QUALIFIES", "CONTRADICTS", "IRRELEVANT", "IRRELEVANT"), 3, False),
        (said("SUPPORTS", "SUPPORTS"), 1, False),
        (said("SUPPORTS", "SUPPORTS", "SUPPORTS"), 1, False),
        ((), 0, True),
    ],
)
def test_a_judge_is_not_believed_that_misses_what_stands_there_or_gets_more_than_half_wrong(
    probes: tuple[events.VerifierProbe, ...], right: int, trusted: bool
) -> None:
    found = probed(probes)
    assert (found.labelled, found.right, not found.distrust) == (len(probes), right, trusted)


def test_what_the_log_says_was_expected_counts_for_nothing() -> None:
    lying = tuple(msgspec.structs.replace(each, expected="SUPPORTS") for each in ALWAYS)
    assert probed(lying) == probed(ALWAYS)


def test_what_gave_no_label_is_not_counted_and_said() -> None:
    silent = events.VerifierProbe(round=1, probe="number", problem="the model failed")
    odd = events.VerifierProbe(round=1, probe="number", said="YES")
    found = probed((*RIGHT, odd, silent))
    assert (found.labelled, found.right, found.problem) == (4, 4, "the model failed")


def test_labels_of_a_judge_that_is_not_believed_are_unread() -> None:
    built = build(judged(*ALWAYS))
    assert (built.attestation.result, built.attestation.reason) == ("INCONCLUSIVE", "JUDGE_UNRELIABLE")
    assert built.attestation.cards == ()
    (unread,) = findings(built).unread
    assert unread.why == "The judge mislabelled 3 of 4 claims whose labels are known."
    assert (findings(built).probes, findings(built).probes_right) == (4, 1)


def test_a_judge_that_is_right_changes_no_result() -> None:
    built, before = build(judged(*RIGHT)), build(judged())
    assert built.attestation.result == before.attestation.result == "SUPPORTED"
    assert built.attestation.cards == before.attestation.cards
    (told,) = [each for each in built.attestation.hyperthesis if each.detector == "judge_probes"]
    assert "4 claims with a known label" in told.blind_spot and "labelled 4 rightly" in told.blind_spot


def test_that_there_were_none_is_told() -> None:
    built = build(judged(events.VerifierProbe(round=1, problem="None could be made.")))
    assert built.attestation.result == "SUPPORTED"
    (told,) = [each for each in built.attestation.hyperthesis if each.detector == "judge_probes"]
    assert told.blind_spot.endswith("None could be made.")


def test_a_log_from_before_probes_gives_the_objects_that_it_gave() -> None:
    built = build(judged())
    assert not any(each.detector == "judge_probes" for each in built.attestation.hyperthesis)
    assert b"probe" not in built.objects[built.attestation.findings]


def test_an_answer_to_a_question_has_none() -> None:
    built = build(record("The river is 312 km long [ev_0001:2]."))
    assert b"probe" not in built.objects[built.attestation.findings]
