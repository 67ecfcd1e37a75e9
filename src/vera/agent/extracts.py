"""Extracts in place of an answer: what a run hands over whose model gave no usable one.

The built-in model answers in a lane that begins after the main lane has ended, as in a run without a model:
from the input folder, and from the pages of the web that the run captured. It takes no tokens, its time is
bounded, and its answer is verified by the rule that needs no model.
"""

import asyncio

import msgspec

from vera import events
from vera.agent.lanes import HIGH_TOKENS, LANE, Environment, LaneOptions, make_lane
from vera.agent.stopping import OUT_OF_TIME
from vera.attestation.keys import Signer
from vera.lane.budget import BudgetLimits
from vera.lane.loop import Lane
from vera.lane.prompts import Prompts
from vera.lane.tools.pages import pages_of
from vera.session import Session
from vera.usage import EXTRACTS
from vera.verification.context import VerifierContext

SECONDS = 30.0
"""The lane may take this long, also when the run's time is spent."""

MAX_STEPS = 20
"""More than the built-in model takes."""


class Extracts:
    """Gives the extracts of one run that works at `place`. `stop` ends it at once."""

    def __init__(self, session: Session, task: str, place: Environment, options: LaneOptions) -> None:
        self._session = session
        self._task = task
        self._place = place
        self._options = options
        self._lane: Lane | None = None

    def stop(self, reason: str) -> None:
        """End the lane that is at work, but not where only the time of the run is spent."""
        if self._lane is not None and reason != OUT_OF_TIME:
            self._lane.stop(reason)

    async def answer(self, context: VerifierContext, signer: Signer) -> events.Verifier | None:
        """The decision on the extracts; None where there is nothing to take them from, or no time.

        Extracts that the run gave before count as long as its model has not taken another turn.
        """
        state = self._session.state
        if state.extracts is None:
            await self._extract(context.prompts)
        if state.extracts is None:
            return None
        for done in state.rounds.values():
            if done.decision and done.started.answer_seq == state.extracts.seq:
                return done.decision
        from vera.verification.verifier import verify

        return await verify(by_rule(context), signer, last=True, now=lambda _: None)

    async def _extract(self, prompts: Prompts) -> None:
        lane = self._lane = self._open(prompts)
        if lane is None:
            return
        timer = asyncio.get_running_loop().call_later(SECONDS, lane.stop, "time")
        try:
            await lane.run()
        finally:
            timer.cancel()

    def _open(self, prompts: Prompts) -> Lane | None:
        """The lane, new or gone on with; None where there are neither documents nor captured pages."""
        state = self._session.state
        place = Environment(
            extractor=self._place.extractor,
            box=None,
            corpus=self._place.corpus,
            files=self._place.files,
            pages=pages_of(state),
        )
        if place.corpus is None and not place.pages:
            return None
        from vera.builtin import Extractive

        prefix = EXTRACTS if state.acting == LANE else f"{EXTRACTS}-{state.acting}"
        done = sum(1 for name, lane in state.lanes.items() if name.startswith(f"{prefix}-") and lane.answer)
        options = msgspec.structs.replace(
            self._options,
            max_steps=MAX_STEPS,
            high_tokens=max(HIGH_TOKENS, self._options.high_tokens),
            max_chars=0,
            limits=BudgetLimits(),
        )
        return make_lane(
            self._session,
            self._task,
            Extractive(instead=True),
            place,
            prompts,
            options,
            lane=f"{prefix}-{done + 1}",
            scope=EXTRACTS,
        )


def by_rule(context: VerifierContext) -> VerifierContext:
    """The context under the rule that needs no model."""
    options = msgspec.structs.replace(context.options, rule="literal")
    return msgspec.structs.replace(context, model=None, reader=None, entailment=None, options=options)
