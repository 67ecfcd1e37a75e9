"""The end of a run: its status and why, the answer's page, its last record, the seal."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from vera import events
from vera.agent import messages, spending
from vera.agent.lanes import AGENT, LANE
from vera.agent.stopping import LOST
from vera.attestation.exam import told
from vera.attestation.keys import Signer
from vera.attestation.outcome import withheld_after, withheld_code
from vera.headline import EXIT_CODES, HOLDS, Headline, exit_code, headline, word_of
from vera.report.search_summary import NOTHING_FOUND
from vera.report.trajectory import keep_trajectory
from vera.session import Session, replace_file
from vera.session.session import ANSWER
from vera.state import LaneState, RunState
from vera.store import Store, StoreError
from vera.text.speaks import speaks_of
from vera.usage import GUIDED

if TYPE_CHECKING:
    from vera.report.answer import Report

# What reports on an answer is imported when there is one: the first question is asked without.

MAX_BYTES = 16 << 20
"""The text of pages that is looked at. Of more it is not known that none of it speaks of the question."""


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """What a run came to, ready to be shown. `remarks` say what could not be written beside the log, `lost`
    why the model could not be asked any more, where the run can go on from there."""

    status: str
    reason: str
    exit_code: int
    report: "Report"
    steps: int
    remarks: tuple[str, ...] = ()
    lost: str = ""


def choose(session: Session, best: events.Verifier, of: int = 1) -> None:
    """Log that the answer of this decision is that of the run, the best of so many rounds."""
    session.emit(
        events.AnswerChosen(
            round=best.round,
            answer_seq=best.answer_seq,
            attestation=best.attestation,
            reason=f"{best.result.lower()}, {best.hard} hard findings"
            + (f", the best of {of} rounds" if of > 1 else ""),
        )
    )


def conclude(
    session: Session,
    signer: Signer | None = None,
    *,
    interrupted: bool = False,
    spent: str = "",
    lost: str = "",
    require: str = "quoted",
    clock: Callable[[], float] = time.time,
) -> Result:
    """End the run of a lane that has ended: status, answer, attestation, last record, seal, trajectory.

    `spent` says which budget ended it, '' when none did, and `lost` why the model of a report could not be
    asked any more; `require` what the status must be at least for exit code 0.
    """
    from vera.report.answer import markdown

    status, reason, code = _verdict(session.state, interrupted, spent)
    if lost and status not in HOLDS:
        reason, code = f"{reason}; {lost.rstrip('.')}", 5
    if session.state.chosen is None and nothing_found(session):
        reason = NOTHING_FOUND
    if judged := told(session.state.exams):
        reason = f"{reason}; {judged}"
    if (required := exit_code(status, code, require)) != code:
        reason, code = f"{reason}; {require.upper()} was required", required
    lane = session.state.lane(LANE)
    session.emit(events.Status(step=lane.step, status=status, reason=reason), lane=LANE)
    result = result_of(session.state, session.store, code)
    page = markdown(session.task_text(), result.report)
    replace_file(session.root / ANSWER, page.encode("utf-8", "replace"))
    if chosen := _chosen(session.state):
        replace_file(session.root / "attestation.json", session.store.get(chosen.envelope.sha256))
    session.finish(
        events.RunEnd(
            status=status,
            reason=reason,
            exit_code=code,
            steps=session.state.steps,
            seconds=round(max(0.0, clock() - session.state.started_ts), 3),
        ),
        signer.seal if signer else None,
    )
    problem = keep_trajectory(session.root, spending.spent)
    return msgspec.structs.replace(result, remarks=(problem,) if problem else ())


def result_of(state: RunState, store: Store, exit_code: int = 3) -> Result:
    """The result of a run as its log has it so far.

    Raises StoreError when a part of the answer is missing or altered in the store.
    """
    from vera.report.answer import build

    lane = state.lane(LANE)
    return Result(
        status=state.status,
        reason=lane.status_reason,
        exit_code=state.ended.exit_code if state.ended else exit_code,
        report=build(state, store, without_answer(state)),
        steps=state.steps,
    )


def _chosen(state: RunState) -> events.Verifier | None:
    """The decision on the answer that was chosen."""
    return state.rounds[state.chosen.round].decision if state.chosen else None


def _verdict(state: RunState, interrupted: bool, spent: str = "") -> tuple[str, str, int]:
    """Status, reason and exit code. The status is the word for what an attestation says."""
    lane, decision = state.lane(LANE), _chosen(state)
    if (executed := state.execution) is not None and executed.answer_seq == answer_seq(lane):
        return _executed(executed, lane, interrupted, spent)
    if decision is not None:
        return _decided(state, decision, interrupted, spent)
    if lane.answer is not None and spent:
        return "UNRESOLVED", f"{spent}, and the answer was not verified before", 6
    if lane.answer is not None:
        return "UNRESOLVED", "stopped before the answer was verified", 130
    return "UNRESOLVED", *(_unwritten(state, spent) or _unanswered(lane, spent))


def _decided(
    state: RunState, decision: events.Verifier, interrupted: bool, spent: str
) -> tuple[str, str, int]:
    """The same of a decision on the chosen answer; of extracts also why there is nothing better."""
    lane = state.lane(LANE)
    word = headline(decision.result, decision.reason, state.rounds[decision.round].started.rule)
    why = messages.reason(word, decision)
    if decision.answer_seq == (state.extracts.seq if state.extracts else 0):
        cause, code = _unwritten(state, spent) or _unanswered(lane, spent)
        why = f"{why}; extracts, because {cause}"
        return word, why, EXIT_CODES[word] if word in HOLDS else code
    why = "; ".join(filter(None, [why, still_open(state)]))
    return _ended(word, why, lane, interrupted, spent)


def still_open(state: RunState) -> str:
    """How many sub-questions of a report stayed open, as half a sentence; '' for none."""
    left = sum(each.status not in HOLDS for each in state.sub_answers.values())
    return f"{left} of {len(state.sub_answers)} sub-questions stayed open" if left else ""


def _unwritten(state: RunState, spent: str) -> tuple[str, int] | None:
    """Why the model's own sentences are not the answer of a run in guided mode, and the exit code of that;
    None for another run."""
    if state.mode is None or state.mode.mode == AGENT:
        return None
    if spent:
        return f"{spent}; {state.mode.reason}", 6
    if state.written is not None:
        return f"what the model wrote is not proved as strongly; {state.mode.reason}", 3
    ends = [lane.ended for name, lane in state.lanes.items() if name.startswith(GUIDED) and lane.ended]
    if not ends:
        return f"there were no lines to write from; {state.mode.reason}", 3
    return f"{ends[-1].detail.rstrip('.')}; {state.mode.reason}", 5 if ends[-1].reason == LOST else 3


def _unanswered(lane: LaneState, spent: str) -> tuple[str, int]:
    """Why a lane came to no answer, and the exit code of that."""
    ended = lane.ended
    if ended is None:
        return "no answer was reached: unknown", 3
    match ended.reason:
        case "interrupted":
            return "interrupted before an answer was reached", 130
        case "tokens" | "cost" | "time":
            return f"{spent} and no answer was reached", 6
        case "steps":
            return f"{ended.detail} and no answer was reached", 6
        case "conclusion_ready":
            return ended.detail.partition(". ")[0], 3
        case "answered":
            return "the model's answer cites no line that it read", 6 if spent else 3
        case reason:
            return f"no answer was reached: {ended.detail.rstrip('.')}", 5 if reason == LOST else 3


def _ended(
    word: Headline, reason: str, lane: LaneState, interrupted: bool, spent: str
) -> tuple[str, str, int]:
    """Status, reason and exit code of an answer with a verdict."""
    code = EXIT_CODES[word]
    if word in HOLDS:
        return word, reason, code
    if lane.ended and lane.ended.reason == LOST:
        return word, f"{reason}; {lane.ended.detail.rstrip('.')}", 5
    if interrupted:
        return word, reason, 130
    if code != EXIT_CODES["UNRESOLVED"]:
        return word, reason, code
    if spent:
        return word, f"{reason}; {spent}", 6
    return word, reason, 6 if lane.ended and lane.ended.reason == "steps" else code


def _executed(
    verdict: events.ExecutionVerdict, lane: LaneState, interrupted: bool, spent: str
) -> tuple[str, str, int]:
    """The same of an execution: its answer rests on attestations."""
    return _ended(word_of(verdict.status), verdict.reason, lane, interrupted, spent)


def answer_seq(lane: LaneState) -> int:
    """The record of a lane's last answer; 0 for none."""
    return lane.answer.seq if lane.answer else 0


