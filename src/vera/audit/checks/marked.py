"""Claims rest on what a document says, not on what is struck out or hidden in it."""

from collections.abc import Iterator, Sequence

from vera.audit.case import Case, CitedLines, is_about_marks, places
from vera.audit.source_text import SourceText
from vera.evidence.claim import Claim
from vera.evidence.finding import Finding
from vera.extraction.marks import STRUCK
from vera.text.words import STOPWORDS, hedges, negations, stem, words

_TELLING = frozenset(
    ("must", "shall", "may", "only", "all", "every", "each", "any", "none", "more", "most", "over", "under")
)


def marked(case: Case) -> Iterator[Finding]:
    """`struck_text` or `hidden_text` (hard) for each claim that takes words from text that is struck out or
    hidden in the lines it cites, or cites no other text.

    A claim that says that something is struck out or hidden may.
    """
    for claim in case.claims:
        cited = [place.plain for place in places(case, claim)]
        touched = [place for place in cited if place.span.marks]
        if touched and not any(is_about_marks(claim.text, place.span) for place in touched):
            kind = _rests_on(claim, cited, touched)
            if kind:
                yield _finding(claim, touched[0], kind)


def _rests_on(claim: Claim, cited: Sequence[CitedLines], touched: Sequence[CitedLines]) -> str:
    """The kind of marked text that the claim needs, '' when it needs none."""
    spans = [place.span for place in touched]
    if claim.form == "extract":
        return spans[0].marks[0][0]
    if claim.form != "statement":
        return ""
    seen = {word for place in cited for word in _told(place.span.text)}
    said = _told(claim.text) - seen
    for span in spans:
        for kind, start, end in span.marks:
            if not seen or said & _told(_text(span, start, end)):
                return kind
    return ""


def _text(span: SourceText, start: int, end: int) -> str:
    return span.whole[start:end].decode("utf-8", "replace")


def _told(text: str) -> set[str]:
    """The words that carry what a text says: content words by their stems, denials, limits, degrees."""
    turns = {word.form for word in (*negations(text), *hedges(text))}
    forms = [word.form for word in words(text)]
    return turns | {stem(form) for form in forms if form not in STOPWORDS} | _TELLING.intersection(forms)


def _finding(claim: Claim, place: CitedLines, kind: str) -> Finding:
    is_struck = kind == STRUCK
    what = "struck out" if is_struck else "hidden from its readers"
    return Finding(
        code="struck_text" if is_struck else "hidden_text",
        label="wrong_evidence",
        severity="hard",
        claim=claim.key,
        evidence=place.evidence.id,
        first=place.first,
        last=place.last,
        message=f"What the claim takes from {place.evidence.id} is {what} there; cite text that stands, "
        f"or say that it is {'struck out' if is_struck else 'hidden'}.",
    )
