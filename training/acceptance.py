"""The weights by which the built-in model decides that lines count as the answer (`vera.builtin.acceptance`).

    python training/acceptance.py --texts DIR [--keep FILE]

DIR is what `benchmarks/manuals.py --prepare` has made. Each question of the eight sets is asked. Of each
sentence that may answer, what is weighed is kept, and whether its lines hold the expected words (in FILE,
from which a second call reads them). A logistic model with a small ridge penalty is fitted on the AT_MOST
likeliest sentences of each question, ROUNDS times, each question weighing the same. No chance is in it.

Printed: for several bounds what is presented when each set is asked by weights that the other seven gave,
alone and with the sentences that say all that is demanded; the same with the bound, too, chosen on the seven;
and the weights that all eight give. Intervals are Wilson's at 95 %.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from itertools import chain
from math import inf
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from vera.builtin.acceptance import ACCEPTANCE, features, rivals_of
from vera.builtin.conversation import Conversation, Excerpt, understand
from vera.builtin.model import Extractive
from vera.builtin.plan import ALSO_CITED, MAX_CITATIONS, scored
from vera.builtin.scoring import Window, grown
from vera.model.types import Completion, Message, Request

sys.path.append(str(Path(__file__).resolve().parent.parent / "benchmarks"))
import extractive
import manuals

SETS = ("questions", "held-out", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
PENALTY = 0.1
AT_MOST = 3
ROUNDS = 3
STEPS = 30
BOUNDS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0)
COST = 10
"""So many right answers a wrong one costs when the bound is chosen."""

Vector = NDArray[np.float64]


class Candidate(msgspec.Struct, frozen=True):
    """A sentence: what is weighed of it, the score of its lines, whether these hold the expected words, and
    whether it says all that is demanded."""

    weighed: tuple[float, ...]
    score: float
    right: bool
    answers: bool


class Asked(msgspec.Struct, frozen=True):
    """A question of a set and its candidates."""

    group: str
    kind: str
    candidates: tuple[Candidate, ...]


class Recording(Extractive):
    """The built-in model; keeps the messages of the last turn."""

    messages: tuple[Message, ...] = ()

    async def complete(self, request: Request) -> Completion:
        Recording.messages = tuple(request.messages)
        return await super().complete(request)


def ask(texts: Path) -> Iterator[Asked]:
    """The questions of all sets with their candidates."""
    extractive.Extractive = Recording
    for group in SETS:
        lines = (manuals.ROOT / "manuals" / f"{group}.jsonl").read_text().splitlines()
        questions = [msgspec.json.decode(line, type=manuals.Question) for line in lines]
        played = []
        for question, run in manuals.ask(texts, questions):
            played.append((question, run))
            candidates = _candidates(question, understand(Recording.messages))
            yield Asked(group, question.kind, tuple(candidates))
        print(group, *manuals.rows(played), sep="\n", flush=True)


def _candidates(question: manuals.Question, conversation: Conversation) -> Iterator[Candidate]:
    found = scored(conversation)
    rivals = rivals_of(chain(*found.hits, *found.reads))
    for read, mine in zip(conversation.reads, found.reads, strict=True):
        seen = set()
        for window in sorted(mine, key=lambda window: -window.score):
            for said in window.said:
                if said not in seen and (said.may or said.answers):
                    seen.add(said)
                    weighed = features(said, window, rivals)
                    yield Candidate(weighed, window.score, _holds(question, window, read), said.answers)


def _holds(question: manuals.Question, window: Window, read: Excerpt) -> bool:
    wider = grown(window, read)
    text = extractive.plain(
        "\n".join(read.lines.get(number, "") for number in range(wider.first, wider.last + 1))
    )
    return any(extractive.plain(words) in text for words in question.answer)


def fitted(asked: Sequence[Asked]) -> Vector:
    """The weights that these questions give, the base first."""
    weights = None
    for _ in range(ROUNDS):
        rows, right, worth = [], [], []
        for each in asked:
            odds = _odds(each, weights) if weights is not None else [one.score for one in each.candidates]
            likeliest = np.argsort(-np.asarray(odds), kind="stable")[:AT_MOST]
            chosen = [each.candidates[place] for place in likeliest]
            rows += [(1.0, *one.weighed) for one in chosen]
            right += [float(one.right) for one in chosen]
            worth += [1 / len(chosen) for _ in chosen]
        weights = _logistic(np.array(rows), np.array(right), np.array(worth))
    assert weights is not None
    return weights


def _logistic(rows: Vector, right: Vector, worth: Vector) -> Vector:
    """Newton's method for the penalised likelihood; the base is not penalised."""
    weights = np.zeros(rows.shape[1])
    ridge = np.eye(rows.shape[1]) * PENALTY
    ridge[0, 0] = 1e-3
    for _ in range(STEPS):
        likely = 1 / (1 + np.exp(-np.clip(rows @ weights, -30, 30)))
        slope = rows.T @ (worth * (likely - right)) + ridge @ weights
        curve = (rows * (worth * np.maximum(likely * (1 - likely), 1e-6))[:, None]).T @ rows + ridge
        weights = weights - np.linalg.solve(curve, slope)
    return weights


