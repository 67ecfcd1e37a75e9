"""Research: a lane answers, its answer is verified, and the best verified answer of all rounds is kept."""

import time
from collections.abc import Callable
from typing import Protocol

import msgspec

from vera import events
from vera.agent.conclusion import Result, answer_seq, choose, conclude, nothing_found
from vera.agent.lanes import AGENT
from vera.agent.question import settle_form
from vera.agent.stopping import LOST, Stopping, decide, heeding, within_time
from vera.attestation.keys import Signer
from vera.headline import HEADLINES, HOLDS, word_of
from vera.lane.budget import Budget, BudgetLimits
from vera.lane.loop import Lane
from vera.model.types import ModelError
from vera.state import RunState
from vera.text.speaks import speaks_of
from vera.verification.context import VerifierContext

Say = Callable[[str], None]


def _silent(_: str) -> None:
    """No-op callback."""


class Instead(Protocol):
    """What answers in place of a model that came to no usable answer (`vera.agent.extracts`)."""

    def stop(self, reason: str) -> None:
        """End what is under way; where only the time is spent (OUT_OF_TIME), what takes no model goes on."""
        ...

    async def answer(self, context: VerifierContext, signer: Signer) -> events.Verifier | None:
        """The decision on the answer, None where there was nothing to answer from."""
        ...


class Research:
    """One run: the lane, then rounds of verification, until an answer is verified or no round is left.

    An answer is replaced only by one that is better verified: the best of the rounds wins, not the last.
    Where the lane ends without an answer, `extracts` give one (None: nothing does). Where it is not to act
    (`acts`), because its model cannot be asked any more, they are all that answers.
    """

    def __init__(
        self,
        lane: Lane,
        context: VerifierContext,
        signer: Signer,
        now: Say = _silent,
        budget: Budget | None = None,
        extracts: Instead | None = None,
        *,
        acts: bool = True,
    ) -> None:
        self._lane = lane
        self._acts = acts
        self._context = context
        self._signer = signer
        self._now = now
        self._budget = budget or Budget(BudgetLimits())
        self._extracts = extracts
        self._stopping = Stopping()
        self._lost = ""

    def stop(self, reason: str, *, at_once: bool = True) -> None:
        """Finish with what is known, as soon as what is being waited for could be cancelled; not at once, the
        step that runs is done to its end, and only a verification is cancelled.

        Of two reasons the first counts.
        """
        self._lane.stop(self._stopping.stop(reason), at_once=at_once)
        if self._extracts is not None:
            self._extracts.stop(reason)

    async def run(self, clock: Callable[[], float] = time.time) -> Result:
        """Work to the end of the run and conclude it.

        Raises LogError, StoreError or OSError when nothing can be written, and ModelError when the model that
        answers cannot be reached any more and there are no extracts: the session can be resumed.
        """
        # The model server that was found is sealed, too: what the run begins with is known to be the user's
        # when it is killed and goes on (`attestation.own_log`).
        self._context.session.seal(self._signer.seal)
        async with heeding(self._context.session.root, self.stop):
            best = await self.answer()
        if best is not None:
            decided = sum(each.decision is not None for each in self._context.session.state.rounds.values())
            choose(self._context.session, best, decided)
        result = conclude(
            self._context.session,
            self._signer,
            interrupted=self._stopping.by_person,
            spent=self.spent,
            require=self._context.options.require,
            clock=clock,
        )
        return msgspec.structs.replace(result, lost=self._lost)

    async def answer(self) -> events.Verifier | None:
        """The decision on the best answer to the question of now, None where there is none. Raises as `run`
        does."""
        mode = self._context.session.state.mode
        acts = self._acts and (mode is None or mode.mode == AGENT)
        await settle_form(self._context if acts else msgspec.structs.replace(self._context, model=None))
        left = self._budget.seconds_left(self._context.session.state.spent.seconds)
        with within_time(left, self.stop):
            while acts and await self._answered():
                decision = await decide(
                    self._context, self._signer, self._lane, self._stopping, self._now, last=self._is_last()
                )
                if decision is None or self._is_last() or _is_settled(decision):
                    break
                if not _tell(self._context, decision):
                    break
            await self._extract()
        return self._best()

    @property
    def lost(self) -> str:
        """Why the model could not be asked any more, '' where it could."""
        return self._lost

    @property
    def spent(self) -> str:
        """The budget that ended it, as half a sentence; '' when none did."""
        return self._stopping.spent(self._budget)

    async def _answered(self) -> bool:
        """Whether the lane came to an answer; a model that cannot be asked any more ends it."""
        try:
            return (await self._lane.run()).answer is not None
        except ModelError as error:
            if self._extracts is None:
                raise
            self._lost = str(error)
            self._context.session.emit(events.LaneEnded(reason=LOST, detail=self._lost), lane=self._lane.name)
            return False

    async def _extract(self) -> None:
        """Answer with extracts where the lane came to no usable answer and no conclusion, but not where a
        person ended it."""
        if self._extracts is None or self._stopping.by_person:
            return
        if nothing_found(self._context.session) or self._has_usable_answer():
            return
        await self._extracts.answer(self._context, self._signer)

    def _has_usable_answer(self) -> bool:
        """Whether the lane's last answer cites something that was read, or was not judged; without one,
        whether an earlier answer has fewer hard findings than claims: some of it may hold."""
        state, last = self._context.session.state, self._lane.state.answer
        decided = self._decided()
        if last is None:
            return any(each.hard < each.claims for each in decided)
        judged = [each for each in decided if each.answer_seq == last.seq]
        return not judged or not _cites_nothing(state, judged[-1])

    def _decided(self) -> list[events.Verifier]:
        """The decisions on answers of its lane, in order."""
        state = self._context.session.state
        decisions = (each.decision for each in state.rounds.values() if each.decision)
        return [each for each in decisions if state.answers[each.answer_seq].lane == self._lane.name]

    def _is_last(self) -> bool:
        """Whether no further answer can follow the one of now."""
        rounds, state = self._context.session.state.rounds, self._lane.state
        answers = self._context.session.state.answers
        begun = sum(
            1
            for each in rounds.values()
            if each.started.answer_seq != answer_seq(state)
            and answers[each.started.answer_seq].lane == self._lane.name
        )
        out_of_steps = bool(self._lane.max_steps) and state.step >= self._lane.max_steps
        spent = out_of_steps or self._budget.refusal is not None
        return bool(self._stopping.reason) or spent or begun + 1 >= self._context.options.rounds

    def _goes_before(self, written: events.Verifier, other: events.Verifier) -> bool:
        """Whether what a model wrote in guided mode goes before another answer: it is proved as strongly, and
        where only a rule read it, each of its sentences speaks of the question."""
        session = self._context.session
        question, answer = session.state.question, session.state.written
        if not _is_as_strong(session.state, written, other):
            return False
        if word_of(session.state.rounds[written.round].word) == "VERIFIED":
            return True
        sentences = session.load(answer.text).split("\n\n") if answer else []
        asked = session.load(question) if question is not None else ""
        return all(speaks_of(asked, [sentence]) for sentence in sentences)

    def _best(self) -> events.Verifier | None:
        state = self._context.session.state
        best = min(self._decided(), key=_rank, default=None)
        by_rule = _last_on(state, state.extracts)
        if by_rule and (best is None or by_rule.result == "SUPPORTED" or _cites_nothing(state, best)):
            best = by_rule
        written = _last_on(state, state.written)
        if written and (best is None or self._goes_before(written, best)):
            best = written
        return best


