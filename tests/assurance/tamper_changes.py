"""Changes to the files of a session: of bytes, of lines, of blobs, of records with their hashes made again,
and pieces of other sessions. Each gives the files as they are then, which may be as they were."""

import hashlib
import json
import random
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from assurance.tamper_originals import Files, Original, originals, stranger
from vera.attestation.dsse import sign
from vera.attestation.envelope import open_envelope
from vera.session import seal as seals
from vera.session.log import seal_line

LOG, SEAL, ENVELOPE = "trace.jsonl", "seal.json", "attestation.json"

Change = Callable[[Original, random.Random], Files]


def changed_bytes(original: Original, draw: random.Random) -> Files:
    """Some bytes of one file."""
    name = draw.choice([name for name, data in original.files.items() if data])
    return {**original.files, name: mangled(original.files[name], draw)}


def mangled(data: bytes, draw: random.Random) -> bytes:
    """One byte is another one, or bytes are missing, new, twice, or of another case or form."""
    at = draw.randrange(len(data))
    size = draw.randint(1, min(40, len(data)))
    match draw.randrange(11):
        case 0 | 1 | 2:
            return data[:at] + bytes([data[at] ^ draw.randrange(1, 256)]) + data[at + 1 :]
        case 3:
            return data[:at] + data[at + size :]
        case 4:
            return data[:at] + draw.randbytes(size) + data[at:]
        case 5:
            return data[:at]
        case 6:
            return data + draw.choice([b"\n", b" ", b"\0", b"\r\n", data[-size:], draw.randbytes(size)])
        case 7:
            return data[:at] + data[at : at + size] + data[at:]
        case 8:
            return draw.choice([data.replace(b"\n", b"\r\n"), b"\xef\xbb\xbf" + data, data.rstrip(b"\n")])
        case 9:
            return data[:at] + bytes(size) + data[at + size :]
        case _:
            return data[:at] + data[at : at + size].swapcase() + data[at + size :]


def changed_lines(original: Original, draw: random.Random) -> Files:
    """Lines of the log, of a ledger or of the reviews are missing, twice, or in another order."""
    names = [name for name in original.files if name.endswith((".jsonl", ".md"))]
    name = draw.choice([*[each for each in names if each.endswith(LOG)], *names])
    return {**original.files, name: b"".join(moved(original.files[name].splitlines(True), draw))}


def moved(lines: list[bytes], draw: random.Random) -> list[bytes]:
    if not lines:
        return lines
    at, other = draw.randrange(len(lines)), draw.randrange(len(lines))
    match draw.randrange(6):
        case 0:
            return lines[:at] + lines[at + 1 :]
        case 1:
            return lines[: at + 1] + lines[at:]
        case 2:
            kept = [*lines]
            kept[at], kept[other] = kept[other], kept[at]
            return kept
        case 3:
            return lines[:at]
        case 4:
            return [*lines[:at], b"\n", *lines[at:]]
        case _:
            kept = lines[:at] + lines[at + 1 :]
            return [*kept[:other], lines[at], *kept[other:]]


def changed_blobs(original: Original, draw: random.Random) -> Files:
    """Blobs of the store are gone, exchanged, empty, of another session, or under another name."""
    files = dict(original.files)
    blobs = [name for name in files if "store/" in name]
    one, other = draw.sample(blobs, 2)
    match draw.randrange(6):
        case 0:
            del files[one]
        case 1:
            files[one], files[other] = files[other], files[one]
        case 2:
            files[one] = files[other]
        case 3:
            files[one] = b""
        case 4:
            elsewhere = draw.choice([each for each in originals() if each.name != original.name]).files
            files[one] = elsewhere[draw.choice([name for name in elsewhere if "store/" in name])]
        case _:
            files[_renamed(one, draw)] = files.pop(one)
    return files


def _renamed(name: str, draw: random.Random) -> str:
    folder, _, blob = name.rpartition("/")
    digit = draw.randrange(2, len(blob))
    other = draw.choice([each for each in "0123456789abcdef" if each != blob[digit]])
    return draw.choice(
        [f"{folder}/{blob[:digit]}{other}{blob[digit + 1 :]}", f"{folder}/{blob.upper()}", f"{name}.txt"]
    )


def from_elsewhere(original: Original, draw: random.Random) -> Files:
    """A file of another session, an earlier seal of this one, or its log cut where that seal was."""
    files = dict(original.files)
    if original.earlier and draw.random() < 0.5:
        files[SEAL] = original.earlier
        if draw.random() < 0.5:
            number = msgspec.json.decode(original.earlier)["seq"]
            files[LOG] = b"".join(files[LOG].splitlines(True)[:number])
        return files
    other = draw.choice([each for each in originals() if each.name != original.name]).files
    wanted = draw.choice(
        [(LOG,), (SEAL,), (ENVELOPE,), (LOG, SEAL), (SEAL, ENVELOPE), ("answer.md",), ("store",)]
    )
    for name in [each for each in {**files, **other} if each.split("/")[0] in wanted]:
        files.pop(name, None)
        if name in other:
            files[name] = other[name]
    return files