def _odds(asked: Asked, weights: Vector) -> list[float]:
    return [float(weights[0] + np.dot(weights[1:], one.weighed)) for one in asked.candidates]


def presented(asked: Asked, weights: Vector, enough: float, where_said: float) -> bool | None:
    """Whether the lines presented hold the expected words, None where none are presented."""
    sure = [
        one
        for one, odds in zip(asked.candidates, _odds(asked, weights), strict=True)
        if odds >= (min(where_said, enough) if one.answers else enough)
    ]
    best = max((one.score for one in sure), default=0.0)
    cited = sorted((one for one in sure if one.score >= ALSO_CITED * best), key=lambda one: -one.score)
    return any(one.right for one in cited[:MAX_CITATIONS]) if cited else None


def chosen_bound(asked: Sequence[Asked], weights: Vector, where_said: float) -> float:
    """The bound that presents most, where a wrong answer costs COST right ones."""

    def worth(enough: float) -> int:
        shown = [presented(each, weights, enough, where_said) for each in asked]
        return shown.count(True) - COST * shown.count(False)

    return max(BOUNDS, key=worth)


def row(name: str, outcomes: Sequence[tuple[Asked, bool | None]]) -> str:
    """A line of a table: near and right, other words, without an answer, wrong of all presented."""
    shown = [(each, right) for each, right in outcomes if right is not None]
    near = [right is True for each, right in outcomes if each.kind == "near"]
    other = [right is not None for each, right in outcomes if each.kind == "paraphrased"]
    none = [right is not None for each, right in outcomes if each.kind == "unanswerable"]
    wrong = [not right for _, right in shown]
    parts = (
        f"{sum(part):3}/{len(part):3} {extractive.share(sum(part), len(part))}"
        for part in (near, other, none, wrong)
    )
    return f"{name:22} " + "  ".join(parts)


def main() -> None:
    """Ask, or read what was kept; print the tables and the weights."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--texts", type=Path, required=True, metavar="DIR")
    parser.add_argument("--keep", type=Path, metavar="FILE")
    options = parser.parse_args()
    if options.keep and options.keep.exists():
        asked = msgspec.json.decode(options.keep.read_bytes(), type=list[Asked])
    else:
        asked = list(ask(options.texts))
        if options.keep:
            options.keep.write_bytes(msgspec.json.encode(asked))
    others = {group: fitted([each for each in asked if each.group != group]) for group in SETS}
    for label, where_said in (("alone", inf), ("with all demanded", ACCEPTANCE.enough_where_said)):
        print(f"{label}: near and right, other words, unanswerable, wrong of presented")
        for enough in BOUNDS:
            print(
                row(
                    f"bound {enough}",
                    [(each, presented(each, others[each.group], enough, where_said)) for each in asked],
                )
            )
        bounds = {
            group: chosen_bound([each for each in asked if each.group != group], others[group], where_said)
            for group in SETS
        }
        every = [
            (each, presented(each, others[each.group], bounds[each.group], where_said)) for each in asked
        ]
        for group in SETS:
            print(row(f"{group}, bound {bounds[group]}", [each for each in every if each[0].group == group]))
        print(row("all, bound chosen", every))
    print("weights:", *np.round(fitted(asked), 2))


if __name__ == "__main__":
    main()
