"""A question or a thesis that follows a finished session: that session is replayed, and what it captured
carries over as evidence of the new one.

Its verdicts do not carry over: the new session judges each claim again. What carries over are captures
whose bytes fit their hashes and whose text comes out of its raw bytes again, at most so many, in their
tiers. The new session keeps the log and the seal of the one before, so that anyone can check that they were
there (`vera.attestation.parents`).
"""

import hashlib
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from vera import events
from vera.agent.errors import SetupError
from vera.agent.past_sessions import SEAL, Earlier
from vera.attestation.gather import rfc3339
from vera.attestation.objects import VerifyRequest
from vera.attestation.parents import AGREES, MAX_LOG_BYTES, ParentError, ParentLog, carried_from, read_parent
from vera.attestation.reextract import is_made_again
from vera.attestation.replay import NoSession, replay
from vera.attestation.report import Level
from vera.attestation.signers import Signers, known_signers
from vera.attestation.tiers import expired, expires_at
from vera.evidence.reading import read_regular
from vera.extraction.extractor import Extractor
from vera.extraction.source import Unreadable
from vera.sanitize import one_line
from vera.session import Session
from vera.session.seal import MAX_BYTES as MAX_SEAL_BYTES
from vera.session.session import TRACE
from vera.state import RunState
from vera.store import StoreError
from vera.text.span import Lines
from vera.usage import MAIN

MAX_CAPTURES = 200
MAX_BYTES = 64 << 20
"""What carries over at most: captures, and bytes of all their texts and raw bytes."""

MAX_LINES = 400
"""Lines of a capture that a citation of the whole of it means."""

CLOCK_SKEW_SECONDS = 300
"""How far ahead another clock may be whose captures are used."""

NAME_SHOWN = 200
_CURRENT = frozenset(("AGREES", "NOT_ATTESTED", "RULES_CHANGED", "EXTRACTOR_CHANGED"))
"""What a replay may find of a session that is as it was made, perhaps by an older version."""


class Parent(msgspec.Struct, frozen=True, kw_only=True):
    """A finished session to go on from. `found` is what its replay found: AGREES, or what a person accepted,
    of it or of a session before it.
    `log_sha256` and `seal` are of its files as they were read; `captures` carry over, `left_out` others do
    not."""

    earlier: Earlier
    log: ParentLog
    log_sha256: str
    seal: bytes | None
    name: str
    found: str
    captures: tuple[events.Evidence, ...]
    left_out: int


def open_parent(
    root: Path, *, trust_session: bool = False, signers: Signers | None = None, base: Path | None = None
) -> Parent:
    """Replay a session and take up what it captured.

    With `trust_session` a person accepts one that does not hold, or whose signer is unknown: what holds of
    its captures carries over, and the new session says so. Raises SetupError (exit code 2) when there is no
    finished session, and when it is refused; OSError when it cannot be read.
    """
    doubts = _accepted_doubts(root, signers, trust_session=trust_session)
    is_sealed = not any(level.verdict == "UNSEALED" for level in doubts)
    try:
        seal = read_regular(root, SEAL, MAX_SEAL_BYTES) if is_sealed and (root / SEAL).exists() else None
        log_sha256 = hashlib.sha256(read_regular(root, TRACE, MAX_LOG_BYTES)).hexdigest()
        log = read_parent(root / TRACE, seal)
    except (ParentError, Unreadable) as why:
        sentence = str(why).rstrip(".")
        raise SetupError(f"No question can follow the session in {root}: {sentence}.", 2) from None
    earlier = Earlier(root=root, records=(), keyid=log.keyid)
    captures, left_out = _captures(log.state, earlier)
    return Parent(
        earlier=earlier,
        log=log,
        log_sha256=log_sha256,
        seal=seal,
        name=_name_of(root, base),
        found=log.accepted or (doubts[0].verdict if doubts else AGREES),
        captures=captures,
        left_out=left_out,
    )


def carry(session: Session, parent: Parent, request: VerifyRequest | None = None) -> None:
    """Begin a session with what the one before captured: its bytes, and a record for each evidence. Of a
    `request` only what is not older than a verdict on it could be. Raises SetupError when bytes are gone."""
    earlier, said = parent.earlier, parent.log.said
    try:
        for text in (said["question"], said["answer"]):
            if isinstance(text, events.Blob):
                session.store.put(earlier.bytes_of(text.sha256))
        kept = [each for each in parent.captures if request is None or _stands(each, request)]
        log = read_regular(earlier.root, TRACE, MAX_LOG_BYTES)
        if hashlib.sha256(log).hexdigest() != parent.log_sha256:
            raise StoreError("Its log is another one now.")
        session.emit(
            events.ParentSession(
                name=parent.name,
                found=parent.found,
                log=_blob(session, log),
                seal=None if parent.seal is None else _blob(session, parent.seal),
                left_out=parent.left_out + len(parent.captures) - len(kept),
                **said,
            ),
            lane="",
        )
        for evidence in kept:
            for data in _bytes_of(evidence, earlier):
                session.store.put(data)
            session.emit(_as_carried(evidence, session.state.next_evidence_id()), lane=MAIN)
    except (StoreError, Unreadable) as why:
        raise SetupError(f"The session in {earlier.root} changed while it was read: {why}", 2) from None


def in_words(parent: Parent) -> str:
    """What carries over, in a line."""
    more = f"; {parent.left_out} could not be confirmed, or are too many" if parent.left_out else ""
    accepted = "" if parent.found == AGREES else f" (accepted although its replay found {parent.found})"
    return f"goes on from {parent.name}{accepted}; sources that carry over: {len(parent.captures)}{more}"


