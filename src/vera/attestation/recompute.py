"""Level 1 of a replay: every verdict computed again from the log, and held against what was attested."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from vera import events
from vera.attestation import reduce
from vera.attestation.build import Built, build, literal_version
from vera.attestation.envelope import objects_of
from vera.attestation.execution import Executed, executions
from vera.attestation.gather import GatherError, gather
from vera.attestation.integrity import Loaded, Round
from vera.attestation.objects import (
    AnyObject,
    Attestation,
    Card,
    Digest,
    Findings,
    ObjectError,
    Policy,
    SubClaim,
    Thesis,
    canonical,
)
from vera.attestation.outcome import misstated
from vera.attestation.recomposed import report_again
from vera.attestation.relabel import labels_again
from vera.attestation.report import Level, Remark, Verdict, counted, cut, level, listed
from vera.audit.case import AuditPolicy
from vera.audit.claims import VERSION as CLAIMS_VERSION
from vera.audit.registry import VERSION as AUDIT_VERSION
from vera.evidence.domains import suffix_list_version
from vera.evidence.finding import PLUGIN

SUBJECT = "verdict"
_BARS = ("min_score", "file_sources", "web_sources")
_AUDIT_BARS = ("web_sources", "negative_families", "negative_official", "negative_independent")


def check_verdicts(loaded: Loaded, entailment_model: Path | None = None) -> Level:
    """Level 1 of a session whose bytes are whole. With `entailment_model` the labels of an entailment judge
    are computed again, too."""
    executed = executions(loaded.records, loaded.store)
    remarks = list(_forged_status(loaded, executed))
    remarks += [remark for each in executed for remark in _executed_again(each)]
    if not loaded.rounds and not remarks:
        sentence = "No round of verification has ended in this session, so there is nothing to compute again."
        return Level(name="L1", subject=SUBJECT, verdict="NOT_ATTESTED", sentence=sentence)
    for each in loaded.rounds:
        remarks += _compute_again(each, loaded)
    remarks += labels_again(loaded, entailment_model)
    remarks += report_again(loaded)
    count = counted(len(loaded.rounds) + len(executed), "verdict")
    return level("L1", SUBJECT, remarks, f"{count} computed again from the log: the same.")


def _forged_status(loaded: Loaded, executed: Sequence[Executed]) -> Iterator[Remark]:
    """Only an attestation says VERIFIED, whatever the log calls the run's status, and how a run ended must be
    one of the ends that the attested result can have."""
    if problem := misstated(loaded):
        where = f"trace.jsonl line {len(loaded.records)}"
        yield Remark(verdict="DIFFERS", where=where, sentence=problem)
        return
    supported = loaded.chosen is not None and loaded.chosen.event.result == "SUPPORTED"
    supported = supported or bool(executed and executed[-1].stands)
    for record in loaded.records:
        if isinstance(record, events.Status) and record.status == "VERIFIED" and not supported:
            yield Remark(
                verdict="DIFFERS",
                where=f"trace.jsonl line {record.seq}",
                sentence="The status is VERIFIED, and no chosen attestation says SUPPORTED.",
            )
            return


def _executed_again(each: Executed) -> Iterator[Remark]:
    """The verdict on an execution's answer, which rests on the attestations that it asked for."""
    where = f"trace.jsonl line {each.logged.seq}"
    if each.problem:
        yield Remark(verdict=each.verdict, where=where, sentence=each.problem)
        return
    yield Remark(where=where, sentence=f"{each.logged.status}: {each.logged.reason}.")


def _compute_again(each: Round, loaded: Loaded) -> Iterator[Remark]:
    where = f"round {each.event.round}"
    opened, objects = each.opened, each.objects
    if opened is None or objects is None:
        yield Remark(verdict="NOT_CHECKED", where=where, sentence="Its envelope cannot be read; see level 0.")
        return
    attested = opened.attestation
    try:
        built = build(gather(loaded.records[: each.event.seq], loaded.store, each.event.round))
        rebuilt = objects_of(built.attestation, built.objects.__getitem__)
    except GatherError as error:
        yield Remark(verdict="MISSING" if error.missing else "DIFFERS", where=where, sentence=str(error))
        return
    except ObjectError as error:
        sentence = f"No attestation can be computed from the log: {error}."
        yield Remark(verdict="DIFFERS", where=where, sentence=sentence)
        return
    if built.attestation_id == each.event.attestation:
        yield from (Remark(where=where, sentence=sentence) for sentence in _summary(attested, objects))
        return
    yield from _differing(where, attested, objects, built, rebuilt)


