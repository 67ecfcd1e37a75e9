"""What a look-up for a request did not cover, each with a pointer to where it could be looked up."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from urllib.parse import urlsplit

from vera.attestation.cards import Cards
from vera.attestation.constraints import excluded
from vera.attestation.coverage import is_web
from vera.attestation.look_up import Looked
from vera.attestation.objects import (
    NAME_LIMIT,
    TEXT_LIMIT,
    Card,
    Cluster,
    Digest,
    Omission,
    Unread,
    bounded,
)
from vera.attestation.record import Asked
from vera.attestation.source_types import of_type
from vera.attestation.tiers import Thresholds
from vera.audit.case import Case
from vera.evidence.citation import place_name
from vera.evidence.domains import registrable_domain, unwrap
from vera.evidence.hosts import host_of
from vera.evidence.queries import is_search_engine

MAX_OMISSIONS = 20
"""Of one kind."""


def omissions_of(
    asked: Asked, case: Case, made: Cards, types: Mapping[Digest, str], unread: Iterable[Unread] = ()
) -> tuple[Omission, ...]:
    """What is missing, kind by kind: what the budget cut off, parts of the scope, claims whose lines no model
    could read, empty cells, sources that failed, and sources that were never read: those that two fetched
    pages cite, that the constraints exclude, or that two query families found. `types` are those of the
    sources, by their ids."""
    tried = {_address(each.source) for each in case.evidence.values() if not each.lead}
    tried.update(_address(each.name) for each in asked.looked.failed)
    kinds = (
        _cut_off(asked, case),
        _scope(asked, made),
        _unchecked(asked),
        (_omission(each.claim, f"Its lines were not all read: {each.why}.", "") for each in unread),
        _cells(asked, case, made, types),
        (_omission(each.name, each.why, each.pointer) for each in asked.looked.failed),
        _cited_by_two(asked.looked, tried),
        _excluded(asked, tried),
        _found_twice(asked, tried),
    )
    return tuple(each for kind in kinds for each in islice(kind, MAX_OMISSIONS))


def too_few(made: Cards, clusters: Sequence[Cluster], needed: Thresholds) -> Iterator[Omission]:
    """Of each claim that some sources support, and fewer independent ones than it needs: how many do."""
    cluster_of = {source: number for number, each in enumerate(clusters) for source in each.sources}
    saying: dict[str, list[Card]] = {}
    for card in made.cards.values():
        if card.relation == "SUPPORTS":
            saying.setdefault(card.claim, []).append(card)
    for claim, cards in sorted(saying.items()):
        if why := _too_few(made, cards, cluster_of, needed):
            first = min(place_name(card.evidence, card.span.first, card.span.last) for card in cards)
            yield _omission(claim, why, first)


def _too_few(made: Cards, cards: Iterable[Card], cluster_of: Mapping[Digest, int], needed: Thresholds) -> str:
    """How many independent sources the cards of a claim have, in a sentence; '' when they are enough."""
    sources = {card.source for card in cards}
    only_web = all(is_web(made.sources[source]) for source in sources)
    count = len({cluster_of.get(source, source) for source in sources})
    wanted = needed.web_sources if only_web else needed.file_sources
    if count >= wanted:
        return ""
    one = f", for {len(sources)} are one by copying or by publisher" if len(sources) > count else ""
    return f"Independent sources that say so: {count}, needed {wanted}{one}."


def _cut_off(asked: Asked, case: Case) -> Iterator[Omission]:
    """That the look-up ended at a cap of its budget, and what came next."""
    cut = asked.looked.cut
    if cut:
        cap = getattr(asked.budget, cut, None)
        amount = f" ({cap:.16g})" if cap is not None else ""
        why = f"The look-up ended at its budget of {cut}{amount}."
        yield _omission(f"budget {cut}", why, _unread_hit(asked.looked, case))


def _scope(asked: Asked, made: Cards) -> Iterator[Omission]:
    """Parts of the scope where there was nothing to look at."""
    scope, looked = asked.request.scope, asked.looked
    if "files" in scope and not looked.files:
        yield _omission("files", "No file was given that could be read.", "")
    if "web" in scope and not any(is_web(source) for source in made.sources.values()):
        yield _omission("web", "No page of the web is among the sources.", "")
    if "kb" in scope and not looked.kb:
        yield _omission("kb", "No evidence of an earlier session was taken up.", "")
    if "connectors" in scope:
        yield from _connectors(looked)


def _connectors(looked: Looked) -> Iterator[Omission]:
    """That no connector was asked, or what each of them left out."""
    if not looked.connectors:
        yield _omission("connectors", "No connector is configured, so none was asked.", "")
    for each in looked.connectors:
        if each.left_out_count:
            first = "; ".join(f"{name}: {why}" for name, why in each.left_out[:3])
            cut = f" It ended at {each.ended_at}." if each.ended_at else ""
            why = f"The connector {each.name} left out {each.left_out_count} of what it found.{cut} {first}."
            yield _omission("connectors", why, each.left_out[0][0] if each.left_out else "")


def _unchecked(asked: Asked) -> Iterator[Omission]:
    if languages := asked.request.constraints.languages:
        why = "The language of a source is not told by any check; these were asked for in searches only."
        yield _omission(f"languages {', '.join(languages)}", why, "")


def _cells(asked: Asked, case: Case, made: Cards, types: Mapping[Digest, str]) -> Iterator[Omission]:
    """Of each claim the types of source that the lens wants and that too few of its sources are of."""
    sources: dict[str, set[Digest]] = {}
    for card in made.cards.values():
        if card.relation != "IRRELEVANT":
            sources.setdefault(card.claim, set()).add(card.source)
    for claim in case.claims:
        for quota in asked.lens.quotas:
            found = sources.get(claim.key, set())
            count = sum(of_type((types.get(source, ""),), quota.source_type) for source in found)
            if count < quota.count:
                why = (
                    f"The lens {asked.lens.name} wants {quota.count} of type {quota.source_type} "
                    f"for this claim, and {count} speak of it."
                )
                yield _omission(f"{claim.key} × {quota.source_type}", why, _unread_hit(asked.looked, case))


def _unread_hit(looked: Looked, case: Case) -> str:
    """The first result that was found and not read: where to look on."""
    read = {_address(each.source) for each in case.evidence.values() if not each.lead}
    hits = (hit for family in looked.families for hit in family)
    return next((hit for hit in hits if _address(hit) not in read), "")


def _cited_by_two(looked: Looked, tried: Iterable[str]) -> Iterator[Omission]:
    """What pages of two publishers link to and was never read: often the source that both rest on."""
    known, domains = frozenset(tried), dict[str, set[str]]()
    written: dict[str, str] = {}
    for page, links in looked.links.items():
        publisher = registrable_domain(page)
        for link in links:
            key = _address(link)
            if "/" in key.rstrip("/") and key not in known:
                domains.setdefault(key, set()).add(publisher)
                written.setdefault(key, link)
    often = sorted(
        (key for key, publishers in domains.items() if len(publishers) > 1),
        key=lambda key: (-len(domains[key]), key),
    )
    for key in often:
        link = written[key]
        if registrable_domain(link) not in domains[key] and not is_search_engine(host_of(link)):
            why = f"Fetched pages of {len(domains[key])} publishers link to it, and it was not read."
            yield _omission(link, why, link)


def _excluded(asked: Asked, tried: Iterable[str]) -> Iterator[Omission]:
    """Pages that a search found and that no constraint lets count, each with the constraint."""
    for hit in _unread(asked.looked, tried):
        if why := _constraint(asked, hit):
            yield _omission(hit, f"A search found it, and it was not read: {why}.", hit)


def _found_twice(asked: Asked, tried: Iterable[str]) -> Iterator[Omission]:
    """Results of two query families that were never read, though they might count."""
    counts = _unread(asked.looked, tried)
    for hit, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])):
        if count > 1 and not _constraint(asked, hit):
            yield _omission(hit, f"{count} searches found it, and no line of it was taken as evidence.", hit)


def _unread(looked: Looked, tried: Iterable[str]) -> Counter[str]:
    """How many query families found each result that was never read."""
    known = frozenset(tried)
    return Counter(hit for family in looked.families for hit in family if _address(hit) not in known)


def _constraint(asked: Asked, hit: str) -> str:
    """The constraint that excludes a result, '' for none."""
    if not hit.lower().startswith(("http://", "https://")):
        return ""
    return excluded(asked.request.constraints, hit)


def _address(name: str) -> str:
    """An address as it is compared: without wrappers, scheme, `www.`, fragment and last slash."""
    if not name.lower().startswith(("http://", "https://")):
        return name
    try:
        parts = urlsplit(unwrap(name))
        host = (parts.hostname or "").removeprefix("www.") + (f":{parts.port}" if parts.port else "")
    except ValueError:
        return name
    return host + parts.path.rstrip("/") + (f"?{parts.query}" if parts.query else "")


def _omission(cell: str, why: str, pointer: str) -> Omission:
    return Omission(
        cell=bounded(cell, NAME_LIMIT), why=bounded(why, TEXT_LIMIT), pointer=bounded(pointer, NAME_LIMIT)
    )
