"""The verdicts on the claims as JSON-LD: schema.org/ClaimReview, one for each claim.

A rating has a number (5 true, 1 false) only where a judge that passed its exam read the lines. Everything
else has its word alone: a claim that is unresolved or unchecked is not rated as false, and one that is only
quoted is not rated as true.

| verdict | rule | ratingValue | alternateName |
|---|---|---|---|
| supported | a judge | 5 | Supported |
| contradicted | a judge | 1 | Contradicted |
| supported | words alone | | Quoted, not judged |
| contradicted | words alone | | Contradicted, not judged |
| disputed | any | | Disputed |
| unresolved | any | | Unresolved: not shown to be true or false |
| unchecked | any | | Unchecked |
| dropped | any | | Quotation not in the source |
"""

import json
import re
from typing import Any

from vera.attestation.outcome import WITHHELD
from vera.evidence.citation import without_citations
from vera.export.finished import Finished
from vera.headline import JUDGED
from vera.report.printable import one_printable_line
from vera.report.timestamps import utc
from vera.report.view.model import CardView, ClaimView
from vera.version import __version__

MAX_LINES = 2000
"""Characters of cited lines for each source."""

NAMES = {
    "supported": "Supported",
    "contradicted": "Contradicted",
    "disputed": "Disputed",
    "unresolved": "Unresolved: not shown to be true or false",
    "unchecked": "Unchecked",
    "dropped": "Quotation not in the source",
}
NOT_JUDGED = {"supported": "Quoted, not judged", "contradicted": "Contradicted, not judged"}
RATINGS = {"supported": 5, "contradicted": 1}
_MARKUP = re.compile(r"[<>&\u2028\u2029]")


def claim_review(finished: Finished) -> bytes:
    """The reviews as one JSON-LD graph. It can be put into a `<script type="application/ld+json">`: what
    could close that is escaped."""
    graph = [_review(claim, finished) for claim in finished.page.claims]
    made = {"@context": "https://schema.org", "@graph": graph}
    text = json.dumps(made, ensure_ascii=True, indent=2)
    return _MARKUP.sub(_escaped, text).encode() + b"\n"


def rating(verdict: str, *, judged: bool) -> dict[str, Any]:
    """The schema.org/Rating of a verdict, by the table above."""
    if not judged:
        return {"@type": "Rating", "alternateName": NOT_JUDGED.get(verdict, NAMES[verdict])}
    made: dict[str, Any] = {"@type": "Rating", "alternateName": NAMES[verdict]}
    if verdict in RATINGS:
        made |= {"ratingValue": RATINGS[verdict], "bestRating": 5, "worstRating": 1}
    return made


def _review(claim: ClaimView, finished: Finished) -> dict[str, Any]:
    page, header = finished.page, finished.page.header
    relied = finished.word not in WITHHELD
    judged = relied and page.attestation is not None and page.attestation.rule in JUDGED
    verdict = claim.verdict if relied else "unchecked"
    reasons = (f"{finished.word}: {finished.reason}", claim.reason, *claim.findings)
    said = "; ".join(reason.rstrip(". ") for reason in reasons if reason)
    made: dict[str, Any] = {
        "@type": "ClaimReview",
        "claimReviewed": one_printable_line(without_citations(claim.text)),
        "datePublished": utc(header.ended_ts or header.last_ts).strftime("%Y-%m-%d"),
        "author": {"@type": "Organization", "name": f"VERA {__version__} (software)"},
        "reviewRating": rating(verdict, judged=judged),
        "reviewBody": f"{one_printable_line(said)}.",
        "isBasedOn": [_basis(card) for card in claim.cards],
    }
    if page.attestation is not None:
        made["identifier"] = page.attestation.id
    return made


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


def _basis(card: CardView) -> dict[str, Any]:
    """The cited lines of a source, and what they say of the claim."""
    lines = f"line {card.first}" if card.first == card.last else f"lines {card.first}-{card.last}"
    made = {
        "@type": "CreativeWork",
        "name": one_printable_line(f"{card.source}, {lines}"),
        "description": card.relation.lower(),
        "identifier": f"sha256:{card.source_id}",
    }
    if card.source.startswith(("http://", "https://")):
        made["url"] = one_printable_line(card.source)
    if card.quotation and not card.problem:
        made["text"] = "\n".join(map(one_printable_line, card.quotation))[:MAX_LINES]
    return made
