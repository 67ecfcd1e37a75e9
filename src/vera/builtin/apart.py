"""Which sentence alone says so much of what is asked that it is told apart from all others.

Where several sentences hold as much of what is asked, the words of the question do not tell which of them it
means, and the one that answers may be a third, in other words. Where one sentence alone holds so much, it
answers also if a word of the question is missing in it.
"""

from collections.abc import Sequence
from heapq import nlargest
from itertools import chain

import msgspec

from vera.builtin.scoring import Window, ranked

APART = 0.05
"""By more than this share of what is asked a sentence has to hold more of it than any other."""


def told_apart(found: Sequence[Sequence[Window]]) -> list[list[Window]]:
    """The windows of each of several excerpts, ranked, where those with a sentence that is told apart from
    all others of these excerpts are sure, too."""
    best: dict[str, float] = {}
    for said in chain.from_iterable(window.said for mine in found for window in mine):
        best[said.text] = max(best.get(said.text, 0.0), said.own)
    most = nlargest(2, best.values())
    bound = most[1] + APART if len(most) > 1 else 0.0
    return [ranked(_settled(window, bound) for window in mine) for mine in found]


def _settled(window: Window, bound: float) -> Window:
    alone = any(said.if_alone and said.own > bound for said in window.said)
    return msgspec.structs.replace(window, sure=True) if alone and not window.sure else window
