"""Which lines count as the answer: how likely a sentence answers, weighed by a logistic model.

The rules of `answer_type` say what a sentence has to be at all. How much of a question it has to hold is no
rule: a long question may lack a word, a short one none, and less is enough where no other sentence comes
near. So that is weighed. Where the weights come from: `training/acceptance.py`.
"""

from collections.abc import Iterable, Sequence
from itertools import chain

import msgspec

from vera.builtin.scoring import Said, Window, ranked

MOST_AHEAD, MOST_BEHIND = 0.5, -0.3
"""Between these the lead over the next sentence counts."""


class Acceptance(msgspec.Struct, frozen=True):
    """The weights of a logistic model (log-odds) and its two bounds.

    Fitted by `training/acceptance.py` on eight sets of `benchmarks/manuals.py`. The bounds were chosen
    from what is presented when each set is asked by weights fitted on the other seven.
    """

    base: float = -4.47
    lead: float = 1.98
    """By how much more of what is asked a sentence holds than any other, as a share."""
    terms: float = 4.15
    """A tenth of the number of terms of the question: the more there are, the more one may be missing."""
    length: float = -1.72
    """A sixtieth of the number of words of the sentence: those of a long one need not belong together."""
    score: float = 4.85
    """The score of the lines."""
    missing: float = -1.86
    """The share of the question's weight that neither the sentence nor what stands above it says."""
    enough: float = 2.0
    """From here on lines count as the answer."""
    enough_where_said: float = -1.0
    """The same of a sentence that says all that the question demands (`answer_type`)."""


ACCEPTANCE = Acceptance()


def accepted(found: Sequence[Sequence[Window]], weights: Acceptance = ACCEPTANCE) -> list[list[Window]]:
    """The windows of each of several excerpts, ranked, where those that count as the answer are sure."""
    rivals = rivals_of(chain.from_iterable(found))
    return [ranked(_settled(window, rivals, weights) for window in mine) for mine in found]


def features(said: Said, window: Window, rivals: Sequence[tuple[str, Said]]) -> tuple[float, ...]:
    """What is weighed of a sentence in a window, in the order of the weights."""
    lead = said.own - _next(said, window.path, rivals)
    return (
        min(MOST_AHEAD, max(MOST_BEHIND, lead)),
        min(said.terms, 10) / 10,
        min(said.length, 60) / 60,
        window.score,
        said.missing,
    )


def rivals_of(found: Iterable[Window]) -> list[tuple[str, Said]]:
    """The sentences of all windows with their paths, once each, those that hold most of what is asked
    first."""
    every = dict.fromkeys((window.path, said) for window in found for said in window.said)
    return sorted(every, key=lambda entry: -entry[1].own)


def _next(said: Said, path: str, rivals: Sequence[tuple[str, Said]]) -> float:
    """The most of what is asked that another sentence holds, in other words and on other lines."""
    for other_path, other in rivals:
        apart = other_path != path or other.last < said.first or said.last < other.first
        if apart and other.text != said.text:
            return other.own
    return 0.0


def _settled(window: Window, rivals: Sequence[tuple[str, Said]], weights: Acceptance) -> Window:
    sure = any(_answers(said, window, rivals, weights) for said in window.said)
    return window if sure == window.sure else msgspec.structs.replace(window, sure=sure)


def _answers(said: Said, window: Window, rivals: Sequence[tuple[str, Said]], weights: Acceptance) -> bool:
    """Whether a sentence is likely enough to answer."""
    if not (said.answers or said.may):
        return False
    weighed = (weights.lead, weights.terms, weights.length, weights.score, weights.missing)
    odds = weights.base + sum(map(float.__mul__, weighed, features(said, window, rivals)))
    return odds >= (weights.enough_where_said if said.answers else weights.enough)
