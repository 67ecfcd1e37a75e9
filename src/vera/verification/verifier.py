"""One round of verification: how VERA doubts an answer.

A judge counts only when it has passed an exam. The audit comes first and needs no model. Only an answer
without a hard finding is worth a model's time: questions are drawn from it, each looked up in its own lane,
then a judge labels the cited spans and gives a score. The verdict is computed from what was logged
(`vera.attestation.build`), so anyone can compute it again. Each part that is logged already is not done
again: an interrupted round goes on.
"""

from collections.abc import Callable, Sequence

import msgspec

from vera import events
from vera.attestation import reduce
from vera.attestation.build import build, case_of, claims_of, labels_of, literal_version
from vera.attestation.envelope import seal_envelope
from vera.attestation.gather import gather, logged_findings
from vera.attestation.keys import Signer
from vera.attestation.objects import Policy, Thesis, canonical, parse
from vera.attestation.record import Record
from vera.audit.case import Case
from vera.audit.claims import VERSION as CLAIMS_VERSION
from vera.audit.registry import VERSION as AUDIT_VERSION
from vera.audit.registry import audit
from vera.evidence.domains import suffix_list_version
from vera.evidence.finding import Finding
from vera.session import Reader, Session
from vera.session.session import TRACE
from vera.verification import judge
from vera.verification.check import check_all
from vera.verification.context import VerifierContext, lane_of
from vera.verification.decompose import decompose
from vera.verification.derive import derive_all
from vera.verification.entailment import label_entailed
from vera.verification.exam import examined
from vera.verification.plugin_checks import PluginCheck, findings_of
from vera.verification.scout import questions as scout_questions
from vera.verification.scout import slots
from vera.verification.versions import look_for_versions

Say = Callable[[str], None]


async def verify(context: VerifierContext, signer: Signer, *, last: bool, now: Say) -> events.Verifier:
    """Verify the run's answer: the round under way, or a new one. Returns the decision.

    In the `last` round the claims are labelled even when there are hard findings, so that the person sees
    which of them stand. `now` is told what is being done.
    """
    context = _reading(await examined(context, now))
    session = context.session
    number = begin(context)
    now(f"verifying, round {number}: audit")
    if session.state.rounds[number].audit is None:
        cited = case_of(_record(session, number))
        await derive_all(context, number, _computed_from(cited))
        await look_for_versions(context, number, cited)
    case, findings = _audit(context, number)
    stands = not any(finding.severity == "hard" for finding in findings)
    if context.entailment is not None:
        await label_entailed(context, number, case, now)
    if context.options.rule == "literal":
        _label_by_rule(session, number)
    elif (
        context.options.rule == "model"
        and (stands or last)
        and any(claim.load_bearing for claim in case.claims)
    ):
        await _ask_model(context, number, case, findings, stands, now)
    return _decide(session, signer, number)


def _reading(context: VerifierContext) -> VerifierContext:
    """The context, under the rule `literal` where an entailment judge has nothing to read: an answer that
    only points at lines says no more than that they are there, and no judge has found that."""
    answer = context.session.state.answer
    assert answer is not None
    claims = claims_of(context.session.load(answer.text), context.session.state.evidence.values())
    if context.options.rule != "entailment" or any(claim.form == "statement" for claim in claims):
        return context
    options = msgspec.structs.replace(context.options, rule="literal")
    return msgspec.structs.replace(context, options=options, entailment=None)


def begin(context: VerifierContext) -> int:
    """The round under way, or a new one for the answer of now."""
    session = context.session
    answer, rounds = session.state.answer, session.state.rounds
    assert answer is not None
    number = len(rounds)
    if not number or rounds[number].decision is not None or rounds[number].started.answer_seq != answer.seq:
        number += 1
        policy = canonical(_policy(context))
        session.emit(
            events.VerifierStarted(
                round=number,
                answer_seq=answer.seq,
                rule=context.options.rule,
                policy=events.Blob(session.store.put(policy), len(policy)),
                model=_who(context),
            ),
            lane=lane_of(number),
        )
    return number


def _who(context: VerifierContext) -> str:
    """The name of the judge, '' where a rule labels alone."""
    if context.options.rule == "entailment":
        return context.entailment_name
    return context.model.info.name if context.model else ""


def _policy(context: VerifierContext) -> Policy:
    options = context.options
    return Policy(
        rule=options.rule,
        audit_policy=options.audit,
        claims=CLAIMS_VERSION,
        audit=AUDIT_VERSION,
        reduce=reduce.VERSION,
        literal=literal_version(asked=context.session.state.requested is not None),
        suffix_list=suffix_list_version(),
        min_score=options.min_score,
        file_sources=options.file_sources,
        web_sources=options.audit.web_sources,
        scope=options.scope,
        sandbox=options.sandbox,
    )


