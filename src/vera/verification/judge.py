"""The judge: what each shown span says of a claim, and how good the whole answer is.

It has no tools, sees spans and no worker's chat, and returns enums and numbers only. A label can be less
favourable than a reading, never more: the readings of one claim see its spans in both orders, and all of
them must say SUPPORTS. What it says is logged; the verdict is computed from that elsewhere.
"""

import itertools
from collections import defaultdict
from collections.abc import Sequence
from typing import Literal, TypeVar

import msgspec

from vera import events
from vera.attestation.labelling import LabelReply, least, relations
from vera.attestation.probed import INVENTED, expected
from vera.audit.case import Case, CitedLines, place_of, places
from vera.audit.labels import EXTRACT_RULE, of_extract
from vera.audit.source_text import SourceText
from vera.evidence.claim import Cite, Claim, Relation
from vera.evidence.finding import Finding
from vera.evidence.prompt_quoting import MAX_LINE_LENGTH, Row, fence, named
from vera.model.types import Message
from vera.store import StoreError
from vera.verification.ask import ClaimKey, EvidenceId, Line, ModelReply, prompt, room, together
from vera.verification.context import VerifierContext, lane_of
from vera.verification.expected_answer import expected_points
from vera.verification.presented_evidence import (
    MIN_ROOM,
    Exhibit,
    PresentedEvidence,
    Shown,
    numbered,
    show,
)
from vera.verification.probes import NO_PROBE, Probe, probes_of

SCOPE = "verifier_judge"
ORDERS = ("forward", "backward")
CRITERIA = ("task_fit", "evidence_support", "error_signals")
"""Several criteria judge better than one (arXiv:2607.05391)."""

MAX_LABELLED = 100
"""Claims of one answer that a model reads."""

MAX_INSTRUCTIONS = 3
SHORT = 2000
"""Bytes of a task, or of a claim and what is known of it, that are shown beside other things."""

ALL = 1 << 30
"""Room for every claim: one that is cut where less is given is not labelled, since no one read its end."""

Action = Literal["READ", "FETCH", "SEARCH", "COMPUTE", "CITE", "REWORD", "REMOVE", "COVER"]


class Advice(msgspec.Struct, frozen=True):
    """What a judge proposes: a claim's key, an action, and where (`evidence` '' for nowhere)."""

    claim: ClaimKey
    action: Action
    evidence: EvidenceId
    first: int
    last: int


Points = Literal[1, 2, 3, 4]


class ScoreReply(msgspec.Struct, frozen=True):
    """The form of a score call's reply by one criterion."""

    score: Points
    instructions: tuple[Advice, ...]


class RestReply(msgspec.Struct, frozen=True):
    """By the criteria behind the first one, in one reply."""

    evidence_support: Points
    error_signals: Points
    instructions: tuple[Advice, ...]


class AllReply(msgspec.Struct, frozen=True):
    """By all criteria in one reply."""

    task_fit: Points
    evidence_support: Points
    error_signals: Points
    instructions: tuple[Advice, ...]


ScoreForm = TypeVar("ScoreForm", ScoreReply, RestReply, AllReply, RestReply | AllReply)

SCORE_FORMS: dict[tuple[str, ...], type[RestReply] | type[AllReply]] = {
    CRITERIA[1:]: RestReply,
    CRITERIA: AllReply,
}
"""The form of a reply by several criteria."""


async def label(
    context: VerifierContext,
    number: int,
    case: Case,
    findings: Sequence[Finding],
    checks: Sequence[events.VerifierCheck],
) -> tuple[events.Instruction, ...]:
    """Label the spans of every load-bearing claim of round `number`, and log that; labelled ones are left.

    Returns what the labels themselves suggest: to cite lines that would support a claim and are not cited.
    """
    done = {labels.claim for labels in context.session.state.rounds[number].labels}
    todo = [
        (position, claim)
        for position, claim in enumerate(case.claims)
        if claim.load_bearing and claim.form != "absence" and claim.key not in done
    ]
    bench = _LabelPass(context, number, case, findings, checks)
    read = [(position, claim) for position, claim in todo if claim.form == "statement"]
    for _, claim in todo:
        if claim.form == "extract":
            bench.extract(claim)
    for _, claim in read[MAX_LABELLED:]:
        bench.log(claim, (), f"beyond the budget of {MAX_LABELLED} claims that a model reads")
    hints = await together(context, (bench.label(position, claim) for position, claim in read[:MAX_LABELLED]))
    return tuple(itertools.chain.from_iterable(hints))


