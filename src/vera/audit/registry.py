"""Every check, in the order in which their findings are told."""

from vera.audit.case import Case, Check
from vera.audit.checks.citations import citations
from vera.audit.checks.computed import computed
from vera.audit.checks.content import content
from vera.audit.checks.counts import counts
from vera.audit.checks.independence import independence
from vera.audit.checks.names import names
from vera.audit.checks.negative import negative
from vera.audit.checks.numbers import numbers
from vera.audit.checks.quotations import quotations
from vera.audit.checks.time_window import time_window
from vera.audit.checks.uncited import uncited
from vera.audit.checks.wording import wording
from vera.evidence.finding import Finding

VERSION = "audit/2"
"""Changes whenever the same case may give other findings: replay then says RULES_CHANGED."""

CHECKS: tuple[Check, ...] = (
    citations,
    content,
    quotations,
    computed,
    numbers,
    counts,
    names,
    wording,
    uncited,
    independence,
    time_window,
    negative,
)


def audit(case: Case) -> tuple[Finding, ...]:
    """All findings of all checks."""
    return tuple(finding for check in CHECKS for finding in check(case))
