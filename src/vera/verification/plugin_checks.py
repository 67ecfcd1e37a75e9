"""Checks of plugins: asked once in a round, what they find is written down and never computed again.

A verdict is a function of the log, so their findings are inputs of it, as a judge's labels are. They are
hints, unless the person lets a check end claims (`plugins.hard_checks`). They cannot give support: a finding
only takes it away.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

import msgspec

from vera.audit.case import Case, Check
from vera.audit.taxonomy import TAXONOMY
from vera.evidence.finding import PLUGIN, Finding
from vera.plugins.calling import PluginFailed, call
from vera.sanitize import one_line

MAX_FINDINGS = 200
"""Of one check in one round: what lies above is left out, and said."""

MAX_MESSAGE = 500
MAX_DETAIL = 200
MAX_CODE = 40
OTHER_LABEL = "wrong_evidence"
"""Instead of a label that the taxonomy does not have."""


class PluginCheck(msgspec.Struct, frozen=True, kw_only=True):
    """A check of a plugin: its name, how long it may take, and whether its hard findings stay hard."""

    name: str
    check: Check
    seconds: float = 60.0
    may_be_hard: bool = False


def findings_of(checks: Iterable[PluginCheck], case: Case) -> tuple[Finding, ...]:
    """What these checks find, in their order. A check that fails is a hint that says so."""
    return tuple(finding for check in checks for finding in _found(check, case))


def _found(check: PluginCheck, case: Case) -> tuple[Finding, ...]:
    try:
        return call(lambda: tuple(_sound(check, case)), check.seconds)
    except PluginFailed as error:
        return (_hint(check, "failed", f"The check {check.name} of a plugin was not made: {error}."),)


def _sound(check: PluginCheck, case: Case) -> Iterator[Finding]:
    """The findings with members that can be used, at most MAX_FINDINGS."""
    claims = {claim.key for claim in case.claims}
    given = iter(check.check(case))
    for finding in islice(given, MAX_FINDINGS):
        if not isinstance(finding, Finding):
            raise PluginFailed("it gave something else than findings")
        yield _bounded(check, finding, claims, case.evidence)
    if next(given, None) is not None:
        said = f"The check {check.name} of a plugin found more than {MAX_FINDINGS} things."
        yield _hint(check, "more", said)


def _bounded(check: PluginCheck, finding: Finding, claims: set[str], evidence: Mapping[str, Any]) -> Finding:
    sound = msgspec.convert(msgspec.to_builtins(finding), Finding)
    known = sound.evidence if sound.evidence in evidence else ""
    lines = (sound.first, sound.last) if known and 1 <= sound.first <= sound.last else (0, 0)
    return Finding(
        code=f"{PLUGIN}{check.name}.{one_line(sound.code, MAX_CODE)}",
        label=sound.label if sound.label in TAXONOMY else OTHER_LABEL,
        severity="hard" if sound.severity == "hard" and check.may_be_hard else "soft",
        message=one_line(sound.message, MAX_MESSAGE),
        claim=sound.claim if sound.claim in claims else "",
        evidence=known,
        first=lines[0],
        last=lines[1],
        detail=one_line(sound.detail, MAX_DETAIL),
    )


def _hint(check: PluginCheck, code: str, message: str) -> Finding:
    return Finding(
        code=f"{PLUGIN}{check.name}.{code}",
        label=OTHER_LABEL,
        severity="soft",
        message=one_line(message, MAX_MESSAGE),
    )
