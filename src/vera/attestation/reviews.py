"""`reviews.jsonl`: what people say of single claims of a session, each entry signed. No verdict rests on it.

A line is an entry in JSON, whose last member is the sha256 of the line up to there, as in the log of a run.
An entry is signed (Ed25519, over the DSSE encoding of its other members) by the person's key. It names the
entry before it, the last hash of the session's log, and the claim by its key and the sha256 of its text: so
it cannot be moved, changed or taken to another session unseen. That last entries were cut off is not seen.
`docs/reference/attestation-format.md` has every byte of it.
"""

import errno
import fcntl
import hashlib
import os
import stat
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal, get_args

import msgspec
import rfc8785
from msgspec import Meta

from vera.attestation.keys import Signer, verify_hex
from vera.attestation.objects import HexDigest, Key, Thesis
from vera.attestation.signers import Signers
from vera.decode_errors import DECODE_ERRORS
from vera.evidence.reading import read_regular
from vera.extraction.source import Unreadable
from vera.session.log import LogBroken, body_of, seal_line
from vera.session.pae import pae

FILE = "reviews.jsonl"
PAYLOAD_TYPE = "application/vnd.vera.review+json"
FORMAT = 1

MAX_NOTE = 2000
"""Characters of a note."""

MAX_ENTRIES = 1000
MAX_BYTES = 16 << 20
LOCK_SECONDS = 5.0

Label = Literal["agree", "disagree", "unsure"]
LABELS: tuple[Label, ...] = get_args(Label)

Standing = Literal["COUNTED", "REPLACED", "UNTRUSTED", "FOREIGN", "ALTERED"]
"""What an entry is worth.

- COUNTED: signed by this person or someone they trust, of a claim of this session.
- REPLACED: the same key says something else of the claim further down.
- UNTRUSTED: whole, and signed by a key of which VERA cannot say whose it is.
- FOREIGN: of another session, or of a claim that this answer does not have.
- ALTERED: not what was written, or not where it was written.
"""


class ReviewError(Exception):
    """A review cannot be taken: a sentence that ends with what to do."""


class Entry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A line. `at` is Unix time, `prev` the hash of the line before ('' in the first), `session` that of the
    last record of the session's log; `keyid`, `public` and `sig` as in the seal."""

    format: int = FORMAT
    seq: int
    at: int
    prev: Annotated[str, Meta(max_length=64)]
    session: HexDigest
    claim: Key
    claim_sha256: HexDigest
    label: Label
    note: Annotated[str, Meta(max_length=MAX_NOTE)] = ""
    keyid: HexDigest
    public: HexDigest
    sig: Annotated[str, Meta(max_length=128)]

    @property
    def message(self) -> bytes:
        """What is signed: every member but those of the signature, in canonical JSON (RFC 8785)."""
        members = msgspec.to_builtins(self)
        return pae(
            PAYLOAD_TYPE,
            rfc8785.dumps(
                {name: members[name] for name in members if name not in ("keyid", "public", "sig")}
            ),
        )


class Review(msgspec.Struct, frozen=True, kw_only=True):
    """An entry as it was found: `line` is its number, `signed` says whose it is ("by your key"), and `why`
    what is wrong with it. `entry` is None where the line cannot be read."""

    line: int
    standing: Standing
    why: str = ""
    entry: Entry | None = None
    signed: str = ""


class ReviewLog(msgspec.Struct, frozen=True, kw_only=True):
    """What the file holds: the entries in their order, and a sentence about all of them."""

    sentence: str
    reviews: tuple[Review, ...] = ()

    def of(self, claim: str) -> Iterator[Review]:
        """Those of a claim that are of this session, whoever signed them."""
        for each in self.reviews:
            is_here = each.standing in ("COUNTED", "REPLACED", "UNTRUSTED")
            if is_here and each.entry is not None and each.entry.claim == claim:
                yield each

    @property
    def bad(self) -> tuple[Review, ...]:
        """Those that are not of this session, or not whole."""
        return tuple(each for each in self.reviews if each.standing in ("FOREIGN", "ALTERED"))


