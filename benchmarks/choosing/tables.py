"""The figures of `benchmarks/selection.py` as a person reads them."""

from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap
from typing import Any

from choosing.comparison import NOISES
from choosing.rules import OURS, PEERS

Json = Mapping[str, Any]

_NAMES = {"random": "random (pass@1)", "fewest_characters": "fewest characters"}
_COLUMNS = ("first", "random", "shortest", "majority", "listwise", "pointwise", "llm", "pairwise", "oracle")
_WORDS = {value: words for words, value in NOISES.items()}

WIDTH = 110

_NOTES = (
    "good: how often the policy samples the good one of 6 actions; * where a bad one is its favourite. "
    "N: candidates.",
    "noise: standard deviation of the judge's error, good and bad being 1 apart. bias: what the first place "
    "is worth to it. last: the share of the error's variance that stays the same through a step.",
    "The last two columns: questions a step of llm and pairwise. listwise asks 1, pointwise N, the others "
    "none.",
)
_REASONS = (
    "The favourite is wrong (*): votes speak for a bad action. pointwise and listwise, which weigh none, do "
    "as well or better there, unless the judge errs much.",
    "A judge who hardly errs (low) needs neither votes nor pairs: pointwise is best, for N questions; "
    "listwise asks one.",
    "A judge who errs very much adds nothing to votes for a clear favourite (0.6, 0.8): majority, which asks "
    "no one, is as good or better.",
    "A judge whose error stays the same (last) is not corrected by asking again.",
    "A strong bias of place leaves few pairs with a verdict; pointwise shows one action at a time and has "
    "none.",
)


def as_text(figures: Json) -> str:
    """The tables of all sources that were measured."""
    parts = []
    for path, part in figures.get("trajectories", {}).items():
        parts.append("\n".join(_trajectories(path, part)))
    if "sessions" in figures:
        parts.append("\n".join(_sessions(figures["sessions"])))
    if "simulation" in figures:
        parts.append("\n".join(_simulation(figures["simulation"])))
    return "\n\n".join(parts)


def _trajectories(path: str, part: Json) -> Iterator[str]:
    each = " or ".join(map(str, part["per_task"])) or "0"
    yield f"{path}: {part['trajectories']} trajectories of {part['tasks']} tasks, {each} a task"
    if part["unlabelled"]:
        yield f"  {part['unlabelled']} more have no label or no task; --labels names both"
    yield f"  {'':18}  {'success':>7}  {'95 % interval':<14}  {'gain':>6}  {'95 % interval':<16}  pairs"
    for name, rule in part["rules"].items():
        gain = _signed(rule["gain"])
        yield (
            f"  {_NAMES.get(name, name):18}  {_share(rule['success']):>7}  {_interval(rule['interval']):<14}"
            f"  {gain:>6}  {_interval(rule['gain_interval'], signed=True):<16}  {_share(rule['pairwise'])}"
        )
    yield from _wrapped(
        f"gain: beside random. pairs: how often the rule takes the better one of {part['mixed_pairs']} pairs "
        "of a task of which one passed; equals count half."
    )


def _sessions(part: Json) -> Iterator[str]:
    yield (
        f"{part['steps']} steps of {part['sessions']} sessions, {part['candidates']} candidates; "
        f"{part['labelled']} steps have a label"
    )
    if part["unused_labels"]:
        yield f"  {part['unused_labels']} labels are of steps that were not sampled in these sessions"
    yield f"  agreement                     {_share(part['agreement'])}"
    a_step = _number(part["judge_calls_per_step"])
    yield f"  judge calls                   {part['judge_calls']} ({a_step} a step)"
    yield f"  seconds to choose, a step     {_number(part['seconds_per_step'])}"
    yield f"  decided by                    {_counts(part['deciders'])}"
    if part["fallback_reasons"]:
        yield f"  fallbacks because of          {_counts(part['fallback_reasons'])}"
    if part["rules"]:
        yield f"  {'':10}  {'good':>6}  95 % interval"
        for name, rule in part["rules"].items():
            yield f"  {name:10}  {_share(rule['success']):>6}  {_interval(rule['interval'])}"


def _simulation(part: Json) -> Iterator[str]:
    rows, told = part["rows"], part["options"]
    yield (
        f"Simulation: how often the good action was chosen, {part['steps']} steps a row, seed {part['seed']}"
    )
    yield (
        f"  pairwise with vote_weight {told['vote_weight']:g}, max_compared {told['max_compared']}, "
        f"agreement_threshold {told['agreement_threshold']:g}"
    )
    heads = " ".join(f"{name:>6}" for name in _COLUMNS)
    yield f"  good  N noise bias last {heads}  {'llm':>4} {'pair':>4}"
    for row in rows:
        yield _row(row)
    for note in _NOTES:
        yield from _wrapped(note)
    yield from _wrapped(
        f"Intervals of 95 % (Wilson) are at most {_widest(rows):.3f} to each side; --json has them all."
    )
    yield from _where_not(rows)


def _row(row: Json) -> str:
    shares = " ".join(f"{_share(row['rules'][name]['success']):>{max(6, len(name))}}" for name in _COLUMNS)
    calls = " ".join(f"{row['rules'][name]['calls']:>4.1f}" for name in ("llm", OURS))
    mark = " " if row["mode_right"] else "*"
    policy = f"{row['good']:>4.1f}{mark}{row['candidates']:>2}"
    judge = f"{row['noise']:>5.1f} {row['bias']:>4.1f} {row['lasting']:>4.1f}"
    return f"  {policy} {judge} {shares}  {calls}"


def _widest(rows: Sequence[Json]) -> float:
    intervals = [rule["interval"] for row in rows for rule in row["rules"].values()]
    return max((float(high - low) / 2 for low, high in intervals), default=0.0)


def _where_not(rows: Sequence[Json]) -> Iterator[str]:
    """Which rows `pairwise` does not win, peer by peer."""
    yield f"  Where {OURS} does not win, as good/N (paired, 95 %):"
    for peer in PEERS:
        for verdict, words in (("worse", "loses to"), ("even", "is even with")):
            lost = [row for row in rows if row["against"][peer]["verdict"] == verdict]
            if lost:
                yield from _wrapped(f"{words} {peer}: {'; '.join(_named(row, peer) for row in lost)}", 4)
    for reason in _REASONS:
        yield from _wrapped(reason)


def _wrapped(words: str, indent: int = 2) -> list[str]:
    return wrap(words, WIDTH, initial_indent=" " * indent, subsequent_indent=" " * (indent + 2))


def _named(row: Json, peer: str) -> str:
    more = ""
    if row["lasting"]:
        more += f" last {row['lasting']:g}"
    if row["bias"] != 0.5:
        more += f" bias {row['bias']:g}"
    word = _WORDS.get(row["noise"], f"{row['noise']:g}")
    return f"{row['good']:g}/{row['candidates']} {word}{more} ({_signed(row['against'][peer]['difference'])})"


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _signed(value: float | None) -> str:
    return "-" if value is None else f"{value:+.3f}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items()) or "-"


def _interval(bounds: Sequence[float] | None, *, signed: bool = False) -> str:
    form = _signed if signed else _share
    return "" if bounds is None else f"{form(bounds[0])} to {form(bounds[1])}"
