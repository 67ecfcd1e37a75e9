"""The session that a run goes on from, as its log names it."""

from vera.report.view.model import ParentView
from vera.report.view.words import Load, one_line, read
from vera.state import RunState

QUESTION_SHOWN = 1000
ANSWER_SHOWN = 2000


def parent_view(state: RunState, load: Load) -> ParentView | None:
    """What the run goes on from; None for one that follows no session."""
    parent = state.parent
    if parent is None:
        return None
    carried = [each for each in state.evidence.values() if each.carried is not None and each.tool == "kb"]
    return ParentView(
        question=one_line(read(parent.question, load), QUESTION_SHOWN),
        answer=one_line(read(parent.answer, load), ANSWER_SHOWN),
        status=one_line(parent.status, 40),
        name=one_line(parent.name, 300),
        head=one_line(parent.head, 64),
        keyid=one_line(parent.keyid, 64),
        found=one_line(parent.found, 40),
        carried=len(carried),
        left_out=parent.left_out,
    )


def parent_in_words(parent: ParentView) -> str:
    """The same in two sentences."""
    sealed = f"sealed by key {parent.keyid}" if parent.keyid else "not sealed"
    accepted = f", accepted although its replay found {parent.found}" if parent.found != "AGREES" else ""
    more = f", {parent.left_out} did not" if parent.left_out else ""
    return (
        f"Follows: “{parent.question}” ({parent.name}, {sealed}, record {parent.head[:16]}…{accepted}). Its "
        f"verdict was {parent.status or 'none'}, which does not count here; sources that carried over: "
        f"{parent.carried}{more}."
    )
