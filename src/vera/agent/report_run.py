"""A report: sub-questions answered one after the other, each by its own lane within its share of the
budget, and one text of what holds of their answers.

Each sub-question is a research run in small (`vera.agent.research`): the model takes turns, or writes in
guided mode, or extracts answer. What came of it is one record, so a killed run goes on with the sub-question
that was under way. A program puts the text together (`vera.attestation.composed`); it is verified like any
answer.
"""

import time
from collections.abc import Callable

import msgspec

from vera import events
from vera.agent import messages
from vera.agent.conclusion import Result, choose, conclude
from vera.agent.extracts import by_rule
from vera.agent.lanes import LANE
from vera.agent.research import Research
from vera.agent.stopping import Stopping, heeding
from vera.agent.sub_questions import MAX_QUESTIONS
from vera.attestation.composed import MAX_LENGTH, compose, part_word
from vera.attestation.keys import Signer
from vera.headline import HOLDS, JUDGED, Headline, word_of
from vera.lane.answer import resolve
from vera.lane.budget import Budget, BudgetLimits
from vera.session import Session
from vera.usage import RunUsage
from vera.verification.carried import verify_whole
from vera.verification.context import VerifierContext

Say = Callable[[str], None]

LEFT_OUT = f"not asked: a report has at most {MAX_QUESTIONS} sub-questions of {MAX_LENGTH} characters"
UNCITED = "no page that it names is cited"
STOPPED = "the run was stopped before it was answered"


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """A sub-question that is to be answered: its text, its share of the budget, which counts from what was
    spent `before`, the most steps that its lane may take (0: no limit), and whether the model is asked."""

    question: str
    limits: BudgetLimits
    before: RunUsage
    max_steps: int
    acts: bool


