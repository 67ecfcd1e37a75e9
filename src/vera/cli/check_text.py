"""How `vera check` says a report to a person."""

from typing import TYPE_CHECKING

from vera.attestation.report import counted
from vera.report.printable import one_printable_line

if TYPE_CHECKING:
    from vera.document_check.findings import Problem
    from vera.document_check.run import Report

MAX_SHOWN = 100
"""Problems, and unchecked sources, of one document that are printed; JSON and SARIF have all."""

_CLAIM_SHOWN = 300
_LINES_SHOWN = 12


def as_text(report: "Report", *, named: bool = False) -> str:
    """Each problem with its line, the sources that could not be had, and a last line of figures.

    With `named`, as of several documents, the document is named before each.
    """
    found = report.findings
    file = report.document if named else ""
    lines: list[str] = []
    for problem in found.problems[:MAX_SHOWN]:
        lines += [*_problem(problem, f"{file}, " if file else ""), ""]
    before = f"{file}: " if file else ""
    if len(found.problems) > MAX_SHOWN:
        lines += [f"{before}{len(found.problems) - MAX_SHOWN} more: --json shows all.", ""]
    for missing in found.unchecked[:MAX_SHOWN]:
        lines.append(f"{before}unchecked: {missing.source} ({_numbered(missing.lines)}): {missing.reason}")
    if len(found.unchecked) > MAX_SHOWN:
        lines.append(f"{before}{len(found.unchecked) - MAX_SHOWN} more unchecked: --json shows all.")
    lines += [f"{before}unchecked: {found.unread}."] if found.unread else []
    lines += [f"{before}note: {note}" for note in report.notes]
    if lines and lines[-1]:
        lines.append("")
    return "\n".join(one_printable_line(line) for line in [*lines, *summary(report)])


def summary(report: "Report") -> list[str]:
    """The figures of a report in a sentence, and one more where nothing was checked."""
    found = report.findings
    counts = [
        words
        for number, words in (
            (found.count("hard"), counted(found.count("hard"), "hard finding")),
            (found.count("hint"), counted(found.count("hint"), "hint")),
            (len(found.unchecked), counted(len(found.unchecked), "source") + " unchecked"),
        )
        if number
    ]
    lines = [
        f"{report.document}: {counted(found.claims, 'statement')}, {found.named} with a source, "
        f"{found.checked} checked: quotations, numbers, dates and names compared, meaning not judged. "
        + (", ".join(counts) or "No finding")
        + "."
    ]
    if report.references:
        lines.append(_references(report))
    elif not found.named:
        lines.append("No statement names a source, so nothing was checked.")
    return lines


def _references(report: "Report") -> str:
    """How many references were looked up, and how many of them were found."""
    named = counted(len(report.references), "reference")
    known = sum(each.status == "found" for each in report.references)
    asked = sum(each.status != "unchecked" for each in report.references)
    return f"{named if asked == len(report.references) else f'{asked} of {named}'} looked up, {known} found."


def shortened(claim: str) -> str:
    """A statement as it is shown beside a problem."""
    return claim if len(claim) <= _CLAIM_SHOWN else claim[: _CLAIM_SHOWN - 1] + "…"


def is_difference(detail: str) -> bool:
    """Whether a problem's detail is a difference, `[-said-]{+is there+}`, and not a value."""
    return "[-" in detail or "{+" in detail


def _problem(problem: "Problem", file: str) -> list[str]:
    lines = [f"{file}line {problem.line}: {problem.severity}: {problem.message}"]
    if problem.claim:
        lines.append(f"  statement: {shortened(problem.claim)}")
    if is_difference(problem.detail):
        lines.append(f"  difference: {problem.detail}")
    return lines


def _numbered(lines: tuple[int, ...]) -> str:
    shown = ", ".join(map(str, lines[:_LINES_SHOWN]))
    more = f" and {len(lines) - _LINES_SHOWN} more" if len(lines) > _LINES_SHOWN else ""
    return f"line{'s' if len(lines) > 1 else ''} {shown}{more}"
