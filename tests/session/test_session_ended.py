"""The end of a run that was cut short: its last record is in the log, and no seal holds it."""

import os
import re
from pathlib import Path

import pytest

from support.verified import answer, begin, decide, finish, open_session
from vera import events
from vera.attestation.keys import Signer, load_or_create
from vera.attestation.outcome import outcome_here
from vera.batch.session_end import Watch, how_it_stands
from vera.dashboard.log_ends import read_ends
from vera.dashboard.run_status import status_of
from vera.session import Reader, Session, SessionError, check, seal
from vera.store import replace_file


@pytest.fixture
def signer() -> Signer:
    return load_or_create()


def ended(root: Path, signer: Signer) -> Path:
    session = open_session(root)
    begin(session, 1, answer(session))
    try:
        finish(session, signer, decide(session, signer, 1))
    finally:
        session.close()
    return root


@pytest.fixture
def cut_short(tmp_path: Path, signer: Signer, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A session whose disk was full when its end was to be sealed."""
    real = seal.write

    def full(root: Path, made: seal.Seal, sign: seal.Sign | None = None) -> None:
        if made.exit_code is not None:
            raise OSError(28, "No space left on device")
        real(root, made, sign)

    monkeypatch.setattr(seal, "write", full)
    with pytest.raises(OSError, match="No space left"):
        ended(tmp_path / "s", signer)
    monkeypatch.undo()
    return tmp_path / "s"


def test_a_run_whose_end_was_not_sealed_goes_on_and_one_that_was_does_not(
    tmp_path: Path, signer: Signer, cut_short: Path
) -> None:
    assert check(cut_short).verdict == "UNSEALED"
    Session.resume(cut_short).close()
    with pytest.raises(SessionError, match="has finished"):
        Session.resume(ended(tmp_path / "whole", signer))


def test_a_batch_does_not_take_a_result_that_is_not_sealed(
    tmp_path: Path, signer: Signer, cut_short: Path
) -> None:
    stands = {}
    for root in (cut_short, ended(tmp_path / "whole", signer)):
        watch = Watch(root)
        watch.look()
        stands[root.name] = how_it_stands(watch)
    assert stands["whole"] == "finished" != stands["s"]


def test_the_dashboard_offers_to_resume_it(tmp_path: Path, signer: Signer, cut_short: Path) -> None:
    def can_resume(root: Path) -> bool:
        log = root / "trace.jsonl"
        return status_of(root, log, lambda: read_ends(log), lambda: True).can_resume

    assert (can_resume(cut_short), can_resume(ended(tmp_path / "whole", signer))) == (True, False)


def test_what_the_seal_covers_is_on_the_disk_before_the_seal(
    tmp_path: Path, signer: Signer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a cut of the power leaves a seal that calls the notes altered."""
    order: list[str] = []
    real_sync, real_write = os.fsync, seal.write

    def sync(descriptor: int) -> None:
        order.append(Path(f"/proc/self/fd/{descriptor}").readlink().name)
        real_sync(descriptor)

    def write(root: Path, made: seal.Seal, sign: seal.Sign | None = None) -> None:
        order.append(f"seal of {made.exit_code}")
        real_write(root, made, sign)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(seal, "write", write)
    ended(tmp_path / "s", signer)
    before = order[: order.index("seal of 0")]
    assert {"notes.md", "evidence.jsonl", "move_ledger.jsonl", "query_ledger.jsonl"} <= {*before}
    assert outcome_here(tmp_path / "s").word == "QUOTED"


def test_what_a_killed_run_left_half_written_is_gone_when_it_goes_on(cut_short: Path) -> None:
    blob = next((cut_short / "store").glob("*/*"))
    (blob.parent / ".new-abc").write_bytes(b"half")
    (cut_short / "tags.json.new").write_bytes(b"half")
    Session.resume(cut_short).close()
    assert not [*cut_short.rglob(".new-*"), *cut_short.glob("*.new")]
    assert re.fullmatch(r"[0-9a-f]{64}", blob.name) and blob.exists()
    *_, (_, last) = Reader(cut_short / "trace.jsonl").poll()
    assert isinstance(last, events.Resumed)


def test_a_file_that_cannot_be_replaced_leaves_nothing_half_written(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    with pytest.raises(OSError):
        replace_file(tmp_path / "taken", b"whole")
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


def test_a_seal_that_cannot_be_written_leaves_nothing_half_written(tmp_path: Path) -> None:
    (tmp_path / seal.NAME).mkdir()
    with pytest.raises(OSError):
        seal.write(tmp_path, seal.Seal(seq=1, hash="0" * 64))
    assert [path.name for path in tmp_path.iterdir()] == [seal.NAME]
