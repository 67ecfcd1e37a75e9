"""The tally of an update: how far it is, told now and then."""

import time
from collections.abc import Callable

from vera.corpus.values import Progress

_TICK_S = 0.2


class Tally:
    """Counts what an update has done of `files` files with `size` bytes in all."""

    def __init__(self, tell: Callable[[Progress], None]) -> None:
        self._tell = tell
        self._told = 0.0
        self.files = self.total = self.total_bytes = self.documents = 0
        self._bytes = self._within = 0

    @property
    def bytes(self) -> int:
        """Bytes of raw input that were read."""
        return self._bytes + self._within

    def expect(self, sizes: list[int]) -> None:
        """The sizes of the files that will be read."""
        self.total, self.total_bytes = len(sizes), sum(sizes)

    def looked(self, files: int) -> None:
        """So many files were compared with the index."""
        if files % 1000 == 0:
            self._tell(Progress(phase="looking", files=files, message=f"Looked at {files} files."))

    def within(self, consumed: int) -> None:
        """So many bytes of the container at hand were read."""
        self._within = consumed
        self._now_and_then()

    def document(self) -> None:
        """A file or member was indexed, or found to be unreadable."""
        self.documents += 1
        self._now_and_then()

    def read(self, size: int) -> None:
        """A file of this size was read, but not yet indexed."""
        self._bytes, self._within = self._bytes + size, 0

    def file(self) -> None:
        """A file was indexed with all that is in it."""
        self.files += 1
        self._now_and_then()

    def finished(self) -> None:
        """All is done."""
        if self.total:
            self._say()

    def _now_and_then(self) -> None:
        if time.monotonic() - self._told >= _TICK_S:
            self._say()

    def _say(self) -> None:
        self._told = time.monotonic()
        more = f" ({self.documents} documents)" if self.documents > self.files else ""
        self._tell(
            Progress(
                phase="indexing",
                files=self.files,
                total=self.total,
                bytes=self.bytes,
                total_bytes=self.total_bytes,
                documents=self.documents,
                message=f"Indexed {self.files} of {self.total} files{more}, {self.bytes / 1e6:.1f} MB.",
            )
        )
