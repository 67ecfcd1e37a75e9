"""A bundle: one file with all that a replay needs, to be checked on another machine.

A zip whose members are stored, sorted and without their own times, so that the same session always gives
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
from collections.abc import Collection, Mapping, Sequence, Set
from itertools import islice
from pathlib import Path
from typing import IO

import msgspec

from vera import events
from vera.attestation.integrity import Loaded, NoSession, blobs_of, check_integrity
from vera.attestation.objects import hexadecimal
from vera.attestation.replay import replay
from vera.attestation.replay_theses import is_here, received_from
from vera.attestation.report import Report
from vera.attestation.signers import Signers
from vera.evidence.reading import read_regular
from vera.extraction.source import Unreadable
from vera.extraction.zip_errors import ZIP_ERRORS
from vera.store import whole_file

MAX_MEMBERS = 200_000
MAX_BYTES = 16 << 30
_MAX_SMALL = 64 << 20
_CHUNK = 1 << 20
_EPOCH = (1980, 1, 1, 0, 0, 0)
_README = "README.txt"
_SMALL = ("answer.md", "attestation.json", "reviews.jsonl", "seal.json")
_LOG = "trace.jsonl"
_MEMBER = re.compile(
    r"(?:theses/[0-9]{4,8}/)?(?:answer\.md|attestation\.json|reviews\.jsonl|seal\.json|trace\.jsonl|"
    r"store/([0-9a-f]{2})/\1[0-9a-f]{62})"
)
_SHA256 = re.compile(r"[0-9a-f]{64}")

README = """\
This is a session of VERA, a research agent that proves what it says.

  answer.md         the answer, with the bytes that it cites
  attestation.json  the verdict, signed: an in-toto Statement in a DSSE envelope
  trace.jsonl       the log of the run, one record a line, each with the hash of the one before
  seal.json         how the run ended, the hash of the log's last record and that of answer.md, signed
  reviews.jsonl     where people reviewed claims: what each said, signed; no verdict rests on it
  store/            every byte that was seen, as files named by their sha256

To check it, in a clone of VERA, without a network and without a model:

  python3 run.py trust add NAME KEY      whose key it is: ask the maker, who types `python3 run.py key`
  python3 run.py replay FILE.zip

That reads every hash and signature (L0), computes every verdict again from the log (L1) and makes the text of
every source again from its raw bytes (L2). Exit code 0 means that all of it holds and that you know the key.
`replay FILE.zip --any-signer` leaves open who signed. A signature says who issued the verdict; it does
not make it true.

Without VERA, `sha256sum store/*/*` shows that each file of the store is what its name says. VERA's page
docs/reference/attestation-format.md has the rest, with a short program that checks all of it.
"""

_EARLIER_READMES = frozenset(
    {
        "d893cd726f7ef10bb9f196e989ce413f3ca1ea5f087003c077abf1b0004b84e9",
        "bcfe8abc11fc6e2479874d73feb2b02277837e62da99e2e0e07b06e8947d7ab9",
    }
)
"""The sha256 of what earlier versions wrote."""


class BundleError(Exception):
    """A bundle cannot be made, or the file is not a bundle: a sentence for the person."""


class Packed(msgspec.Struct, frozen=True, kw_only=True):
    """What a bundle holds: members and bytes. `missing` are blobs that a replay needs and no one has."""

    members: int
    size: int
    missing: tuple[str, ...] = ()


def pack(session_dir: Path, file: Path) -> Packed:
    """Write the bundle of a session to a file that is not there yet, whole or not at all.

    A session that is still running is packed as it stands, and an execution with the sessions in which its
    theses were verified. Raises BundleError, NoSession, OSError.
    """
    if os.path.lexists(file):
        raise BundleError(f"{file} exists already. Choose another name, or remove it first.")
    own, loaded = _contents(session_dir)
    small, blobs, missing = {_README: README.encode(), **own.small}, dict(own.blobs), set(own.missing)
    for name, wanted in received_from(loaded.records).items():
        thesis = _contents_of_thesis(session_dir, name, wanted)
        small |= {f"{name}/{member}": data for member, data in thesis.small.items()}
        blobs |= {f"{name}/{member}": path for member, path in thesis.blobs.items()}
        missing |= thesis.missing
    try:
        with whole_file(file, 0o644) as out:
            size, copied = _write_archive(out, small, blobs)
            if altered := [name for name, sha256 in copied.items() if blobs[name].name != sha256]:
                raise BundleError(f"{altered[0]} was altered while it was packed.")
    except OSError as error:
        if error.filename not in (None, str(file)):
            raise
        raise BundleError(f"{file} cannot be written: {error.strerror}.") from None
    return Packed(members=len(small) + len(blobs), size=size, missing=tuple(sorted(missing)))


def is_readme(sha256: str) -> bool:
    """Whether this is the hash of a README.txt that VERA writes, or wrote."""
    return sha256 == hashlib.sha256(README.encode()).hexdigest() or sha256 in _EARLIER_READMES


def unpack(file: Path, folder: Path) -> None:
    """Write the session of a bundle into an empty folder.

    A bundle holds its members and nothing else: bytes before, between or behind them, a comment, or another
    README than VERA's are refused. Raises BundleError, OSError.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            members = _checked(archive.infolist(), file.stat().st_size)
            for info in members:
                _write(archive, info, folder / info.filename)
    except ZIP_ERRORS as error:
        raise BundleError(f"{file} is no bundle of VERA: {error}.") from None
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
        raise BundleError(f"{file} is no bundle of VERA: a member begins before the file does.") from None
    _insist_on_form(file, folder, [info.filename for info in members])


