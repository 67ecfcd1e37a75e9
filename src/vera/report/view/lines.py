"""A record of the log on one line: what happened, in plain words."""

from vera import events
from vera.report.view import run_text, tool_text, turn_text, verification_text
from vera.report.view.model import EventLine
from vera.report.view.words import Load, one_line

_TELLERS = (turn_text.tell, tool_text.tell, verification_text.tell, run_text.tell)
_SEARCH_FAILED = ("refused", "failed", "challenge")


def line_of(record: events.Record, offset: int, load: Load) -> EventLine:
    """The record that begins at byte `offset` of its log, as one printable line of bounded length."""
    said = next((words for tell in _TELLERS if (words := tell(record, load))), "")
    step = getattr(record, "step", None)
    return EventLine(
        offset=offset,
        seq=record.seq,
        ts=record.ts,
        lane=one_line(record.lane),
        kind=events.kind(record),
        step=step if isinstance(step, int) else None,
        text=one_line(said) or events.kind(record).replace("_", " "),
        failed=_failed(record),
    )


def _failed(record: events.Record) -> bool:
    """Whether the record says that something went wrong. A verdict that is not VERIFIED is no failure."""
    match record:
        case events.Model():
            return bool(record.error)
        case events.Tool():
            return record.outcome != "ok"
        case events.PolicyParseError() | events.PolicyNotesGuard() | events.Recovered():
            return True
        case events.Policy():
            return record.effect != "nudge"
        case events.Egress():
            return record.verdict != "allowed"
        case events.Search():
            return record.outcome in _SEARCH_FAILED
        case events.Derivation():
            return record.outcome in ("different", "failed")
        case (
            events.Output()
            | events.VerifierVersions()
            | events.VerifierQuestions()
            | events.VerifierScore()
            | events.VerifierLabels()
        ):
            return bool(record.problem)
        case events.ContainerEvent():
            return record.event == "died"
        case events.LaneEnded():
            return record.reason != "answered"
        case _:
            return False
