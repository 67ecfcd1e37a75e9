"""What lies beside sessions and is changed too: what people said of claims, the register, kept exams, and the
records of a batch. Each trial gives the row of the table that it counts in."""

import functools
import json
import random
import re
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec
from click.testing import CliRunner, Result

import vera
from assurance.tamper_changes import mangled, moved, respelled
from assurance.tamper_originals import Files, Original, files_of, originals, stranger, write
from support import exams
from support.executing import LASTS
from vera.attestation import reviews
from vera.attestation.exam import grade, paper
from vera.attestation.integrity import check_integrity
from vera.attestation.replay import reviews_of
from vera.attestation.reviews import Entry
from vera.cli import main
from vera.session.log import seal_line
from vera.verification.exam import Kept
from vera.verification.kept_exams import load

Changed = Callable[[Path, random.Random], str]
_RECORD = re.compile(r"runs/[0-9a-f]{64}/(?:attempts/)?[\w.]+\.json")
BATCH = ("-c", "model.base_url=builtin", "-c", "sandbox.backend=none")


def some_way(data: bytes, draw: random.Random) -> bytes:
    """A file of JSON, or of lines of it, that is another one."""
    for _ in range(100):
        way = draw.choice([mangled, _lines, _spelled])
        try:
            if (changed := way(data, draw)) != data:
                return changed
        except (IndexError, ValueError):
            continue  # there was nothing of that kind
    raise AssertionError("no way changes anything")


def _lines(data: bytes, draw: random.Random) -> bytes:
    return b"".join(moved(data.splitlines(True), draw))


def _spelled(data: bytes, draw: random.Random) -> bytes:
    lines = data.splitlines(True)
    at = draw.randrange(len(lines))
    lines[at] = respelled(lines[at], draw)
    return b"".join(lines)


def changed_reviews(folder: Path, draw: random.Random) -> str:
    """What people said: no entry that they did not write counts, and each that is changed is listed."""
    original = next(each for each in originals() if each.name == "reviewed")
    honest = original.files[reviews.FILE]
    data = _other_reviews(original, draw)
    root = write({**original.files, reviews.FILE: data}, folder / "s")
    _, loaded = check_integrity(root, original.signers)
    found = reviews_of(root, loaded, original.signers, is_whole=True)
    assert found is not None
    written = {msgspec.json.decode(line[:-75] + b"}", type=Entry) for line in honest.splitlines()}
    counted = [each.entry for each in found.reviews if each.standing in ("COUNTED", "REPLACED")]
    assert {*counted} <= written, f"an entry counts that was never written: {found}"
    if honest.startswith(data) and (data.endswith(b"\n") or not data):
        return "human verdicts: the last ones are missing (nothing promised)"
    listed = found.bad or any(each.standing == "UNTRUSTED" for each in found.reviews)
    assert listed or "not read" in found.sentence, f"no entry is listed: {found}"
    return "human verdicts"


def _other_reviews(original: Original, draw: random.Random) -> bytes:
    """The file in some other way; or an entry that is made again, as somebody makes it who knows the form."""
    honest = original.files[reviews.FILE]
    if draw.random() < 0.6:
        return some_way(honest, draw)
    lines = honest.splitlines(True)
    at = draw.randrange(len(lines))
    entry = json.loads(lines[at][:-76] + b"}")
    others = ({"label": "disagree"}, {"note": "No."}, {"claim": "c9"}, {"session": "0" * 64}, {"at": 1})
    entry |= draw.choice(others)
    if draw.random() < 0.5:
        unsigned = msgspec.convert({**entry, "keyid": "0" * 64, "public": "0" * 64, "sig": ""}, Entry)
        keyid, public, sig = stranger().seal(unsigned.message)
        entry |= {"keyid": keyid, "public": public, "sig": sig}
    lines[at] = seal_line(json.dumps(entry, separators=(",", ":")).encode())[0]
    return b"".join(lines)


@functools.cache
def register() -> Files:
    """The folder `.vera` of a base with two asserted theses, and one that was verified twice."""
    with tempfile.TemporaryDirectory(prefix="vera-tamper-") as name:
        base = Path(name)
        (base / "documents").mkdir()
        (base / "documents" / "offer.txt").write_text(f"{LASTS}.\nThe licence asks for no fee.\n")
        told = {"input_dir": base / "documents", "base_dir": base, "overrides": ["model.base_url=builtin"]}
        for number, text in enumerate((LASTS, "The licence asks for no fee", LASTS)):
            vera.verify(f"{text}.", work_dir=base / f"s{number}", fresh=True, **told)
        return {
            name: data
            for name, data in files_of(base / ".vera").items()
            if name.startswith(("ahdb", "attestations"))
        }


