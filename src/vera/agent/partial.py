"""What a run without an answer hands over: what is missing, what was noted and found, what was spent."""

from vera.agent import spending
from vera.state import RunState

MOST_LISTED = 30
"""Of the evidence the newest is listed; all of it is in evidence.jsonl."""


def without_answer(state: RunState) -> str:
    """The text of answer.md for a run that has no answer, or not yet. Pure."""
    lane = state.lane("main")
    missing = [f"- {each.text}" for each in lane.history.constraints]
    noted = [f"- {line.text}" for line in lane.notes.lines if not line.evidence]
    found = [f"- {each.id} · {each.summary}" for each in state.evidence.values() if not each.lead]
    older = len(found) - MOST_LISTED
    if older > 0:
        found = [f"- ({older} older ones stand in evidence.jsonl)", *found[-MOST_LISTED:]]
    so_far = "No answer was reached" if lane.ended else "The run has not ended"
    if not noted:
        blocks = [f"{so_far}, and nothing was noted."]
    else:
        blocks = [f"{so_far}. What was noted on the way:", "\n".join(noted)]
    if missing:
        blocks += ["What is missing, beside the answer:", "\n".join(missing)]
    if found:
        blocks += ["What was found, though no answer cites it:", "\n".join(found)]
    return "\n\n".join(filter(None, [*blocks, spending.in_words(state)]))