def _insist_on_form(file: Path, folder: Path, names: Sequence[str]) -> None:
    """Raises BundleError unless the file is, byte for byte, what is written for its members."""
    if not is_readme(hashlib.sha256((folder / _README).read_bytes()).hexdigest()):
        raise BundleError(f"{file} was altered: its README.txt is not the one that VERA writes.")
    with tempfile.TemporaryFile(dir=folder) as written, file.open("rb") as given:
        _write_archive(written, {}, {name: folder / name for name in names})
        written.seek(0)
        digests = {hashlib.file_digest(each, "sha256").digest() for each in (given, written)}
    if len(digests) > 1:
        raise BundleError(
            f"{file} was altered: it is not what VERA writes for its members. It has bytes before, between "
            "or behind them, or its members are in another order."
        )


def replay_bundle(
    file: Path, signers: Signers, level: int = 2, entailment_model: Path | None = None
) -> Report:
    """Replay the session in a bundle as `replay` does a folder. Raises BundleError, NoSession, OSError."""
    with tempfile.TemporaryDirectory(prefix="vera-replay-") as folder:
        unpack(file, Path(folder))
        return replay(Path(folder), signers, level, entailment_model)


class _Contents(msgspec.Struct, frozen=True, kw_only=True):
    """The members of one session by name: files beside its store, and blobs. `missing` as in Packed."""

    small: Mapping[str, bytes]
    blobs: Mapping[str, Path]
    missing: Set[str]


def _contents(session_dir: Path) -> tuple[_Contents, Loaded]:
    """What a replay needs of one session. Raises BundleError, NoSession, OSError."""
    small = _small_files(session_dir)
    integrity, loaded = check_integrity(session_dir, Signers(any_signer=True))
    if integrity.verdict in ("BROKEN", "ALTERED"):
        raise BundleError(f"The session is not whole, so it is not exported: {integrity.sentence}")
    small[_LOG] = _lines(session_dir / _LOG, len(loaded.records))
    needed, useful = _needed(loaded)
    blobs = {
        f"store/{sha256[:2]}/{sha256}": loaded.store.path(sha256)
        for sha256 in needed | useful
        if loaded.store.has(sha256)
    }
    missing = needed - {path.name for path in blobs.values()}
    return _Contents(small=small, blobs=blobs, missing=missing), loaded


def _contents_of_thesis(session_dir: Path, name: str, wanted: Collection[str]) -> _Contents:
    """What a replay needs of the session in which a thesis of an execution was verified, with the wanted
    attestations. Raises BundleError, OSError."""
    why = "it is not here."
    if is_here(session_dir, name):
        try:
            contents, loaded = _contents(session_dir / name)
        except (BundleError, NoSession) as error:
            why = str(error)
        else:
            if {each.event.attestation for each in loaded.rounds} >= set(wanted):
                return contents
            why = "it does not hold the attestation that was received from it."
    raise BundleError(f"A thesis was verified in {name[:200]}, which cannot be exported: {why}")


def _small_files(session_dir: Path) -> dict[str, bytes]:
    """The files beside the log, where they are; read before the log, which only grows."""
    found = {}
    for name in _SMALL:
        with contextlib.suppress(Unreadable):
            found[name] = read_regular(session_dir, name, _MAX_SMALL)
    return found


