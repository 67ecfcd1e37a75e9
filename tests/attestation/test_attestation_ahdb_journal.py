"""The AHDB's journal and its fold: chained, locked, torn lines set aside; any prefix folds."""

import fcntl
import json
import os
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from vera.attestation.ahdb import head as heads
from vera.attestation.ahdb import journal as journals
from vera.attestation.ahdb.entries import (
    REGISTERS,
    AnyEntry,
    Believe,
    BlindSpot,
    Drive,
    Hypothesize,
    Retract,
    Slot,
    decode,
    encode,
    register_of,
    slot_of,
)
from vera.attestation.ahdb.journal import Journal, JournalBroken, JournalError, hash_of, parse_lines
from vera.attestation.ahdb.proposals import NothingThere, propose, retract
from vera.attestation.ahdb.view import fold, has_expired, view
from vera.attestation.keys import Signer

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SIGNER = Signer(Ed25519PrivateKey.generate())


def drive(text: str, key: str = "ship", expires_at: str = "", thesis_id: str = "") -> Drive:
    return Drive(
        key=key,
        text=text,
        expires_at=expires_at,
        thesis_id=thesis_id,
        actor="person",
        priority=1,
        trade_off="speed",
        red_line="lies",
    )


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path)


def texts(journal: Journal) -> list[str]:
    return [entry.text for entry in journal.read().entries]


def test_a_journal_that_is_not_there_is_empty(journal: Journal) -> None:
    assert journal.read().entries == ()
    assert not journal.path.parent.exists()


def test_what_was_appended_is_read_again_in_order_and_chained(journal: Journal) -> None:
    first, second = (propose(journal, drive(text), NOW, SIGNER).entries[0] for text in ("one", "two"))
    assert journal.read().entries == (first, second)
    assert (first.seq, first.prev, second.seq, second.prev) == (1, "", 2, hash_of(first))


def test_time_never_runs_backwards_in_a_journal(journal: Journal) -> None:
    propose(journal, drive("one"), NOW, SIGNER)
    propose(journal, drive("two"), NOW - timedelta(days=1), SIGNER)
    first, second = journal.read().entries
    assert first.ts == second.ts


def test_only_its_owner_can_read_it(journal: Journal) -> None:
    propose(journal, drive("one"), NOW, SIGNER)
    assert journal.path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("place", range(0, 200, 7))
def test_a_changed_byte_breaks_its_line(place: int, journal: Journal) -> None:
    propose(journal, drive("one"), NOW, SIGNER)
    propose(journal, drive("two"), NOW, SIGNER)
    data = bytearray(journal.path.read_bytes())
    data[place] ^= 1
    journal.path.write_bytes(data)
    with pytest.raises(JournalBroken, match=r"line 1.*Nothing of it is used"):
        journal.read()
    with pytest.raises(JournalBroken):
        propose(journal, drive("three"), NOW, SIGNER)


def test_a_line_taken_out_breaks_the_chain(journal: Journal) -> None:
    for text in ("one", "two", "three"):
        propose(journal, drive(text), NOW, SIGNER)
    lines = journal.path.read_bytes().splitlines(keepends=True)
    journal.path.write_bytes(lines[0] + lines[2])
    with pytest.raises(JournalBroken, match="does not follow"):
        journal.read()


def test_a_torn_last_line_is_left_out_and_moved_aside_by_the_next_writer(journal: Journal) -> None:
    propose(journal, drive("one"), NOW, SIGNER)
    whole = journal.path.read_bytes()
    journal.path.write_bytes(whole + b'{"register":"DRI')
    content = journal.read()
    assert (len(content.entries), content.torn) == (1, 16)
    assert propose(journal, drive("two"), NOW, SIGNER).torn == 16
    assert texts(journal) == ["one", "two"]
    assert (journal.path.parent / "ahdb.jsonl.torn").read_bytes() == b'{"register":"DRI\n'
    assert journal.path.read_bytes().startswith(whole)


@pytest.mark.parametrize(
    "line", [b"\n", b"{}\n", b"\xff" * 100 + b"\n", b"[" * 5000 + b"\n", b"null" * 40 + b"\n"]
)
def test_a_line_that_is_no_entry_is_a_sentence(line: bytes, journal: Journal) -> None:
    propose(journal, drive("one"), NOW, SIGNER)
    with journal.path.open("ab") as file:
        file.write(line)
    with pytest.raises(JournalBroken, match="line 2"):
        journal.read()


