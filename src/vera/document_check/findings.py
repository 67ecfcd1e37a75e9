"""What the audit has to say about a document: problems, and what could not be checked.

The checks are those of answers, over the whole of each source. Left out is what only a session has: commands
whose values are computed again. What is missing in the sources that are there, while another one that the
claim names is not, is unchecked and never wrong.
"""

import re
from collections import defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence, Set
from typing import Literal

import msgspec

from vera.audit.case import AuditPolicy, Case, Check
from vera.audit.checks.altered import altered
from vera.audit.checks.citations import citations
from vera.audit.checks.content import content
from vera.audit.checks.counts import counts
from vera.audit.checks.independence import independence
from vera.audit.checks.names import names
from vera.audit.checks.negative import negative
from vera.audit.checks.numbers import numbers
from vera.audit.checks.opposed import opposed
from vera.audit.checks.quotations import quotations
from vera.audit.checks.scanned import scanned
from vera.audit.checks.superseded import superseded
from vera.audit.checks.time_window import time_window
from vera.audit.checks.wording import wording
from vera.audit.registry import FLOOR
from vera.audit.source_text import SourceText
from vera.document_check.document import Document, unsourced_quotations
from vera.events import Evidence, VersionSeen
from vera.evidence.claim import Cite, Claim
from vera.evidence.finding import Finding
from vera.extraction.source import is_read_by_ocr
from vera.text.quotation import Quotation
from vera.text.quote import QuoteIndex

CHECKS: tuple[Check, ...] = (
    citations,
    quotations,
    numbers,
    scanned,
    counts,
    altered,
    names,
    wording,
    opposed,
    independence,
    time_window,
    negative,
)
"""The checks of a document, in the order of their problems within a claim; `content` runs before them."""

NEAR_PERCENT = 75
NEAR_WORDS = 8
"""Words of a quotation that must be in a passage for it to be that passage, altered, and the fewest words
of which that can be said."""

Severity = Literal["hard", "hint", "unchecked"]

_ABOUT_ALL = frozenset(("not_independent", "outside_window"))
_OPEN = frozenset(("no_date", "superseded", "read_by_ocr"))
"""Hints that leave it open whether a statement holds."""

_MISREAD = FLOOR - {"set_aside"}
"""What is missing in a text that OCR read may be on the page."""

_OF_DOCUMENTS = {
    "coverage_missing": "This denies something, and no cited source says so. Cite one that does, or say what "
    "was looked for.",
}
"""What is said otherwise of a document, of which no one can search again."""

_FOLLOWS = "words_absent"
"""Says no more of a statement of which something hard is said."""

_NO_STATEMENT = "empty_answer"
"""Of a document that holds only a list of references; one without any text is not read at all."""

_ID = re.compile(r"\bev_[0-9]{4,9}\b")
_PLACE = re.compile(r" \[ev_[0-9]{4,9}:[0-9-]{1,20}\]")
_WHOLE = ("cited lines", "cited sources")
"""What an answer cites by lines a document cites whole."""

_MAX_NAME_LENGTH = 200
_QUOTED = 160


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is wrong (hard), may be wrong (hint), or could not be checked.

    `line` is that of the document, `claim` the statement; `detail` the value, or the difference between a
    quotation and what is in the source, as `[-said-]{+is there+}`; `source` the one it is about.
    """

    line: int
    claim: str
    code: str
    severity: Severity
    message: str
    detail: str = ""
    source: str = ""


class Unchecked(msgspec.Struct, frozen=True, kw_only=True):
    """A source that could not be had: how the document names it, why, and the lines of its claims."""

    source: str
    reason: str
    lines: tuple[int, ...]


class Findings(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome. Of `claims` statements `named` name a source; `checked` of those were checked."""

    claims: int
    named: int
    checked: int
    problems: tuple[Problem, ...]
    unchecked: tuple[Unchecked, ...]
    unread: str = ""

    def count(self, severity: Severity) -> int:
        return sum(problem.severity == severity for problem in self.problems)


class Held(msgspec.Struct, frozen=True):
    """A source that was had: what it is evidence for, and its canonical text."""

    evidence: Evidence
    text: bytes


