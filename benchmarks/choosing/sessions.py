"""The steps of recorded sessions at which several turns were sampled.

Where somebody says which candidates of a step are good, the chosen one is held against choosing without a
model.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from choosing.figures import mean, success
from vera import events
from vera.bench.eval_data import DataError
from vera.bench.figures import bootstrap, share
from vera.protocol import forms
from vera.report.candidate_steps import Load, SampledStep, Sampling
from vera.report.trajectory_info import LANE
from vera.selection.equal import shown
from vera.session import LogError, Reader, load_text
from vera.store import Store, StoreError

RULES = ("chosen", "random", "first", "majority", "shortest", "oracle")

_UNREADABLE = float("inf")

Labels = Mapping[tuple[str, int], frozenset[int]]


class Sampled(msgspec.Struct, frozen=True, kw_only=True):
    """A step of a session at which a candidate was chosen. `votes` and `lengths` are those of each candidate:
    how many take the same action, and the characters of its action as a judge sees it (infinite where it
    could not be read)."""

    session: str
    step: int
    selected: int
    decider: str
    fallback_reason: str
    judge_calls: int
    seconds: float
    votes: tuple[int, ...]
    lengths: tuple[float, ...]

    @property
    def agreement(self) -> float:
        """The share of the candidates that take the action which most take; 0 when none could be read."""
        return max(self.votes) / len(self.votes)


def read_session(root: Path) -> Iterator[Sampled]:
    """The steps of the session in `root`. Raises DataError."""
    path = root / "trace.jsonl"
    if not path.is_file():
        raise DataError(f"There is no session in {root} (no trace.jsonl).")
    store, sampling = Store(root / "store"), Sampling(LANE)
    try:
        for _, record in Reader(path).poll():
            sampling.add(record)
            if not isinstance(record, events.Selection) or record.lane != LANE:
                continue
            made = sampling.of(record.step)
            if made is not None and made.selected is not None:
                yield _sampled(str(root), made, record, lambda text: load_text(store, text))
    except (LogError, StoreError, UnicodeDecodeError) as error:
        raise DataError(f"{root}: {error}") from None
    except OSError as error:
        raise DataError(f"{root} cannot be read: {error.strerror or error}.") from None


def _sampled(session: str, made: SampledStep, chosen: events.Selection, load: Load) -> Sampled:
    seen = made.seen()
    return Sampled(
        session=session,
        step=made.step,
        selected=chosen.selected,
        decider=chosen.decider,
        fallback_reason=chosen.fallback_reason,
        judge_calls=chosen.judge_calls,
        seconds=chosen.seconds,
        votes=tuple(each.votes for each in seen),
        lengths=tuple(_length(made, index, load) for index in range(len(seen))),
    )


def _length(made: SampledStep, index: int, load: Load) -> float:
    candidate = made.candidates.candidates[index]
    turn = forms.parse(made.protocol, load(candidate.content), candidate.tool_calls).turn
    return _UNREADABLE if turn is None else len(shown(turn.action))


def measure(sampled: Iterable[Sampled], labels: Labels, seed: int) -> dict[str, Any]:
    """The figures of all steps, and of each rule at those with a label.

    `agreement` is the mean share of a step's candidates that take its most frequent action. `unused_labels`
    counts labels of steps that were not found. Raises DataError for a label of a candidate that its step does
    not have, or that fits two sessions.
    """
    steps = list(sampled)
    found = _labelled(steps, labels)
    return {
        "sessions": len({each.session for each in steps}),
        "steps": len(steps),
        "candidates": sum(len(each.votes) for each in steps),
        "agreement": mean([each.agreement for each in steps]),
        "deciders": dict(Counter(each.decider for each in steps).most_common()),
        "fallback_reasons": dict(
            Counter(each.fallback_reason for each in steps if each.fallback_reason).most_common()
        ),
        "judge_calls": sum(each.judge_calls for each in steps),
        "judge_calls_per_step": mean([each.judge_calls for each in steps]),
        "seconds_per_step": mean([each.seconds for each in steps]),
        "labelled": len(found),
        "labelled_share": share(len(found), len(steps)),
        "unused_labels": len(labels) - len(found),
        "rules": {name: _figures(name, found, seed) for name in RULES} if found else {},
    }


def _labelled(steps: Sequence[Sampled], labels: Labels) -> list[tuple[Sampled, frozenset[int]]]:
    """The steps that have a label, with it. A label names a session by its path as typed, or its folder."""
    found, used = [], set()
    for each in steps:
        keys = ((each.session, each.step), (Path(each.session).resolve().name, each.step))
        key = next((key for key in keys if key in labels), None)
        if key is None:
            continue
        if key in used:
            raise DataError(
                f"Two sessions have the name {key[0]!a}. Name them in the labels by their paths, as on the "
                "command line."
            )
        good = labels[key]
        if any(not 0 <= index < len(each.votes) for index in good):
            raise DataError(
                f"The label of step {each.step} of {key[0]} names a candidate that it does not have: it has "
                f"{len(each.votes)}, counted from 0."
            )
        used.add(key)
        found.append((each, good))
    return found


def _figures(name: str, found: Sequence[tuple[Sampled, frozenset[int]]], seed: int) -> dict[str, Any]:
    values = [_success(name, each, good) for each, good in found]
    return {"success": mean(values), "interval": bootstrap(values, seed)}


def _success(name: str, each: Sampled, good: frozenset[int]) -> float:
    """Whether the rule's choice is good, on average over those that are equal to it."""
    numbers = {
        "chosen": [float(index != each.selected) for index in range(len(each.votes))],
        "random": [0.0] * len(each.votes),
        "first": [float(index) for index in range(len(each.votes))],
        "majority": [-float(votes) for votes in each.votes],
        "shortest": list(each.lengths),
        "oracle": [float(index not in good) for index in range(len(each.votes))],
    }[name]
    return success(numbers, [index in good for index in range(len(each.votes))])
