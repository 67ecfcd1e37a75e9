"""What is said of the members of a container."""

import msgspec

MEMBER_BYTES = 64 << 20
"""The largest member that is read."""

MAX_MEMBERS = 500_000
"""Members of one file of the folder that are looked at, those of containers in it included."""

MAX_RATIO = 200
"""How many times its size a member, or a whole file, may unpack to (beyond 16 MB)."""

FREE_BYTES = 16 << 20


class Step(msgspec.Struct, frozen=True, array_like=True):
    """One step into a container: the member `number` (from 1) of one of this `kind`.

    In the bytes of the container (of a tar, those that it unpacks to) the member stands at `offset` with
    `length` bytes; both are 0 where they are not there as they are (zip, mail). `name` is the name in
    the container, '' for a mail of a mailbox.
    """

    kind: str
    number: int
    offset: int = 0
    length: int = 0
    name: str = ""


Place = tuple[Step, ...]
"""The steps from a file of the folder to a member; none for the mail that a file is."""


def numbers(place: Place) -> tuple[int, ...]:
    """What places are ordered by."""
    return tuple(step.number for step in place)


class Member(msgspec.Struct, frozen=True, array_like=True):
    """A member: its `data`, or the `reason` why it has none.

    `name` is that within the file of the folder (`Mail/All.mbox!/m000012.eml`), '' for the mail that the file
    is. `consumed` is how much of that file had been read.
    """

    place: Place
    name: str
    data: bytes | None
    reason: str = ""
    consumed: int = 0


class Order(msgspec.Struct, frozen=True, array_like=True):
    """What is wanted of a container of this `kind`: its members from `start` on, or that one alone."""

    kind: str
    start: Place = ()
    alone: bool = False


class UnpackerMessage(msgspec.Struct, frozen=True, array_like=True):
    """One message of the unpacker: a `member`, or how far it is, or (`ended`) that this was all.

    Ended with a `reason` when the rest could not be read; `foreign` says that the file is no container of the
    kind that its name promises.
    """

    member: Member | None = None
    consumed: int = 0
    ended: bool = False
    reason: str = ""
    foreign: bool = False
