"""Five plugins for VERA. How each family works: docs/how-to/write-a-plugin.md."""

from collections.abc import Iterator, Sequence
from datetime import date

from vera.audit.case import Case
from vera.evidence.finding import Finding
from vera.extraction.canonical.registry import Format
from vera.extraction.source import Extracted
from vera.gates.kernel import (
    ALLOW,
    Action,
    Facts,
    Proposal,
    Refuse,
    Rules,
    State,
    ToolCall,
    Verdict,
    limit_of,
)
from vera.selection.options import SelectionOptions
from vera.selection.selector import ActionCluster, Judge, SelectionContext, SelectorChoice


def weekday(day: str) -> str:
    """Tell the weekday of a date that is given as YYYY-MM-DD."""
    return f"{day} is a {date.fromisoformat(day):%A}."


def shouting(case: Case) -> Iterator[Finding]:
    """Find claims that are written in capital letters."""
    for claim in case.claims:
        if claim.text.isupper():
            yield Finding(
                code="capitals",
                label="overconfident",
                severity="hard",
                claim=claim.key,
                message="The statement is in capital letters; write it as the source does.",
            )


MAX_WORDS = 12
"""Words of a query; search engines and indexes do worse with more."""


def long_query(state: State, action: Action, rules: Rules) -> Verdict:
    """Refuse a search with too many words. The limit can be set: policy.gate_limits: long_query=20"""
    limit = limit_of(rules, "long_query", MAX_WORDS)
    if not isinstance(action, ToolCall) or not action.aim.query:
        return ALLOW
    words = action.aim.query.split()
    if len(words) <= limit:
        return ALLOW
    return Refuse(
        reason=f"The query has {len(words)} words.",
        way_forward=f"Ask with at most {limit}.",
        proposal=Proposal(tool=action.tool, args={"query": " ".join(words[:limit])}),
        facts=Facts(subject=action.aim.query, count=len(words), limit=limit),
    )


class ReadersFirst:
    """Among sampled actions prefer one that reads, then the one with the most votes."""

    judges = False

    async def select(
        self, options: Sequence[ActionCluster], scene: SelectionContext, judge: Judge, how: SelectionOptions
    ) -> SelectorChoice:
        best = max(range(len(options)), key=lambda at: ("read" in options[at].action, options[at].votes))
        return SelectorChoice(chosen=best, reason="it reads a source")


def _events(data: bytes, name: str) -> Extracted:
    """The days and titles of an iCalendar file (RFC 5545), a line each."""
    lines, day = [], ""
    for line in data.decode("utf-8", "replace").splitlines():
        key, _, value = line.partition(":")
        match key.partition(";")[0]:
            case "DTSTART":
                day = f"{value[:4]}-{value[4:6]}-{value[6:8]}"
            case "SUMMARY":
                lines.append(f"{day}: {value}")
    text = "\n".join(lines).encode()
    return Extracted(text=text, title=name, media_type="text/plain", extractor="")


CALENDAR = Format("calendar", (".ics",), hostile=False, limit=16 << 20, extract=_events)
