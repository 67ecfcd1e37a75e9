"""The cited lines of a source as they are in the store, or why they are not shown."""

import hashlib
from collections.abc import Sequence

import msgspec

from vera.extraction.marks import told, within
from vera.report.printable import printable
from vera.store import Store, StoreError
from vera.text.span import Lines

MAX_LINES = 40
MAX_LINE = 2000
"""Lines of a quotation and characters of a line that are shown; of a longer one the beginning."""

MAX_TEXT = 32 << 20
"""Bytes of a stored text that is opened to show lines of it."""

_TEXTS_KEPT = 4

OTHER_BYTES = "The stored bytes are not those that were cited, so they are not shown."


class Quotation(msgspec.Struct, frozen=True):
    """The lines, or the `problem` for which there are none."""

    lines: tuple[str, ...] = ()
    problem: str = ""


class Quotations:
    """Cuts quotations out of the texts of one store. The last few texts stay open, while many lines of few
    sources are cut; an object of this class is not kept."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._open: dict[str, Lines | str] = {}

    def cut(
        self, source: str, first: int, last: int, sha256: str, marks: Sequence[tuple[str, int, int]] = ()
    ) -> Quotation:
        """Lines `first` to `last` of the text named by `source`, when their bytes hash to `sha256`.

        With an empty `sha256` only the text as a whole is held against its name. What the
        `marks` of the text say is struck out or hidden is shown as that.
        """
        lines = self._lines(source)
        if isinstance(lines, str):
            return Quotation(problem=lines)
        try:
            found = lines.cut(first, last)
        except IndexError:
            return Quotation(problem="The stored text has no such lines.")
        if sha256 and hashlib.sha256(found).hexdigest() != sha256:
            return Quotation(problem=OTHER_BYTES)
        begin, end = lines.bounds(first, last)
        return Quotation(lines=_shown(told(found, within(marks, begin, end)), last - first + 1))

    def _lines(self, source: str) -> Lines | str:
        if source not in self._open:
            if len(self._open) >= _TEXTS_KEPT:
                del self._open[next(iter(self._open))]
            self._open[source] = self._read(source)
        return self._open[source]

    def _read(self, source: str) -> Lines | str:
        try:
            size = self._store.path(source).stat().st_size
            if size > MAX_TEXT:
                return f"Its text is larger than {MAX_TEXT >> 20} MB, so it is not opened here."
            return Lines(self._store.get(source))
        except FileNotFoundError:
            return "Its text is not in the store."
        except StoreError:
            return "Its text in the store was altered, so nothing of it is shown."
        except OSError:
            return "Its text in the store cannot be read."


def _shown(found: bytes, count: int) -> tuple[str, ...]:
    # A character is at most four bytes: what lies behind that is not decoded.
    parts = found[: 4 * MAX_LINES * MAX_LINE].split(b"\n", MAX_LINES)[:MAX_LINES]
    lines = [part[: 4 * MAX_LINE].decode("utf-8", "replace") for part in parts]
    shown = [printable(line if len(line) <= MAX_LINE else line[:MAX_LINE] + "…") for line in lines]
    more = count - len(shown)
    if more > 0:
        shown.append(f"[… {more} more lines]")
    return tuple(shown)
