"""Files that are dropped on the form of a run: read within bounds, and kept in the session's `input/`.

A form with files is `multipart/form-data` (RFC 7578). Of a name that a browser sent only the last part is
taken, and it is written into an open folder without following links: nothing in it leads elsewhere.
"""

import hashlib
import os
import re
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from vera.dashboard import audit_log

MAX_FILES = 50
"""Files of a session's `input/`."""

MAX_UPLOAD = 64 << 20
"""Bytes of all files of one form."""

MAX_SECONDS = 120.0
FORM_WITH_FILES = "multipart/form-data"
FOLDER = "input"

_MAX_PARTS = 200
_MAX_HEAD = 4096
_MAX_NAME = 200
_BOUNDARY = re.compile(r"""boundary="?([0-9A-Za-z'()+_,./:=?-]{1,70})"?\s*(?:;|\Z)""")
_NAME = re.compile(r'form-data; name="([^"\r\n]{1,200})"(?:; filename="([^"\r\n]{0,1000})")?\s*\Z')


class Upload(msgspec.Struct, frozen=True):
    """A file: its name without folders, and its bytes."""

    name: str
    data: bytes


class UploadRefused(Exception):
    """A file that is not taken: a sentence for the person."""


class NoForm(Exception):
    """A body that is not such a form."""


def parse(body: bytes, content_type: str) -> tuple[list[tuple[str, str]], list[tuple[str, bytes]]]:
    """The fields of a form and its files, each with the name that was sent. Raises NoForm."""
    fields: list[tuple[str, str]] = []
    files: list[tuple[str, bytes]] = []
    for part in _parts(body, content_type):
        head, blank, data = part.partition(b"\r\n\r\n")
        if not blank or len(head) > _MAX_HEAD:
            raise NoForm
        name, file = _named(head)
        if file is None:
            fields.append((name, _text(data)))
        elif file or data:
            files.append((file, data))
    return fields, files


def _parts(body: bytes, content_type: str) -> list[bytes]:
    """What is between the boundaries of a form. Raises NoForm."""
    found = _BOUNDARY.search(content_type)
    if found is None:
        raise NoForm
    first, *parts = (b"\r\n" + body).split(b"\r\n--" + found[1].encode(), _MAX_PARTS + 2)
    if first or not parts or len(parts) > _MAX_PARTS + 1 or parts.pop()[:2] != b"--":
        raise NoForm
    return parts


def taken(files: Sequence[tuple[str, bytes]]) -> tuple[Upload, ...]:
    """The files under the names that they get. Raises UploadRefused."""
    made = [Upload(plain_name(name), data) for name, data in files]
    if len(made) > MAX_FILES:
        raise UploadRefused(
            f"These are {len(made)} files; at most {MAX_FILES} are taken. Put more in a folder."
        )
    names = [each.name for each in made]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise UploadRefused(f"Two of the files are called {twice}.")
    return tuple(made)


def plain_name(name: str) -> str:
    """The last part of a path as a name of a file. Raises UploadRefused for what is no plain name."""
    last = unicodedata.normalize("NFC", name).replace("\\", "/").rpartition("/")[2].strip()
    if not last.isprintable() or len(last.encode("utf-8", "replace")) > _MAX_NAME:
        raise UploadRefused(
            f"The name of a file must be one line of at most {_MAX_NAME} bytes, without control characters."
        )
    if not last or last.startswith("."):
        raise UploadRefused(
            f"{last or 'A file without a name'} is not taken: give it a name without a dot first."
        )
    return last


def keep(session: Path, files: Sequence[Upload]) -> None:
    """Write the files into the session's `input/`, and what they are into its `session.log`, so that they are
    removed with it. Raises UploadRefused, or OSError.

    The sandboxes of root run as another user, who has to read them.
    """
    folder_mode, mode = (0o755, 0o644) if os.geteuid() == 0 else (0o700, 0o600)
    folder = session / FOLDER
    if not folder.exists():
        folder.mkdir(mode=folder_mode)
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(folder, flags)
    try:
        with os.scandir(descriptor) as entries:
            there = {entry.name for entry in entries}
        if len(there) + len(files) > MAX_FILES:
            raise UploadRefused(f"At most {MAX_FILES} files are taken, and {len(there)} are there already.")
        if both := sorted(there & {each.name for each in files}):
            raise UploadRefused(f"{both[0]} is there already.")
        for each in files:
            _write(descriptor, each, mode)
            digest = hashlib.sha256(each.data).hexdigest()
            audit_log.write(session, "kept", file=f"{FOLDER}/{each.name}", sha256=digest)
    finally:
        os.close(descriptor)


def kept(session: Path) -> tuple[str, ...]:
    """The names of the files in the session's `input/`."""
    try:
        with os.scandir(session / FOLDER) as entries:
            found = [
                entry.name for entry, _ in zip(entries, range(MAX_FILES), strict=False) if _is_file(entry)
            ]
    except OSError:
        return ()
    return tuple(sorted(found))


def _is_file(entry: "os.DirEntry[str]") -> bool:
    return entry.is_file(follow_symlinks=False) and entry.name.isprintable()


def _write(folder: int, file: Upload, mode: int) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(file.name, flags, mode, dir_fd=folder), "wb") as made:
        made.write(file.data)


def _named(head: bytes) -> tuple[str, str | None]:
    """The name of a field, and that of its file: None for a field without one."""
    headers: Mapping[str, str] = {
        name.strip().lower(): value.strip()
        for name, _, value in (line.partition(":") for line in _text(head).split("\r\n"))
    }
    found = _NAME.match(headers.get("content-disposition", ""))
    if found is None:
        raise NoForm
    return found[1], found[2]


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise NoForm from None
