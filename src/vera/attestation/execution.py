"""The verdict on the answer of an execution: of a session that asked and did not search.

A claim is carried by an attestation when it cites one that this session asked for (`[att_0001]`, or the
sub-claim `[att_0001:c2]`), that says SUPPORTED and stands, and of which a sub-claim says the same, word for
word (`vera.attestation.proposition.folded`). A computed value is carried when a round of verification found
it SUPPORTED. Whatever a model thinks of the answer is not asked.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Literal, NamedTuple

import msgspec

from vera import events
from vera.attestation.ahdb.policy import Verified
from vera.attestation.ahdb.proof import Refused, open_verified, reader
from vera.attestation.build import claims_of
from vera.attestation.gather import rfc3339
from vera.attestation.objects import Attestation, Findings, ObjectError, SubClaim, hexadecimal, parse
from vera.attestation.proposition import folded
from vera.attestation.tiers import expired
from vera.audit.claims import split
from vera.evidence.claim import Cite, Claim
from vera.headline import HEADLINES, HOLDS, Headline, weakest, word_of
from vera.session import load_text
from vera.store import Store, StoreError

VERSION = "execution/2"
"""Changes whenever the same log may give another verdict: replay then says RULES_CHANGED."""

COMPUTED = "computed"
NOTHING_STATED = "the answer states nothing that could be verified"

_BRACKET = re.compile(r"[\[【]\s{0,8}(?:att|ev)_[0-9][^\[\]【】]{0,2000}[\]】]")
_UNCHECKED = "Nothing in it can be checked: let it state an attested thesis, or leave it out."
_AGAINST: tuple[Headline, ...] = ("DISPUTED", "REFUTED")
_HANDLE = re.compile(r"att_(?=[0-9]{4,8}(?![0-9]))")
_SUB_CLAIM = re.compile(r"(?<=[:,;\s-])c(?=[0-9])")
_TRANSLATED = re.compile(r"ev_0([0-9]{4,8})")
_MAX_SUB_CLAIMS = 1000
_OF_THE_LOG = ("seq", "ts", "lane", "prev")

Computed = frozenset[tuple[int, int, str]]
"""Claims that a round of verification found SUPPORTED: start, end, text."""


class Held(msgspec.Struct, frozen=True, kw_only=True):
    """An attestation that the session asked for: opened, or why it cannot be relied on."""

    verified: Verified | None = None
    problem: str = ""


def as_evidence(answer: str) -> str:
    """The answer with its attestations cited as evidence is, of the same length: `[att_0001:c2]` becomes
    `[ev_00001:L2]`, which is the id of no evidence. What finds claims and their citations then finds these.
    """

    def rewritten(bracket: re.Match[str]) -> str:
        if "att_" not in bracket[0]:
            return bracket[0]
        return _SUB_CLAIM.sub("L", _HANDLE.sub("ev_0", bracket[0]))

    return _BRACKET.sub(rewritten, answer)


def execution_verdict(
    answer: str, held: Mapping[str, Held], computed: Computed, at: str
) -> tuple[events.ClaimCarried, ...]:
    """What carries each claim of the answer, given at `at` (RFC 3339). Pure."""
    return tuple(_carried(claim, held, computed, at) for claim in split(as_evidence(answer)))


def verdict_of(
    before: Sequence[events.Record], store: Store, answer: events.Answer
) -> events.ExecutionVerdict:
    """The verdict on an answer, from the log up to it and its store: live, and in every replay.

    Raises StoreError when the answer is not whole.
    """
    known = [each for each in before if isinstance(each, events.AttestationReceived)]
    text = load_text(store, answer.text)
    decision = _round(before, answer)
    received = {each.handle: opened(each, store) for each in known if each.seq < answer.seq}
    computed = _computed(before, text, decision, store) if decision else frozenset()
    claims = execution_verdict(text, received, computed, rfc3339(answer.ts))
    return events.ExecutionVerdict(
        answer_seq=answer.seq,
        status=_word(claims),
        reason=_reason(claims),
        claims=claims,
        version=VERSION,
        round=decision.round if decision else 0,
    )


class Executed(msgspec.Struct, frozen=True, kw_only=True):
    """A verdict of the log held against the one that its log gives. `problem` says how they differ, and
    `verdict` is the replay's word for that; `stands`: it holds, and so does the log say."""

    logged: events.ExecutionVerdict
    verdict: Literal["DIFFERS", "RULES_CHANGED", "MISSING"] = "DIFFERS"
    problem: str = ""

    @property
    def stands(self) -> bool:
        return self.logged.status in HOLDS and not self.problem