def nothing_found(session: Session) -> bool:
    """Whether the lane of now ended on its sources, without an answer, and no line of them speaks of the
    question."""
    lane = session.state.lane(session.state.acting)
    ended = isinstance(lane.history.ending, events.PolicyConclusionReady)
    return ended and lane.answer is None and not _may_speak(session)


def _may_speak(session: Session) -> bool:
    """Whether a line that was captured from the web may speak of the question."""
    question = session.state.question
    pages = {
        each.text.sha256: each.text.size
        for each in session.state.evidence.values()
        if each.tier == "captured" and not each.lead and each.receipt is not None
    }
    if question is None or sum(pages.values()) > MAX_BYTES:
        return True
    try:
        texts = (session.store.get(sha256).decode("utf-8", "replace") for sha256 in pages)
        return speaks_of(session.load(question), texts)
    except StoreError:
        return True


def without_answer(state: RunState) -> str:
    """The text of answer.md for a run that has no answer, or not yet; the report adds what is open, what was
    checked and which evidence there is. Pure."""
    lane = state.lane("main")
    noted = [f"- {line.text}" for line in lane.notes.lines if not line.evidence]
    so_far = "No answer was reached" if lane.ended else "The run has not ended"
    if state.extracts is not None:
        so_far = "The model reached no usable answer"
    if not noted:
        blocks = [f"{so_far}, and nothing was noted."]
    else:
        blocks = [f"{so_far}. What was noted on the way:", "\n".join(noted)]
    researched = lane.ended is not None and lane.started is not None and lane.started.purpose == "research"
    if researched and state.extracts is None and not any(map(_can_be_quoted, state.evidence.values())):
        blocks.append("No document was read and no page was captured: there are no lines to show.")
    return "\n\n".join(filter(None, [*blocks, spending.in_words(state)]))


def _can_be_quoted(evidence: events.Evidence) -> bool:
    return evidence.tier == "captured" and not evidence.lead


def relied_on(result: Result, found: str, root: Path) -> Result:
    """The result in the word of `vera show`: withheld where the session goes on from one of which a replay
    `found` that it does not hold. `root` is the session's folder. Raises NoSession, OSError."""
    withheld = withheld_after(found, root)
    if withheld is None:
        return result
    word, why = withheld.word, withheld.reason
    report = msgspec.structs.replace(result.report, status=f"{word}: {why}")
    code = withheld_code(result.exit_code)
    return msgspec.structs.replace(result, status=word, reason=why, exit_code=code, report=report)
