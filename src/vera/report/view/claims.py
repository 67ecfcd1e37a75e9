"""The claims of an answer with their verdicts and cards: of a round, of an execution, or of an answer that
no one has verified yet."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice

import msgspec

from vera import events
from vera.attestation.build import claims_of
from vera.attestation.gather import logged_findings
from vera.attestation.objects import (
    Attestation,
    Card,
    ClaimResult,
    Findings,
    ObjectError,
    Policy,
    SubClaim,
    Unread,
    parse,
)
from vera.attestation.reviews import digest_of
from vera.decode_errors import DECODE_ERRORS
from vera.evidence.citation import Citation, find_citations
from vera.evidence.claim import Cite, Claim
from vera.evidence.finding import Finding
from vera.report.view.attested import Verdict
from vera.report.view.cards import MAX_CARDS, Owners, attested_cards, labelled_cards, with_cited
from vera.report.view.current import carried, last_answer, newest_round
from vera.report.view.model import CardView, ClaimView
from vera.report.view.quotations import Quotations
from vera.report.view.verdicts import verdict_on
from vera.report.view.words import Load, counted, one_line, read
from vera.state import Round, RunState
from vera.store import Store, StoreError

MAX_CLAIMS = 500
MAX_FINDINGS = 50
"""Of one claim."""

_CLAIM_SHOWN = 2000
_BELOW = re.compile(r"theses/[0-9]{4,8}")
_SENTENCE_SHOWN = 600


def claims_of_page(
    state: RunState, store: Store, load: Load, number: int, opened: Callable[[str], Verdict]
) -> tuple[ClaimView, ...]:
    """The claims of round `number`; 0 for those of an execution's answer, or of one that no round is about.

    `opened` gives the verdict of an attestation by its id.
    """
    done, answer, executed = state.rounds.get(number), last_answer(state), carried(state)
    if done is None and executed is not None and answer is not None:
        return carried_claims(state, executed, answer, store, load, opened)
    if done is None:
        return _unlooked(state, answer, load)
    if done.decision is not None:
        return decided_claims(state, done, opened(done.decision.attestation), store, load)
    return _under_way(state, done, store, load)


def decided_claims(
    state: RunState, done: Round, verdict: Verdict, store: Store, load: Load
) -> tuple[ClaimView, ...]:
    """The claims of a round as its attestation has them; unchecked ones where that cannot be read."""
    attestation = verdict.attestation
    if attestation is None or verdict.thesis is None:
        why = verdict.problem or "The attestation cannot be read."
        return tuple(
            _bare(claim, why) for claim in _claims(state, state.answers.get(done.started.answer_seq), load)
        )
    owners = Owners.of(verdict.thesis.text, _official(done, store))
    of = _ByClaim(attestation, verdict.findings)
    quotations = Quotations(store)
    cites_of = _cites_of(state, state.answers.get(done.started.answer_seq), load)
    made = []
    for claim in verdict.thesis.sub_claims[:MAX_CLAIMS]:
        cards = verdict.cards.get(claim.key, ())
        shown = attested_cards(cards, verdict.sources, state.evidence, quotations, owners)
        shown = with_cited(shown, cites_of(claim), state.evidence)
        view = of.view(claim, [card for _, card in cards])
        made.append(
            msgspec.structs.replace(view, cards=shown, reason=_more(view.reason, verdict, len(cards)))
        )
    return tuple(made)


def carried_claims(
    state: RunState,
    executed: events.ExecutionVerdict,
    answer: events.Answer,
    store: Store,
    load: Load,
    opened: Callable[[str], Verdict],
) -> tuple[ClaimView, ...]:
    """The claims of an execution's answer: what carries each, with the cards of that attestation's claim.

    The bytes of those sources lie in the session in which the thesis was verified, below this one.
    """
    text = read(answer.text, load)
    held = _Held(state, store, opened)
    made = []
    for each in executed.claims[:MAX_CLAIMS]:
        handle, _, key = each.by.partition(":")
        made.append(
            ClaimView(
                key=one_line(each.claim),
                text=one_line(text[max(0, each.start) : max(0, each.end)], _CLAIM_SHOWN),
                verdict=_verdict_by_what_carries(each),
                reason=held.in_words(each.by, handle) if each.by else one_line(each.reason, _SENTENCE_SHOWN),
                load_bearing=each.load_bearing,
                findings=(one_line(each.reason, _SENTENCE_SHOWN),) if each.by and each.reason else (),
                cards=held.cards(handle, key),
            )
        )
    return tuple(made)


class _ByClaim:
    """What an attestation and its findings say of each claim."""

    def __init__(self, attestation: Attestation, findings: Findings) -> None:
        self._results: Mapping[str, ClaimResult] = {each.claim: each for each in attestation.claims}
        self._findings: defaultdict[str, list[Finding]] = defaultdict(list)
        for finding in findings.findings:
            self._findings[finding.claim].append(finding)
        self._unread: defaultdict[str, list[Unread]] = defaultdict(list)
        for unread in findings.unread:
            self._unread[unread.claim].append(unread)

    def view(self, claim: SubClaim, cards: list[Card]) -> ClaimView:
        findings = self._findings.get(claim.key, [])
        verdict, reason = verdict_on(
            self._results.get(claim.key),
            cards,
            findings,
            self._unread.get(claim.key, []),
            load_bearing=claim.load_bearing,
        )
        return ClaimView(
            key=one_line(claim.key),
            text=one_line(claim.text, _CLAIM_SHOWN),
            verdict=verdict,
            reason=one_line(reason, _SENTENCE_SHOWN),
            load_bearing=claim.load_bearing,
            findings=sentences(findings),
            digest=digest_of(claim.text),
            form=one_line(claim.form),
        )


class _Held:
    """The attestations that an execution received."""

    def __init__(self, state: RunState, store: Store, opened: Callable[[str], Verdict]) -> None:
        self._state = state
        self._store = store
        self._opened = opened

    def in_words(self, by: str, handle: str) -> str:
        """What carries a claim."""
        received = self._state.attestations.get(handle)
        if received is None:
            return "A clean sandbox computed the same value." if by == "computed" else one_line(by)
        until = f", until {received.expires_at}" if received.expires_at else ""
        return one_line(f"Carried by {by}: {received.result}{until}, verified in {received.session}.")

    def cards(self, handle: str, key: str) -> tuple[CardView, ...]:
        received = self._state.attestations.get(handle)
        if received is None:
            return ()
        verdict = self._opened(received.attestation)
        owners = Owners.of(verdict.thesis.text if verdict.thesis else "")
        quotations = Quotations(_store_below(self._store, received.session))
        return attested_cards(verdict.cards.get(key, ()), verdict.sources, {}, quotations, owners)


def _store_below(store: Store, session: str) -> Store:
    """The store of a session below this one, reached over no link; this one for any other path."""
    folder = store.root.parent / session
    if not _BELOW.fullmatch(session) or any(
        each.is_symlink() for each in (folder / "store", folder, folder.parent)
    ):
        return store
    return Store(folder / "store")


def sentences(findings: Iterable[Finding]) -> tuple[str, ...]:
    """What an audit says, a line each."""
    return tuple(one_line(each.message, _SENTENCE_SHOWN) for each in islice(findings, MAX_FINDINGS))


def _more(reason: str, verdict: Verdict, cards: int) -> str:
    """The reason, and what of the cards is not shown."""
    parts = [reason]
    if cards > MAX_CARDS:
        parts.append(f"{cards - MAX_CARDS} more cards are not shown.")
    elif verdict.more_cards:
        parts.append(f"{counted(verdict.more_cards, 'card')} of this attestation could not be opened here.")
    if verdict.problem:
        parts.append(verdict.problem)
    return " ".join(parts)


def _official(done: Round, store: Store) -> tuple[str, ...]:
    """The domains that a person listed as official, by the policy of the round."""
    try:
        return parse(store.get(done.started.policy.sha256), Policy).audit_policy.official_domains
    except (StoreError, ObjectError, OSError):
        return ()


def _under_way(state: RunState, done: Round, store: Store, load: Load) -> tuple[ClaimView, ...]:
    """The claims of a round without a verdict, with what was labelled so far."""
    number = done.started.round
    why = f"Round {number} of verification has not decided yet."
    if state.ended is not None or done is not newest_round(state):
        why = f"Round {number} of verification ended without a verdict."
    labels: defaultdict[str, list[events.VerifierLabels]] = defaultdict(list)
    for each in done.labels:
        labels[each.claim].append(each)
    found: defaultdict[str, list[Finding]] = defaultdict(list)
    for finding in audited(done, load):
        found[finding.claim].append(finding)
    task = read(state.task.task, load) if state.task else ""
    owners, quotations = Owners.of(task, _official(done, store)), Quotations(store)
    answer = state.answers.get(done.started.answer_seq)
    return tuple(
        msgspec.structs.replace(
            _bare(claim, why),
            findings=sentences(found[claim.key]),
            cards=with_cited(
                labelled_cards(labels[claim.key], state.evidence, quotations, owners),
                claim.cites,
                state.evidence,
            ),
        )
        for claim in _claims(state, answer, load)
    )


def audited(done: Round, load: Load) -> tuple[Finding, ...]:
    """What the audit of a round found; nothing where that cannot be read."""
    if done.audit is None:
        return ()
    try:
        return logged_findings(done.audit, lambda text: read(text, load, 16 << 20))
    except DECODE_ERRORS:
        return ()


def _unlooked(state: RunState, answer: events.Answer | None, load: Load) -> tuple[ClaimView, ...]:
    why = "No round of verification has looked at this answer yet."
    return tuple(_bare(claim, why) for claim in _claims(state, answer, load))


def _claims(state: RunState, answer: events.Answer | None, load: Load) -> Iterator[Claim]:
    """The claims of an answer by the rules of the audit."""
    if answer is None:
        return iter(())
    known = (each for each in state.evidence.values() if each.seq < answer.seq)
    return islice(iter(claims_of(read(answer.text, load), known)), MAX_CLAIMS)


def _cites_of(
    state: RunState, answer: events.Answer | None, load: Load
) -> Callable[[SubClaim], Sequence[Cite | Citation]]:
    """What a claim of an attestation cites in its answer. Rules of another version may have cut the answer
    into other claims: then it is what the whole answer cites."""
    known = {(each.key, each.text): each.cites for each in _claims(state, answer, load)}
    everything = find_citations(read(answer.text, load)) if answer else []
    return lambda claim: known.get((claim.key, claim.text), everything)


def _bare(claim: Claim, why: str) -> ClaimView:
    return ClaimView(
        key=claim.key,
        text=one_line(claim.text, _CLAIM_SHOWN),
        verdict="unchecked",
        reason=why,
        load_bearing=claim.load_bearing,
    )


def _verdict_by_what_carries(claim: events.ClaimCarried) -> str:
    if claim.by:
        return "supported"
    if claim.against:
        return "contradicted" if "REFUTED" in claim.reason else "disputed"
    return "unresolved" if claim.load_bearing else "unchecked"
