"""What stands: the fold of the journal's entries. Pure; the time is given."""

from collections.abc import Iterable
from datetime import datetime

import msgspec

from vera.attestation.ahdb.entries import AnyEntry, Retract, Slot, moment, slot_of


class View(msgspec.Struct, frozen=True, kw_only=True):
    """The newest entry of each slot, in the order of the journal, as it is at one moment.

    `standing` is what holds; `expired` what nothing has replaced since it expired; `retracted` the RETRACTs
    of the slots that are empty.
    """

    standing: tuple[AnyEntry, ...]
    expired: tuple[AnyEntry, ...]
    retracted: tuple[Retract, ...]


def fold(entries: Iterable[AnyEntry]) -> dict[Slot, AnyEntry]:
    """The newest entry of each slot, RETRACTs among them."""
    newest: dict[Slot, AnyEntry] = {}
    for entry in entries:
        slot = slot_of(entry)
        newest.pop(slot, None)
        newest[slot] = entry
    return newest


def view(entries: Iterable[AnyEntry], now: datetime) -> View:
    """What stands at `now` (which has a time zone), given the journal's entries in their order.

    What was superseded never comes back, not even when its successor expires or is retracted.
    """
    standing: list[AnyEntry] = []
    expired: list[AnyEntry] = []
    retracted: list[Retract] = []
    for entry in fold(entries).values():
        if isinstance(entry, Retract):
            retracted.append(entry)
        elif has_expired(entry.expires_at, now):
            expired.append(entry)
        else:
            standing.append(entry)
    return View(standing=tuple(standing), expired=tuple(expired), retracted=tuple(retracted))


def has_expired(expires_at: str, now: datetime) -> bool:
    """Whether this time has come; '' never does. A time that cannot be read has."""
    if not expires_at:
        return False
    try:
        return moment(expires_at) <= now
    except ValueError:
        return True
