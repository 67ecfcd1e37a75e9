"""The reduction: from what was shown to a result. Pure, and computed from published objects only.

A card counts when its source is captured or derived and more than half of the readings give its label. For
each claim, `s` counts the independent clusters of sources with a SUPPORTS that counts, `r` those with a
CONTRADICTS that counts, and `c` those with any CONTRADICTS. `k` is how many are needed on either side: the
policy's `file_sources` when a source that counts there is a file or a derived computation, else its
`web_sources`; of a question that names a page or asks for the official source, one when such a page counts
there and the policy asks for no more than usual (`vera.evidence.asked_pages`). The first row that fits
decides. To refute takes as much as to support, and a look-up that its budget cut short refutes nothing: what
it did not read may support.

A card whose lines another file, or their own elsewhere, explicitly replaces counts neither in `s` nor in
`r`: old words neither prove nor refute what holds now. In `c` it counts.

Where a thesis was asked to be verified, the request's risk tier (`vera.attestation.tiers`) and its lens can
raise `file_sources`, `web_sources` and `min_score`, and rows that name the request apply.

| of one claim | result | reason |
|---|---|---|
| r ≥ k, s = 0, no budget cut the look-up of a request short | UNSUPPORTED | REFUTED |
| of a request: s < k, c = 0 or s = 0, its budget cut the look-up short | INCONCLUSIVE | BUDGET |
| of a request: s < k, c = 0 or s = 0, its spans were not read for want of budget | INCONCLUSIVE | BUDGET |
| of a request: s = 0, 0 < r < k | INCONCLUSIVE | COVERAGE |
| a hard finding, other than those of coverage | UNSUPPORTED | NO_EVIDENCE |
| c > 0, s > 0 | DISPUTED | |
| a hard finding of coverage (`coverage_missing`, `not_independent`) | INCONCLUSIVE | COVERAGE |
| rule `model` or `entailment`, its lines are set aside by their heading (`set_aside`) | INCONCLUSIVE \
| PARTIAL |
| s ≥ k | SUPPORTED | |
| 0 < s < k, or s = 0 and 0 < r < k | INCONCLUSIVE | COVERAGE |
| s = 0, its spans were not read for want of budget | INCONCLUSIVE | BUDGET |
| s = 0, a reading could not be parsed, or half of them or more disagree | INCONCLUSIVE | JUDGE_UNRELIABLE |
| s = 0, a card that QUALIFIES | INCONCLUSIVE | PARTIAL |
| s = 0, a card whose lines another file replaces (`superseded_by`) | INCONCLUSIVE | PARTIAL |
| nothing | INCONCLUSIVE | NO_EVIDENCE |

| of the whole | result | reason |
|---|---|---|
| a hard finding that is on no load-bearing claim | INCONCLUSIVE | FINDINGS |
| no load-bearing claim | INCONCLUSIVE | NO_EVIDENCE |
| a claim refuted | UNSUPPORTED | REFUTED |
| a claim disputed | DISPUTED | |
| a claim not supported, another supported | that of the worst claim | PARTIAL |
| no claim supported | that of the worst claim | that of the worst claim |
| all supported, and a claim that does not count for the verdict, not checked | INCONCLUSIVE | PARTIAL |
| of a request: all supported, and for want of budget the score was not read | INCONCLUSIVE | BUDGET |
| all supported, rule `model`, who labelled or who scored has not passed the exam | INCONCLUSIVE \
| JUDGE_UNRELIABLE |
| all supported, rule `entailment`, who labelled has not passed the exam | INCONCLUSIVE | JUDGE_UNRELIABLE |
| all supported, rule `model`, the score is not readable | INCONCLUSIVE | JUDGE_UNRELIABLE |
| all supported, rule `model`, score after caps below `min_score` | INCONCLUSIVE | SCORE |
| all supported, rule `literal` or `entailment`, a cap | INCONCLUSIVE | SCORE |
| all supported | SUPPORTED | |
| of a request: decided by the rows above, and `evidence_cards` required with no card that says anything | \
INCONCLUSIVE | NO_EVIDENCE |
| of a request: likewise, and `coverage_map` required with no cluster, or `contradictions` with no card | \
INCONCLUSIVE | COVERAGE |

Decided is every result but INCONCLUSIVE. `omissions` can always be made.

The score is the mean over the criteria of the mean over their readings, each rounded down. A reading that
could not be parsed is counted and is no number; the score is readable when of each criterion at least half
of the readings are, since a page that makes the harshest reading fail must not raise the mean. A cap brings
the score down to at most 2 of 4. A score can keep a result from being SUPPORTED and never make it so.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import msgspec

from vera.attestation.coverage import is_web
from vera.attestation.exam import Role, unqualified
from vera.attestation.objects import (
    TEXT_LIMIT,
    Card,
    ClaimResult,
    Coverage,
    Digest,
    Findings,
    Lens,
    Policy,
    Reading,
    Reason,
    Result,
    Scores,
    Source,
    Thesis,
    VerifyRequest,
    bounded,
    object_id,
)
from vera.attestation.tiers import Thresholds, bars
from vera.evidence.asked_pages import USUAL_SOURCES, AskedSources, asked_sources
from vera.headline import JUDGED

VERSION = "reduce/6"
"""Changes whenever the same objects may give another result: replay then says RULES_CHANGED."""

WITHOUT_NOTES = frozenset({"reduce/1", "reduce/2", "reduce/3"})
"""Versions of before cards had notes and a coverage its budget: their attestations keep their bytes."""

WITHOUT_TOKENS = WITHOUT_NOTES | {"reduce/4", "reduce/5"}
"""Versions of before a coverage named the cap of tokens: likewise."""

CAP = 200
"""The score, in hundredths, above which a capped one does not rise."""

COVERAGE_CODES = frozenset({"coverage_missing", "not_independent"})
"""Hard findings that say: not enough was looked at, rather than: what is said is not there."""

SET_ASIDE = "set_aside"
"""A finding that lets lines be quoted, and keeps what a judge makes of them from being supported."""

MAX_CAPS = 20

_WORST_FIRST: tuple[tuple[Result, Reason], ...] = (
    ("UNSUPPORTED", "REFUTED"),
    ("DISPUTED", ""),
    ("UNSUPPORTED", "NO_EVIDENCE"),
    ("INCONCLUSIVE", "JUDGE_UNRELIABLE"),
    ("INCONCLUSIVE", "BUDGET"),
    ("INCONCLUSIVE", "NO_EVIDENCE"),
    ("INCONCLUSIVE", "PARTIAL"),
    ("INCONCLUSIVE", "COVERAGE"),
    ("SUPPORTED", ""),
)
_NOT_ASKED = AskedSources()
_BUDGET = re.compile(r"(?i)\bbudget\b")
_FOREIGN = re.compile(r"\bthe (?:model failed|reply)\b")
"""What a model or its server said follows these words of ours (`vera.verification.ask`)."""


class Reduced(msgspec.Struct, frozen=True, kw_only=True):
    """The result with its reason, that of each claim in the order of the thesis, and the scores."""

    result: Result
    reason: Reason
    claims: tuple[ClaimResult, ...]
    scores: Scores


def reduce(
    *,
    thesis: Thesis,
    policy: Policy,
    findings: Findings,
    coverage: Coverage,
    cards: Mapping[Digest, Card],
    sources: Mapping[Digest, Source],
    request: VerifyRequest | None = None,
    lens: Lens | None = None,
) -> Reduced:
    """The result of the objects by the table above. A card without its source supports nothing.

    `request` and its `lens` are given both or none. Raises ValueError otherwise.
    """
    if (request is None) != (lens is None) or (lens and request and object_id(lens) != request.rubric):
        raise ValueError("a request comes with its lens")
    tallies = _tallies(coverage, cards, sources, _asked_for(thesis, policy, request))
    hard = _hard_codes(findings)
    weigh = _weigh(policy, findings, coverage, request, lens)
    claims = tuple(
        weigh.claim(claim.key, tallies.get(claim.key, _Tally()), hard.get(claim.key, frozenset()))
        for claim in thesis.sub_claims
    )
    bearing = {claim.key for claim in thesis.sub_claims if claim.load_bearing}
    results = [claim for claim in claims if claim.claim in bearing]
    scores = _scores(findings.readings, tuple(_caps(weigh, thesis, tallies, hard, bearing)))
    stray, light = bool(hard.keys() - bearing), len(results) < len(claims)
    overall = _overall(
        results,
        policy.rule,
        weigh.bars,
        findings.readings,
        scores,
        stray=stray,
        light=light,
        examined=_examined(policy, findings),
    )
    if request is not None:
        overall = _of_request(overall, request, findings, coverage, cards)
    result, reason = overall
    return Reduced(result=result, reason=reason, claims=claims, scores=scores)


def _asked_for(thesis: Thesis, policy: Policy, request: VerifyRequest | None) -> AskedSources:
    """The pages that the question asks for; none where the request or the policy asks for more than usual."""
    if request is not None or policy.web_sources > USUAL_SOURCES or policy.file_sources > 1:
        return _NOT_ASKED
    return asked_sources(thesis.text, policy.audit_policy.official_domains)


def _weigh(
    policy: Policy, findings: Findings, coverage: Coverage, request: VerifyRequest | None, lens: Lens | None
) -> "_Weigh":
    """The first table under the bars of the request, or without one under those of the policy."""
    asked = bars(request.risk, lens, policy) if request and lens else None
    needed = asked or Thresholds(policy.file_sources, policy.web_sources, policy.min_score)
    aside = {each.claim for each in findings.findings if each.code == SET_ASIDE and policy.rule in JUDGED}
    # Only reading takes tokens: a claim that was not read for want of them says so itself.
    cut = bool(request and coverage.cut and coverage.cut != "tokens")
    return _Weigh(needed, findings, aside, asked=request is not None, cut=cut)


def _examined(policy: Policy, findings: Findings) -> bool:
    """Whether who labelled, and under the rule `model` who scored, have passed the exam."""
    roles: tuple[Role, ...] = ("labels", "scores") if policy.rule == "model" else ("labels",)
    if any(unqualified(findings.exams, role) for role in roles):
        return False
    return policy.rule != "entailment" or any(
        exam.entailment and "labels" in exam.roles for exam in findings.exams
    )


def _of_request(
    overall: tuple[Result, Reason],
    request: VerifyRequest,
    findings: Findings,
    coverage: Coverage,
    cards: Mapping[Digest, Card],
) -> tuple[Result, Reason]:
    """The result of the whole by the rows of the second table that only a request has."""
    result, reason = overall
    if result != "INCONCLUSIVE":
        lacking = _lacking(request, coverage, cards)
        return ("INCONCLUSIVE", lacking) if lacking else overall
    if reason == "JUDGE_UNRELIABLE" and any(map(_for_budget, findings.limits)):
        return result, "BUDGET"
    return overall


class _Tally:
    """What the cards of one claim say: the clusters on each side. `named`: what was asked for."""

    def __init__(self, named: AskedSources = _NOT_ASKED) -> None:
        self.named = named
        self.supports = _Side()
        self.refutes = _Side()
        self.contradicts: set[str] = set()
        self.qualifies = False
        self.wavering = False

    def add(self, card: Card, source: Source | None, cluster: str) -> None:
        if card.is_superseded and card.relation in ("SUPPORTS", "CONTRADICTS"):
            self.qualifies = True
            if card.relation == "CONTRADICTS":
                self.contradicts.add(cluster)
        elif card.relation == "CONTRADICTS":
            self.contradicts.add(cluster)
            self._count(self.refutes, card, source, cluster)
        elif card.relation == "QUALIFIES":
            self.qualifies = True
        elif card.relation == "SUPPORTS":
            self._count(self.supports, card, source, cluster)

    def _count(self, side: "_Side", card: Card, source: Source | None, cluster: str) -> None:
        if source is None or source.tier == "observed":
            return
        if 2 * card.confidence.agree > card.confidence.votes:
            side.clusters.add(cluster)
            side.beyond_web = side.beyond_web or not is_web(source)
            side.asked = side.asked or self.named.has(source.name)
        else:
            self.wavering = True


class _Side:
    """The clusters whose cards count on one side of a claim, whether one is no page of the web, and whether
    one is a page that was asked for."""

    def __init__(self) -> None:
        self.clusters: set[str] = set()
        self.beyond_web = False
        self.asked = False

    def reaches(self, bars: Thresholds) -> bool:
        return len(self.clusters) >= self.needed(bars)

    def needed(self, bars: Thresholds) -> int:
        """At least one, whatever a policy says: without a card nothing is decided."""
        if self.asked:
            return 1
        return max(1, bars.file_sources if self.beyond_web else bars.web_sources)


def _tallies(
    coverage: Coverage,
    cards: Mapping[Digest, Card],
    sources: Mapping[Digest, Source],
    named: AskedSources,
) -> dict[str, _Tally]:
    cluster_of = {
        source: f"cluster {index}"
        for index, cluster in enumerate(coverage.clusters)
        for source in cluster.sources
    }
    tallies: dict[str, _Tally] = {}
    for card in cards.values():
        tally = tallies.setdefault(card.claim, _Tally(named))
        tally.add(card, sources.get(card.source), cluster_of.get(card.source, card.source))
    return tallies


def _hard_codes(findings: Findings) -> dict[str, frozenset[str]]:
    """The codes of the hard findings by claim, '' for the answer as a whole."""
    codes: dict[str, set[str]] = {}
    for finding in findings.findings:
        if finding.severity == "hard":
            codes.setdefault(finding.claim, set()).add(finding.code)
    return {claim: frozenset(found) for claim, found in codes.items()}


def own_words(reason: str) -> str:
    """A reason as far as no model and no server wrote it."""
    return _FOREIGN.split(reason, maxsplit=1)[0]


def _for_budget(reason: str) -> bool:
    """Whether something was not read for want of budget."""
    return _BUDGET.search(own_words(reason)) is not None


class _Weigh:
    """The first table, under one policy. `aside`: claims whose lines are set aside. `asked`: it is about a
    request, and `cut`: whose budget ended the look-up."""

    def __init__(
        self, bars: Thresholds, findings: Findings, aside: Collection[str], *, asked: bool, cut: bool
    ) -> None:
        self.bars = bars
        self.aside = aside
        self.asked = asked
        self.cut = cut
        self.checks = findings.checks
        self._unread = {unread.claim: unread.why for unread in findings.unread}

    def claim(self, key: str, tally: _Tally, hard: frozenset[str]) -> ClaimResult:
        supports, contradicts = len(tally.supports.clusters), len(tally.contradicts)
        enough = tally.supports.reaches(self.bars)
        result: Result = "INCONCLUSIVE"
        reason: Reason = ""
        if not supports and not self.cut and tally.refutes.reaches(self.bars):
            result, reason = "UNSUPPORTED", "REFUTED"
        elif self._is_cut(key) and not enough and not (contradicts and supports):
            reason = "BUDGET"
        elif self.asked and not supports and tally.refutes.clusters:
            reason = "COVERAGE"
        elif hard - COVERAGE_CODES:
            result, reason = "UNSUPPORTED", "NO_EVIDENCE"
        elif contradicts and supports:
            result = "DISPUTED"
        elif not hard and key in self.aside:
            reason = "PARTIAL"
        elif not hard and enough:
            result = "SUPPORTED"
        elif hard or supports or tally.refutes.clusters:
            reason = "COVERAGE"
        else:
            reason = self._nothing(key, tally)
        return ClaimResult(
            claim=key, result=result, reason=reason, supports=supports, contradicts=contradicts
        )

    def _is_cut(self, key: str) -> bool:
        return self.cut or (self.asked and self._not_paid_for(key))

    def _not_paid_for(self, key: str) -> bool:
        """Whether spans of the claim were not read for want of budget."""
        return _for_budget(self._unread.get(key, ""))

    def _nothing(self, key: str, tally: _Tally) -> Reason:
        if self._not_paid_for(key):
            return "BUDGET"
        if tally.wavering or key in self._unread:
            return "JUDGE_UNRELIABLE"
        return "PARTIAL" if tally.qualifies else "NO_EVIDENCE"


def _caps(
    weigh: _Weigh,
    thesis: Thesis,
    tallies: Mapping[str, _Tally],
    hard: Mapping[str, frozenset[str]],
    bearing: set[str],
) -> Iterator[str]:
    """A sentence for each reason why the score may not be more than 2 of 4."""
    yield from _caps_of_checks(weigh, thesis, bearing)
    for key, codes in hard.items():
        if "coverage_missing" in codes:
            yield f"{key or 'The answer'} says that something is not so, and too little was searched to know."
        if "not_independent" in codes:
            yield f"{key or 'The answer'} rests on sources that are not independent of each other."
    yield from _caps_of_web_claims(weigh, thesis, tallies)


def _caps_of_checks(weigh: _Weigh, thesis: Thesis, bearing: set[str]) -> Iterator[str]:
    """The checks that were answered no or not at all, but for those of claims that do not count."""
    known = {claim.key for claim in thesis.sub_claims}
    for check in weigh.checks:
        if check.claim not in bearing and check.claim in known:
            continue
        if check.answer == "unknown":
            yield f"A check of {check.claim} could not be answered: {check.question}"
        elif check.answer == "no":
            yield f"A check of {check.claim} was answered no: {check.question}"


def _caps_of_web_claims(weigh: _Weigh, thesis: Thesis, tallies: Mapping[str, _Tally]) -> Iterator[str]:
    """The claims that rest on pages of the web alone, and on fewer than they need."""
    for claim in thesis.sub_claims:
        tally = tallies.get(claim.key)
        if not claim.load_bearing or tally is None or tally.supports.beyond_web:
            continue
        count, needed = len(tally.supports.clusters), tally.supports.needed(weigh.bars)
        if 0 < count < needed:
            yield f"{claim.key} is a claim about the web: independent sources {count}, needed {needed}."


def _scores(readings: Sequence[Reading], caps: Iterable[str]) -> Scores:
    distinct = [bounded(cap, TEXT_LIMIT) for cap in dict.fromkeys(caps)]
    if len(distinct) > MAX_CAPS:
        more = len(distinct) - MAX_CAPS
        distinct = [*distinct[:MAX_CAPS], f"There are {more} more reasons of these kinds."]
    means = _criterion_means(readings)
    before = sum(means) // len(means) if means else 0
    return Scores(
        before=before,
        after=min(before, CAP) if distinct else before,
        readings=len(readings),
        unparsed=sum(1 for reading in readings if not reading.points),
        caps=tuple(distinct),
    )


def _criterion_means(readings: Iterable[Reading]) -> list[int]:
    """The mean points of each criterion that could be read at all, rounded down."""
    by_criterion: dict[str, list[int]] = {}
    for reading in readings:
        if reading.points:
            by_criterion.setdefault(reading.criterion, []).append(reading.points)
    return [sum(points) // len(points) for points in by_criterion.values()]


def _readable(readings: Iterable[Reading]) -> bool:
    """Whether there are readings, and of each criterion at least half could be parsed."""
    balance: dict[str, int] = {}
    for reading in readings:
        balance[reading.criterion] = balance.get(reading.criterion, 0) + (1 if reading.points else -1)
    return bool(balance) and min(balance.values()) >= 0 and any(reading.points for reading in readings)


def _lacking(request: VerifyRequest, coverage: Coverage, cards: Mapping[Digest, Card]) -> Reason:
    """Why a required output cannot be made, '' when each can."""
    required = request.required
    if "evidence_cards" in required and all(card.relation == "IRRELEVANT" for card in cards.values()):
        return "NO_EVIDENCE"
    if "coverage_map" in required and not coverage.clusters:
        return "COVERAGE"
    return "COVERAGE" if "contradictions" in required and not cards else ""


def _overall(
    claims: Sequence[ClaimResult],
    rule: str,
    needed: Thresholds,
    readings: Sequence[Reading],
    scores: Scores,
    *,
    stray: bool,
    light: bool,
    examined: bool,
) -> tuple[Result, Reason]:
    """The second table. `stray`: there is a hard finding that is on no load-bearing claim; `light`: there is
    a claim that does not count for the verdict; `examined`: who labelled, and under the rule `model`
    who scored, have passed the exam."""
    if stray:
        return "INCONCLUSIVE", "FINDINGS"
    if not claims:
        return "INCONCLUSIVE", "NO_EVIDENCE"
    worst = min(((claim.result, claim.reason) for claim in claims), key=_WORST_FIRST.index)
    if worst[0] != "SUPPORTED":
        decided = worst[0] == "DISPUTED" or worst[1] == "REFUTED"
        partly = any(claim.result == "SUPPORTED" for claim in claims)
        return (worst[0], "PARTIAL") if partly and not decided else worst
    if light:
        return "INCONCLUSIVE", "PARTIAL"
    if rule == "entailment" and not examined:
        return "INCONCLUSIVE", "JUDGE_UNRELIABLE"
    if rule != "model":
        return ("INCONCLUSIVE", "SCORE") if scores.caps else ("SUPPORTED", "")
    if not examined or not _readable(readings):
        return "INCONCLUSIVE", "JUDGE_UNRELIABLE"
    return ("SUPPORTED", "") if scores.after >= needed.min_score else ("INCONCLUSIVE", "SCORE")
