"""Feedback: what the agent is told of a round that did not verify its answer.

It is told the score that counts, after the caps, and why; what is wrong and what is missing, claim by claim
in the claim's own text; and at most three next steps, each with a source and an action. A judge only picks
claims, actions and lines: every sentence here is ours, but for quoted claims and the findings' own details.
"""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import msgspec

from vera import events
from vera.attestation.gather import logged_findings
from vera.attestation.objects import (
    Attestation,
    ClaimResult,
    Scores,
    SubClaim,
    Thesis,
    hexadecimal,
    parse,
)
from vera.attestation.reduce import COVERAGE_CODES
from vera.audit.taxonomy import TAXONOMY
from vera.evidence.citation import place_name
from vera.evidence.finding import Finding
from vera.history import WEB_SEARCHES
from vera.lane.prompts import Prompts
from vera.sanitize import one_line
from vera.verification.context import VerifierContext

MAX_BYTES = 4000
"""Of the message: it stays in the agent's view through every step that follows."""

MAX_ACTIONS = 3
MAX_ENTRIES = 8
CLAIM_SHOWN = 140
ENTRY_SHOWN = 420
MAX_KEPT = 50
"""Entries of each list that the gradient keeps."""

STOP_WHEN = "each statement cites lines that say it, and no finding and no check speaks against it."


class Step(NamedTuple):
    """What an action asks for: the goal with {claim} and {place} in it, the tools, and when it is done."""

    goal: str
    tools: tuple[str, ...]
    done: str


STEPS: Mapping[str, Step] = {
    "READ": Step(
        "Read {place} again and state exactly what is there instead of {claim}.",
        ("read",),
        "the sentence says what the cited lines say, no more.",
    ),
    "FETCH": Step(
        "Fetch a page that holds the content itself for {claim}, in place of {place}.",
        ("fetch",),
        "lines of that page state it and are cited.",
    ),
    "SEARCH": Step(
        "Search with materially different words for a further source of {claim}, independent of {place}.",
        ("search", *WEB_SEARCHES, "fetch"),
        "lines of the new source state it and are cited, or the statement is gone.",
    ),
    "COMPUTE": Step(
        "Work out {claim} with one command that takes its values from {place}.",
        ("shell",),
        "the command ends with exit code 0, prints the value, and its line is cited.",
    ),
    "CITE": Step(
        "Read {place} and, if these lines state {claim}, cite them for it.",
        ("read",),
        "the citation names the lines that state it.",
    ),
    "REWORD": Step(
        "Reword {claim} so that it says no more than {place}.",
        ("read",),
        "subject, numbers, dates, negation and certainty are those of the lines.",
    ),
    "REMOVE": Step(
        "Remove {claim}: {place} does not carry it.",
        (),
        "the answer no longer says it.",
    ),
    "COVER": Step(
        "Before you state {claim}, list the candidates from a source (start at {place}) and look at each.",
        ("search", *WEB_SEARCHES, "read"),
        "each candidate has lines that say how it stands, and the answer names what was searched.",
    ),
}
"""Action of an instruction → what the agent reads."""

ACTION_OF: Mapping[str, str] = {
    "wrong_evidence": "READ",
    "missing_source": "SEARCH",
    "generic_search": "SEARCH",
    "invalid_source": "FETCH",
    "copied_source": "SEARCH",
    "premature_conclusion": "COVER",
    "misinterpretation": "READ",
    "overconfident": "REWORD",
    "fabricated": "READ",
    "misread_task": "REWORD",
    "goal_drift": "COVER",
    "action_error": "COMPUTE",
    "max_steps": "REMOVE",
}
"""Label of the taxonomy → the action that puts it right."""

_UNSUPPORTED: Mapping[str, tuple[str, str]] = {
    "REFUTED": ("a source says otherwise.", "READ"),
    "NO_EVIDENCE": ("no cited line states it.", "READ"),
    "PARTIAL": ("the cited lines state only a part of it, or limit it.", "REWORD"),
    "COVERAGE": ("too few independent sources state it.", "SEARCH"),
    "BUDGET": ("the budget ended before it was covered.", "REMOVE"),
    "JUDGE_UNRELIABLE": ("readings of the cited lines did not agree.", "REWORD"),
}
"""Reason of a claim's result → what is said of it, and the action that puts it right."""

_UNCHECKED = (
    "it cites no lines, and nothing in it can be checked, so it is not proved.",
    "REMOVE",
)
"""The same of a claim that does not count for the verdict."""

_KEY = re.compile(r"\bc[0-9]{1,6}\b")


class Review(msgspec.Struct, frozen=True, kw_only=True):
    """A decided round as feedback is made from it. `step` is the turn that gave the answer, `rounds` how many
    rounds there may be."""

    decision: events.Verifier
    step: int
    rounds: int
    min_score: int
    claims: tuple[SubClaim, ...]
    results: tuple[ClaimResult, ...] = ()
    scores: Scores = Scores()
    findings: tuple[Finding, ...] = ()
    checks: tuple[events.VerifierCheck, ...] = ()
    labels: tuple[events.VerifierLabels, ...] = ()
    instructions: tuple[events.Instruction, ...] = ()


