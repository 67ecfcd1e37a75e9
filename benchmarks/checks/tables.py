"""The figures of `benchmarks/verifier.py` as a person reads them."""

from collections.abc import Iterator, Mapping
from typing import Any

_JUDGED = {
    "hard_precision": "hard findings: precision",
    "hard_recall": "hard findings: recall",
    "hard_false_veto": "hard findings: right claims vetoed",
    "precision": "all findings: precision",
    "recall": "all findings: recall",
    "f1": "all findings: F1",
    "balanced_accuracy": "all findings: balanced accuracy",
    "hit_at_10": "a supporting line among the ten best",
}
_TITLES = {"wice": "WiCE", "fever": "FEVER pairs", "covidfact": "COVID-Fact", "averitec": "AVeriTeC"}


def as_text(figures: Mapping[str, Any]) -> str:
    """The tables of all parts that were measured."""
    parts = []
    for name, part in figures.items():
        match name:
            case "mutations":
                parts.append("\n".join(_mutations(part)))
            case "quotesum":
                parts.append("\n".join(_located(part)))
            case _:
                parts.append("\n".join(_judged(_TITLES[name], part)))
    return "\n\n".join(parts)


def _judged(title: str, part: Mapping[str, Any]) -> Iterator[str]:
    yield f"{title}: {part['n']} claims, {part['supported']} of them fully supported"
    yield f"  {'':38}  {'share':>6}  {'95 % interval':<15}  {'reject none':>11}  {'reject all':>10}"
    never, always = part["baselines"]["never_reject"], part["baselines"]["always_reject"]
    for name, words in _JUDGED.items():
        if name in part:
            line = f"  {words:38}  {_share(part[name]):>6}  {_interval(part['intervals'][name]):<15}"
            beside = f"  {_share(never[name]):>11}  {_share(always[name]):>10}" if name in never else ""
            yield (line + beside).rstrip()
    yield f"  {part['hard_false_vetoes']} fully supported claims vetoed; {part['ms_per_claim']} ms a claim"
    if not part["names_read"]:
        yield "  names are not compared: the passages come without the titles of their pages"
    others = part["without_quotations"]
    yield (
        f"  without the check of quotations: hard precision {_share(others['hard_precision'])}, "
        f"{others['hard_false_vetoes']} vetoed"
    )


def _located(part: Mapping[str, Any]) -> Iterator[str]:
    yield f"QuoteSum: {part['n']} marked quotations"
    yield f"  located        {_share(part['located'])}  {_interval(part['intervals']['located'])}"
    yield f"  wrong offsets  {part['wrong_offsets']}"
    yield f"  {part['ms_per_quotation']} ms a quotation"


def _mutations(part: Mapping[str, Any]) -> Iterator[str]:
    yield f"Mutations of {part['originals']} true statements"
    yield f"  {'fault':22}  {'n':>4}  {'caught':>6}  {'hard':>4}  {'share':>6}  {'95 % interval':<15}  wanted"
    for name, kind in part.items():
        if isinstance(kind, Mapping):
            wanted = "" if kind["wanted"] is None else f"{kind['wanted']:.2f}"
            counts = f"{kind['n']:>4}  {kind['caught']:>6}  {kind['hard']:>4}  {_share(kind['share']):>6}"
            yield f"  {name:22}  {counts}  {_interval(kind['interval']):<15}  {wanted}".rstrip()
    yield (
        f"  false alarms on the originals: {part['false_alarms_hard']} hard "
        f"({_share(part['false_alarms_hard_share'])}, wanted at most "
        f"{part['false_alarms_hard_wanted']:.2f}), {part['false_alarms_soft']} soft"
    )


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _interval(bounds: tuple[float, float] | None) -> str:
    return "" if bounds is None else f"{bounds[0]:.3f} to {bounds[1]:.3f}"
