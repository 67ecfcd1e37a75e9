"""A verifier that lies: its host computes a kinder verdict than the log gives. The run may say VERIFIED; a
replay, which trusts nobody's sums, does not."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from support.attacks import OFFLINE, Attempt, attempt
from support.cast import all_labelled, final, scored, turn
from vera.attestation.build import Built, build
from vera.attestation.record import Record
from vera.headline import OPEN
from vera.verification import verifier

QUESTION = "How long must a written offer be valid, and what does it cost?"
FILES = {"terms.txt": "A written offer must be valid for three years.\nIt costs 20 euros.\n"}
TRUE = "A written offer must be valid for three years [ev_0001:1]."
INCONVENIENT = "It costs 99 euros [ev_0001:2]."


def run(folder: Path, answer: str, **more: Any) -> Attempt:
    worker = [turn("read", path="terms.txt"), final(answer)]
    return attempt(folder, worker, *OFFLINE, question=QUESTION, files=FILES, **more)


def without_the_claim(record: Record) -> Record:
    return msgspec.structs.replace(record, answer=record.answer.replace(f" {INCONVENIENT}", ""))


def other_answer(record: Record) -> Record:
    return msgspec.structs.replace(record, answer="It costs 20 euros [ev_0001:2].")


def without_contradictions(record: Record) -> Record:
    kind = [
        msgspec.structs.replace(
            each, labels=tuple(msgspec.structs.replace(label, relation="SUPPORTS") for label in each.labels)
        )
        for each in record.labels
    ]
    return msgspec.structs.replace(record, labels=tuple(kind))


def better_scores(record: Record) -> Record:
    scores = tuple(msgspec.structs.replace(score, points=400) for score in record.scores)
    return msgspec.structs.replace(record, scores=scores)


def lower_bar(record: Record) -> Record:
    return msgspec.structs.replace(record, policy=msgspec.structs.replace(record.policy, min_score=100))


LIES: dict[str, tuple[Callable[[Record], Record], str, dict[str, object]]] = {
    "a claim left out": (without_the_claim, f"{TRUE} {INCONVENIENT}", {}),
    "another answer": (other_answer, INCONVENIENT, {}),
    "labels turned round": (without_contradictions, TRUE, {"label": all_labelled("CONTRADICTS")}),
    "scores raised": (better_scores, TRUE, {"score": scored(1)}),
    "bar lowered": (lower_bar, TRUE, {"score": scored(1)}),
}


def test_the_honest_twin_is_verified_and_replays(tmp_path: Path) -> None:
    run(tmp_path, f"{TRUE} It costs 20 euros [ev_0001:2].").is_verified()


@pytest.mark.parametrize("lie", LIES)
def test_a_verdict_that_was_made_kinder_does_not_replay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lie: str
) -> None:
    kinder, answer, parts = LIES[lie]
    assert run(tmp_path / "honest", answer, **parts).status in OPEN

    def lying(record: Record) -> Built:
        return build(kinder(record))

    monkeypatch.setattr(verifier, "build", lying)
    if not parts:  # its hard finding would end the round before a judge is asked
        monkeypatch.setattr(verifier, "audit", lambda case: ())
    tried = run(tmp_path / "lying", answer, **parts)
    assert tried.status == "VERIFIED", "the lie did not even work"
    code, report = tried.replay()
    assert code == 1
    levels = {level["name"]: level["verdict"] for level in report["levels"]}
    assert levels["L0"] == "AGREES" and levels["L1"] == "DIFFERS"
