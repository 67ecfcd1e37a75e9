"""Numbers that OCR read: a hint against a claim, and never a proof of it."""

import msgspec
import pytest

from support.cited import cited
from support.rounds import evidence, label, labels, policy, record
from vera.attestation.build import build
from vera.attestation.objects import Card, parse
from vera.audit.case import Case
from vera.audit.checks.scanned import scanned
from vera.audit.registry import audit

SCAN = "ocr/tesseract-5.3.0-eng/rules-1"
LEASE = "The lease of Elm Street\nThe rent is 900 euros a month.\nMaria Lopez signed the lease.\n"


def read_by(extractor: str, claim: str, **more: object) -> Case:
    case = cited(claim, LEASE, first=2, last=2, source="lease.pdf", **more)  # type: ignore[arg-type]  # as given
    (held,) = case.evidence.values()
    return msgspec.structs.replace(
        case, evidence={held.id: msgspec.structs.replace(held, extractor=extractor, tool="read")}
    )


def found(case: Case) -> dict[str, str]:
    return {each.code: each.severity for each in audit(case)}


def test_a_number_that_ocr_did_not_read_is_a_hint_and_one_that_a_text_lacks_is_hard() -> None:
    claim = "The rent is 950 euros a month [ev_0001:2]."
    assert found(read_by("pdf/pdfium-1/rules-2", claim))["amount_absent"] == "hard"
    by_ocr = found(read_by(SCAN, claim))
    assert by_ocr["amount_absent"] == "soft" and by_ocr["read_by_ocr"] == "soft"
    (finding,) = [each for each in audit(read_by(SCAN, claim)) if each.code == "amount_absent"]
    assert finding.message.endswith("OCR read a source of it, and may have misread it.")


def test_only_a_claim_with_a_number_is_told_that_ocr_misreads() -> None:
    assert [each.code for each in scanned(read_by(SCAN, "The rent is 900 euros a month."))] == ["read_by_ocr"]
    assert not list(scanned(read_by("pdf/pdfium-1/rules-2", "The rent is 900 euros a month.")))
    words_alone = cited("Maria Lopez signed the lease.", LEASE, first=3, last=3)
    (held,) = words_alone.evidence.values()
    case = msgspec.structs.replace(
        words_alone, evidence={held.id: msgspec.structs.replace(held, extractor=SCAN)}
    )
    assert not list(scanned(case))


def test_an_extract_says_what_its_lines_say() -> None:
    assert [each.code for each in scanned(read_by(SCAN, "lease.pdf", form="extract"))] == ["read_by_ocr"]
    no_number = cited("lease.pdf", LEASE, first=3, last=3, form="extract")
    (held,) = no_number.evidence.values()
    case = msgspec.structs.replace(
        no_number, evidence={held.id: msgspec.structs.replace(held, extractor=SCAN)}
    )
    assert not list(scanned(case))


WATER = b"Water\nThe river is 312 km long.\nIt rises in the Eifel.\n"


@pytest.mark.parametrize(
    ("rule", "relation"), [("model", "SUPPORTS"), ("model", "CONTRADICTS"), ("literal", "SUPPORTS")]
)
def test_a_scan_neither_proves_nor_refutes_a_number_whoever_labels_it(rule: str, relation: str) -> None:
    def result(extractor: str, answer: str, line: int) -> tuple[str, str, list[str]]:
        held = evidence("ev_0001", WATER, extractor=extractor)
        said = labels("c1", label("ev_0001", line, line, relation))
        made = build(record(answer, [held], [WATER], labels=(said,), policy=policy(rule)))
        (claim,) = made.attestation.claims
        cards = [parse(made.objects[each], Card) for each in made.attestation.cards]
        return claim.result, claim.reason, [card.relation for card in cards]

    number, words = "The river is 312 km long [ev_0001:2].", "It rises in the Eifel [ev_0001:3]."
    decided = ("SUPPORTED", "") if relation == "SUPPORTS" else ("UNSUPPORTED", "REFUTED")
    assert result("pdf/pdfium-1/rules-2", number, 2)[:2] == decided
    assert result(SCAN, number, 2) == ("INCONCLUSIVE", "PARTIAL", ["QUALIFIES"])
    assert result(SCAN, words, 3)[:2] == decided


def test_a_text_that_says_the_same_proves_it_beside_a_scan() -> None:
    scan = evidence("ev_0001", WATER, extractor=SCAN)
    other = b"Another page says that the river is 312 km long.\n"
    text = evidence("ev_0002", other, source="b.txt")
    answer = "The river is 312 km long [ev_0001:2; ev_0002:1]."
    said = labels("c1", label("ev_0001", 2, 2), label("ev_0002", 1, 1))
    made = build(record(answer, [scan, text], [WATER, other], labels=(said,)))
    assert [each.result for each in made.attestation.claims] == ["SUPPORTED"]
    assert "read_by_ocr" in {each.detector for each in made.attestation.hyperthesis}