def test_a_line_without_an_end_is_not_read_for_ever(journal: Journal) -> None:
    propose(journal, drive("one"), NOW, SIGNER)
    with journal.path.open("ab") as file:
        file.write(b"x" * (journals.MAX_LINE + 1))
    with pytest.raises(JournalBroken, match="longer than"):
        journal.read()


def test_a_journal_that_is_too_large_is_a_sentence(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    propose(journal, drive("one"), NOW, SIGNER)
    monkeypatch.setattr(journals, "MAX_BYTES", 10)
    with pytest.raises(JournalError, match="cannot be read"):
        journal.read()


def test_a_link_is_not_followed(journal: Journal, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine\n")
    journal.path.parent.mkdir()
    journal.path.symlink_to(victim)
    with pytest.raises(JournalError, match="link"):
        propose(journal, drive("one"), NOW, SIGNER)
    with pytest.raises(JournalError):
        journal.read()
    assert victim.read_text() == "mine\n"


def test_a_folder_that_is_a_link_is_not_followed(journal: Journal, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    journal.path.parent.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(JournalError, match="link"):
        propose(journal, drive("one"), NOW, SIGNER)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_what_is_no_file_is_a_sentence(journal: Journal) -> None:
    journal.path.parent.mkdir()
    os.mkfifo(journal.path)
    with pytest.raises(JournalError, match="no regular file"):
        propose(journal, drive("one"), NOW, SIGNER)
    with pytest.raises(JournalError):
        journal.read()


def test_a_journal_that_another_process_holds_is_a_sentence(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    propose(journal, drive("one"), NOW, SIGNER)
    monkeypatch.setattr(journals, "LOCK_SECONDS", 0.0)
    with journal.path.open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(JournalError, match="in use"):
            propose(journal, drive("two"), NOW, SIGNER)
    assert texts(journal) == ["one"]


def test_writers_at_once_lose_nothing(journal: Journal) -> None:
    def write(name: int) -> None:
        for number in range(5):
            propose(journal, drive(f"{name}-{number}", key=f"{name}-{number}"), NOW, SIGNER)

    threads = [threading.Thread(target=write, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(texts(journal)) == sorted(f"{name}-{number}" for name in range(4) for number in range(5))


def test_an_entry_that_could_not_be_read_again_is_not_written(journal: Journal) -> None:
    for entry in (drive(""), drive("x" * 5000), drive("one", thesis_id="sha256:x"), drive("\ud800")):
        with pytest.raises(JournalError, match="No journal can hold this entry"):
            propose(journal, entry, NOW, SIGNER)
    assert journal.read().entries == ()


def test_a_retract_names_what_stands_and_nothing_else(journal: Journal) -> None:
    propose(journal, drive("one"), NOW, SIGNER)
    propose(journal, drive("two"), NOW, SIGNER)
    for seq, sentence in ((0, "no entry 0"), (3, "has 2"), (1, "entry 2 .DRIVE. took its place")):
        with pytest.raises(NothingThere, match=sentence):
            retract(journal, seq, "why", NOW, SIGNER)
    retract(journal, 2, "why", NOW, SIGNER)
    with pytest.raises(NothingThere, match="RETRACT itself"):
        retract(journal, 3, "why", NOW, SIGNER)
    assert view(journal.read().entries, NOW).standing == ()


KEYS = st.sampled_from(["a", "b", "c"])
TIMES = st.one_of(
    st.just(""),
    st.integers(0, 20).map(lambda day: (NOW + timedelta(days=day)).isoformat().replace("+00:00", "Z")),
)


@st.composite
def entries(draw: st.DrawFn) -> AnyEntry:
    key, text, expires_at = draw(KEYS), draw(st.text("xyz é", min_size=1, max_size=5)), draw(TIMES)
    match draw(st.sampled_from(["drive", "believe", "hypothesize", "blind spot", "retract"])):
        case "drive":
            return drive(text, key, expires_at=expires_at)
        case "believe":
            return Believe(
                key=key, text=text, expires_at=expires_at, prior="p", tier="low", trigger="t", effect="e"
            )
        case "hypothesize":
            return Hypothesize(
                key=key, text=text, expires_at=expires_at, tests=("look",), budget="b", promotion="p"
            )
        case "blind spot":
            return BlindSpot(
                key=key, text=text, expires_at=expires_at, boundary="time", risk="r", bound="b", detector="d"
            )
    return Retract(key=key, text=text, of=draw(st.sampled_from(REGISTERS)), cause="PERSON")


JOURNALS = st.lists(entries(), max_size=25)
MOMENTS = st.integers(-1, 25).map(lambda day: NOW + timedelta(days=day))


# The signed head.


def three(journal: Journal) -> list[bytes]:
    """The lines of a journal with three entries."""
    for text in ("one", "two", "three"):
        propose(journal, drive(text, key=text), NOW, SIGNER)
    return journal.path.read_bytes().splitlines(keepends=True)


def chained(made: list[AnyEntry]) -> bytes:
    """A journal of these entries as somebody writes it who knows the format and has no key."""
    return journals.lines_of(made, journals.Content(), NOW)[1]


def test_every_append_signs_the_head(journal: Journal) -> None:
    three(journal)
    head = json.loads(journal.path.with_name("ahdb.head.json").read_bytes())
    assert (head["seq"], head["hash"], head["keyid"]) == (3, journal.read().head, SIGNER.keyid)
    assert journal.path.with_name("ahdb.head.json").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("left", [0, 1, 2])
def test_entries_that_were_cut_off_are_missed(left: int, journal: Journal) -> None:
    lines = three(journal)
    journal.path.write_bytes(b"".join(lines[:left]))
    missing = f"line {left + 1}: its last {3 - left} signed entries are missing"
    with pytest.raises(JournalBroken, match=missing):
        journal.read()
    with pytest.raises(JournalBroken, match=missing):
        propose(journal, drive("four"), NOW, SIGNER)


def test_a_journal_that_was_taken_away_whole_is_missed(journal: Journal) -> None:
    three(journal)
    journal.path.unlink()
    with pytest.raises(JournalBroken, match="its last 3 signed entries are missing"):
        journal.read()


@given(st.permutations([0, 1, 2]))
def test_entries_in_another_order_are_not_those_that_were_signed(order: list[int]) -> None:
    made: list[AnyEntry] = [drive(text, key=text) for text in ("one", "two", "three")]
    head = heads.signed(3, parse_lines(chained(made)).head, SIGNER)
    moved = chained([made[place] for place in order])
    if order == [0, 1, 2]:
        assert len(journals.up_to(head, moved).entries) == 3
    else:
        with pytest.raises(JournalBroken, match="line 3: the entry there is not the one that was signed"):
            journals.up_to(head, moved)


@given(JOURNALS, JOURNALS)
def test_what_stands_behind_the_head_is_no_entry(made: list[AnyEntry], more: list[AnyEntry]) -> None:
    whole = chained([*made, *more])
    if made:
        signed = parse_lines(chained(made))
        content = journals.up_to(heads.signed(len(made), signed.head, SIGNER), whole)
        assert (content.entries, content.head, content.end) == (signed.entries, signed.head, signed.end)
        assert (content.unsigned, content.torn) == (len(more), len(whole) - signed.end)


@pytest.mark.parametrize(
    "change",
    [
        lambda head: {**head, "seq": 2},
        lambda head: {**head, "hash": "0" * 64},
        lambda head: {**head, "sig": "0" * 128},
        lambda head: {**head, "keyid": "0" * 64},
        lambda head: {**head, "more": 1},
        lambda head: {},
    ],
)
def test_a_head_that_was_changed_is_a_sentence(
    change: Callable[[dict[str, object]], dict[str, object]], journal: Journal
) -> None:
    three(journal)
    path = journal.path.with_name("ahdb.head.json")
    path.write_text(json.dumps(change(json.loads(path.read_bytes()))))
    with pytest.raises(JournalError, match="cannot be relied on"):
        journal.read()
    with pytest.raises(JournalError, match="cannot be relied on"):
        propose(journal, drive("four"), NOW, SIGNER)


def test_a_head_that_another_key_signed_is_not_written_over(journal: Journal) -> None:
    three(journal)
    other = Signer(Ed25519PrivateKey.generate())
    with pytest.raises(JournalError, match="which is not trusted"):
        propose(journal, drive("four"), NOW, other)
    propose(journal, drive("four"), NOW, other, {SIGNER.keyid})
    assert journal.read().keyid == other.keyid


@pytest.mark.parametrize("at", ["head of no entry", "head of the lines"])
def test_a_crash_beside_the_first_head_leaves_a_journal_that_goes_on(
    journal: Journal, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    write = heads.write

    def crash(folder: int, head: heads.JournalHead) -> None:
        if head.seq or at == "head of no entry":
            raise KeyboardInterrupt
        write(folder, head)

    with monkeypatch.context() as patched:
        patched.setattr(heads, "write", crash)
        with pytest.raises(KeyboardInterrupt):
            propose(journal, drive("one"), NOW, SIGNER)
    content = journal.read()
    assert (content.entries, content.unsigned) == ((), int(at == "head of the lines"))
    assert propose(journal, drive("two"), NOW, SIGNER).unsigned == content.unsigned
    assert texts(journal) == ["two"]
    assert journal.path.read_bytes().count(b"\n") == 1


def test_a_head_of_no_entry_says_no_hash(journal: Journal) -> None:
    with pytest.raises(JournalBroken, match="not the one that was signed"):
        journals.up_to(heads.signed(0, "1" * 64, SIGNER), b"")


def test_a_crash_between_the_lines_and_the_head_asserts_nothing_more(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    three(journal)

    def crash(folder: int, head: heads.JournalHead) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(heads, "write", crash)
        with pytest.raises(KeyboardInterrupt):
            propose(journal, drive("four"), NOW, SIGNER)
    content = journal.read()
    assert (len(content.entries), content.unsigned) == (3, 1)
    assert propose(journal, drive("five"), NOW, SIGNER).unsigned == 1
    assert texts(journal) == ["one", "two", "three", "five"]


def test_a_reader_never_sees_lines_without_their_head(journal: Journal) -> None:
    propose(journal, drive("one"), NOW, SIGNER)
    done = threading.Event()

    def write() -> None:
        for number in range(30):
            propose(journal, drive(f"{number}"), NOW, SIGNER)
        done.set()

    writer = threading.Thread(target=write)
    writer.start()
    while not done.is_set():
        assert journal.read().unsigned == 0
    writer.join()


# The fold.


@given(entries())
def test_an_entry_is_what_its_bytes_say(entry: AnyEntry) -> None:
    assert decode(encode(entry)) == entry
    assert encode(entry).startswith(b'{"register":"%b"' % register_of(entry).encode())


@given(JOURNALS, st.data())
def test_any_prefix_of_a_journal_folds(made: list[AnyEntry], data: st.DataObject) -> None:
    whole = chained(made)
    cut = data.draw(st.integers(0, len(whole)))
    content = parse_lines(whole[:cut])
    assert content.end + content.torn == cut
    assert content.entries == parse_lines(whole).entries[: len(content.entries)]
    view(content.entries, NOW)


@given(JOURNALS, MOMENTS, MOMENTS)
def test_what_has_expired_never_comes_back(made: list[AnyEntry], one: datetime, other: datetime) -> None:
    earlier, later = sorted((one, other))
    before, after = view(made, earlier), view(made, later)
    assert all(entry in before.standing for entry in after.standing)
    assert all(entry in after.expired for entry in before.expired)
    assert before.retracted == after.retracted


@given(JOURNALS, MOMENTS)
def test_of_each_slot_the_newest_entry_counts(made: list[AnyEntry], now: datetime) -> None:
    newest: dict[Slot, AnyEntry] = {slot_of(entry): entry for entry in made}
    expected = [
        entry
        for entry in newest.values()
        if not isinstance(entry, Retract) and not has_expired(entry.expires_at, now)
    ]
    standing = view(made, now).standing
    assert sorted(map(encode, standing)) == sorted(map(encode, expected))


@given(JOURNALS, MOMENTS)
def test_what_a_retract_took_away_does_not_stand(made: list[AnyEntry], now: datetime) -> None:
    gone = {(register, "a") for register in REGISTERS}
    taken = [*made, *(Retract(key=key, text="x", of=of, cause="PERSON") for of, key in gone)]
    assert not gone & {slot_of(entry) for entry in view(taken, now).standing}


@given(JOURNALS, JOURNALS)
def test_entries_of_different_slots_may_stand_in_any_order(
    one: list[AnyEntry], other: list[AnyEntry]
) -> None:
    slots = {slot_of(entry) for entry in one}
    apart = [entry for entry in other if slot_of(entry) not in slots]
    assert fold([*one, *apart]) == fold([*apart, *one])


@pytest.mark.parametrize(
    ("expires_at", "expired"),
    [
        ("", False),
        ("2026-01-01T00:00:00Z", True),
        ("2026-01-01T00:00:00.001Z", False),
        ("2025-12-31T23:59:59.999999999Z", True),
        ("2026-01-01T00:00:00+00:00", True),
        ("2099-02-31T00:00:00Z", True),
        ("2098-12-31T23:59:60Z", True),
    ],
)
def test_a_time_has_come_when_it_is_now(expires_at: str, expired: bool) -> None:
    assert has_expired(expires_at, NOW) is expired
