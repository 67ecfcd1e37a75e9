"""The director at work: after each verification of a thesis, what it changes is written into the journal."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from vera.attestation.ahdb.admission import record
from vera.attestation.ahdb.entries import register_of
from vera.attestation.ahdb.journal import TORN, Journal, JournalError
from vera.attestation.ahdb.proof import Refused
from vera.attestation.keys import Signer
from vera.session import Session

SAYS = {
    "ASSERT": "the thesis is asserted",
    "HYPOTHESIZE": "the thesis is kept as an open hypothesis, with tests that would decide it",
    "RETRACT": "the thesis is not asserted, or no longer",
    "HYPERTHESIS": "what could not be ruled out is noted",
}
"""What the last entry of a verification did, for a person."""


def register(session: Session, base: Path, signer: Signer, say: Callable[[str], None]) -> None:
    """Enter the verdict of a session on a thesis into the journal under `base`, and say what that changed.

    A verdict that may not be entered is said and changes nothing: the session holds it all the same.
    """
    state = session.state
    chosen = state.rounds.get(state.chosen.round) if state.chosen else None
    if chosen is None or chosen.decision is None or state.requested is None:
        return
    try:
        appended = record(
            session.store.get(chosen.decision.envelope.sha256),
            session.store,
            Journal(base),
            thesis_id=state.requested.thesis_id,
            request=f"sha256:{state.requested.request.sha256}",
            signer=signer,
            now=datetime.now(UTC),
        )
    except (Refused, JournalError) as error:
        say(f"ahdb: not entered: {error}")
        return
    if appended.unsigned:
        say(f"ahdb: {appended.unsigned} lines that VERA did not sign were moved to .vera/{TORN}")
    if appended.entries:
        say(f"ahdb: {SAYS[register_of(appended.entries[-1])]}; 'vera ahdb show' lists what stands")
