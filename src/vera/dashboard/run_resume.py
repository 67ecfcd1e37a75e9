"""Which sessions may be resumed from a browser: a log in the base folder may have come from a stranger."""

from collections.abc import Mapping
from pathlib import Path

from vera.config import Loaded
from vera.config.catalogue import value_of
from vera.config.folder import KEYED_ADDRESSES
from vera.dashboard.log_ends import LogEnds

GUARDED = (
    "sandbox.backend",
    "sandbox.privileged",
    "sandbox.base_image",
    "egress.allow_cidrs",
    "search.searxng_url",
    "model.file",
    "action_verifier.verifier_class",
    "action_verifier.prompt_dir",
)
"""Settings that reach into this machine: a run that has others than those configured goes on only when a
person types it."""


def why_not_from_here(ends: LogEnds, configured: Loaded, base: Path) -> str:
    """Why the run of that log is not resumed from a browser, '' when it may be."""
    logged = ends.session.settings if ends.session else {}
    for key in GUARDED:
        value = logged_setting(logged, key)
        mine = value_of(configured.settings, key)
        if value is not None and str(value) != str(mine):
            return f"Its log says {key}={str(value)[:100]!r}, which is not what is configured here."
    folder = ends.task.input_dir if ends.task else ""
    folder = folder or str(logged_setting(logged, "run.input_dir") or "")
    if folder and not _lies_in(base, folder):
        return "Its input folder lies outside the base folder."
    return ""


def addresses_of(ends: LogEnds) -> Mapping[str, str]:
    """The addresses that keys could be sent to when the run goes on, by their settings."""
    logged = ends.session.settings if ends.session else {}
    found = {keyed.address: str(logged_setting(logged, keyed.address) or "") for keyed in KEYED_ADDRESSES}
    if ends.server is not None and ends.server.base_url:
        found["model.base_url"] = ends.server.base_url
    return found


def logged_setting(logged: Mapping[str, object], key: str) -> object:
    """What the log of a run has for a setting; None for one that it does not know."""
    value: object = logged
    for part in key.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _lies_in(base: Path, folder: str) -> bool:
    try:
        return (base / folder).resolve().is_relative_to(base)
    except (OSError, ValueError, RuntimeError):
        return False
