"""What a judge is told of the run so far: actions and observations, and none of the words around them."""

from collections.abc import Callable
from typing import Any

from vera.events import Text
from vera.protocol import Parsed
from vera.selection.data import cut
from vera.selection.equal import shown
from vera.selection.selector import PastStep, SelectionContext
from vera.state import LaneState, TailStep

MAX_PART_LENGTH = 1_500
"""Characters of an action or an observation that are kept: its beginning and its end."""

MAX_EVIDENCE = 40
MAX_EVIDENCE_LENGTH = 300

UNREADABLE = "(a turn that broke the format: nothing ran)"

Load = Callable[[Text], str]
Read = Callable[[str, tuple[dict[str, Any], ...]], Parsed]


def scene(lane: LaneState, task: str, load: Load, read: Read, history_steps: int) -> SelectionContext:
    """The scene of the lane's next step: of the steps that it still holds the last `history_steps` (-1: all),
    and its newest evidence.

    `read` parses a turn's content and tool calls. Raises StoreError when a text is missing from the store.
    """
    first = 0 if history_steps < 0 else max(0, len(lane.tail) - history_steps)
    evidence = [line.text for line in lane.notes.lines if line.evidence]
    return SelectionContext(
        task=task,
        step=lane.step + 1,
        steps=tuple(_past(step, load, read) for step in lane.tail[first:]),
        evidence=tuple(" ".join(line.split())[:MAX_EVIDENCE_LENGTH] for line in evidence[-MAX_EVIDENCE:]),
    )


def _past(step: TailStep, load: Load, read: Read) -> PastStep:
    turn, *replies = step.messages
    parsed = read(load(turn.content), turn.tool_calls).turn
    return PastStep(
        step=step.step,
        action=cut(shown(parsed.action), MAX_PART_LENGTH) if parsed else UNREADABLE,
        observation=cut(load(replies[0].content), MAX_PART_LENGTH) if replies else "",
    )
