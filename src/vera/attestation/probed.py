"""How a judge did on its probes: claims whose labels are known before it reads them.

One that is made of a cited sentence as it stands is right as SUPPORTS; one made of it by a change, or shown
lines of something else, is right as anything but SUPPORTS. What a probe had to give follows from its kind,
not from what the log says was expected.
"""

from collections.abc import Iterable, Sequence
from typing import get_args

import msgspec

from vera.events import VerifierProbe
from vera.evidence.claim import Relation

STATED = "stated"
"""The kind of probe that its lines do support."""

INVENTED = "invented"
"""The kind that nothing supports: a claim about something else, shown all that was shown for the answer."""

_ALTERED = ("number", "negation")
"""The kinds that are made by a change of a cited sentence, and share all other words with it."""

_RELATIONS = frozenset(get_args(Relation))


class Probed(msgspec.Struct, frozen=True, kw_only=True):
    """Of the probes of a round how many were `labelled` and how many of these are `right`; `problem` says of
    the first that gave no label why. `distrust` says why no label of this judge counts, '' when they do."""

    labelled: int
    right: int
    problem: str
    distrust: str = ""


def expected(kind: str) -> str:
    """What the judge has to say of a probe of this kind."""
    return "SUPPORTS" if kind == STATED else "not SUPPORTS"


def probed(probes: Iterable[VerifierProbe]) -> Probed:
    """The probes of a round, counted. A label that names no relation does not count."""
    labelled, problems = [], []
    for probe in probes:
        if probe.probe and probe.said in _RELATIONS:
            labelled.append(probe)
        else:
            problems.append(probe.problem)
    right = sum(map(_is_right, labelled))
    return Probed(
        labelled=len(labelled),
        right=right,
        problem=next(filter(None, problems), ""),
        distrust=_distrust(labelled, len(labelled) - right),
    )


def _is_right(probe: VerifierProbe) -> bool:
    return (probe.said == "SUPPORTS") == (probe.probe == STATED)


def _distrust(labelled: Sequence[VerifierProbe], wrong: int) -> str:
    """Why this judge is not believed: it got more than half wrong, called every altered sentence supported or
    the invented claim, or did not see that a sentence is in its own lines. The last alone shows a judge that
    always says CONTRADICTS: it is right about every claim that was altered. The invented claim alone shows
    one that obeys what it reads, and every altered sentence one that only compares words."""
    blind = [probe for probe in labelled if probe.probe == STATED and probe.said != "SUPPORTS"]
    if blind:
        return f"The judge said {blind[0].said} of a sentence that is in the lines it was shown."
    if any(probe.probe == INVENTED and probe.said == "SUPPORTS" for probe in labelled):
        return "The judge said SUPPORTS of a claim that is about something else than the lines it was shown."
    if 2 * wrong > len(labelled) or _only_compares_words(labelled):
        return f"The judge mislabelled {wrong} of {len(labelled)} claims whose labels are known."
    return ""


def _only_compares_words(labelled: Sequence[VerifierProbe]) -> bool:
    """Whether it called every altered sentence supported."""
    altered = [probe for probe in labelled if probe.probe in _ALTERED]
    return bool(altered) and all(probe.said == "SUPPORTS" for probe in altered)
