"""The last turn of a run that ended because its model broke the form of a turn: what it said is kept."""

import re
from collections.abc import Callable

from vera.events import Text
from vera.report.printable import printable
from vera.state import LaneState

TEXT_SHOWN = 8000
"""Characters of it that are shown, from its beginning; all of it is in the log."""

TITLE = "## The last turn"
SAID = "The model's last turn is not in the form of an answer, and nothing in it was verified:"
IN_SHORT = "The model's last turn is not in the form of an answer, and was not verified: answer.md shows it."


def last_turn(lane: LaneState, load: Callable[[Text], str]) -> str:
    """What the model wrote in its last turn; '' where the lane has an answer, goes on, or kept the form."""
    if lane.ended is None or lane.answer is not None or not lane.parse_errors or not lane.tail:
        return ""
    text = load(lane.tail[-1].messages[0].content).strip()
    left = len(text) - TEXT_SHOWN
    return f"{text[:TEXT_SHOWN]}\n[… {left} more characters are in the log]" if left > 0 else text


def markdown(text: str) -> list[str]:
    """The section of answer.md: the text as a block of code that nothing in it can close."""
    text = printable(text)
    longest = max((len(run) for run in re.findall(r"`{3,8000}", text)), default=2)
    fence = "`" * (longest + 1)
    return [TITLE, SAID, f"{fence}text\n{text}\n{fence}"]
