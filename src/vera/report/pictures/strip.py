"""The verdicts of a run's claims as a strip: one cell a claim, or shares where there are too many."""

from collections import Counter
from collections.abc import Iterator, Sequence

from vera.report.pictures.svg import element, hatch, hint, picture
from vera.report.view.model import VERDICTS
from vera.report.view.words import counted

MAX_CELLS = 40
WIDTH = 200
HEIGHT = 14
GAP = 2
_WIDEST = 20.0
_HATCHED = ("contradicted", "disputed", "dropped")
"""Verdicts against a claim are hatched: they are told apart without colours."""


def strip_svg(key: str, verdicts: Sequence[str]) -> str:
    """The picture; `key` makes its ids. Of more than MAX_CELLS claims it shows the share of each verdict."""
    title = "Verdicts on the claims"
    return picture("cells", title, in_words(verdicts), WIDTH, HEIGHT, *_cells(verdicts), key=key)


def in_words(verdicts: Sequence[str]) -> str:
    """`4 supported, 1 unchecked`; the verdicts in their fixed order."""
    counts = Counter(known(each) for each in verdicts)
    said = [f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict]]
    return ", ".join(said) or "no claims"


def known(verdict: str) -> str:
    """The verdict, `unchecked` for anything else."""
    return verdict if verdict in VERDICTS else "unchecked"


def _cells(verdicts: Sequence[str]) -> Iterator[str]:
    if len(verdicts) <= MAX_CELLS:
        width = min(_WIDEST, WIDTH / max(1, len(verdicts)))
        shown = [(known(verdict), width, verdict) for verdict in verdicts]
    else:
        counts = Counter(map(known, verdicts))
        shown = [
            (each, WIDTH * counts[each] / len(verdicts), counted(counts[each], "claim") + f" {each}")
            for each in VERDICTS
            if counts[each]
        ]
    x = 0.0
    for verdict, width, told in shown:
        inner = max(1.0, width - GAP)
        drawn = element("rect", x=x, y=0, width=inner, height=HEIGHT, rx=2)
        lines = hatch(x, 0, inner, HEIGHT, "hatch") if verdict in _HATCHED else ""
        yield element("g", hint(told), drawn, lines, class_=f"cell v-{verdict}")
        x += width
