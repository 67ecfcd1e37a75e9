"""Cards, bytes and bundles of a token's own sessions, each held against its hash before it goes out."""

import re
import secrets
from typing import BinaryIO

from vera.attestation.bundle import BundleError, pack
from vera.attestation.integrity import NoSession
from vera.attestation.objects import Card, ObjectError, parse
from vera.evidence.reading import read_regular
from vera.evidence.source import Unreadable
from vera.service.problems import Refused
from vera.service.records import Job, Records
from vera.store import Store, StoreError

MAX_BYTES = 64 << 20
MAX_SESSIONS = 20_000
"""Sessions that are looked through for a hash, the newest first."""

DIGEST = "(?:sha256:)?([0-9a-f]{64})"
_DIGEST = re.compile(DIGEST)


def card_of(records: Records, name: str) -> bytes:
    """The canonical bytes of a card: their sha256 is its id. Raises Refused (400, 404)."""
    data = evidence_of(records, name)
    try:
        parse(data, Card)
    except ObjectError:
        raise _nothing("card") from None
    return data


def evidence_of(records: Records, name: str) -> bytes:
    """The bytes of that sha256, of any session of the token. Raises Refused (400, 404, 413)."""
    found = _DIGEST.fullmatch(name)
    if found is None:
        raise Refused(400, "no_digest", "That is no id: 64 hexadecimal digits, with or without 'sha256:'.")
    sha256 = found[1]
    for job in list(reversed(records.jobs.values()))[:MAX_SESSIONS]:
        root = records.place(job).session
        if not (root / "store" / sha256[:2] / sha256).exists():
            continue
        try:
            read_regular(root, f"store/{sha256[:2]}/{sha256}", MAX_BYTES)
            return Store(root / "store").get(sha256)
        except (Unreadable, StoreError, OSError):
            continue
    raise _nothing("evidence")


def span_of(data: bytes, start: str | None, end: str | None) -> bytes:
    """The bytes from `start` to `end`, all of them without these. Raises Refused (400)."""
    first, last = _offset(start, 0), _offset(end, len(data))
    if not first <= last <= len(data):
        raise Refused(400, "no_span", f"There are {len(data)} bytes: start and end lie in them.")
    return data[first:last]


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


def _offset(text: str | None, usual: int) -> int:
    if text is None:
        return usual
    if not (text.isascii() and text.isdigit() and len(text) <= 12):
        raise Refused(400, "no_span", "start and end are whole numbers.")
    return int(text)


def _nothing(what: str) -> Refused:
    return Refused(404, f"no_{what}", f"No session of this token has a {what} with this id.")
