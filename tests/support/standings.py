"""Small sessions of each standing, with seals: what a folder holds that was worked in for some days."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from support.exams import sat
from support.verified import answer, begin, decide, read_file, ticking
from vera import events
from vera.agent.messages import reason
from vera.attestation.keys import Signer
from vera.config.loading import defaults
from vera.headline import EXIT_CODES, HOLDS, word_of
from vera.session import Session
from vera.session.seal import NAME as SEAL
from vera.verification.judge import CRITERIA

RIVERS = (
    ("Elbe", 1094), ("Rhine", 1233), ("Loire", 1006), ("Vistula", 1047), ("Tagus", 1038), ("Ebro", 930),
    ("Oder", 840), ("Rhône", 813), ("Seine", 775), ("Meuse", 925), ("Drava", 749), ("Weser", 744),
)  # fmt: skip
JUDGE = "qwen3-30b-a3b"
BY_JUDGE = {"rule": "model", "judge": JUDGE}
PRICES = {"budget": {**defaults({}).budget.model_dump(), "input_price": 0.4, "output_price": 1.6}}
"""Settings by which a session says what it cost: money for a million tokens."""

AGAINST = {"ev_0002:2": "CONTRADICTS"}
"""What a judge says of lines that the answer does not cite."""

JUDGED: Mapping[str, Mapping[str, str]] = {"VERIFIED": {}, "DISPUTED": AGAINST, "REFUTED": AGAINST}
"""Standings for which a judge reads the lines, and what it says beside what the rule says; a rule alone reads
those of the others."""

DECIDED = (*JUDGED, "QUOTED", "PARTIAL")
WITHHELD = ("ALTERED", "UNSEALED", "UNTRUSTED")
"""Standings of sessions that cannot be relied on."""

STANDINGS = (*DECIDED, *WITHHELD, "UNRESOLVED", "stopped", "model_failed")
USUAL = (
    "VERIFIED", "QUOTED", "VERIFIED", "PARTIAL", "VERIFIED", "UNRESOLVED", "QUOTED", "VERIFIED", "REFUTED",
    "VERIFIED", "QUOTED", "stopped", "VERIFIED", "UNRESOLVED", "DISPUTED", "QUOTED", "PARTIAL",
    "model_failed", "UNRESOLVED",
)  # fmt: skip
"""How sessions of a batch end, in turn, but for one in twenty that cannot be relied on."""


def usual(number: int) -> str:
    """How the session of that number of a batch ends."""
    return WITHHELD[number // 20 % len(WITHHELD)] if number % 20 == 13 else USUAL[number % len(USUAL)]


def session_of(
    root: Path, signer: Signer, standing: str, *, number: int = 0, at: float = 1_764_000_000.0
) -> None:
    """A session of one of STANDINGS that ended at `at` (Unix time). The `number` says which river it is
    about, and how many tokens it took."""
    river, length = RIVERS[number % len(RIVERS)]
    session = Session.create(root, PRICES, ticking(at - 40.0 - number % 50))
    try:
        _read(session, river, length)
        _work(session, river, length, number)
        if standing in DECIDED:
            _decide(session, signer, standing, river, length)
        elif standing in WITHHELD:
            by = Signer(Ed25519PrivateKey.generate()) if standing == "UNTRUSTED" else signer
            _decide(session, by, "QUOTED", river, length)
        elif standing == "UNRESOLVED":
            session.emit(events.Status(step=3, status="UNRESOLVED", reason="no source says it"))
            end = events.RunEnd(
                status="UNRESOLVED", reason="no source says it", exit_code=3, steps=3, seconds=9.0
            )
            session.finish(end, signer.seal)
        elif standing == "model_failed":
            refused = "http://127.0.0.1:8080/v1 refused the connection"
            session.emit(
                events.Model(step=3, scope="agent", latency_s=8.0, attempts=4, error=refused), lane="main"
            )
    finally:
        session.close()
    if standing == "UNSEALED":
        (root / SEAL).unlink()
    elif standing == "ALTERED":
        (root / "answer.md").write_text(f"The {river} is very long.\n")
    os.utime(root / "trace.jsonl", (at, at))


def _read(session: Session, river: str, length: int) -> None:
    session.emit(events.Task(task=f"How long is the river {river}?", input_dir="rivers"))
    for name, said in (("rivers.txt", length), ("atlas.txt", length + 91)):
        text = f"{name.partition('.')[0].title()} of Europe\nThe {river} is {said} kilometres long.\n"
        read_file(session, name, text.encode())


def _work(session: Session, river: str, length: int, number: int) -> None:
    """What the model was asked, and its tokens."""
    for step in (1, 2):
        session.emit(
            events.Model(
                step=step,
                scope="agent",
                latency_s=2.0 + number % 7,
                prompt_tokens=4_100 + 977 * (number % 23) + 3 * length,
                completion_tokens=180 + 41 * (number % 11),
            ),
            lane="main",
        )


def _decide(session: Session, signer: Signer, standing: str, river: str, length: int) -> None:
    said = f"The {river} is {length} kilometres long [ev_0001:{1 if standing == 'REFUTED' else 2}]."
    if standing == "PARTIAL":
        said = f"{said} The {river} is {length + 7} kilometres long in the year 1900 [ev_0002:1]."
    by: dict[str, Any] = BY_JUDGE if standing in JUDGED else {}
    begin(session, 1, answer(session, said), **by)
    if labels := JUDGED.get(standing):
        session.emit(_labelled(labels))
    if standing in JUDGED:
        session.emit(events.VerifierScore(round=1, scores=tuple(_scores())))
    claims, supported = (2, 1) if standing == "PARTIAL" else (1, int(standing in HOLDS))
    decision = decide(session, signer, 1, claims=claims, supported=supported)
    session.emit(
        events.AnswerChosen(
            round=1, answer_seq=decision.answer_seq, attestation=decision.attestation, reason="the only one"
        )
    )
    (session.root / "attestation.json").write_bytes(session.store.get(decision.envelope.sha256))
    (session.root / "answer.md").write_text(f"{said}\n")
    word = word_of(standing)
    why = reason(word, decision)
    session.emit(events.Status(step=2, status=word, reason=why))
    end = events.RunEnd(status=word, reason=why, exit_code=EXIT_CODES[word], steps=2, seconds=1.0)
    session.finish(end, signer.seal)


def _scores() -> Iterator[events.Score]:
    for criterion in CRITERIA:
        yield events.Score(criterion=criterion, points=390, method="logprobs")


def _labelled(labels: Mapping[str, str]) -> events.VerifierLabels:
    spans = []
    for place, relation in labels.items():
        evidence, _, line = place.partition(":")
        spans.append(events.SpanLabel(evidence=evidence, first=int(line), last=int(line), relation=relation))
    return events.VerifierLabels(
        round=1, claim="c1", labels=tuple(spans), maker=JUDGE, prompt_sha256=sat(JUDGE).prompt_sha256
    )
