"""`tags.json`: words by which a person finds a session again. It proves nothing, and nothing rests on it."""

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from vera.decode_errors import DECODE_ERRORS
from vera.evidence.reading import read_regular
from vera.extraction.source import Unreadable
from vera.store import replace_file

FILE = "tags.json"
MAX_TAGS = 20
MAX_TAG = 40
"""Characters of one tag."""

_MAX_BYTES = 16 << 10


class TagError(Exception):
    """Tags that are not taken: a sentence that ends with what to do."""


class _File(msgspec.Struct, frozen=True):
    tags: tuple[str, ...] = ()


def tags_in(text: str) -> tuple[str, ...]:
    """The tags of a text with commas between them, each once, letter case aside. Raises TagError."""
    tags = tuple(_each_once(text.split(",")))
    if len(tags) > MAX_TAGS:
        raise TagError(f"That are {len(tags)} tags, and {MAX_TAGS} is the most. Leave some out.")
    if long := next((tag for tag in tags if len(tag) > MAX_TAG), ""):
        raise TagError(f"The tag {long[:MAX_TAG]!r}… has more than {MAX_TAG} characters. Shorten it.")
    return tags


def read_tags(root: Path) -> tuple[str, ...]:
    """The tags of a session; none where there is no such file, or one that VERA does not write."""
    with contextlib.suppress(Unreadable, *DECODE_ERRORS):
        found = msgspec.json.decode(read_regular(root, FILE, _MAX_BYTES), type=_File).tags
        return tuple(tag for tag in _each_once(found) if len(tag) <= MAX_TAG)[:MAX_TAGS]
    return ()


def write_tags(root: Path, tags: tuple[str, ...]) -> None:
    """Keep the tags in the place of those before, whole or not at all. A link is replaced, never followed.

    Raises OSError."""
    if tags:
        replace_file(root / FILE, msgspec.json.encode(_File(tags)) + b"\n")
    else:
        (root / FILE).unlink(missing_ok=True)


def _each_once(tags: Iterable[str]) -> Iterator[str]:
    """The tags without commas, control characters and white space around them."""
    seen = set[str]()
    for tag in tags:
        plain = " ".join("".join(c if c.isprintable() and c != "," else " " for c in tag).split())
        if plain and plain.casefold() not in seen:
            seen.add(plain.casefold())
            yield plain