def executions(records: Sequence[events.Record], store: Store) -> list[Executed]:
    """Every verdict on an execution's answer, computed again from the log before it and its store."""
    found = []
    for index, record in enumerate(records):
        if isinstance(record, events.ExecutionVerdict):
            found.append(_again(record, records[:index], store))
    return found


def _again(logged: events.ExecutionVerdict, before: Sequence[events.Record], store: Store) -> Executed:
    answer = before[logged.answer_seq - 1] if 1 <= logged.answer_seq <= len(before) else None
    if not isinstance(answer, events.Answer):
        return Executed(logged=logged, problem="The verdict is about a record that is no answer.")
    try:
        now = verdict_of(before, store, answer)
    except StoreError as error:
        return Executed(logged=logged, verdict="MISSING", problem=str(error))
    written = msgspec.structs.replace(now, **{name: getattr(logged, name) for name in _OF_THE_LOG})
    if written == logged:
        return Executed(logged=logged)
    problem = f"The log gives {now.status}: {now.reason}; written down is {logged.status}."
    if logged.version != VERSION:
        return Executed(logged=logged, verdict="RULES_CHANGED", problem=problem)
    return Executed(logged=logged, problem=problem)


def opened(received: events.AttestationReceived, store: Store) -> Held:
    """The attestation of a record, with its signature, objects and result held against each other."""
    try:
        verified = open_verified(
            store.get(received.envelope.sha256),
            reader(store),
            trust={received.keyid},
            thesis_id=received.thesis_id,
            request=received.request,
        )
    except Refused as refused:
        return Held(problem=str(refused))
    except (StoreError, OSError):
        return Held(problem="Its envelope is not in the store.")
    if verified.attestation_id != received.attestation or verified.attestation.result != received.result:
        return Held(problem="It is another attestation than the one that was received.")
    if verified.attestation.expires_at != received.expires_at:
        return Held(problem="It expires at another time than was written down.")
    return Held(verified=verified)


def handles_of(claim: Claim) -> list[tuple[str, Cite]]:
    """The attestations that a claim of a rewritten answer cites, by handle."""
    found = ((_TRANSLATED.fullmatch(cite.evidence), cite) for cite in claim.cites)
    return [(f"att_{match[1]}", cite) for match, cite in found if match]


def needs_computing(answer: str) -> bool:
    """Whether a load-bearing claim cites output of a command, and no attestation."""
    claims = (claim for claim in split(as_evidence(answer)) if claim.load_bearing)
    return any(claim.cites and not handles_of(claim) for claim in claims)


def _carried(claim: Claim, held: Mapping[str, Held], computed: Computed, at: str) -> events.ClaimCarried:
    made = partial(
        events.ClaimCarried,
        claim=claim.key,
        start=claim.start,
        end=claim.end,
        load_bearing=claim.load_bearing,
    )
    if (claim.start, claim.end, claim.text) in computed:
        return made(by=COMPUTED, word="VERIFIED")
    reasons = []
    against: list[Headline] = []
    for handle, cite in handles_of(claim):
        found = _by(claim, handle, cite, held.get(handle), at)
        if found.sub_claim:
            return made(by=found.sub_claim, word=found.word)
        reasons.append(found.reason)
        against += [word for word in _AGAINST if word == found.word]
    if not claim.load_bearing:
        return made(reason=_UNCHECKED)
    if not claim.cites:
        reasons.append("It cites no attestation.")
    elif not reasons:
        reasons.append("It cites output, and the verification of what was computed does not support it.")
    return made(reason=reasons[0], against=bool(against), word=max(against, key=HEADLINES.index, default=""))


