"""The entries of the AHDB journal: five registers, and RETRACT, which takes something out of one.

The register is the member `register` of the JSON line. An entry is in a slot, (register, key): a later
one of the same slot takes its place. `seq`, `ts` and `prev` are given by the journal.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Literal, get_args

import msgspec
from msgspec import Meta

from vera.attestation.objects import (
    Boundary,
    Count,
    Digest,
    Digests,
    Key,
    LongText,
    Name,
    OptionalDigest,
    OptionalTimestamp,
    Part,
    Reason,
    Result,
    Risk,
    Scope,
    bounded,
    canonical,
    digest,
)
from vera.headline import Headline

Register = Literal["ASSERT", "HYPOTHESIZE", "DRIVE", "BELIEVE", "HYPERTHESIS"]
REGISTERS: tuple[Register, ...] = get_args(Register)

SLOT_LIMIT = 300
MAX_TESTS = 5

SlotKey = Annotated[str, Meta(min_length=1, max_length=SLOT_LIMIT)]
Sentence = Annotated[str, Meta(min_length=1, max_length=4000)]
Slot = tuple[Register, str]
Cause = Literal["REFUTED", "DISPUTED", "SUPERSEDED", "DECIDED", "EXPIRED", "PERSON"]
Tier = Literal["low", "med", "high"]

RANK: Mapping[Risk | Literal[""], int] = {"": 0, "low": 0, "med": 1, "high": 2}
"""The tiers in their order. An ASSERT of an older VERA has none and ranks as low."""


class JournalEntry(Part, frozen=True, kw_only=True, tag_field="register"):
    """What every entry has.

    `text` is what it says in one sentence. `actor` is the director, who compiles verifications, or a person.
    `attestation`, issued at `issued_at`, is what the entry was compiled from, '' for a proposal. After
    `expires_at` the entry is not shown; '' is never.
    """

    seq: Count = 0
    ts: OptionalTimestamp = ""
    prev: Annotated[str, Meta(pattern=r"^([0-9a-f]{64})?(?!\n)$", max_length=64)] = ""
    key: SlotKey
    text: Sentence
    actor: Literal["director", "person"] = "director"
    thesis_id: OptionalDigest = ""
    attestation: OptionalDigest = ""
    issued_at: OptionalTimestamp = ""
    expires_at: OptionalTimestamp = ""


class Assert(JournalEntry, frozen=True, kw_only=True, tag="ASSERT"):
    """A thesis that is true within `scope` and `bounds`; its key is the id of the thesis.

    It points at everything that proves it: the signed `envelope` (by the sha256 of its bytes) and the key
    that signed, the `request` it answers, its cards, their set's digest, and the `receipts` of what was
    fetched. `verifier` is who labelled, `admitted_by` the version of the admissibility policy, `risk` the
    tier that it was verified at, and `strength` the word for how strongly it is proved (`vera.headline`);
    both are '' in a journal of an older VERA.
    """

    sets = ("cards", "receipts")

    envelope: Digest
    keyid: Annotated[str, Meta(pattern=r"^[0-9a-f]{64}(?!\n)$", max_length=64)]
    request: Digest
    cards: Digests
    evidence_set: Digest
    receipts: Digests = ()
    verifier: Name
    admitted_by: Key
    scope: Annotated[tuple[Scope, ...], Meta(min_length=1)]
    bounds: Annotated[tuple[LongText, ...], Meta(min_length=1)]
    risk: Risk | Literal[""] = ""
    strength: Headline | Literal[""] = ""


class Hypothesize(JournalEntry, frozen=True, kw_only=True, tag="HYPOTHESIZE"):
    """An open thesis: the `tests` that would decide it, their `budget`, and what promotes it to ASSERT.

    `result` and `reason` are those of the attestation that left it open.
    """

    tests: Annotated[tuple[Sentence, ...], Meta(min_length=1, max_length=MAX_TESTS)]
    budget: Sentence
    promotion: Sentence
    request: OptionalDigest = ""
    result: Result | Literal[""] = ""
    reason: Reason = ""


class Drive(JournalEntry, frozen=True, kw_only=True, tag="DRIVE"):
    """What is wanted: its `priority` (1 is the first), what may be given up for it, and what may not."""

    priority: Annotated[int, Meta(ge=1, le=9)]
    trade_off: Sentence
    red_line: Sentence


class Believe(JournalEntry, frozen=True, kw_only=True, tag="BELIEVE"):
    """What is taken as given: the `prior` it comes from, how firm it is, what would change it, and what it
    allows or rules out."""

    prior: Sentence
    tier: Tier
    trigger: Sentence
    effect: Sentence


class BlindSpot(JournalEntry, frozen=True, kw_only=True, tag="HYPERTHESIS"):
    """What the evidence of an attestation cannot rule out (`vera.attestation.objects.Hyperthesis`) of a
    `thesis` ('' in a journal of an older VERA)."""

    boundary: Boundary
    risk: LongText
    bound: LongText
    detector: Key
    thesis: LongText = ""


class Retract(JournalEntry, frozen=True, kw_only=True, tag="RETRACT"):
    """Nothing stands any longer in the slot (`of`, key); `text` says why. A slot may have been empty: that
    a thesis was REFUTED is known whether or not it was asserted before."""

    of: Register
    cause: Cause


AnyEntry = Assert | Hypothesize | Drive | Believe | BlindSpot | Retract

_REGISTER: dict[type[JournalEntry], Register] = {
    Assert: "ASSERT",
    Hypothesize: "HYPOTHESIZE",
    Drive: "DRIVE",
    Believe: "BELIEVE",
    BlindSpot: "HYPERTHESIS",
}
_ENCODER = msgspec.json.Encoder()
_DECODER: msgspec.json.Decoder[AnyEntry] = msgspec.json.Decoder(AnyEntry)


def encode(entry: AnyEntry) -> bytes:
    """The entry as JSON, members in the order of their declaration."""
    return _ENCODER.encode(entry)


def decode(data: bytes) -> AnyEntry:
    """The entry of these bytes. Raises msgspec.MsgspecError or ValueError for anything else."""
    return _DECODER.decode(data)


def register_of(entry: AnyEntry) -> str:
    """ASSERT, HYPOTHESIZE, DRIVE, BELIEVE, HYPERTHESIS or RETRACT."""
    return "RETRACT" if isinstance(entry, Retract) else _REGISTER[type(entry)]


def slot_of(entry: AnyEntry) -> Slot:
    """The slot that the entry fills or, a RETRACT, empties."""
    return (entry.of if isinstance(entry, Retract) else _REGISTER[type(entry)]), entry.key


def key_of(register: Register, text: str) -> Digest:
    """The key of a proposal that names none: the same words, however they are spaced, are one slot."""
    return digest(canonical({"register": register, "text": sentence(text)}))


def moment(timestamp: str) -> datetime:
    """The time of an RFC 3339 timestamp in UTC. Raises ValueError for a day that is in no calendar."""
    return datetime.fromisoformat(timestamp.replace("Z", "+00:00"))


def sentence(text: str, limit: int = 4000) -> str:
    """`text` on one line, at most `limit` characters."""
    return bounded(" ".join(text.split()), limit)
