"""The sessions below an execution, in which its theses were verified, replayed with it.

The attestations that an execution received say what their own sessions say, and the bytes of the sources lie
there. One level deep: a session that verified a thesis asked no one.
"""

import re
import stat
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from vera import events
from vera.attestation.integrity import Loaded, NoSession, attested_in, check_integrity
from vera.attestation.report import Level, Remark, Report, counted, level
from vera.attestation.signers import Signers

Replay = Callable[[Path], Report]
"""Replays one session. Raises NoSession, OSError."""

FOLDER = "theses"

_INSIDE = re.compile(r"theses/[0-9]{4,8}")


def with_theses(
    root: Path, records: Sequence[events.Record], levels: Sequence[Level], replayed: Replay
) -> tuple[Level, ...]:
    """The levels of an execution with what the replays of its theses found; as they are without any."""
    received = received_from(records)
    if not received:
        return tuple(levels)
    extra: dict[str, list[Remark]] = {each.name: [] for each in levels}
    for session, wanted in received.items():
        for name, remark in _of_session(root, session, wanted, replayed):
            extra.get(name, extra["L0"]).append(remark)
    count = sum(isinstance(each, events.AttestationReceived) for each in records)
    return tuple(_joined(each, extra[each.name], count) for each in levels)


def check_with_theses(root: Path, signers: Signers) -> tuple[Level, Loaded]:
    """Level 0 of a session, of an execution with that of its theses' sessions. Raises NoSession, OSError."""

    def level_0(folder: Path) -> Report:
        integrity, loaded = check_integrity(folder, signers)
        return Report(levels=(integrity,), attested=attested_in(loaded, signers))

    own, loaded = check_integrity(root, signers)
    (integrity,) = with_theses(root, loaded.records, [own], level_0)
    return integrity, loaded


def received_from(records: Sequence[events.Record]) -> Mapping[str, Collection[str]]:
    """The ids of the attestations that an execution received, by the session that it names for each."""
    found: dict[str, set[str]] = {}
    for each in records:
        if isinstance(each, events.AttestationReceived):
            found.setdefault(each.session, set()).add(each.attestation)
    return found


def is_here(root: Path, session: str) -> bool:
    """Whether that is the name of a session of a thesis, and its folder is below `root`, over no link."""
    return _INSIDE.fullmatch(session) is not None and _is_folder(root / session)


def _of_session(
    root: Path, session: str, wanted: Collection[str], replayed: Replay
) -> Iterator[tuple[str, Remark]]:
    """What is wrong in one session, by level."""
    if not is_here(root, session):
        sentence = "The session in which the thesis was verified is not here."
        yield "L0", Remark(verdict="MISSING", where=session[:200], sentence=sentence)
        return
    try:
        report = replayed(root / session)
    except (NoSession, OSError) as error:
        yield "L0", Remark(verdict="MISSING", where=session, sentence=f"It cannot be replayed: {error}")
        return
    attested = {each.attestation for each in report.attested}
    if not attested >= set(wanted):
        sentence = "It does not hold the attestation that was received from it."
        yield "L1", Remark(verdict="DIFFERS", where=session, sentence=sentence)
    for each in report.levels:
        if each.verdict != "AGREES":
            yield each.name, Remark(verdict=each.verdict, where=session, sentence=each.sentence)


def _joined(own: Level, extra: Sequence[Remark], count: int) -> Level:
    """A level with the remarks of the theses. An execution itself has no texts: theirs count."""
    remarks = [each for each in own.remarks if each.verdict != "NOT_ATTESTED"]
    where = f"those of {counted(count, 'attestation')} too, in the sessions of their theses."
    said = own.sentence.rstrip(".") if own.verdict == "AGREES" else "It has none itself"
    if own.verdict not in ("AGREES", "NOT_ATTESTED"):
        remarks = remarks or [Remark(verdict=own.verdict, where="", sentence=own.sentence)]
    if own.verdict == "NOT_ATTESTED" and own.name != "L2":
        return msgspec.structs.replace(own, remarks=(*own.remarks, *extra))
    return level(own.name, own.subject, [*remarks, *extra], f"{said}; {where}")


def _is_folder(path: Path) -> bool:
    """A folder, reached over no link."""
    try:
        modes = [each.lstat().st_mode for each in (path, path.parent)]
    except OSError:
        return False
    return all(stat.S_ISDIR(mode) for mode in modes)
