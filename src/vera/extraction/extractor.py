"""The extractor: canonical text of untrusted files, hostile formats in their own process.

PDF, HTML and Office files are parsed by large libraries that a file may crash, hang or take over. They
are parsed by one warm worker (`vera.extraction.worker`) with limits on time and memory, an empty
environment and no right to write files; it is replaced when it dies and after a number of documents.
Formats that are plain text are done in place.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from threading import Lock
from types import TracebackType
from typing import Self, TypeVar

import msgspec

from vera.extraction.canonical.naming import suffix_of
from vera.extraction.canonical.registry import Format, extract_as, format_of
from vera.extraction.client import ExtractionLimits, Pump
from vera.extraction.containers.unpacking import Unpacking
from vera.extraction.ocr import Ocr, is_scan
from vera.extraction.source import Extracted, Unreadable

__all__ = ["ExtractionLimits", "Extractor"]

Key = TypeVar("Key")

_SCANNED = frozenset(("pdf", "picture"))
_WINDOW_DOCUMENTS = 64
_WINDOW_BYTES = 64 << 20


class Extractor:
    """Canonical text under limits. A context manager; the worker starts with the first hostile file.

    May be used from several threads at once; the documents wait for one worker.
    """

    def __init__(
        self,
        limits: ExtractionLimits | None = None,
        formats: Sequence[Format] = (),
        ocr: Ocr | None = None,
    ) -> None:
        """`formats` are those of plugins, for files whose suffix none of ours has. `ocr` reads scans and
        pictures, one at a time; without it they are unreadable."""
        self._ocr = ocr
        self._limits = limits or ExtractionLimits()
        self._formats = {suffix: each for each in formats for suffix in each.suffixes}
        self._pump: Pump | None = None
        self._closed = False
        self._lock = Lock()

    def extract(self, data: bytes, name: str) -> Extracted:
        """The canonical text of one file; `name` (a path) helps to tell its format.

        Raises Unreadable with the reason, also when the file crashed the worker or took too long.
        """
        found = self._begin(data, name).result()
        if isinstance(found, Unreadable):
            raise found
        return found

    def extract_all(
        self, items: Iterable[tuple[Key, bytes | Unreadable, str]]
    ) -> Iterator[tuple[Key, Extracted | Unreadable]]:
        """The results for (key, data, name) in the order of `items`, read ahead of the consumer.

        What is given as Unreadable instead of data comes back as such, in its turn.
        While the consumer uses one result the worker already extracts the next ones. `items` is drawn from
        in the consumer's own thread; at most 64 documents or 64 MB of them are held.
        """
        window: deque[tuple[Key, _Pending]] = deque()
        held = 0
        for key, data, name in items:
            pending = self._begin(data, name)
            window.append((key, pending))
            held += pending.size
            while len(window) > _WINDOW_DOCUMENTS or held > _WINDOW_BYTES:
                first, oldest = window.popleft()
                held -= oldest.size
                yield first, oldest.result()
        while window:
            first, oldest = window.popleft()
            yield first, oldest.result()

    @property
    def further_formats(self) -> str:
        """The suffixes that formats of plugins read, and which does, and what reads scans, so that an index
        knows; '' for none."""
        known = sorted(self._formats.items())
        said = [f"{suffix}={each.name}/{each.distribution}" for suffix, each in known]
        return " ".join([*said, *([self._ocr.name] if self._ocr else [])])

    def unpacking(self) -> Unpacking:
        """A new opener of containers under the same limits; the caller's to close."""
        return Unpacking(self._limits.seconds, self._limits.memory)

    def close(self) -> None:
        """End the worker; what still waits becomes Unreadable. Closing twice does nothing."""
        with self._lock:
            self._closed = True
            pump, self._pump = self._pump, None
        if pump is not None:
            pump.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _begin(self, data: bytes | Unreadable, name: str) -> "_Pending":
        if isinstance(data, Unreadable):
            return _Pending(size=0, failed=data)
        try:
            chosen = self._format_of(data, name)
        except Unreadable as error:
            return _Pending(size=0, failed=error)
        scan = (self._ocr, data, name) if self._ocr is not None and chosen.name in _SCANNED else None
        if chosen.hostile:
            return _Pending(size=len(data), future=self._submit(data, name, chosen), scan=scan)
        return _Pending(size=len(data), plain=(chosen, data, name), scan=scan)

    def _format_of(self, data: bytes, name: str) -> Format:
        """The format of a file. Raises Unreadable as `format_of` does."""
        further = self._formats.get(suffix_of(name)) if data else None
        if further is None:
            return format_of(data, name)
        if len(data) > further.limit:
            raise Unreadable(f"larger than {further.limit >> 20} MB")
        return further

    def _submit(self, data: bytes, name: str, chosen: Format) -> Future[Extracted]:
        with self._lock:
            if self._closed:
                raise RuntimeError("the extractor is closed")
            if self._pump is None:
                self._pump = Pump(self._limits)
            return self._pump.submit(data, name, chosen.seconds, chosen.memory)


class _Pending(msgspec.Struct, frozen=True):
    """A result that is there, is being made by the worker, or will be made here when its turn comes. `scan`:
    what may be read by OCR where it holds no text."""

    size: int
    failed: Unreadable | None = None
    future: Future[Extracted] | None = None
    plain: tuple[Format, bytes, str] | None = None
    scan: tuple[Ocr, bytes, str] | None = None

    def result(self) -> Extracted | Unreadable:
        found = self._text()
        if self.scan is None or not isinstance(found, Unreadable) or not is_scan(str(found)):
            return found
        ocr, data, name = self.scan
        try:
            return ocr.read(data, name)
        except Unreadable as error:
            return error

    def _text(self) -> Extracted | Unreadable:
        try:
            if self.future is not None:
                return self.future.result()
            if self.plain is not None:
                return extract_as(*self.plain)
        except Unreadable as error:
            return error
        assert self.failed is not None
        return self.failed  # not raised: whoever gave it keeps it, and with it would keep our frames
