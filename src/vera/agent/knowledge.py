"""What earlier sessions under the same base know: their sources, and which theses these were evidence of.

The index, one file a session under `BASE/.vera/sources/`, only helps to find: before a source is used, the
log of its session and its bytes are held against their hashes and the seal (`vera.agent.past_sessions`).
"""

import contextlib
import hashlib
import os
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Literal

import msgspec

from vera import events
from vera.agent.past_sessions import SEAL, Earlier, Unusable, open_earlier
from vera.agent.verdict_index import write_whole
from vera.agent.work_dir import DEFAULT_FOLDER
from vera.attestation.cards import source_object
from vera.attestation.constraints import refused
from vera.attestation.gather import rfc3339
from vera.attestation.objects import (
    Attestation,
    Card,
    Digest,
    ObjectError,
    VerifyRequest,
    hexadecimal,
    object_id,
    parse,
)
from vera.attestation.source_types import source_type
from vera.attestation.tiers import expired, expires_at
from vera.audit import AuditPolicy, Case, SourceText
from vera.audit.checks.independence import is_web
from vera.audit.checks.time_window import time_window
from vera.decode_errors import DECODE_ERRORS
from vera.evidence.claim import Cite, Claim
from vera.evidence.official import official_names
from vera.evidence.reading import read_regular
from vera.extraction.source import Unreadable
from vera.lane.tools.kb import Kept, NotKept
from vera.sandbox.fetch.receipt import Fetched, Receipt
from vera.state import RunState
from vera.store import StoreError
from vera.text.words import stems
from vera.verification.retriever import Lead

FOLDER = (".vera", "sources")
MAX_SESSIONS = 500
"""Sessions that are looked through, the newest first."""
MAX_SOURCES = 200
"""Of one session."""
MAX_WORDS = 12_000
"""Characters of a source's words that are indexed."""
MAX_INDEX_BYTES = 8 << 20
MAX_SEAL_BYTES = 4096
MAX_TEXT_BYTES = 4 << 20
"""A larger text is not indexed by its words."""

PER_CLAIM = 6
"""Sources by words for one sub-claim."""
SHARE = 0.6
"""Of a sub-claim's content words, what a source must hold to be one of them."""

_TOOLS = frozenset(("fetch", "read"))


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """A source of an earlier session: its id, the record of its evidence, the theses whose cards point at it,
    those of them `against` which it speaks, and the stems of its content words, each once, between spaces."""

    id: Digest
    session: str
    evidence: events.Evidence
    theses: tuple[Digest, ...] = ()
    against: tuple[Digest, ...] = ()
    words: str = ""


class _Indexed(msgspec.Struct, frozen=True, kw_only=True):
    """The file of one session; it holds while `seal` is the sha256 of the session's seal. A file of another
    `version` is made again: version 1 had what was carried over, too."""

    session: str
    seal: str
    version: Literal[2]
    sources: tuple[Known, ...] = ()