async def probe(context: VerifierContext, number: int, case: Case) -> None:
    """Have claims whose labels are known labelled like those of round `number`, one call each, and log that.

    Those that are logged are left. When none can be made that is logged, with the reason.
    """
    logged = context.session.state.rounds[number].probes
    done = {(each.probe, each.claim, each.evidence, each.first) for each in logged}
    bench = _LabelPass(context, number, case, (), ())
    made = probes_of(case, bench.most_shown)
    if not made and not logged:
        bench.log_probe(events.VerifierProbe(round=number, problem=NO_PROBE))
    todo = [
        (index, each)
        for index, each in enumerate(made, 1)
        if (each.kind, each.claim, each.cite.evidence, each.cite.first) not in done
    ]
    await together(context, (bench.probe(index, each) for index, each in todo))


async def score(
    context: VerifierContext,
    number: int,
    case: Case,
    findings: Sequence[Finding],
    checks: Sequence[events.VerifierCheck],
    hints: Sequence[events.Instruction] = (),
) -> events.VerifierScore:
    """Score the answer of round `number` by three criteria, and log that.

    Where the server gives the probabilities of tokens, each criterion is read once, in a call each. Else it
    is read `options.readings` times, with the claims in both orders, and a call gives all criteria that are
    still to be read in its order: three calls for two readings. With `options.scores_apart` each has its own.
    `hints` go before the judge's instructions.
    """
    bench = _LabelPass(context, number, case, findings, checks)
    first = await bench.score(0, CRITERIA[0], ORDERS[0])
    plan = list(enumerate(_rest(context, first.score.method), 1))
    others = await together(context, (_by(bench, step, criteria, order) for step, (criteria, order) in plan))
    read = sorted([first, *itertools.chain.from_iterable(others)], key=_place)
    advice, problems = _instructions(case, read)
    return context.session.emit(
        events.VerifierScore(
            round=number,
            scores=tuple(reading.score for reading in read),
            instructions=tuple(dict.fromkeys([*hints, *advice]))[:MAX_INSTRUCTIONS],
            problem="; ".join(dict.fromkeys([r.problem for r in read if r.problem] + problems)),
        ),
        lane=lane_of(number),
    )


def _rest(context: VerifierContext, method: str) -> list[tuple[tuple[str, ...], str]]:
    """The calls after the first one, which gave its score by `method`: the criteria and the order of each."""
    orders = [ORDERS[turn % 2] for turn in range(max(1, context.options.readings))]
    alone: list[tuple[str, ...]] = [(criterion,) for criterion in CRITERIA]
    if method != "reply":
        return [(criterion, ORDERS[0]) for criterion in alone[1:]]
    if context.options.scores_apart:
        return [(criterion, order) for criterion in alone for order in orders][1:]
    return [*((CRITERIA, order) for order in orders[1:]), (CRITERIA[1:], orders[0])]


async def _by(
    bench: "_LabelPass", step: int, criteria: tuple[str, ...], order: str
) -> "tuple[_ScoreReading, ...]":
    if len(criteria) == 1:
        return (await bench.score(step, criteria[0], order),)
    return await bench.scores(step, criteria, order)


def _place(read: "_ScoreReading") -> tuple[int, int]:
    return CRITERIA.index(read.score.criterion), ORDERS.index(read.score.order)


class _ScoreReading(msgspec.Struct, frozen=True):
    """One reading: its score, what it proposes, and why it gave none."""

    score: events.Score
    advice: tuple[Advice, ...] = ()
    problem: str = ""


