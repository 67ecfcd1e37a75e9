"""An attestation and what it was computed from, read from a store that may be incomplete or altered."""

from collections import defaultdict
from collections.abc import Mapping

import msgspec

from vera import events
from vera.attestation.dsse import EnvelopeError
from vera.attestation.envelope import open_envelope
from vera.attestation.objects import (
    Attestation,
    Card,
    Coverage,
    Digest,
    Findings,
    Kind,
    ObjectError,
    Source,
    Thesis,
    hexadecimal,
    parse,
)
from vera.store import Store, StoreError

MAX_CARDS = 1000
"""Cards of one attestation that are opened, the first by their ids."""


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What could be read of an attestation. Without an `attestation`, `problem` says why there is none.

    `cards` are by claim and `sources` by id; of what is missing beside them, `problem` says how much.
    """

    attestation: Attestation | None = None
    thesis: Thesis | None = None
    findings: Findings = Findings()
    coverage: Coverage | None = None
    cards: Mapping[str, tuple[tuple[Digest, Card], ...]] = msgspec.field(default_factory=dict)
    sources: Mapping[Digest, Source] = msgspec.field(default_factory=dict)
    more_cards: int = 0
    problem: str = ""


def verdict_of(attestation_id: str, store: Store) -> Verdict:
    """The verdict with this id (`sha256:…`)."""
    attestation = _object(store, attestation_id, Attestation)
    if isinstance(attestation, str):
        return Verdict(problem=f"The attestation cannot be shown: {attestation}")
    problems: list[str] = []

    def take(name: Digest, kind: type[Kind]) -> Kind | None:
        found = _object(store, name, kind)
        if isinstance(found, str):
            problems.append(found)
            return None
        return found

    by_claim: defaultdict[str, list[tuple[Digest, Card]]] = defaultdict(list)
    sources: dict[Digest, Source] = {}
    for name in attestation.cards[:MAX_CARDS]:
        card = take(name, Card)
        if card is None:
            continue
        by_claim[card.claim].append((name, card))
        if card.source not in sources and (source := take(card.source, Source)) is not None:
            sources[card.source] = source
    thesis, coverage = take(attestation.thesis, Thesis), take(attestation.coverage, Coverage)
    findings = take(attestation.findings, Findings)
    return Verdict(
        attestation=attestation,
        thesis=thesis,
        findings=findings or Findings(),
        coverage=coverage,
        cards={claim: tuple(cards) for claim, cards in by_claim.items()},
        sources=sources,
        more_cards=max(0, len(attestation.cards) - MAX_CARDS),
        problem=_in_short(problems),
    )


def signer_of(envelope: events.Blob, store: Store) -> tuple[str, str]:
    """The key id that signed, and '' or why there is none."""
    try:
        return open_envelope(store.get(envelope.sha256)).keyid, ""
    except EnvelopeError as error:
        return "", f"Its signature does not hold: {error}"
    except (StoreError, OSError):
        return "", "Its signed envelope cannot be read from the store."


def _object(store: Store, name: str, kind: type[Kind]) -> Kind | str:
    """The object, or why it cannot be had."""
    try:
        return parse(store.get(hexadecimal(name)), kind)
    except ObjectError:
        return f"{name[:20]}… is no {kind.__name__.lower()}."
    except (StoreError, OSError):
        return f"The store has no whole {kind.__name__.lower()} {name[:20]}…"


def _in_short(problems: list[str]) -> str:
    if not problems:
        return ""
    more = f" ({len(problems) - 1} more like this)" if len(problems) > 1 else ""
    return f"Not all of the attestation can be shown. {problems[0]}{more}"
