"""The summary of a batch for a person: a table on a terminal's width, and what was spent in all."""

from vera.attestation.report import counted
from vera.batch.summary import Row, Summary, Usage
from vera.report.printable import one_printable_line

LABEL = 40
MAX_REASON = 600
"""Characters of a reason: it ends with what to type."""

MAX_ROWS = 200
"""Rows that are shown; --json has all of them."""


def summary_text(summary: Summary) -> str:
    """Lines of plain text: what is wrong stands last, where it is seen."""
    rows = sorted(summary.rows, key=lambda row: row.state != "done")
    shown = rows[-MAX_ROWS:]
    width = max((len(_label(row)) for row in shown), default=4)
    lines = [_line(row, width) for row in shown]
    if len(rows) > len(shown):
        lines.insert(0, f"… {len(rows) - len(shown)} more, which --json has")
    states = ", ".join(f"{count} {state}" for state, count in summary.states.items())
    verdicts = ", ".join(f"{count} {verdict}" for verdict, count in summary.verdicts.items())
    lines += ["", f"{counted(len(rows), 'task')}: {states or 'none'}{f' ({verdicts})' if verdicts else ''}"]
    lines.append(f"Spent in all: {_usage(summary.usage)}.")
    return "\n".join(lines)


def _line(row: Row, width: int) -> str:
    what = row.status or row.state
    again = f", {row.attempts} attempts" if row.attempts > 1 else ""
    used = "used again" if row.reused else _usage(row.usage)
    reason = f": {_reason(row)}" if row.reason and row.state != "done" else ""
    return f"{_label(row):<{width}}  {what:<12}  {used}{again}{reason}"


def _reason(row: Row) -> str:
    said = one_printable_line(row.reason)
    return said if len(said) <= MAX_REASON else f"{said[: MAX_REASON - 1]}…"


def _label(row: Row) -> str:
    return one_printable_line((row.name or row.id[:12])[:LABEL])


def _usage(usage: Usage) -> str:
    tokens = usage.prompt_tokens + usage.completion_tokens
    cost = f", cost {usage.cost}" if usage.cost and usage.cost != "0" else ""
    return f"{tokens} tokens{cost}, {usage.seconds:.1f} s"
