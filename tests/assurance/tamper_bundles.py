"""Changes to a bundle: its bytes, and everything that a zip can say otherwise than VERA writes it."""

import io
import random
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from assurance.tamper_changes import mangled
from assurance.tamper_originals import Files, Original, originals
from vera.attestation.bundle import README

BUNDLED = ("answer.md", "attestation.json", "reviews.jsonl", "seal.json", "trace.jsonl")
DATE = 0x21
"""1980-01-01 as a zip has it."""
UNIX = 3 << 8
PLAIN = 0o100444 << 16
CYRILLIC = "\u0430".encode()
"""Looks like an a."""
TIME = b"UT\5\0\3abcd"
_LOCAL, _CENTRAL, _END = struct.Struct("<4s5H3L2H"), struct.Struct("<4s6H3L5H2L"), struct.Struct("<4s4H2LH")


@dataclass(frozen=True)
class Member:
    """A member and what its two headers say of it, where that is not what is true."""

    name: bytes
    data: bytes
    method: int = 0
    flags: int = 0
    time: int = 0
    date: int = DATE
    made: int = 20 | UNIX
    needs: int = 20
    attributes: int = PLAIN
    internal: int = 0
    local_name: bytes | None = None
    stored: bytes | None = None
    sizes: tuple[int, int] | None = None
    """Compressed and whole, as both headers say them."""
    crc: int | None = None
    extra: tuple[bytes, bytes] = (b"", b"")
    """Of the local and of the central header."""
    comment: bytes = b""
    shift: int = 0
    """Bytes by which the central header misses the local one."""


@dataclass(frozen=True)
class Archive:
    """A zip: bytes before, between and behind its parts, and what its end says of them."""

    members: Sequence[Member]
    before: bytes = b""
    between: bytes = b""
    comment: bytes = b""
    behind: bytes = b""
    counts: tuple[int, int] | None = None
    sizes: tuple[int, int] = (0, 0)
    """Added to the size and the place of the directory."""
    end: bytes = b""
    """Bytes in front of the last record, such as that of zip64."""

    def bytes(self) -> bytes:
        out, places = bytearray(self.before), []
        for member in self.members:
            places.append(len(out))
            out += _local(member)
        out += self.between
        start = len(out)
        for member, place in zip(self.members, places, strict=True):
            out += _central(member, place)
        size = len(out) - start
        counts = self.counts or (len(self.members), len(self.members))
        out += self.end
        told = (*counts, size + self.sizes[0], start + self.sizes[1], len(self.comment))
        out += _END.pack(b"PK\5\6", 0, 0, *told) + self.comment + self.behind
        return bytes(out)


def _local(member: Member) -> bytes:
    name = member.name if member.local_name is None else member.local_name
    head = _LOCAL.pack(
        b"PK\3\4", member.needs, member.flags, member.method, member.time, member.date, *_told(member),
        len(name), len(member.extra[0]),
    )  # fmt: skip
    return head + name + member.extra[0] + _body(member)


def _central(member: Member, place: int) -> bytes:
    head = _CENTRAL.pack(
        b"PK\1\2", member.made, member.needs, member.flags, member.method, member.time, member.date,
        *_told(member), len(member.name), len(member.extra[1]), len(member.comment), 0, member.internal,
        member.attributes, max(0, place + member.shift),
    )  # fmt: skip
    return head + member.name + member.extra[1] + member.comment


def _body(member: Member) -> bytes:
    return member.data if member.stored is None else member.stored


def _told(member: Member) -> tuple[int, int, int]:
    sizes = member.sizes or (len(_body(member)), len(member.data))
    return (zlib.crc32(member.data) if member.crc is None else member.crc, *sizes)


def archive_of(files: Files) -> Archive:
    """What VERA writes for the files of a session, as far as a bundle has them."""
    kept = {name: data for name, data in files.items() if _own(name) in BUNDLED or "store/" in name}
    kept |= {"README.txt": README.encode()}
    return Archive([Member(name.encode("utf-8", "surrogateescape"), kept[name]) for name in sorted(kept)])


