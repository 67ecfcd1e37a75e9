"""How a judge did on its probes: claims whose labels are known before it reads them.

One that is made of a cited sentence as it stands is right as SUPPORTS; one made of it by a change, or shown
lines of something else, is right as anything but SUPPORTS. What a probe had to give follows from its kind,
not from what the log says was expected.
"""

from collections.abc import Iterable
from typing import get_args

import msgspec

from vera.events import VerifierProbe
from vera.evidence.claim import Relation

STATED = "stated"
"""The kind of probe that its lines do support."""

_RELATIONS = frozenset(get_args(Relation))


class Probed(msgspec.Struct, frozen=True, kw_only=True):
    """Of the probes of a round how many were `labelled` and how many of these are `right`; `problem` says of
    the first that gave no label why."""

    labelled: int
    right: int
    problem: str

    @property
    def distrust(self) -> str:
        """Why no label of this judge counts, '' when more than half of its probes are not wrong."""
        wrong = self.labelled - self.right
        if 2 * wrong <= self.labelled:
            return ""
        return f"The judge mislabelled {wrong} of {self.labelled} claims whose labels are known."


def expected(kind: str) -> str:
    """What the judge has to say of a probe of this kind."""
    return "SUPPORTS" if kind == STATED else "not SUPPORTS"


def probed(probes: Iterable[VerifierProbe]) -> Probed:
    """The probes of a round, counted. A label that is none of the relations is none."""
    labelled, problems = [], []
    for probe in probes:
        if probe.probe and probe.said in _RELATIONS:
            labelled.append(probe)
        else:
            problems.append(probe.problem)
    right = sum((probe.said == "SUPPORTS") == (probe.probe == STATED) for probe in labelled)
    return Probed(labelled=len(labelled), right=right, problem=next(filter(None, problems), ""))
