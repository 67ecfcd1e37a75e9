"""What a person may write into the AHDB: hypotheses, drives and beliefs, and the RETRACT of any entry."""

from collections.abc import Collection
from datetime import datetime

from vera.attestation.ahdb.entries import (
    AnyEntry,
    Believe,
    Drive,
    Hypothesize,
    Retract,
    register_of,
    sentence,
    slot_of,
)
from vera.attestation.ahdb.journal import Appended, Journal
from vera.attestation.ahdb.view import fold
from vera.attestation.keys import Signer

Proposal = Hypothesize | Drive | Believe
PROPOSED = ("HYPOTHESIZE", "DRIVE", "BELIEVE")
"""The registers that take a proposal. ASSERT and HYPERTHESIS come from attestations only."""


class NothingThere(ValueError):
    """There is no such entry to retract: a sentence."""


def propose(
    journal: Journal, entry: Proposal, now: datetime, signer: Signer, trust: Collection[str] = ()
) -> Appended:
    """Append a proposal; it takes the place of what is in its slot. `signer` and `trust` are as in
    `Journal.append`. Raises JournalError."""
    return journal.append(lambda _: (entry,), now, signer, trust)


def retract(
    journal: Journal, seq: int, reason: str, now: datetime, signer: Signer, trust: Collection[str] = ()
) -> Appended:
    """Retract entry number `seq`. Raises NothingThere unless it stands, JournalError."""

    def compiled(entries: tuple[AnyEntry, ...]) -> tuple[AnyEntry, ...]:
        if not 1 <= seq <= len(entries):
            raise NothingThere(f"There is no entry {seq}; the journal has {len(entries)}.")
        entry = entries[seq - 1]
        register, key = slot_of(entry)
        newest = fold(entries)[register, key]
        if isinstance(entry, Retract):
            raise NothingThere(f"Entry {seq} is a RETRACT itself, which stays.")
        if newest is not entry:
            later = f"entry {newest.seq} ({register_of(newest)})"
            raise NothingThere(f"Entry {seq} no longer stands: {later} took its place.")
        return (
            Retract(
                key=key,
                of=register,
                cause="PERSON",
                text=sentence(reason),
                actor="person",
                thesis_id=entry.thesis_id,
            ),
        )

    return journal.append(compiled, now, signer, trust)
