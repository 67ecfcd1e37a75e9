"""Cited lines of which another file of the folder says that they no longer hold."""

from collections.abc import Iterator

from vera.audit.case import Case, CitedLines, places
from vera.audit.versions import Superseding, superseding
from vera.events import Evidence
from vera.evidence.citation import place_name
from vera.evidence.finding import Finding

_MAX_HINTS = 2
"""Of one claim; of explicit replacements each is told."""

_SAYS = {
    "clause": "says that it replaces or amends the clause in",
    "document": "says that it replaces",
    "part": "says that it replaces or amends something in",
    "everything": "says that it replaces everything, without naming",
    "later": "has a later name or date than",
}


def superseded(case: Case) -> Iterator[Finding]:
    """`superseded` (soft; the lines decide nothing any more) where a file explicitly replaces what a claim
    cites, `maybe_superseded` (soft, a hint) where it says less, or only has a later name or date."""
    if not case.versions:
        return
    for claim in case.claims:
        if claim.form == "absence":
            continue
        told: dict[tuple[str, int], Finding] = {}
        for place in places(case, claim):
            for said in superseding(case, place):
                told.setdefault((said.evidence, said.first), _finding(case, claim.key, place, said))
        ordered = sorted(told.values(), key=lambda each: each.code != "superseded")
        explicit = sum(each.code == "superseded" for each in ordered)
        yield from ordered[: explicit or _MAX_HINTS]


def _finding(case: Case, claim: str, place: CitedLines, said: Superseding) -> Finding:
    other = case.evidence[said.evidence]
    where = _place(other, said.first, said.last)
    cited = _place(place.evidence, place.first, place.last)
    advice = (
        "Cite what holds now, or say that it was replaced."
        if said.explicit
        else "A hint: read it, and cite what holds now."
    )
    return Finding(
        code="superseded" if said.explicit else "maybe_superseded",
        label="misinterpretation",
        severity="soft",
        claim=claim,
        evidence=said.evidence,
        first=said.first,
        last=said.last,
        message=f"{where} {_SAYS[said.kind]} {cited[:-1]}: “{said.text[:240]}”. {advice}",
        detail=said.text[:400],
    )


def _place(evidence: Evidence, first: int, last: int) -> str:
    lines = f"line {first}" if first == last else f"lines {first}-{last}"
    return f"{evidence.source}, {lines} [{place_name(evidence.id, first, last)}],"
