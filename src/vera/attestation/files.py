"""Statements about files: an in-toto Statement (v1) over their sha256, signed with the user's key.

What is stated is the caller's: a predicate, such as SLSA provenance, and the URI of its type. A signature
says who stated it, of which bytes; it does not say that it is true.
"""

import hashlib
import os
import stat
from collections.abc import Sequence
from io import BufferedReader
from pathlib import Path
from typing import Any

import msgspec

from vera.attestation import dsse
from vera.attestation.dsse import EnvelopeError
from vera.attestation.envelope import PREDICATE_TYPE, STATEMENT_TYPE, Digests, Subject
from vera.attestation.keys import Signer
from vera.attestation.objects import ObjectError, canonical
from vera.decode_errors import DECODE_ERRORS

MAX_FILES = 1000
MAX_PREDICATE_BYTES = 1 << 20
_MAX_TYPE = 500
_EXAMPLE = "https://slsa.dev/provenance/v1"


class StatementError(ValueError):
    """Files that cannot be stated or checked: a sentence that says why."""


class FileStatement(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An in-toto Statement, v1, with any predicate."""

    type: str = msgspec.field(name="_type", default=STATEMENT_TYPE)
    subject: tuple[Subject, ...]
    predicate_type: str = msgspec.field(name="predicateType")
    predicate: dict[str, Any]


class FileCheck(msgspec.Struct, frozen=True, kw_only=True):
    """How a file compares with a statement; `why` is '' when it is one that was signed."""

    name: str
    sha256: str
    why: str = ""


class CheckedFiles(msgspec.Struct, frozen=True, kw_only=True):
    """A statement whose signature holds, who signed it, and each file beside it."""

    keyid: str
    statement: FileStatement
    files: tuple[FileCheck, ...]


def attest_files(files: Sequence[Path], predicate_type: str, predicate: bytes, signer: Signer) -> bytes:
    """The envelope file of a statement about files.

    `predicate` is a JSON object. Subjects are named by the files' names, without their folders. Raises
    StatementError, and OSError for a file that cannot be read.
    """
    _insist_on_type(predicate_type)
    if not 1 <= len(files) <= MAX_FILES:
        raise StatementError(f"Give 1 to {MAX_FILES} files.")
    subject = tuple(sorted((_subject(path) for path in files), key=lambda each: each.name))
    names = [each.name for each in subject]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise StatementError(
            f"Two files have the name {twice}. A statement names files without their folders."
        )
    statement = FileStatement(subject=subject, predicate_type=predicate_type, predicate=_object(predicate))
    try:
        return dsse.sign(canonical(statement), signer)
    except ObjectError as error:
        raise StatementError(f"The predicate has no canonical form: {error}.") from None


def check_files(envelope: bytes, files: Sequence[Path]) -> CheckedFiles:
    """Compare files with the statement of an envelope, by name and sha256.

    Whether the signer can be trusted is not asked here. Raises EnvelopeError for an envelope that does not
    hold, StatementError for one that is about no files, and OSError for a file that cannot be read.
    """
    signed = dsse.open_signed(envelope)
    statement = _statement(signed.payload)
    known = {each.name: each.digest.sha256 for each in statement.subject}
    return CheckedFiles(
        keyid=signed.keyid, statement=statement, files=tuple(_compared(path, known) for path in files)
    )


def _compared(path: Path, known: dict[str, str]) -> FileCheck:
    found = _subject(path)
    sha256 = found.digest.sha256
    if known.get(found.name) == sha256:
        why = ""
    elif found.name in known:
        why = "its bytes are not those that were signed"
    elif other := next((name for name, digest in known.items() if digest == sha256), ""):
        why = f"it was signed under the name {other}"
    else:
        why = "the statement does not name it"
    return FileCheck(name=found.name, sha256=sha256, why=why)


def _statement(payload: bytes) -> FileStatement:
    try:
        statement = msgspec.json.decode(payload, type=FileStatement)
        written = canonical(statement)
    except (ObjectError, *DECODE_ERRORS) as error:
        raise EnvelopeError(f"The payload is no statement about files: {error}.") from None
    if statement.type != STATEMENT_TYPE or written != payload:
        raise EnvelopeError(f"The payload is no {STATEMENT_TYPE} in canonical form (RFC 8785).")
    if statement.predicate_type == PREDICATE_TYPE:
        raise StatementError("This is the attestation of a session. Type: vera replay SESSION")
    names = {each.name for each in statement.subject}
    if not 1 <= len(statement.subject) <= MAX_FILES or len(names) < len(statement.subject):
        raise StatementError(f"The statement must name 1 to {MAX_FILES} files, each once.")
    return statement


def _insist_on_type(predicate_type: str) -> None:
    if len(predicate_type) > _MAX_TYPE or not predicate_type.startswith(("https://", "http://")):
        raise StatementError(f"{predicate_type[:80]!r} is no URI of a predicate, such as {_EXAMPLE}.")
    if predicate_type == PREDICATE_TYPE:
        raise StatementError("A predicate of this type is made by a run, from its log, and by nothing else.")


def _object(predicate: bytes) -> dict[str, Any]:
    if len(predicate) > MAX_PREDICATE_BYTES:
        raise StatementError(f"The predicate is larger than {MAX_PREDICATE_BYTES >> 20} MB.")
    try:
        return msgspec.json.decode(predicate, type=dict[str, Any])
    except DECODE_ERRORS as error:
        raise StatementError(f"The predicate is no JSON object: {error}.") from None


def open_regular(path: Path) -> BufferedReader:
    """A regular file, opened without waiting for anything else. Raises StatementError and OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise StatementError(f"{path} is no file.")
    return os.fdopen(descriptor, "rb")


def _subject(path: Path) -> Subject:
    """A regular file's name and sha256. Raises StatementError and OSError."""
    with open_regular(path) as file:
        return Subject(path.name, Digests(hashlib.file_digest(file, "sha256").hexdigest()))
