"""The seal: the head of a log, kept beside it, so that a cut tail is seen.

`seal.json` holds the number and hash of a record of the log: the last one at an attestation, and the last of
all at the run's end. A chain alone proves that nothing before its end was changed; the seal says where the
end was, and its signature (Ed25519, over the DSSE encoding of the other members) who says so. The seal of a
run's end also holds how the run ended, and the digests of the files that were made from the log for people.
`docs/reference/attestation-format.md` has every byte of it.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec
import rfc8785

from vera import events
from vera.decode_errors import DECODE_ERRORS
from vera.session.log import LogBroken, Reader
from vera.session.pae import pae
from vera.store import replace_file

NAME = "seal.json"
PAYLOAD_TYPE = "application/vnd.vera.seal+json"

Sign = Callable[[bytes], tuple[str, str, str]]
"""From a message to the key's id, the public key and the signature, all in hexadecimal."""
Verify = Callable[[str, str, bytes], bool]
"""Whether (public key, signature, message) belong together, the first two in hexadecimal."""

FORMAT = 2
"""Version of the seal. Format 1 holds the number and hash alone, and covers no file beside the log."""

MAX_REASON = 10_000
"""Characters of a reason that the seal repeats; the log has all of it."""

MAX_BYTES = 256 << 10
"""Of the file of a seal."""