def _accepted_doubts(root: Path, signers: Signers | None, *, trust_session: bool) -> list[Level]:
    """The levels of a session's replay that do not hold, in order, accepted by `trust_session`.

    Raises SetupError where there is no session, and where it is refused.
    """
    try:
        _insist_on_size(root)
        report = replay(root, signers or known_signers())
    except NoSession as error:
        raise SetupError(str(error), 2) from None
    doubts = [level for level in report.levels if level.verdict not in _CURRENT]
    if doubts and (doubts[0].verdict == "BROKEN" or not trust_session):
        raise SetupError(_refused(root, doubts[0]), 2)
    return doubts


def _insist_on_size(root: Path) -> None:
    """Raises SetupError for a log that is too large to be kept, before it is read."""
    try:
        status = os.lstat(root / TRACE)
    except FileNotFoundError:
        raise NoSession(f"There is no session in {root} (no {TRACE}).") from None
    if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_LOG_BYTES:
        raise SetupError(
            f"No question can follow the session in {root}: its log is no plain file, or larger than "
            f"{MAX_LOG_BYTES >> 20} MB.",
            2,
        )


def _refused(root: Path, level: Level) -> str:
    """Why a session is refused, and what to do."""
    remark = next((each.sentence for each in level.remarks if each.verdict == level.verdict), level.sentence)
    why = f"The replay of {root} found {level.verdict}: {remark.rstrip('.')}."
    if level.verdict == "BROKEN":
        return f"{why} Nothing in its log can be relied on, so no question can follow it."
    return f"{why} All of it says: vera replay {root}. To go on from it all the same: --trust-session"


def _name_of(root: Path, base: Path | None) -> str:
    """The folder of a session, relative to the base folder where it lies below it."""
    real = root.resolve()
    below = base is not None and real.is_relative_to(base.resolve())
    name = real.relative_to(base.resolve()).as_posix() if below and base is not None else real.name
    return one_line(name, NAME_SHOWN)


def _captures(state: RunState, earlier: Earlier) -> tuple[tuple[events.Evidence, ...], int]:
    """What carries over, in the order of the log, and how many others do not. What the answer cites goes
    first where not all can, then the newest."""
    found = list(_distinct(state))
    cited = {each.evidence for answer in state.answers.values() for each in answer.citations}
    texts = {state.evidence[name].text.sha256 for name in cited if name in state.evidence}
    found.sort(key=lambda each: (each.text.sha256 not in texts, -each.seq))
    kept: list[events.Evidence] = []
    left = MAX_BYTES
    with Extractor() as extractor:
        for evidence in found:
            size = sum(blob.size for blob in _blobs(evidence))
            if len(kept) == MAX_CAPTURES or size > left:
                continue
            left -= size  # also for one that does not hold: the work is bounded
            if _is_confirmed(evidence, earlier, extractor):
                kept.append(evidence)
    return tuple(sorted(kept, key=lambda each: each.seq)), len(found) - len(kept)


def _distinct(state: RunState) -> Iterator[events.Evidence]:
    """Each document once, by its first capture: what is read again by its id has no receipt."""
    seen = set[tuple[str, str, str]]()
    for each in state.evidence.values():
        key = (each.source, each.text.sha256, each.tier)
        has_content = each.lines > 0 and not each.lead and each.tier in ("captured", "observed")
        if has_content and key not in seen:
            seen.add(key)
            yield each


def _is_confirmed(evidence: events.Evidence, earlier: Earlier, extractor: Extractor) -> bool:
    """Whether the bytes of a capture are whole, and its text comes out of its raw bytes again."""
    try:
        text, *rest = _bytes_of(evidence, earlier)
    except StoreError:
        return False
    raw = rest[0] if evidence.raw else text
    return len(Lines(text)) == evidence.lines and is_made_again(evidence, raw, extractor)


def _bytes_of(evidence: events.Evidence, earlier: Earlier) -> list[bytes]:
    """The text, and what it came from. Raises StoreError unless each blob is there and in its size."""
    found = []
    for blob in _blobs(evidence):
        data = earlier.bytes_of(blob.sha256)
        if len(data) != blob.size:
            raise StoreError(f"The log says {blob.size} bytes of blob {blob.sha256}, and it has {len(data)}.")
        found.append(data)
    return found


def _blobs(evidence: events.Evidence) -> list[events.Blob]:
    shown = (evidence.shown.picture, evidence.shown.layout) if evidence.shown else ()
    blobs = (evidence.text, evidence.raw, evidence.receipt, evidence.within, evidence.opened, *shown)
    return [blob for blob in blobs if blob is not None]


def _as_carried(evidence: events.Evidence, name: str) -> events.Evidence:
    """The record of a capture in the session that follows: another id, the same bytes and tier."""
    source = one_line(evidence.source, 120)
    return msgspec.structs.replace(
        evidence,
        id=name,
        call="",
        step=0,
        tool="kb",
        summary=f"{source} · {evidence.lines} lines · {evidence.tier}, from the session before",
        first=1,
        last=min(evidence.lines, MAX_LINES),
        carried=carried_from(evidence),
    )


def _stands(evidence: events.Evidence, request: VerifyRequest) -> bool:
    """Whether a capture is not older than a verdict on the request could be, and not yet to come."""
    now = time.time()
    if evidence.captured_ts > now + CLOCK_SKEW_SECONDS:
        return False
    return not expired(expires_at(request, rfc3339(evidence.captured_ts)), rfc3339(now))


def _blob(session: Session, data: bytes) -> events.Blob:
    return events.Blob(session.store.put(data), len(data))
