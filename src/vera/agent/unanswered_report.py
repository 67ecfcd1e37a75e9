"""What a run without an answer hands over: what was noted, what was spent."""

from vera import events
from vera.agent import spending
from vera.state import RunState


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
