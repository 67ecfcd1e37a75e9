"""What an audit looks at, as values: no file, no clock, no network."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

import msgspec

from vera.audit.source_text import SourceText
from vera.events import Derivation, Evidence
from vera.evidence.claim import Cite, Claim
from vera.evidence.finding import Finding


class AuditPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of sources. Times are RFC 3339 dates or times, '' for no bound.

    `web_sources` is how many independent sources a claim about the web needs; `negative_families` how many
    different searches a negative claim needs, and `negative_official`/`negative_independent` how many
    domains of each kind when it is about the web. `official_domains` are those that a person says speak
    officially on the subject.
    """

    not_before: str = ""
    not_after: str = ""
    web_sources: int = 2
    negative_families: int = 2
    negative_official: int = 2
    negative_independent: int = 1
    official_domains: tuple[str, ...] = ()


class Lookup(msgspec.Struct, frozen=True, kw_only=True):
    """A search that was made: by which tool, with which words, as which evidence."""

    tool: str
    query: str
    evidence: str
    hits: int


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One answer before the audit.

    `evidence` is everything in the session by id. `sources` maps the sha256 of a canonical text to it, for
    every evidence that the answer cites; one that is not there cannot be read, and `unreadable` says why.
    `derivations` are the results of running commands again in a clean box, by evidence id.
    """

    task: str
    answer: str
    claims: tuple[Claim, ...]
    evidence: Mapping[str, Evidence]
    sources: Mapping[str, SourceText]
    unreadable: Mapping[str, str] = {}
    lookups: tuple[Lookup, ...] = ()
    derivations: Mapping[str, Derivation] = {}
    policy: AuditPolicy = AuditPolicy()

    def derived(self, evidence: str) -> bool:
        """Whether a clean box has printed the same lines again."""
        derivation = self.derivations.get(evidence)
        return derivation is not None and derivation.outcome == "same"


class Place(msgspec.Struct, frozen=True):
    """A citation that holds: the evidence, its whole source, the lines `first` to `last` that are meant."""

    evidence: Evidence
    source: SourceText
    first: int
    last: int

    @property
    def span(self) -> SourceText:
        return self.source.part(self.first, self.last)


class Check(Protocol):
    """A check: a pure function from a case to its findings, in the order of the claims."""

    def __call__(self, case: Case) -> Iterable[Finding]: ...


def place_of(case: Case, cite: Cite) -> Place | None:
    """The cited lines, None when the citation does not hold (the citation check says why)."""
    evidence = case.evidence.get(cite.evidence)
    source = case.sources.get(evidence.text.sha256) if evidence else None
    if evidence is None or source is None:
        return None
    first = evidence.first if cite.first is None else cite.first
    last = first if cite.last is None and cite.first is not None else (cite.last or evidence.last)
    if not 1 <= first <= last <= len(source.lines):
        return None
    return Place(evidence, source, first, last)


def places(case: Case, claim: Claim) -> Sequence[Place]:
    """The places that a claim cites and that hold, each once, in order."""
    found: dict[tuple[str, int, int], Place] = {}
    for cite in claim.cites:
        place = place_of(case, cite)
        if place is not None:
            found.setdefault((place.evidence.id, place.first, place.last), place)
    return list(found.values())


def statements(case: Case) -> Iterator[tuple[Claim, Sequence[Place]]]:
    """The claims that say something, each with the places it cites."""
    for claim in case.claims:
        if claim.form == "statement":
            yield claim, places(case, claim)
