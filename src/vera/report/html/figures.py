"""The figures of a run's status, as the texts that a page shows and a live page replaces."""

from collections.abc import Mapping

from vera.report.html.wording import headline
from vera.report.pictures.axis import duration
from vera.report.pictures.svg import shortened
from vera.report.view.model import Header
from vera.report.view.words import counted, number, points

LABELS: Mapping[str, str] = {
    "step": "step",
    "claims": "claims supported",
    "score": "score",
    "rounds": "rounds",
    "tools": "tool calls",
    "searches": "web searches",
    "tokens": "tokens in / out",
    "cost": "cost",
    "elapsed": "time",
    "events": "events",
    "model": "model",
}
"""Field → what is written over it, in their order."""

REASON_SHOWN = 600
NONE = "–"


def figures(header: Header) -> dict[str, str]:
    """Field → text: the LABELS, and `verdict`, `reason` and `last_call`."""
    read = sum(prompt for _, prompt, _, _ in header.tokens)
    written = sum(completion for _, _, _, completion in header.tokens)
    end = header.last_ts if header.ended_ts is None else header.ended_ts
    failed = f" ({header.tool_errors} failed)" if header.tool_errors else ""
    return {
        "verdict": headline(header),
        "reason": shortened(header.reason, REASON_SHOWN),
        "last_call": _short(header.last_call, 300),
        "step": f"{header.step} of {header.max_steps}" if header.max_steps else number(header.step),
        "claims": f"{header.supported} of {header.claims}" if header.claims else NONE,
        "score": NONE if header.score is None else f"{points(header.score)} of 4",
        "rounds": number(header.rounds),
        "tools": number(header.tool_calls) + failed,
        "searches": number(header.searches),
        "tokens": f"{number(read)} / {number(written)}" if header.tokens else NONE,
        "cost": _short(header.cost, 60),
        "elapsed": duration(end - header.started_ts),
        "events": number(header.events),
        "model": _short(header.model, 60),
    }


def _short(text: str, length: int) -> str:
    return shortened(text, length) or NONE


def announcement(header: Header) -> str:
    """The one sentence that is read out when it changes."""
    if header.claims:
        return f"{headline(header)}: {header.supported} of {counted(header.claims, 'claim')} supported."
    return f"{headline(header)}."
