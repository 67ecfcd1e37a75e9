"""Outcomes that were found before, kept in the user's cache folder, so that a list reads each session once.

An entry counts for the fingerprint of its session (`vera.attestation.outcome.fingerprint`) and no other. The
file can be deleted at any time.
"""

import contextlib
import time
from collections.abc import Iterable
from pathlib import Path

import msgspec

from vera.attestation import keys
from vera.attestation.integrity import NoSession
from vera.attestation.outcome import (
    ALTERED,
    TOO_MANY,
    UNCHECKED,
    Outcome,
    fingerprint,
    outcome_here,
)
from vera.decode_errors import DECODE_ERRORS

FILE = "outcomes.json"
MAX_KEPT = 5000
MAX_SECONDS = 20.0
"""After which sessions that are not known yet stay UNCHECKED; what was found until then is kept."""

_MAX_BYTES = 32 << 20


class Known(msgspec.Struct, frozen=True):
    """What was found of a session when its files had this fingerprint."""

    fingerprint: str
    outcome: Outcome


def outcomes_of(roots: Iterable[Path], folder: Path | None = None) -> dict[Path, Outcome]:
    """What each session may say, from `folder` (the user's cache) where nothing of it has changed."""
    path = (default_folder() if folder is None else folder) / FILE
    known, found = _read(path), dict[Path, Outcome]()
    new: dict[str, Known] = {}
    ends = time.monotonic() + MAX_SECONDS
    for root in roots:
        name, seen = str(root.resolve()), fingerprint(root)
        if not seen:
            found[root] = Outcome(word=UNCHECKED, reason=TOO_MANY)
            continue
        held = known.get(name)
        if held is None or held.fingerprint != seen:
            if time.monotonic() > ends:
                found[root] = Outcome(word=UNCHECKED)
                continue
            new[name] = held = Known(seen, _outcome(root))
        found[root] = held.outcome
    if new:
        _write(path, {**known, **new})
    return found


def default_folder() -> Path:
    """The user's cache folder."""
    import platformdirs

    return Path(platformdirs.user_cache_dir("vera", appauthor=False))


def _outcome(root: Path) -> Outcome:
    try:
        return outcome_here(root)
    except (NoSession, OSError) as error:
        return Outcome(word=ALTERED, reason=str(error))


def _read(path: Path) -> dict[str, Known]:
    try:
        return msgspec.json.decode(keys.read_own(path, _MAX_BYTES), type=dict[str, Known])
    except (keys.KeyFileError, OSError, *DECODE_ERRORS):
        return {}


def _write(path: Path, known: dict[str, Known]) -> None:
    """What cannot be kept is found again the next time."""
    kept = dict(list(known.items())[-MAX_KEPT:])
    with contextlib.suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        keys.write_own(path, msgspec.json.encode(kept))