def _last_on(state: RunState, answer: events.Answer | None) -> events.Verifier | None:
    """The last decision on an answer, None for none."""
    decisions = [each.decision for each in state.rounds.values() if each.decision]
    found = [each for each in decisions if answer and each.answer_seq == answer.seq]
    return found[-1] if found else None


def _is_settled(decision: events.Verifier) -> bool:
    """Whether the agent can do nothing more: it is verified, or no reading of the judge could be used."""
    unjudged = decision.reason == "JUDGE_UNRELIABLE" and not decision.hard
    return decision.result == "SUPPORTED" or unjudged


def _cites_nothing(state: RunState, decision: events.Verifier) -> bool:
    """Whether the answer that was judged states something, and cites nothing that had been read by then."""
    answer = state.answers[decision.answer_seq]
    cited = (state.evidence.get(each.evidence) for each in answer.citations)
    read = any(each is not None and each.seq < answer.seq and not each.lead for each in cited)
    return decision.hard > 0 and not decision.supported and not read


def _is_as_strong(state: RunState, written: events.Verifier, other: events.Verifier) -> bool:
    """Whether what a model wrote in guided mode goes before another answer: it holds and is proved as
    strongly, or it is proved more strongly without a hard finding."""
    words = [HEADLINES.index(word_of(state.rounds[each.round].word)) for each in (written, other)]
    holds = state.rounds[written.round].word in HOLDS
    return words[0] <= words[1] if holds else words[0] < words[1] and not written.hard


RESULTS = ("SUPPORTED", "DISPUTED", "INCONCLUSIVE", "UNSUPPORTED")
"""From best to worst, for the choice among rounds."""


def _rank(decision: events.Verifier) -> tuple[int, int, int, int, int]:
    """Fewest hard findings, then result, most claims supported, score, fewest soft; the earlier of equals."""
    return (
        decision.hard,
        RESULTS.index(decision.result),
        decision.claims - decision.supported,
        -(decision.score or 0),
        decision.soft,
    )


def _tell(context: VerifierContext, decision: events.Verifier) -> bool:
    """Whether there was anything to tell."""
    from vera.verification import feedback

    return feedback.tell(context, decision) is not None
