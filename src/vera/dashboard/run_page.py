"""The page of a session that is looked at once, as its log is now: for commands and for Python."""

from functools import partial
from pathlib import Path

import msgspec

from vera.attestation.outcome import outcome_of
from vera.attestation.signers import known_signers
from vera.dashboard.run_status import is_worked_on
from vera.report.view.fold import ViewFold
from vera.report.view.model import RunPage
from vera.report.view.outcome import with_outcome
from vera.report.view.reviews import log_of, with_reviews
from vera.session import Reader, load_text
from vera.state import RunState
from vera.store import Store


class LookedAt(msgspec.Struct, frozen=True, kw_only=True):
    """A page, the state that it was made from, and the hash of the last record of the log."""

    page: RunPage
    state: RunState
    head: str


def look_at(root: Path) -> LookedAt:
    """The session's page, with what it may say of its end and what people said of its claims.

    Raises NoSession, LogBroken, OSError, TrustError.
    """
    store, state = Store(root / "store"), RunState()
    fold = ViewFold(partial(load_text, store))
    signers = known_signers()
    outcome = outcome_of(root, signers)
    reader = Reader(root / "trace.jsonl")
    for offset, record in reader.poll():
        state.apply(record)
        fold.apply(record, offset)
    alive = is_worked_on(root, root / "trace.jsonl")
    page = fold.page(state, store, session=str(root), alive=alive, now=state.last_ts)
    page = with_outcome(page, outcome)
    page = with_reviews(page, log_of(page, root, reader.head, signers))
    return LookedAt(page=page, state=state, head=reader.head)