def edited_records(original: Original, draw: random.Random) -> Files:
    """A member of a record says something else; the chain is good, and the seal stays, or is another."""
    records = _records(original.files)
    record = draw.choice(records)
    path = draw.choice(list(_leaves(record)))
    _set(record, path, _other(_get(record, path), draw))
    return resealed({**original.files, LOG: chained(records)}, draw)


def spelled_otherwise(original: Original, draw: random.Random) -> Files:
    """JSON that a lenient parser would read as before: names twice, numbers, texts and white space in other
    spellings, members in another order. Of the log the chain is made again."""
    name = draw.choice([name for name in (LOG, SEAL, ENVELOPE, "reviews.jsonl") if name in original.files])
    data = original.files[name]
    if name in (SEAL, ENVELOPE):
        return {**original.files, name: respelled(data, draw)}
    lines = data.splitlines()
    at = draw.randrange(len(lines))
    bodies = [line[:-75] + b"}" for line in lines]
    bodies[at] = respelled(bodies[at], draw)
    out, prev = [], ""
    for body in bodies:
        if prev:
            body = re.sub(rb'"prev":"[0-9a-f]{64}"', b'"prev":"' + prev.encode() + b'"', body, count=1)
        line, prev = seal_line(body)
        out.append(line)
    return resealed({**original.files, name: b"".join(out)}, draw)


def respelled(data: bytes, draw: random.Random) -> bytes:
    """The same JSON to whoever reads carelessly."""
    members = list(re.finditer(rb'"(\w+)":\s?("(?:[^"\\]|\\.)*"|-?[0-9.]+)', data))
    found = draw.choice(members)
    name, value = found.groups()
    at, end = found.span()
    match draw.randrange(6):
        case 0:
            twice = (
                found[0]
                + b","
                + draw.choice([found[0], b'"%b":%b' % (name, b'"x"' if value[:1] == b'"' else b"7")])
            )
            return data[:at] + twice + data[end:]
        case 1:
            return data[:at] + b'"%b": %b ' % (name, value) + data[end:]
        case 2:
            code = b"\\u%04x" % name[0]
            return data[:at] + b'"%b%b":%b' % (code, name[1:], value) + data[end:]
        case 3:
            first, second = sorted(draw.sample(members, 2), key=lambda each: each.start())
            middle = data[first.end() : second.start()]
            return data[: first.start()] + second[0] + middle + first[0] + data[second.end() :]
        case 4:
            return data[:at] + b'"%b":%b,"unknown":null' % (name, value) + data[end:]
        case _:
            return data[:at] + b'"%b":%b' % (name, _spelled(value, draw)) + data[end:]


def _spelled(value: bytes, draw: random.Random) -> bytes:
    """A number or a text in another spelling."""
    if value[:1] != b'"':
        return draw.choice(
            [value + b".0", value + b"e0", b"-" + value, b"0" + value, b'"' + value + b'"', b"1" + value]
        )
    if len(value) == 2:
        return b"null"
    return b'"\\u%04x' % value[1] + value[2:] if value[1] < 128 and value[1] != 92 else value + b" "


def signed_again(original: Original, draw: random.Random) -> Files:
    """Seal, envelope, or all of it carry a stranger's signature, or one that is written otherwise."""
    files, key = dict(original.files), stranger()
    match draw.randrange(5):
        case 0:
            files[SEAL] = _sealed(msgspec.json.decode(files[SEAL], type=seals.Seal), key.seal)
        case 1 if ENVELOPE in files:
            files[ENVELOPE] = sign(open_envelope(files[ENVELOPE]).payload, key)
        case 2:
            seal = json.loads(files[SEAL])
            seal["sig"] = draw.choice(
                [seal["sig"].upper(), seal["sig"][:-2], seal["sig"] + "00", "", "0" * 128]
            )
            files[SEAL] = json.dumps(seal).encode() + b"\n"
        case 3:
            seal = json.loads(files[SEAL])
            seal |= {"keyid": key.keyid, "public": key.public.hex()}
            files[SEAL] = json.dumps(seal).encode() + b"\n"
        case _:
            return _all_signed_again(files, draw)
    return files


def _all_signed_again(files: dict[str, bytes], draw: random.Random) -> Files:
    """Every signature is the stranger's, and perhaps the reason is another one."""
    records = _records(files)
    for record in records:
        if record["type"] == "verifier":
            old = record["envelope"]["sha256"]
            data = sign(open_envelope(files[f"store/{old[:2]}/{old}"]).payload, stranger())
            name = hashlib.sha256(data).hexdigest()
            record["envelope"] = {"sha256": name, "size": len(data)}
            files[f"store/{name[:2]}/{name}"] = data
            if ENVELOPE in files:
                files[ENVELOPE] = data
        if record["type"] in ("status", "run_end") and draw.random() < 0.5:
            record["reason"] = "proved beyond doubt"
    return resealed({**files, LOG: chained(records)}, draw, always=True)


