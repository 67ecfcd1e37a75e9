"""`BASE/.vera/ahdb.jsonl`: the journal of the AHDB, appended to under a lock, readable while it grows.

The technique is that of a session's log (`vera.session.log`): a line of JSON whose last member is the sha256
of the line up to there, and whose `prev` is the hash of the line before. The proofs of its ASSERTs lie
beside it in `attestations/`, by their sha256, and its signed head (`head`) in `ahdb.head.json`. A journal
holds no ASSERT that its proofs do not give, and every append signs the head under the lock.
"""

import contextlib
import errno
import fcntl
import os
import stat
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import msgspec

from vera.attestation.ahdb import head as heads
from vera.attestation.ahdb.entries import AnyEntry, Assert, decode, encode, moment
from vera.attestation.ahdb.proof import proved
from vera.attestation.gather import rfc3339
from vera.attestation.keys import Signer
from vera.decode_errors import DECODE_ERRORS
from vera.evidence.reading import read_regular
from vera.extraction.source import Unreadable
from vera.session.log import LogError, seal_line
from vera.store import Store

FOLDER = ".vera"
NAME = "ahdb.jsonl"
TORN = "ahdb.jsonl.torn"
PROOFS = "attestations"

MAX_BYTES = 256 << 20
"""A larger journal is not read."""
MAX_LINE = 1 << 20
"""A longer line was not written by us: every member of an entry is bounded."""
LOCK_SECONDS = 10.0

_TAIL_BYTES = len(',"hash":""}') + 64
_FLAGS = os.O_CREAT | os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class JournalError(LogError):
    """The journal cannot be used: a sentence for the person."""


class JournalBroken(JournalError):
    """A line is not what was written; `line` is its number, from 1."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(
            f"The AHDB journal is broken at line {line}: {reason}. Nothing of it is used: take "
            f"{FOLDER}/{NAME} and {FOLDER}/{heads.NAME} from a copy, or move both away and the next "
            "verification begins a new one."
        )
        self.line = line
        self.reason = reason


class Content(msgspec.Struct, frozen=True, kw_only=True):
    """The entries of a journal, the hash of the last one, and the bytes up to its end.

    `keyid` is the key that signed the head, '' for a journal without one: an older VERA wrote it, and nothing
    says where its end was. `unsigned` counts the whole lines behind the signed head, which are no entries,
    and `torn` all bytes behind the end: those lines, and one that was begun and never finished.
    """

    entries: tuple[AnyEntry, ...] = ()
    head: str = ""
    end: int = 0
    torn: int = 0
    keyid: str = ""
    unsigned: int = 0


class Appended(msgspec.Struct, frozen=True, kw_only=True):
    """The entries as they were written. Before that `torn` bytes behind the journal's end were moved to
    `ahdb.jsonl.torn`; `unsigned` of its lines were whole."""

    entries: tuple[AnyEntry, ...]
    torn: int = 0
    unsigned: int = 0


Compile = Callable[[tuple[AnyEntry, ...]], Sequence[AnyEntry]]
"""From the journal's entries to those that are to be appended."""


