"""The signed head of the journal: how many entries it has, and the hash of the last one.

A chain says that nothing before its end was changed. The head says where the end is, and its signature
(Ed25519, over the DSSE encoding of number and hash) who says so: entries that were cut off are missed, and
lines behind the head are known as not written by VERA. A journal has a head before its first line: a crash
between the two leaves the head of no entry.
"""

import hashlib
import os
from pathlib import Path
from typing import Annotated

import msgspec
import rfc8785
from msgspec import Meta

from vera.attestation.keys import Signer, verify_hex
from vera.decode_errors import DECODE_ERRORS
from vera.evidence.reading import read_regular
from vera.extraction.source import Unreadable
from vera.session.pae import pae

NAME = "ahdb.head.json"
NO_ENTRY = "0" * 64
"""The hash in the head of a journal without an entry."""
PAYLOAD_TYPE = "application/vnd.vera.ahdb-head+json"

_MAX_BYTES = 4096
_FLAGS = os.O_CREAT | os.O_WRONLY | os.O_TRUNC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

_Hex64 = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}(?!\n)$", max_length=64)]
_Hex128 = Annotated[str, Meta(pattern=r"^[0-9a-f]{128}(?!\n)$", max_length=128)]


class BadHead(ValueError):
    """A head that cannot be relied on: why."""


class JournalHead(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The number of the last entry and its hash (0 and NO_ENTRY where there is none), signed. `keyid` is the
    sha256 of the `public` key (32 bytes), `sig` the signature of `message`; all in hexadecimal."""

    seq: Annotated[int, Meta(ge=0, le=2**53 - 1)]
    hash: _Hex64
    keyid: _Hex64
    public: _Hex64
    sig: _Hex128

    @property
    def message(self) -> bytes:
        """What is signed."""
        return message(self.seq, self.hash)


def message(seq: int, last: str) -> bytes:
    """The bytes that the signature of a head with this number and hash is over."""
    return pae(PAYLOAD_TYPE, rfc8785.dumps({"hash": last, "seq": seq}))


def signed(seq: int, last: str, signer: Signer) -> JournalHead:
    """The head of a journal whose last entry has this number and hash."""
    keyid, public, sig = signer.seal(message(seq, last))
    return JournalHead(seq=seq, hash=last, keyid=keyid, public=public, sig=sig)


def read(base: Path, path: str) -> JournalHead | None:
    """The head at `path` below `base`, None where there is none. Raises BadHead."""
    if not os.path.lexists(base / path):
        return None
    try:
        head = msgspec.json.decode(read_regular(base, path, _MAX_BYTES), type=JournalHead)
    except (Unreadable, *DECODE_ERRORS) as error:
        raise BadHead(f"it cannot be read ({error})") from None
    if hashlib.sha256(bytes.fromhex(head.public)).hexdigest() != head.keyid:
        raise BadHead("its public key is not that of its key id")
    if not verify_hex(head.public, head.sig, head.message):
        raise BadHead("its signature does not match")
    return head


def write(folder: int, head: JournalHead) -> None:
    """Put the head into an open folder, whole or not at all, and on the disk. Raises OSError."""
    new = NAME + ".new"
    with os.fdopen(os.open(new, _FLAGS, 0o600, dir_fd=folder), "wb") as file:
        file.write(msgspec.json.encode(head) + b"\n")
        file.flush()
        os.fsync(file.fileno())
    os.replace(new, NAME, src_dir_fd=folder, dst_dir_fd=folder)
    os.fsync(folder)
