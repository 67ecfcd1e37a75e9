"""The mutation test: how many of the planted faults the audit finds, and what it says of the originals.

A fault is found when the audit says something that it does not say of the original, under a code that fits
the fault; the faults of `hard` kinds only count when that finding is hard. An injected page is no fault of
the answer: there, the mutant counts when nothing that the audit and the reduction say has changed, neither of
the true statement nor of a false one.
"""

from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

import msgspec

from checks import mutants
from checks.library import POLICY, Pages, Statement, case_of, load
from checks.mutants import Mutant, Mutator, Original
from vera.attestation.build import build
from vera.attestation.objects import Policy
from vera.attestation.record import Record
from vera.attestation.reduce import VERSION as REDUCE_VERSION
from vera.audit.claims import VERSION as CLAIMS_VERSION
from vera.audit.registry import VERSION as AUDIT_VERSION
from vera.audit.registry import audit
from vera.bench.figures import share, wilson

_NUMBERS = frozenset(("number_absent", "amount_absent", "date_absent", "number_unclear"))
_POLARITY = frozenset(("negation", "opposed", "coverage_missing"))


class Kind(msgspec.Struct, frozen=True):
    """A kind of fault: how it is planted, the codes under which it may be found, whether only a hard finding
    counts, and the share that has to be found (None: told, and nothing demanded)."""

    make: Mutator
    codes: frozenset[str]
    hard: bool = False
    wanted: float | None = None


KINDS: dict[str, Kind] = {
    "stored_byte": Kind(mutants.stored_byte, frozenset(("bytes_altered",)), True, 1.0),
    "cited_id": Kind(mutants.cited_id, frozenset(("unknown_evidence",)), True, 1.0),
    "cited_lines": Kind(mutants.cited_lines, frozenset(("no_such_lines",)), True, 1.0),
    "quotation_character": Kind(mutants.quotation_character, frozenset(("quotation_false",)), True, 1.0),
    "copy_on_another_site": Kind(mutants.copy_on_another_site, frozenset(("not_independent",)), True, 1.0),
    "archive_wrapper": Kind(mutants.archive_wrapper, frozenset(("not_independent",)), True, 1.0),
    "same_site": Kind(mutants.same_site, frozenset(("not_independent",)), True, 1.0),
    "number_absent": Kind(mutants.number_absent, _NUMBERS, False, 0.95),
    "number_elsewhere": Kind(mutants.number_elsewhere, _NUMBERS | {"number_not_in_span"}, False, 0.9),
    "number_elsewhere_any": Kind(mutants.number_elsewhere_any, _NUMBERS | {"number_not_in_span"}),
    "date": Kind(mutants.date, _NUMBERS | {"number_not_in_span"}),
    "number_word": Kind(mutants.number_word, _NUMBERS),
    "name": Kind(mutants.name, frozenset(("name_absent", "name_unclear", "words_absent"))),
    "negation_in": Kind(mutants.negation_in, _POLARITY),
    "negation_out": Kind(mutants.negation_out, _POLARITY),
    "cited_source": Kind(
        mutants.cited_source, _NUMBERS | {"name_absent", "name_unclear", "words_absent", "quotation_false"}
    ),
    "stale_page": Kind(mutants.stale_page, frozenset(("outside_window",)), True, 1.0),
    "wall": Kind(mutants.wall, frozenset(("no_content", "http_error")), True, 1.0),
}
"""Kind of fault → how it is made and found, in the order in which they are told."""

INJECTED = "injected"
FALSE_ALARMS_WANTED = 0.03
"""The share of originals that may have a hard finding."""

_POLICY = Policy(
    rule="literal", audit_policy=POLICY, claims=CLAIMS_VERSION, audit=AUDIT_VERSION, reduce=REDUCE_VERSION
)


