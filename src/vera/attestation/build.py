"""An attestation and its objects, built from the record of one round.

Pure: the verifier builds it when it decides, replay builds it again from the log, and the bytes are equal.
Whatever needs no model is computed here and not believed: claims, findings, places, hashes, and under the
rule `literal` the labels too.
"""

import unicodedata
from collections.abc import Iterable, Mapping
from typing import Literal

import msgspec

from vera import events
from vera.attestation.cards import make_cards
from vera.attestation.coverage import cover
from vera.attestation.hyperthesis import Seen, hyperthesis
from vera.attestation.objects import (
    KEY_LIMIT,
    NAME_LIMIT,
    TEXT_LIMIT,
    THESIS_LIMIT,
    AnyObject,
    Attestation,
    CheckResult,
    Digest,
    Findings,
    Reading,
    SubClaim,
    Thesis,
    Unread,
    bounded,
    canonical,
    digest,
)
from vera.attestation.record import Record
from vera.attestation.reduce import reduce
from vera.audit import Case, SourceText, audit, literal
from vera.audit.case import places
from vera.audit.checks.independence import is_web
from vera.audit.claims import split
from vera.evidence.citation import find_citations
from vera.evidence.claim import Claim
from vera.evidence.finding import Finding

MOST_EXTRACT_PLACES = 20
"""Places that the text of an extract claim names; the claim's hash of the answer covers the rest."""


class Built(msgspec.Struct, frozen=True, kw_only=True):
    """An attestation with its id, and the canonical bytes of every object it was computed from, by id.

    `objects` holds thesis, policy, findings, coverage, sources, cards and the attestation itself.
    """

    attestation: Attestation
    attestation_id: Digest
    objects: Mapping[Digest, bytes]


def build(record: Record) -> Built:
    """The attestation of a round: the same record gives the same bytes."""
    case, policy, objects = case_of(record), record.policy, _Objects()
    thesis, findings = _thesis(record, case), _findings(record, case)
    thesis_id = objects.keep(thesis)
    labels = labels_of(record, case)
    made = make_cards(case, thesis_id, labels, record.checks, by_rule=policy.rule == "literal")
    objects.update(made.objects)
    coverage = cover(case, made, findings.checks)
    reduced = reduce(
        thesis=thesis,
        policy=policy,
        findings=findings,
        coverage=coverage,
        cards=made.cards,
        sources=made.sources,
    )
    seen = Seen(
        policy=policy,
        findings=findings,
        coverage=coverage,
        cards=made.cards,
        sources=made.sources,
        evidence=record.evidence,
        unreadable=record.unreadable,
    )
    attestation = Attestation(
        thesis=thesis_id,
        policy=objects.keep(policy),
        findings=objects.keep(findings),
        coverage=objects.keep(coverage),
        cards=tuple(made.cards),
        evidence_set=digest(canonical(sorted(made.cards))),
        result=reduced.result,
        reason=reduced.reason,
        claims=reduced.claims,
        scores=reduced.scores,
        hyperthesis=hyperthesis(seen),
        verifier=bounded(record.verifier, NAME_LIMIT),
        issued_at=record.issued_at,
        log=record.log,
        round=record.round,
        receipts=tuple(source.retrieval for source in made.sources.values() if source.retrieval),
    )
    return Built(attestation=attestation, attestation_id=objects.keep(attestation), objects=objects)


def claims_of(answer: str, evidence: Iterable[events.Evidence]) -> tuple[Claim, ...]:
    """The claims of an answer, given the evidence of its session.

    The names of cited sources tell a mere pointer from a statement. Only what the host captured has a name
    here: the worker chooses its commands and its files, and could call one like the statement it wants. Nor
    has a page its title, which whoever wrote it chose.
    """
    cited = {citation.evidence for citation in find_citations(answer)}
    sources = (each for each in evidence if each.id in cited)
    captured = (each for each in sources if each.tier == "captured" and not each.lead)
    names = {name for each in captured for name in (each.source, "" if is_web(each) else each.title) if name}
    return split(answer, tuple(sorted(names)))


def case_of(record: Record) -> Case:
    """The record as the audit looks at it."""
    return Case(
        task=record.task,
        answer=record.answer,
        claims=claims_of(record.answer, record.evidence.values()),
        evidence=record.evidence,
        sources={sha256: SourceText(data) for sha256, data in record.texts.items()},
        unreadable=record.unreadable,
        lookups=record.lookups,
        derivations=_derivations(record.derivations),
        policy=record.policy.audit_policy,
    )


