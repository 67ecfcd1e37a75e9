"""A session of before, opened to be relied on: whole, and sealed by a key that is trusted.

Whatever lies in a base folder may have been altered since it was written, and an index can be forged. So
nothing is taken from an earlier session before every record of its log was held against its hash, its chain
and its signed seal, and no bytes before they were held against their name.
"""

import hashlib
import os
import stat
from collections.abc import Collection
from pathlib import Path

import msgspec

from vera import events
from vera.attestation.keys import verify_hex
from vera.evidence.reading import read_regular
from vera.extraction.source import Unreadable
from vera.session import check
from vera.session.session import TRACE
from vera.store import StoreError

MAX_LOG_BYTES = 256 << 20
MAX_BLOB_BYTES = 64 << 20

SEAL = "seal.json"


class Unusable(Exception):
    """An earlier session that cannot be relied on: a sentence that says why."""


class Earlier(msgspec.Struct, frozen=True, kw_only=True):
    """A session whose log is whole up to its signed seal; `keyid` signed it."""

    root: Path
    records: tuple[events.Record, ...]
    keyid: str

    def bytes_of(self, sha256: str) -> bytes:
        """A blob of its store, held against its name. Raises StoreError."""
        try:
            data = read_regular(self.root, f"store/{sha256[:2]}/{sha256}", MAX_BLOB_BYTES)
        except Unreadable as reason:
            raise StoreError(f"The blob {sha256} of {self.root.name} cannot be read: {reason}.") from None
        if hashlib.sha256(data).hexdigest() != sha256:
            raise StoreError(f"The blob {sha256} of {self.root.name} was altered.")
        return data


def open_earlier(base: Path, relative: str, trust: Collection[str]) -> Earlier:
    """The session at `relative` under `base`, reached without following a link.

    `trust` holds the key ids that may have sealed it; none of them: no one may. Raises Unusable.
    """
    root = _folder(base, relative)
    records: list[events.Record] = []
    try:
        integrity = check(root, verify_hex, records.append)
    except OSError as error:
        raise Unusable(f"Its log cannot be read: {error.strerror or error}.") from None
    if integrity.verdict != "SEALED":
        raise Unusable(integrity.sentence)
    if integrity.keyid not in trust:
        raise Unusable(
            f"Its log is sealed by key {integrity.keyid}, which is not trusted."
            if integrity.keyid
            else "The seal of its log is not signed."
        )
    return Earlier(root=root, records=tuple(records), keyid=integrity.keyid)


def _folder(base: Path, relative: str) -> Path:
    """Raises Unusable unless only folders lead there, and its log and its seal are files of bounded size."""
    parts = relative.split("/")
    if any(part in ("", ".", "..") or "\0" in part for part in parts):
        raise Unusable("Its path leads out of the base folder.")
    root = base
    try:
        for part in parts:
            root = root / part
            if not stat.S_ISDIR(root.lstat().st_mode):
                raise Unusable(f"{root} is a link or no folder, so it was not opened.")
        for name in (TRACE, SEAL):
            if not _is_bounded_file(root / name):
                raise Unusable(f"Its {name} is a link, no plain file, or too large.")
    except FileNotFoundError as error:
        raise Unusable(f"{error.filename} is not there any more.") from None
    except (OSError, UnicodeEncodeError) as error:
        raise Unusable(f"It cannot be read: {error}.") from None
    return root


def _is_bounded_file(path: Path) -> bool:
    """Whether it is a plain file of bounded size. Raises OSError."""
    status = os.lstat(path)
    return stat.S_ISREG(status.st_mode) and status.st_size <= MAX_LOG_BYTES
