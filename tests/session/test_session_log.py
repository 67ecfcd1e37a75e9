"""The log: one writer, a chain of hashes, readers that never start again."""

import json
import os
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vera import events
from vera.session import Session, SessionError, insist_on_place, seal
from vera.session.log import Log, LogBroken, LogError, LogInUse, Reader, seal_line


def clock() -> float:
    return 1_700_000_000.25


def write(path: Path, count: int = 5) -> Log:
    log = Log.create(path, clock)
    for number in range(count):
        log.append(events.Note(step=number, text=f"Nöte {number}"), "main")
    return log


def read(path: Path) -> list[events.Record]:
    return [record for _, record in Reader(path).poll()]


def test_records_come_back_as_they_were_written_with_number_time_and_lane(tmp_path: Path) -> None:
    log = write(tmp_path / "trace.jsonl")
    log.close()
    records = read(tmp_path / "trace.jsonl")
    assert [record.seq for record in records] == [1, 2, 3, 4, 5]
    assert {record.lane for record in records} == {"main"}
    assert {record.ts for record in records} == {clock()}
    assert isinstance(records[2], events.Note)
    assert records[2].text == "Nöte 2"


def test_each_record_names_the_hash_of_the_one_before_and_its_own(tmp_path: Path) -> None:
    write(tmp_path / "trace.jsonl").close()
    lines = (tmp_path / "trace.jsonl").read_bytes().splitlines()
    for before, after in pairwise(lines):
        own = before[-66:-2]
        assert b'"prev":"' + own + b'"' in after


def test_a_log_of_a_newer_format_is_refused_and_one_of_this_format_is_read(tmp_path: Path) -> None:
    for number, refused in ((events.FORMAT, False), (events.FORMAT + 1, True)):
        path = tmp_path / f"{number}.jsonl"
        log = Log.create(path, clock)
        log.append(events.Session(format=number, version="9", settings={}), "")
        log.close()
        if refused:
            with pytest.raises(LogBroken, match="log format 2, where 1 is the newest one known"):
                read(path)
        else:
            assert len(read(path)) == 1


def test_time_in_a_log_never_runs_backwards(tmp_path: Path) -> None:
    times = iter([10.0, 5.0, 11.0])
    log = Log.create(tmp_path / "trace.jsonl", lambda: next(times))
    stamps = [log.append(events.Note(step=1, text="x"), "main").ts for _ in range(3)]
    assert stamps == [10.0, 10.0, 11.0]
    log.close()


def test_a_second_writer_is_refused_also_from_another_process(tmp_path: Path) -> None:
    log = write(tmp_path / "trace.jsonl")
    with pytest.raises(LogInUse):
        Log.reopen(tmp_path / "trace.jsonl", clock, lambda record: None)
    program = (
        "import sys, pathlib\n"
        "from vera.session.log import Log, LogInUse\n"
        "try:\n"
        "    Log.reopen(pathlib.Path(sys.argv[1]), lambda: 0.0, lambda r: None)\n"
        "except LogInUse:\n"
        "    print('in use')\n"
    )
    arguments = [sys.executable, "-c", program, str(tmp_path / "trace.jsonl")]
    assert subprocess.run(arguments, capture_output=True, text=True, check=True).stdout == "in use\n"
    log.close()
    Log.reopen(tmp_path / "trace.jsonl", clock, lambda record: None)[0].close()


def test_a_reader_goes_on_where_it_stopped(tmp_path: Path) -> None:
    log = write(tmp_path / "trace.jsonl", 3)
    reader = Reader(tmp_path / "trace.jsonl")
    assert len(list(reader.poll())) == 3
    assert list(reader.poll()) == []
    log.append(events.Note(step=9, text="later"), "main")
    assert [record.seq for _, record in reader.poll()] == [4]
    assert reader.offset == (tmp_path / "trace.jsonl").stat().st_size
    log.close()