def digest_of(text: str) -> str:
    """The sha256 by which an entry names the text of a claim."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def digests_of(thesis: Thesis | None) -> dict[str, str]:
    """The claims that can be reviewed, of what was attested: their keys and the digests of their texts."""
    return {claim.key: digest_of(claim.text) for claim in thesis.sub_claims} if thesis else {}


def read_reviews(root: Path, head: str, claims: Mapping[str, str], signers: Signers) -> ReviewLog | None:
    """The reviews of a session whose log ends in the hash `head` ('' where nothing holds its end), with its
    `claims` as `digests_of` has them; None where there is no such file. Reads only, never through a link."""
    if not os.path.lexists(root / FILE):
        return None
    try:
        data = read_regular(root, FILE, MAX_BYTES)
    except Unreadable as error:
        return ReviewLog(sentence=f"{FILE} was not read: {error}.")
    judged = list(_judged(data, head, claims, signers))
    found = tuple(_with_replaced(judged[:MAX_ENTRIES]))
    return ReviewLog(sentence=_summary(found, is_longer=len(judged) > MAX_ENTRIES), reviews=found)


def append(
    root: Path, signer: Signer, *, head: str, claim: str, claim_sha256: str, label: str, note: str = ""
) -> Entry:
    """Write one entry to the end of the file, which is made when there is none, and bring it to the disk.
    What a crash left of an entry is cut.

    `head`, `claim` and `claim_sha256` as above. Raises ReviewError, OSError.
    """
    note = _checked_note(note)
    if label not in LABELS:
        raise ReviewError(f"Say one of {', '.join(LABELS)}: {label[:40]!r} is none of them.")
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(root / FILE, flags, 0o600)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise ReviewError(f"{FILE} is a link. Remove it, and say it again.") from None
        raise
    try:
        _lock(descriptor)
        _mend_end(descriptor)
        seq, prev = _end(descriptor)
        unsigned = Entry(
            seq=seq, at=int(time.time()), prev=prev, session=head, claim=claim, claim_sha256=claim_sha256,
            label=label, note=note, keyid="0" * 64, public="0" * 64, sig="",
        )  # fmt: skip
        keyid, public, sig = signer.seal(unsigned.message)
        entry = msgspec.structs.replace(unsigned, keyid=keyid, public=public, sig=sig)
        _write(descriptor, seal_line(msgspec.json.encode(entry))[0])
    finally:
        os.close(descriptor)
    return entry


def _checked_note(note: str) -> str:
    note = note.encode("utf-8", "replace").decode().strip()
    if len(note) > MAX_NOTE:
        raise ReviewError(f"The note has {len(note)} characters, and {MAX_NOTE} is the most. Shorten it.")
    return note


def _write(descriptor: int, line: bytes) -> None:
    """All of the line, or nothing."""
    before = os.fstat(descriptor).st_size
    try:
        if os.write(descriptor, line) != len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(descriptor)
    except OSError:
        os.ftruncate(descriptor, before)
        raise


def _lock(descriptor: int) -> None:
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        raise ReviewError(f"{FILE} is no plain file. Move it away, and say it again.")
    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise ReviewError("Another program writes a review of this session. Try again.") from None
            time.sleep(0.01)


def _mend_end(descriptor: int) -> None:
    """End the last line where it is whole, and cut it where it is not: a crash left it, and whoever wrote it
    was never told that it is there."""
    size = os.fstat(descriptor).st_size
    data = os.pread(descriptor, size, 0) if size <= MAX_BYTES else b""
    whole = data.rfind(b"\n") + 1
    if data[whole:]:
        try:
            body_of(data[whole:], 1)
        except LogBroken:
            os.ftruncate(descriptor, whole)
        else:
            os.write(descriptor, b"\n")


def _end(descriptor: int) -> tuple[int, str]:
    """The number that the next entry has, and the hash that it names. Raises ReviewError."""
    size = os.fstat(descriptor).st_size
    data = os.pread(descriptor, size, 0) if size <= MAX_BYTES else b""
    chained = list(_chained(data))
    if size > MAX_BYTES or any(why for _, _, why in chained):
        raise ReviewError(f"{FILE} was altered, so nothing is added to it. Move it away to begin another.")
    if len(chained) >= MAX_ENTRIES:
        raise ReviewError(f"{FILE} holds {MAX_ENTRIES} entries, which is the most. Move it away to go on.")
    return len(chained) + 1, chained[-1][1] if chained else ""


def _chained(data: bytes) -> Iterator[tuple[Entry | None, str, str]]:
    """Each line: its entry, its hash, and '' or what is wrong with it. What follows a line that is not as it
    was written has no place any more, so it is wrong, too."""
    prev, why = "", ""
    lines = data.split(b"\n", MAX_ENTRIES + 1)
    torn = lines.pop()
    for number, line in enumerate([*lines, torn] if torn else lines, 1):
        is_torn = bool(torn) and line is torn
        entry, digest, wrong = _entry(line, number, prev, is_torn=is_torn)
        why = "it follows an entry that is not what was written" if why else wrong
        prev = digest
        yield entry, digest, why


def _entry(line: bytes, number: int, prev: str, *, is_torn: bool) -> tuple[Entry | None, str, str]:
    """The entry of a line, its hash, and '' or what is wrong with it. `prev` is the hash before it."""
    entry, digest, why = None, "", ""
    try:
        body, digest = body_of(line, number)
        entry = msgspec.json.decode(body, type=Entry)
        if msgspec.json.encode(entry) != body or entry.format != FORMAT or is_torn:
            why = "it is not written as VERA writes it"
        elif (entry.seq, entry.prev) != (number, prev):
            why = "it does not follow the entry before it"
    except LogBroken as broken:
        why = broken.reason
    except DECODE_ERRORS:
        why = "it is no review of this version"
    return entry, digest, why


def _judged(data: bytes, head: str, claims: Mapping[str, str], signers: Signers) -> Iterator[Review]:
    for line, (entry, _, why) in enumerate(_chained(data), 1):
        if line > MAX_ENTRIES:
            yield Review(line=line, standing="ALTERED")
            return
        if entry is None or why:
            yield Review(line=line, standing="ALTERED", why=why)
        elif not _is_signed(entry):
            yield Review(line=line, standing="ALTERED", why="its signature does not match")
        elif not head:
            why = "nothing that can be relied on holds the end of this session's log"
            yield Review(line=line, standing="FOREIGN", why=why)
        elif entry.session != head:
            yield Review(line=line, standing="FOREIGN", why="it is about another session, or another end")
        elif claims.get(entry.claim) != entry.claim_sha256:
            yield Review(line=line, standing="FOREIGN", why="the answer has no such claim")
        else:
            standing: Standing = "COUNTED" if signers.accepts(entry.keyid) else "UNTRUSTED"
            yield Review(line=line, standing=standing, entry=entry, signed=signers.who(entry.keyid))


def _is_signed(entry: Entry) -> bool:
    try:
        keyid = hashlib.sha256(bytes.fromhex(entry.public)).hexdigest()
        return keyid == entry.keyid and verify_hex(entry.public, entry.sig, entry.message)
    except (ValueError, rfc8785.CanonicalizationError):
        return False


def _with_replaced(reviews: Sequence[Review]) -> Iterator[Review]:
    """The reviews, where only the last one of a key on a claim counts."""
    last = {(each.entry.keyid, each.entry.claim): each.line for each in reviews if each.entry}
    for each in reviews:
        if each.entry is not None and last[each.entry.keyid, each.entry.claim] != each.line:
            each = msgspec.structs.replace(each, standing="REPLACED")
        yield each


def _summary(reviews: Sequence[Review], *, is_longer: bool) -> str:
    """`3 reviews: 1 counts, 1 by an unknown key, 1 altered.`"""
    words = {
        "COUNTED": ("counts", "count"),
        "REPLACED": ("replaced by a later one", "replaced by later ones"),
        "UNTRUSTED": ("by an unknown key", "by unknown keys"),
        "FOREIGN": ("of another session", "of other sessions"),
        "ALTERED": ("altered", "altered"),
    }
    parts = []
    for standing, (one, many) in words.items():
        if count := sum(each.standing == standing for each in reviews):
            parts.append(f"{count} {one if count == 1 else many}")
    more = f" What follows the first {MAX_ENTRIES} was not read." if is_longer else ""
    count = len(reviews)
    return f"{count} review{'' if count == 1 else 's'}: {', '.join(parts) or 'none counts'}.{more}"
