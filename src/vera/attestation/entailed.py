"""The labels of an entailment judge, given when a round is verified and again when it is replayed.

A judge that has not passed its exam labels, too, and can only lower: where it says that lines contradict a
claim, what the rule `literal` found there is set down as QUALIFIES. It neither supports nor refutes.
"""

import hashlib
from collections.abc import Collection, Iterator, Sequence

import msgspec

from vera import events
from vera.attestation.objects import Exam, canonical
from vera.attestation.probed import probed
from vera.attestation.record import Record
from vera.audit.case import Case, CitedLines, places
from vera.audit.labels import EXTRACT_RULE, of_extract
from vera.entailment.values import EntailmentError, PairReader, Shares, relation
from vera.evidence.claim import Claim

MAX_READ = 100
"""Claims of one answer that a judge reads, as with a language model."""


class Read(msgspec.Struct, frozen=True):
    """A place that a claim cites, and what a judge makes of it."""

    place: CitedLines
    shares: Shares


def settings_sha256(about: events.EntailmentModel) -> str:
    """The hash of all that a judge's labels depend on: what a prompt's hash is to a language model."""
    return hashlib.sha256(canonical(about)).hexdigest()


def read_claim(case: Case, claim: Claim, reader: PairReader) -> tuple[Read, ...]:
    """What the judge makes of each place that the claim cites: whole sentences, without what is struck out or
    hidden there. Raises EntailmentError."""
    cited = places(case, claim)
    shares = reader.read([place.plain.span.text for place in cited], claim.text)
    return tuple(map(Read, cited, shares))


def label_claim(case: Case, claim: Claim, number: int, reader: PairReader) -> events.VerifierLabels:
    """The labels of a claim by the judge; of an extract by rule. What cannot be read has no label."""
    if claim.form == "extract":
        labels = tuple(_label(place, of_extract(claim, place)) for place in places(case, claim))
        problem = "" if labels else "it cites no line that exists"
        return events.VerifierLabels(
            round=number, claim=claim.key, labels=labels, maker=EXTRACT_RULE, problem=problem
        )
    empty = unread(claim, number, reader, "")
    try:
        read = read_claim(case, claim, reader)
    except EntailmentError as error:
        return msgspec.structs.replace(empty, problem=str(error))
    labels = tuple(_label(each.place, relation(each.shares)) for each in read)
    return msgspec.structs.replace(empty, labels=labels)


def unread(claim: Claim, number: int, reader: PairReader, why: str) -> events.VerifierLabels:
    """No label of a claim, and why."""
    return events.VerifierLabels(
        round=number,
        claim=claim.key,
        labels=(),
        maker=reader.name,
        prompt_sha256=settings_sha256(reader.about),
        problem=why,
    )


def _label(place: CitedLines, said: str) -> events.SpanLabel:
    return events.SpanLabel(evidence=place.evidence.id, first=place.first, last=place.last, relation=said)


def lowered(by_rule: Sequence[events.VerifierLabels], record: Record) -> tuple[events.VerifierLabels, ...]:
    """The labels of a rule, with those taken down that a judge contradicts which has not passed its exam.

    One that its probes show to be blind lowers nothing.
    """
    sat = [exam for exam in record.exams if "labels" in exam.roles][-1:]
    failed = [exam for exam in sat if exam.entailment and not exam.passed and not exam.unfinished]
    if not failed or probed(record.probes).distrust:
        return tuple(by_rule)
    judge = failed[0]
    against = {
        (said.claim, span.evidence, span.first, span.last)
        for said in record.labels
        if (said.maker, said.prompt_sha256) == (judge.model, judge.prompt)
        for span in said.labels
        if span.relation == "CONTRADICTS"
    }
    found: list[events.VerifierLabels] = []
    for each in by_rule:
        found += _taken_down(each, against, judge)
    return tuple(found)


def _taken_down(
    each: events.VerifierLabels, against: Collection[tuple[str, str, int, int]], judge: Exam
) -> Iterator[events.VerifierLabels]:
    """The labels of a claim by the rule. Those that the judge is `against` are QUALIFIES, in its name."""
    taken = tuple(
        span
        for span in each.labels
        if span.relation == "SUPPORTS" and (each.claim, span.evidence, span.first, span.last) in against
    )
    if not taken:
        yield each
        return
    yield msgspec.structs.replace(each, labels=tuple(span for span in each.labels if span not in taken))
    yield msgspec.structs.replace(
        each,
        labels=tuple(msgspec.structs.replace(span, relation="QUALIFIES") for span in taken),
        maker=judge.model,
        prompt_sha256=judge.prompt,
    )