def changed_register(folder: Path, draw: random.Random) -> str:
    """The journal, its head or a proof: 'vera ahdb' says so, and asserts nothing that it did not before."""
    honest = register()
    base = write({f".vera/{name}": data for name, data in honest.items()}, folder / "base")
    before = {name: typed("ahdb", name, "--base-dir", base) for name in ("show", "history")}
    assert all(each.exit_code == 0 for each in before.values()), before
    name = draw.choice(["ahdb.jsonl", "ahdb.jsonl", "ahdb.head.json", draw.choice(sorted(honest))])
    gone = draw.random() < 0.1
    path = base / ".vera" / name
    path.chmod(0o600)
    path.unlink() if gone else path.write_bytes(some_way(honest[name], draw))
    after = {name: typed("ahdb", name, "--base-dir", base) for name in ("show", "history")}
    for command, done in after.items():
        assert asserted(done) <= asserted(before[command]), f"{command} asserts more: {done.output}"
    if any(done.exit_code or done.stderr for done in after.values()):
        return "register"
    if (name == "ahdb.jsonl" and gone) or not any(each.endswith(".json") for each in honest):
        return "register: no journal at all (nothing promised)"
    assert asserted(after["show"]) == asserted(before["show"]), f"{name} was changed: {after['show'].output}"
    return "register: a proof that no entry needs (nothing promised)"


def asserted(done: Result) -> set[str]:
    """The lines of what is asserted."""
    return {line.strip() for line in done.stdout.splitlines() if "ASSERT" in line or "years" in line}


def typed(*words: object) -> Result:
    """A command in this process; an error that would have been a traceback is raised."""
    done = CliRunner().invoke(main, [*map(str, words)])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


@functools.cache
def sat(competent: bool) -> bytes:
    """A kept exam of a judge that knows the answers, or of one that supports everything."""
    replies = [
        exams.labelled(exams.competent(sheet.claim, [item.text for item in sheet.items]))
        if competent
        else exams.labelled(["SUPPORTS"] * len(sheet.items))
        for sheet in paper(7)
    ]
    return msgspec.json.encode(Kept(seed=7, sat_at=1e9, replies=tuple(replies)))


def changed_exam(folder: Path, draw: random.Random) -> str:
    """An exam in the cache: its replies are graded again, so none is better than they are."""
    competent = draw.random() < 0.5
    honest = msgspec.json.decode(sat(competent), type=Kept)
    path = folder / "exam.json"
    path.write_bytes(some_way(sat(competent), draw))
    kept = load(path, Kept)
    if kept is not None and grade(kept.seed, kept.replies).passed:
        same = (kept.seed, kept.replies) == (honest.seed, honest.replies)
        assert competent and (same or _as_good(honest, kept)), "an exam is passed that nobody sat"
    return "kept exams"


def _as_good(honest: Kept, kept: Kept) -> bool:
    """Whether replies that are spelled otherwise say nearly the same."""
    return grade(kept.seed, kept.replies).right <= grade(honest.seed, honest.replies).right


@functools.cache
def batch() -> Files:
    """A base folder with a batch of two tasks that are done."""
    with tempfile.TemporaryDirectory(prefix="vera-tamper-") as name:
        base = Path(name)
        (base / "docs").mkdir()
        (base / "docs" / "offer.txt").write_text(f"{LASTS}.\n")
        asked = ("How long is the offer valid?", "Is the offer valid for three years?")
        tasks = [{"task": each, "input_dir": str(base / "docs")} for each in asked]
        (base / "tasks.jsonl").write_text("\n".join(map(json.dumps, tasks)))
        done = typed("batch", base / "tasks.jsonl", "--base-dir", base, "--allow-input", base, *BATCH)
        assert "2 done" in done.output, done.output
        return files_of(base)


def changed_records(folder: Path, draw: random.Random) -> str:
    """What is written about a task: it is shown as it was, or not as done, or as ALTERED."""
    honest = batch()
    records = [name for name in honest if _RECORD.fullmatch(name)]
    name = draw.choice(records)
    base = write({each: honest[each] for each in records}, folder / "base")
    before = rows(base)
    (base / name).write_bytes(some_way(honest[name], draw))
    after = rows(base)
    for task, row in after.items():
        told = {key: row[key] for key in ("status", "exit_code", "session", "attestation")}
        same = told == {key: before[task][key] for key in told} if task in before else False
        assert same or row["state"] != "done" or row["status"] == "ALTERED", f"{name}: {row}"
    return "records of a batch"


def rows(base: Path) -> dict[str, Mapping[str, object]]:
    """What `vera batch status` says of each task."""
    done = typed("batch", "status", "--base-dir", base, "--json")
    return {row["id"]: row for row in json.loads(done.stdout)["tasks"]} if done.stdout else {}


CHANGES: Mapping[str, Changed] = {
    "human verdicts": changed_reviews,
    "register": changed_register,
    "kept exams": changed_exam,
    "records of a batch": changed_records,
}
