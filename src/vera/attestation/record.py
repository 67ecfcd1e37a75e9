"""Everything that a verdict is computed from, as the log and the store have it."""

from collections.abc import Mapping

import msgspec

from vera import events
from vera.attestation.look_up import Looked
from vera.attestation.objects import Exam, Lens, OptionalDigest, Policy, Proposition, VerifyRequest
from vera.attestation.request import Budget
from vera.audit.case import Lookup
from vera.evidence.finding import Finding


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What the session was asked to verify: the request and what it names, its budget, what the look-up did
    until the round began, and the attestation in whose place the new one stands ('' for none)."""

    request: VerifyRequest
    proposition: Proposition
    lens: Lens
    budget: Budget
    looked: Looked
    supersedes: OptionalDigest = ""


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """One round of verification, gathered from a log: the same log gives the same record.

    `texts` holds the canonical texts by sha256 that the answer, the labels and the checks point at;
    `unreadable` the sha256 of those that the store does not have, with the reason. `log` is the number and
    hash of the last record before the verdict; `issued_at` its time, RFC 3339 in UTC. `exams` are those that
    the judges sat up to then, graded again. `plugin_findings` are what checks of plugins said. `asked` is
    None for a session that was asked a question, not to verify a thesis.
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
    probes: tuple[events.VerifierProbe, ...] = ()
    exams: tuple[Exam, ...] = ()
    versions: tuple[events.VersionSeen, ...] = ()
    plugin_findings: tuple[Finding, ...] = ()
    asked: Asked | None = None

    @property
    def request(self) -> VerifyRequest | None:
        """What was asked to be verified, None for nothing."""
        return self.asked.request if self.asked else None
