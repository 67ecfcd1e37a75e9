"""How members of containers are named, and which files are containers.

`takeout.zip!/Mail/All.mbox!/m000012.eml`: the mark `!/` of Java's archive URLs, so that a member's name
reads as a path: its last part tells its format, and it sorts below its container. Mails bear their number
instead of their subject: a name must not change when mails are appended, and must not say what a stranger
wrote (the subject is the document's title). A name is never taken apart to find a member: its place does
that.
"""

import re
from collections.abc import Sequence

MARK = "!/"
MAX_NAME_LENGTH = 1000

_SUFFIXES = {
    ".zip": "zip",
    ".tar": "tar",
    ".tar.gz": "tar.gz",
    ".tgz": "tar.gz",
    ".tar.bz2": "tar.bz2",
    ".tbz2": "tar.bz2",
    ".tar.xz": "tar.xz",
    ".txz": "tar.xz",
    ".mbox": "mbox",
    ".eml": "eml",
}
SUFFIXES = tuple(_SUFFIXES)
"""Suffixes of the names of containers; a file that is called `mbox` is one as well."""

CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
"""What no name of a document has."""

_OUR_NUMBERS = re.compile(r"(?<=!/)(?:m[0-9]{6,}\.eml|p[0-9]+-)")
_DRIVE = re.compile(r"[A-Za-z]:")
_MAX_PART_LENGTH = 255
_DEEPEST = 100


def as_given(name: str) -> str:
    """A document's name without the numbers that we gave to mails and parts.

    For whoever takes what is in a name as said by the source: `m000012.eml` says nothing of 12 days.
    """
    return _OUR_NUMBERS.sub("", name)


def kind_of(name: str) -> str:
    """The kind of container that a name promises: zip, tar, tar.gz, tar.bz2, tar.xz, mbox, eml, or ''."""
    last = name.rpartition("/")[2].lower()
    if last == "mbox":
        return "mbox"
    return next((kind for suffix, kind in _SUFFIXES.items() if last.endswith(suffix)), "")


def inner_name(name: str) -> tuple[str, str]:
    """A member's own name in plain form, and '' or the reason why no document can have it."""
    if CONTROL.search(name):
        return "", "its name holds control characters"
    if name.startswith("/") or "\\" in name or _DRIVE.match(name):
        return "", "its name is an absolute path or one of another system"
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if ".." in parts:
        return "", "its name leads out of the archive"
    if not parts:
        return "", "it has no name"
    if _is_too_long(name, parts):
        return "", "its name is too long"
    return "/".join(parts), ""


def _is_too_long(name: str, parts: Sequence[str]) -> bool:
    if len(name) > MAX_NAME_LENGTH or len(parts) > _DEEPEST:
        return True
    return any(len(part.encode()) > _MAX_PART_LENGTH for part in parts)
