"""The audit on claims that people have judged: WiCE, pairs of the kind of FEVER, COVID-Fact, AVeriTeC.

A claim cites the whole of its one page, a file of /input whose lines are the sentences of the data. What a
data set cannot say is not asked: how many independent sources there are, and what was searched for. All
checks of the audit run. The figures without the check of quotations are beside: the text of WiCE comes from
Wikipedia by a converter that turns italics into quotation marks, so what is in them is mostly a title.

A passage that comes without the title of its page does not name what it is about ("He was born in 1947"). The
check of names is left out there, as `names_read` says.
"""

import time
from collections.abc import Iterable
from typing import Any

from checks.figures import Outcome, baselines, intervals, rejecting, share_interval
from checks.labelled import CheckedClaim
from checks.library import blob_of
from vera.audit.case import AuditPolicy, Case, Check
from vera.audit.checks.names import names
from vera.audit.checks.quotations import quotations
from vera.audit.registry import CHECKS
from vera.audit.source_text import SourceText
from vera.bench.figures import share
from vera.events import Evidence
from vera.evidence.claim import Cite, Claim
from vera.evidence.finding import Finding

FOUND_AMONG = 10
"""The best passages among which a supporting sentence is to be."""

_POLICY = AuditPolicy(web_sources=1, negative_families=0, negative_official=0, negative_independent=0)
_OTHERS: tuple[Check, ...] = tuple(check for check in CHECKS if check is not quotations)


def page_case(claim: str, page: Iterable[str]) -> Case:
    """A claim that cites all lines of one page."""
    data = "".join(line.replace("\n", " ") + "\n" for line in page).encode("utf-8", "replace")
    blob, source = blob_of(data), SourceText(data)
    lines = len(source.lines)
    evidence = Evidence(
        id="ev_0001",
        call="call_0001",
        step=1,
        tool="read",
        tier="captured",
        source="page.txt",
        summary="",
        text=blob,
        lines=lines,
        first=1,
        last=lines,
    )
    statement = Claim(key="c1", text=claim, start=0, end=len(claim), cites=(Cite("ev_0001", 1, lines),))
    return Case(
        task="",
        answer=claim,
        claims=(statement,),
        evidence={evidence.id: evidence},
        sources={blob.sha256: source},
        policy=_POLICY,
    )


def measure(claims: Iterable[CheckedClaim], seed: int, *, titled: bool = True) -> dict[str, Any]:
    """The figures as JSON holds them. `titled`: the pages have their titles, so that names count.

    `hit_at_10` is the share, of the claims with lines that support them, of those where one of these lines is
    among the ten best passages (BM25) for the claim. `ms_per_claim` is wall time of the audit, with a page
    that it sees for the first time.
    """
    outcomes: list[Outcome] = []
    unquoted: list[Outcome] = []
    hits: list[bool] = []
    seconds = 0.0
    checks = _OTHERS if titled else tuple(check for check in _OTHERS if check is not names)
    for each in claims:
        started = time.perf_counter()
        case = page_case(each.text, each.page)
        found = [finding for check in checks for finding in check(case)]
        of_quotations = list(quotations(case))
        seconds += time.perf_counter() - started
        outcomes.append(_outcome(each, [*found, *of_quotations]))
        unquoted.append(_outcome(each, found))
        if each.gold:
            (page,) = case.sources.values()
            best = page.passages.best(each.text, FOUND_AMONG)
            hits.append(any(passage.first in each.gold for passage in best))
    return {
        "n": len(outcomes),
        "supported": sum(not each.wrong for each in outcomes),
        "names_read": titled,
        **rejecting(outcomes),
        "hard_false_vetoes": _vetoed(outcomes),
        **({"hit_at_10": share(sum(hits), len(hits)), "hit_at_10_n": len(hits)} if hits else {}),
        "ms_per_claim": round(1000 * seconds / len(outcomes), 2) if outcomes else None,
        "baselines": baselines(outcomes),
        "without_quotations": {**rejecting(unquoted), "hard_false_vetoes": _vetoed(unquoted)},
        "intervals": {
            **intervals(outcomes, seed),
            **({"hit_at_10": share_interval(hits, seed)} if hits else {}),
        },
    }


def _outcome(claim: CheckedClaim, found: Iterable[Finding]) -> Outcome:
    severities = {finding.severity for finding in found}
    return Outcome(wrong=not claim.supported, hard="hard" in severities, found=bool(severities))


def _vetoed(outcomes: Iterable[Outcome]) -> int:
    return sum(each.hard and not each.wrong for each in outcomes)
