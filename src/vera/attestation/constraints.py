"""Which sources a request lets count: those within its scope, of its domains, types and time."""

from collections.abc import Collection, Mapping

import msgspec

from vera.attestation.cards import Cards
from vera.attestation.objects import (
    NAME_LIMIT,
    TEXT_LIMIT,
    Card,
    Constraints,
    Digest,
    Omission,
    VerifyRequest,
    bounded,
)
from vera.audit.case import Case
from vera.audit.checks.independence import is_web
from vera.audit.checks.time_window import is_page, outside, published
from vera.audit.source_text import SourceText
from vera.events import Evidence
from vera.evidence.citation import place_name
from vera.evidence.domains import unwrap
from vera.evidence.hosts import entry_of, host_of


def refused(request: VerifyRequest, evidence: Evidence, source_type: str) -> str:
    """Why evidence does not count for a request, '' when it does. Its time is looked at apart."""
    if why := _out_of_scope(request.scope, evidence):
        return why
    constraints = request.constraints
    if constraints.source_types and source_type not in constraints.source_types:
        return f"its type is {source_type}, which is none of those that were asked for"
    address = evidence.origin or evidence.source
    has_domain = is_web(evidence) or address.startswith(("http://", "https://"))
    return excluded(constraints, address) if has_domain else ""


def _out_of_scope(scope: Collection[str], evidence: Evidence) -> str:
    """Why the place that evidence comes from is not in the scope, '' when it is."""
    if evidence.tool == "kb":
        return "" if "kb" in scope else "it comes from an earlier session, and kb is not in the scope"
    place = "connectors" if evidence.origin else "web" if is_web(evidence) else "files"
    is_outside = place not in scope and evidence.tier == "captured"
    return f"{place} is not in the scope" if is_outside else ""


def excluded(constraints: Constraints, address: str) -> str:
    """Why no page at this address counts, by its domain; '' when it may."""
    hosts = (host_of(address), host_of(unwrap(address)))
    if denied := next((entry for host in hosts if (entry := entry_of(host, constraints.deny_domains))), ""):
        return f"the domain {denied} is denied"
    if constraints.allow_domains and not entry_of(hosts[1], constraints.allow_domains):
        return f"{hosts[1] or address} is none of the allowed domains"
    return ""


def window_of(constraints: Constraints, not_before: str, not_after: str) -> tuple[str, str]:
    """The days from and to which pages count: the narrower of the constraints' and the given; '' for none."""
    return (
        max(not_before, constraints.not_before),
        min(filter(None, (not_after, constraints.not_after)), default=""),
    )


def constrained(
    made: Cards,
    request: VerifyRequest,
    case: Case,
    types: Mapping[Digest, str],
    window: tuple[str, str],
) -> Cards:
    """The cards of sources that count; for the others an omission says why not.

    A web page, or a file whose metadata say when it was published, counts in no other time `window`. A page
    that shows no date of publication counts in a time `window`, and an omission says so.
    """
    omissions = list(made.refused)
    kept = dict(made.cards)
    for card_id, card in made.cards.items():
        evidence = case.evidence[card.evidence]
        pointer = place_name(card.evidence, card.span.first, card.span.last)
        why = refused(request, evidence, types.get(card.source, ""))
        text = case.sources.get(evidence.text.sha256)
        if not why and any(window) and text is not None and (evidence.dated or is_page(evidence)):
            dated, why = _in_time(evidence, text, window)
            if not dated:
                omissions.append(_omission(card, f"{evidence.source} shows no date of publication.", pointer))
        if why:
            del kept[card_id]
            omissions.append(_omission(card, f"What {pointer} says does not count: {why}.", pointer))
    gone = made.cards.keys() - kept.keys()
    return msgspec.structs.replace(
        made,
        cards=kept,
        objects={name: data for name, data in made.objects.items() if name not in gone},
        refused=tuple(omissions),
    )


def _in_time(evidence: Evidence, text: SourceText, window: tuple[str, str]) -> tuple[bool, str]:
    """Whether a page shows when it was published, and why that is no time that counts."""
    day = published(evidence, text)
    if not day:
        return False, ""
    if not outside(evidence, text, *window):
        return True, ""
    asked = " ".join(f"{word} {bound}" for word, bound in zip(("from", "to"), window, strict=True) if bound)
    return True, f"it was published on {day}, and only pages {asked} were asked for"


def _omission(card: Card, why: str, pointer: str) -> Omission:
    return Omission(
        cell=bounded(card.claim, NAME_LIMIT),
        why=bounded(why, TEXT_LIMIT),
        pointer=bounded(pointer, NAME_LIMIT),
    )
