"""The signed seal: who says where the log ends."""

import hashlib
import json
from pathlib import Path

import msgspec
import pytest
import rfc8785
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vera import events
from vera.attestation.keys import Signer, load_or_create, verify_hex
from vera.session import Session, check, seal
from vera.session.pae import pae

END = events.RunEnd(status="UNRESOLVED", reason="", exit_code=3, steps=0, seconds=0)


@pytest.fixture(scope="module")
def signer(tmp_path_factory: pytest.TempPathFactory) -> Signer:
    return load_or_create(tmp_path_factory.mktemp("keys") / "keys")


def ended(root: Path, signer: Signer | None) -> Session:
    session = Session.create(root, {})
    session.emit(events.Task(task="What is it?"))
    session.finish(END, signer.seal if signer else None)
    session.close()
    return session


def test_the_pre_authentication_encoding_is_that_of_dsse() -> None:
    """The example of the DSSE specification (protocol.md, Test Vectors)."""
    assert pae("http://example.com/HelloWorld", b"hello world") == (
        b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
    )


def test_a_signed_seal_names_its_key_and_holds(tmp_path: Path, signer: Signer) -> None:
    ended(tmp_path, signer)
    found = check(tmp_path, verify_hex)
    assert (found.verdict, found.keyid, found.sealed) == ("SEALED", signer.keyid, 3)
    assert signer.keyid in found.sentence
    told = json.loads((tmp_path / "seal.json").read_bytes())
    head = json.loads((tmp_path / "trace.jsonl").read_bytes().splitlines()[-1])["hash"]
    assert (told["hash"], told["seq"], told["format"]) == (head, 3, 2)
    payload = rfc8785.dumps({name: told[name] for name in told.keys() - {"keyid", "public", "sig"}})
    assert verify_hex(told["public"], told["sig"], pae("application/vnd.vera.seal+json", payload))


def test_the_seal_of_a_runs_end_says_how_it_ended_and_covers_what_was_made_of_the_log(
    tmp_path: Path, signer: Signer
) -> None:
    ended(tmp_path, signer)
    told = json.loads((tmp_path / "seal.json").read_bytes())
    assert (told["status"], told["exit_code"]) == ("UNRESOLVED", 3)
    assert set(told["files"]) == {"evidence.jsonl", "move_ledger.jsonl", "notes.md", "query_ledger.jsonl"}
    for name, sha256 in told["files"].items():
        assert hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() == sha256


@pytest.mark.parametrize(
    "change", [{"status": "VERIFIED"}, {"exit_code": 0}, {"reason": "all is well"}, {"exit_code": None}]
)
def test_a_seal_that_says_another_end_than_the_log_is_broken_whoever_signs_it(
    tmp_path: Path, signer: Signer, change: dict[str, object]
) -> None:
    ended(tmp_path, signer)
    told = msgspec.json.decode((tmp_path / "seal.json").read_bytes(), type=seal.Seal)
    seal.write(tmp_path, msgspec.structs.replace(told, **change), signer.seal)
    found = check(tmp_path, verify_hex)
    assert found.verdict == "BROKEN"
    assert "in another way than its seal says" in found.sentence


def test_a_seal_of_the_first_format_holds_and_covers_the_log_alone(tmp_path: Path, signer: Signer) -> None:
    done = ended(tmp_path, signer)
    seal.write(tmp_path, seal.Seal(seq=3, hash=done.log.head), signer.seal)
    told = json.loads((tmp_path / "seal.json").read_bytes())
    assert told.keys() == {"seq", "hash", "keyid", "public", "sig"}
    message = pae("application/vnd.vera.seal+json", b'{"hash":"%b","seq":3}' % told["hash"].encode())
    assert verify_hex(told["public"], told["sig"], message)
    assert check(tmp_path, verify_hex).verdict == "SEALED"


def test_a_seal_of_a_later_format_is_not_guessed_at(tmp_path: Path, signer: Signer) -> None:
    done = ended(tmp_path, signer)
    seal.write(tmp_path, seal.Seal(seq=3, hash=done.log.head, format=3), signer.seal)
    assert "it has format 3" in check(tmp_path, verify_hex).sentence


def test_an_unsigned_seal_stays_readable_and_is_called_so(tmp_path: Path) -> None:
    ended(tmp_path, None)
    told = json.loads((tmp_path / "seal.json").read_bytes())
    assert not told.keys() & {"keyid", "public", "sig"}
    assert check(tmp_path).sentence == "SEALED: 3 records, whole."
    assert check(tmp_path, verify_hex).sentence == "SEALED: 3 records, whole, unsigned."
    assert check(tmp_path, verify_hex).keyid == ""