def findings(
    document: Document,
    held: Mapping[str, Held],
    missing: Mapping[str, str],
    *,
    names_of: Mapping[str, str],
    policy: AuditPolicy,
    folder: Mapping[str, bytes] | None = None,
    later: Mapping[str, Held] | None = None,
    versions: tuple[VersionSeen, ...] = (),
) -> Findings:
    """Check each statement against the sources it names.

    `held` are the sources that could be had by id, `missing` says of others why not, `names_of` how each is
    called. `folder` holds the texts of files, by name, that quotations without a source may be in; `later`
    files, by id, that may replace or amend sources, and `versions` which.
    """
    sources = {each.evidence.text.sha256: SourceText(each.text) for each in held.values()}
    named = [claim for claim in document.claims if claim.form == "statement" and claim.cites]
    case = Case(
        task="",
        answer=document.text,
        claims=tuple(named),
        evidence={each: had.evidence for each, had in held.items()},
        sources=sources,
        policy=policy,
    )
    lost = dict(missing)
    for finding in content(case):
        lost.setdefault(finding.evidence, finding.message.partition(";")[0] + ".")
    scans = {each for each, had in held.items() if is_read_by_ocr(had.evidence.extractor)}
    teller = _Teller(document, named, lost, names_of, scans)
    usable = held.keys() - lost.keys()
    claims = [_of(claim, usable) for claim in named]
    case = msgspec.structs.replace(case, claims=tuple(claim for claim in claims if claim.cites))
    found = [finding for check in CHECKS for finding in check(case)]
    found += superseded(_with_later(case, later or {}, versions))
    at_fault = {finding.claim for finding in found if finding.severity == "hard"}
    problems = [
        teller.problem(finding)
        for finding in found
        if not (finding.code == _FOLLOWS and finding.claim in at_fault) and finding.code != _NO_STATEMENT
    ]
    told = [problem for problem in problems if problem is not None]
    open_claims = teller.open | {claim.key for claim in claims if not claim.cites}
    told += _unsourced(document, folder)
    return Findings(
        claims=sum(claim.form == "statement" for claim in document.claims),
        named=len(named),
        checked=len(named) - len(open_claims),
        problems=tuple(sorted(told, key=lambda problem: problem.line)),
        unchecked=tuple(teller.unchecked()),
        unread=document.unread,
    )


def _of(claim: Claim, usable: Set[str]) -> Claim:
    """The claim with those of its sources that can be used."""
    return msgspec.structs.replace(
        claim, cites=tuple(cite for cite in claim.cites if cite.evidence in usable)
    )


def _with_later(case: Case, later: Mapping[str, Held], versions: tuple[VersionSeen, ...]) -> Case:
    """The case with files that may replace its sources, of which each claim cites only the line that says
    most of it: whether its clause was replaced is asked of that line."""
    if not versions:
        return case
    added = {each.evidence.text.sha256: SourceText(each.text) for each in later.values()}
    return msgspec.structs.replace(
        case,
        claims=tuple(
            msgspec.structs.replace(claim, cites=tuple(_nearest(case, claim, cite) for cite in claim.cites))
            for claim in case.claims
        ),
        evidence={**case.evidence, **{name: each.evidence for name, each in later.items()}},
        sources={**added, **case.sources},
        versions=versions,
    )


def _nearest(case: Case, claim: Claim, cite: Cite) -> Cite:
    source = case.sources[case.evidence[cite.evidence].text.sha256]
    best = source.passages.best(claim.text, 1)
    return Cite(cite.evidence, best[0].first, best[0].last) if best else cite


