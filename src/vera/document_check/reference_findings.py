"""What the indexes say of a document's references, as findings. Pure.

An index is not complete and a title may be translated, so what differs or is not found is a hint. Hard is
only what a registry itself says: that a DOI is not registered, or that its publisher retracted the work.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from vera.document_check.findings import NEAR_PERCENT, Problem, Severity
from vera.document_check.references import Reference
from vera.text.quote import QuoteIndex
from vera.websearch.works import Work

Status = Literal["found", "unregistered", "not_found", "unchecked"]

_SHOWN = 200
_YEARS_APART = 1
"""Years between the online and the printed publication of the same work."""

_WORD = re.compile(r"\w+")


class IndexAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """One request for a reference: the index, the address, the HTTP status (None: there was no answer), the
    sha256 of the bytes that came ('' for none), and why they could not be used ('' when they were)."""

    index: str
    url: str
    http_status: int | None = None
    sha256: str = ""
    reason: str = ""


class ReferenceChecked(msgspec.Struct, frozen=True, kw_only=True):
    """A reference of the document and what the indexes know of it. `title` and `years` are theirs."""

    line: int
    text: str
    status: Status
    doi: str = ""
    title: str = ""
    years: tuple[int, ...] = ()
    retracted: tuple[str, ...] = ()
    answers: tuple[IndexAnswer, ...] = ()


class Looked(msgspec.Struct, frozen=True, kw_only=True):
    """What came of looking a reference up: the works by index, whether doi.org says that the DOI is not
    registered, and whether an index that was needed could not be asked (the reason)."""

    works: tuple[tuple[str, Work], ...] = ()
    registered: bool | None = None
    failed: str = ""
    answers: tuple[IndexAnswer, ...] = ()


def checked(reference: Reference, looked: Looked) -> ReferenceChecked:
    """The reference with what was found."""
    works = [work for _, work in looked.works]
    return ReferenceChecked(
        line=reference.line,
        text=reference.text[:_SHOWN],
        status=_status(looked),
        doi=reference.doi or next((work.doi for work in works if work.doi), ""),
        title=next((work.title for work in works if work.title), ""),
        years=tuple(sorted({year for work in works for year in work.years})),
        retracted=tuple(name for name, work in looked.works if work.retracted),
        answers=looked.answers,
    )


def _status(looked: Looked) -> Status:
    if looked.works or looked.registered:
        return "found"
    if looked.registered is False:
        return "unregistered"
    return "unchecked" if looked.failed else "not_found"


def problems(reference: Reference, looked: Looked) -> Iterator[Problem]:
    """What is to be said of one reference."""
    said = checked(reference, looked)
    match said.status:
        case "unregistered":
            yield _problem(
                reference,
                "reference_unregistered",
                "hard" if reference.whole else "hint",
                f"doi.org knows no DOI {reference.doi}. Correct it, or drop the reference.",
            )
        case "not_found":
            yield _problem(reference, "reference_not_found", "hint", _not_found(reference))
        case "unchecked":
            named = f"The DOI {reference.doi}" if reference.doi else f"“{reference.title[:_SHOWN]}”"
            yield _problem(
                reference, "reference_unchecked", "unchecked", f"{named} was not looked up: {looked.failed}."
            )
        case "found":
            yield from _retracted(reference, said)
            yield from _differs(reference, said)


def _not_found(reference: Reference) -> str:
    if reference.doi:
        return (
            f"Crossref and OpenAlex know no work with the DOI {reference.doi}. They are not complete: check "
            "that it is the right one."
        )
    return (
        f"Crossref and OpenAlex know no work “{reference.title[:_SHOWN]}”. They are not complete: check that "
        "the work exists."
    )


def _retracted(reference: Reference, said: ReferenceChecked) -> Iterator[Problem]:
    if said.retracted and not reference.retraction:
        # OpenAlex has marked works by mistake; Crossref has the notice itself.
        severity: Severity = "hard" if "crossref" in said.retracted else "hint"
        by = "Crossref" if severity == "hard" else "OpenAlex"
        yield _problem(
            reference,
            "reference_retracted",
            severity,
            f"“{said.title[:_SHOWN]}” was retracted, says {by}. Say so, or cite another work.",
        )


def _differs(reference: Reference, said: ReferenceChecked) -> Iterator[Problem]:
    if not reference.listed:
        return
    written = f"{reference.title}\n{reference.text}"
    if reference.doi and said.title and not same_title(said.title, written):
        yield _problem(
            reference,
            "reference_title",
            "hint",
            f"The DOI {reference.doi} is that of “{said.title[:_SHOWN]}”. Check which work is meant.",
        )
        return
    near = any(abs(year - known) <= _YEARS_APART for year in reference.years for known in said.years)
    if reference.years and said.years and not near:
        known = " or ".join(map(str, said.years))
        yield _problem(
            reference,
            "reference_year",
            "hint",
            f"“{said.title[:_SHOWN]}” was published in {known}, not in {reference.years[0]}. Check the year.",
        )


def same_title(title: str, written: str) -> bool:
    """Whether an entry, as written, names the work of this title: it has nearly all words in their order."""
    folded = " ".join(_WORD.findall(title.casefold()))
    index = QuoteIndex(" ".join(_WORD.findall(written.casefold())).encode("utf-8", "replace"))
    if not folded:
        return False
    if f" {folded} " in f" {' '.join(_WORD.findall(written.casefold()))} ":
        return True
    near = index.nearest(folded)
    return near is not None and near.shared >= NEAR_PERCENT


def best(works: Sequence[Work], reference: Reference) -> Work | None:
    """The work of a search by title that the reference names, None for none: the year must be near, too."""
    for work in works:
        near = not work.years or any(
            abs(year - known) <= _YEARS_APART for year in reference.years for known in work.years
        )
        if work.title and near and same_title(work.title, reference.title):
            return work
    return next((work for work in works if work.title and _equal(work.title, reference.title)), None)


def _equal(one: str, other: str) -> bool:
    return _WORD.findall(one.casefold()) == _WORD.findall(other.casefold())


def _problem(reference: Reference, code: str, severity: Severity, message: str) -> Problem:
    return Problem(
        line=reference.line,
        claim=reference.text,
        code=code,
        severity=severity,
        message=message,
        detail=reference.doi,
    )
