"""The hyperthesis: what the evidence cannot rule out, named by rule, and never nothing."""

from collections.abc import Callable

import msgspec
import pytest

from support.rounds import WATER, blob, derived, evidence, label, labels, page, policy, record, scores, sha256
from vera import events
from vera.attestation.build import build
from vera.attestation.objects import Hyperthesis
from vera.attestation.record import Record
from vera.audit.case import AuditPolicy, Lookup

OTHER = b"Another page says that the river is 312 km long.\n"
OUTPUT = b"312\n"
ANSWER = "The river is 312 km long [ev_0001:2]."


def of_page(**changed: object) -> Record:
    fetched = page("ev_0001", "https://a.example/", WATER, **changed)
    return record(ANSWER, [fetched], labels=(labels("c1", label("ev_0001", 2, 2)),))


def of_asked_page() -> Record:
    found = of_page()
    return msgspec.structs.replace(found, task="How long is the river by https://a.example?")


def of_file(**changed: object) -> Record:
    found = labels("c1", label("ev_0001", 2, 2))
    return record(ANSWER, [evidence("ev_0001")], **{"labels": (found,), **changed})


def of_command(*derivations: events.Derivation) -> Record:
    printed = evidence("ev_0001", OUTPUT, tool="shell", tier="observed", source="wc -l /input/a", exit_code=0)
    answer = "It has 312 lines [ev_0001:1]."
    found = (labels("c1", label("ev_0001", 1, 1)),)
    return record(answer, [printed], [OUTPUT], labels=found, derivations=derivations)


def scanned() -> Record:
    pdf = evidence("ev_0002", b"\n", extractor="pdf/pdfium-1/rules-1", source="scan.pdf", pages=(1, 1, 1))
    return record(ANSWER, [evidence("ev_0001"), pdf])


def by_ocr() -> events.Evidence:
    return evidence("ev_0001", extractor="ocr/tesseract-5.3.0-eng/rules-1", source="scan.png")


def copies() -> Record:
    found = [evidence("ev_0001"), evidence("ev_0002", source="again.txt")]
    return record("The river is 312 km long [ev_0001:2; ev_0002:2].", found)


CASES: dict[str, Callable[[], Record]] = {
    "no_judge": lambda: of_file(policy=policy("literal")),
    "one_judge": of_file,
    "judge_consistency": lambda: of_file(labels=(labels("c1", label("ev_0001", 2, 2, "SUPPORTS", 2, 2)),)),
    "page_to_judge": of_page,
    "program_logic": lambda: of_command(derived("ev_0001")),
    "not_derived": of_command,
    "hidden_text": of_page,
    "no_text_layer": scanned,
    "read_by_ocr": lambda: of_file(evidence={"ev_0001": by_ocr()}),
    "one_domain": of_page,
    "asked_page": of_asked_page,
    "pages_change": of_page,
    "files_as_given": of_file,
    "not_read": lambda: of_page(http_status=403),
    "unknown_checks": lambda: of_file(checks=(unanswered(),)),
    "cut_short": lambda: of_file(notes=("reading 1: no JSON",)),
    "copies": copies,
    "weak_sandbox": lambda: of_file(policy=policy(sandbox="docker, lab, privileged")),
    "hits_not_read": lambda: of_file(lookups=(Lookup(tool="s", query="q", evidence="ev_0001", hits=3),)),
    "scope": lambda: of_file(policy=policy(scope=("files",))),
}


def unanswered() -> events.VerifierCheck:
    question = events.Question(claim="c1", question="Is it the Rhine?", source="ev_0001", label="x")
    return events.VerifierCheck(round=1, check=1, question=question, check_lane="check-1.1", answer="unknown")


def named(found: Record) -> dict[str, Hyperthesis]:
    return {each.detector: each for each in build(found).attestation.hyperthesis}


@pytest.mark.parametrize("detector", CASES)
def test_a_detector_names_its_blind_spot(detector: str) -> None:
    found = named(CASES[detector]())
    assert detector in found
    assert all((found[detector].blind_spot, found[detector].risk, found[detector].bound))


def test_the_least_there_is_names_who_read_the_spans() -> None:
    assert list(named(record(""))) == ["one_judge"]
    assert list(named(record("", policy=policy("literal")))) == ["no_judge"]


def test_a_plain_round_over_a_file_names_nothing_else() -> None:
    assert set(named(of_file(scores=scores(400)))) == {"one_judge", "files_as_given"}


def test_a_missing_blob_is_named() -> None:
    lost = record(ANSWER, [evidence("ev_0001")], [], unreadable={sha256(WATER): "it is not in the store"})
    assert "ev_0001.txt" in named(lost)["not_read"].blind_spot


def test_two_publishers_are_not_one() -> None:
    pages = [page("ev_0001", "https://a.example/", WATER), page("ev_0002", "https://b.org/", OTHER)]
    answer = "The river is 312 km long [ev_0001:2; ev_0002:1]."
    found = labels("c1", label("ev_0001", 2, 2), label("ev_0002", 1, 1))
    assert "one_domain" not in named(record(answer, pages, [WATER, OTHER], labels=(found,)))


def test_a_pdf_with_text_has_a_text_layer() -> None:
    pdf = evidence("ev_0001", WATER * 3, extractor="pdf/pdfium-1/rules-1", pages=(1, 2))
    assert pdf.text == blob(WATER * 3)
    assert "no_text_layer" not in named(record(ANSWER, [pdf], [WATER * 3]))


def of_official(*domains: str) -> Record:
    found = of_page()
    rules = policy(audit_policy=AuditPolicy(official_domains=domains))
    return msgspec.structs.replace(found, task="How long is the river by the official source?", policy=rules)


def test_only_a_listed_domain_is_the_official_source_that_suffices() -> None:
    made = {domain: build(of_official(domain)).attestation for domain in ("a.example", "b.example")}
    assert made["a.example"].reason != "COVERAGE" and made["b.example"].reason == "COVERAGE"
    assert "asked_page" in named(of_official("a.example"))
    assert "asked_page" not in named(of_official("b.example")) | named(of_official())
