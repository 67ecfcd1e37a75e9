"""What was read by OCR may have any digit wrong: its numbers prove and refute nothing."""

from collections.abc import Iterator

from vera.audit.case import Case, CitedLines, places
from vera.evidence.claim import Claim
from vera.evidence.finding import Finding
from vera.extraction.source import is_read_by_ocr
from vera.text.quantity import quantities


def scanned(case: Case) -> Iterator[Finding]:
    """`read_by_ocr` (soft) for each claim with a number that cites lines which were read by OCR."""
    for claim in case.claims:
        for place in places(case, claim):
            if rests_on_scanned_number(claim, place):
                yield _finding(claim, place)
                break


def rests_on_scanned_number(claim: Claim, place: CitedLines) -> bool:
    """Whether a claim has a number, date or amount, and the place was read by OCR. An extract says what its
    lines say."""
    if not is_read_by_ocr(place.evidence.extractor):
        return False
    text = place.span.text if claim.form == "extract" else claim.text
    return next(iter(quantities(text, place.source.language)), None) is not None


def _finding(claim: Claim, place: CitedLines) -> Finding:
    return Finding(
        code="read_by_ocr",
        label="invalid_source",
        severity="soft",
        message=f"The numbers were read by OCR from {place.evidence.source}, which misreads digits: compare "
        "them with the page, or cite a source that holds text.",
        claim=claim.key,
        evidence=place.evidence.id,
        first=place.first,
        last=place.last,
    )
