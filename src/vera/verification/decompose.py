"""Decompose: the fewest yes/no questions, each bound to a source, that would show an answer to be wrong.

After DeepVerifier (Wan et al., arXiv:2601.15808): a verifier does not solve the task again, it asks whether a
source says a thing. It works in a clean room: it sees the task, the claims, the findings and a list of
sources, never the worker's chat.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Annotated, NamedTuple

import msgspec

from vera import events
from vera.audit.case import Case
from vera.audit.taxonomy import TAXONOMY
from vera.evidence.claim import Claim
from vera.evidence.finding import Finding
from vera.evidence.prompt_quoting import Row, fence, named
from vera.sanitize import one_line
from vera.verification.ask import ClaimKey, ask, prompt, room
from vera.verification.context import VerifierContext, lane_of

SCOPE = "verifier_decompose"
MAX_SOURCES = 200
MAX_READ = 16
"""Questions of one reply that are looked at."""

MAX_QUESTION_LENGTH = 400
MAX_SOURCE_LENGTH = 2000

_URL = re.compile(r"https?://[^\s<>\"'\[\]()]{1,2000}")


class QuestionReply(msgspec.Struct, frozen=True):
    """One question as the model writes it; every member is checked before it is used."""

    claim: ClaimKey
    question: Annotated[str, msgspec.Meta(extra_json_schema={"maxLength": MAX_QUESTION_LENGTH})]
    source: Annotated[str, msgspec.Meta(extra_json_schema={"maxLength": MAX_SOURCE_LENGTH})]
    label: Annotated[str, msgspec.Meta(extra_json_schema={"enum": list(TAXONOMY)})]


class DecomposeReply(msgspec.Struct, frozen=True):
    """The form of the reply."""

    questions: tuple[QuestionReply, ...]


class Listed(NamedTuple):
    """A source that questions may name: its name, and a line that says what it is."""

    name: str
    about: str


async def decompose(
    context: VerifierContext,
    number: int,
    case: Case,
    findings: Sequence[Finding],
    scout_questions: Sequence[events.Question] = (),
) -> events.VerifierQuestions:
    """The questions of round `number`, logged: SCOUT's first, then the model's, `options.checks` in all.

    A question that names no load-bearing claim, no known source or no label of the taxonomy is dropped, and
    `problem` counts these. Without a model, or when it fails, there are those of SCOUT only.
    """
    most = context.options.checks
    kept = list(dict.fromkeys(scout_questions))[:most]
    problem = ""
    bearing = [claim for claim in case.claims if claim.load_bearing and claim.form != "absence"]
    if len(kept) < most and bearing and context.model is not None:
        asked, problem = await _ask(context, number, case, findings, bearing, most - len(kept))
        taken = {(question.claim, question.source, question.question) for question in kept}
        kept += [q for q in asked if (q.claim, q.source, q.question) not in taken]
    return context.session.emit(
        events.VerifierQuestions(round=number, questions=tuple(kept[:most]), problem=problem),
        lane=lane_of(number),
    )


async def _ask(
    context: VerifierContext,
    number: int,
    case: Case,
    findings: Sequence[Finding],
    bearing: Sequence[Claim],
    most: int,
) -> tuple[list[events.Question], str]:
    sources = list(listed(case))
    share = room(context) // 4
    messages = prompt(
        context,
        "decompose",
        most=most,
        labels=TAXONOMY,
        task=fence("task", named("task", case.task), share).text,
        claims=fence("claims", _claim_rows(bearing), share).text,
        findings=fence("findings", _finding_rows(findings), share).text if findings else "",
        sources=fence("sources", sources, share).text,
    )
    reply = await ask(
        context,
        lane=lane_of(number),
        step=1,
        scope=SCOPE,
        messages=messages,
        form=DecomposeReply,
        lengths={"questions": (0, most)},
        choices={"claim": [claim.key for claim in bearing], "source": sorted(_names(case))},
    )
    if reply.value is None:
        return [], reply.problem
    return valid(reply.value, {claim.key for claim in bearing}, _names(case))


def listed(case: Case) -> Iterator[Listed]:
    """The sources that questions can be about: cited evidence first, then all other evidence, newest first.

    One line for each document: evidence of the same text is listed once.
    """
    cited = dict.fromkeys(cite.evidence for claim in case.claims for cite in claim.cites)
    seen: set[str] = set()
    for evidence_id in [*cited, *reversed(list(case.evidence))]:
        evidence = case.evidence.get(evidence_id)
        if evidence is None or evidence.lead or evidence.text.sha256 in seen:
            continue
        seen.add(evidence.text.sha256)
        title = f" · {one_line(evidence.title, 80)}" if evidence.title else ""
        yield Listed(
            evidence.id, f"{one_line(evidence.source, 120)}{title} · {evidence.lines} lines, {evidence.tier}"
        )
        if len(seen) == MAX_SOURCES:
            return


def valid(reply: DecomposeReply, claims: set[str], sources: set[str]) -> tuple[list[events.Question], str]:
    """The questions that hold, and why there are fewer than were written."""
    kept: dict[tuple[str, str], events.Question] = {}
    for written in reply.questions[:MAX_READ]:
        question = _question(written, claims, sources)
        if question is not None:
            kept.setdefault((question.source, question.question), question)
    dropped = len(reply.questions) - len(kept)
    return list(kept.values()), (
        f"{dropped} of {len(reply.questions)} questions named no known claim, source or label, or were none"
        if dropped
        else ""
    )


def _question(written: QuestionReply, claims: set[str], sources: set[str]) -> events.Question | None:
    text = one_line(written.question, MAX_QUESTION_LENGTH)
    source = written.source.strip()[:MAX_SOURCE_LENGTH]
    if written.claim not in claims or written.label not in TAXONOMY or not text.endswith("?"):
        return None
    if source not in sources:
        return None
    return events.Question(claim=written.claim, question=text, source=source, label=written.label)


def _names(case: Case) -> set[str]:
    """What a question may name: evidence, and every document and address that was captured or asked about.

    An address that nothing has shown does not count: a page could otherwise make the verifier send words of
    the task to its own server.
    """
    known = [evidence for evidence in case.evidence.values() if not evidence.lead]
    captured = {evidence.source for evidence in known if evidence.tier == "captured"}
    paths = {f"/input/{name}" for name in captured if "://" not in name}
    asked = {url.rstrip(".,;:!?") for url in _URL.findall(case.task)}
    return {evidence.id for evidence in known} | captured | paths | asked


def _claim_rows(claims: Sequence[Claim]) -> Iterator[Row]:
    for claim in claims:
        cites = ", ".join(dict.fromkeys(cite.evidence for cite in claim.cites))
        for _, line in named("", claim.text):
            yield claim.key, line
        if cites:
            yield claim.key, f"cites {cites}"


def _finding_rows(findings: Sequence[Finding]) -> Iterator[Row]:
    for finding in findings:
        yield finding.claim or "answer", f"{finding.severity} {finding.label}: {finding.message}"
