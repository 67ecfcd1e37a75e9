"""Two runs side by side: which settings differ, and which sources each cites."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from vera.dashboard.sessions import SessionFolder
from vera.report.view.model import ClaimView, RunPage
from vera.report.view.words import one_line

MAX_SETTINGS = 200
MAX_SOURCES = 200
MAX_DEPTH = 6
"""Levels of settings: a log may come from anyone."""


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """One of the two: its session, its page, and its settings by name."""

    session: SessionFolder
    page: RunPage
    settings: Mapping[str, str]


class Differs(msgspec.Struct, frozen=True):
    """A setting of which the runs have other values; '' for one that it does not have."""

    name: str
    before: str
    after: str


class Cited(msgspec.Struct, frozen=True):
    """A source, and how many cards each run has from it."""

    source: str
    before: int
    after: int


def flat(settings: Mapping[str, Any]) -> dict[str, str]:
    """Settings by their full names (`model.base_url`), each value on one line."""
    return dict(_flat(settings, "", MAX_DEPTH))


def settings_that_differ(before: Run, after: Run) -> tuple[Differs, ...]:
    """In the order of their names."""
    names = sorted(before.settings.keys() | after.settings.keys())
    pairs = ((name, before.settings.get(name, ""), after.settings.get(name, "")) for name in names)
    return tuple(Differs(*pair) for pair in pairs if pair[1] != pair[2])[:MAX_SETTINGS]


def sources(before: Run, after: Run) -> tuple[Cited, ...]:
    """Those that both cite first, then by their names."""
    one, other = _cards(before.page.claims), _cards(after.page.claims)
    made = [Cited(name, one.get(name, 0), other.get(name, 0)) for name in {**one, **other}]
    made.sort(key=lambda each: (not (each.before and each.after), each.source))
    return tuple(made[:MAX_SOURCES])


def _cards(claims: Sequence[ClaimView]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for claim in claims:
        for card in claim.cards:
            name = one_line(card.source or "unknown source")
            counts[name] = counts.get(name, 0) + 1
    return counts


def _flat(value: Mapping[str, Any], above: str, depth: int) -> Iterator[tuple[str, str]]:
    for name, each in value.items():
        full = f"{above}.{name}" if above else str(name)
        if isinstance(each, Mapping) and depth:
            yield from _flat(each, full, depth - 1)
        else:
            yield one_line(full, 100), one_line(str(each))
