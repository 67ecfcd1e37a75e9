"""The metrics are those of the specifications, and valid for Prometheus."""

import subprocess
from typing import get_args

import pytest
from prometheus_client.parser import text_string_to_metric_families

from support.specified_metrics import LABELS, SPECIFIED
from vera import events
from vera.attestation.objects import Result
from vera.audit.taxonomy import TAXONOMY
from vera.evidence.finding import Severity
from vera.gates import kernel, registry
from vera.metrics import FAMILIES, Metrics, families
from vera.websearch.registry import ENGINES


def at_work() -> Metrics:
    """The metrics of a run under way that has a score: no family is without a sample."""
    metrics = Metrics()
    envelope = events.Blob("0" * 64, 2)
    decided = events.Verifier(
        round=1, answer_seq=1, result="SUPPORTED", reason="", attestation="", envelope=envelope, score=400
    )
    metrics.apply(decided, "s")
    return metrics


def sampled() -> dict[str, set[str]]:
    """Sample name → its labels, in the exposition."""
    return {
        sample.name: set(sample.labels)
        for family in text_string_to_metric_families(at_work().render().decode())
        for sample in family.samples
    }


def test_every_name_of_the_specifications_is_a_sample() -> None:
    assert sorted(SPECIFIED - sampled().keys()) == []


@pytest.mark.parametrize("name", LABELS)
def test_a_name_that_is_specified_with_labels_has_them(name: str) -> None:
    assert LABELS[name] <= sampled()[name]


def test_every_event_of_a_policy_has_its_metric_and_each_gate_is_one_of_them() -> None:
    policies = {
        struct
        for struct in get_args(events.Record)
        if issubclass(struct, events.Policy | events.PolicyNotesGuard | events.PolicyChoice)
    }
    assert policies == families.POLICIES.keys()
    assert {gate.event for gate in [*registry.GATES, *registry.CHECK_GATES]} <= policies
    assert families.POLICIES[events.PolicyDomainShift] == "dra_policy_domain_shift_total"
    assert set(families.POLICIES.values()) <= FAMILIES.keys()


def test_scores_have_a_series_for_each_of_the_four() -> None:
    exposed = at_work().render().decode()
    assert [exposed.count(f'dra_verifier_scores_total{{score="{score}"}}') for score in range(1, 5)] == [
        1
    ] * 4
    assert 'dra_verifier_scores_total{score="4"} 1.0' in exposed


def test_no_name_is_used_for_two_things() -> None:
    samples = [
        f"{name}{suffix}"
        for name, family in FAMILIES.items()
        for suffix in (("_bucket", "_sum", "_count") if family.kind == "histogram" else ("",))
    ]
    assert len(samples) == len(set(samples))
    assert all(name.startswith("dra_") for name in samples)


def test_only_gauges_have_a_series_for_each_session() -> None:
    assert {family.kind for family in FAMILIES.values() if "session" in family.labels} == {"gauge"}


def test_the_values_of_labels_are_those_of_the_rooms_that_own_them() -> None:
    assert list(families.FAILURES) == list(TAXONOMY)
    assert set(families.ENGINES) == {*ENGINES, "none"}
    assert set(families.RESULTS) == set(get_args(Result))
    assert set(families.SEVERITIES) == set(get_args(Severity))
    assert set(families.TOOLS) == {*kernel.GATHERING, *kernel.SEARCHING, "note", "submit"}


@pytest.mark.needs("promtool")
@pytest.mark.parametrize("metrics", [Metrics(), at_work()], ids=["nothing folded", "a run under way"])
def test_promtool_has_nothing_to_say(metrics: Metrics) -> None:
    checked = subprocess.run(
        ["promtool", "check", "metrics"], input=metrics.render(), capture_output=True, check=False
    )
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, b"", b"")
