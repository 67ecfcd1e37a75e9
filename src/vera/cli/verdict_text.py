"""The verdict on a thesis, for a terminal: the result first, then what decided it and what it leaves open."""

from collections.abc import Iterator, Mapping

from vera.agent.verification_result import Verified
from vera.attestation.objects import Card, Omission
from vera.attestation.report import counted
from vera.extraction.source import is_read_by_ocr
from vera.report import answer as report

SHOWN = 5
"""Of a list, what the terminal shows; `--json` has all of it."""

SAYS: Mapping[str, str] = {
    "VERIFIED": "a judge read that the lines below support each of its sentences",
    "QUOTED": "the lines below hold the words of each of its sentences; no judge has read them",
    "DISPUTED": "sources contradict each other",
    "REFUTED": "the lines below say otherwise",
}
"""What a word means, for a person."""

WHY: Mapping[tuple[str, str], str] = {
    ("UNSUPPORTED", "NO_EVIDENCE"): "its words are not in what was found",
    ("UNSUPPORTED", "PARTIAL"): "one of its sentences holds, and another is not in what was found",
    ("INCONCLUSIVE", "NO_EVIDENCE"): "no matching sentence was found",
    (
        "INCONCLUSIVE",
        "PARTIAL",
    ): "only part of it was found, or the source adds a condition that the thesis leaves out",
    ("INCONCLUSIVE", "COVERAGE"): "too few independent sources decide it, or a required output is missing",
    ("INCONCLUSIVE", "BUDGET"): "the budget was spent before enough was read",
    ("INCONCLUSIVE", "JUDGE_UNRELIABLE"): "the model gave no reading that can be used",
    ("INCONCLUSIVE", "SCORE"): "its sentences were found, and a check or the score holds it back",
    ("INCONCLUSIVE", "FINDINGS"): "the look-up's own report is at fault; see answer.md in the session",
}
"""Why a thesis is PARTIAL or UNRESOLVED, by result and reason."""

_SAYS_OF = {"SUPPORTS": "supports", "CONTRADICTS": "contradicts", "QUALIFIES": "limits"}


def plain(verified: Verified, shown: report.Report, withheld: str = "") -> str:
    """The whole of it; what is `withheld` instead of the word, and why."""
    parts = [withheld or _head(verified), "\n".join(_claims(verified, shown))]
    parts += _cited(verified, shown)
    parts += _listed("Not covered", map(_omission, verified.coverage.omissions))
    blind = (f"{each.blind_spot} {each.risk}" for each in verified.attestation.hyperthesis)
    parts += _listed("What this cannot rule out", blind)
    parts.append(f"Attestation {verified.attestation_id}")
    return "\n\n".join(part for part in parts if part)


def _head(verified: Verified) -> str:
    attestation = verified.attestation
    why = WHY.get((attestation.result, attestation.reason), "see the claims below")
    if attestation.reason == "PARTIAL" and any(card.is_superseded for card in verified.cards.values()):
        why = "another file replaces lines in which it was found"
    elif attestation.reason == "PARTIAL" and scanned_claims(verified):
        why = "OCR read its numbers, so they prove and refute nothing"
    meaning = SAYS.get(verified.word, why)
    until = f"; the verdict stands until {attestation.expires_at[:10]}" if attestation.expires_at else ""
    count = f"{counted(len(verified.cards), 'card')} from {counted(len(verified.sources), 'source')}"
    reused = "verified before, nothing was looked up; " if verified.reused else ""
    return f"{verified.word}: {meaning} ({reused}{count}{until})."


def _claims(verified: Verified, shown: report.Report) -> Iterator[str]:
    marked = {claim.key: claim for claim in shown.claims}
    told = {card.claim for card in verified.cards.values() if card.superseded_by} | scanned_claims(verified)
    for each in verified.attestation.claims:
        reason = f" ({each.reason})" if each.reason else ""
        claim = marked.get(each.claim)
        yield f"{each.claim} {each.result}{reason}: {claim.text if claim else verified.request.text}"
        unfound = (each.result, each.reason) == ("UNSUPPORTED", "NO_EVIDENCE")
        if claim is not None and (unfound or each.claim in told):
            yield from (f"- {finding}" for finding in claim.findings)


def scanned_claims(verified: Verified) -> set[str]:
    """The claims of which a card only qualifies because OCR read its lines."""
    return {
        card.claim
        for card in verified.cards.values()
        if card.relation == "QUALIFIES" and is_read_by_ocr(verified.sources[card.source].extractor)
    }


def _cited(verified: Verified, shown: report.Report) -> Iterator[str]:
    """The lines of each card that says something, with what it says."""
    places = {(quote.evidence, quote.first, quote.last): quote for quote in shown.quotes}
    for card in verified.cards.values():
        quote = places.get((card.evidence, card.span.first, card.span.last))
        if quote is not None and card.relation in _SAYS_OF:
            yield f"{_relation(card)}\n{report.block(quote)}"


def _relation(card: Card) -> str:
    return f"This {_SAYS_OF[card.relation]} {card.claim}:"


def _omission(omission: Omission) -> str:
    at = f" ({omission.pointer})" if omission.pointer not in ("", omission.cell) else ""
    return f"{omission.cell}{at}: {omission.why}"


def _listed(title: str, lines: Iterator[str]) -> Iterator[str]:
    found = list(lines)
    if not found:
        return
    more = [f"- and {len(found) - SHOWN} more; --json has all of them"] if len(found) > SHOWN else []
    yield "\n".join([f"{title}:", *(f"- {line}" for line in found[:SHOWN]), *more])
