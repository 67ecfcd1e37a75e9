"""What is in a journal and is proved: what a session, a gate or a person may rely on."""

from collections import defaultdict
from collections.abc import Collection
from datetime import datetime

import msgspec

from vera.attestation.ahdb.entries import AnyEntry, Assert, Retract
from vera.attestation.ahdb.journal import Journal, JournalError, not_trusted
from vera.attestation.ahdb.proof import Refused, proved, refuse_superseded
from vera.attestation.ahdb.view import view


class Unproved(msgspec.Struct, frozen=True, kw_only=True):
    """An ASSERT that nothing proves, and why: no one may rely on it."""

    entry: Assert
    why: str


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """The `entries` that stand at one moment, every ASSERT among them proved again.

    `expired` and `retracted` are as in `view.View`; `torn`, `unsigned` and `keyid` as in `journal.Content`.
    `line` is the first line behind the signed head, 0 for none.
    """

    entries: tuple[AnyEntry, ...]
    unproved: tuple[Unproved, ...]
    expired: tuple[AnyEntry, ...]
    retracted: tuple[Retract, ...]
    torn: int
    unsigned: int
    keyid: str
    line: int


def standing(journal: Journal, now: datetime, trust: Collection[str]) -> Standing:
    """What stands at `now`, where the keys of `trust` may have signed.

    An ASSERT in a place where none of its attestation may stand, behind what replaced or retracted it, is not
    proved. Raises JournalError, also for a head that another key signed.
    """
    content = journal.read()
    if why := not_trusted(content, trust):
        raise JournalError(why)
    seen = view(content.entries, now)
    of_thesis: defaultdict[str, list[AnyEntry]] = defaultdict(list)
    for each in content.entries:
        of_thesis[each.thesis_id].append(each)
    entries: list[AnyEntry] = []
    unproved: list[Unproved] = []
    for entry in seen.standing:
        if isinstance(entry, Assert):
            try:
                before = [each for each in of_thesis[entry.thesis_id] if each.seq < entry.seq]
                refuse_superseded(before, proved(entry, journal.proofs, trust))
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
        unsigned=content.unsigned,
        keyid=content.keyid,
        line=len(content.entries) + 1 if content.unsigned else 0,
    )
