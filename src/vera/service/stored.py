"""Cards, bytes and bundles of a token's own sessions, each held against its hash before it goes out.

What can be large is an open file, read in pieces: a request holds no more than one of them in memory.
"""

import hashlib
import os
import re
import secrets
from io import FileIO
from typing import BinaryIO

from vera.attestation.bundle import BundleError, pack
from vera.attestation.integrity import NoSession
from vera.attestation.objects import Card, ObjectError, parse
from vera.evidence.reading import open_inside
from vera.extraction.source import Unreadable
from vera.service.problems import Refused
from vera.service.records import Job, Records

MAX_BYTES = 64 << 20
MAX_CARD_BYTES = 1 << 20
MAX_SESSIONS = 20_000
"""Sessions that are looked through for a hash, the newest first."""

DIGEST = "(?:sha256:)?([0-9a-f]{64})"
_DIGEST = re.compile(DIGEST)


def card_of(records: Records, name: str) -> bytes:
    """The canonical bytes of a card: their sha256 is its id. Raises Refused (400, 404)."""
    with evidence_of(records, name) as file:
        data = file.read(MAX_CARD_BYTES + 1)
    try:
        if len(data) > MAX_CARD_BYTES:
            raise ObjectError("a card is smaller")
        parse(data, Card)
    except ObjectError:
        raise _nothing("card", "a card") from None
    return data


def evidence_of(records: Records, name: str) -> FileIO:
    """The open file with the bytes of that sha256, of any session of the token. Raises Refused (400, 404)."""
    found = _DIGEST.fullmatch(name)
    if found is None:
        raise Refused(400, "no_digest", "That is no id: 64 hexadecimal digits, with or without 'sha256:'.")
    sha256 = found[1]
    for job in list(reversed(records.jobs.values()))[:MAX_SESSIONS]:
        root = records.place(job).session
        if not (root / "store" / sha256[:2] / sha256).exists():
            continue
        try:
            file = open_inside(root, f"store/{sha256[:2]}/{sha256}", MAX_BYTES)
        except Unreadable:
            continue
        if _has_digest(file, sha256):
            return file
        file.close()
    raise _nothing("evidence", "evidence")


def span_of(file: BinaryIO, start: str | None, end: str | None) -> int:
    """How many bytes go from `start` to `end`, all of them without these; the file is then at the first.
    Raises Refused (400)."""
    size = os.fstat(file.fileno()).st_size
    first, last = _offset(start, 0), _offset(end, size)
    if not first <= last <= size:
        raise Refused(400, "no_span", f"There are {size} bytes: start and end lie in them.")
    file.seek(first)
    return last - first


def bundle_of(records: Records, job: Job) -> BinaryIO:
    """The job's session as one open file, which has no name any more. Raises Refused (404, 503)."""
    try:
        path = records.bundles() / f"{secrets.token_hex(16)}.zip"
        try:
            pack(records.place(job).session, path)
            return path.open("rb")
        finally:
            path.unlink(missing_ok=True)
    except (BundleError, NoSession):
        raise Refused(404, "no_bundle", "This job has no session that can be packed.") from None
    except OSError as error:
        raise Refused(503, "unavailable", f"The bundle cannot be made: {error.strerror}.") from None


def _has_digest(file: FileIO, sha256: str) -> bool:
    try:
        found = hashlib.file_digest(file, "sha256").hexdigest()
        file.seek(0)
    except OSError:
        return False
    return found == sha256


def _offset(text: str | None, usual: int) -> int:
    if text is None:
        return usual
    if not (text.isascii() and text.isdigit() and len(text) <= 12):
        raise Refused(400, "no_span", "start and end are whole numbers.")
    return int(text)


def _nothing(kind: str, what: str) -> Refused:
    return Refused(404, f"no_{kind}", f"No session of this token has {what} with this id.")
