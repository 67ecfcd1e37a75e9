"""Battery `tamper`: honest files are changed, and whoever relies on them says so: `vera replay`, and the
program of one page in the documents, which imports nothing of VERA.

A change that alters nothing promised is one by a rule of tamper_rules.py, and counts in a row of that rule.
"""

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from assurance import tamper_bundles, tamper_records
from assurance.batteries import Battery, Trial
from assurance.tamper_bundles import archive_of, files_in
from assurance.tamper_changes import CHANGES
from assurance.tamper_checker import rejects
from assurance.tamper_originals import Original, originals, write
from assurance.tamper_rules import unpromised
from vera.attestation.bundle import BundleError, replay_bundle
from vera.attestation.outcome import outcome_of
from vera.attestation.replay import NoSession, replay
from vera.attestation.report import Report
from vera.cli.replay import _as_json, _as_text
from vera.headline import HOLDS

T = TypeVar("T")
MOST_DRAWS = 100
PACKED = 0.3
"""The share of changed sessions that are given away as a bundle."""


def attempt(trial: Trial) -> None:
    names = list(KINDS)
    name = names[trial.number % len(names)]
    KINDS[name](trial, name)


def session(trial: Trial, name: str) -> None:
    """The files of a session are changed in that way, and lie in a folder, or well packed in a bundle."""
    original = trial.random.choice(originals())
    files = another(original.files, lambda: CHANGES[name](original, trial.random))
    rule = unpromised(original, files)
    trial.row = f"session: {rule} (nothing promised)" if rule else f"session: {name}"
    packed = archive_of(files).bytes()
    if not rule and trial.random.random() < PACKED and packed != archive_of(original.files).bytes():
        bundle_is_reported(trial, original, packed)
        return
    root = write(files, trial.folder / "s")
    found = said_of(lambda: replay(root, original.signers, 1 if rule else 2))
    if rule:
        return
    is_reported(original, found)
    outcome = said_of(lambda: outcome_of(root, original.signers))
    assert outcome is None or outcome.word not in HOLDS, f"it says {outcome}"
    assert rejects(root, original.keyid), "the program in the documents does not see it"


def bundle(trial: Trial, name: str) -> None:
    """The bytes of a bundle are changed in that way."""
    original = trial.random.choice(originals())
    honest = archive_of(original.files).bytes()
    trial.row = name
    way = BUNDLES[name]
    data = another(honest, lambda: way(original, trial.random))
    files = files_in(data)
    if files is not None and (rule := unpromised(bundled(original), files)):
        trial.row = f"bundle: {rule} (nothing promised)"
        return
    bundle_is_reported(trial, original, data)


def beside(trial: Trial, name: str) -> None:
    """Something beside sessions is changed in that way."""
    trial.row = name
    trial.row = tamper_records.CHANGES[name](trial.folder, trial.random)


def bundled(original: Original) -> Original:
    """The session as far as its bundle holds it."""
    files = files_in(archive_of(original.files).bytes())
    assert files is not None
    return replace(original, files=files)


def bundle_is_reported(trial: Trial, original: Original, data: bytes) -> None:
    file = trial.folder / "b.zip"
    file.write_bytes(data)
    is_reported(original, said_of(lambda: replay_bundle(file, original.signers)))
    assert rejects(file, original.keyid), "the program in the documents does not see it"


def another(honest: T, change: Callable[[], T]) -> T:
    """What a change gives that changes anything."""
    for _ in range(MOST_DRAWS):
        if (found := change()) != honest:
            return found
    raise AssertionError("this way changes nothing")


def said_of(ask: Callable[[], T]) -> T | None:
    """What a command says; None where it ends by a sentence. Any other end would be a traceback."""
    with contextlib.suppress(NoSession, BundleError, OSError):
        found = ask()
        if isinstance(found, Report):
            assert _as_text(found)
            assert _as_json(Path("s"), found)
        return found
    return None


def is_reported(original: Original, found: Report | None) -> None:
    """A replay of it says something else than of the original, and ends with an exit code that is not 0."""
    if found is None:
        return
    verdicts = tuple(level.verdict for level in found.levels)
    assert found.exit_code != 0 and verdicts != original.verdicts, f"replay says {found}"


BUNDLES = {f"bundle: {name}": way for name, way in tamper_bundles.CHANGES.items()}
KINDS: Mapping[str, Callable[[Trial, str], None]] = {
    **dict.fromkeys(CHANGES, session),
    **dict.fromkeys(BUNDLES, bundle),
    **dict.fromkeys(tamper_records.CHANGES, beside),
}
"""The ways in which something is changed, each with what tries it."""

BATTERY = Battery(
    name="tamper",
    promise="Each change of what is promised is reported, by `vera replay` and by the program in the "
    "documents; nothing crashes.",
    trials=20_000,
    slice=160,
    attempt=attempt,
)