class Knowledge:
    """The sources of the sessions under `base` and its `work/` that are sealed by one of the keys `trust`."""

    def __init__(self, base: Path, trust: Collection[str]) -> None:
        self._base = base
        self._trust = frozenset(trust)
        self._opened: dict[str, Earlier | Unusable] = {}
        self.sources: tuple[Known, ...] = tuple(_newest_of_each(self._indexed()))
        self._by_id = {known.id: known for known in self.sources}
        self._by_url: dict[str, Known] = {}
        for known in self.sources:
            if known.evidence.receipt is not None:
                self._by_url.setdefault(known.evidence.source, known)

    def source(self, source: str) -> Kept:
        """The source with this id, its session and its bytes checked. Raises NotKept."""
        known = self._by_id.get(source)
        if known is None:
            raise NotKept("No earlier session under this base folder has this source.")
        try:
            earlier = self._open(known.session)
            evidence = next(
                each for each in _captures(earlier.records) if _id_of(each) == known.id
            )  # the record of the log, not of the index
            return Kept(
                session=known.session,
                evidence=evidence,
                text=earlier.bytes_of(evidence.text.sha256),
                raw=earlier.bytes_of(evidence.raw.sha256) if evidence.raw else None,
                receipt=earlier.bytes_of(evidence.receipt.sha256) if evidence.receipt else None,
                opened=earlier.bytes_of(evidence.opened.sha256) if evidence.opened else None,
            )
        except StopIteration:
            raise NotKept(f"The log of {known.session} does not have this source.") from None
        except (Unusable, StoreError) as why:
            raise NotKept(f"{known.session} is not used. {why}") from None

    def response(self, url: str) -> Fetched | None:
        """The last response of this address, for a conditional request; None where there is none."""
        known = self._by_url.get(url)
        if known is None:
            return None
        try:
            kept = self.source(known.id)
            receipt = msgspec.json.decode(kept.receipt or b"", type=Receipt)
        except (NotKept, *DECODE_ERRORS):
            return None
        body = kept.text if kept.raw is None else kept.raw
        same = hashlib.sha256(body).hexdigest() == receipt.sha256 and receipt.url == url
        return Fetched(receipt=receipt, body=body) if same else None

    def leads(self, request: VerifyRequest, claims: Iterable[str], now_ts: float) -> tuple[Lead, ...]:
        """What is worth looking at for a request before anything is searched, best first.

        Those that cards about the same thesis point at, first what speaks against it; then, where `kb` is in
        the scope, those that share most words with a sub-claim. Only what the constraints let count, and of
        `kb` only what is not older than a verdict on the request could be.
        """
        by_words: list[Known] = []
        if "kb" in request.scope:
            by_words = [known for claim in claims for known in self._about(claim)]
        found: dict[str, Lead] = {}
        carried = sorted(
            (known for known in self.sources if request.thesis in known.theses),
            key=lambda known: request.thesis not in known.against,
        )
        for known in (*carried, *by_words):
            how = self._how(known, request, now_ts)
            if how:
                found.setdefault(
                    known.id,
                    Lead(
                        tool=how,
                        source=known.id,
                        name=known.evidence.source,
                        carried=request.thesis in known.theses,
                    ),
                )
        return tuple(found.values())

    def _about(self, claim: str) -> list[Known]:
        wanted = frozenset(stems(claim))
        if not wanted:
            return []
        shares = [
            (sum(f" {word} " in known.words for word in wanted) / len(wanted), known)
            for known in self.sources
        ]
        best = sorted((each for each in shares if each[0] >= SHARE), key=lambda each: -each[0])
        return [known for _, known in best[:PER_CLAIM]]

    def _how(self, known: Known, request: VerifyRequest, now_ts: float) -> str:
        """The tool by which a source may be taken for a request; '' for none."""
        evidence = known.evidence
        fresh = not expired(expires_at(request, rfc3339(evidence.ts)), rfc3339(now_ts))
        if "kb" in request.scope and fresh:
            tool = "kb"
        elif "web" in request.scope and evidence.receipt is not None:
            tool = "fetch"
        else:
            return ""
        kind = source_type(source_object(evidence, derived=False), official_names(request.text))
        if refused(request, msgspec.structs.replace(evidence, tool=tool), kind):
            return ""
        return "" if self._is_outside(known, request) else tool

    def _is_outside(self, known: Known, request: VerifyRequest) -> bool:
        """Whether it was published outside of the time window of a request."""
        bounds = request.constraints
        if not (bounds.not_before or bounds.not_after):
            return False
        try:
            text = SourceText(self._open(known.session).bytes_of(known.evidence.text.sha256))
        except (Unusable, StoreError):
            return True
        evidence = known.evidence
        case = Case(
            task="",
            answer="",
            claims=(Claim(key="c1", text="", start=0, end=0, cites=(Cite(evidence.id),)),),
            evidence={evidence.id: evidence},
            sources={evidence.text.sha256: text},
            policy=AuditPolicy(not_before=bounds.not_before, not_after=bounds.not_after),
        )
        return any(finding.code == "outside_window" for finding in time_window(case))

    def _open(self, session: str) -> Earlier:
        """The session, read once. Raises Unusable."""
        if session not in self._opened:
            try:
                self._opened[session] = open_earlier(self._base, session, self._trust)
            except Unusable as why:
                self._opened[session] = why
        found = self._opened[session]
        if isinstance(found, Unusable):
            raise found
        return found

    def _indexed(self) -> Iterator[Known]:
        for session, _ in sealed_sessions(self._base):
            try:
                seal = hashlib.sha256(
                    read_regular(self._base, f"{session}/{SEAL}", MAX_SEAL_BYTES)
                ).hexdigest()
            except Unreadable:
                continue
            name = f"{hashlib.sha256(os.fsencode(session)).hexdigest()}.json"
            indexed = _read(self._base, name)
            if indexed is None or (indexed.session, indexed.seal) != (session, seal):
                try:
                    sources = tuple(_sources(self._open(session), session))
                except (Unusable, StoreError, ObjectError, ValueError):
                    continue
                indexed = _Indexed(session=session, seal=seal, version=2, sources=sources)
                _write(self._base, name, indexed)
            yield from indexed.sources


def _newest_of_each(found: Iterable[Known]) -> Iterator[Known]:
    """Of each page the newest capture, and each file's text once, the newest first; the theses are those of
    every session that had it."""
    newest: dict[tuple[str, str], Known] = {}
    for known in sorted(found, key=lambda each: -each.evidence.ts):
        evidence = known.evidence
        key = (evidence.source, "" if evidence.receipt else evidence.text.sha256)
        if (have := newest.get(key)) is not None:
            known = msgspec.structs.replace(
                have,
                theses=tuple(dict.fromkeys((*have.theses, *known.theses))),
                against=tuple(dict.fromkeys((*have.against, *known.against))),
            )
        newest[key] = known
    return iter(newest.values())


