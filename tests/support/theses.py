"""Sessions that verified a thesis: a real log, store, request, attestation and envelope."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec

from support.exams import sat
from support.verified import answer, begin, decide, open_session
from vera import events
from vera.attestation.build import Built, build
from vera.attestation.envelope import open_envelope
from vera.attestation.keys import Signer
from vera.attestation.lenses import load_lens
from vera.attestation.objects import Attestation, Digest, canonical, object_id
from vera.attestation.record import Record
from vera.attestation.request import request_objects, request_of, requested, thesis_id
from vera.store import Store

THESIS = "The Elbe is 1094 kilometres long."
SUPPORTED = "The Elbe is 1094 kilometres long [ev_0002:2]."
UNBACKED = "The Elbe is 1094 kilometres long [ev_0002:4]."
"""Cites a line that says something else."""
JUDGE = "a model"
BY_JUDGE = {"rule": "model", "judge": JUDGE}
DISPUTED = {"ev_0003:2": "CONTRADICTS"}
NOW = datetime(2025, 11, 24, 17, 0, tzinfo=UTC)
"""A little after the sessions of `support.verified`."""


@dataclass(frozen=True)
class Found:
    """What a verification came to, and how its result reaches the AHDB."""

    envelope: bytes
    store: Store
    thesis_id: Digest
    request: Digest
    attestation: Attestation

    @property
    def asked(self) -> dict[str, Digest]:
        return {"thesis_id": self.thesis_id, "request": self.request}


def later(**units: float) -> datetime:
    return NOW + timedelta(**units)


def stamp(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def verified_thesis(
    root: Path,
    signer: Signer,
    text: str = SUPPORTED,
    *,
    thesis: str = THESIS,
    labels: Mapping[str, str] | None = None,
    risk: str = "med",
    asked: bool = True,
    named: str = "",
    **members: object,
) -> Found:
    """A session that verified `thesis` by the answer `text`.

    `labels` are relations by place, said of the only claim by a model; without them the rule labels. Each of
    `members` stands in the attestation in place of its own: what a cheat, or a slow clock, would write. So
    does, when it is not `asked`, no request, and for the thesis `named` a request about that one.
    """
    lens = load_lens("general")
    request, budget = request_of(thesis, scope=["files"], risk=risk, volatility="static", lens=lens)
    objects = request_objects(request, lens)
    other, _ = request_of(named or thesis, scope=["files"], risk=risk, volatility="static", lens=lens)
    instead = {} if asked and not named else {"request": object_id(other) if asked else ""}

    def make(record: Record) -> Built:
        made = build(record)
        attestation = msgspec.structs.replace(made.attestation, **instead, **members)
        data = canonical(attestation)
        name = object_id(attestation)
        return msgspec.structs.replace(
            made,
            attestation=attestation,
            attestation_id=name,
            objects={**made.objects, **request_objects(other, lens), name: data},
        )

    session = open_session(root)
    try:
        session.emit(events.Task(task=thesis, input_dir="rivers"))
        for data in objects.values():
            session.store.put(data)
        session.emit(requested(request, budget))
        begin(session, 1, answer(session, text), **({} if labels is None else BY_JUDGE))
        if labels is not None:
            session.emit(_labelled(labels))
        decision = decide(session, signer, 1, make)
        envelope = session.store.get(decision.envelope.sha256)
    finally:
        session.close()
    attested = open_envelope(envelope).attestation
    return Found(envelope, session.store, thesis_id(thesis), object_id(request), attested)


def _labelled(labels: Mapping[str, str]) -> events.VerifierLabels:
    spans = []
    for place, relation in labels.items():
        evidence, _, line = place.partition(":")
        spans.append(events.SpanLabel(evidence=evidence, first=int(line), last=int(line), relation=relation))
    return events.VerifierLabels(
        round=1, claim="c1", labels=tuple(spans), maker=JUDGE, prompt_sha256=sat(JUDGE).prompt_sha256
    )
