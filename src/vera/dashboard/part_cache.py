"""The parts of a session's page that were written out already, kept while they show the same.

Those that also show the time or the process are written out for each page. The token of a form, another one
for each login, and the number of the part are put in their places in what is kept.
"""

import secrets
from collections.abc import Callable, Mapping

import msgspec

from vera.dashboard.query_params import Asked
from vera.report.html.shown import at_rest
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
"""Part → the members of the page that it shows, and nothing else but whether the run is at rest."""

_TOKEN, _NUMBER = (f"{name}-{secrets.token_hex(16)}" for name in ("token", "number"))
"""Where the token of a form and the number of the part go in a kept part. No text of a session can hold
them."""


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
        write: Callable[[Asked, object], str],
    ) -> str:
        """The part as HTML for who asked, with its number in `changed`, by `write` (which takes both) unless
        what it shows is as before."""
        number = changed.get(name, 0)
        if name not in SHOWN:
            return write(asked, number)
        version = (at_rest(page), *(getattr(page, member) for member in SHOWN[name]))
        for_all = msgspec.structs.replace(asked, form_token=_TOKEN)
        kept = self._made.once((name,), version, lambda: write(for_all, _NUMBER))
        return kept.replace(_NUMBER, str(number), 1).replace(_TOKEN, asked.form_token)