def tell(context: VerifierContext, decision: events.Verifier) -> events.VerifierToAgent | None:
    """Take the answer of the lane of now back with feedback on the round that was decided. Raises StoreError.

    None where it says nothing but a score, as it did before: the agent would give the same answer again.
    """
    session = context.session
    acting = session.state.acting
    done, lane = session.state.rounds[decision.round], session.state.lane(acting)
    attestation = parse(session.store.get(hexadecimal(decision.attestation)), Attestation)
    thesis = parse(session.store.get(hexadecimal(attestation.thesis)), Thesis)
    findings = logged_findings(done.audit, session.load) if done.audit else ()
    review = Review(
        decision=decision,
        step=lane.answer.step if lane.answer else lane.step,
        rounds=context.options.rounds,
        min_score=context.options.min_score,
        claims=thesis.sub_claims,
        results=attestation.claims,
        scores=attestation.scores,
        findings=findings,
        checks=done.checks,
        labels=done.labels,
        instructions=done.score.instructions if done.score else (),
    )
    advice = lane.advice  # of a run that was killed behind it
    if advice is None or advice.round != decision.round:
        advice = gradient(review)
        earlier = (each.advice for each in session.state.rounds.values() if each.advice is not None)
        if _is_bare(advice) and any(map(_is_bare, earlier)):
            return None
        advice = session.emit(advice, lane=acting)
    return session.emit(
        events.VerifierToAgent(
            round=decision.round,
            step=review.step,
            content=session.text(message(context.prompts, review, advice)),
            score=decision.score,
        ),
        lane=acting,
    )


def gradient(review: Review) -> events.VerifierGradient:
    """The feedback as data."""
    names = _Names(review)
    return events.VerifierGradient(
        round=review.decision.round,
        step=review.step,
        missing=tuple(dict.fromkeys(_missing(review, names)))[:MAX_KEPT],
        wrong=tuple(dict.fromkeys(_wrong(review, names)))[:MAX_KEPT],
        next_actions=tuple(_actions(review, names)),
        stop_when=STOP_WHEN,
    )


def _is_bare(advice: events.VerifierGradient) -> bool:
    """Whether it says nothing that the agent could act on."""
    return not (advice.next_actions or advice.wrong or advice.missing)


def message(prompts: Prompts, review: Review, advice: events.VerifierGradient) -> str:
    """What the agent reads, in at most MAX_BYTES: the lists are shortened as far as need be."""
    names = _Names(review)
    caps = [names.in_words(cap) for cap in review.scores.caps]
    for most in range(MAX_ENTRIES, -1, -1):
        lists = [
            (title, entries[:most], len(entries) - len(entries[:most]))
            for title, entries in (("CAPPED", caps), ("WRONG", advice.wrong), ("MISSING", advice.missing))
        ]
        text = prompts.render(
            "feedback",
            round=review.decision.round,
            rounds=review.rounds,
            supported=review.decision.supported,
            claims=review.decision.claims,
            score=_points(review.scores.after),
            before=_points(review.scores.before),
            needed=_points(review.min_score),
            caps=caps,
            hard=review.decision.hard,
            lists=lists,
            actions=advice.next_actions,
            stop_when=advice.stop_when,
        )
        if len(text.encode()) <= MAX_BYTES:
            break
    return text


class _Names:
    """Claims by their text, and the place where each of them was looked for."""

    def __init__(self, review: Review) -> None:
        self._texts = {claim.key: claim.text for claim in review.claims}
        self._places: dict[str, tuple[str, int, int]] = {}
        for finding in review.findings:
            if finding.evidence:
                self._places.setdefault(finding.claim, (finding.evidence, finding.first, finding.last))
        for labels in review.labels:
            for span in labels.labels:
                self._places.setdefault(labels.claim, (span.evidence, span.first, span.last))

    def claim(self, key: str) -> str:
        text = self._texts.get(key)
        return f"“{one_line(text, CLAIM_SHOWN)}”" if text else "the answer as a whole"

    def place(self, key: str) -> tuple[str, int, int]:
        """(evidence, first, last) where a claim was looked for; '' when nowhere."""
        return self._places.get(key, ("", 0, 0))

    def in_words(self, sentence: str) -> str:
        """A sentence with the keys of claims replaced by their text."""
        named = _KEY.sub(lambda key: self.claim(key[0]) if key[0] in self._texts else key[0], sentence)
        return one_line(named, ENTRY_SHOWN)


