"""The session that another one goes on from: what its log says, and whether the one that follows says it too.

A session that follows has the log and the seal of the one before in its store. So a replay holds what it says
of it against that log: its head, its key, its question and answer, and every evidence that was carried over.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from vera import events
from vera.attestation.keys import verify_hex
from vera.attestation.report import Remark, Verdict
from vera.attestation.signers import HOW_TO_TRUST, Signers
from vera.sanitize import one_line
from vera.session import LogBroken, Reader
from vera.session.seal import BadSeal, Seal, read_seal
from vera.state import RunState
from vera.store import Store, StoreError

MAX_LOG_BYTES = 64 << 20
"""Of the log of a session that another one goes on from: that one keeps it."""

MAX_SIGNERS = 100
"""Sessions before one another."""

AGREES = "AGREES"

MAX_FOUND = 40
"""Characters of what a log says that a replay found."""

_KEPT = (
    "tier", "source", "text", "lines", "lead", "title", "media_type", "extractor", "raw", "pages", "receipt",
    "http_status", "within", "marks", "dated",
)  # fmt: skip
"""What of an evidence is the same wherever it is carried over to, and when it is read again there."""

_KEPT_FIRST = (*_KEPT, "exit_code", "low_signal", "opened", "shown")
_KEYID = re.compile(r"[0-9a-f]{64}")


class ParentError(Exception):
    """A log that no session can go on from: a sentence that says why."""


class ParentLog(msgspec.Struct, frozen=True, kw_only=True):
    """A log that is whole and ends as its seal says. `state` is its fold, `head` the hash of its last record,
    `keyid` the key that sealed it, '' for none."""

    state: RunState
    head: str
    keyid: str

    @property
    def accepted(self) -> str:
        """What a person accepted of the sessions before it, '' for nothing but unknown signers: those are
        in `signers`."""
        before = self.state.parent
        if before is None or before.found in (AGREES, "UNTRUSTED"):
            return ""
        return one_line(before.found, MAX_FOUND) or "ALTERED"

    @property
    def said(self) -> dict[str, Any]:
        """What a session that follows says of it, by the members of `events.ParentSession`."""
        state = self.state
        before = state.parent
        return {
            "head": self.head,
            "records": state.seq,
            "keyid": self.keyid,
            "signers": (before.keyid, *before.signers) if before else (),
            "question": state.task.task if state.task else "",
            "answer": _answer(state),
            "status": state.ended.status if state.ended else "",
        }


def read_parent(log: Path, seal: bytes | None) -> ParentLog:
    """The log in a file, with the bytes of its seal where it has one. Raises ParentError, OSError."""
    reader, state, sealed = _read(log, seal)
    if reader.torn() or state.ended is None or state.ended.seq != state.seq:
        raise ParentError("It has not ended.")
    if state.parent is not None and len(state.parent.signers) >= MAX_SIGNERS:
        raise ParentError(f"It follows more than {MAX_SIGNERS} sessions.")
    if sealed is not None and (sealed.seq, sealed.hash) != (reader.seq, reader.head):
        raise ParentError("Its seal is not that of its last record.")
    return ParentLog(state=state, head=reader.head, keyid=sealed.keyid if sealed else "")


def _read(log: Path, seal: bytes | None) -> tuple[Reader, RunState, Seal | None]:
    try:
        if log.stat().st_size > MAX_LOG_BYTES:
            raise ParentError(f"Its log is larger than {MAX_LOG_BYTES >> 20} MB.")
        reader = Reader(log)
        state = RunState(record for _, record in reader.poll())
        return reader, state, read_seal(seal, verify_hex) if seal is not None else None
    except LogBroken as broken:
        raise ParentError(str(broken)) from None
    except (ValueError, OverflowError) as error:
        raise ParentError(f"Its log holds something that VERA does not write: {error}.") from None
    except BadSeal as error:
        raise ParentError(f"Its seal cannot be relied on: {error}.") from None


def carried_from(evidence: events.Evidence) -> events.Carried:
    """What says of a carried evidence where it comes from, by its record in the log before."""
    return events.Carried(id=evidence.id, captured_ts=evidence.captured_ts)


def parent_remarks(
    records: Sequence[events.Record], store: Store, sizes: Mapping[str, int], signers: Signers
) -> Iterator[Remark]:
    """What is to be said of the session before, and of what was carried over from it. `sizes` has the plain
    files of the store, which were looked at."""
    named = [each for each in records if isinstance(each, events.ParentSession)]
    carried = [each for each in records if isinstance(each, events.Evidence) and each.carried is not None]
    if not named:
        if carried:
            sentence = "It says that it was carried over, and the log names no session before."
            yield _remark("ALTERED", carried[0].seq, sentence)
        return
    event = named[0]
    if len(named) > 1:
        yield _remark("ALTERED", named[1].seq, "A second session before is named, and there is one at most.")
    parent = _stored(event, store, sizes)
    if isinstance(parent, Remark):
        yield parent
        return
    yield from _said_otherwise(event, parent, carried)
    yield from _accepted(event, parent.state.parent, signers)
    yield from _sealed(event, signers)


def _stored(event: events.ParentSession, store: Store, sizes: Mapping[str, int]) -> ParentLog | Remark:
    """The log of the session before as it lies in the store, or why it cannot be relied on."""
    blobs = [blob for blob in (event.log, event.seal) if blob is not None]
    if any(sizes.get(blob.sha256) != blob.size or blob.size > MAX_LOG_BYTES for blob in blobs):
        return _remark("MISSING", event.seq, "The log or the seal of the session before is not in the store.")
    try:
        return read_parent(store.path(event.log.sha256), store.get(event.seal.sha256) if event.seal else None)
    except (ParentError, StoreError, OSError) as error:
        return _remark("ALTERED", event.seq, f"The session that it goes on from cannot be relied on. {error}")


def _said_otherwise(
    event: events.ParentSession, parent: ParentLog, carried: Sequence[events.Evidence]
) -> Iterator[Remark]:
    """What is said of the session before, or carried over from it, otherwise than its log has it."""
    differing = [name for name, value in parent.said.items() if getattr(event, name) != value]
    if differing:
        said = ", ".join(differing)
        yield _remark("ALTERED", event.seq, f"The log of the session before says something else: {said}.")
    if parent.accepted and event.found != parent.accepted:
        sentence = f"A session before was accepted with {parent.accepted}, and it does not say so."
        yield _remark("ALTERED", event.seq, sentence)
    known = parent.state.evidence
    for each in carried:
        if not _is_same(each, known):
            sentence = f"{each.id} is not what the session before captured, or it was never there."
            yield _remark("ALTERED", each.seq, sentence)


def _accepted(
    event: events.ParentSession, before: events.ParentSession | None, signers: Signers
) -> Iterator[Remark]:
    """That a person accepted a session that did not hold: this one, or the one `before` it."""
    for found in [each.found for each in (event, before) if each is not None and each.found != AGREES]:
        sentence = (
            f"A session before was accepted by a person although its replay found {found[:MAX_FOUND]}: what "
            "it captured is known from them alone."
        )
        is_open = found == "UNTRUSTED" and signers.any_signer
        yield _remark("" if is_open else "UNTRUSTED", event.seq, sentence)


def _sealed(event: events.ParentSession, signers: Signers) -> Iterator[Remark]:
    """Who sealed the sessions before."""
    for keyid in dict.fromkeys((event.keyid, *event.signers)):
        who = f"was sealed {signers.who(keyid)}" if keyid else "is not sealed"
        sentence = f"It goes on from a session that {who}"
        if signers.accepts(keyid) or (not keyid and signers.any_signer):
            yield _remark("", event.seq, f"{sentence}.")
        else:
            hint = f" {HOW_TO_TRUST}" if _KEYID.fullmatch(keyid) else ""
            yield _remark("UNTRUSTED", event.seq, f"{sentence}.{hint}")


def _is_same(each: events.Evidence, known: Mapping[str, events.Evidence]) -> bool:
    """Whether an evidence is the one of the session before that it says."""
    original = known.get(each.carried.id) if each.carried else None
    names = _KEPT_FIRST if each.tool == "kb" else _KEPT
    return (
        original is not None
        and carried_from(original) == each.carried
        and all(getattr(each, name) == getattr(original, name) for name in names)
    )


def _answer(state: RunState) -> events.Text:
    """The answer that the run gave: the chosen one, else the last one."""
    chosen = state.answers.get(state.chosen.answer_seq) if state.chosen else None
    answer = chosen or next(reversed([*state.answers.values()]), None)
    return answer.text if answer else ""


def _remark(verdict: Verdict | Literal[""], line: int, sentence: str) -> Remark:
    return Remark(verdict=verdict, where=f"trace.jsonl line {line}", sentence=sentence)