def files_in(data: bytes) -> Files | None:
    """The files of a bundle that is written as VERA writes them; None for any other file."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as bundle:
            files = {name: bundle.read(name) for name in bundle.namelist() if name != "README.txt"}
    except Exception:  # noqa: BLE001 (whatever is wrong with it)
        return None
    return files if archive_of(files).bytes() == data else None


def _own(name: str) -> str:
    return name.rpartition("/")[2] if name.startswith("theses/") else name


def changed_bytes(original: Original, draw: random.Random) -> bytes:
    """Some bytes of the file."""
    return mangled(archive_of(original.files).bytes(), draw)


def tricks(original: Original, draw: random.Random) -> bytes:
    """A zip that another program would unpack as the same session, or as another one."""
    archive = archive_of(original.files)
    members = list(archive.members)
    at = draw.randrange(len(members))
    match draw.choice(["header", "header", "name", "place", "archive", "twice"]):
        case "header":
            members[at] = _other_header(members[at], draw)
        case "name":
            members[at] = replace(members[at], name=_other_name(members[at].name, draw))
        case "place":
            members = _elsewhere(members, at, draw)
        case "twice":
            members.insert(draw.randrange(len(members) + 1), _again(members[at], draw))
        case _:
            return _other_archive(archive, draw)
    return replace(archive, members=members).bytes()


def _other_header(member: Member, draw: random.Random) -> Member:
    """One member of the headers, of both or of one."""
    deflated = zlib.compress(member.data, 9)[2:-4]
    zip64 = struct.pack("<HHQQ", 1, 16, len(member.data), len(member.data))
    options: list[dict[str, Any]] = [
        {"flags": 1 << draw.randrange(16)},
        {"time": draw.randrange(1, 1 << 16)},
        {"date": draw.randrange(1 << 16)},
        {"made": draw.choice([20, 20 | 10 << 8, 63 | UNIX])},
        {"needs": draw.choice([10, 45, 63])},
        {"attributes": draw.choice([0o120777, 0o040755, 0o104755, 0o010644, 0, 0o100644]) << 16},
        {"attributes": PLAIN | 0x10},
        {"internal": 1},
        {"method": 8, "stored": deflated},
        {"method": draw.choice([1, 8, 9, 12, 14, 93, 99])},
        {"sizes": (len(member.data) + draw.choice([-1, 1, 1 << 20]), len(member.data))},
        {"sizes": (len(member.data), draw.choice([0, 1, 0xFFFFFFFE]))},
        {"sizes": (0xFFFFFFFF, 0xFFFFFFFF), "extra": (zip64, zip64)},
        {"crc": draw.randrange(1 << 32)},
        {
            "extra": draw.choice(
                [(b"UT\5\0\3abcd", b""), (b"", b"UT\5\0\3abcd"), (b"\0", b"\0"), (b"x" * 9, b"")]
            )
        },
        {"comment": draw.choice([b" ", b"see here", b"PK\5\6" + bytes(18)])},
        {"local_name": draw.choice([b"", b"other", member.name.upper(), member.name + b" "])},
        {"shift": draw.choice([-1, 1, 30, 1 << 30])},
        {"data": mangled(member.data, draw) if member.data else b"x"},
    ]
    return replace(member, **draw.choice(options))


def _other_name(name: bytes, draw: random.Random) -> bytes:
    return draw.choice([
        b"../" + name, b"/" + name, b"./" + name, name + b"/", name + b"\0.txt", name.swapcase(),
        b"C:\\" + name, name.replace(b"/", b"\\"), name.replace(b"a", CYRILLIC), name + b" ", b"",
        name * (60_000 // len(name)), b"\xff" + name, b"store/../" + name, b"theses/0001/" + name,
        b"evil.txt", b"store/aa/" + b"a" * 64, name.replace(b".", b".."),
    ])  # fmt: skip


def _elsewhere(members: list[Member], at: int, draw: random.Random) -> list[Member]:
    """Members in another order, missing, or with what another session has."""
    match draw.randrange(4):
        case 0:
            draw.shuffle(members)
        case 1:
            del members[at]
        case 2:
            other = draw.choice([each for each in originals() if each.name != "executed"])
            found = archive_of(other.files).members
            same = [each for each in found if each.name == members[at].name] or [draw.choice(list(found))]
            members[at] = replace(members[at], data=same[0].data)
        case _:
            one = draw.randrange(len(members))
            members[at], members[one] = (
                replace(members[at], data=members[one].data),
                replace(members[one], data=members[at].data),
            )
    return members


def _again(member: Member, draw: random.Random) -> Member:
    """The member once more: the same, or with other bytes."""
    return draw.choice([member, replace(member, data=mangled(member.data, draw) if member.data else b"x")])


def _other_archive(archive: Archive, draw: random.Random) -> bytes:
    """What is around the members."""
    size = len(archive.bytes())
    count = len(archive.members)
    junk = draw.choice([b"\0", b"PK\3\4", b"#!/bin/sh\n", draw.randbytes(40), archive.bytes()])
    zip64 = struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, count, count, 0, 0)
    zip64 += struct.pack("<4sLQL", b"PK\6\7", 0, size, 1)
    options: list[dict[str, Any]] = [
        {"before": junk},
        {"between": junk},
        {"behind": junk},
        {"comment": draw.choice([b"hello", _END.pack(b"PK\5\6", 0, 0, 0, 0, 0, 0, 0), junk[:60_000]])},
        {"counts": (count + draw.choice([-1, 1]), count)},
        {"counts": (count, draw.choice([0, count - 1, count + 1, 0xFFFF]))},
        {"sizes": (draw.choice([-46, -1, 1, 46]), 0)},
        {"sizes": (0, draw.choice([-30, -1, 1, 30]))},
        {"end": zip64},
        {"end": junk},
        {"members": []},
    ]
    return replace(archive, **draw.choice(options)).bytes()


CHANGES: Mapping[str, Callable[[Original, random.Random], bytes]] = {
    "bytes of the file": changed_bytes,
    "zip tricks": tricks,
}
