"""An attestation and its objects, built from the record of one round.

Pure: the verifier builds it when it decides, replay builds it again from the log, and the bytes are equal.
Whatever needs no model is computed here and not believed: claims, findings, places, hashes, and under the
rule `literal` the labels too.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Literal

import msgspec

from vera import events
from vera.attestation.cards import Cards, make_cards
from vera.attestation.constraints import constrained, window_of
from vera.attestation.coverage import cover
from vera.attestation.entailed import lowered
from vera.attestation.exam import unqualified
from vera.attestation.hyperthesis import Seen, hyperthesis
from vera.attestation.objects import (
    KEY_LIMIT,
    NAME_LIMIT,
    TEXT_LIMIT,
    THESIS_LIMIT,
    AnyObject,
    Attestation,
    Caps,
    CheckResult,
    Coverage,
    Digest,
    Findings,
    Policy,
    Reading,
    SubClaim,
    Thesis,
    Unread,
    bounded,
    canonical,
    digest,
)
from vera.attestation.omissions import MAX_OMISSIONS, omissions_of, too_few
from vera.attestation.probed import probed
from vera.attestation.record import Asked, Record
from vera.attestation.reduce import WITHOUT_NOTES, WITHOUT_TOKENS, own_words, reduce
from vera.attestation.request import Budget, restates
from vera.attestation.source_types import source_type
from vera.attestation.tiers import bars, expires_at
from vera.audit import AuditPolicy, Case, SourceText, containment, literal
from vera.audit.case import places
from vera.audit.checks.independence import is_web
from vera.audit.claims import split
from vera.audit.registry import audit
from vera.audit.shown import was_read
from vera.evidence.citation import find_citations
from vera.evidence.claim import Claim
from vera.evidence.finding import Finding
from vera.evidence.official import official_names
from vera.text.span import Lines

NOT_THE_THESIS = "not_the_thesis"
"""The code of the hard finding that the answer states something else than was asked to be verified."""

_CONTAINMENT = "containment/"
_TOKENS_SPENT = re.compile(r"\bthe token budget of \d{1,12} is spent\b")

MAX_EXTRACT_PLACES = 20
"""Places that the text of an extract claim names; the claim's hash of the answer covers the rest."""


class Built(msgspec.Struct, frozen=True, kw_only=True):
    """An attestation with its id, and the canonical bytes of every object it was computed from, by id.

    `objects` holds thesis, policy, findings, coverage, sources, cards and the attestation itself; where
    something was asked to be verified also the request, its proposition and its lens.
    """

    attestation: Attestation
    attestation_id: Digest
    objects: Mapping[Digest, bytes]


def build(record: Record) -> Built:
    """The attestation of a round: the same record gives the same bytes."""
    case, policy, objects = case_of(record), record.policy, _Objects()
    labels = labels_of(record, case)
    thesis, findings = _thesis(record, case), _findings(record, case, labels)
    thesis_id = objects.keep(thesis)
    made = make_cards(
        case,
        thesis_id,
        labels,
        record.checks,
        by_rule=policy.rule != "model",
        with_notes=policy.reduce not in WITHOUT_NOTES,
    )
    asked = _asked(record, findings)
    if asked is None:
        coverage = cover(case, made, findings.checks)
    else:
        made, coverage = _looked_up(asked, policy, case, made, findings)
    objects.update(made.objects)
    reduced = reduce(
        thesis=thesis,
        policy=policy,
        findings=findings,
        coverage=coverage,
        cards=made.cards,
        sources=made.sources,
        request=asked.request if asked else None,
        lens=asked.lens if asked else None,
    )
    seen = Seen(
        policy=policy,
        findings=findings,
        coverage=coverage,
        cards=made.cards,
        sources=made.sources,
        evidence=record.evidence,
        unreadable=record.unreadable,
        asked=asked,
        question=thesis.text,
    )
    if asked is not None:
        objects.keep(asked.proposition)
        objects.keep(asked.lens)
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
        receipts=(
            *(source.retrieval for source in made.sources.values() if source.retrieval),
            *made.opened,
        ),
        request=objects.keep(asked.request) if asked else "",
        expires_at=expires_at(asked.request, record.issued_at) if asked else "",
        supersedes=asked.supersedes if asked else "",
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
    """The record as the audit looks at it.

    Where something was asked to be verified every statement counts for the verdict, for each is a part of
    it, and the request's quorum holds. Its time window is no matter of the audit: a page from outside of it
    is no evidence, neither for nor against (`vera.attestation.constraints`), and no fault of the answer.
    """
    claims, policy = claims_of(record.answer, record.evidence.values()), record.policy.audit_policy
    if record.asked is not None:
        claims = tuple(
            msgspec.structs.replace(claim, load_bearing=claim.form != "absence") for claim in claims
        )
        policy = _audit_policy(policy, record.asked)
    return Case(
        task=record.task,
        answer=record.answer,
        claims=claims,
        evidence=record.evidence,
        sources={sha256: SourceText(data) for sha256, data in record.texts.items()},
        unreadable=record.unreadable,
        lookups=record.lookups,
        derivations=_derivations(record.derivations),
        versions=record.versions,
        policy=policy,
    )


