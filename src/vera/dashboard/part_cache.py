"""The parts of a session's page that were written out already, kept while they show the same.

Those that also show the time or the process are written out for each page. The token of a form is put in its
place in what is kept: it is another one for each login.
"""

import secrets
from collections.abc import Callable, Mapping

import msgspec

from vera.dashboard.query_params import Asked
from vera.report.view.model import RunPage
from vera.report.view.versioned_cache import VersionedCache

SHOWN: Mapping[str, tuple[str, ...]] = {
    "timeline": ("timeline",),
    "answer": ("answer", "claims", "thesis"),
    "claims": ("claims", "reviews"),
    "coverage": ("coverage",),
    "events": ("events", "events_left_out"),
    "rounds": ("rounds", "sources"),
    "choices": ("choices", "choices_left_out"),
    "gates": ("gates",),
    "constraints": ("constraints",),
    "files": ("files",),
}
"""Part → the members of the page that it shows, and nothing else."""

_PLACE = f"token-{secrets.token_hex(16)}"
"""Where the token of a form goes in a kept part. No text of a session can hold it."""


class KeptParts:
    """The newest of each part of one session."""

    def __init__(self) -> None:
        self._made = VersionedCache(len(SHOWN))

    def part(
        self,
        name: str,
        page: RunPage,
        changed: Mapping[str, int],
        asked: Asked,
        write: Callable[[Asked], str],
    ) -> str:
        """The part as HTML for who asked, by `write` unless what it shows and its number in `changed` are as
        before."""
        if name not in SHOWN:
            return write(asked)
        version = (changed.get(name), *(getattr(page, member) for member in SHOWN[name]))
        for_all = msgspec.structs.replace(asked, form_token=_PLACE)
        return self._made.once((name,), version, lambda: write(for_all)).replace(_PLACE, asked.form_token)