def _summary(attested: Attestation, objects: Mapping[Digest, AnyObject]) -> Iterator[str]:
    policy = objects[attested.policy]
    assert isinstance(policy, Policy)
    why = f" ({attested.reason})" if attested.reason else ""
    rule = policy.literal.partition("/")[0] or "literal"
    by = f"the rule {rule}" if policy.rule == "literal" else cut(attested.verifier, 80)
    size = f"{counted(len(attested.claims), 'claim')}, {counted(len(attested.cards), 'card')}"
    yield f"{attested.result}{why}: {size}, spans labelled by {by}."
    findings = objects[attested.findings]
    assert isinstance(findings, Findings)
    yield from _of_plugins(findings)
    if lowered := _lowered(policy):
        yield f"Its policy asks for less than the default: {listed(lowered, len(lowered))}."


def _of_plugins(findings: Findings) -> Iterator[str]:
    """That findings of plugins are taken from the log as they are, by the check that made them."""
    codes = (each.code.removeprefix(PLUGIN) for each in findings.findings if each.code.startswith(PLUGIN))
    for name, count in sorted(Counter(code.partition(".")[0] for code in codes).items()):
        found = counted(count, "finding")
        yield f"{found} of the plugin {cut(name, 60)}: not recomputed, taken from the log."


def _lowered(policy: Policy) -> list[str]:
    """Which bars of a policy lie below the default, so that a verdict under it says less."""
    usual = Policy(rule=policy.rule, audit_policy=AuditPolicy(), claims="", audit="", reduce="")
    bars = [
        *((name, getattr(policy, name), getattr(usual, name)) for name in _BARS),
        *(
            (name, getattr(policy.audit_policy, name), getattr(usual.audit_policy, name))
            for name in _AUDIT_BARS
        ),
    ]
    lowered = (f"{name} {value} of {default}" for name, value, default in bars if value < default)
    return list(dict.fromkeys(lowered))


def _differing(
    where: str,
    attested: Attestation,
    objects: Mapping[Digest, AnyObject],
    built: Built,
    rebuilt: Mapping[Digest, AnyObject],
) -> Iterator[Remark]:
    """How a round comes out differently: under other rules than those that made it, or under the same."""
    changed = _rules_changed(objects[attested.policy], asked=bool(attested.request))
    verdict: Verdict = "RULES_CHANGED" if changed else "DIFFERS"
    if changed:
        yield Remark(verdict=verdict, where=where, sentence=changed)
    for place, sentence in _differences(attested, objects, built, rebuilt):
        yield Remark(verdict=verdict, where=f"{where}, {place}", sentence=sentence)


def _rules_changed(policy: AnyObject, *, asked: bool) -> str:
    """Which rules have another version than those that made the attestation, '' for none. `asked`: it answers
    a request, of which lines that contain a claim are labelled by their own rule."""
    assert isinstance(policy, Policy)
    containing = asked and not policy.literal.startswith("literal/")
    versions = (
        ("claims", policy.claims, CLAIMS_VERSION),
        ("audit", policy.audit, AUDIT_VERSION),
        ("literal", policy.literal, literal_version(containing)),
        ("reduce", policy.reduce, reduce.VERSION),
        ("suffix_list", policy.suffix_list, suffix_list_version()),
    )
    changed = [f"{name} {cut(then, 40)}, here {now}" for name, then, now in versions if then != now]
    if not changed:
        return ""
    return f"It was made under other rules ({'; '.join(changed)}) and comes out differently under these."


