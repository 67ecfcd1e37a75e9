"""What stands in a journal and is proved: what a session, a gate or a person may rely on."""

from collections.abc import Collection
from datetime import datetime

import msgspec

from vera.attestation.ahdb.entries import AnyEntry, Assert, Retract
from vera.attestation.ahdb.journal import Journal
from vera.attestation.ahdb.proof import Refused, proved
from vera.attestation.ahdb.view import view


class Unproved(msgspec.Struct, frozen=True, kw_only=True):
    """An ASSERT that nothing proves, and why: nobody may rely on it."""

    entry: Assert
    why: str


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """The `entries` that stand at one moment, every ASSERT among them proved again.

    `expired` and `retracted` are as in `view.View`; `torn` as in `journal.Content`.
    """

    entries: tuple[AnyEntry, ...]
    unproved: tuple[Unproved, ...]
    expired: tuple[AnyEntry, ...]
    retracted: tuple[Retract, ...]
    torn: int


def standing(journal: Journal, now: datetime, trust: Collection[str]) -> Standing:
    """What stands at `now`, where the keys of `trust` may have signed. Raises JournalError."""
    content = journal.read()
    seen = view(content.entries, now)
    entries: list[AnyEntry] = []
    unproved: list[Unproved] = []
    for entry in seen.standing:
        if isinstance(entry, Assert):
            try:
                proved(entry, journal.proofs, trust)
            except Refused as error:
                unproved.append(Unproved(entry=entry, why=str(error)))
                continue
        entries.append(entry)
    return Standing(
        entries=tuple(entries),
        unproved=tuple(unproved),
        expired=seen.expired,
        retracted=seen.retracted,
        torn=content.torn,
    )
