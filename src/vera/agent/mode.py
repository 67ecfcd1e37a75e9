"""Who acts in a run, settled before its first step: the model, or the host with a model that only writes."""

from collections.abc import Callable
from pathlib import Path

from vera import events
from vera.agent import turn_exam
from vera.agent.lanes import LANE
from vera.agent.research import AGENT
from vera.lane.prompts import Prompts
from vera.model.types import Model
from vera.session import Session
from vera.usage import GUIDED

AUTO = "auto"


async def settle(
    asked: str,
    session: Session,
    model: Model,
    prompts: Prompts,
    system_role: str,
    exams: Path | None,
    now: Callable[[str], None],
) -> None:
    """Log the mode where it is not that of a model that takes turns as ever, or no longer.

    With `auto` a small model sits the turn exam before its first turn; one that cannot finish it in time
    cannot act in time either. What a run was settled on stays when it is resumed.
    """
    known = session.state.mode
    if asked != AUTO:
        if asked != (known.mode if known else AGENT):
            session.emit(events.Mode(mode=asked, reason=f"asked for: --mode {asked}", asked=True), lane="")
        return
    if known is not None or session.state.lane(LANE).started or not turn_exam.is_due(model.info):
        return
    sat = await turn_exam.examined(session, model, prompts, system_role, exams, now)
    if sat.problem == turn_exam.TOO_SLOW:
        why = f"{sat.model} is too slow to take turns: {sat.problem} for {turn_exam.SHEETS} short ones"
    elif sat.problem or sat.passed:
        return
    else:
        why = f"{sat.model} cannot take turns: {sat.right} of {sat.of}"
    session.emit(events.Mode(mode=GUIDED, reason=f"{why}; guided mode"), lane="")