class Journal:
    """The journal under a base folder, which need not exist yet."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.path = base / FOLDER / NAME
        self.proofs = Store(base / FOLDER / PROOFS)

    def read(self) -> Content:
        """Every entry, with the chain and the signed head verified; nothing where there is no journal.

        Whom the head's key belongs to is not asked here. Raises JournalBroken for a line that is not what was
        written and for entries that are missing, JournalError for a file that cannot be read or is no regular
        file of at most MAX_BYTES.
        """
        with self._unwritten():
            return self._read()

    def _read(self) -> Content:
        data = b""
        try:
            if os.path.lexists(self.path):
                data = read_regular(self.base, f"{FOLDER}/{NAME}", MAX_BYTES)
            return up_to(heads.read(self.base, f"{FOLDER}/{heads.NAME}"), data)
        except Unreadable as error:
            raise JournalError(f"The AHDB journal {self.path} cannot be read: {error}.") from None
        except heads.BadHead as error:
            head = self.path.with_name(heads.NAME)
            raise JournalError(
                f"The head of the AHDB journal, {head}, cannot be relied on: {error}. Take both files from a "
                "copy, or move both away and the next verification begins a new journal."
            ) from None

    def append(
        self, compile_: Compile, now: datetime, signer: Signer, trust: Collection[str] = ()
    ) -> Appended:
        """Append what `compile_` makes of the entries so far, all in one write, sign the new head, and sync
        both to the disk.

        No other process appends in between. What stands behind the end is moved aside first. `trust` are the
        keys, beside that of `signer`, that may have signed. Raises JournalError, also for a head that another
        key signed, JournalBroken, and Refused (`proof.proved`) for an ASSERT that the proofs do not give or
        that is signed by none of them; nothing is then written. What `compile_` raises goes through.
        """
        keys = {signer.keyid, *trust}
        with self._locked() as (folder, descriptor):
            content = self._read()
            if why := not_trusted(content, keys):
                raise JournalError(why)
            _move_aside(folder, descriptor, content)
            made = compile_(content.entries)
            for entry in made:
                if isinstance(entry, Assert):
                    proved(entry, self.proofs, keys)
            entries, data = lines_of(made, content, now)
            if content.end + len(data) > MAX_BYTES:
                raise JournalError(f"The AHDB journal {self.path} is full ({MAX_BYTES >> 20} MB).")
            if entries:
                before = None
                if not content.keyid:
                    before = heads.signed(len(content.entries), content.head or heads.NO_ENTRY, signer)
                head = heads.signed(entries[-1].seq, hash_of(entries[-1]), signer)
                self._write(folder, descriptor, data, content.end, before, head)
        return Appended(entries=entries, torn=content.torn, unsigned=content.unsigned)

    def _write(
        self,
        folder: int,
        descriptor: int,
        data: bytes,
        end: int,
        before: heads.JournalHead | None,
        head: heads.JournalHead,
    ) -> None:
        """The lines first: a crash between the two leaves lines behind the head, which count for nothing. A
        journal without a head gets that of its entries `before` its lines."""
        try:
            if before is not None:
                heads.write(folder, before)
            if os.write(descriptor, data) != len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(descriptor)
            heads.write(folder, head)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(descriptor, end)
            raise JournalError(f"Could not write to {self.path}: {error.strerror}.") from error

    @contextmanager
    def _unwritten(self) -> Iterator[None]:
        """No writer is between the lines and the head. A file that cannot be locked is read as it is."""
        descriptor = -1
        with contextlib.suppress(OSError):
            descriptor = os.open(self.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            if descriptor >= 0:
                with contextlib.suppress(OSError):
                    _lock(descriptor, self.path, fcntl.LOCK_SH)
            yield
        finally:
            if descriptor >= 0:
                os.close(descriptor)

    @contextmanager
    def _locked(self) -> Iterator[tuple[int, int]]:
        """The folder's and the journal's descriptor, the journal locked against other writers."""
        folder = descriptor = -1
        try:
            try:
                (self.base / FOLDER).mkdir(mode=0o700, parents=True, exist_ok=True)
                flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
                folder = os.open(self.base / FOLDER, flags)
                descriptor = os.open(NAME, _FLAGS, 0o600, dir_fd=folder)
            except OSError as error:
                raise JournalError(_why_not_opened(self.path, error)) from None
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise JournalError(f"{self.path} is no regular file. Move it away.")
            _lock(descriptor, self.path, fcntl.LOCK_EX)
            yield folder, descriptor
        finally:
            for each in (descriptor, folder):
                if each >= 0:
                    os.close(each)


def parse_lines(data: bytes) -> Content:
    """The content of a journal's bytes. Raises JournalBroken."""
    entries: list[AnyEntry] = []
    head, end = "", 0
    while (stop := data.find(b"\n", end, end + MAX_LINE + 1)) >= 0:
        entry, head = _open_line(data[end:stop], len(entries) + 1, head)
        if entries and entry.ts < entries[-1].ts:
            raise JournalBroken(len(entries) + 1, "it is older than the line before it")
        entries.append(entry)
        end = stop + 1
    if len(data) - end > MAX_LINE:
        raise JournalBroken(len(entries) + 1, f"it is longer than {MAX_LINE} bytes")
    return Content(entries=tuple(entries), head=head, end=end, torn=len(data) - end)


def up_to(head: heads.JournalHead | None, data: bytes) -> Content:
    """The content of a journal's bytes up to its signed head, all of it where there is none.

    Raises JournalBroken: also for a journal that must have a head, and for one that ends before it.
    """
    content = parse_lines(data)
    entries = content.entries
    if head is None:
        tiered = (entry.seq for entry in entries if isinstance(entry, Assert) and entry.risk)
        if line := next(tiered, 0):
            raise JournalBroken(
                line, f"the entry is of a journal with a signed head, and {heads.NAME} is missing"
            )
        return content
    if head.seq > len(entries):
        missing = head.seq - len(entries)
        raise JournalBroken(len(entries) + 1, f"its last {missing} signed entries are missing")
    if (hash_of(entries[head.seq - 1]) if head.seq else heads.NO_ENTRY) != head.hash:
        raise JournalBroken(head.seq, "the entry there is not the one that was signed")
    end = sum(len(line) + 1 for line in data.split(b"\n", head.seq)[: head.seq])
    return Content(
        entries=entries[: head.seq],
        head=head.hash if head.seq else "",
        end=end,
        torn=len(data) - end,
        keyid=head.keyid,
        unsigned=len(entries) - head.seq,
    )


