"""An entailment judge at work in a round: the labels of each claim, and the probes (`vera.entailment`)."""

import asyncio
from collections.abc import Callable

from vera import events
from vera.attestation.entailed import MAX_READ, label_claim, settings_sha256, unread
from vera.attestation.probed import expected
from vera.audit.case import Case, place_of
from vera.audit.labels import EXTRACT_RULE
from vera.entailment.values import EntailmentError, PairReader, relation
from vera.evidence.prompt_quoting import MAX_LINE_LENGTH
from vera.verification.context import VerifierContext, lane_of
from vera.verification.probes import NO_PROBE, Probe, probes_of

Say = Callable[[str], None]

BEYOND = f"beyond the budget of {MAX_READ} claims that a judge reads"


async def label_entailed(context: VerifierContext, number: int, case: Case, now: Say) -> None:
    """Label the claims of round `number` that count for the verdict, probe the judge, and log that; what is
    logged already is left."""
    assert context.entailment is not None
    reader = await asyncio.to_thread(context.entailment)
    session = context.session
    makers = (reader.name, EXTRACT_RULE)
    done = {each.claim for each in session.state.rounds[number].labels if each.maker in makers}
    forms = ("statement",) if context.options.rule == "literal" else ("statement", "extract")
    todo = [claim for claim in case.claims if claim.load_bearing and claim.form in forms]
    beyond = [claim.key for claim in todo if claim.form == "statement"][MAX_READ:]
    for position, claim in enumerate(todo, 1):
        if claim.key in done:
            continue
        now(f"verifying, round {number}: what the cited lines say, claim {position} of {len(todo)}")
        if claim.key in beyond:
            labels = unread(claim, number, reader, BEYOND)
        else:
            labels = await asyncio.to_thread(label_claim, case, claim, number, reader)
        session.emit(labels, lane=lane_of(number))
    await _probe(context, number, case, reader)


async def _probe(context: VerifierContext, number: int, case: Case, reader: PairReader) -> None:
    """Have claims read whose labels are known, and log that."""
    session = context.session
    logged = session.state.rounds[number].probes
    done = {(each.probe, each.claim, each.evidence, each.first) for each in logged}
    made = probes_of(case, MAX_LINE_LENGTH)
    if not made and not logged:
        session.emit(events.VerifierProbe(round=number, problem=NO_PROBE), lane=lane_of(number))
    for each in made:
        if (each.kind, each.claim, each.cite.evidence, each.cite.first) not in done:
            record = await asyncio.to_thread(_probed, case, each, number, reader)
            session.emit(record, lane=lane_of(number))


def _probed(case: Case, made: Probe, number: int, reader: PairReader) -> events.VerifierProbe:
    said, problem, place = "", "", place_of(case, made.cite)
    try:
        if place is not None:
            said = relation(reader.read([place.plain.span.text], made.claim)[0])
    except EntailmentError as error:
        problem = str(error)
    return events.VerifierProbe(
        round=number,
        probe=made.kind,
        claim=made.claim,
        evidence=made.cite.evidence,
        first=made.cite.first or 0,
        last=made.cite.last or 0,
        expected=expected(made.kind),
        said=said,
        maker=reader.name,
        prompt_sha256=settings_sha256(reader.about),
        problem=problem,
    )
