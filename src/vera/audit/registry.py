"""Every check, in the order in which their findings are told."""

from vera.audit.case import Case, Check
from vera.audit.checks.altered import altered
from vera.audit.checks.cells import cells
from vera.audit.checks.citations import citations
from vera.audit.checks.computed import computed
from vera.audit.checks.content import content
from vera.audit.checks.counts import counts
from vera.audit.checks.independence import independence
from vera.audit.checks.marked import marked
from vera.audit.checks.names import names
from vera.audit.checks.negative import negative
from vera.audit.checks.numbers import numbers
from vera.audit.checks.opposed import opposed
from vera.audit.checks.quotations import quotations
from vera.audit.checks.scanned import scanned
from vera.audit.checks.set_aside import set_aside
from vera.audit.checks.superseded import superseded
from vera.audit.checks.time_window import time_window
from vera.audit.checks.uncited import uncited
from vera.audit.checks.wording import wording
from vera.evidence.finding import Finding

VERSION = "audit/13"
"""Changes whenever the same case may give other findings: replay then says RULES_CHANGED."""

CHECKS: tuple[Check, ...] = (
    citations,
    content,
    marked,
    scanned,
    quotations,
    computed,
    numbers,
    cells,
    counts,
    altered,
    names,
    wording,
    opposed,
    set_aside,
    superseded,
    uncited,
    independence,
    time_window,
    negative,
)


FLOOR = frozenset(
    {
        "lines_blank",
        "lines_unread",
        "number_absent",
        "date_absent",
        "amount_absent",
        "number_not_in_span",
        "cell_of_another",
        "value_altered",
        "name_absent",
        "words_absent",
        "quotation_false",
        "quotation_uncited",
        "quotation_not_in_span",
        "quotation_frame",
        "quotation_gap",
        "set_aside",
    }
)
"""The floor that no judge lifts: findings that say what is not in the cited lines. Each counts where it is
hard; `set_aside`, which is a hint under the rule `literal`, always counts against what a judge says."""


def audit(case: Case) -> tuple[Finding, ...]:
    """All findings of all checks."""
    return tuple(finding for check in CHECKS for finding in check(case))
