"""What the cards cover: independent clusters of sources, what is missing, and what disagrees."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from vera.attestation.cards import Cards
from vera.attestation.objects import (
    NAME_LIMIT,
    TEXT_LIMIT,
    Caps,
    Card,
    CheckResult,
    Cluster,
    Coverage,
    Digest,
    Omission,
    Source,
    bounded,
    hexadecimal,
)
from vera.audit.case import Case, place_of
from vera.evidence.citation import place_name
from vera.evidence.independence import SourceDoc, clusters

MIN_FAMILIES = 6
"""Query families before novelty says anything: estimated from three of them it is far too high."""

NOVELTY_STOP_BP = 1_000
"""Basis points of novelty below which another query family is not worth its cost."""


def cover(
    case: Case,
    made: Cards,
    checks: Sequence[CheckResult],
    *,
    types: Mapping[Digest, str] | None = None,
    missing: Sequence[Omission] = (),
    families: Sequence[Sequence[str]] = (),
    cut: str = "",
    budget: Caps | None = None,
) -> Coverage:
    """The coverage of one round.

    Clusters are made of every source that is cited or has a card, so that a card more or less never changes
    which sources count as one. A file is its own cluster unless it is a copy.

    The rest is told of a look-up for a request: the `types` of sources by their ids, what else is `missing`,
    the sources that each query family gave, its `budget`, and the cap that `cut` the look-up short.
    """
    omissions = (
        *_unsupported(case, made.cards.values()),
        *_unreadable(case),
        *_unanswered(checks),
        *made.refused,
        *missing,
    )
    return Coverage(
        clusters=_clusters(case, made, types or {}),
        omissions=tuple(dict.fromkeys(omissions)),
        contradictions=contradictions(made.cards),
        sources=len(made.sources),
        searches=len(case.lookups),
        families=len(families),
        novelty_bp=novelty(families) if families else 0,
        cut=cut,
        budget=budget,
    )


def novelty(families: Sequence[Sequence[str]]) -> int:
    """New sources per further query, in basis points: the share of results that no other family gave.

    This is the Good–Turing estimate f1/n (Good, "The population frequencies of species and the estimation of
    population parameters", 1953): n counts what the families gave, a source once for each family that gave
    it, and f1 the sources that one family alone gave. It says how much another query would bring, and not
    which part of the truth is known. 10000 when nothing was seen, since then nothing is known.
    """
    seen = Counter(source for family in families for source in set(family))
    total = sum(seen.values())
    return 10_000 * sum(count == 1 for count in seen.values()) // total if total else 10_000


def enough(families: Sequence[Sequence[str]]) -> bool:
    """Whether to stop asking: after MIN_FAMILIES families, when they gave nothing at all or when novelty
    lies below NOVELTY_STOP_BP."""
    if len(families) < MIN_FAMILIES:
        return False
    return not any(families) or novelty(families) < NOVELTY_STOP_BP


def is_web(source: Source) -> bool:
    """Whether the host took a source from the web, rather than from a file or a command."""
    is_address = source.name.lower().startswith(("http://", "https://"))
    return source.tier == "captured" and (is_address or bool(source.retrieval))


def contradictions(cards: Mapping[Digest, Card]) -> tuple[tuple[Digest, Digest], ...]:
    """Pairs (supporting, contradicting) of cards for one claim.

    Each card that disagrees is in one, paired with the first of the other side: all pairs would be as many
    as the product of both sides.
    """
    sides: dict[str, tuple[list[Digest], list[Digest]]] = {}
    for card_id, card in cards.items():
        supporting, contradicting = sides.setdefault(card.claim, ([], []))
        if card.relation == "SUPPORTS":
            supporting.append(card_id)
        elif card.relation == "CONTRADICTS":
            contradicting.append(card_id)
    pairs: list[tuple[Digest, Digest]] = []
    for supporting, contradicting in sides.values():
        if supporting and contradicting:
            pairs += [(card, contradicting[0]) for card in supporting]
            pairs += [(supporting[0], card) for card in contradicting]
    return tuple(pairs)


def _clusters(case: Case, made: Cards, types: Mapping[Digest, str]) -> tuple[Cluster, ...]:
    docs = [
        SourceDoc(
            key=source_id,
            url=source.name if is_web(source) else "",
            text=case.sources[hexadecimal(source.canonical)].text,
        )
        for source_id, source in sorted(made.sources.items())
    ]
    cards: dict[Digest, list[Digest]] = {}
    for card_id, card in made.cards.items():
        cards.setdefault(card.source, []).append(card_id)
    found = (
        Cluster(
            key=bounded(group.key, NAME_LIMIT),
            sources=group.sources,
            cards=tuple(card for source in group.sources for card in cards.get(source, ())),
            types=tuple(types[source] for source in group.sources if source in types),
        )
        for group in clusters(docs)
    )
    return tuple(sorted(found, key=lambda cluster: (cluster.key, cluster.sources)))


def _unsupported(case: Case, cards: Iterable[Card]) -> Iterator[Omission]:
    """Claims about which no card says anything, and citations that do not hold."""
    spoken = {card.claim for card in cards if card.relation != "IRRELEVANT"}
    for claim in case.claims:
        cited = [place_name(cite.evidence, cite.first, cite.last) for cite in claim.cites]
        if claim.load_bearing and claim.key not in spoken:
            why = "No card says anything about this claim."
            yield _omission(claim.key, why, cited[0] if cited else "")
        for cite, pointer in zip(claim.cites, cited, strict=True):
            if place_of(case, cite) is None:
                yield _omission(claim.key, "The cited lines cannot be read.", pointer)


def _unreadable(case: Case) -> Iterator[Omission]:
    for evidence in case.evidence.values():
        reason = case.unreadable.get(evidence.text.sha256)
        if reason is not None:
            yield _omission(evidence.source or evidence.id, reason, evidence.id)


def _unanswered(checks: Iterable[CheckResult]) -> Iterator[Omission]:
    for check in checks:
        if check.answer == "unknown":
            yield _omission(check.claim, f"A check could not be answered: {check.question}", check.source)


def _omission(cell: str, why: str, pointer: str) -> Omission:
    return Omission(
        cell=bounded(cell, NAME_LIMIT),
        why=bounded(why, TEXT_LIMIT),
        pointer=bounded(pointer, NAME_LIMIT),
    )
