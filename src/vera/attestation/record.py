"""Everything that a verdict is computed from, as the log and the store have it."""

from collections.abc import Mapping

import msgspec

from vera import events
from vera.attestation.objects import Policy
from vera.audit.case import Lookup


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """One round of verification, gathered from a log: the same log gives the same record.

    `texts` holds the canonical texts by sha256 that the answer, the labels and the checks point at;
    `unreadable` the sha256 of those that the store does not have, with the reason. `log` is the number and
    hash of the last record before the verdict; `issued_at` its time, RFC 3339 in UTC.
    """

    task: str
    answer: str
    round: int
    policy: Policy
    evidence: Mapping[str, events.Evidence]
    texts: Mapping[str, bytes]
    unreadable: Mapping[str, str]
    lookups: tuple[Lookup, ...]
    derivations: tuple[events.Derivation, ...]
    checks: tuple[events.VerifierCheck, ...]
    labels: tuple[events.VerifierLabels, ...]
    scores: tuple[events.Score, ...]
    verifier: str
    log: tuple[int, str]
    issued_at: str
    notes: tuple[str, ...] = ()
