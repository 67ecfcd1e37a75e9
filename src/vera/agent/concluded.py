"""Whether a run that ended on the sources of a negative claim may say that nothing was found in them."""

from vera import events
from vera.evidence.speaks import speaks_of
from vera.session import Session
from vera.store import StoreError

MAX_BYTES = 16 << 20
"""The text of pages that is looked at. Of more it is not known that none of it speaks of the question."""


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
