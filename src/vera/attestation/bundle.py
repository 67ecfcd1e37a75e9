"""A bundle: one file with all that a replay needs, to be checked on another machine.

A zip whose members are stored, sorted and without times of their own, so that the same session always gives
the same bytes. What is unpacked is untrusted: only members with the names, sizes and forms that `pack` writes
are taken, and nothing is written outside the folder that is given.
"""

import contextlib
import errno
import hashlib
import os
import re
import shutil
import stat
import tempfile
import zipfile
from collections.abc import Collection, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import BinaryIO

import msgspec

from vera import events
from vera.attestation.integrity import Loaded, blobs_of, check_integrity
from vera.attestation.objects import hexadecimal
from vera.attestation.replay import replay
from vera.attestation.report import Report
from vera.evidence.reading import read_regular
from vera.evidence.source import Unreadable
from vera.evidence.zip_errors import ZIP_ERRORS

MOST_MEMBERS = 200_000
MOST_BYTES = 16 << 30
_MOST_SMALL = 64 << 20
_CHUNK = 1 << 20
_EPOCH = (1980, 1, 1, 0, 0, 0)
_FILES = ("README.txt", "answer.md", "attestation.json", "seal.json", "trace.jsonl")
_BLOB = re.compile(r"store/([0-9a-f]{2})/\1[0-9a-f]{62}")
_SHA256 = re.compile(r"[0-9a-f]{64}")

README = """\
This is a session of VERA, a research agent that proves what it says.

  answer.md         the answer, with the bytes that it cites
  attestation.json  the verdict, signed: an in-toto Statement in a DSSE envelope
  trace.jsonl       the log of the run, one record a line, each with the hash of the one before
  seal.json         the number and hash of the log's last record, signed
  store/            every byte that was seen, as files named by their sha256

To check it, without a network and without a model:

  pip install vera-agent
  vera replay FILE.zip

That reads every hash and signature (L0), computes every verdict again from the log (L1) and makes the text of
every source again from its raw bytes (L2). Exit code 0 means that all of it holds. `--trust KEYID` asks that
this key, and no other, signed it. A signature says who issued the verdict; it does not make it true.

answer.md is made from the log for people to read, and is not part of what is checked; `vera show FOLDER` on
the unpacked bundle prints the answer from the log.

Without VERA, `sha256sum store/*/*` shows that each file of the store is what its name says.
"""


class BundleError(Exception):
    """A bundle cannot be made, or what was given is none: a sentence for the person."""


class Packed(msgspec.Struct, frozen=True, kw_only=True):
    """What a bundle holds: members and bytes. `missing` are blobs that a replay needs and nobody has."""

    members: int
    size: int
    missing: tuple[str, ...] = ()


def pack(session_dir: Path, file: Path) -> Packed:
    """Write the bundle of a session to a file that is not there yet, whole or not at all.

    A session that is still running is packed as it stands. Raises BundleError, NoSession, OSError.
    """
    if os.path.lexists(file):
        raise BundleError(f"{file} exists already. Choose another name, or remove it first.")
    small = {"README.txt": README.encode(), **_small_files(session_dir)}
    integrity, loaded = check_integrity(session_dir, ())
    if integrity.verdict in ("BROKEN", "ALTERED"):
        raise BundleError(f"The session is not whole, so it is not exported: {integrity.sentence}")
    small["trace.jsonl"] = _lines(session_dir / "trace.jsonl", len(loaded.records))
    needed, useful = _needed(loaded)
    blobs = {
        f"store/{sha256[:2]}/{sha256}": loaded.store.path(sha256)
        for sha256 in needed | useful
        if loaded.store.has(sha256)
    }
    try:
        descriptor, temporary = tempfile.mkstemp(dir=file.parent, prefix=".new-", suffix=".zip")
    except OSError as error:  # it would name the temporary file
        raise BundleError(f"{file} cannot be written: {error.strerror}.") from None
    try:
        with os.fdopen(descriptor, "wb") as out:
            size = _write_archive(out, small, blobs)
            out.flush()
            os.fchmod(descriptor, 0o644)
            os.fsync(descriptor)
        os.link(temporary, file)
    finally:
        Path(temporary).unlink(missing_ok=True)
    missing = tuple(sorted(needed - {path.name for path in blobs.values()}))
    return Packed(members=len(small) + len(blobs), size=size, missing=missing)


def unpack(file: Path, folder: Path) -> None:
    """Write the session of a bundle into an empty folder. Raises BundleError, OSError."""
    try:
        with zipfile.ZipFile(file) as archive:
            for info in _checked(archive.infolist(), file.stat().st_size):
                _write(archive, info, folder / info.filename)
    except ZIP_ERRORS as error:
        raise BundleError(f"{file} is no bundle of VERA: {error}.") from None
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
        raise BundleError(f"{file} is no bundle of VERA: a member begins before the file does.") from None


