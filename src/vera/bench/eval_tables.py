"""The figures of an evaluation as a person reads them."""

import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

_ANSWERS = {
    "answered": "answered, of all",
    "right_of_answerable": "right, of the answerable",
    "right_of_answered": "right, of those answered",
    "answerable_answered": "answerable and answered",
    "unanswerable_answered": "unanswerable and answered",
    "decided_rightly": "right, or rightly not answered",
    "sole_of_right": "right, with no other such value",
}
_VERIFIER = {
    "false_accept": "wrong answers accepted (false accept)",
    "false_reject": "right answers not accepted (false reject)",
}
_CITATIONS = {
    "precision_by_audit": "precision by the audit",
    "recall_by_audit": "recall by the audit",
    "precision_by_key": "precision by the key",
    "recall_by_key": "recall by the key",
}
_WIDTH = 34


def as_text(figures: Mapping[str, Any]) -> str:
    """The tables."""
    return "\n".join(_lines(figures))


def _lines(figures: Mapping[str, Any]) -> Iterator[str]:
    yield (
        f"{figures['questions']} questions, {figures['answerable']} of them answerable. One run of each; "
        f"“off” takes its first answer, “on” its last one if {' or '.join(figures['accepted'])}."
    )
    yield ", ".join(f"{count} {word}" for word, count in figures["statuses"].items())
    yield ""
    yield f"{'':{_WIDTH}} {'verifier off':27} verifier on"
    for name, words in _ANSWERS.items():
        off, on = figures["verifier_off"][name], figures["verifier_on"][name]
        yield f"{words:{_WIDTH}} {_share(off):27} {_share(on)}"
    yield ""
    yield "the verifier against the key"
    yield from (f"  {words:42} {_share(figures['verifier'][name])}" for name, words in _VERIFIER.items())
    yield "citations"
    yield from (f"  {words:42} {_share(figures['citations'][name])}" for name, words in _CITATIONS.items())
    yield "spent for a question"
    yield f"  {'tokens':42} {_mean(figures['tokens'])}"
    yield f"  {'seconds':42} {_mean(figures['seconds'])}"
    if figures["groups"]:
        yield "groups"
        for name, group in figures["groups"].items():
            right = f", right {group['accepted_right']}" if group["answerable"] else ""
            yield f"  {name:42} accepted {_share(group['accepted'])}{right}"
    yield ""
    yield "Brackets: 95 % intervals, Wilson's for shares, bootstrap for the rest."
    yield textwrap.fill(figures["rule"], 100)


def _share(figure: Mapping[str, Any]) -> str:
    if figure["value"] is None:
        return "-"
    low, high = figure["interval"]
    return f"{figure['value']:.3f} ({low:.3f}-{high:.3f}) {figure['count']}/{figure['of']}"


def _mean(figure: Mapping[str, Any]) -> str:
    if figure["mean"] is None:
        return "-"
    low, high = figure["interval"]
    return f"{figure['mean']:g} ({low:g}-{high:g}), {figure['sum']:g} in all"