def test_a_reader_leaves_an_unfinished_line_for_the_next_time(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    write(path, 3).close()
    whole = path.read_bytes()
    path.write_bytes(whole[:-10])
    reader = Reader(path)
    assert len(list(reader.poll())) == 2
    assert reader.torn() > 0
    path.write_bytes(whole)
    assert [record.seq for _, record in reader.poll()] == [3]


def test_a_torn_tail_is_moved_aside_and_said(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    write(path, 3).close()
    whole = path.read_bytes()
    path.write_bytes(whole[:-10])
    seen: list[events.Record] = []
    log, recovered = Log.reopen(path, clock, seen.append)
    assert recovered is not None
    assert len(seen) == 2
    torn = (tmp_path / "trace.jsonl.torn").read_bytes()
    assert torn == whole.splitlines(keepends=True)[2][:-10] + b"\n"
    assert recovered.torn_bytes == len(torn) - 1
    log.append(recovered, "")
    log.close()
    assert [record.seq for record in read(path)] == [1, 2, 3]


def test_a_full_disk_leaves_a_log_of_whole_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "trace.jsonl"
    log = write(path, 2)
    import os

    real = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: real(descriptor, data[:20]))
    with pytest.raises(LogError, match="No space left"):
        log.append(events.Note(step=3, text="lost"), "main")
    monkeypatch.undo()
    log.append(events.Note(step=3, text="kept"), "main")
    log.close()
    assert [record.seq for record in read(path)] == [1, 2, 3]


def sealed(folder: Path) -> Path:
    log = write(folder / "trace.jsonl", 6)
    seal.write(folder, seal.Seal(seq=log.seq, hash=log.head))
    log.close()
    return folder / "trace.jsonl"


def test_what_is_brought_to_the_disk_beside_the_run_is_there_when_the_log_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    brought = threading.Event()

    def slow(descriptor: int) -> None:
        time.sleep(0.05)
        os.fsync(descriptor)
        brought.set()

    log = write(tmp_path / "trace.jsonl")
    monkeypatch.setattr("vera.session.log._fdatasync", slow)
    log.sync_beside()
    log.append(events.Note(step=1, text="meanwhile"), "main")
    log.close()
    assert brought.is_set()
    assert len(read(tmp_path / "trace.jsonl")) == 6


@pytest.mark.parametrize("goes_on", [lambda log: log.append(events.Note(step=1, text="x"), "main"), Log.sync])
def test_a_disk_that_fails_beside_the_run_is_told_by_what_comes_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, goes_on: Callable[[Log], object]
) -> None:
    failing = threading.Event()

    def broken(descriptor: int) -> None:
        failing.set()
        raise OSError(5, "Input/output error")

    log = write(tmp_path / "trace.jsonl")
    monkeypatch.setattr("vera.session.log._fdatasync", broken)
    log.sync_beside()
    log.sync_beside()  # waits for the one before
    assert failing.is_set()
    with pytest.raises(LogError, match="Input/output error"):
        goes_on(log)
    log.close()


def test_a_whole_log_with_its_seal_is_sealed(tmp_path: Path) -> None:
    sealed(tmp_path)
    assert seal.check(tmp_path).verdict == "SEALED"


def test_any_single_flipped_byte_is_reported_with_its_line(tmp_path: Path) -> None:
    path = sealed(tmp_path)
    whole = path.read_bytes()
    for position in range(len(whole)):
        line = whole[:position].count(b"\n") + 1
        path.write_bytes(whole[:position] + bytes([whole[position] ^ 0x01]) + whole[position + 1 :])
        found = seal.check(tmp_path)
        assert (found.verdict, found.line) == ("BROKEN", line), (position, found)


@settings(max_examples=60)
@given(st.data())
def test_any_changed_byte_of_a_log_is_reported(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("log")
    path = sealed(folder)
    whole = path.read_bytes()
    position = data.draw(st.integers(0, len(whole) - 1))
    value = data.draw(st.integers(0, 255).filter(lambda byte: byte != whole[position]))
    path.write_bytes(whole[:position] + bytes([value]) + whole[position + 1 :])
    assert seal.check(folder).verdict == "BROKEN"


def test_a_cut_tail_of_a_sealed_log_is_reported_wherever_it_was_cut(tmp_path: Path) -> None:
    path = sealed(tmp_path)
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        found = seal.check(tmp_path)
        assert found.verdict == "BROKEN", length
        assert found.line == whole[:length].count(b"\n") + 1


def test_a_record_taken_out_or_moved_breaks_the_chain(tmp_path: Path) -> None:
    path = sealed(tmp_path)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:2] + lines[3:]))
    assert seal.check(tmp_path).line == 3
    path.write_bytes(b"".join([lines[1], lines[0], *lines[2:]]))
    assert seal.check(tmp_path).line == 1


def rehashed(line: bytes, **members: object) -> bytes:
    """A record with other members, and with the hash of its new bytes."""
    record = {**json.loads(line), **members}
    del record["hash"]
    return seal_line(json.dumps(record, separators=(",", ":"), ensure_ascii=False).encode())[0]


def test_a_middle_record_that_is_rewritten_with_its_own_hash_breaks_the_chain_behind_it(
    tmp_path: Path,
) -> None:
    path = sealed(tmp_path)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:2], rehashed(lines[2], text="another"), *lines[3:]]))
    found = seal.check(tmp_path)
    assert (found.verdict, found.line) == ("BROKEN", 4)
    assert "does not follow the record before it" in found.sentence


