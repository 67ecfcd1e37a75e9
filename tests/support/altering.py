"""Changes to a session as somebody makes them who knows how it is written: hashes made again, sealed again
with a key of their own."""

import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from vera import events
from vera.attestation.dsse import sign
from vera.attestation.envelope import open_envelope
from vera.attestation.integrity import COVERED
from vera.attestation.keys import Signer
from vera.session import Reader, seal
from vera.session.log import seal_line
from vera.store import Store

Change = Callable[[Path, Signer, random.Random], None]

CALLED = ("VERIFIED", "QUOTED")


def lines_of(root: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (root / "trace.jsonl").read_bytes().splitlines()]


def rewrite(root: Path, records: list[dict[str, Any]]) -> tuple[int, str]:
    """Write a log of these records with a good chain; the number and hash of its last one."""
    out, prev = [], ""
    for number, record in enumerate(records, 1):
        body = {name: value for name, value in record.items() if name not in ("hash", "prev", "seq")}
        kind = body.pop("type")
        ts = body.pop("ts", 0.0)
        linked = {"type": kind, "seq": number, "ts": ts, **({"prev": prev} if prev else {}), **body}
        line, prev = seal_line(json.dumps(linked, separators=(",", ":"), ensure_ascii=False).encode())
        out.append(line)
    (root / "trace.jsonl").write_bytes(b"".join(out))
    return len(records), prev


def reseal(root: Path, signer: Signer, random_: random.Random) -> None:
    """Seal the log as it is now, as any version of VERA would: with a stranger's key, or without one."""
    reader = Reader(root / "trace.jsonl")
    records = [record for _, record in reader.poll()]
    end = records[-1]
    how = random_.choice(["as before", "first format", "unsigned", "gone"])
    before = msgspec.json.decode((root / "seal.json").read_bytes(), type=seal.Seal)
    made = seal.Seal(seq=reader.seq, hash=reader.head, format=1 if how == "first format" else seal.FORMAT)
    if isinstance(end, events.RunEnd) and how != "first format":
        made = seal.concluding(reader.seq, reader.head, end, before.attestation, before.files)
    if how == "gone":
        (root / "seal.json").unlink()
    else:
        seal.write(root, made, None if how == "unsigned" else signer.seal)


def edit(root: Path, kinds: tuple[str, ...], **members: object) -> None:
    """Give the records of these kinds other members, and the log a good chain."""
    rewrite(root, [{**each, **members} if each["type"] in kinds else each for each in lines_of(root)])


ENDS = ("status", "run_end")


def flip_status(root: Path, signer: Signer, random_: random.Random) -> None:
    status = lines_of(root)[-1]["status"]
    other = "UNRESOLVED" if status == "VERIFIED" else "VERIFIED"
    kinds = random_.choice([ENDS, ENDS, ("run_end",), ("status",)])
    edit(root, kinds, status=other)
    if random_.random() < 0.5:
        edit(root, ("run_end",), exit_code=0 if other == "VERIFIED" else 3)
    reseal(root, signer, random_)


def edit_reason(root: Path, signer: Signer, random_: random.Random) -> None:
    reason = f"all {random_.randrange(2, 99)} claims were proved in court"
    edit(root, random_.choice([ENDS, ("run_end",), ("status",)]), reason=reason)
    reseal(root, signer, random_)


def edit_exit_code(root: Path, signer: Signer, random_: random.Random) -> None:
    code = lines_of(root)[-1].get("exit_code", 0)
    edit(root, ("run_end",), exit_code=random_.choice([each for each in (0, 3, 4, 6, 130) if each != code]))
    reseal(root, signer, random_)


def cut_tail(root: Path, signer: Signer, random_: random.Random) -> None:
    """End the log earlier, with the end of the run or without it."""
    records = lines_of(root)
    keep = random_.randrange(3, len(records))
    ended = {**records[-1], "status": "VERIFIED", "exit_code": 0}
    rewrite(root, [*records[:keep], *([ended] if random_.random() < 0.6 else [])])
    reseal(root, signer, random_)


