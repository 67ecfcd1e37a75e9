"""The seal: the head of a finished log, kept beside it, so that a cut tail is seen.

`seal.json` holds the number and hash of the log's last record. A chain alone proves that nothing before
its end was changed; the seal says where the end was.
"""

import json
from pathlib import Path

import msgspec

from vera import events
from vera.session.log import LogBroken, Reader

NAME = "seal.json"


class Seal(msgspec.Struct, frozen=True, kw_only=True):
    """The number of the last record and its hash."""

    seq: int
    hash: str


class Integrity(msgspec.Struct, frozen=True, kw_only=True):
    """What a check of a log found: SEALED, UNSEALED or BROKEN, and one sentence about it.

    `line` is the first broken line (from 1), 0 when none is.
    """

    verdict: str
    sentence: str
    records: int = 0
    line: int = 0


def write(session_dir: Path, seq: int, head: str) -> None:
    """Write the seal whole or not at all."""
    temporary = session_dir / (NAME + ".new")
    temporary.write_text(json.dumps({"seq": seq, "hash": head}) + "\n")
    temporary.replace(session_dir / NAME)


def check(session_dir: Path) -> Integrity:
    """Read the whole log of a session and hold it against its own hashes, its chain and its seal.

    Raises FileNotFoundError when there is no log.
    """
    reader = Reader(session_dir / "trace.jsonl")
    heads: dict[int, str] = {}
    try:
        seal = _read(session_dir)
    except (msgspec.MsgspecError, OSError) as error:
        return Integrity(verdict="BROKEN", sentence=f"{NAME} cannot be read: {error}.")
    last: events.Record | None = None
    try:
        for _, record in reader.poll():
            last = record
            if seal is not None and reader.seq == seal.seq:
                heads[seal.seq] = reader.head
    except LogBroken as broken:
        return Integrity(verdict="BROKEN", sentence=str(broken), records=reader.seq, line=broken.line)
    if torn := reader.torn():
        line = reader.line + 1
        return Integrity(
            verdict="BROKEN",
            sentence=f"The log is broken at line {line}: its last {torn} bytes are no whole record.",
            records=reader.seq,
            line=line,
        )
    if seal is None:
        if isinstance(last, events.RunEnd):
            sentence = f"The run has ended, but its {NAME} is missing."
        else:
            sentence = f"UNSEALED AFTER {reader.seq}: the run has not ended."
        return Integrity(verdict="UNSEALED", sentence=sentence, records=reader.seq)
    if reader.seq < seal.seq:
        line = reader.line + 1
        missing = seal.seq - reader.seq
        return Integrity(
            verdict="BROKEN",
            sentence=f"The log is broken at line {line}: its last {missing} sealed records are missing.",
            records=reader.seq,
            line=line,
        )
    if heads.get(seal.seq) != seal.hash:
        sentence = f"The log is broken at line {seal.seq}: the record there is not the one that was sealed."
        return Integrity(verdict="BROKEN", sentence=sentence, records=reader.seq, line=seal.seq)
    if reader.seq > seal.seq:
        sentence = f"UNSEALED AFTER {seal.seq}: {reader.seq - seal.seq} records follow the seal."
        return Integrity(verdict="UNSEALED", sentence=sentence, records=reader.seq)
    return Integrity(verdict="SEALED", sentence=f"SEALED: {reader.seq} records, whole.", records=reader.seq)


def _read(session_dir: Path) -> Seal | None:
    try:
        data = (session_dir / NAME).read_bytes()
    except FileNotFoundError:
        return None
    return msgspec.json.decode(data, type=Seal)
