"""The verdict on one claim of an attestation: one of `vera.report.view.model.VERDICTS`, and why in words."""

from collections.abc import Sequence

from vera.attestation.objects import Card, ClaimResult, Unread
from vera.evidence.finding import Finding
from vera.report.answer import FALSE_QUOTATIONS
from vera.report.view.words import counted

WHY = {
    "REFUTED": "the cited sources contradict it",
    "NO_EVIDENCE": "its claims do not rest on cited lines",
    "PARTIAL": "only some of its claims rest on cited lines",
    "BUDGET": "the budget ended before its claims were covered",
    "COVERAGE": "its claims are not covered by enough independent sources or searches",
    "JUDGE_UNRELIABLE": "the verifier's model gave no reading that can be used",
    "SCORE": "every claim rests on cited lines, but the verifier's score is too low",
    "FINDINGS": "the audit found the answer itself at fault",
}
"""Why an answer came to its result: the attestation's `reason` → the rest of a sentence."""

_NOT_ENOUGH = {
    "NO_EVIDENCE": "No cited line says so.",
    "PARTIAL": "Cited lines say it only with a qualification.",
    "BUDGET": "The budget ended before there was enough.",
    "COVERAGE": "Too few independent sources decide it.",
    "JUDGE_UNRELIABLE": "The verifier's readings do not agree.",
}


def reason_in_words(reason: str) -> str:
    """The reason of a result, and what it means: `REFUTED: the cited sources contradict it`."""
    return f"{reason}: {WHY[reason]}" if reason in WHY else reason


def verdict_on(
    result: ClaimResult | None,
    cards: Sequence[Card],
    findings: Sequence[Finding],
    unread: Sequence[Unread],
    *,
    load_bearing: bool,
) -> tuple[str, str]:
    """What the claim came to. `cards`, `findings` and `unread` are those of this claim.

    Only a card contradicts a claim; one that the verifier failed to read is unchecked.
    """
    hard = [each.message for each in findings if each.severity == "hard"]
    if any(each.code in FALSE_QUOTATIONS for each in findings):
        return "dropped", hard[0] if hard else "Its quotation is in no cited source."
    if result is None:
        why = "" if load_bearing else "It does not count for the verdict: nothing in it can be checked."
        return "unchecked", why or "No one has looked at it."
    supports, contradicts = result.supports, result.contradicts
    both = f"{_sources(supports)} {_say(supports)} so, {_sources(contradicts)} {_say(contradicts)} otherwise."
    if result.result == "SUPPORTED":
        return "supported", f"{_sources(supports)} {_say(supports)} so."
    if result.result == "DISPUTED" or (supports and contradicts):
        return "disputed", both
    if result.reason == "REFUTED" or contradicts:
        return "contradicted", f"{_sources(contradicts)} {_say(contradicts)} otherwise."
    if unread and not any(card.relation != "IRRELEVANT" for card in cards):
        return "unchecked", f"Its lines were not read: {unread[0].why.rstrip('.')}."
    if cards or hard:
        return "unresolved", hard[0] if hard else _NOT_ENOUGH.get(
            result.reason, "There is not enough either way."
        )
    return "unchecked", _NOT_ENOUGH["BUDGET"] if result.reason == "BUDGET" else "No line was read for it."


def _sources(count: int) -> str:
    return counted(count, "independent source")


def _say(count: int) -> str:
    return "says" if count == 1 else "say"
