"""Parts of a page that were made already, kept until what they show has changed."""

from collections.abc import Callable
from typing import TypeVar, cast

T = TypeVar("T")


class VersionedCache:
    """At most `most` values by key, each of a version; the oldest makes room."""

    def __init__(self, most: int = 64) -> None:
        self._most = most
        self._kept: dict[tuple[object, ...], tuple[object, object]] = {}

    def once(self, key: tuple[object, ...], version: object, make: Callable[[], T]) -> T:
        """The value of `key` in this version, made now unless it was before. A key has one type of value."""
        known = self._kept.get(key)
        if known is not None and known[0] == version:
            return cast("T", known[1])
        value = make()
        self._kept.pop(key, None)
        self._kept[key] = (version, value)
        if len(self._kept) > self._most:
            del self._kept[next(iter(self._kept))]
        return value
