"""What an entailment judge gives, and which label that is. Pure.

A cross-encoder reads a piece of the lines with the claim and gives each of its labels a share of 1. A share
is rounded to a basis point. A label is given only at THRESHOLD_BP and MARGIN_BP above it, so that another
processor, whose arithmetic differs in the last bits, never finds a label below the threshold.
"""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from vera.events import EntailmentModel
from vera.evidence.claim import Relation

RULE = "entailment/1"
"""The maker's rule; changes whenever the same file may give the same lines another label."""

SUPPORTED, CONTRADICTED, NEITHER = "supported", "contradicted", "neither"
"""What an output of the model stands for."""

THRESHOLD_BP = 5000
"""Basis points: above a half the label is more probable than all others together."""

MARGIN_BP = 500
"""Basis points. Two processors differ by less than 1 in 32-bit arithmetic. With 8-bit weights one rounding
that falls the other way is carried through all layers and can move a share by some percent. A judgement."""

STEP_BP = 1
"""Basis points to which a share is rounded."""


class EntailmentError(Exception):
    """A judge that cannot be used, or lines that it cannot read; the message is a whole sentence."""


class Shares(msgspec.Struct, frozen=True):
    """How far lines support a claim, and how far they contradict it: the greatest share of any piece of
    them, in basis points."""

    supported: int
    contradicted: int


class PairReader(Protocol):
    """Reads lines with a claim. `name` is what a person calls it, `about` what its labels depend on."""

    @property
    def name(self) -> str: ...

    @property
    def about(self) -> EntailmentModel: ...

    def read(self, texts: Sequence[str], claim: str) -> list[Shares]:
        """What each of the texts says of the claim. Raises EntailmentError."""
        ...


def relation(shares: Shares) -> Relation:
    """The label of lines with these shares: IRRELEVANT where neither share is high enough, and where both
    are, since then one piece supports the claim and another contradicts it."""
    bar = THRESHOLD_BP + MARGIN_BP
    supports, contradicts = shares.supported >= bar, shares.contradicted >= bar
    if supports == contradicts:
        return "IRRELEVANT"
    return "SUPPORTS" if supports else "CONTRADICTS"


def reproduces(said: str, again: Shares) -> bool:
    """Whether lines with the shares `again` may have got the label `said` on another machine, whose shares
    differ by MARGIN_BP at most."""
    near = {
        relation(Shares(again.supported + one, again.contradicted + other))
        for one in (-MARGIN_BP, MARGIN_BP)
        for other in (-MARGIN_BP, MARGIN_BP)
    }
    return said in near
