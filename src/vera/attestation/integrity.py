"""Level 0 of a replay: every hash, link of the chain, seal and signature of a session."""

import hashlib
import os
import re
import stat
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from vera import events
from vera.attestation.dsse import MAX_BYTES, EnvelopeError
from vera.attestation.envelope import Opened, objects_of, open_envelope, payload_of
from vera.attestation.keys import verify_hex
from vera.attestation.objects import AnyObject, Digest, ObjectError, hexadecimal, object_id
from vera.attestation.parents import parent_remarks
from vera.attestation.report import Attested, Level, Remark, Verdict, counted, level, listed
from vera.attestation.signers import HOW_TO_TRUST, Signers
from vera.session import Integrity, check, load_text
from vera.session.projections import all_projections
from vera.session.seal import Seal
from vera.session.session import ANSWER
from vera.store import Store, StoreError

ATTESTATION = "attestation.json"
_FILES = ("trace.jsonl", "seal.json", ATTESTATION)
COVERED = (ANSWER, "notes.md", "evidence.jsonl", "move_ledger.jsonl", "query_ledger.jsonl")
"""Files beside the log that the seal of a run's end covers."""
_BLOB = re.compile(r"[0-9a-f]{64}")
_CHUNK = 1 << 20
_UNFINISHED = ".new-"


class NoSession(Exception):
    """There is nothing to replay: a sentence that says where was looked."""


class Round(msgspec.Struct, frozen=True, kw_only=True):
    """A verdict as the log has it, its envelope, and all that it names.

    `opened` is None when the envelope cannot be relied on, `objects` also when one of them is missing.
    """

    event: events.Verifier
    opened: Opened | None = None
    objects: dict[Digest, AnyObject] | None = None


class Received(msgspec.Struct, frozen=True, kw_only=True):
    """An attestation that an execution received, and the ids of all that it names; None when one is missing
    or not whole."""

    event: events.AttestationReceived
    objects: frozenset[Digest] | None = None


class Loaded(msgspec.Struct, frozen=True, kw_only=True):
    """A session that was read whole, as far as it holds. `seal` is None where there is none to rely on."""

    records: tuple[events.Record, ...]
    store: Store
    rounds: tuple[Round, ...]
    chosen: Round | None
    received: tuple[Received, ...] = ()
    seal: Seal | None = None

    @property
    def ended(self) -> events.RunEnd | None:
        """The record that ends the run, when it is the last one."""
        last = self.records[-1] if self.records else None
        return last if isinstance(last, events.RunEnd) else None

    @property
    def is_sealed(self) -> bool:
        """Whether a signed seal holds the last record."""
        return self.seal is not None and bool(self.seal.keyid) and self.seal.seq == len(self.records)


def check_integrity(root: Path, signers: Signers) -> tuple[Level, Loaded]:
    """Level 0 of a session, signed by whom `signers` accept. Raises NoSession."""
    if not os.path.lexists(root / "trace.jsonl"):
        raise NoSession(f"There is no session in {root} (no trace.jsonl).")
    remarks = list(_irregular(root))
    if remarks:
        nothing = Loaded(records=(), store=Store(root / "store"), rounds=(), chosen=None)
        return level("L0", "integrity", remarks, ""), nothing
    log = _Log()
    integrity = check(root, verify_hex, log.fold)
    remarks += _log_remarks(integrity)
    remarks += _made_from_log(root, integrity, log.records)
    sizes = dict[str, int]()
    remarks += _sweep(root / "store", sizes)
    store = Store(root / "store")
    rounds: tuple[Round, ...] = ()
    received: tuple[Received, ...] = ()
    chosen = None
    if integrity.verdict != "BROKEN":
        remarks += log.unstored(sizes)
        blobs = _Blobs(store, sizes)
        rounds = tuple(_round(event, blobs, remarks) for event in log.verdicts)
        received = tuple(_received(event, blobs, remarks) for event in log.received)
        chosen = _chosen(log, rounds, remarks)
        remarks += _attestation_file(root, rounds, chosen)
        remarks += _signers(integrity, rounds, log.received, signers)
        remarks += parent_remarks(log.records, store, sizes, signers)
    summary = f"{counted(integrity.records, 'record')}, sealed; {counted(len(sizes), 'blob')}, all whole."
    loaded = Loaded(
        records=tuple(log.records),
        store=store,
        rounds=rounds,
        chosen=chosen,
        received=received,
        seal=integrity.seal,
    )
    return level("L0", "integrity", remarks, summary), loaded


