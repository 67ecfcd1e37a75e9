"""The AHDB as `vera ahdb` prints it: lines for people, JSON for programs."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from vera.attestation.ahdb.entries import (
    REGISTERS,
    AnyEntry,
    Assert,
    Believe,
    BlindSpot,
    Drive,
    Hypothesize,
    Retract,
    register_of,
)
from vera.attestation.ahdb.journal import TORN, hash_of
from vera.attestation.ahdb.resolve import Standing
from vera.report.printable import one_printable_line, printable_json


def standing_text(journal: Path, found: Standing, as_json: bool) -> str:
    """What stands, register by register; as JSON also what has expired or was retracted."""
    if as_json:
        return printable_json(_standing_plain(journal, found))
    theses = {
        entry.thesis_id: entry.text
        for entry in (*found.expired, *found.entries)
        if isinstance(entry, Assert | Hypothesize)
    }
    lines: list[str] = []
    for register in REGISTERS:
        entries = [entry for entry in found.entries if register_of(entry) == register]
        if entries:
            lines += ["", register, *_register_lines(entries, theses)]
    if found.unproved:
        lines += ["", "NOT PROVED: rely on none of these."]
    for each in found.unproved:
        lines += [*_entry_lines(each.entry, theses), _line("", each.why)]
    if found.unsigned:
        lines += ["", f"NOT SIGNED: {behind(found.line, found.unsigned)}"]
    return "\n".join(lines[1:]) or f"{journal} is empty."


def _standing_plain(journal: Path, found: Standing) -> dict[str, Any]:
    return {
        "journal": str(journal),
        "head": found.keyid,
        "unsigned": found.unsigned,
        "entries": _plain(found.entries),
        "unproved": [{**_plain((each.entry,))[0], "why": each.why} for each in found.unproved],
        "expired": _plain(found.expired),
        "retracted": _plain(found.retracted),
    }


def history_text(journal: Path, entries: Iterable[AnyEntry], as_json: bool) -> str:
    """Every entry in the order of the journal."""
    if as_json:
        return printable_json({"journal": str(journal), "entries": _plain(entries)})
    return "\n".join(map(_history_line, entries)) or f"{journal} has no entries."


def entry_text(entry: AnyEntry, as_json: bool) -> str:
    """One entry, as it was written."""
    return printable_json(_plain((entry,))[0]) if as_json else _history_line(entry)


def behind(line: int, count: int) -> str:
    """What is said of `count` lines behind the signed head, the first of which is `line`."""
    lines = f"line {line} stands" if count == 1 else f"lines {line} to {line + count - 1} stand"
    return (
        f"{lines} behind the signed head of the journal. VERA was ended while it wrote, or another "
        f"program wrote there. What it says is not used; the next entry moves it to {TORN}."
    )


def _plain(entries: Iterable[AnyEntry]) -> list[dict[str, Any]]:
    """The entries as in the journal, with their hashes."""
    return [{**msgspec.to_builtins(entry), "hash": hash_of(entry)} for entry in entries]


def _register_lines(entries: Iterable[AnyEntry], theses: Mapping[str, str]) -> Iterator[str]:
    """The entries of a register; blind spots under the thesis that they belong to."""
    spots: dict[str, list[BlindSpot]] = {}
    for entry in entries:
        if isinstance(entry, BlindSpot):
            spots.setdefault(entry.thesis_id, []).append(entry)
        else:
            yield from _entry_lines(entry, theses)
    for thesis_id, named in spots.items():
        yield _line("", f"Of the thesis: {named[-1].thesis or theses.get(thesis_id, thesis_id)}")
        for each in named:
            yield _line(each.seq, each.text)
            yield _line("", f"{each.boundary}: {each.risk} {each.bound}")


def _entry_lines(entry: AnyEntry, theses: Mapping[str, str]) -> Iterator[str]:
    yield _line(entry.seq, entry.text)
    for detail in _details(entry, theses):
        yield _line("", detail)


def _details(entry: AnyEntry, theses: Mapping[str, str]) -> Iterator[str]:
    match entry:
        case Assert():
            yield from entry.bounds
            yield f"attestation {entry.attestation}" + (f", risk {entry.risk}" if entry.risk else "")
        case Hypothesize():
            yield from (f"test: {test}" for test in entry.tests)
            yield f"budget: {entry.budget}"
            yield f"promotion: {entry.promotion}"
        case Drive():
            yield f"priority {entry.priority}; trade-off: {entry.trade_off}; red line: {entry.red_line}"
        case Believe():
            yield f"prior: {entry.prior}; tier: {entry.tier}; trigger: {entry.trigger}"
            yield f"effect: {entry.effect}"
        case BlindSpot():
            yield f"thesis: {entry.thesis or theses.get(entry.thesis_id, entry.thesis_id)}"
            yield f"{entry.boundary}: {entry.risk} {entry.bound}"


def _history_line(entry: AnyEntry) -> str:
    name = f"RETRACT {entry.of} ({entry.cause})" if isinstance(entry, Retract) else register_of(entry)
    return _line(entry.seq, f"{entry.ts}  {name}  {entry.text}")


def _line(number: int | str, text: str) -> str:
    return one_printable_line(f"{number:>5}  {text}")