def measure(seed: int, limit: int | None = None) -> dict[str, Any]:
    """The figures as JSON holds them, over the first `limit` statements.

    Of each kind `n`, `caught`, the `share` with its 95 % interval (Wilson), `hard` (those with a new hard
    finding) and what is `wanted`; beside them how many `originals` there are and how many of them have a hard
    or a soft finding.
    """
    library = load()
    originals = [Original(library, statement) for statement in library.statements[:limit]]
    figures: dict[str, Any] = {
        name: _measure(kind, originals, _random(seed, name)) for name, kind in KINDS.items()
    }
    unchanged = [same for original in originals for same in _unmoved(original, _random(seed, INJECTED))]
    figures[INJECTED] = _figure(len(unchanged), sum(unchanged), 0, 1.0)
    told = [{severity for _, severity, _ in said(each.statement, library.pages)} for each in originals]
    hard = sum("hard" in severities for severities in told)
    return {
        **figures,
        "originals": len(told),
        "false_alarms_hard": hard,
        "false_alarms_hard_share": share(hard, len(told)),
        "false_alarms_hard_interval": wilson(hard, len(told)),
        "false_alarms_hard_wanted": FALSE_ALARMS_WANTED,
        "false_alarms_soft": sum("soft" in severities for severities in told),
    }


def said(statement: Statement, pages: Pages) -> Counter[tuple[str, str, str]]:
    """What the audit says of a statement: code, severity and detail of each finding."""
    return Counter((each.code, each.severity, each.detail) for each in audit(case_of(statement, pages)))


def _measure(kind: Kind, originals: list[Original], random: Random) -> dict[str, Any]:
    found: Counter[str] = Counter()
    for original in originals:
        before = said(original.statement, original.library.pages)
        for mutant in kind.make(original, random):
            caught, hard = _caught(kind, before, mutant)
            found.update(n=1, caught=caught, hard=hard)
    return _figure(found["n"], found["caught"], found["hard"], kind.wanted)


def _caught(kind: Kind, before: Counter[tuple[str, str, str]], mutant: Mutant) -> tuple[bool, bool]:
    """Whether the fault is found, and whether by a hard finding."""
    new = said(mutant.statement, mutant.pages) - before
    severities = {severity for code, severity, _ in new if code in kind.codes}
    hard = "hard" in severities
    return (hard if kind.hard else bool(severities)), hard


def _figure(n: int, caught: int, hard: int, wanted: float | None) -> dict[str, Any]:
    return {
        "n": n,
        "caught": caught,
        "hard": hard,
        "share": share(caught, n),
        "interval": wilson(caught, n),
        "wanted": wanted,
    }


def _unmoved(original: Original, random: Random) -> Iterator[bool]:
    """For each injected page, whether the statement and a false one are judged as they were."""
    false = next((each for each in mutants.number_absent(original, random) if _is_not_injected(each)), None)
    for subject in (original, Original(original.library, false.statement) if false else None):
        if subject is None:
            continue
        before = verdict(subject.statement, subject.library.pages)
        for mutant in mutants.injected(subject, random):
            yield verdict(mutant.statement, mutant.pages) == before


def _is_not_injected(mutant: Mutant) -> bool:
    """Whether no injected text happens to have the mutant's number."""
    return mutants.values(mutant.statement.text).isdisjoint(mutants.values(" ".join(mutants.INJECTIONS)))


def verdict(statement: Statement, pages: Pages) -> tuple[object, ...]:
    """Everything that decides: the findings, and the result with its reason by the rule `literal`."""
    record = Record(
        task="",
        answer=statement.answer,
        round=1,
        policy=_POLICY,
        evidence={name: page.evidence for name, page in pages.items()},
        texts={page.evidence.text.sha256: page.data for page in pages.values()},
        unreadable={},
        lookups=(),
        derivations=(),
        checks=(),
        labels=(),
        scores=(),
        verifier="",
        log=(1, "0" * 64),
        issued_at="2026-01-01T00:00:00Z",
    )
    attestation = build(record).attestation
    return said(statement, pages), attestation.result, attestation.reason


def _random(seed: int, name: str) -> Random:
    """Each kind draws for itself, so that a new kind changes no other."""
    return Random(f"{seed} {name}")