def labels_of(record: Record, case: Case) -> tuple[events.VerifierLabels, ...]:
    """The labels that count: under the rule `literal` those that the rule gives, else those of the log."""
    if record.policy.rule == "literal":
        return tuple(literal.labels(case, record.round))
    return record.labels


class _Objects(dict[Digest, bytes]):
    """Canonical bytes by id."""

    def keep(self, value: AnyObject) -> Digest:
        """Keep the object's bytes; returns its id."""
        data = canonical(value)
        value_id = digest(data)
        self[value_id] = data
        return value_id


def _derivations(derivations: Iterable[events.Derivation]) -> dict[str, events.Derivation]:
    """By evidence; of several the last, unless one before it failed to print the same."""
    found: dict[str, events.Derivation] = {}
    for derivation in derivations:
        known = found.get(derivation.evidence)
        if known is None or known.outcome == "same":
            found[derivation.evidence] = derivation
    return found


def _thesis(record: Record, case: Case) -> Thesis:
    text = " ".join(unicodedata.normalize("NFC", record.task).split())
    return Thesis(
        text=bounded(text, THESIS_LIMIT),
        sub_claims=tuple(
            SubClaim(
                key=bounded(claim.key, KEY_LIMIT),
                text=bounded(_said(case, claim), TEXT_LIMIT),
                form=claim.form,
                load_bearing=claim.load_bearing,
            )
            for claim in case.claims
        ),
        answer=digest(record.answer.encode("utf-8", "replace")),
    )


def _said(case: Case, claim: Claim) -> str:
    """What a claim states; of one that only points at sources, that these lines stand there."""
    if claim.form != "extract":
        return claim.text
    found = list(dict.fromkeys(places(case, claim)))
    named = [
        f'"{place.evidence.source}", lines {place.first}-{place.last}'
        for place in found[:MOST_EXTRACT_PLACES]
    ]
    if not named:
        return f"{claim.text} (points at no lines that can be read)"
    more = len(found) - len(named)
    return "; ".join(named) + (f"; and {more} more" if more else "") + ": reads as quoted."


def _findings(record: Record, case: Case) -> Findings:
    statements = {claim.key for claim in case.claims if claim.form == "statement"}
    unread = (labelled for labelled in record.labels if labelled.problem and labelled.claim in statements)
    return Findings(
        findings=tuple(_finding(finding) for finding in audit(case)),
        checks=tuple(_check(check) for check in record.checks),
        readings=tuple(_reading(score) for score in record.scores),
        unread=tuple(
            Unread(claim=bounded(labelled.claim, KEY_LIMIT), why=bounded(labelled.problem, TEXT_LIMIT))
            for labelled in unread
            if record.policy.rule == "model"
        ),
        limits=tuple(bounded(note, TEXT_LIMIT) for note in record.notes),
    )


def _finding(finding: Finding) -> Finding:
    return msgspec.structs.replace(
        finding,
        message=bounded(finding.message, TEXT_LIMIT),
        claim=bounded(finding.claim, KEY_LIMIT),
        evidence=bounded(finding.evidence, KEY_LIMIT),
        detail=bounded(finding.detail, TEXT_LIMIT),
    )


def _check(check: events.VerifierCheck) -> CheckResult:
    """Only yes and no are answers, and only when something was captured for them."""
    answers: dict[str, Literal["yes", "no"]] = {"yes": "yes", "no": "no"}
    answer: Literal["yes", "no", "unknown"] = answers.get(check.answer, "unknown")
    captured = any(not cited.problem for cited in check.citations)
    return CheckResult(
        claim=bounded(check.question.claim, KEY_LIMIT),
        question=bounded(check.question.question, TEXT_LIMIT),
        source=bounded(check.question.source, NAME_LIMIT),
        label=bounded(check.question.label, KEY_LIMIT),
        answer=answer if captured else "unknown",
        kind="coverage" if check.question.kind == "coverage" else "support",
    )


def _reading(score: events.Score) -> Reading:
    """A score outside of 100 to 400 is none."""
    points = score.points or 0
    return Reading(
        criterion=bounded(score.criterion, KEY_LIMIT),
        points=points if 100 <= points <= 400 else 0,
        method=bounded(score.method, KEY_LIMIT),
        order=bounded(score.order, KEY_LIMIT),
    )