class _By(NamedTuple):
    """The sub-claim that carries a claim, or why an attestation does not, and the attestation's word."""

    sub_claim: str = ""
    reason: str = ""
    word: Headline | Literal[""] = ""


def _by(claim: Claim, handle: str, cite: Cite, held: Held | None, at: str) -> _By:
    if held is None:
        return _By(reason=f"There is no attestation {handle} in this session.")
    if held.verified is None:
        return _By(reason=f"{handle} cannot be relied on. {held.problem}")
    attestation = held.verified.attestation
    keys = _same_words(claim, cite, held.verified.thesis.sub_claims)
    if not keys:
        words = "state its sub-claim word for word, or verify this sentence"
        return _By(reason=f"{handle} attests other words: {words}.")
    if attestation.result != "SUPPORTED":
        why = f" ({attestation.reason})" if attestation.reason else ""
        return _By(reason=f"{handle} says {attestation.result}{why}.", word=held.verified.word)
    if expired(attestation.expires_at, at):
        return _By(reason=f"{handle} expired at {attestation.expires_at}: verify it again.")
    return _By(sub_claim=f"{handle}:{keys[0]}", word=held.verified.word)


def _same_words(claim: Claim, cite: Cite, sub_claims: Iterable[SubClaim]) -> list[str]:
    """The keys of the cited sub-claims that say the same as a claim, word for word."""
    wanted = folded(claim.text)
    first = cite.first or 1
    last = cite.last or first if cite.first else _MAX_SUB_CLAIMS
    return [
        each.key
        for number, each in enumerate(sub_claims, 1)
        if first <= number <= last and folded(each.text) == wanted
    ]


def _word(claims: Sequence[events.ClaimCarried]) -> Headline:
    """The word of an answer with these claims."""
    against = [word_of(claim.word) for claim in claims if claim.against]
    if against:
        return weakest(against)
    carried = [word_of(claim.word) for claim in claims if claim.by]
    if len(carried) < len(claims) or not carried:
        return "PARTIAL" if carried else "UNRESOLVED"
    return weakest(carried)


def _reason(claims: Sequence[events.ClaimCarried]) -> str:
    bearing = [claim for claim in claims if claim.load_bearing]
    if not bearing:
        return NOTHING_STATED
    attested = sum(bool(claim.by) and claim.by != COMPUTED for claim in bearing)
    computed = sum(claim.by == COMPUTED for claim in bearing)
    if attested + computed < len(claims):
        carried = f"{attested + computed} of {len(claims)} claims"
        speaks = "; an attestation speaks against one" if any(claim.against for claim in claims) else ""
        return f"{carried} are carried by an attestation or computed again{speaks}"
    parts = [f"{attested} by attestation"] * bool(attested) + [f"{computed} computed again"] * bool(computed)
    count = "its claim is" if len(bearing) == 1 else f"all {len(bearing)} claims are"
    return f"{count} carried: {', '.join(parts)}"


def _round(before: Iterable[events.Record], answer: events.Answer) -> events.Verifier | None:
    """The last round of verification on the answer."""
    found = [each for each in before if isinstance(each, events.Verifier) and each.answer_seq == answer.seq]
    return found[-1] if found else None


def _computed(
    before: Sequence[events.Record], answer: str, decision: events.Verifier, store: Store
) -> Computed:
    """The claims that the round found SUPPORTED; none when the answer as a whole is at fault."""
    try:
        attestation = parse(store.get(hexadecimal(decision.attestation)), Attestation)
        findings = parse(store.get(hexadecimal(attestation.findings)), Findings).findings
    except (StoreError, ObjectError, OSError):
        return frozenset()
    if any(finding.severity == "hard" and not finding.claim for finding in findings):
        return frozenset()
    supported = {each.claim for each in attestation.claims if each.result == "SUPPORTED"}
    evidence = [each for each in before if isinstance(each, events.Evidence)]
    claims = claims_of(answer, evidence)
    return frozenset((each.start, each.end, each.text) for each in claims if each.key in supported)
