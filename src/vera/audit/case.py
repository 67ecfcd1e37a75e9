"""What an audit looks at, as values: no file, no clock, no network."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

import msgspec

from vera.audit.source_text import SourceText
from vera.events import Derivation, Evidence, VersionSeen
from vera.evidence.citation import LINES_LIMIT
from vera.evidence.claim import Cite, Claim
from vera.evidence.finding import Finding
from vera.extraction.marks import told, within
from vera.text.headings import over
from vera.text.whole_sentences import line


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
    `derivations` are the results of running commands again in a clean box, by evidence id. `versions` are the
    files of the folder that may say that cited ones no longer hold (`vera.audit.versions`).
    """

    task: str
    answer: str
    claims: tuple[Claim, ...]
    evidence: Mapping[str, Evidence]
    sources: Mapping[str, SourceText]
    unreadable: Mapping[str, str] = {}
    lookups: tuple[Lookup, ...] = ()
    derivations: Mapping[str, Derivation] = {}
    versions: tuple[VersionSeen, ...] = ()
    policy: AuditPolicy = AuditPolicy()

    def derived(self, evidence: str) -> bool:
        """Whether a clean box has printed the same lines again."""
        derivation = self.derivations.get(evidence)
        return derivation is not None and derivation.outcome == "same"


class CitedLines(msgspec.Struct, frozen=True):
    """A citation that holds: the evidence, its whole source, the lines `first` to `last` that are meant.

    `start` and `end` are the bytes of the source that are read of these lines, both 0 for all: of a line in
    which a sentence ends that runs on from the cited ones, what stands behind it is left out.
    What is struck out or hidden is not in the source's text, but for a claim about just that.
    """

    evidence: Evidence
    source: SourceText
    first: int
    last: int
    start: int = 0
    end: int = 0

    @property
    def span(self) -> SourceText:
        """What is read: whole sentences (`whole_place`)."""
        if self.end:
            return self.source.cut(self.start, self.end)
        return self.source.part(self.first, self.last)

    @property
    def headings(self) -> tuple[str, ...]:
        """The headings over it, the nearest first."""
        return over(lambda number: line(self.source.lines, number), self.first)

    @property
    def plain(self) -> "CitedLines":
        """The place without what is struck out or hidden there, whatever the claim is about."""
        return msgspec.structs.replace(self, source=self.source.seen(self.evidence.marks))

    @property
    def told(self) -> str:
        """What is read, with what is struck out or hidden said in words."""
        start, end = (self.start, self.end) if self.end else self.source.lines.bounds(self.first, self.last)
        marks = within(self.evidence.marks, start, end)
        return told(self.source.whole[start:end], marks).decode("utf-8", "replace")


def language_of(cited: Iterable[CitedLines]) -> str:
    """The language of the first source that has one: numbers of a claim whose words do not tell its language
    are read in it."""
    return next((each.source.language for each in cited if each.source.language), "")


def whole_place(evidence: Evidence, source: SourceText, first: int, last: int) -> CitedLines:
    """Lines of an evidence as every reader gets them: the sentences that touch them, whole. What a command
    printed has no sentences that its own lines cut. Raises IndexError when there are no such lines."""
    if evidence.tier == "observed":
        return CitedLines(evidence, source, first, last)
    return CitedLines(evidence, source, *source.sentences_of(first, last))


class Check(Protocol):
    """A check: a pure function from a case to its findings, in the order of the claims."""

    def __call__(self, case: Case) -> Iterable[Finding]: ...


def place_of(case: Case, cite: Cite) -> CitedLines | None:
    """The cited lines made whole, None when the citation does not hold (the citation check says why)."""
    evidence = case.evidence.get(cite.evidence)
    if evidence is None or evidence.text.sha256 not in case.sources:
        return None
    source = case.sources[evidence.text.sha256].seen(evidence.marks)
    first = evidence.first if cite.first is None else cite.first
    last = first if cite.last is None and cite.first is not None else (cite.last or evidence.last)
    too_many = cite.first is not None and last - first >= LINES_LIMIT
    if too_many or not 1 <= first <= last <= len(source.lines):
        return None
    return whole_place(evidence, source, first, last)


def places(case: Case, claim: Claim) -> Sequence[CitedLines]:
    """The places that a claim cites and that hold, each once, in order."""
    found: dict[tuple[str, int, int], CitedLines] = {}
    for cite in dict.fromkeys(claim.cites):
        place = place_of(case, cite)
        if place is not None and place.source.marks and is_about_marks(claim.text, place.span):
            place = msgspec.structs.replace(place, source=place.source.seen(()))
        if place is not None:
            found.setdefault((place.evidence.id, place.first, place.last), place)
    return list(found.values())


def statements(case: Case) -> Iterator[tuple[Claim, Sequence[CitedLines]]]:
    """The claims that say something, each with the places it cites."""
    for claim in case.claims:
        if claim.form == "statement":
            yield claim, places(case, claim)


_SAYS_STRUCK = re.compile(
    r"(?i)\b(?:is|are|was|were|be|been|stands?|appears?)\s(?:\w{1,20}\s){0,2}"
    r"(?:struck(?:[ -](?:out|through))?|crossed[ -]out|lined[ -]out|stricken|hidden)\b"
    r"|\b(?:struck[ -](?:out|through)|crossed[ -]out|stricken|hidden) (?:text|words?|lines?|clauses?"
    r"|sentences?|paragraphs?|rows?|columns?|cells?|passages?)\b"
    r"|\b(?:durch)?gestrichen\b|\bverborgen\b|\bausgeblendet\b"
)

_SAYS_TAKEN_OUT = re.compile(
    r"(?i)\b(?:is|are|was|were|be|been)\s(?:\w{1,20}\s){0,2}"
    r"(?:deleted|removed|taken out|replaced|commented[ -]out)\b"
    r"|\b(?:deletes|removes|takes out|drops|comments out)\s|\bmerge conflict\b|\bunresolved conflict\b"
    r"|\b(?:changes|raises|lowers|extends|shortens|reduces|increases|replaces|renames)\s[^.\n]{1,100}?\s(?:from|with|by"
    r"|to)\s"
    r"|\b(?:gelöscht|entfernt|ersetzt|auskommentiert)\b|\bmerge-?konflikt\b"
    r"|\b(?:supprimée?s?|remplacée?s?|en commentaire)\b"
    r"|\b(?:eliminad|suprimid|reemplazad|sustituid|comentad)[oa]s?\b"
    r"|(?:已|被)(?:删除|替换|注释)|合并冲突"
)
"""What a claim says of a change, where the lines themselves say nothing of the kind."""


def is_about_marks(claim: str, span: SourceText) -> bool:
    """Whether a claim says that something is struck out, hidden or taken out, and takes these words not from
    there."""
    if not span.marks:
        return False
    if _SAYS_TAKEN_OUT.search(claim) and not _SAYS_TAKEN_OUT.search(span.whole.decode("utf-8", "replace")):
        return True
    return _SAYS_STRUCK.search(claim) is not None and not any(
        _SAYS_STRUCK.search(span.whole[start:end].decode("utf-8", "replace")) for _, start, end in span.marks
    )
