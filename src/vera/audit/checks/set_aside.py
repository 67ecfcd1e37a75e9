"""Lines that stand under a heading which sets them aside: "Myths", "Repealed", "Before 2010".

What such lines say is not what their source holds to be so now. A claim that says as much itself ("It is a
myth that …", "Until 2010 …") is right about them. Of a place of many lines the one counts that says most of
the claim.
"""

import re
from collections.abc import Iterator

from vera.audit.case import Case, CitedLines, statements
from vera.evidence.finding import Finding
from vera.text.headings import over
from vera.text.negation import is_negative
from vera.text.whole_sentences import line
from vera.text.words import folded, stems

_ASIDE = re.compile(
    r"\b(?:myths?|misconceptions?|fictions?|hoax(?:es)?|debunked|rumou?rs?|falsehoods?|disproved|disproven"
    r"|false (?:claims?|statements?)|fake(?:s| news)?|untrue|incorrect|wrong answers?|refuted"
    r"|repealed|superseded|obsolete|deprecated|withdrawn|revoked|rescinded|annulled|cancell?ed|discontinued"
    r"|abolished|abrogated|outdated|archived?|expired|lapsed|deleted|removed|exclusions?|excluded"
    r"|errors (?:that|which|we|people|everyone)"
    r"|legends|mistakes|common errors|wrong beliefs|april fools?|(?:from the|in the|a) (?:novels?|film|movie)"
    r"|no longer (?:in force|valid|applicable|available)"
    r"|(?:old|earlier|past) (?:versions?|rules?|law|wording|text|prices?|terms|conditions)"
    r"|\A(?:former|previous) \w{3,20}(?: \w{3,20})?\Z"
    r"|drafts?|proposed|rejected|hypothetical|not (?:adopted|in force)"
    r"|mythen|irrtümer|aufgehoben\w{0,2}|außer kraft|veraltet\w{0,2}|überholt\w{0,2}|frühere fassung|entwurf"
    r"|abgelehnt\w{0,2}|mythes|idées reçues|abrogée?s?|obsolètes?|ancienne version|projet de|rejetée?s?"
    r"|mitos|derogad[oa]s?|obsolet[oa]s?|versión anterior|rechazad[oa]s?)\b"
    r"|\b(?:before|until|prior to|up to|till|through|vor|bis|avant|jusqu['’]en|jusqu['’]à|antes de|hasta)"
    r"(?: \w{1,12}){0,3} [12][0-9]{3}\b"
)
MAX_DENYING_WORDS = 6
"""A longer heading that denies something is a headline: "Band will not delay its release"."""

MAX_LINES = 400
"""Of a longer place the headings over its first line count."""

_YEAR = re.compile(r"[12][0-9]{3}")


def set_aside(case: Case) -> Iterator[Finding]:
    """`set_aside` (soft) for each statement all of whose cited lines stand under such a heading."""
    for claim, cited in statements(case):
        if not cited:
            continue
        headings = [next(filter(is_aside, _over(claim.text, place)), "") for place in cited]
        if not all(headings) or any(_says_so(claim.text, heading) for heading in headings):
            continue
        place, heading = cited[0], headings[0]
        yield Finding(
            code="set_aside",
            label="misinterpretation",
            severity="soft",
            claim=claim.key,
            evidence=place.evidence.id,
            first=place.first,
            last=place.last,
            message=f"The cited lines stand under “{heading}”: say so, or cite lines that hold now.",
            detail=heading,
        )


def _over(claim: str, place: CitedLines) -> tuple[str, ...]:
    """The headings over the line of a place that says most of the claim, the first one of these."""
    if place.first == place.last or place.last - place.first >= MAX_LINES:
        return place.headings
    said = set(stems(claim))
    number = max(
        range(place.first, place.last + 1),
        key=lambda each: (len(said & set(stems(line(place.source.lines, each)))), -each),
    )
    return over(lambda each: line(place.source.lines, each), number)


def is_aside(heading: str) -> bool:
    """Whether a heading sets aside what stands under it, or says of what it is not so."""
    is_short = len(heading.split()) <= MAX_DENYING_WORDS
    return _ASIDE.search(folded(heading)) is not None or (is_short and is_negative(heading))


def _says_so(claim: str, heading: str) -> bool:
    """Whether a claim has what sets the lines aside: the word, or the year."""
    found = _ASIDE.search(folded(heading))
    if found is None:
        return is_negative(claim) or is_aside(claim)
    aside = found[0]
    if year := _YEAR.search(aside):
        return year[0] in claim
    return bool(set(stems(aside)) & set(stems(claim))) or is_aside(claim)