def labels_of(record: Record, case: Case) -> tuple[events.VerifierLabels, ...]:
    """The labels that count: under the rule `literal` those that the rule gives, where an entailment judge
    has failed its exam those that it lowers (`vera.attestation.entailed`), else those of the log.

    Where something was asked to be verified and the policy says so, the rule is the one by which lines
    contain a claim (`vera.audit.containment`). Those of a judge that has not passed its exam with the same
    prompt, or failed its probes, do not count: each statement then has no label, and the problem says so.
    """
    if record.policy.rule != "literal":
        return _labels_of_judge(record, case)
    if record.asked is not None and record.policy.literal.startswith(_CONTAINMENT):
        return lowered(containment.labels(case, record.round), record)
    return lowered(literal.labels(case, record.round), record)


def _labels_of_judge(record: Record, case: Case) -> tuple[events.VerifierLabels, ...]:
    """The labels of the log, without those of a judge that is not believed or did not sit the exam."""
    distrust = unqualified(record.exams, "labels") or probed(record.probes).distrust
    if distrust:
        return _unread(record.labels, case, distrust)
    sat = [exam for exam in record.exams if "labels" in exam.roles][-1]
    another = record.policy.rule == "entailment" and sat.entailment is None
    strange = tuple(
        each
        for each in record.labels
        if another or (each.maker, each.prompt_sha256) != (sat.model, sat.prompt)
    )
    unread = iter(_unread(strange, case, "Whoever labelled it did not sit the exam."))
    return tuple(next(unread) if each in strange else each for each in record.labels)


def _unread(
    labels: Iterable[events.VerifierLabels], case: Case, why: str
) -> tuple[events.VerifierLabels, ...]:
    """The labels with those of statements taken away."""
    statements = {claim.key for claim in case.claims if claim.form == "statement"}
    return tuple(
        msgspec.structs.replace(labelled, labels=(), problem=why)
        if labelled.claim in statements
        else labelled
        for labelled in labels
    )


def literal_version(asked: bool) -> str:
    """The version of the mechanical rule that labels spans; `asked`: something is to be verified."""
    return containment.VERSION if asked else literal.VERSION


def _audit_policy(policy: AuditPolicy, asked: Asked) -> AuditPolicy:
    return msgspec.structs.replace(
        policy,
        not_before="",
        not_after="",
        web_sources=max(policy.web_sources, bars(asked.request.risk, asked.lens).web_sources),
    )


def _looked_up(
    asked: Asked, own: Policy, case: Case, made: Cards, findings: Findings
) -> tuple[Cards, Coverage]:
    """The cards that count for a request, and the coverage of its look-up."""
    names, official = official_names(asked.request.text), case.policy.official_domains
    types = {source_id: source_type(source, names, official) for source_id, source in made.sources.items()}
    audited = own.audit_policy
    window = window_of(asked.request.constraints, audited.not_before, audited.not_after)
    made = constrained(made, asked.request, case, types, window)
    coverage = cover(
        case,
        made,
        findings.checks,
        types=types,
        missing=omissions_of(asked, case, made, types, findings.unread),
        families=asked.looked.families,
        cut=asked.looked.cut,
        budget=None if own.reduce in WITHOUT_NOTES else _caps(asked.budget),
    )
    needed = bars(asked.request.risk, asked.lens, own)
    thin = islice(too_few(made, coverage.clusters, needed), MAX_OMISSIONS)
    omissions = tuple(dict.fromkeys((*coverage.omissions, *thin)))
    return made, msgspec.structs.replace(coverage, omissions=omissions)


def _asked(record: Record, findings: Findings) -> Asked | None:
    """What was asked, with the cap that ended it: of a look-up that came to its end, that of tokens where
    labels or scores did not fit into it."""
    asked = record.asked
    if asked is None or asked.looked.cut or record.policy.reduce in WITHOUT_TOKENS:
        return asked
    said = (*findings.limits, *(unread.why for unread in findings.unread))
    if not any(_TOKENS_SPENT.search(own_words(reason)) for reason in said):
        return asked
    return msgspec.structs.replace(asked, looked=msgspec.structs.replace(asked.looked, cut="tokens"))