def _record(session: Session, number: int) -> Record:
    records = [record for _, record in Reader(session.root / TRACE).poll()]
    return gather(records, session.store, number)


def _computed_from(case: Case) -> list[str]:
    """The observed evidence that load-bearing claims cite: commands to run again."""
    cited = (cite.evidence for claim in case.claims if claim.load_bearing for cite in claim.cites)
    return [
        evidence_id
        for evidence_id in dict.fromkeys(cited)
        if (evidence := case.evidence.get(evidence_id)) is not None and evidence.tier == "observed"
    ]


def _audit(context: VerifierContext, number: int) -> tuple[Case, tuple[Finding, ...]]:
    """The audit's findings, logged once."""
    session = context.session
    case = case_of(_record(session, number))
    logged = session.state.rounds[number].audit
    if logged is not None:
        return case, logged_findings(logged, session.load)
    return case, log_audit(session, number, case, context.plugin_checks)


def log_audit(
    session: Session, number: int, case: Case, checks: Sequence[PluginCheck] = ()
) -> tuple[Finding, ...]:
    """Audit the case, also by the checks of plugins, and log what was found in the round's lane."""
    ours, others = audit(case), findings_of(checks, case)
    findings = (*ours, *others)
    session.emit(
        events.Audit(
            round=number,
            claims=len(case.claims),
            hard=sum(finding.severity == "hard" for finding in findings),
            soft=sum(finding.severity == "soft" for finding in findings),
            findings=session.text(canonical(ours).decode()),
            claims_version=CLAIMS_VERSION,
            audit_version=AUDIT_VERSION,
            plugin_findings=session.text(canonical(others).decode()) if others else "",
        ),
        lane=lane_of(number),
    )
    return findings


def _label_by_rule(session: Session, number: int) -> None:
    record = _record(session, number)
    done = {(labels.claim, labels.maker) for labels in session.state.rounds[number].labels}
    for labels in labels_of(record, case_of(record)):
        if (labels.claim, labels.maker) not in done:
            session.emit(labels, lane=lane_of(number))


async def _ask_model(
    context: VerifierContext, number: int, case: Case, findings: tuple[Finding, ...], stands: bool, now: Say
) -> None:
    """Questions, checks, labels and a score; only the labels when the answer cannot stand anyway."""
    session = context.session
    checks: tuple[events.VerifierCheck, ...] = ()
    if stands:
        asked = session.state.rounds[number].questions
        if asked is None:
            now(f"verifying, round {number}: what to look up")
            asked = await decompose(context, number, case, findings, scout_questions(slots(case)))
        now(f"verifying, round {number}: {len(asked.questions)} look-ups")
        checks = await check_all(context, number, asked.questions)
    now(f"verifying, round {number}: what the cited lines say")
    hints = await judge.label(context.reading, number, case, findings, checks)
    if stands and session.state.rounds[number].score is None:
        now(f"verifying, round {number}: score")
        await judge.score(context, number, case, findings, checks, hints)
    now(f"verifying, round {number}: how well the judge labels")
    await judge.probe(context.reading, number, case)


def _decide(session: Session, signer: Signer, number: int) -> events.Verifier:
    """Compute the verdict from the log, keep its objects, sign it, and seal the log with it."""
    built = build(_record(session, number))
    for data in built.objects.values():
        session.store.put(data)
    session.store.put(signer.public)
    envelope = seal_envelope(built, signer)
    attestation, state = built.attestation, session.state.rounds[number]
    thesis = parse(built.objects[attestation.thesis], Thesis)
    bearing = {claim.key for claim in thesis.sub_claims if claim.load_bearing}
    results = [claim.result for claim in attestation.claims if claim.claim in bearing]
    scores = attestation.scores
    decision = session.emit(
        events.Verifier(
            round=number,
            answer_seq=state.started.answer_seq,
            result=attestation.result,
            reason=attestation.reason,
            attestation=built.attestation_id,
            envelope=events.Blob(session.store.put(envelope), len(envelope)),
            score=scores.after or None,
            score_before_cap=scores.before or None,
            caps=scores.caps,
            claims=len(results),
            unchecked=len(thesis.sub_claims) - len(results),
            supported=results.count("SUPPORTED"),
            disputed=results.count("DISPUTED"),
            hard=state.audit.hard if state.audit else 0,
            soft=state.audit.soft if state.audit else 0,
            unknown_checks=sum(check.answer == "unknown" for check in state.checks),
            model_calls=state.model_calls,
            prompt_tokens=state.prompt_tokens,
            completion_tokens=state.completion_tokens,
            tool_calls=state.tool_calls,
            seconds=round(max(0.0, session.state.last_ts - state.started.ts), 3),
        ),
        lane=lane_of(number),
    )
    session.seal(signer.seal)
    return decision
