"""Statements without a citation."""

from collections.abc import Iterator

from vera.audit.case import Case
from vera.audit.checkable import checkable
from vera.evidence.finding import Finding

_MAX_SHOWN = 120


def uncited(case: Case) -> Iterator[Finding]:
    """`uncited` for each statement that cites nothing, with what is in it that a source would have to say."""
    for claim in case.claims:
        if claim.form != "statement" or claim.cites or not claim.load_bearing:
            continue
        held = {each.text: each for each in checkable(claim.text)}.values()
        named = ", ".join(f"a {each.kind} ({each.text[:_MAX_SHOWN]})" for each in held)
        yield Finding(
            code="uncited",
            label="missing_source",
            severity="soft",
            claim=claim.key,
            message=f"No source is cited for {named or 'this'}; cite the lines that say it, or drop it.",
            detail="; ".join(each.text[:_MAX_SHOWN] for each in held) or claim.text[:_MAX_SHOWN],
        )