def _wrong(review: Review, names: _Names) -> Iterator[str]:
    """What contradicts the answer: hard findings, refuted and disputed claims, checks answered no, hints."""
    for finding in _hard(review):
        if finding.code not in COVERAGE_CODES:
            yield _told(finding, names)
    for result in review.results:
        if result.result == "DISPUTED":
            yield f"{names.claim(result.claim)}: its sources contradict each other."
        elif result.reason == "REFUTED" or result.contradicts:
            yield f"{names.claim(result.claim)}: {_UNSUPPORTED['REFUTED'][0]}"
    for check in review.checks:
        if check.answer == "no":
            yield f"{names.claim(check.question.claim)}: {_asked(check)} It was answered no."
    for finding in _hints(review):
        yield f"{_told(finding, names)} (a hint)"


def _missing(review: Review, names: _Names) -> Iterator[str]:
    """What was not shown: claims that no line carries, coverage, checks without an answer."""
    hard = {finding.claim for finding in _hard(review)}
    for finding in _hard(review):
        if finding.code in COVERAGE_CODES:
            yield _told(finding, names)
    for result in review.results:
        known = _why(result, review)
        if result.claim not in hard and result.reason != "REFUTED" and known:
            yield f"{names.claim(result.claim)}: {known[0]}"
    for check in review.checks:
        if check.answer == "unknown":
            reason = one_line(check.reason, 160)
            yield f"{names.claim(check.question.claim)}: {_asked(check)} It could not be answered: {reason}"


def _hard(review: Review) -> list[Finding]:
    return [finding for finding in review.findings if finding.severity == "hard"]


def _hints(review: Review) -> Iterator[Finding]:
    """Soft findings on claims that are not supported, and all of them under a score that is too low."""
    unsupported = {result.claim for result in review.results if result.result != "SUPPORTED"}
    low = 0 < review.scores.after < review.min_score
    for finding in review.findings:
        if finding.severity == "soft" and (finding.claim in unsupported or low):
            yield finding


def _told(finding: Finding, names: _Names) -> str:
    """A finding with what its label means for the agent."""
    label = TAXONOMY.get(finding.label)
    said = one_line(finding.message, ENTRY_SHOWN - CLAIM_SHOWN)
    return f"{names.claim(finding.claim)}: {said}" + (f" {label.feedback}" if label else "")


def _asked(check: events.VerifierCheck) -> str:
    asked = check.question
    return f"{one_line(asked.question, 160)} ({one_line(asked.source, 80)})"


def _actions(review: Review, names: _Names) -> Iterator[events.NextAction]:
    """At most three steps, one for each claim: what the judge picked, then by finding, then by result."""
    done: set[str] = set()
    known = {claim.key for claim in review.claims}
    for instruction in [*review.instructions, *_by_finding(review, names), *_by_result(review, names)]:
        if instruction.claim in done or (instruction.claim and instruction.claim not in known):
            continue
        if instruction.action not in STEPS:
            continue
        done.add(instruction.claim)
        yield _action(instruction, names)
        if len(done) == MAX_ACTIONS:
            return


def _by_finding(review: Review, names: _Names) -> Iterator[events.Instruction]:
    for finding in [*_hard(review), *_hints(review)]:
        yield _instruction(finding.claim, ACTION_OF.get(finding.label, "READ"), names)


def _by_result(review: Review, names: _Names) -> Iterator[events.Instruction]:
    for result in review.results:
        if result.result == "DISPUTED":
            yield _instruction(result.claim, "READ", names)
        elif known := _why(result, review):
            yield _instruction(result.claim, known[1], names)


def _why(result: ClaimResult, review: Review) -> tuple[str, str] | None:
    """Why a claim is not supported, and the action that puts it right; None for a claim that is."""
    light = any(claim.key == result.claim and not claim.load_bearing for claim in review.claims)
    return _UNCHECKED if light else _UNSUPPORTED.get(result.reason)


def _instruction(claim: str, action: str, names: _Names) -> events.Instruction:
    source, first, last = names.place(claim)
    return events.Instruction(claim=claim, action=action, source=source, first=first, last=last)


def _action(instruction: events.Instruction, names: _Names) -> events.NextAction:
    """An instruction in our words. A search has no source to be looked for in its arguments."""
    step = STEPS[instruction.action]
    if not instruction.source:
        instruction = _instruction(instruction.claim, instruction.action, names)
    place = _place(instruction)
    return events.NextAction(
        goal=step.goal.format(claim=names.claim(instruction.claim), place=place),
        suggested_tools=step.tools,
        success_criteria=step.done,
        source=instruction.source if instruction.action in ("READ", "CITE", "REWORD") else "",
    )


def _place(instruction: events.Instruction) -> str:
    """`[ev_0003:12-14]`, as an answer cites it."""
    if not instruction.source:
        return "what it cites"
    if not instruction.first:
        return instruction.source
    return f"[{place_name(instruction.source, instruction.first, instruction.last)}]"


def _points(hundredths: int) -> str:
    """A score as people write it (350 → 3.5), '' for none."""
    return f"{hundredths / 100:.2f}".rstrip("0").rstrip(".") if hundredths else ""
