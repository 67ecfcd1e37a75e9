"""Which sources a request lets count: those within its scope, of its domains and of its types."""

from collections.abc import Mapping

import msgspec

from vera.attestation.cards import Cards
from vera.attestation.objects import NAME_LIMIT, TEXT_LIMIT, Digest, Omission, VerifyRequest, bounded
from vera.audit.checks.independence import is_web
from vera.events import Evidence
from vera.evidence.citation import place_name
from vera.evidence.domains import unwrap
from vera.evidence.hosts import entry_of, host_of


def refused(request: VerifyRequest, evidence: Evidence, source_type: str) -> str:
    """Why evidence does not count for a request, '' when it does. Time is the audit's (`time_window`)."""
    kept = evidence.tool == "kb"
    place = "web" if is_web(evidence) else "files"
    if kept and "kb" not in request.scope:
        return "it comes from an earlier session, and kb is not in the scope"
    if not kept and place not in request.scope and evidence.tier == "captured":
        return f"{place} is not in the scope"
    constraints = request.constraints
    if constraints.source_types and source_type not in constraints.source_types:
        return f"its type is {source_type}, which is none of those that were asked for"
    if not is_web(evidence):
        return ""
    hosts = (host_of(evidence.source), host_of(unwrap(evidence.source)))
    if denied := next((entry for host in hosts if (entry := entry_of(host, constraints.deny_domains))), ""):
        return f"the domain {denied} is denied"
    if constraints.allow_domains and not entry_of(hosts[1], constraints.allow_domains):
        return f"{hosts[1] or evidence.source} is none of the allowed domains"
    return ""


def constrained(
    made: Cards, request: VerifyRequest, evidence: Mapping[str, Evidence], types: Mapping[Digest, str]
) -> Cards:
    """The cards of sources that count; of each other one an omission says why it is none."""
    omissions = list(made.refused)
    kept = dict(made.cards)
    for card_id, card in made.cards.items():
        why = refused(request, evidence[card.evidence], types.get(card.source, ""))
        if why:
            del kept[card_id]
            pointer = place_name(card.evidence, card.span.first, card.span.last)
            omissions.append(
                Omission(
                    cell=bounded(card.claim, NAME_LIMIT),
                    why=bounded(f"What {pointer} says does not count: {why}.", TEXT_LIMIT),
                    pointer=bounded(pointer, NAME_LIMIT),
                )
            )
    gone = made.cards.keys() - kept.keys()
    return msgspec.structs.replace(
        made,
        cards=kept,
        objects={name: data for name, data in made.objects.items() if name not in gone},
        refused=tuple(omissions),
    )