def _lines(log: Path, count: int) -> bytes:
    """The first `count` lines of a log."""
    with log.open("rb") as file:
        return b"".join(islice(file, count))


def _needed(loaded: Loaded) -> tuple[set[str], set[str]]:
    """The blobs that a replay needs, and those that a reader may want: public keys, scripts.

    Raises BundleError when an attestation cannot be followed to all that it names.
    """
    needed = {blob.sha256 for record in loaded.records for blob in blobs_of(record)}
    useful = _scripts(loaded)
    for each in loaded.rounds:
        if each.opened is None or each.objects is None:
            raise _not_followed(f"of round {each.event.round}")
        useful.add(each.opened.keyid)
        needed.update(hexadecimal(name) for name in (*each.objects, each.event.attestation))
    for received in loaded.received:
        if received.objects is None:
            raise _not_followed(received.event.handle[:80])
        needed.update(map(hexadecimal, received.objects))
        useful.add(received.event.attestation.removeprefix("sha256:"))
    return needed, {sha256 for sha256 in useful if _SHA256.fullmatch(sha256)}


def _scripts(loaded: Loaded) -> set[str]:
    derivations = [each for each in loaded.records if isinstance(each, events.Derivation)]
    return {sha256 for each in derivations for _, sha256 in each.scripts}


def _not_followed(which: str) -> BundleError:
    return BundleError(
        f"The attestation {which} names objects that are not in the store; "
        "'vera replay' says which. It is not exported without them."
    )


def _member(name: str, size: int) -> zipfile.ZipInfo:
    """A member as every machine writes it: stored, without time and owner."""
    info = zipfile.ZipInfo(name, _EPOCH)
    info.create_system = 3  # Unix: the attributes are those of a plain file
    info.external_attr = (stat.S_IFREG | 0o444) << 16
    info.file_size = size
    return info


def _write_archive(
    out: IO[bytes], small: Mapping[str, bytes], files: Mapping[str, Path]
) -> tuple[int, Mapping[str, str]]:
    """Write all members in the order of their names; their bytes, and the sha256 of each file."""
    copied = {}
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted([*small, *files]):
            if name in small:
                archive.writestr(_member(name, len(small[name])), small[name])
            else:
                copied[name] = _copy(archive, name, files[name])
        return sum(info.file_size for info in archive.infolist()), copied


def _copy(archive: zipfile.ZipFile, name: str, path: Path) -> str:
    """Put a file into the bundle; its sha256."""
    sha256 = hashlib.sha256()
    with path.open("rb") as file, archive.open(_member(name, path.stat().st_size), "w") as out:
        while chunk := file.read(_CHUNK):
            sha256.update(chunk)
            out.write(chunk)
    return sha256.hexdigest()


def _checked(members: Sequence[zipfile.ZipInfo], size: int) -> Sequence[zipfile.ZipInfo]:
    """The members, when all of them are what `pack` writes. Raises ValueError."""
    if len(members) > MAX_MEMBERS:
        raise ValueError(f"it has more than {MAX_MEMBERS} members")
    names = set[str]()
    for info in members:
        name = _checked_name(info)
        if name in names:
            raise ValueError(f"{name} is in it twice")
        names.add(name)
        _check_stored(info)
    if sum(info.file_size for info in members) > min(size, MAX_BYTES):
        raise ValueError("its members are larger than the file")
    for wanted in (_LOG, _README):
        if wanted not in names:
            raise ValueError(f"it holds no {wanted}")
    return members


def _checked_name(info: zipfile.ZipInfo) -> str:
    """The name of a member, when `pack` gives such names. Raises ValueError."""
    name = info.filename
    if name != info.orig_filename or not (name == _README or _MEMBER.fullmatch(name)):
        raise ValueError(f"{info.orig_filename[:80]!r} has no place in it")
    return name


def _check_stored(info: zipfile.ZipInfo) -> None:
    """Raises ValueError unless a member is a plain file, stored as it is."""
    if stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG):
        raise ValueError(f"{info.filename} is no plain file")
    if info.compress_type != zipfile.ZIP_STORED or info.compress_size != info.file_size:
        raise ValueError(f"{info.filename} is compressed, and a bundle stores its members as they are")


def _write(archive: zipfile.ZipFile, info: zipfile.ZipInfo, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with archive.open(info) as member, path.open("xb") as out:
        shutil.copyfileobj(member, out, _CHUNK)
