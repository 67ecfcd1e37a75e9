"""The rounds of verification, each with the answer that it was about."""

from collections.abc import Callable
from itertools import islice

import msgspec

from vera import events
from vera.headline import headline
from vera.report.view.attested import Verdict
from vera.report.view.budgets import LANE
from vera.report.view.claims import audited
from vera.report.view.model import ClaimView, RoundView
from vera.report.view.verdicts import reason_in_words
from vera.report.view.words import Load, cut, one_line, read
from vera.state import Round, RunState

MAX_ROUNDS = 50
"""The newest are shown."""

MAX_FINDINGS = 200
MAX_CAPS = 20
ANSWER_SHOWN = 200_000
_SENTENCE_SHOWN = 600

UNDER_WAY = "UNDER WAY"
"""The result of a round that has no verdict."""


def round_views(
    state: RunState,
    load: Load,
    verdict_of: Callable[[int], Verdict],
    claims_of: Callable[[int], tuple[ClaimView, ...]],
) -> tuple[RoundView, ...]:
    """The rounds in order, their claims without cards. `verdict_of` and `claims_of` give those of a round."""
    numbers = list(state.rounds)[-MAX_ROUNDS:]
    return tuple(_view(state, number, load, verdict_of, claims_of) for number in numbers)


def _view(
    state: RunState,
    number: int,
    load: Load,
    verdict_of: Callable[[int], Verdict],
    claims_of: Callable[[int], tuple[ClaimView, ...]],
) -> RoundView:
    done = state.rounds[number]
    decision, answer = done.decision, state.answers.get(done.started.answer_seq)
    shown = RoundView(
        round=number,
        result=UNDER_WAY,
        reason="",
        score=None,
        answer=cut(read(answer.text, load), ANSWER_SHOWN) if answer else "",
        claims=tuple(msgspec.structs.replace(claim, cards=()) for claim in claims_of(number)),
        findings=_findings(done, load, verdict_of(number)),
        chosen=state.chosen is not None and state.chosen.round == number,
        step=answer.step if answer and answer.lane == LANE else 0,
    )
    return _decided(shown, decision, done.started.rule) if decision else shown


def _decided(shown: RoundView, decision: events.Verifier, rule: str) -> RoundView:
    """The round with its verdict; `rule` says who labelled."""
    return msgspec.structs.replace(
        shown,
        result=one_line(decision.result),
        reason=one_line(reason_in_words(decision.reason)),
        score=decision.score,
        caps=tuple(one_line(cap, _SENTENCE_SHOWN) for cap in decision.caps[:MAX_CAPS]),
        word=headline(decision.result, decision.reason, rule),
    )


def _findings(done: Round, load: Load, verdict: Verdict) -> tuple[str, ...]:
    findings = verdict.findings.findings if verdict.attestation else audited(done, load)
    return tuple(one_line(each.message, _SENTENCE_SHOWN) for each in islice(findings, MAX_FINDINGS))
