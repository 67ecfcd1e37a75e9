"""SCOUT: scope, candidates, outcomes. What a negative or complete-set claim must fill before it is believed.

The scope says what counts, where and when; the candidates are enumerated from a cited source; each has an
outcome. Which claims need this is read from the question and the answer's claims (`vera.audit.negative`), and
which slots are filled from the cited lines: no model is asked.
"""

import re
from collections.abc import Iterator, Sequence

import msgspec

from vera.audit.case import Case, CitedLines, statements
from vera.audit.negative import (
    Searches,
    asks_complete_set,
    denied_by,
    excludes,
    is_negative,
    items,
    listed_in,
    says_complete_set,
    searches,
    subject,
)
from vera.events import Question
from vera.evidence.citation import place_name
from vera.evidence.claim import Claim
from vera.sanitize import one_line
from vera.text.words import stems

MAX_QUESTIONS = 2
CANDIDATE_LIMIT = 100
_CLAIM_SHOWN = 240

_SCOPE = re.compile(
    r"\b(?:1[0-9]|20)\d\d\b|\b(?:as of|to date|since|until|before|after|between|among|within|worldwide|of the"
    r"|in the (?:world|files|sources|documents|list|eu|uk|us)|listed in|according to|so far|ever|yet|today)\b"
    r"|\b(?:in|at|from|by) [A-Z]",
)


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """One candidate, and where cited lines tell its outcome (`ev_0003:12-14`), '' while none does."""

    name: str
    outcome: str = ""


class Slots(msgspec.Struct, frozen=True, kw_only=True):
    """The slots of one claim.

    `kind` is negative or set. `scope` is the words that bound it ('' for none). `listed` is the cited place
    that enumerates the candidates, or says of them all what the claim says ('' for none), `searched` a query
    of each family of searches about it, `source` where to look first ('' for nowhere yet).
    """

    claim: str
    text: str
    kind: str
    scope: str
    listed: str
    candidates: tuple[Candidate, ...] = ()
    searched: tuple[str, ...] = ()
    source: str = ""

    @property
    def missing(self) -> tuple[str, ...]:
        """Of scope, candidates and outcomes, the slots that nothing fills."""
        filled = {
            "scope": bool(self.scope),
            "candidates": bool(self.listed),
            "outcomes": all(each.outcome for each in self.candidates),
        }
        return tuple(slot for slot, full in filled.items() if not full)


class Scout(msgspec.Struct, frozen=True, kw_only=True):
    """What SCOUT asks of one answer: the claims that need it, none for most answers."""

    claims: tuple[Slots, ...] = ()


def slots(case: Case) -> Scout:
    """The slots of every load-bearing claim that is negative or says what all there are."""
    wants_set = asks_complete_set(case.task)
    return Scout(claims=tuple(_slots(case, wants_set)))


def questions(scout: Scout) -> tuple[Question, ...]:
    """At most two yes/no questions for candidates and outcomes that are missing, yes meaning that the claim
    stands, in the order of the claims. A missing scope alone asks for nothing: no source can answer it."""
    unfilled = [each for each in scout.claims if {"candidates", "outcomes"} & set(each.missing)]
    return tuple(_question(each) for each in unfilled[:MAX_QUESTIONS])


def _slots(case: Case, wants_set: bool) -> Iterator[Slots]:
    for claim, cited in statements(case):
        if not claim.load_bearing:
            continue
        named = items(claim.text)
        if says_complete_set(claim.text) or (wants_set and named):
            yield _set_slots(case, claim, cited, named[:CANDIDATE_LIMIT])
        elif is_negative(claim.text):
            yield _negative_slots(case, claim, cited)


def _negative_slots(case: Case, claim: Claim, cited: Sequence[CitedLines]) -> Slots:
    about = subject(case, claim)
    denying = next((place for place in cited if denied_by(place, about)), None)
    made = searches(case, claim)
    return Slots(
        claim=claim.key,
        text=claim.text,
        kind="negative",
        scope=_scope(case, claim),
        listed=_name(denying) if denying else "",
        searched=made.families,
        source=_source(cited, made),
    )


def _set_slots(case: Case, claim: Claim, cited: Sequence[CitedLines], named: Sequence[str]) -> Slots:
    about = subject(case, claim)
    listing = next((place for place in cited if named and listed_in(named, place)), None)
    listing = listing or next((place for place in cited if excludes(place, about)), None)
    made = searches(case, claim)
    return Slots(
        claim=claim.key,
        text=claim.text,
        kind="set",
        scope=_scope(case, claim),
        listed=_name(listing) if listing else "",
        candidates=tuple(Candidate(name=name, outcome=_outcome(name, cited)) for name in named),
        searched=made.families,
        source=_source(cited, made),
    )


def _scope(case: Case, claim: Claim) -> str:
    found = _SCOPE.search(claim.text[:4000]) or _SCOPE.search(case.task[:4000])
    return found.group() if found else ""


def _outcome(name: str, cited: Sequence[CitedLines]) -> str:
    """The first cited place that holds all words of the candidate."""
    wanted = frozenset(stems(name))
    return next((_name(place) for place in cited if wanted <= frozenset(stems(place.span.text))), "")


def _name(place: CitedLines) -> str:
    return place_name(place.evidence.id, place.first, place.last)


def _source(cited: Sequence[CitedLines], made: Searches) -> str:
    """Where to look first: a cited source, else the last search about it."""
    if cited:
        return cited[0].evidence.id
    return made.evidence[-1] if made.evidence else ""


def _question(each: Slots) -> Question:
    claim = one_line(each.text, _CLAIM_SHOWN)
    if each.kind == "negative":
        asked = f"After searching for a counter-example, does it still hold that “{claim}”?"
        label = "generic_search"
    elif not each.listed:
        asked = f"Does a source list all candidates, and does the list agree that “{claim}”?"
        label = "premature_conclusion"
    else:
        shown = one_line(", ".join(c.name for c in each.candidates if not c.outcome), _CLAIM_SHOWN)
        asked = f"Does a source say of each of these that “{claim}”: {shown}?"
        label = "premature_conclusion"
    return Question(claim=each.claim, question=asked, source=each.source, label=label, kind="coverage")
