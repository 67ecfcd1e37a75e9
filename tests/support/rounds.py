"""A round of verification as a record, built by hand: evidence, texts, labels."""

import hashlib
from collections.abc import Iterable
from typing import Any

from support.exams import exam
from vera import events
from vera.attestation.objects import Policy
from vera.attestation.record import Record
from vera.audit.case import AuditPolicy, Case
from vera.audit.source_text import SourceText
from vera.evidence.claim import Claim

WATER = b"Water\nThe river is 312 km long.\nIt rises in the Eifel.\nIts name is old.\n"


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def blob(data: bytes) -> events.Blob:
    return events.Blob(sha256(data), len(data))


def evidence(name: str, text: bytes = WATER, **changed: object) -> events.Evidence:
    """A captured file of the input folder, shown whole, unless `changed` says otherwise."""
    lines = len(text.splitlines())
    members: dict[str, Any] = {
        "call": "call_0001",
        "step": 1,
        "tool": "read",
        "tier": "captured",
        "source": f"{name}.txt",
        "summary": f"read {name}.txt",
        "lines": lines,
        "first": 1,
        "last": lines,
        "media_type": "text/plain",
        "extractor": "txt/vera/rules-1",
        "lane": "check-1.1",
        **changed,
    }
    return events.Evidence(id=name, text=blob(text), **members)


def page(name: str, url: str, text: bytes, **changed: object) -> events.Evidence:
    """A page that was fetched, with its receipt."""
    receipt = blob(f"receipt of {url}".encode())
    members: dict[str, Any] = {
        "tool": "fetch",
        "source": url,
        "summary": f"fetch {url}",
        "media_type": "text/html",
        "extractor": "html/selectolax-1.0.2/rules-1",
        "raw": blob(b"<p>" + text),
        "receipt": receipt,
        "http_status": 200,
        **changed,
    }
    return evidence(name, text, **members)


def label(name: str, first: int, last: int, relation: str = "SUPPORTS", *votes: int) -> events.SpanLabel:
    agree, of = votes or (1, 1)
    return events.SpanLabel(evidence=name, first=first, last=last, relation=relation, agree=agree, votes=of)


def labels(claim: str, *found: events.SpanLabel, problem: str = "") -> events.VerifierLabels:
    return events.VerifierLabels(
        round=1, claim=claim, labels=found, maker="judge-7b", prompt_sha256="a" * 64, problem=problem
    )


def scores(*points: int | None) -> tuple[events.Score, ...]:
    """One reading of each of several criteria."""
    return tuple(
        events.Score(criterion=f"criterion {index}", points=each, method="reply")
        for index, each in enumerate(points)
    )


def check(claim: str, answer: str, *citations: events.Cited, kind: str = "support") -> events.VerifierCheck:
    question = events.Question(
        claim=claim,
        question="Does the page give 312 km?",
        source="ev_0001",
        label="wrong_evidence",
        kind=kind,
    )
    return events.VerifierCheck(
        round=1, check=1, question=question, check_lane="check-1.1", answer=answer, citations=citations
    )


def derived(name: str, outcome: str = "same") -> events.Derivation:
    return events.Derivation(round=1, evidence=name, command="wc -l /input/a.txt", outcome=outcome)


def policy(rule: str = "model", **changed: object) -> Policy:
    members: dict[str, Any] = {
        "rule": rule,
        "audit_policy": AuditPolicy(),
        "claims": "claims/3",
        "audit": "audit/7",
        "reduce": "reduce/4",
        **changed,
    }
    return Policy(**members)


def case(
    claims: Iterable[Claim],
    found: Iterable[events.Evidence],
    texts: Iterable[bytes] = (WATER,),
    **changed: object,
) -> Case:
    members: dict[str, Any] = {
        "task": "How long is the river?",
        "answer": "An answer.",
        "claims": tuple(claims),
        "evidence": {each.id: each for each in found},
        "sources": {sha256(text): SourceText(text) for text in texts},
        **changed,
    }
    return Case(**members)


def record(
    answer: str,
    found: Iterable[events.Evidence] = (),
    texts: Iterable[bytes] = (WATER,),
    **changed: object,
) -> Record:
    members: dict[str, Any] = {
        "task": "How long is the river?",
        "answer": answer,
        "round": 1,
        "policy": policy(),
        "evidence": {each.id: each for each in found},
        "texts": {sha256(text): text for text in texts},
        "unreadable": {},
        "lookups": (),
        "derivations": (),
        "checks": (),
        "labels": (),
        "scores": (),
        "verifier": "vera 0.1.0, model judge-7b",
        "log": (17, "b" * 64),
        "issued_at": "2026-11-22T01:30:00.000Z",
        "exams": (exam(),) if changed.get("policy", policy()).rule == "model" else (),
        **changed,
    }
    return Record(**members)