def attested_in(loaded: Loaded, signers: Signers) -> tuple[Attested, ...]:
    """The attestations of the rounds whose envelopes can be relied on."""
    return tuple(
        Attested(
            round=each.event.round,
            attestation=each.event.attestation,
            result=each.event.result,
            reason=each.event.reason,
            keyid=each.opened.keyid,
            signed=signers.who(each.opened.keyid),
            chosen=each is loaded.chosen,
        )
        for each in loaded.rounds
        if each.opened is not None
    )


def blobs_of(record: events.Record) -> Iterator[events.Blob]:
    """Every blob that a record names."""
    for name in record.__struct_fields__:
        yield from _blobs_in(getattr(record, name))


def _blobs_in(value: object) -> Iterator[events.Blob]:
    if isinstance(value, events.Blob):
        yield value
    elif isinstance(value, tuple):
        for each in value:
            yield from _blobs_in(each)
    elif isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            yield from _blobs_in(getattr(value, name))


class _Log:
    """What level 0 needs of the log, collected in one pass."""

    def __init__(self) -> None:
        self.records: list[events.Record] = []
        self.verdicts: list[events.Verifier] = []
        self.received: list[events.AttestationReceived] = []
        self.choice: events.AnswerChosen | None = None
        self._named: dict[tuple[str, int], int] = {}

    def fold(self, record: events.Record) -> None:
        self.records.append(record)
        for blob in blobs_of(record):
            self._named.setdefault((blob.sha256, blob.size), record.seq)
        if isinstance(record, events.Verifier):
            self.verdicts.append(record)
        elif isinstance(record, events.AttestationReceived):
            self.received.append(record)
        elif isinstance(record, events.AnswerChosen):
            self.choice = record

    def unstored(self, sizes: dict[str, int]) -> Iterator[Remark]:
        """The blobs that the log names and the store does not have, or not in that size."""
        for (sha256, size), line in self._named.items():
            found = sizes.get(sha256)
            if found is None:
                yield _remark("MISSING", _line(line), f"The store has no blob {sha256[:64]}.")
            elif found != size:
                sentence = f"The log says {size} bytes of blob {sha256}, and it has {found}."
                yield _remark("ALTERED", _line(line), sentence)


def _irregular(root: Path) -> Iterator[Remark]:
    """What is no plain file is not opened: a link could lead anywhere, a pipe would wait for ever."""
    for name in _FILES:
        try:
            mode = (root / name).lstat().st_mode
        except FileNotFoundError:
            continue
        if not stat.S_ISREG(mode):
            yield _remark("ALTERED", name, f"{name} is a link or no plain file, so it was not opened.")


def _log_remarks(integrity: Integrity) -> Iterator[Remark]:
    where = _line(integrity.line) if integrity.line else "seal.json"
    if integrity.verdict == "BROKEN":
        yield _remark("BROKEN", where, integrity.sentence)
    elif integrity.verdict == "UNSEALED":
        yield _remark("UNSEALED", "seal.json", integrity.sentence)


def _sweep(folder: Path, sizes: dict[str, int]) -> Iterator[Remark]:
    """Hash every file of a store; `sizes` gets the size of each blob that is there, whole or not."""
    if not folder.is_dir():
        return
    for prefix in sorted(folder.iterdir()):
        if not prefix.is_dir():
            yield _remark("", f"store/{prefix.name}", "This is no blob; nothing looks at it.")
            continue
        for path in sorted(prefix.iterdir()):
            yield from _hashed(path, sizes)


def _hashed(path: Path, sizes: dict[str, int]) -> Iterator[Remark]:
    where = f"store/{path.parent.name}/{path.name}"
    if path.name.startswith(_UNFINISHED):
        return
    if not _BLOB.fullmatch(path.name) or path.name[:2] != path.parent.name:
        yield _remark("", where, "This is no blob; nothing looks at it.")
        return
    sha256, size = hashlib.sha256(), 0
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise OSError("no plain file")
            while chunk := file.read(_CHUNK):
                sha256.update(chunk)
                size += len(chunk)
    except OSError as error:
        yield _remark("ALTERED", where, f"The blob cannot be read: {error.strerror or error}.")
        return
    sizes[path.name] = size
    if sha256.hexdigest() != path.name:
        yield _remark("ALTERED", where, f"The blob was altered: its bytes hash to {sha256.hexdigest()}.")