def replay_bundle(file: Path, trust: Collection[str] = (), level: int = 2) -> Report:
    """Replay the session in a bundle as `replay` does a folder. Raises BundleError, NoSession, OSError."""
    with tempfile.TemporaryDirectory(prefix="vera-replay-") as folder:
        unpack(file, Path(folder))
        return replay(Path(folder), trust, level)


def _small_files(session_dir: Path) -> dict[str, bytes]:
    """The files beside the log, where they are; read before the log, which only grows."""
    found = {}
    for name in ("answer.md", "attestation.json", "seal.json"):
        with contextlib.suppress(Unreadable):
            found[name] = read_regular(session_dir, name, _MOST_SMALL)
    return found


def _lines(log: Path, count: int) -> bytes:
    """The first `count` lines of a log."""
    with log.open("rb") as file:
        return b"".join(islice(file, count))


def _needed(loaded: Loaded) -> tuple[set[str], set[str]]:
    """The blobs that a replay needs, and those that a reader may want: public keys, scripts.

    Raises BundleError when an attestation cannot be followed to all that it names.
    """
    needed, useful = set[str](), set[str]()
    for record in loaded.records:
        needed.update(blob.sha256 for blob in blobs_of(record))
        if isinstance(record, events.Derivation):
            useful.update(sha256 for _, sha256 in record.scripts)
    for each in loaded.rounds:
        if each.opened is None or each.objects is None:
            raise BundleError(
                f"The attestation of round {each.event.round} names objects that are not in the store; "
                "'vera replay' says which. It is not exported without them."
            )
        useful.add(each.opened.keyid)
        needed.update(hexadecimal(name) for name in (*each.objects, each.event.attestation))
    return needed, {sha256 for sha256 in useful if _SHA256.fullmatch(sha256)}


def _member(name: str, size: int) -> zipfile.ZipInfo:
    """A member as every machine writes it: stored, without time and owner."""
    info = zipfile.ZipInfo(name, _EPOCH)
    info.create_system = 3  # Unix: the attributes are those of a plain file
    info.external_attr = (stat.S_IFREG | 0o444) << 16
    info.file_size = size
    return info


def _write_archive(out: BinaryIO, small: Mapping[str, bytes], blobs: Mapping[str, Path]) -> int:
    """Write all members in the order of their names; the number of their bytes."""
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted([*small, *blobs]):
            if name in small:
                archive.writestr(_member(name, len(small[name])), small[name])
            else:
                _copy_blob(archive, name, blobs[name])
        return sum(info.file_size for info in archive.infolist())


def _copy_blob(archive: zipfile.ZipFile, name: str, path: Path) -> None:
    """Put a blob into the bundle. Raises BundleError when its bytes are no longer those of its name."""
    sha256 = hashlib.sha256()
    with path.open("rb") as file, archive.open(_member(name, path.stat().st_size), "w") as out:
        while chunk := file.read(_CHUNK):
            sha256.update(chunk)
            out.write(chunk)
    if sha256.hexdigest() != path.name:
        raise BundleError(f"{name} was altered while it was packed.")


def _checked(members: Sequence[zipfile.ZipInfo], size: int) -> Sequence[zipfile.ZipInfo]:
    """The members, when all of them are what `pack` writes. Raises ValueError."""
    if len(members) > MOST_MEMBERS:
        raise ValueError(f"it has more than {MOST_MEMBERS} members")
    names = set[str]()
    for info in members:
        name = info.filename
        if name != info.orig_filename or not (name in _FILES or _BLOB.fullmatch(name)):
            raise ValueError(f"{info.orig_filename[:80]!r} has no place in it")
        if name in names:
            raise ValueError(f"{name} is in it twice")
        names.add(name)
        if stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG):
            raise ValueError(f"{name} is no plain file")
        if info.compress_type != zipfile.ZIP_STORED or info.compress_size != info.file_size:
            raise ValueError(f"{name} is compressed, and a bundle stores its members as they are")
    if sum(info.file_size for info in members) > min(size, MOST_BYTES):
        raise ValueError("its members are larger than the file")
    if "trace.jsonl" not in names:
        raise ValueError("it holds no trace.jsonl")
    return members


def _write(archive: zipfile.ZipFile, info: zipfile.ZipInfo, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with archive.open(info) as member, path.open("xb") as out:
        shutil.copyfileobj(member, out, _CHUNK)