def _caps(budget: Budget) -> Caps:
    """The caps of a budget, the time in whole milliseconds: an object holds no fractions."""
    return Caps(
        sources=budget.sources,
        searches=budget.searches,
        tokens=budget.tokens,
        bytes=budget.bytes,
        milliseconds=round(budget.seconds * 1000),
    )


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
    request = record.request
    text = " ".join(unicodedata.normalize("NFC", request.text if request else record.task).split())
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
        lens=request.lens if request else "",
    )


def _said(case: Case, claim: Claim) -> str:
    """What a claim states; of one that only points at sources, that these lines are there."""
    if claim.form != "extract":
        return claim.text
    found = list(dict.fromkeys(places(case, claim)))
    named = [
        f'"{place.evidence.source}", lines {place.first}-{place.last}' for place in found[:MAX_EXTRACT_PLACES]
    ]
    if not named:
        return f"{claim.text} (points at no lines that can be read)"
    more = len(found) - len(named)
    return "; ".join(named) + (f"; and {more} more" if more else "") + ": reads as quoted."


def _findings(record: Record, case: Case, labels: Iterable[events.VerifierLabels]) -> Findings:
    statements = {claim.key for claim in case.claims if claim.form == "statement"}
    known = probed(record.probes)
    unread = (labelled for labelled in labels if labelled.problem and labelled.claim in statements)
    return Findings(
        findings=tuple(
            _finding(finding)
            for finding in (*audit(case), *record.plugin_findings, *_off_thesis(record, case))
        ),
        checks=tuple(_check(check, case) for check in record.checks),
        readings=() if unqualified(record.exams, "scores") else tuple(map(_reading, record.scores)),
        unread=tuple(
            Unread(claim=bounded(labelled.claim, KEY_LIMIT), why=bounded(labelled.problem, TEXT_LIMIT))
            for labelled in unread
            if record.policy.rule != "literal"
        ),
        limits=tuple(bounded(note, TEXT_LIMIT) for note in record.notes),
        probes=known.labelled,
        probes_right=known.right,
        unprobed=bounded(known.problem, TEXT_LIMIT),
        exams=record.exams,
    )


def _off_thesis(record: Record, case: Case) -> Iterator[Finding]:
    """That the answer is to something else than was asked to be verified: then nothing is supported."""
    if record.request is None:
        return
    pointers = [claim.text for claim in case.claims if claim.form == "extract"]
    how = restates(record.request, record.answer) or (
        f"A part of it only names a source: {pointers[0][:100]}" if pointers else ""
    )
    if how:
        yield Finding(
            code=NOT_THE_THESIS,
            label="misread_task",
            severity="hard",
            message=f"The answer does not state the thesis word for word. {how}",
            detail=how,
        )


def _finding(finding: Finding) -> Finding:
    return msgspec.structs.replace(
        finding,
        message=bounded(finding.message, TEXT_LIMIT),
        claim=bounded(finding.claim, KEY_LIMIT),
        evidence=bounded(finding.evidence, KEY_LIMIT),
        detail=bounded(finding.detail, TEXT_LIMIT),
    )


def _check(check: events.VerifierCheck, case: Case) -> CheckResult:
    """Only yes and no are answers, and only with lines that its lane has read."""
    answers: dict[str, Literal["yes", "no"]] = {"yes": "yes", "no": "no"}
    answer: Literal["yes", "no", "unknown"] = answers.get(check.answer, "unknown")
    captured = any(
        was_read(case.evidence, cited, check.check_lane, _lines(case, cited)) for cited in check.citations
    )
    return CheckResult(
        claim=bounded(check.question.claim, KEY_LIMIT),
        question=bounded(check.question.question, TEXT_LIMIT),
        source=bounded(check.question.source, NAME_LIMIT),
        label=bounded(check.question.label, KEY_LIMIT),
        answer=answer if captured else "unknown",
        kind="coverage" if check.question.kind == "coverage" else "support",
    )


def _lines(case: Case, cited: events.Cited) -> Lines | None:
    evidence = case.evidence.get(cited.evidence)
    source = case.sources.get(evidence.text.sha256) if evidence else None
    return source.lines if source else None


def _reading(score: events.Score) -> Reading:
    """A score outside of 100 to 400 does not count."""
    points = score.points or 0
    return Reading(
        criterion=bounded(score.criterion, KEY_LIMIT),
        points=points if 100 <= points <= 400 else 0,
        method=bounded(score.method, KEY_LIMIT),
        order=bounded(score.order, KEY_LIMIT),
    )
