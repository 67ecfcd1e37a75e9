"""Verifying a report: its sentences were judged as answers to its sub-questions, so what was said of each is
carried over into the round about the whole, and no model reads the same lines for the same words again.

Carried over are the labels of claims with the same words and the same citations, the commands that were run
again, and the claims that tested the judge. Whatever is new in the whole is verified as ever.
"""

from collections.abc import Iterable, Iterator

import msgspec

from vera import events
from vera.attestation.build import case_of
from vera.attestation.gather import gather
from vera.attestation.keys import Signer
from vera.evidence.claim import Cite
from vera.session import Reader, Session
from vera.session.session import TRACE
from vera.verification.context import VerifierContext, lane_of
from vera.verification.exam import examined
from vera.verification.verifier import Say, begin, verify

_Said = tuple[str, tuple[Cite, ...]]


async def verify_whole(
    context: VerifierContext, signer: Signer, rounds: Iterable[int], *, scored: bool, now: Say
) -> events.Verifier:
    """Verify the report that the run's answer is, out of what these `rounds` decided of its parts.

    It is scored by a judge only when `scored`: where something stayed open no score can make it hold.
    """
    context = await examined(context, now)
    session = context.session
    number = begin(context)
    if context.options.rule == "model":
        for record in _carried(session, number, tuple(rounds), scored=scored):
            session.emit(record, lane=lane_of(number))
    return await verify(context, signer, last=True, now=now)


def _carried(
    session: Session, number: int, rounds: tuple[int, ...], *, scored: bool
) -> Iterator[events.Record]:
    """The records for round `number` that it does not have yet."""
    state = session.state
    done = state.rounds[number]
    log = [record for _, record in Reader(session.root / TRACE).poll()]
    keys = {
        (claim.text, claim.cites): claim.key for claim in case_of(gather(log, session.store, number)).claims
    }
    labelled = {each.claim for each in done.labels}
    derived = {each.evidence for each in done.derivations}
    probed = {(each.probe, each.claim, each.evidence, each.first) for each in done.probes}
    for earlier in (state.rounds[each] for each in rounds if state.rounds[each].started.rule == "model"):
        of = case_of(gather(log, session.store, earlier.started.round))
        said: dict[str, _Said] = {claim.key: (claim.text, claim.cites) for claim in of.claims}
        for derivation in earlier.derivations:
            if derivation.evidence not in derived:
                derived.add(derivation.evidence)
                yield msgspec.structs.replace(derivation, round=number)
        for labels in earlier.labels:
            key = keys.get(said.get(labels.claim, ("", ())), "")
            if key and key not in labelled:
                labelled.add(key)
                yield msgspec.structs.replace(labels, round=number, claim=key)
        for probe in earlier.probes:
            mark = (probe.probe, probe.claim, probe.evidence, probe.first)
            if probe.probe and mark not in probed:
                probed.add(mark)
                yield msgspec.structs.replace(probe, round=number)
    if done.questions is None:
        yield events.VerifierQuestions(round=number, questions=())
    if done.score is None and not scored:
        yield events.VerifierScore(round=number, scores=())