def second_signer(root: Path, signer: Signer, random_: random.Random) -> None:
    """Only the seal is another's."""
    before = msgspec.json.decode((root / "seal.json").read_bytes(), type=seal.Seal)
    seal.write(root, before, signer.seal)


def swap_attestation(root: Path, signer: Signer, random_: random.Random) -> None:
    """attestation.json holds the same statement, signed by another."""
    opened = open_envelope((root / "attestation.json").read_bytes())
    (root / "attestation.json").write_bytes(sign(opened.payload, signer))


def sign_all_again(root: Path, signer: Signer, random_: random.Random) -> None:
    """The whole session is another's, to the last signature; its verdict is made a better one."""
    store, records = Store(root / "store"), lines_of(root)
    for record in records:
        if record["type"] == "verifier":
            opened = open_envelope(store.get(record["envelope"]["sha256"]))
            data = sign(opened.payload, signer)
            record["envelope"] = {"sha256": store.put(data), "size": len(data)}
            (root / "attestation.json").write_bytes(data)
        if record["type"] in ENDS and random_.random() < 0.7:
            record["reason"] = "proved beyond doubt"
    seq, head = rewrite(root, records)
    end = [record for _, record in Reader(root / "trace.jsonl").poll()][-1]
    assert isinstance(end, events.RunEnd)
    before = msgspec.json.decode((root / "seal.json").read_bytes(), type=seal.Seal)
    seal.write(root, seal.concluding(seq, head, end, before.attestation, before.files), signer.seal)


def edit_question(root: Path, signer: Signer, random_: random.Random) -> None:
    edit(root, ("task",), task=f"Is it true that {random_.randrange(10, 99)} is prime?")
    reseal(root, signer, random_)


def edit_made_file(root: Path, signer: Signer, random_: random.Random) -> None:
    """answer.md or a projection says something else."""
    present = [name for name in COVERED if (root / name).exists() and (root / name).stat().st_size]
    path = root / random_.choice(present)
    data = path.read_bytes()
    number = re.search(rb"[0-9]{2,}", data)
    if number and random_.random() < 0.5:
        path.write_bytes(data[: number.start()] + b"7" * len(number[0]) + data[number.end() :] + b" ")
    else:
        at = random_.randrange(len(data))
        path.write_bytes(data[:at] + random_.randbytes(3) + data[at:])


def flip_byte(root: Path, signer: Signer, random_: random.Random) -> None:
    """One byte of the log, the seal, the attestation, or of the store."""
    named = [
        root / name for name in ("trace.jsonl", "seal.json", "attestation.json") if (root / name).exists()
    ]
    path = random_.choice([*named, *random_.sample(sorted((root / "store").glob("*/*")), 3)])
    data = bytearray(path.read_bytes())
    data[random_.randrange(len(data))] ^= random_.randrange(1, 256)
    path.chmod(0o644)
    path.write_bytes(data)


def append_end(root: Path, signer: Signer, random_: random.Random) -> None:
    """A better end is written behind the sealed one."""
    records = lines_of(root)
    status = {**records[-2], "type": "status", "status": "VERIFIED", "reason": "at last"}
    end = {**records[-1], "status": "VERIFIED", "exit_code": 0, "reason": "at last"}
    rewrite(root, [*records, *random_.choice([[end], [status, end]])])
    if random_.random() < 0.5:
        reseal(root, signer, random_)


CHANGES: dict[str, Change] = {
    "status": flip_status,
    "reason": edit_reason,
    "exit code": edit_exit_code,
    "cut tail": cut_tail,
    "second signer": second_signer,
    "swapped attestation": swap_attestation,
    "signed all again": sign_all_again,
    "question": edit_question,
    "made file": edit_made_file,
    "byte": flip_byte,
    "appended end": append_end,
}
