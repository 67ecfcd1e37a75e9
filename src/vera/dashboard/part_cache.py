"""The parts of a session's page that were written out already, kept while they show the same.

Those that also show the time, the process or the form's token of who asks are written out for each page.
"""

from collections.abc import Callable, Mapping

from vera.report.view.model import RunPage
from vera.report.view.versioned_cache import VersionedCache

SHOWN: Mapping[str, tuple[str, ...]] = {
    "timeline": ("timeline",),
    "answer": ("answer", "claims", "thesis"),
    "claims": ("claims",),
    "coverage": ("coverage",),
    "events": ("events", "events_left_out"),
    "rounds": ("rounds",),
    "choices": ("choices", "choices_left_out"),
    "gates": ("gates",),
    "constraints": ("constraints",),
    "files": ("files",),
}
"""Part → the members of the page that it shows, and nothing else."""


class KeptParts:
    """The newest of each part of one session."""

    def __init__(self) -> None:
        self._made = VersionedCache(len(SHOWN))

    def part(self, name: str, page: RunPage, changed: Mapping[str, int], write: Callable[[], str]) -> str:
        """The part as HTML, by `write` unless what it shows and its number in `changed` are as before."""
        if name not in SHOWN:
            return write()
        version = (changed.get(name), *(getattr(page, member) for member in SHOWN[name]))
        return self._made.once((name,), version, write)