def _differences(
    attested: Attestation,
    objects: Mapping[Digest, AnyObject],
    built: Built,
    rebuilt: Mapping[Digest, AnyObject],
) -> Iterator[tuple[str, str]]:
    """What an attestation says otherwise than the log, as (place, sentence); never nothing."""
    now = built.attestation
    thesis, thesis_now = objects[attested.thesis], rebuilt[now.thesis]
    assert isinstance(thesis, Thesis)
    assert isinstance(thesis_now, Thesis)
    yield from _theses(thesis, thesis_now)
    yield from _cards(_of_kind(objects, Card), _of_kind(rebuilt, Card))
    findings, findings_now = objects[attested.findings], rebuilt[now.findings]
    assert isinstance(findings, Findings)
    assert isinstance(findings_now, Findings)
    yield from _findings(findings, findings_now)
    yield from _members(attested, now)
    yield "attestation", f"The log gives {built.attestation_id}."


def _members(attested: Attestation, now: Attestation) -> Iterator[tuple[str, str]]:
    """The members of the attestation itself that the log gives otherwise."""
    for name in ("result", "reason", "scores", "claims", "log", "round", "issued_at", "verifier"):
        then, computed = (_plainly(getattr(each, name)) for each in (attested, now))
        if then != computed:
            yield name, f"Attested is {cut(then)}; the log gives {cut(computed)}."
    if attested.request != now.request:
        yield "request", "The attestation answers another request than the one in the log."
    rest = [
        name
        for name in ("policy", "coverage", "hyperthesis", "receipts", "expires_at", "supersedes")
        if getattr(attested, name) != getattr(now, name)
    ]
    if rest:
        yield "attestation", f"Attested and computed differ in {listed(rest, len(rest))}."


def _plainly(value: object) -> str:
    """A member as JSON, without quotes around a word."""
    return canonical(value).decode().strip('"') or "nothing"


def _of_kind(objects: Mapping[Digest, AnyObject], kind: type[Card]) -> dict[Digest, Card]:
    return {name: each for name, each in objects.items() if isinstance(each, kind)}


def _theses(then: Thesis, now: Thesis) -> Iterator[tuple[str, str]]:
    if then.answer != now.answer:
        yield "answer", "The attestation is about another answer than the one in the log."
    if then.text != now.text:
        yield "question", "The attestation is about another question than the one in the log."
    attested = {claim.key: claim for claim in then.sub_claims}
    stated = {claim.key: claim for claim in now.sub_claims}
    for key, claim in stated.items():
        if key not in attested:
            sentence = f"The answer states it, and the attestation leaves it out: {cut(claim.text)}"
            yield f"claim {cut(key, 40)}", sentence
        elif attested[key] != claim:
            yield f"claim {cut(key, 40)}", _reworded(attested[key], claim)
    for key in attested:
        if key not in stated:
            yield f"claim {cut(key, 40)}", "The attestation has it, and the answer does not state it."


def _reworded(then: SubClaim, now: SubClaim) -> str:
    if then.text != now.text:
        return f"The attestation has “{cut(then.text, 80)}”; the answer states “{cut(now.text, 80)}”."
    return "The attestation treats it as another form of claim, or as one that carries no load."


def _cards(then: Mapping[Digest, Card], now: Mapping[Digest, Card]) -> Iterator[tuple[str, str]]:
    for name in sorted(then.keys() - now.keys()):
        yield f"card {name}", f"It is attested ({_about(then[name])}), and the log does not give it."
    for name in sorted(now.keys() - then.keys()):
        yield f"card {name}", f"The log gives it ({_about(now[name])}), and it is not attested."


def _about(card: Card) -> str:
    lines = f"{card.span.first}-{card.span.last}"
    return f"{card.relation} of claim {card.claim} by {card.evidence} lines {lines}"


def _findings(then: Findings, now: Findings) -> Iterator[tuple[str, str]]:
    attested, found = frozenset(then.findings), frozenset(now.findings)
    for finding in then.findings:
        if finding not in found:
            yield f"finding {finding.code}", f"Attested, and not found again: {cut(finding.message)}"
    for finding in now.findings:
        if finding not in attested:
            yield f"finding {finding.code}", f"Found, and not attested: {cut(finding.message)}"
    if then.checks != now.checks:
        yield "checks", "The verifier's questions or their answers are not those in the log."
    if then.findings == now.findings and then.checks == now.checks and then != now:
        yield "findings", "The judge's readings, or what ended the round, are not those in the log."