def _round(event: events.Verifier, blobs: "_Blobs", remarks: list[Remark]) -> Round:
    """A verdict with its envelope; what is wrong with them goes to `remarks`."""
    where = f"{_line(event.seq)}, round {event.round}"
    opened = None
    try:
        opened = open_envelope(blobs.read(event.envelope.sha256))
        objects = objects_of(opened.attestation, lambda name: blobs.read(hexadecimal(name)))
        _agrees(event, opened, objects)
        blobs.read(hexadecimal(event.attestation))
    except _Absent as error:
        remarks.append(_remark("MISSING", where, str(error)))
    except (StoreError, EnvelopeError) as error:
        remarks.append(_remark("ALTERED", where, str(error)))
    except ObjectError as error:
        remarks.append(_remark("ALTERED", where, f"The attestation names {error}."))
    else:
        return Round(event=event, opened=opened, objects=objects)
    return Round(event=event, opened=opened)


def _received(event: events.AttestationReceived, blobs: "_Blobs", remarks: list[Remark]) -> Received:
    """The proof that was kept of an attestation; what is wrong with it goes to `remarks`."""
    where = f"{_line(event.seq)}, {event.handle[:80]}"
    try:
        opened = open_envelope(blobs.read(event.envelope.sha256))
        objects = objects_of(opened.attestation, lambda name: blobs.read(hexadecimal(name)))
        blobs.read(hexadecimal(event.attestation))
    except _Absent as error:
        remarks.append(_remark("MISSING", where, str(error)))
    except (StoreError, EnvelopeError) as error:
        remarks.append(_remark("ALTERED", where, str(error)))
    except ObjectError as error:
        remarks.append(_remark("ALTERED", where, f"The attestation names {error}."))
    else:
        return Received(event=event, objects=frozenset(objects))
    return Received(event=event)


class _Absent(Exception):
    pass


class _Blobs:
    """The blobs of a store that were swept, by sha256."""

    def __init__(self, store: Store, sizes: Mapping[str, int]) -> None:
        self._store = store
        self._sizes = sizes

    def read(self, sha256: str) -> bytes:
        """The bytes. Raises _Absent, StoreError, and ObjectError for what is too large for any object."""
        size = self._sizes.get(sha256)
        if size is None:
            raise _Absent(f"The store has no blob {sha256}, which the attestation needs.")
        if size > MAX_BYTES:
            raise ObjectError(f"a blob of {size} bytes")
        return self._store.get(sha256)


def _agrees(event: events.Verifier, opened: Opened, objects: dict[Digest, AnyObject]) -> None:
    """Raises EnvelopeError unless envelope, objects and the record of the log say the same."""
    attestation = opened.attestation
    if payload_of(attestation, objects) != opened.payload:
        raise EnvelopeError("The subjects of the statement are not those of its attestation.")
    if object_id(attestation) != event.attestation:
        raise EnvelopeError("The envelope holds another attestation than the log names.")
    if attestation.log != (event.seq - 1, event.prev):
        raise EnvelopeError("The attestation was made at another place of the log, or of another log.")
    attested = (attestation.round, attestation.result, attestation.reason, attestation.scores.after or None)
    if attested != (event.round, event.result, event.reason, event.score):
        raise EnvelopeError("Round, result, reason or score in the log are not those of the attestation.")


def _chosen(log: _Log, rounds: tuple[Round, ...], remarks: list[Remark]) -> Round | None:
    """The round whose answer was chosen; before a choice is made there is none."""
    choice = log.choice
    if choice is None:
        return None
    for each in rounds:
        event = each.event
        wanted = (choice.round, choice.answer_seq, choice.attestation)
        if (event.round, event.answer_seq, event.attestation) == wanted:
            return each
    sentence = f"The answer that was chosen names round {choice.round}, which has no such verdict."
    remarks.append(_remark("ALTERED", _line(choice.seq), sentence))
    return None


def _attestation_file(root: Path, rounds: tuple[Round, ...], chosen: Round | None) -> Iterator[Remark]:
    """attestation.json is the envelope of the chosen round, byte for byte."""
    try:
        with (root / ATTESTATION).open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        if chosen is not None:
            yield _remark("MISSING", ATTESTATION, f"An answer was chosen, but {ATTESTATION} is not there.")
        return
    sha256 = hashlib.sha256(data).hexdigest()
    expected = [each for each in rounds if each.event.envelope.sha256 == sha256]
    if chosen is not None and chosen not in expected:
        sentence = f"{ATTESTATION} is not the envelope of round {chosen.event.round}, which was chosen."
        yield _remark("ALTERED", ATTESTATION, sentence)
    elif not expected:
        yield _remark("ALTERED", ATTESTATION, f"{ATTESTATION} is the envelope of no round in the log.")


