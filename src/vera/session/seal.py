"""The seal: the head of a log, kept beside it, so that a cut tail is seen.

`seal.json` holds the number and hash of a record of the log: the last one at an attestation, and the last of
all at the run's end. A chain alone proves that nothing before its end was changed; the seal says where the
end was, and its signature (Ed25519, over the DSSE encoding of number and hash) who says so.
"""

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path

import msgspec
import rfc8785

from vera import events
from vera.session.log import LogBroken, Reader
from vera.session.pae import pae

NAME = "seal.json"
PAYLOAD_TYPE = "application/vnd.vera.seal+json"

Sign = Callable[[bytes], tuple[str, str, str]]
"""From a message to the key's id, the public key and the signature, all in hexadecimal."""
Verify = Callable[[str, str, bytes], bool]
"""Whether (public key, signature, message) belong together, the first two in hexadecimal."""

_MOST_BYTES = 4096


class Seal(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """The number of a record and its hash; the rest is '' in a seal that nobody signed.

    `keyid` is the sha256 of the `public` key (32 bytes, in hexadecimal), `sig` the signature over `message`.
    """

    seq: int
    hash: str
    keyid: str = ""
    public: str = ""
    sig: str = ""

    @property
    def message(self) -> bytes:
        """What is signed."""
        return pae(PAYLOAD_TYPE, rfc8785.dumps({"seq": self.seq, "hash": self.hash}))


class Integrity(msgspec.Struct, frozen=True, kw_only=True):
    """What a check of a log found: SEALED, UNSEALED or BROKEN, and one sentence about it.

    `line` is the first broken line (from 1), 0 when none is. `sealed` is the number of the record that the
    seal names, 0 without a seal, and `keyid` the key that signed it, '' for an unsigned seal.
    """

    verdict: str
    sentence: str
    records: int = 0
    line: int = 0
    sealed: int = 0
    keyid: str = ""


def write(session_dir: Path, seq: int, head: str, sign: Sign | None = None) -> None:
    """Write the seal whole or not at all."""
    seal = Seal(seq=seq, hash=head)
    if sign is not None:
        keyid, public, sig = sign(seal.message)
        seal = msgspec.structs.replace(seal, keyid=keyid, public=public, sig=sig)
    temporary = session_dir / (NAME + ".new")
    with temporary.open("wb") as file:
        file.write(_as_file(seal))
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(session_dir / NAME)


def check(
    session_dir: Path,
    verify: Verify | None = None,
    fold: Callable[[events.Record], None] | None = None,
) -> Integrity:
    """Read the whole log of a session and hold it against its own hashes, its chain and its seal.

    The seal's signature is checked by `verify`, where it is given. Each record that is as it was written
    goes through `fold`. Raises FileNotFoundError when there is no log.
    """
    reader = Reader(session_dir / "trace.jsonl")
    try:
        seal = _read(session_dir, verify)
    except (_BadSeal, OSError) as error:
        return Integrity(verdict="BROKEN", sentence=f"{NAME} cannot be relied on: {error}.")
    sealed_head = ""
    last: events.Record | None = None
    try:
        for _, record in reader.poll():
            last = record
            if seal is not None and reader.seq == seal.seq:
                sealed_head = reader.head
            if fold is not None:
                fold(record)
    except LogBroken as broken:
        return Integrity(verdict="BROKEN", sentence=str(broken), records=reader.seq, line=broken.line)
    if torn := reader.torn():
        return _broken(reader, reader.line + 1, f"its last {torn} bytes are no whole record")
    if seal is None:
        if isinstance(last, events.RunEnd):
            sentence = f"The run has ended, but its {NAME} is missing."
        else:
            sentence = f"UNSEALED AFTER {reader.seq}: the run has not ended."
        return Integrity(verdict="UNSEALED", sentence=sentence, records=reader.seq)
    if reader.seq < seal.seq:
        missing = seal.seq - reader.seq
        return _broken(reader, reader.line + 1, f"its last {missing} sealed records are missing")
    if sealed_head != seal.hash:
        return _broken(reader, seal.seq, "the record there is not the one that was sealed")
    verdict, sentence = "SEALED", f"SEALED: {reader.seq} records, whole{_signed(seal, verify)}."
    if reader.seq > seal.seq:
        verdict = "UNSEALED"
        sentence = f"UNSEALED AFTER {seal.seq}: {reader.seq - seal.seq} records follow the seal."
    return Integrity(
        verdict=verdict, sentence=sentence, records=reader.seq, sealed=seal.seq, keyid=seal.keyid
    )


class _BadSeal(Exception):
    pass


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
    """The seal, None where there is none. Raises _BadSeal for one that is not as it was written."""
    try:
        with (session_dir / NAME).open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except FileNotFoundError:
        return None
    try:
        seal = msgspec.json.decode(data, type=Seal)
    except (msgspec.MsgspecError, ValueError) as error:
        raise _BadSeal(error) from None
    if _as_file(seal) != data:
        raise _BadSeal("it is not written as VERA writes it")
    if seal.keyid or seal.public or seal.sig:
        _check_signature(seal, verify)
    return seal


def _check_signature(seal: Seal, verify: Verify | None) -> None:
    try:
        keyid = hashlib.sha256(bytes.fromhex(seal.public)).hexdigest()
    except ValueError:
        raise _BadSeal("its public key is not in hexadecimal") from None
    if keyid != seal.keyid:
        raise _BadSeal("its public key is not that of its key id")
    try:
        message = seal.message
    except rfc8785.CanonicalizationError as error:
        raise _BadSeal(error) from None
    if verify is not None and not verify(seal.public, seal.sig, message):
        raise _BadSeal("its signature does not match")
