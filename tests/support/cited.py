"""One claim that cites lines of one page, or of several."""

import hashlib

from vera import events
from vera.audit.case import Case, CitedLines, places
from vera.audit.source_text import SourceText
from vera.evidence.claim import Cite, Claim


def cited(
    claim: str,
    *pages: str,
    first: int | None = None,
    last: int | None = None,
    title: str = "",
    source: str = "https://news.example/article",
    form: str = "statement",
) -> Case:
    """The claim cites lines `first` to `last` of each page, all of it by default."""
    evidence: dict[str, events.Evidence] = {}
    sources: dict[str, SourceText] = {}
    for number, page in enumerate(pages, 1):
        data = page.encode()
        sha256 = hashlib.sha256(data).hexdigest()
        sources[sha256] = SourceText(data)
        lines = len(sources[sha256].lines)
        evidence[f"ev_{number:04}"] = events.Evidence(
            id=f"ev_{number:04}",
            call=f"call_{number:04}",
            step=number,
            tool="fetch",
            tier="captured",
            source=source,
            title=title,
            summary="",
            text=events.Blob(sha256, len(data)),
            lines=lines,
            first=1,
            last=lines,
        )
    statement = Claim(
        key="c1",
        text=claim,
        start=0,
        end=len(claim),
        form=form,
        cites=tuple(Cite(name, first, last) for name in evidence),
    )
    return Case(task="", answer=claim, claims=(statement,), evidence=evidence, sources=sources)


def place(case: Case) -> CitedLines:
    """The only place that the case's claim cites."""
    (only,) = places(case, case.claims[0])
    return only