def _made_from_log(root: Path, integrity: Integrity, records: Sequence[events.Record]) -> Iterator[Remark]:
    """The files beside the log that the seal covers; with records behind the seal they have gone on, too."""
    seal = integrity.seal
    if integrity.verdict != "SEALED" or seal is None or seal.exit_code is None:
        return
    differing: list[str] = []
    yield from _sealed_files(root, seal.files, differing)
    made = projected(root, records, differing) if differing else {}
    for name in differing:
        if _digest(root / name) != made.get(name):
            yield _remark("ALTERED", name, f"{name} is not the file that was sealed: it was changed since.")


def _sealed_files(root: Path, files: Mapping[str, str], differing: list[str]) -> Iterator[Remark]:
    """Hold each file against its sha256 in the seal; `differing` gets the names of those with another."""
    for name, sha256 in sorted(files.items()):
        if name not in COVERED:
            yield _remark("", "seal.json", f"It names {name[:80]!r}, which this version does not know.")
        elif (found := _digest(root / name)) is None:
            if name == ANSWER:  # a projection is made of the log at any time, and no bundle has it
                yield _remark("", name, f"{name} is not here, so nothing is said of it.")
        elif found != sha256:
            differing.append(name)


def _digest(path: Path) -> str | None:
    """The sha256 of a plain file; '' for anything else and for one that cannot be read, None where there is
    nothing."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError:
        return ""
    with os.fdopen(descriptor, "rb") as file:
        is_plain = stat.S_ISREG(os.fstat(descriptor).st_mode)
        return hashlib.file_digest(file, "sha256").hexdigest() if is_plain else ""


def projected(root: Path, records: Sequence[events.Record], names: Collection[str]) -> dict[str, str]:
    """The sha256 of projections as this version makes them of a log: `vera rebuild` may have written them."""
    store = Store(root / "store")
    found = {}
    for projection in all_projections(lambda text: load_text(store, text)):
        if projection.name in names:
            sha256 = hashlib.sha256()
            try:
                for record in records:
                    sha256.update(projection.add(record))
            except (StoreError, ValueError, OverflowError):
                continue
            found[projection.name] = sha256.hexdigest()
    return found


def _signers(
    integrity: Integrity,
    rounds: tuple[Round, ...],
    received: Sequence[events.AttestationReceived],
    signers: Signers,
) -> Iterator[Remark]:
    signed: dict[str, list[str]] = {}
    if integrity.keyid:
        signed.setdefault(integrity.keyid, []).append("seal.json")
    for each in rounds:
        if each.opened is not None:
            signed.setdefault(each.opened.keyid, []).append(f"round {each.event.round}")
    if len(signed) > 1:
        said = "; ".join(f"{listed(what)} by {keyid[:16]}…" for keyid, what in list(signed.items())[:5])
        sentence = f"Two keys signed this one session, and one maker has one key: {said}."
        yield _remark("ALTERED", "seal.json", sentence)
    for attested in received:
        signed.setdefault(attested.keyid, []).append(attested.handle)
    for keyid, what in signed.items():
        where, said = f"key {keyid}", f"{listed(what)} signed {signers.who(keyid)}"
        if signers.accepts(keyid):
            yield _remark("", where, f"{said}.")
        elif signers.only:
            yield _remark("UNTRUSTED", where, f"{said}; --trust names another key.")
        else:
            yield _remark("UNTRUSTED", where, f"{said}. {HOW_TO_TRUST}")
    yield from _unsigned(integrity, rounds, signers)


def _unsigned(integrity: Integrity, rounds: tuple[Round, ...], signers: Signers) -> Iterator[Remark]:
    """That the seal has no signature, where rounds are signed or a key is asked for."""
    unsigned = integrity.sealed and not integrity.keyid
    if unsigned and (rounds or signers.only):
        sentence = "seal.json is not signed, so nothing says where the log ends."
        yield _remark("UNTRUSTED" if signers.only else "UNSEALED", "seal.json", sentence)


def _line(number: int) -> str:
    return f"trace.jsonl line {number}"


def _remark(verdict: Verdict | Literal[""], where: str, sentence: str) -> Remark:
    return Remark(verdict=verdict, where=where, sentence=sentence)