class _Teller:
    """Makes problems of findings. `open` are the claims of which something could not be checked."""

    def __init__(
        self,
        document: Document,
        named: Sequence[Claim],
        lost: Mapping[str, str],
        names_of: Mapping[str, str],
        scans: Set[str],
    ) -> None:
        self._document = document
        self._claims = {claim.key: claim for claim in named}
        self._lost = lost
        self._scans = scans
        self._names = names_of
        self.open: set[str] = set()

    def problem(self, finding: Finding) -> Problem | None:
        """The finding in the words of the document; None when a source that is missing may refute it."""
        claim = self._claims.get(finding.claim)
        severity = self._severity(finding, claim)
        if severity is None:
            return None
        return Problem(
            line=self._line_in(claim, finding.detail) if claim else 1,
            claim=claim.text if claim else "",
            code=finding.code,
            severity=severity,
            message=_OF_DOCUMENTS.get(finding.code)
            or _ID.sub(lambda found: self._name(found[0]), _PLACE.sub("", finding.message).replace(*_WHOLE)),
            detail=_ID.sub(lambda found: self._name(found[0]), finding.detail),
            source=self._name(finding.evidence) if finding.evidence else "",
        )

    def _severity(self, finding: Finding, claim: Claim | None) -> Severity | None:
        """How much the finding says; None when a source that is missing may refute it. A claim of which it
        leaves something unchecked is open."""
        severity: Severity = "hard" if finding.severity == "hard" else "hint"
        if claim is None or finding.code in _ABOUT_ALL:
            return severity
        if _cites_any(claim, self._lost):
            if severity == "hard":
                self.open.add(claim.key)
            return None
        if finding.code in _OPEN or (finding.code in _MISREAD and _cites_any(claim, self._scans)):
            self.open.add(claim.key)
            return "unchecked"
        return severity

    def unchecked(self) -> Iterator[Unchecked]:
        """The sources that statements name and that could not be had, in order."""
        lines: defaultdict[str, dict[int, None]] = defaultdict(dict)
        for claim in self._claims.values():
            for cite in claim.cites:
                if cite.evidence in self._lost:
                    lines[cite.evidence][self._document.line_of(claim.start)] = None
        for each in sorted(lines):
            reason = _ID.sub(lambda found: self._name(found[0]), self._lost[each])
            yield Unchecked(source=self._name(each), reason=reason, lines=tuple(lines[each]))

    def _name(self, evidence: str) -> str:
        return self._names.get(evidence, evidence)[:_MAX_NAME_LENGTH]

    def _line_in(self, claim: Claim, detail: str) -> int:
        """The line of the value that is meant, where it is found in the claim; else that of the claim."""
        place = self._document.text.find(detail, claim.start, claim.end) if detail else -1
        return self._document.line_of(max(place, claim.start))


def _cites_any(claim: Claim, sources: Container[str]) -> bool:
    return any(cite.evidence in sources for cite in claim.cites)


def _unsourced(document: Document, folder: Mapping[str, bytes] | None) -> Iterator[Problem]:
    """What is wrong with the quotations of statements that name no source."""
    quoted = unsourced_quotations(document)
    indexes = {name: QuoteIndex(text) for name, text in (folder or {}).items()} if quoted else {}
    for claim, quotation in quoted:
        problem = Problem(
            line=document.line_of(quotation.start),
            claim=claim.text,
            code="quotation_unsourced",
            severity="hint",
            message=f"The quotation “{quotation.text[:_QUOTED]}” names no source; name one.",
        )
        if folder is not None:
            searched = _in_folder(problem, quotation, indexes)
            if searched is None:
                continue
            problem = searched
        yield problem


def _in_folder(problem: Problem, quotation: Quotation, indexes: Mapping[str, QuoteIndex]) -> Problem | None:
    """The problem after the files were searched: none where one holds the quotation; a false quotation where
    one holds nearly the same words."""
    if any((at := index.locate(quotation.text)) and at.whole for index in indexes.values()):
        return None
    near = [(name, index.nearest(quotation.text)) for name, index in indexes.items()]
    telling = len(quotation.text.split()) >= NEAR_WORDS
    altered = [(name, each) for name, each in near if telling and each and each.shared >= NEAR_PERCENT]
    said = f"The quotation “{quotation.text[:_QUOTED]}”"
    if not altered:
        message = f"{said} names no source and is in no file that was given; name its source."
        return msgspec.structs.replace(problem, message=message)
    name, best = max(altered, key=lambda pair: pair[1].shared)
    return msgspec.structs.replace(
        problem,
        code="quotation_false",
        severity="hard",
        message=f"{said} differs from line {best.first} of {name}. Quote it exactly.",
        detail=best.marked,
        source=name,
    )