def sealed_sessions(base: Path) -> list[tuple[str, float]]:
    """The folders under `base`, and under its `work/`, that hold a sealed session, the newest first, with the
    Unix time at which they were sealed (as the file system has it: a hint)."""
    found = [*_sealed(base, ""), *_sealed(base / DEFAULT_FOLDER, f"{DEFAULT_FOLDER}/")]
    return [(name, sealed) for sealed, name in sorted(found, reverse=True)[:MAX_SESSIONS]]


def _sealed(folder: Path, prefix: str) -> Iterator[tuple[float, str]]:
    """The sealed sessions directly in a folder, by their names behind the prefix."""
    try:
        if not stat.S_ISDIR(folder.lstat().st_mode):
            return
        with os.scandir(folder) as listing:
            for entry in islice(listing, 100 * MAX_SESSIONS):
                if entry.name.startswith(".") or not entry.is_dir(follow_symlinks=False):
                    continue
                try:
                    status = os.lstat(Path(entry.path) / SEAL)
                except OSError:
                    continue
                if stat.S_ISREG(status.st_mode):
                    yield status.st_mtime, f"{prefix}{entry.name}"
    except OSError:
        return


def _sources(earlier: Earlier, session: str) -> Iterator[Known]:
    """What a session captured, each source once. Raises StoreError, ObjectError."""
    thesis, relations = _relations(earlier)
    seen = set[str]()
    for evidence in _captures(earlier.records):
        source = _id_of(evidence)
        if source in seen or len(seen) >= MAX_SOURCES:
            continue
        seen.add(source)
        known = evidence.text.size <= MAX_TEXT_BYTES
        text = earlier.bytes_of(evidence.text.sha256).decode("utf-8", "replace") if known else ""
        yield Known(
            id=source,
            session=session,
            evidence=evidence,
            theses=(thesis,) if source in relations else (),
            against=(thesis,) if relations.get(source, set()) - {"SUPPORTS"} else (),
            words=_spaced(dict.fromkeys(stems(f"{evidence.title}\n{text}"))),
        )


def _captures(records: Iterable[events.Record]) -> Iterator[events.Evidence]:
    """The evidence that the host took itself and that holds text; of several of one source the first. What
    was carried over is known from its own session, by the key that sealed that."""
    for record in records:
        if (
            isinstance(record, events.Evidence)
            and _is_own_capture(record)
            and _has_content(record)
            and (record.receipt is not None or not is_web(record))
        ):
            yield record


def _is_own_capture(evidence: events.Evidence) -> bool:
    """Whether the host took it itself in this session."""
    taken = evidence.tool in _TOOLS and evidence.carried is None
    return taken and evidence.tier == "captured" and not evidence.lead


def _has_content(evidence: events.Evidence) -> bool:
    """Whether it holds the text that was asked for, and no error page."""
    is_answer = 200 <= (evidence.http_status or 200) < 300
    return bool(evidence.lines) and not evidence.low_signal and is_answer


def _id_of(evidence: events.Evidence) -> Digest:
    return object_id(source_object(evidence, derived=False))


def _relations(earlier: Earlier) -> tuple[Digest, Mapping[Digest, set[str]]]:
    """The thesis that a session verified, and what each source says of it by the cards; '' for none."""
    state = RunState(earlier.records)
    decision = state.rounds[state.chosen.round].decision if state.chosen else None
    if decision is None or state.requested is None:
        return "", {}
    attestation = parse(earlier.bytes_of(hexadecimal(decision.attestation)), Attestation)
    found: dict[Digest, set[str]] = {}
    for name in attestation.cards:
        card = parse(earlier.bytes_of(hexadecimal(name)), Card)
        if card.relation != "IRRELEVANT":
            found.setdefault(card.source, set()).add(card.relation)
    return state.requested.thesis_id, found


def _spaced(found: Iterable[str]) -> str:
    text = f" {' '.join(found)} "
    return text if len(text) <= MAX_WORDS else text[: text.rindex(" ", 0, MAX_WORDS) + 1]


def _read(base: Path, name: str) -> _Indexed | None:
    try:
        data = read_regular(base, "/".join((*FOLDER, name)), MAX_INDEX_BYTES)
        return msgspec.json.decode(data, type=_Indexed)
    except (Unreadable, *DECODE_ERRORS):
        return None


def _write(base: Path, name: str, indexed: _Indexed) -> None:
    """Keep it where that can be done; without it the session is read again."""
    with contextlib.suppress(OSError):
        write_whole(base, FOLDER, name, msgspec.json.encode(indexed))
