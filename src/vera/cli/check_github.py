"""A report of `vera check` as workflow commands of GitHub Actions, which become notes beside the lines.

Source: https://docs.github.com/actions, "Workflow commands for GitHub Actions". Every line is such a command
and its text is escaped, for the runner obeys any line that looks like one, and a document may hold one.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from vera.cli.check_place import region, relative
from vera.cli.check_text import MAX_SHOWN, shortened, summary
from vera.report.printable import one_printable_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vera.document_check.findings import Problem
    from vera.document_check.run import Report

_LEVELS = {"hard": "error", "hint": "warning", "unchecked": "notice"}


def as_github(report: "Report", lines: "Sequence[str] | None") -> Iterator[str]:
    """One line for each problem and unchecked source, and one with the figures. `lines` are those of the
    file, None for a file that has none (docx, PDF)."""
    file = relative(report.document) or report.document
    found = report.findings
    for problem in found.problems[:MAX_SHOWN]:
        yield _problem(problem, file, lines)
    if len(found.problems) > MAX_SHOWN:
        yield command(
            "warning", f"{file}: {len(found.problems) - MAX_SHOWN} more findings: --json shows all."
        )
    for missing in found.unchecked[:MAX_SHOWN]:
        at = [("line", str(missing.lines[0]))] if lines is not None and missing.lines else []
        where = [("file", file), *at, ("title", "source_unchecked")]
        yield command("notice", f"{missing.source}: {missing.reason}", where)
    for note in (*([f"Unchecked: {found.unread}."] if found.unread else []), *report.notes):
        yield command("notice", note, [("file", file)])
    yield command("notice", " ".join(summary(report)), [("title", "vera check")])


def command(name: str, text: str, properties: "Sequence[tuple[str, str]]" = ()) -> str:
    """A workflow command. Whatever is in its text or properties stays text."""
    shown = ",".join(f"{key}={_escaped(value, ':,')}" for key, value in properties)
    return f"::{name}{' ' if shown else ''}{shown}::{_escaped(text)}"


def _escaped(text: str, more: str = "") -> str:
    """`%` and line ends, in properties also `:` and `,`, as the runner's toolkit writes them."""
    for each in "%\r\n" + more:
        text = text.replace(each, f"%{ord(each):02X}")
    return one_printable_line(text)


def _problem(problem: "Problem", file: str, lines: "Sequence[str] | None") -> str:
    where = [("file", file)]
    said = problem.message
    if lines is None:
        said = f"Line {problem.line} of its text: {said}"
    else:
        place = region(problem, lines)
        where += [("line", str(place.line)), ("endLine", str(place.line))]
        if place.column:
            where += [("col", str(place.column)), ("endColumn", str(place.end_column))]
    where.append(("title", problem.code))
    if problem.claim:
        said = f"{said}\nStatement: {shortened(problem.claim)}"
    return command(_LEVELS[problem.severity], said, where)