def older_formats(original: Original, draw: random.Random) -> Files:
    """The seal or the log says that it is of an older or a newer format."""
    files = dict(original.files)
    if draw.random() < 0.5:
        seal = json.loads(files[SEAL])
        seal["format"] = draw.choice([0, 1, 3, 99, -1, True, "2", None, 2.0])
        if draw.random() < 0.5:
            seal = {name: seal[name] for name in ("seq", "hash", "keyid", "public", "sig") if name in seal}
        files[SEAL] = json.dumps(seal).encode() + b"\n"
        return files
    records = _records(files)
    records[0]["format"] = draw.choice([0, 1, 3, 99, -1, "2", None, True])
    if draw.random() < 0.5:
        records[0]["version"] = draw.choice(["0.0.1", "99.0", ""])
    return resealed({**files, LOG: chained(records)}, draw)


def resealed(files: Files, draw: random.Random, *, always: bool = False) -> Files:
    """The seal stays as it was, or holds the log as it is now: a stranger's, an older one, or none."""
    how = draw.choice(["as it was", "stranger", "stranger", "first format", "unsigned", "gone"])
    if (how == "as it was" and not always) or SEAL not in files:
        return files
    if how == "gone":
        return {name: data for name, data in files.items() if name != SEAL}
    lines = files[LOG].splitlines()
    try:
        before = msgspec.json.decode(files[SEAL], type=seals.Seal)
        last = json.loads(lines[-1])
        made = msgspec.structs.replace(before, seq=len(lines), hash=last["hash"])
        if last["type"] == "run_end" and how != "first format":
            ended = {name: last[name] for name in ("status", "reason", "exit_code") if name in last}
            made = msgspec.structs.replace(made, **ended)
        if how == "first format":
            made = seals.Seal(seq=made.seq, hash=made.hash)
        return {**files, SEAL: _sealed(made, None if how == "unsigned" else stranger().seal)}
    except (ValueError, KeyError, IndexError, TypeError):
        return files


def _sealed(seal: seals.Seal, sign_: seals.Sign | None) -> bytes:
    keyid, public, sig = sign_(seal.message) if sign_ else ("", "", "")
    return seals._as_file(msgspec.structs.replace(seal, keyid=keyid, public=public, sig=sig))


def chained(records: Sequence[Mapping[str, Any]]) -> bytes:
    """A log of these records with a good chain."""
    out, prev = [], ""
    for number, record in enumerate(records, 1):
        body = {name: value for name, value in record.items() if name not in ("hash", "prev", "seq")}
        kind, ts = body.pop("type", "task"), body.pop("ts", 0.0)
        linked = {"type": kind, "seq": number, "ts": ts, **({"prev": prev} if prev else {}), **body}
        line, prev = seal_line(
            json.dumps(linked, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "replace")
        )
        out.append(line)
    return b"".join(out)


def _records(files: Files) -> list[dict[str, Any]]:
    return [json.loads(line) for line in files[LOG].splitlines()]


def _leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The places of a record that can be changed."""
    if isinstance(value, dict):
        found = [
            leaf for name in value if name != "hash" or path for leaf in _leaves(value[name], (*path, name))
        ]
        return found or [path]
    if isinstance(value, list) and value:
        return [leaf for at, each in enumerate(value) for leaf in _leaves(each, (*path, at))]
    return [path] if path else []


def _get(value: Any, path: Sequence[Any]) -> Any:
    for step in path:
        value = value[step]
    return value


def _set(value: Any, path: Sequence[Any], new: Any) -> None:
    _get(value, path[:-1])[path[-1]] = new


def _other(value: Any, draw: random.Random) -> Any:
    """Another value, mostly of the same kind."""
    if draw.random() < 0.1:
        return draw.choice([None, "", 0, -1, 1e308, 10**30, [], {}, True, "x" * 5000, "\u202e\0", "\ud800"])
    match value:
        case bool():
            return not value
        case int() | float():
            return value + draw.choice([1, -1, 7, 1000])
        case str() if value:
            at = draw.randrange(len(value))
            return value[:at] + draw.choice("0123456789abcxyz не\u0301") + value[at + 1 :]
        case str():
            return "x"
        case _:
            return draw.choice(["x", 1, None])


CHANGES: Mapping[str, Change] = {
    "bytes of a file": changed_bytes,
    "lines": changed_lines,
    "blobs of the store": changed_blobs,
    "pieces of another session, an earlier seal": from_elsewhere,
    "records, their chain made again": edited_records,
    "JSON in another spelling": spelled_otherwise,
    "signed again": signed_again,
    "older and newer formats": older_formats,
}