class Seal(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """The number of a record and its hash, and at the end of a run how it ended.

    `status`, `reason` and `exit_code` are those of the record that ends the run (None: it has not ended),
    `attestation` is the id of the verdict on the chosen answer ('' for none), and `files` names the sha256 of
    each file beside the log that was made from it. `keyid` is the sha256 of the `public` key (32 bytes, in
    hexadecimal), `sig` the signature over `message`; they are '' in a seal that is not signed.
    """

    seq: int
    hash: str
    format: int = 1
    status: str = ""
    reason: str = ""
    exit_code: int | None = None
    attestation: str = ""
    files: dict[str, str] = msgspec.field(default_factory=dict)
    keyid: str = ""
    public: str = ""
    sig: str = ""

    @property
    def message(self) -> bytes:
        """What is signed: every member but those of the signature, in canonical JSON (RFC 8785)."""
        unsigned = msgspec.structs.replace(self, keyid="", public="", sig="")
        return pae(PAYLOAD_TYPE, rfc8785.dumps(msgspec.to_builtins(unsigned)))


class Integrity(msgspec.Struct, frozen=True, kw_only=True):
    """What a check of a log found: SEALED, UNSEALED or BROKEN, and one sentence about it.

    `line` is the first broken line (from 1), 0 when none is. `sealed` is the number of the record that the
    seal names, 0 without a seal, and `keyid` the key that signed it, '' for an unsigned seal. `seal` is the
    seal itself, where it can be relied on.
    """

    verdict: str
    sentence: str
    records: int = 0
    line: int = 0
    sealed: int = 0
    keyid: str = ""
    seal: Seal | None = None


def concluding(seq: int, head: str, end: events.RunEnd, attestation: str, files: Mapping[str, str]) -> Seal:
    """The seal of the end of a run, not signed yet. `files`: name → sha256 of what was made of the log."""
    return Seal(
        seq=seq,
        hash=head,
        format=FORMAT,
        status=end.status,
        reason=end.reason[:MAX_REASON],
        exit_code=end.exit_code,
        attestation=attestation,
        files=dict(files),
    )


def write(session_dir: Path, seal: Seal, sign: Sign | None = None) -> None:
    """Write the seal, signed by `sign`, whole or not at all. Raises OSError."""
    if sign is not None:
        keyid, public, sig = sign(seal.message)
        seal = msgspec.structs.replace(seal, keyid=keyid, public=public, sig=sig)
    replace_file(session_dir / NAME, _as_file(seal))


def check(
    session_dir: Path,
    verify: Verify | None = None,
    fold: Callable[[events.Record], None] | None = None,
) -> Integrity:
    """Read the whole log of a session and hold it against its own hashes, its chain and its seal, also the
    end of the run against what the seal says of it.

    The seal's signature is checked by `verify`, where it is given. Each record that is as it was written
    goes through `fold`. Raises FileNotFoundError when there is no log.
    """
    reader = Reader(session_dir / "trace.jsonl")
    try:
        seal = _read(session_dir, verify)
    except (BadSeal, OSError) as error:
        return Integrity(verdict="BROKEN", sentence=f"{NAME} cannot be relied on: {error}.")
    sealed_head = ""
    last: events.Record | None = None
    sealed: events.Record | None = None
    try:
        for _, record in reader.poll():
            last = record
            if seal is not None and reader.seq == seal.seq:
                sealed_head, sealed = reader.head, record
            if fold is not None:
                fold(record)
    except LogBroken as broken:
        return Integrity(verdict="BROKEN", sentence=str(broken), records=reader.seq, line=broken.line)
    if torn := reader.torn():
        return _broken(reader, reader.line + 1, f"its last {torn} bytes are no whole record")
    if seal is None:
        return _without_seal(reader, last)
    return _under_seal(reader, seal, sealed_head, sealed, verify)


def _without_seal(reader: Reader, last: events.Record | None) -> Integrity:
    if isinstance(last, events.RunEnd):
        sentence = f"The run has ended, but its {NAME} is missing."
    else:
        sentence = f"UNSEALED AFTER {reader.seq}: the run has not ended."
    return Integrity(verdict="UNSEALED", sentence=sentence, records=reader.seq)


def _under_seal(
    reader: Reader, seal: Seal, sealed_head: str, sealed: events.Record | None, verify: Verify | None
) -> Integrity:
    """A log that was read to its end, held against its seal: `sealed` is the record up to which it is sealed,
    `sealed_head` the hash of that."""
    if reader.seq < seal.seq:
        missing = seal.seq - reader.seq
        return _broken(reader, reader.line + 1, f"its last {missing} sealed records are missing")
    if sealed_head != seal.hash:
        return _broken(reader, seal.seq, "the record there is not the one that was sealed")
    if not _ends_so(seal, sealed):
        return _broken(reader, seal.seq, "the run ends there in another way than its seal says")
    verdict, sentence = "SEALED", f"SEALED: {reader.seq} records, whole{_signed(seal, verify)}."
    if reader.seq > seal.seq:
        verdict = "UNSEALED"
        sentence = f"UNSEALED AFTER {seal.seq}: {reader.seq - seal.seq} records follow the seal."
    return Integrity(
        verdict=verdict,
        sentence=sentence,
        records=reader.seq,
        sealed=seal.seq,
        keyid=seal.keyid,
        seal=seal,
    )


def _ends_so(seal: Seal, sealed: events.Record | None) -> bool:
    """Whether the sealed record ends the run as the seal says; a seal of format 1 says nothing of it."""
    if seal.format == 1:
        return True
    if not isinstance(sealed, events.RunEnd):
        return seal.exit_code is None
    ended = (sealed.status, sealed.reason[:MAX_REASON], sealed.exit_code)
    return (seal.status, seal.reason, seal.exit_code) == ended


class BadSeal(Exception):
    """A seal that is not as it was written: half a sentence that says why."""


def _broken(reader: Reader, line: int, reason: str) -> Integrity:
    sentence = f"The log is broken at line {line}: {reason}."
    return Integrity(verdict="BROKEN", sentence=sentence, records=reader.seq, line=line)


def _signed(seal: Seal, verify: Verify | None) -> str:
    if verify is None:
        return ""
    return f", signed by {seal.keyid}" if seal.keyid else ", unsigned"


def _as_file(seal: Seal) -> bytes:
    return json.dumps(msgspec.to_builtins(seal)).encode() + b"\n"


def _read(session_dir: Path, verify: Verify | None) -> Seal | None:
    """The seal, None where there is none. Raises BadSeal."""
    try:
        with (session_dir / NAME).open("rb") as file:
            return read_seal(file.read(MAX_BYTES + 1), verify)
    except FileNotFoundError:
        return None


def reaches(session_dir: Path, seq: int) -> bool:
    """Whether the seal of a session holds that record. Also true where no seal can be read. A run whose last
    record it does not reach was cut short at its end."""
    try:
        seal = _read(session_dir, None)
    except (BadSeal, OSError):
        return True
    return seal is not None and seal.seq >= seq


def read_seal(data: bytes, verify: Verify | None) -> Seal:
    """The seal that the bytes of its file hold; its signature is checked by `verify`. Raises BadSeal."""
    try:
        seal = msgspec.json.decode(data, type=Seal)
    except DECODE_ERRORS as error:
        raise BadSeal(error) from None
    if _as_file(seal) != data:
        raise BadSeal("it is not written as VERA writes it")
    if not 1 <= seal.format <= FORMAT:
        raise BadSeal(f"it has format {seal.format}, and this version of VERA knows {FORMAT} at most")
    if seal.format == 1 and (seal.exit_code is not None or seal.files):
        raise BadSeal("it says more than a seal of its format does")
    if seal.keyid or seal.public or seal.sig:
        _check_signature(seal, verify)
    return seal


def _check_signature(seal: Seal, verify: Verify | None) -> None:
    try:
        keyid = hashlib.sha256(bytes.fromhex(seal.public)).hexdigest()
    except ValueError:
        raise BadSeal("its public key is not in hexadecimal") from None
    if keyid != seal.keyid:
        raise BadSeal("its public key is not that of its key id")
    try:
        message = seal.message
    except rfc8785.CanonicalizationError as error:
        raise BadSeal(error) from None
    if verify is not None and not verify(seal.public, seal.sig, message):
        raise BadSeal("its signature does not match")