class _LabelPass:
    """One round's case as the judge sees it, and the calls about it."""

    def __init__(
        self,
        context: VerifierContext,
        number: int,
        case: Case,
        findings: Sequence[Finding],
        checks: Sequence[events.VerifierCheck],
    ) -> None:
        self._context, self._number, self._case = context, number, case
        self._checks = checks
        self._findings: defaultdict[str, list[Finding]] = defaultdict(list)
        for finding in findings:
            self._findings[finding.claim].append(finding)
        self._line = Line(context, lane_of(number), SCOPE)
        self._short = min(SHORT, room(context) // 5)
        self._room = room(context) - 2 * self._short
        self._readings = max(1, context.options.readings)
        self._sources: dict[str, SourceText | None] = {}
        self._exhibits = PresentedEvidence(case, self._whole, context.options.passages)

    def extract(self, claim: Claim) -> None:
        """What only points at lines is supported by these lines, by rule."""
        labels = tuple(
            events.SpanLabel(
                evidence=place.evidence.id,
                first=place.first,
                last=place.last,
                relation=of_extract(claim, place),
            )
            for place in places(self._case, claim)
        )
        self.log(claim, labels, "" if labels else "it cites no line that exists", maker=EXTRACT_RULE)

    async def label(self, position: int, claim: Claim) -> tuple[events.Instruction, ...]:
        """Label the spans of a claim; when only uncited lines support it, the instruction to cite them."""
        whole = named("claim", claim.text)
        if fence("", whole, self._short) != fence("", whole, ALL):
            self.log(claim, (), f"beyond the budget of {self._short} bytes that a model reads of one claim")
            return ()
        shown = show(self._exhibits.of(claim, self._checks), self._room)
        if not shown:
            self.log(claim, (), "")
            return ()
        votes: list[dict[int, Relation]] = []
        problems: list[str] = []
        for turn in range(self._readings):
            step, rows = 2 + position * self._readings + turn, self._claim_rows(position, claim)
            backward = turn % 2 == 1
            reply = await self._read(step, claim, rows, shown[::-1] if backward else shown)
            if reply.value is None:
                problems.append(f"reading {turn + 1}: {reply.problem}")
                continue
            said = list(relations(reply.value, len(shown)).values())
            votes.append(dict(enumerate(said[::-1] if backward else said, 1)))
        labels, uncited = settle(shown, votes, self._readings)
        self.log(claim, labels, "; ".join(problems))
        return tuple(
            events.Instruction(
                claim=claim.key, action="CITE", source=span.evidence, first=span.first, last=span.last
            )
            for span in uncited[:1]
            if not any(found.relation == "SUPPORTS" for found in labels)
        )

    @property
    def most_shown(self) -> int:
        """Bytes of a place that a label call certainly shows whole, beside what it says of the source."""
        return min(MAX_LINE_LENGTH, self._room // 2) - MIN_ROOM

    async def probe(self, index: int, made: Probe) -> None:
        """Read a claim whose label is known, as the next one of the answer, and log what it is said to be."""
        key = f"c{len(self._case.claims) + index}"
        claim = Claim(key=key, text=made.claim, start=0, end=0, cites=(made.cite,))
        is_invented = made.kind == INVENTED
        shown = show(self._all_exhibits() if is_invented else self._exhibits.of(claim, ()), self._room)
        step = 1 + (len(self._case.claims) + len(CRITERIA)) * self._readings + index
        if shown and (is_invented or shown[0].exhibit.last == made.cite.last):
            reply = await self._read(step, claim, named("claim", claim.text), shown)
        else:
            reply = ModelReply(problem="The lines of a claim with a known label cannot be shown.")
        said = list(relations(reply.value, len(shown)).values()) if reply.value else [""]
        self.log_probe(
            events.VerifierProbe(
                round=self._number,
                probe=made.kind,
                claim=made.claim,
                evidence=made.cite.evidence,
                first=made.cite.first or 0,
                last=made.cite.last or 0,
                expected=expected(made.kind),
                said="SUPPORTS" if is_invented and "SUPPORTS" in said else said[0],
                maker=self._maker,
                prompt_sha256=self._context.prompts.sha256("judge_label"),
                problem=reply.problem,
            )
        )

    @property
    def _maker(self) -> str:
        """The name of the model that labels, '' where there is none."""
        model = self._context.model
        return (model.info.name or model.info.kind) if model else ""

    def _all_exhibits(self) -> list[Exhibit]:
        """What is shown for the claims of the answer, each place once."""
        claims = [each for each in self._case.claims if each.load_bearing and each.form == "statement"]
        found = {
            (each.evidence, each.first, each.last): each
            for claim in claims[:MAX_LABELLED]
            for each in self._exhibits.of(claim, self._checks)
        }
        return list(found.values())

    def log_probe(self, record: events.VerifierProbe) -> None:
        self._context.session.emit(record, lane=lane_of(self._number))

    async def _read(
        self, step: int, claim: Claim, rows: Sequence[Row], shown: Sequence[Shown]
    ) -> ModelReply[LabelReply]:
        """One reading of what the spans say of a claim, numbered in the order in which they are given."""
        fenced = fence(f"claim {claim.key}", rows, self._short).text
        messages = label_prompt(self._context, self._task, fenced, shown)
        return await self._line.ask(step, messages, LabelReply, lengths={"spans": (len(shown), len(shown))})

    @property
    def _task(self) -> str:
        return fence("task", named("task", self._case.task), self._short).text

    async def score(self, step: int, criterion: str, order: str) -> _ScoreReading:
        """Read the whole answer once by one criterion."""
        reply = await self._judged(step, (criterion,), order, ScoreReply)
        if reply.value is None:
            nothing = events.Score(criterion=criterion, points=None, method="reply", order=order)
            return _ScoreReading(nothing, (), f"{criterion}, {order}: {reply.problem}")
        points = _expected(reply, reply.value)
        method = "reply" if points is None else "logprobs"
        points = 100 * reply.value.score if points is None else points
        read = events.Score(criterion=criterion, points=points, method=method, order=order)
        return _ScoreReading(read, reply.value.instructions)

    async def scores(self, step: int, criteria: tuple[str, ...], order: str) -> tuple[_ScoreReading, ...]:
        """Read the whole answer once by several criteria, in one reply."""
        reply = await self._judged(step, criteria, order, SCORE_FORMS[criteria])
        value = reply.value
        problem = "" if value else f"{', '.join(criteria)}, {order}: {reply.problem}"
        return tuple(
            _ScoreReading(
                events.Score(
                    criterion=criterion,
                    points=None if value is None else 100 * getattr(value, criterion),
                    method="reply",
                    order=order,
                ),
                value.instructions if value is not None and criterion == criteria[0] else (),
                problem,
            )
            for criterion in criteria
        )

    async def _judged(
        self, step: int, criteria: tuple[str, ...], order: str, form: type[ScoreForm]
    ) -> ModelReply[ScoreForm]:
        messages = prompt(
            self._context,
            "judge_score",
            task=self._task,
            claims=self._answer(backward=order == "backward"),
            criteria=criteria,
            most=MAX_INSTRUCTIONS,
        )
        first_step = 2 + len(self._case.claims) * self._readings
        return await self._line.ask(
            first_step + step,
            messages,
            form,
            lengths={"instructions": (0, MAX_INSTRUCTIONS)},
            choices={
                "claim": [claim.key for claim in self._case.claims],
                "evidence": ["", *self._case.evidence],
            },
            logprobs=len(criteria) == 1,
        )

    def log(self, claim: Claim, labels: tuple[events.SpanLabel, ...], problem: str, maker: str = "") -> None:
        self._context.session.emit(
            events.VerifierLabels(
                round=self._number,
                claim=claim.key,
                labels=labels,
                maker=maker or self._maker,
                prompt_sha256="" if maker else self._context.prompts.sha256("judge_label"),
                problem=problem,
            ),
            lane=lane_of(self._number),
        )

    def _claim_rows(self, position: int, claim: Claim) -> list[Row]:
        """The claim, what stands before it in the answer (it may begin with "It"), and its findings."""
        before = self._case.claims[position - 1].text if position else ""
        return [
            *named("claim", claim.text),
            *([("before", before)] if before else []),
            *(("finding", f"{f.severity}: {f.message}") for f in self._findings[claim.key]),
        ]

    def _answer(self, backward: bool) -> list[str]:
        """Every claim in a fence, with labels, findings, check answers and cited lines, as many as fit."""
        labelled = {
            record.claim: record for record in self._context.session.state.rounds[self._number].labels
        }
        blocks: list[str] = []
        left = self._room
        share = max(600, left // max(1, len(self._case.claims)))
        for claim in self._case.claims:
            rows = [*named("claim", claim.text), *self._results(claim, labelled.get(claim.key))]
            block = fence(f"claim {claim.key}", rows, min(share, self._short)).text
            spans = show(self._exhibits.of(claim, self._checks, around=False), share - len(block.encode()))
            whole = "\n".join([block, *(span.text for span in spans)])
            left -= len(whole.encode())
            if left < 0 and blocks:
                break
            blocks.append(whole)
        hidden = len(self._case.claims) - len(blocks)
        more = [f"({hidden} more claims do not fit.)"] if hidden else []
        return [*(reversed(blocks) if backward else blocks), *more]

    def _results(self, claim: Claim, labels: events.VerifierLabels | None) -> list[Row]:
        rows: list[Row] = [("form", claim.form if claim.load_bearing else f"{claim.form}, not load-bearing")]
        for found in labels.labels if labels else ():
            if found.relation != "IRRELEVANT":
                where = f"{found.evidence}:{found.first}-{found.last}"
                rows.append(("label", f"{where} {found.relation} ({found.agree} of {found.votes} readings)"))
        if labels and not any(found.relation == "SUPPORTS" for found in labels.labels):
            rows.append(("label", "no cited line SUPPORTS it"))
        rows += [("finding", f"{f.severity} {f.label}: {f.message}") for f in self._findings[claim.key]]
        rows += [
            ("check", f"{check.question.question} Answer: {check.answer}")
            for check in self._checks
            if check.question.claim == claim.key
        ]
        return rows

    def _whole(self, evidence_id: str) -> CitedLines | None:
        """An evidence with its whole source: of the case, or captured by a check and then in the store."""
        evidence = self._context.session.state.evidence.get(evidence_id)
        if evidence is None:
            return None
        place = place_of(self._case, Cite(evidence_id, 1, 1))
        if place is not None:
            return place
        digest = evidence.text.sha256
        if digest not in self._sources:
            try:
                self._sources[digest] = SourceText(self._context.session.store.get(digest))
            except StoreError:
                self._sources[digest] = None
        source = self._sources[digest]
        return CitedLines(evidence, source.seen(evidence.marks), 1, 1) if source else None


def label_prompt(
    context: VerifierContext, task: str, claim: str, shown: Sequence[Shown]
) -> tuple[Message, ...]:
    """The messages of a label call: fenced task and claim, and the spans, numbered as they are given."""
    return prompt(context, "judge_label", task=task, claim=claim, spans=numbered(shown), count=len(shown))


def settle(
    shown: Sequence[Shown], votes: Sequence[dict[int, Relation]], readings: int
) -> tuple[tuple[events.SpanLabel, ...], list[events.SpanLabel]]:
    """The labels that the readings agree on, and the uncited spans that would have supported the claim.

    SUPPORTS needs all `readings`: with one that could not be read it is left open, and there is no label.
    """
    labels: list[events.SpanLabel] = []
    uncited: list[events.SpanLabel] = []
    for index, span in enumerate(shown, 1):
        said = [vote[index] for vote in votes]
        if not said:
            continue
        relation = least(said)
        found = events.SpanLabel(
            evidence=span.exhibit.evidence,
            first=span.exhibit.first,
            last=span.exhibit.last,
            relation=relation,
            agree=said.count(relation),
            votes=len(said),
        )
        if relation != "SUPPORTS":
            labels.append(found)
        elif len(said) == readings:
            (uncited if span.exhibit.kind == "passage" else labels).append(found)
    return tuple(labels), uncited


def _expected(reply: ModelReply[ScoreReply], value: ScoreReply) -> int | None:
    return expected_points(reply.tokens, reply.content, value.score) if reply.tokens else None


def _instructions(case: Case, read: Sequence[_ScoreReading]) -> tuple[list[events.Instruction], list[str]]:
    """What the readings propose, the most critical reading first; what names no claim of ours is dropped."""
    keys = {claim.key for claim in case.claims}
    ordered = sorted(read, key=lambda reading: reading.score.points or 0)
    advice = [item for reading in ordered for item in reading.advice]
    kept = [_instruction(case, item) for item in advice if item.claim in keys]
    dropped = len(advice) - len(kept)
    return kept, [f"{dropped} instructions named no claim of the answer"] if dropped else []


def _instruction(case: Case, item: Advice) -> events.Instruction:
    """An instruction whose source and lines exist; what does not is left out of it."""
    evidence = case.evidence.get(item.evidence)
    if evidence is None:
        return events.Instruction(claim=item.claim, action=item.action)
    if not 1 <= item.first <= item.last <= evidence.lines:
        return events.Instruction(claim=item.claim, action=item.action, source=evidence.id)
    return events.Instruction(
        claim=item.claim, action=item.action, source=evidence.id, first=item.first, last=item.last
    )