def test_a_record_that_names_another_record_before_it_is_broken_there(tmp_path: Path) -> None:
    path = sealed(tmp_path)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:3], rehashed(lines[3], prev="0" * 64), *lines[4:]]))
    found = seal.check(tmp_path)
    assert (found.verdict, found.line) == ("BROKEN", 4)
    assert "does not follow the record before it" in found.sentence


@pytest.mark.parametrize("number", [0, 3, 5, 2**53])
def test_a_record_with_another_number_is_broken_there(tmp_path: Path, number: int) -> None:
    path = sealed(tmp_path)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:3], rehashed(lines[3], seq=number), *lines[4:]]))
    found = seal.check(tmp_path)
    assert (found.verdict, found.line) == ("BROKEN", 4)
    assert f"it is record {number} where 4 was expected" in found.sentence


def test_a_log_rewritten_with_a_good_chain_does_not_match_its_seal(tmp_path: Path) -> None:
    path = sealed(tmp_path)
    path.unlink()
    log = Log.create(path, clock)
    for number in range(6):
        log.append(events.Note(step=number, text="another story"), "main")
    log.close()
    found = seal.check(tmp_path)
    assert found.verdict == "BROKEN"
    assert "not the one that was sealed" in found.sentence


def test_a_running_log_is_unsealed_and_a_longer_one_says_since_when(tmp_path: Path) -> None:
    write(tmp_path / "trace.jsonl", 2).close()
    assert seal.check(tmp_path).verdict == "UNSEALED"
    (tmp_path / "b").mkdir()
    path = sealed(tmp_path / "b")
    log, _ = Log.reopen(path, clock, lambda record: None)
    log.append(events.Note(step=1, text="after"), "main")
    log.close()
    assert seal.check(tmp_path / "b").sentence.startswith("UNSEALED AFTER 6")


def test_a_broken_log_is_not_gone_on_with(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    write(path, 3).close()
    path.write_bytes(path.read_bytes().replace("Nöte 1".encode(), "Nöte 7".encode()))
    with pytest.raises(LogBroken) as caught:
        Log.reopen(path, clock, lambda record: None)
    assert caught.value.line == 2
    with pytest.raises(LogBroken):  # the failed attempt let go of the lock
        Log.reopen(path, clock, lambda record: None)


@pytest.mark.parametrize("umask", [0o000, 0o022])
def test_a_session_is_for_its_owner_alone_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        session = Session.create(tmp_path / "work" / "s", {})
        session.text("x" * (events.INLINE_BYTES + 1))
        session.finish(events.RunEnd(status="UNRESOLVED", reason="", exit_code=3, steps=0, seconds=0))
        session.close()
    finally:
        os.umask(before)
    root = tmp_path / "work" / "s"
    # The boxes of root are another user's, who passes through the folder to workspace/.
    assert stat.S_IMODE(root.stat().st_mode) == (0o700 if os.geteuid() else 0o711)
    open_to_others = [
        path.name
        for path in [*root.iterdir(), *(root / "store").rglob("*")]
        if path.name != "workspace" and stat.S_IMODE(path.stat().st_mode) & 0o077
    ]
    assert open_to_others == []


def test_a_folder_that_was_there_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir(mode=0o755)
    Session.create(tmp_path / "s", {}).close()
    assert stat.S_IMODE((tmp_path / "s").stat().st_mode) == 0o755
    assert stat.S_IMODE((tmp_path / "s" / "trace.jsonl").stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "names",
    [
        [],
        ["trace.jsonl", "notes.md", "mine.txt"],
        ["session.log", "run.log", "run.pid", "input/dropped.txt"],
        ["workspace/"],
        ["trace.jsonl.unbegun-1", "notes.md", "store/"],
        [".vera/in-flight/x"],
    ],
    ids=str,
)
def test_a_session_may_begin_in_an_empty_folder_and_where_one_was_begun(
    names: list[str], tmp_path: Path
) -> None:
    root = tmp_path / "s"
    insist_on_place(root)
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).mkdir() if name.endswith("/") else (root / name).touch()
    insist_on_place(root if names else tmp_path)


@pytest.mark.parametrize("name", ["a.txt", "report.md", "answer.md", "output/a.txt", ".env"])
def test_no_session_begins_among_other_files(name: str, tmp_path: Path) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).touch()
    with pytest.raises(SessionError, match=r"Choose a new or empty folder\."):
        insist_on_place(tmp_path)
