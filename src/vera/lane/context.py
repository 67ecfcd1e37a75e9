"""The prompt of a step, assembled from a lane's folded state. Same log, same bytes.

The order is fixed: system, primary task, pinned notes, action tail. It moves in epochs: within one, each
prompt is the one before plus appended messages, so a server's prefix cache serves nearly all of it.
"""

from collections.abc import Callable, Sequence

from vera.events import Text, text_size
from vera.history import Constraint
from vera.model.types import Message
from vera.state import LaneState, Notes, TailMessage

Load = Callable[[Text], str]

_WIRE_PER_MESSAGE = 32
"""Bytes of JSON around a message's content."""


def assemble(lane: LaneState, load: Load) -> tuple[Message, ...]:
    """The messages of the lane's next model call.

    Raises ValueError for a lane that was not started.
    """
    if lane.started is None:
        raise ValueError(f"lane {lane.name} was not started")
    system = load(lane.started.system)
    task = load(lane.started.task_message)
    if block := notes_block(lane.epoch_notes, lane.notes_bytes):
        task = f"{task}\n\n{block}"
    if lane.epoch_constraints:
        task = f"{task}\n\n{constraints_block(lane.epoch_constraints)}"
    if lane.epoch_feedback:
        task = f"{task}\n\n{load(lane.epoch_feedback)}"
    if lane.started.system_role == "user":
        head = [Message(role="user", content=f"{system}\n\n{task}")]
    else:
        head = [Message(role=lane.started.system_role, content=system), Message(role="user", content=task)]
    tail = [_message(message, load) for step in lane.tail for message in step.messages]
    return (*head, *tail)


def notes_block(notes: Notes, limit: int) -> str:
    """The pinned notes in at most about `limit` bytes: the newest whole, older ones as counts.

    Empty when nothing was noted.
    """
    keep, size = len(notes.lines), 0
    while keep and size + text_size(notes.lines[keep - 1].text) + 3 <= limit:
        keep -= 1
        size += text_size(notes.lines[keep].text) + 3
    shown = notes.without_first(keep, notes.lines, size)
    if not (shown.lines or shown.folded_notes or shown.folded_first):
        return ""
    lines = ["PINNED notes.md"]
    if shown.folded_first:
        lines.append(f"- (older evidence {shown.folded_first} to {shown.folded_last}: read an id to see it)")
    if shown.folded_notes:
        lines.append(f"- ({shown.folded_notes} older notes: read /work/notes.md)")
    lines += ["- " + line.text.replace("\n", "\n  ") for line in shown.lines]
    return "\n".join(lines)


def constraints_block(constraints: Sequence[Constraint]) -> str:
    """What stood open when the epoch began; what came and went since is in the observations."""
    return "\n".join(["OPEN CONSTRAINTS", *(f"- {each.key}: {each.text}" for each in constraints)])


def epoch_is_over(lane: LaneState) -> bool:
    """Whether the next prompt would be larger than the lane's limit, and no epoch began for it yet."""
    is_new = lane.epoch_step == lane.step + 1
    return not is_new and len(lane.tail) > 1 and estimated_bytes(lane) > lane.high_bytes


def estimated_bytes(lane: LaneState) -> int:
    """About the size of the next prompt on the wire, without assembling it."""
    notes = min(lane.epoch_notes.size + 3 * len(lane.epoch_notes.lines), lane.notes_bytes)
    # Newlines and quotes are escaped on the wire: an eighth covers code and JSON.
    standing = text_size(lane.epoch_feedback) + sum(text_size(each.text) for each in lane.epoch_constraints)
    content = lane.head_bytes + notes + standing + lane.tail_size
    return content + content // 8 + _WIRE_PER_MESSAGE * (3 + 2 * len(lane.tail))


def shared_prefix(before: bytes, after: bytes) -> int:
    """How many bytes at the start of `after` are those of `before` (both from `wire`).

    The closing bracket of the earlier array does not count.
    """
    before = before.removesuffix(b"]")
    if after.startswith(before):
        return len(before)
    low, high = 0, min(len(before), len(after))
    while low < high:
        middle = (low + high + 1) // 2
        if before[:middle] == after[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _shown(text: str, most: int) -> str:
    """A text, or its beginning where at most so many characters of it are shown (0: all)."""
    if not most:
        return text
    if not text.strip():
        return "(no text)"
    return text if len(text) <= most else f"{text[:most]} [… {len(text) - most} characters more]"


def _message(message: TailMessage, load: Load) -> Message:
    return Message(
        role=message.role,
        content=_shown(load(message.content), message.shown),
        tool_calls=list(message.tool_calls) or None,
        tool_call_id=message.tool_call_id or None,
    )