def not_trusted(content: Content, trust: Collection[str]) -> str:
    """Why the head of a journal proves nothing to whoever trusts these keys, '' when it does or has none."""
    if not content.keyid or content.keyid in trust:
        return ""
    signer = f"key {content.keyid}, which is not trusted (--trust KEYID)"
    return f"The head of the AHDB journal is signed by {signer}. Nothing of it is used."


def hash_of(entry: AnyEntry) -> str:
    """The hash that the line of an entry ends in."""
    return seal_line(encode(entry))[1]


def _open_line(line: bytes, number: int, prev: str) -> tuple[AnyEntry, str]:
    body = line[:-_TAIL_BYTES] + b"}"
    sealed, head = seal_line(body)
    if sealed[:-1] != line:
        raise JournalBroken(number, "its bytes do not match its hash")
    try:
        entry = decode(body)
        for timestamp in (entry.ts, entry.issued_at or entry.ts, entry.expires_at or entry.ts):
            moment(timestamp)
    except DECODE_ERRORS as error:
        raise JournalBroken(number, f"it is no entry of this version ({error})") from None
    if encode(entry) != body:
        raise JournalBroken(number, "it is not written as VERA writes it")
    if entry.prev != prev:
        raise JournalBroken(number, "it does not follow the line before it")
    if entry.seq != number:
        raise JournalBroken(number, f"it is entry {entry.seq} where {number} was expected")
    return entry, head


def lines_of(made: Sequence[AnyEntry], content: Content, now: datetime) -> tuple[tuple[AnyEntry, ...], bytes]:
    """The entries with their numbers, time and chain, and their lines. Time never runs backwards."""
    ts = rfc3339(now.timestamp())
    if content.entries:
        ts = max(ts, content.entries[-1].ts)
    seq, head = len(content.entries), content.head
    entries: list[AnyEntry] = []
    lines: list[bytes] = []
    for entry in made:
        seq += 1
        entry = msgspec.structs.replace(entry, seq=seq, ts=ts, prev=head)
        line, head = _line_of(entry)
        entries.append(entry)
        lines.append(line)
    return tuple(entries), b"".join(lines)


def _line_of(entry: AnyEntry) -> tuple[bytes, str]:
    """The line (with newline) and the hash of an entry. Raises JournalError for one that could not be read
    again."""
    try:
        line, head = seal_line(encode(entry))
        if len(line) > MAX_LINE:
            raise JournalBroken(entry.seq, f"it is longer than {MAX_LINE} bytes")
        _open_line(line[:-1], entry.seq, entry.prev)
    except JournalBroken as error:
        raise JournalError(f"No journal can hold this entry: {error.reason}.") from None
    except UnicodeEncodeError:
        raise JournalError("No journal can hold this entry: it is no valid text.") from None
    return line, head


def _move_aside(folder: int, descriptor: int, content: Content) -> None:
    """Move an unfinished last line to the file for torn ones, and cut it off."""
    if not content.torn:
        return
    torn = os.pread(descriptor, content.torn, content.end)
    flags = os.O_CREAT | os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        with os.fdopen(os.open(TORN, flags, 0o600, dir_fd=folder), "ab") as kept:
            kept.write(torn + b"\n")
            kept.flush()
            os.fsync(kept.fileno())
        os.ftruncate(descriptor, content.end)
    except OSError as error:
        raise JournalError(f"Could not move a torn line to {FOLDER}/{TORN}: {error.strerror}.") from None


def _lock(descriptor: int, path: Path, how: int) -> None:
    until = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            fcntl.flock(descriptor, how | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() > until:
                sentence = f"{path} is in use by another run since {LOCK_SECONDS:.0f} s. Try again."
                raise JournalError(sentence) from None
            time.sleep(0.02)


def _why_not_opened(path: Path, error: OSError) -> str:
    if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.EMLINK):
        return f"{path} is a link, or leads through one. Put the file itself there."
    return f"The AHDB journal {path} cannot be opened: {error.strerror or error}."