def test_the_log_can_be_sealed_while_the_run_goes_on(tmp_path: Path, signer: Signer) -> None:
    session = Session.create(tmp_path, {})
    session.emit(events.Task(task="What is it?"))
    session.seal(signer.seal)
    assert check(tmp_path, verify_hex).verdict == "SEALED"
    session.emit(events.Note(step=1, text="more"))
    found = check(tmp_path, verify_hex)
    assert (found.verdict, found.sealed, found.keyid) == ("UNSEALED", 2, signer.keyid)
    assert found.sentence == "UNSEALED AFTER 2: 1 records follow the seal."
    session.finish(END, signer.seal)
    session.close()
    assert check(tmp_path, verify_hex).verdict == "SEALED"


def test_a_run_that_was_sealed_and_interrupted_goes_on(tmp_path: Path, signer: Signer) -> None:
    session = Session.create(tmp_path, {})
    session.emit(events.Task(task="What is it?"))
    session.seal(signer.seal)
    session.close()
    again = Session.resume(tmp_path)
    again.finish(END, signer.seal)
    again.close()
    assert check(tmp_path, verify_hex).verdict == "SEALED"


def test_a_seal_for_another_head_under_the_old_signature_does_not_hold(
    tmp_path: Path, signer: Signer
) -> None:
    ended(tmp_path, signer)
    told = json.loads((tmp_path / "seal.json").read_bytes())
    first_two = (tmp_path / "trace.jsonl").read_bytes().splitlines(keepends=True)[:2]
    (tmp_path / "trace.jsonl").write_bytes(b"".join(first_two))
    told |= {"seq": 2, "hash": json.loads(first_two[1])["hash"]}
    (tmp_path / "seal.json").write_text(json.dumps(told) + "\n")
    found = check(tmp_path, verify_hex)
    assert found.verdict == "BROKEN"
    assert "signature" in found.sentence


def test_another_key_under_the_old_key_id_does_not_hold(tmp_path: Path, signer: Signer) -> None:
    ended(tmp_path / "s", signer)
    other = load_or_create(tmp_path / "other")
    told = json.loads((tmp_path / "s" / "seal.json").read_bytes())
    (tmp_path / "s" / "seal.json").write_text(json.dumps({**told, "public": other.public.hex()}) + "\n")
    assert "not that of its key id" in check(tmp_path / "s", verify_hex).sentence


@pytest.mark.parametrize(
    "spelling",
    [
        b'{"seq":3,"hash":"%b"}\n',
        b'{"hash": "%b", "seq": 3}\n',
        b'{"seq": 3, "hash": "%b", "note": "x"}\n',
        b'{"seq": 3, "hash": "%b"}',
        b'{"seq": 3, "hash": "%b"}\n' + b" " * 5000,
        b'{"seq": 900719925474099355, "hash": "%b", "keyid": "0", "public": "", "sig": "0"}\n',
        b"",
        b"[]",
    ],
)
def test_a_seal_that_is_written_otherwise_is_reported(tmp_path: Path, spelling: bytes) -> None:
    ended(tmp_path, None)
    head = json.loads((tmp_path / "seal.json").read_bytes())["hash"].encode()
    (tmp_path / "seal.json").write_bytes(spelling.replace(b"%b", head))
    found = check(tmp_path, verify_hex)
    assert found.verdict == "BROKEN"
    assert found.sentence.startswith("seal.json cannot be relied on")


@pytest.fixture(scope="module")
def signed(tmp_path_factory: pytest.TempPathFactory, signer: Signer) -> Path:
    root = tmp_path_factory.mktemp("signed")
    ended(root, signer)
    return root


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_changed_byte_of_a_signed_seal_is_reported(signed: Path, data: st.DataObject) -> None:
    path = signed / "seal.json"
    whole = path.read_bytes()
    position = data.draw(st.integers(0, len(whole) - 1))
    value = data.draw(st.integers(0, 255).filter(lambda byte: byte != whole[position]))
    try:
        path.write_bytes(whole[:position] + bytes([value]) + whole[position + 1 :])
        assert check(signed, verify_hex).verdict == "BROKEN"
    finally:
        path.write_bytes(whole)


def test_every_record_that_holds_goes_through_the_fold(tmp_path: Path) -> None:
    ended(tmp_path, None)
    seen: list[events.Record] = []
    check(tmp_path, fold=seen.append)
    assert [record.seq for record in seen] == [1, 2, 3]
