"""The rounds of a run: which answer is kept, how the run ends, and what a stop in the middle leaves."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.cast import Cast, final, part_of
from support.lanes import INFO, open_lane
from support.verified import ANSWER, open_session
from vera import events
from vera.agent import messages
from vera.agent.conclusion import Result, _verdict
from vera.agent.lanes import Environment
from vera.agent.research import RESULTS, Research, _rank
from vera.attestation.keys import Signer, load_or_create
from vera.config.loading import defaults
from vera.extraction.extractor import Extractor
from vera.headline import headline
from vera.lane.prompts import Prompts
from vera.model.types import Choice, Completion, Request
from vera.runtime.verifier_context import open_verifier_context
from vera.session import Session, check
from vera.state import RunState
from vera.verification.context import VerifierOptions

NO_BLOB = events.Blob("0" * 64, 0)


def decision(
    number: int = 1, result: str = "UNSUPPORTED", reason: str = "", **changed: Any
) -> events.Verifier:
    members = {"claims": 2, "supported": 1, **changed}
    return events.Verifier(
        round=number,
        answer_seq=10 * number,
        result=result,
        reason=reason,
        attestation=f"sha256:{number:064}",
        envelope=NO_BLOB,
        **members,
    )


# Which answer is kept


BETTER_TO_WORSE = [
    decision(result="SUPPORTED", supported=2, score=400),
    decision(result="SUPPORTED", supported=2, score=300),
    decision(result="SUPPORTED", supported=2, score=300, soft=1),
    decision(result="SUPPORTED", supported=2, soft=0),
    decision(result="DISPUTED", supported=2, score=400),
    decision(result="INCONCLUSIVE", supported=2, score=400),
    decision(result="INCONCLUSIVE", supported=1, score=400),
    decision(result="UNSUPPORTED", supported=2, score=400),
    decision(result="UNSUPPORTED", claims=5, supported=3),
    decision(result="INCONCLUSIVE", supported=2, hard=1, score=400),
    decision(result="UNSUPPORTED", supported=0, hard=2),
]


def test_fewest_hard_findings_then_result_then_claims_then_score_then_fewest_hints() -> None:
    ranks = [_rank(each) for each in BETTER_TO_WORSE]
    assert ranks == sorted(ranks)
    assert len(set(ranks)) == len(ranks)


DECISIONS = st.builds(
    decision,
    result=st.sampled_from(RESULTS),
    hard=st.integers(0, 3),
    soft=st.integers(0, 3),
    supported=st.integers(0, 2),
    score=st.sampled_from([None, 100, 250, 400]),
)


@given(st.lists(DECISIONS, min_size=1, max_size=6))
def test_the_best_round_has_no_more_hard_findings_than_any_and_is_the_first_of_its_equals(
    rounds: list[events.Verifier],
) -> None:
    best = min(rounds, key=_rank)
    assert best.hard == min(each.hard for each in rounds)
    assert next(each for each in rounds if _rank(each) == _rank(best)) is best
    rivals = [each for each in rounds if each.hard == best.hard]
    assert RESULTS.index(best.result) == min(RESULTS.index(each.result) for each in rivals)


# How a run ends


def state_of(
    decided: events.Verifier | None, *, ended: str = "answered", answered: bool = True, rule: str = "model"
) -> RunState:
    """The state of a run whose lane has ended, with the decision on its chosen answer.

    One that is not `answered` gave an answer that was taken back, and came to no other.
    """
    log: list[events.Event] = []
    if answered or decided is not None:
        log.append(events.Answer(seq=10, lane="main", step=2, text="So."))
    if decided is not None:
        started = events.VerifierStarted(round=decided.round, answer_seq=10, rule=rule, policy=NO_BLOB)
        log += [started, decided]
        if not answered:
            log.append(events.VerifierToAgent(lane="main", round=decided.round, step=2, content="No."))
    if ended:
        log.append(events.LaneEnded(seq=11, lane="main", reason=ended, detail=f"it was {ended}"))
    if decided is not None:
        log.append(events.AnswerChosen(round=decided.round, answer_seq=10, attestation="", reason=""))
    return RunState(log)


@pytest.mark.parametrize(
    ("result", "reason", "ended", "code"),
    [
        ("SUPPORTED", "", "answered", 0),
        ("SUPPORTED", "", "steps", 0),
        ("DISPUTED", "", "answered", 4),
        ("UNSUPPORTED", "REFUTED", "answered", 4),
        ("UNSUPPORTED", "REFUTED", "steps", 4),
        ("UNSUPPORTED", "NO_EVIDENCE", "answered", 3),
        ("UNSUPPORTED", "PARTIAL", "answered", 3),
        ("INCONCLUSIVE", "JUDGE_UNRELIABLE", "answered", 3),
        ("INCONCLUSIVE", "SCORE", "parse_errors", 3),
        ("UNSUPPORTED", "NO_EVIDENCE", "steps", 6),
        ("INCONCLUSIVE", "SCORE", "steps", 6),
    ],
)
def test_the_exit_code_of_a_verified_run(result: str, reason: str, ended: str, code: int) -> None:
    decided = decision(result=result, reason=reason)
    status, said, exit_code = _verdict(state_of(decided, ended=ended, answered=ended != "steps"), False)
    assert exit_code == code
    assert status == headline(result, reason, "model")
    assert said == messages.reason(headline(result, reason, "model"), decided)


@pytest.mark.parametrize(("result", "reason"), [("UNSUPPORTED", "REFUTED"), ("INCONCLUSIVE", "SCORE")])
def test_an_interrupted_run_that_is_not_verified_ends_with_130(result: str, reason: str) -> None:
    decided, word = decision(result=result, reason=reason), headline(result, reason, "model")
    said = messages.reason(word, decided)
    assert _verdict(state_of(decided, ended="steps"), True) == (word, said, 130)


def test_an_interrupt_takes_nothing_from_an_answer_that_is_verified() -> None:
    assert _verdict(state_of(decision(result="SUPPORTED")), True)[0::2] == ("VERIFIED", 0)


@pytest.mark.parametrize(
    ("answered", "ended", "said", "code"),
    [
        (True, "answered", "stopped before the answer was verified", 130),
        (False, "interrupted", "interrupted before an answer was reached", 130),
        (False, "steps", "it was steps and no answer was reached", 6),
        (False, "parse_errors", "no answer was reached: it was parse_errors", 3),
        (False, "", "no answer was reached: unknown", 3),
    ],
)
def test_without_a_verdict_nothing_is_verified(answered: bool, ended: str, said: str, code: int) -> None:
    assert _verdict(state_of(None, answered=answered, ended=ended), False) == ("UNRESOLVED", said, code)


# In words


@pytest.mark.parametrize(
    ("decided", "rule", "said"),
    [
        (
            decision(result="SUPPORTED", claims=1, supported=1),
            "literal",
            "the cited lines hold the words of its claim; no judge has read them",
        ),
        (
            decision(result="SUPPORTED", claims=3, supported=3),
            "literal",
            "the cited lines hold the words of all 3 claims; no judge has read them",
        ),
        (
            decision(result="SUPPORTED", claims=1, supported=1, score=350),
            "model",
            "a judge read that the cited lines support its claim, score 3.5 of 4",
        ),
        (
            decision(result="SUPPORTED", claims=2, supported=2),
            "model",
            "a judge read that the cited lines support all 2 claims",
        ),
    ],
)
def test_a_verified_answer_in_words(decided: events.Verifier, rule: str, said: str) -> None:
    assert messages.reason(headline(decided.result, decided.reason, rule), decided) == said


@pytest.mark.parametrize(
    ("decided", "said"),
    [
        (decision(reason="REFUTED"), "the cited sources contradict it (1 of 2 claims supported)"),
        (
            decision(reason="NO_EVIDENCE", hard=1),
            "its claims do not rest on cited lines (1 of 2 claims supported); 1 hard finding",
        ),
        (
            decision(reason="FINDINGS", hard=2),
            "the audit found the answer itself at fault (1 of 2 claims supported); 2 hard findings",
        ),
        (
            decision(result="DISPUTED", reason="PARTIAL"),
            "its sources contradict each other (1 of 2 claims supported)",
        ),
        (
            decision(result="INCONCLUSIVE", reason="SCORE", score=275, caps=("a check is unknown",)),
            "every claim rests on cited lines, but the verifier's score is too low "
            "(1 of 2 claims supported); score 2.75 of 4; a check is unknown",
        ),
        (
            decision(result="INCONCLUSIVE", reason="PARTIAL", unchecked=1),
            "only some of its claims rest on cited lines (1 of 3 claims supported)",
        ),
        (decision(reason="NO_EVIDENCE", supported=0), "its claims do not rest on cited lines"),
        (decision(), "nothing supports it (1 of 2 claims supported)"),
    ],
)
def test_an_answer_that_is_not_verified_in_words(decided: events.Verifier, said: str) -> None:
    assert messages.reason(headline(decided.result, decided.reason, "model"), decided) == said


@pytest.mark.parametrize(
    ("hundredths", "said"), [(400, "4"), (350, "3.5"), (275, "2.75"), (100, "1"), (None, "none")]
)
def test_a_score_in_words(hundredths: int | None, said: str) -> None:
    assert messages.points(hundredths) == said


# A whole run, and a stop in the middle of its verification


class CastModel:
    """A cast as a model in this process; a request for the part `hang_at` is never answered."""

    info = INFO

    def __init__(self, cast: Cast, hang_at: str = "") -> None:
        self._cast, self._hang_at = cast, hang_at
        self.hangs = asyncio.Event()

    async def complete(self, request: Request) -> Completion:
        messages = [{"role": each.role, "content": each.content} for each in request.messages]
        if part_of({"messages": messages}) == self._hang_at:
            self.hangs.set()
            await asyncio.Event().wait()
        return Completion(choices=(Choice(content=self._cast(0, {"messages": messages})),))

    async def close(self) -> None:
        """Nothing to close."""


@pytest.fixture(scope="module")
def extractor() -> Iterator[Extractor]:
    with Extractor() as made:
        yield made


@pytest.fixture(scope="module")
def signer() -> Signer:
    return load_or_create()


def research(session: Session, model: CastModel, extractor: Extractor, signer: Signer) -> Research:
    """Rounds over a session whose sources were read already."""
    context = open_verifier_context(
        session=session,
        settings=defaults(),
        place=Environment(extractor=extractor, box=None, corpus=None),
        model=model,
        prompts=Prompts(),
        options=VerifierOptions(rule="model"),
    )
    return Research(open_lane(session, model), context, signer)


def go_on(root: Path, extractor: Extractor, signer: Signer) -> tuple[Result, Cast]:
    """The run in this folder, resumed with a model that answers."""
    cast = Cast([final(ANSWER)])

    async def run() -> Result:
        session = Session.resume(root)
        try:
            return await research(session, CastModel(cast), extractor, signer).run()
        finally:
            session.close()

    return asyncio.run(run()), cast


def stopped(
    root: Path, hang_at: str, extractor: Extractor, signer: Signer, *, finish: bool, cancel: bool
) -> Result | None:
    """Run until the model hangs, then stop; None when the run was cancelled."""

    async def run() -> Result | None:
        session = open_session(root)
        model = CastModel(Cast([final(ANSWER)]), hang_at)
        try:
            at_work = research(session, model, extractor, signer)
            running = asyncio.ensure_future(at_work.run())
            await model.hangs.wait()
            if finish:
                at_work.stop("interrupted")
            if cancel:
                running.cancel()
            return (await asyncio.gather(running, return_exceptions=True))[0]
        finally:
            session.close()

    result = asyncio.run(run())
    return None if isinstance(result, asyncio.CancelledError) else result


@pytest.mark.parametrize("hang_at", ["decompose", "label", "score"])
def test_a_stop_ends_the_run_with_the_answer_and_it_can_be_resumed(
    hang_at: str, tmp_path: Path, extractor: Extractor, signer: Signer
) -> None:
    result = stopped(tmp_path, hang_at, extractor, signer, finish=True, cancel=False)
    assert result is not None
    assert (result.status, result.exit_code) == ("UNRESOLVED", 130)
    assert result.report.text == ANSWER
    assert check(tmp_path).verdict == "SEALED"
    result, cast = go_on(tmp_path, extractor, signer)
    assert (result.status, result.exit_code) == ("VERIFIED", 0)
    assert cast.asked["worker"] == 0


@pytest.mark.parametrize("finish", [True, False], ids=["asked twice", "terminated"])
def test_a_run_that_must_stop_at_once_writes_no_end_and_can_be_resumed(
    finish: bool, tmp_path: Path, extractor: Extractor, signer: Signer
) -> None:
    assert stopped(tmp_path, "label", extractor, signer, finish=finish, cancel=True) is None
    assert not (tmp_path / "answer.md").exists()
    assert check(tmp_path).verdict == "UNSEALED"
    result, cast = go_on(tmp_path, extractor, signer)
    assert (result.status, result.exit_code) == ("VERIFIED", 0)
    assert cast.asked["worker"] == 0


def test_the_chosen_answer_is_the_one_that_is_shown_and_attested(
    tmp_path: Path, extractor: Extractor, signer: Signer
) -> None:
    good, bad = ANSWER, ANSWER.replace("1094", "9999")

    async def run() -> tuple[Result, Session]:
        session = open_session(tmp_path)
        cast = Cast(
            [final(bad), final(good), final(bad)], score=lambda body: '{"score": 2, "instructions": []}'
        )
        try:
            return await research(session, CastModel(cast), extractor, signer).run(), session
        finally:
            session.close()

    result, session = asyncio.run(run())
    state = session.state
    assert state.chosen is not None
    assert [each.decision.hard > 0 for each in state.rounds.values() if each.decision] == [True, False, True]
    assert state.chosen.round == 2
    assert result.exit_code == 3
    assert "9999" not in result.report.text
    assert result.report.attestation == state.chosen.attestation
    decided = state.rounds[2].decision
    assert decided is not None
    attested = (tmp_path / "attestation.json").read_bytes()
    assert attested == session.store.get(decided.envelope.sha256)