class ReportRun:
    """One report, new or resumed. `open_part` gives the run of a sub-question, `max_steps` are those of all
    lanes together (0: no limit)."""

    def __init__(
        self,
        context: VerifierContext,
        signer: Signer,
        budget: Budget,
        open_part: Callable[[Part], Research],
        *,
        max_steps: int,
        say: Say,
        now: Say,
    ) -> None:
        self._context = context
        self._signer = signer
        self._budget = budget
        self._open = open_part
        self._max_steps = max_steps
        self._say = say
        self._now = now
        self._stopping = Stopping()
        self._lost = ""
        self._spent = ""
        self._part: Research | None = None

    @property
    def _session(self) -> Session:
        return self._context.session

    def stop(self, reason: str, *, at_once: bool = True) -> None:
        """Finish with what is known: the sub-question under way ends as `Research.stop` says, and no further
        one is begun. Of two reasons the first counts."""
        counts = self._stopping.stop(reason)
        if self._part is not None:
            self._part.stop(counts, at_once=at_once)

    async def run(self, clock: Callable[[], float] = time.time) -> Result:
        """Answer what is open, put the text together, and conclude the run.

        Raises LogError, StoreError or OSError when nothing can be written, and TaskTooLong for a sub-question
        that does not fit the model: the session can be resumed.
        """
        self._session.seal(self._signer.seal)
        async with heeding(self._session.root, self.stop):
            while number := self._session.state.part:
                await self._answer(number)
            self._leave_out()
            self._budget.whole()
            decision = await self._whole()
        if decision is not None:
            choose(self._session, decision)
        result = conclude(
            self._session,
            self._signer,
            interrupted=bool(self._stopping.reason),
            spent=self._spent,
            lost=self._lost,
            require=self._context.options.require,
            clock=clock,
        )
        return msgspec.structs.replace(result, lost=self._lost)

    async def _answer(self, number: int) -> None:
        """Answer a sub-question, and log what came of it."""
        session, state = self._session, self._session.state
        asked = state.sub_questions.questions if state.sub_questions else ()
        spent = self._budget.spent_up(state.spent)
        if why := STOPPED if self._stopping.reason else spent:
            self._spent = self._spent or spent
            session.emit(
                events.SubAnswer(number=number, status="UNRESOLVED", reason=why, unfinished=True), lane=""
            )
            return
        left = len(asked) - number + 1 - sum(number < other <= len(asked) for other in state.sub_answers)
        # A judge scores the whole at the end: that is kept for it.
        shares = left + (self._context.options.rule == "model")
        before = state.spent
        question = session.load(asked[number - 1])
        self._say(f"sub-question {number} of {len(asked)}")
        self._part = self._open(
            Part(
                question=question,
                limits=self._budget.share(before, shares),
                before=before,
                max_steps=self._steps(left),
                acts=not self._lost,
            )
        )
        try:
            best = await self._part.answer()
            session.emit(self._came_of(number, self._part, best), lane="")
        finally:
            self._part = None

    def _leave_out(self) -> None:
        """Log that what the sub-questions leave out of the task stays open, unless that is said already."""
        state = self._session.state
        asked = state.sub_questions
        for number in range(len(asked.questions) + 1, len(asked.named) + 1) if asked else ():
            if number not in state.sub_answers:
                self._session.emit(
                    events.SubAnswer(number=number, status="UNRESOLVED", reason=LEFT_OUT), lane=""
                )

    def _steps(self, left: int) -> int:
        """The steps of one of so many sub-questions, at least 1; 0 for no limit."""
        done = self._session.state.steps - self._session.state.lane(self._session.state.acting).step
        return max(1, (self._max_steps - done) // left) if self._max_steps else 0

    def _came_of(self, number: int, part: Research, best: events.Verifier | None) -> events.SubAnswer:
        self._lost = self._lost or part.lost
        status, why = (
            self._word(number, best) if best is not None else ("UNRESOLVED", "no answer was reached")
        )
        is_open = status not in HOLDS
        cut = self._cut_short(part, best) if is_open else ""
        return events.SubAnswer(
            number=number,
            status=status,
            reason="; ".join(filter(None, [why, cut])),
            round=best.round if best else 0,
            answer_seq=best.answer_seq if best else 0,
            unfinished=bool(cut) or (is_open and bool(self._stopping.reason)),
        )

    def _cut_short(self, part: Research, best: events.Verifier | None) -> str:
        """Why a sub-question that stays open ended early, '' where it did not. What it spent counts for the
        run."""
        ended = self._session.state.lane(self._session.state.acting).ended
        steps = ended.detail if ended is not None and ended.reason == "steps" else ""
        spent = part.spent or steps
        self._spent = self._spent or spent
        return self._lost or spent or (STOPPED if self._stopping.reason and not best else "")

    def _word(self, number: int, best: events.Verifier) -> tuple[Headline, str]:
        """The word for a sub-question whose answer this decided, and why."""
        state = self._session.state
        attested = word_of(state.rounds[best.round].word)
        word = part_word(state, self._session.store, number, best.answer_seq, attested)
        return word, UNCITED if word != attested else messages.reason(word, best)

    async def _whole(self) -> events.Verifier | None:
        """The decision on the text; None where the run was stopped meanwhile."""
        session = self._session
        self._put_together()
        done = session.state.sub_answers.values()
        answer = session.state.answer
        for known in session.state.rounds.values():
            if known.decision is not None and answer is not None and known.started.answer_seq == answer.seq:
                return known.decision
        rounds = tuple(each.round for each in done if each.round in session.state.rounds)
        # Without a part that a model judged no call is made for the whole; an entailment judge costs none.
        judged = self._context.options.rule == "entailment" or any(
            session.state.rounds[each].started.rule in JUDGED for each in rounds
        )
        return await self._stopping.unless_stopped(
            verify_whole(
                self._context if judged else by_rule(self._context),
                self._signer,
                rounds,
                scored=all(each.status in HOLDS for each in done),
                now=self._now,
            )
        )

    def _put_together(self) -> None:
        """Log the text of the sub-questions' answers, unless it is there already."""
        session, state = self._session, self._session.state
        made = compose(state, session.store)
        if state.answer is None or session.load(state.answer.text) != made.text:
            session.emit(
                events.Answer(
                    step=state.steps,
                    text=session.text(made.text),
                    citations=resolve(made.text, state.evidence, session.store),
                    by=made.by,
                    headings=made.headings,
                ),
                lane=LANE,
            )
        if state.lane(LANE).ended is None:
            session.emit(events.LaneEnded(reason="answered"), lane=LANE)
