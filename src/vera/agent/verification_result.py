"""What a verification of a thesis gives back: pointers and a verdict, under the specification's names."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from vera import events
from vera.attestation.objects import (
    Attestation,
    Card,
    Coverage,
    Digest,
    Kind,
    Policy,
    Source,
    VerifyRequest,
    hexadecimal,
    object_id,
    parse,
)
from vera.attestation.outcome import withheld_after, withheld_code
from vera.attestation.strength import strength
from vera.state import RunState
from vera.store import Store


class Verified(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict on a thesis. No text of a source is in it: who wants to read opens the span in the session.

    `word` says how strongly the thesis is proved (`vera.headline`), or that this is withheld: UNTRUSTED,
    ALTERED or UNSEALED, where a session was accepted as its parent that does not hold. `result` and `reason`
    are those of `vera.attestation.reduce`, `exit_code` is that of `vera verify`. `reused`: the same request
    was verified before, and nothing was looked up.
    """

    request: VerifyRequest
    attestation_id: Digest
    attestation: Attestation
    cards: Mapping[Digest, Card]
    sources: Mapping[Digest, Source]
    coverage: Coverage
    session: Path
    exit_code: int
    word: str
    reused: bool = False

    @property
    def result(self) -> str:
        return self.attestation.result

    @property
    def reason(self) -> str:
        return self.attestation.reason

    def as_dict(self) -> dict[str, Any]:
        """As `vera verify --json` prints it."""
        attestation, coverage = self.attestation, self.coverage
        return {
            "status": self.word,
            "result": attestation.result,
            "reason": attestation.reason,
            "exit_code": self.exit_code,
            "thesis": self.request.text,
            "thesis_id": self.request.thesis,
            "request_id": object_id(self.request),
            "attestation_id": self.attestation_id,
            "verifier_version": attestation.verifier,
            "evidence_set_hash": attestation.evidence_set,
            "issued_at": attestation.issued_at,
            "expires_at": attestation.expires_at,
            "claims": [msgspec.to_builtins(claim) for claim in attestation.claims],
            "cards": [self._card(card_id, card) for card_id, card in self.cards.items()],
            "coverage_map": {
                "clusters": [msgspec.to_builtins(cluster) for cluster in coverage.clusters],
                "sources": coverage.sources,
                "searches": coverage.searches,
                "query_families": coverage.families,
                "new_sources_per_further_query_bp": coverage.novelty_bp,
                "cut": coverage.cut,
            },
            "contradictions": [list(pair) for pair in coverage.contradictions],
            "omissions": [msgspec.to_builtins(omission) for omission in coverage.omissions],
            "hyperthesis": [msgspec.to_builtins(each) for each in attestation.hyperthesis],
            "receipts": list(attestation.receipts),
            "session": str(self.session),
            "reused": self.reused,
        }

    def _card(self, card_id: Digest, card: Card) -> dict[str, Any]:
        source = self.sources[card.source]
        where = msgspec.to_builtins(card.span)
        span = {name: value for name, value in where.items() if name not in ("prefix", "suffix")}
        return {
            "card_id": card_id,
            "source_handle": card.source,
            "source": source.name,
            "tier": source.tier,
            "span_handle": {"canonical": source.canonical, "evidence": card.evidence, **span},
            "claim_link": card.claim,
            "relation": card.relation,
            "confidence": {**msgspec.to_builtins(card.confidence), "calibrated": False},
            "notes": card.notes,
            "superseded_by": [
                {
                    "source": each.name,
                    "canonical": each.canonical,
                    "evidence": each.evidence,
                    "first": each.span.first,
                    "last": each.span.last,
                    "explicit": each.explicit,
                }
                for each in card.superseded_by
            ],
        }


def verified_of(
    state: RunState, store: Store, session: Path, exit_code: int, *, reused: bool = False
) -> Verified:
    """The verdict of a session on a thesis.

    Raises StoreError or ObjectError when a part of it is missing or altered, LookupError when there is none.
    """
    decision = _decision(state)
    attestation = _get(store, decision.attestation, Attestation)
    cards = {card_id: _get(store, card_id, Card) for card_id in attestation.cards}
    return Verified(
        request=_get(store, attestation.request, VerifyRequest),
        attestation_id=decision.attestation,
        attestation=attestation,
        cards=cards,
        sources={card.source: _get(store, card.source, Source) for card in cards.values()},
        coverage=_get(store, attestation.coverage, Coverage),
        session=session,
        exit_code=exit_code,
        word=strength(attestation, _get(store, attestation.policy, Policy)),
        reused=reused,
    )


def _decision(state: RunState) -> events.Verifier:
    chosen = state.rounds.get(state.chosen.round) if state.chosen else None
    if chosen is None or chosen.decision is None:
        raise LookupError("the session has no verdict")
    return chosen.decision


def _get(store: Store, name: Digest, kind: type[Kind]) -> Kind:
    return parse(store.get(hexadecimal(name)), kind)


def relied_on_thesis(verified: Verified, found: str) -> Verified:
    """The verdict in the word of `vera show`: withheld where its session goes on from one of which a replay
    `found` that it does not hold. Raises NoSession, OSError."""
    withheld = withheld_after(found, verified.session)
    if withheld is None:
        return verified
    code = withheld_code(verified.exit_code)
    return msgspec.structs.replace(verified, word=withheld.word, exit_code=code)
