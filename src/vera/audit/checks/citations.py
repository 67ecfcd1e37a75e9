"""Every cited place exists, may be cited, and holds the bytes that were seen."""

import hashlib
import unicodedata
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from vera.audit.case import Case
from vera.audit.claims import readable
from vera.audit.shown import says_something, was_shown
from vera.audit.source_text import SourceText
from vera.events import Evidence
from vera.evidence.citation import CITATION_LIMIT, LINES_LIMIT, find_citations
from vera.evidence.claim import Cite
from vera.evidence.finding import Finding

_LAST_LATIN = 0x24F
"""What is above it may be a word or a sign that says something, such as a tick."""


class _Fault(NamedTuple):
    code: str
    label: str
    message: str
    detail: str = ""


def citations(case: Case) -> Iterator[Finding]:
    """Of each citation `unknown_evidence`, `lead_cited`, `bytes_missing`, `bytes_altered`, `no_such_lines`,
    `too_many_lines`, `lines_blank` or `lines_unread`; of the answer `empty_answer` and
    `too_many_citations`. All are hard."""
    yield from _of_the_answer(case)
    intact = {digest: _is_intact(source, digest) for digest, source in case.sources.items()}
    for claim in case.claims:
        for cite in dict.fromkeys(claim.cites):
            evidence = case.evidence.get(cite.evidence)
            first, last = _lines(cite, evidence)
            fault = _fault(case, cite, evidence, (first, last), intact)
            if fault is not None:
                yield Finding(
                    code=fault.code,
                    label=fault.label,
                    severity="hard",
                    claim=claim.key,
                    evidence=cite.evidence,
                    first=first,
                    last=last,
                    message=fault.message,
                    detail=fault.detail,
                )


def _of_the_answer(case: Case) -> Iterator[Finding]:
    if not _says_something(case.answer):
        message = "The answer is empty; answer the question, or say what the sources do not tell."
        yield Finding(code="empty_answer", label="goal_drift", severity="hard", message=message)
    elif readable(case.answer)[1] < len(case.answer):
        message = f"The answer has more than {CITATION_LIMIT} citations; cite the few lines that decide."
        yield Finding(code="too_many_citations", label="wrong_evidence", severity="hard", message=message)


def _says_something(answer: str) -> bool:
    """Whether an answer has a word or a sign beside its citations."""
    said = list(answer)
    for citation in find_citations(answer):
        said[citation.start : citation.end] = " " * (citation.end - citation.start)
    return any(each.isalnum() or (ord(each) > _LAST_LATIN and _is_shown(each)) for each in said)


def _is_shown(sign: str) -> bool:
    """Whether a reader sees it: it is neither white space nor a control."""
    return unicodedata.category(sign)[0] not in "CZ"


def _lines(cite: Cite, evidence: Evidence | None) -> tuple[int, int]:
    """The lines that are meant: those that were shown, where the citation names none."""
    if cite.first is None:
        return (evidence.first, evidence.last) if evidence else (0, 0)
    return cite.first, cite.first if cite.last is None else cite.last


def _is_intact(source: SourceText, digest: str) -> bool:
    return hashlib.sha256(source.whole).hexdigest() == digest


def _fault(
    case: Case, cite: Cite, evidence: Evidence | None, lines: tuple[int, int], intact: Mapping[str, bool]
) -> _Fault | None:
    if evidence is None:
        message = f"There is no evidence {cite.evidence}; cite one that was seen in this session."
        return _Fault("unknown_evidence", "wrong_evidence", message)
    if evidence.lead:
        return _Fault(
            "lead_cited", "invalid_source", "A search result is a lead; cite the lines that were read."
        )
    digest = evidence.text.sha256
    if digest not in intact:
        why = case.unreadable.get(digest, "they are not in the store")
        message = f"The bytes of {cite.evidence} cannot be read; read the source again and cite that."
        return _Fault("bytes_missing", "wrong_evidence", message, why)
    if not intact[digest]:
        message = f"The stored bytes of {cite.evidence} are not those that were seen; read the source again."
        return _Fault("bytes_altered", "wrong_evidence", message, digest)
    source = case.sources[digest]
    return (
        _no_such_lines(cite, lines, len(source.lines))
        or _too_many_lines(cite, lines)
        or _unread(case, cite, lines, source)
    )


def _too_many_lines(cite: Cite, lines: tuple[int, int]) -> _Fault | None:
    count = lines[1] - lines[0] + 1
    if cite.first is None or count <= LINES_LIMIT:
        return None
    message = f"{cite.evidence}:{lines[0]}-{lines[1]} are {count} lines; cite the few lines that decide."
    return _Fault("too_many_lines", "wrong_evidence", message, str(count))


def _unread(case: Case, cite: Cite, lines: tuple[int, int], source: SourceText) -> _Fault | None:
    """Lines that hold nothing, or that were not shown to anyone, carry nothing."""
    first, last = lines
    shown = str(first) if first == last else f"{first}-{last}"
    if not says_something(source.lines.cut(first, last)):
        message = f"There is no text in {cite.evidence}:{shown}; cite the lines that say it."
        return _Fault("lines_blank", "wrong_evidence", message, shown)
    if was_shown(case.evidence, cite.evidence, first, last, source.lines):
        return None
    message = f"{cite.evidence}:{shown} was not read; read these lines, or cite lines that were read."
    return _Fault("lines_unread", "wrong_evidence", message, shown)


def _no_such_lines(cite: Cite, lines: tuple[int, int], count: int) -> _Fault | None:
    first, last = lines
    if 1 <= first <= last <= count:
        return None
    shown = str(first) if first == last else f"{first}-{last}"
    has = f"{cite.evidence} has {count} line{'' if count == 1 else 's'}"
    fix = "write the first line first" if first > last else "cite lines that exist"
    return _Fault("no_such_lines", "wrong_evidence", f"{has}, so there is no {shown}; {fix}.", shown)
