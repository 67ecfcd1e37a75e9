"""A bundle: one file that replays on another machine, and harms nobody who opens it."""

import io
import json
import os
import stat
import zipfile
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.verified import PAGE, answer, begin, decide, files, open_session, replay, verified
from vera import events
from vera.attestation import bundle
from vera.attestation.bundle import BundleError, pack, unpack
from vera.attestation.keys import Signer, load_or_create
from vera.attestation.replay import NoSession
from vera.cli.export import export
from vera.cli.replay import replay as replay_command


@pytest.fixture(scope="module")
def signer(tmp_path_factory: pytest.TempPathFactory) -> Signer:
    return load_or_create(tmp_path_factory.mktemp("keys") / "keys")


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory, signer: Signer) -> Path:
    root = tmp_path_factory.mktemp("verified") / "session"
    verified(root, signer)
    return root


@pytest.fixture(scope="module")
def packed(session: Path) -> Path:
    file = session.with_name("bundle.zip")
    pack(session, file)
    return file


def opened(file: Path, folder: Path) -> Path:
    folder.mkdir()
    unpack(file, folder)
    return folder


def test_a_bundle_replays_without_the_session(packed: Path, tmp_path: Path, signer: Signer) -> None:
    report = replay(opened(packed, tmp_path / "s"), [signer.keyid])
    assert [level.verdict for level in report.levels] == ["AGREES", "AGREES", "AGREES"]


def test_it_holds_the_session_as_it_is_and_says_how_to_check_it(
    session: Path, packed: Path, tmp_path: Path
) -> None:
    folder = opened(packed, tmp_path / "s")
    for path in files(session):
        assert (folder / path.relative_to(session)).read_bytes() == path.read_bytes()
    assert (folder / "answer.md").read_bytes() == (session / "answer.md").read_bytes()
    assert "python3 run.py replay FILE.zip" in (folder / "README.txt").read_text()
    assert not (folder / "workspace").exists()


def test_the_same_session_gives_the_same_bytes(session: Path, packed: Path, tmp_path: Path) -> None:
    os.utime(session / "trace.jsonl", (0, 0))
    pack(session, tmp_path / "again.zip")
    assert (tmp_path / "again.zip").read_bytes() == packed.read_bytes()
    with zipfile.ZipFile(packed) as archive:
        names = archive.namelist()
        assert names == sorted(names)
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert {info.compress_type for info in archive.infolist()} == {zipfile.ZIP_STORED}


@pytest.mark.parametrize("name", ["README.txt", "trace.jsonl"])
def test_a_bundle_without_what_is_in_every_bundle_is_refused(packed: Path, tmp_path: Path, name: str) -> None:
    with zipfile.ZipFile(packed) as archive, zipfile.ZipFile(tmp_path / "b.zip", "w") as less:
        for info in archive.infolist():
            if info.filename != name:
                less.writestr(info, archive.read(info))
    with pytest.raises(BundleError, match=f"it holds no {name}"):
        unpack(tmp_path / "b.zip", tmp_path / "s")


def test_other_tools_can_read_it(packed: Path) -> None:
    with zipfile.ZipFile(packed) as archive:
        assert archive.testzip() is None
    assert stat.S_IMODE(packed.stat().st_mode) == 0o644


def test_a_file_that_is_there_already_is_kept(session: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.zip").write_text("mine")
    with pytest.raises(BundleError, match="exists already"):
        pack(session, tmp_path / "mine.zip")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["mine"]


def test_what_was_altered_is_not_exported(tmp_path: Path, signer: Signer) -> None:
    verified(tmp_path / "s", signer)
    blob = next(path for path in files(tmp_path / "s") if path.read_bytes() == PAGE)
    blob.chmod(0o644)
    blob.write_bytes(b"another page")
    with pytest.raises(BundleError, match="not whole"):
        pack(tmp_path / "s", tmp_path / "b.zip")
    assert [path.name for path in tmp_path.iterdir()] == ["s"]


def test_what_is_missing_is_said(tmp_path: Path, signer: Signer) -> None:
    verified(tmp_path / "s", signer)
    blob = next(path for path in files(tmp_path / "s") if path.read_bytes() == PAGE)
    blob.unlink()
    assert pack(tmp_path / "s", tmp_path / "b.zip").missing == (blob.name,)
    report = replay(opened(tmp_path / "b.zip", tmp_path / "o"))
    assert [level.verdict for level in report.levels] == ["MISSING", "AGREES", "MISSING"]


def test_an_attestation_without_one_of_its_cards_is_not_exported(tmp_path: Path, signer: Signer) -> None:
    verified(tmp_path / "s", signer)
    next(path for path in files(tmp_path / "s") if b'"kind":"card/v1"' in path.read_bytes()).unlink()
    with pytest.raises(BundleError, match="names objects that are not in the store"):
        pack(tmp_path / "s", tmp_path / "b.zip")


def test_a_running_session_is_packed_as_it_stands(tmp_path: Path, signer: Signer) -> None:
    session = open_session(tmp_path / "s")
    begin(session, 1, answer(session))
    decide(session, signer, 1)
    session.emit(events.Note(step=3, text="more"))
    with (tmp_path / "s" / "trace.jsonl").open("ab") as log:
        log.write(b'{"type":"note","se')  # another record is being written
    with pytest.raises(BundleError, match="no whole record"):
        pack(tmp_path / "s", tmp_path / "b.zip")
    session.close()


def test_no_session_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(NoSession):
        pack(tmp_path, tmp_path / "b.zip")


# What a stranger sends.


def zipped(*members: tuple[str | zipfile.ZipInfo, bytes], compressed: bool = False) -> bytes:
    out = io.BytesIO()
    kind = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
    with zipfile.ZipFile(out, "w", kind) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return out.getvalue()


def special(name: str, kind: int) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.create_system = 3
    info.external_attr = (kind | 0o777) << 16
    return info


LOG = ("trace.jsonl", b"{}\n")
BLOB = "store/ab/ab" + "0" * 62

HOSTILE: dict[str, bytes] = {
    "no zip": b"PK\x03\x04 or nearly",
    "nothing": b"",
    "an empty zip": zipped(),
    "no log": zipped(("answer.md", b"")),
    "a path upwards": zipped(LOG, ("../evil", b"x")),
    "a path upwards through the store": zipped(LOG, ("store/ab/../../../evil", b"x")),
    "an absolute path": zipped(LOG, ("/tmp/evil", b"x")),
    "a drive": zipped(LOG, ("C:\\evil", b"x")),
    "a name with a null byte": zipped(LOG).replace(b"trace.jsonl", b"trace.js\x00nl"),
    "a folder": zipped(LOG, ("store/", b"")),
    "a blob in the wrong place": zipped(LOG, ("store/cd/ab" + "0" * 62, b"x")),
    "a blob in capitals": zipped(LOG, (BLOB.replace("b", "B"), b"x")),
    "another file": zipped(LOG, ("workspace/.bashrc", b"x")),
    "another file of a session": zipped(LOG, ("run.pid", b"1")),
    "a link": zipped((special("trace.jsonl", stat.S_IFLNK), b"/etc/passwd")),
    "a pipe": zipped((special("trace.jsonl", stat.S_IFIFO), b"")),
    "a bomb": zipped(LOG, (BLOB, bytes(1 << 20)), compressed=True),
    "a cut file": zipped(LOG, (BLOB, bytes(1000)))[:-60],
    "a cut beginning": zipped(LOG, (BLOB, bytes(1000)))[60:],
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_file_writes_nothing_outside_and_is_a_sentence(what: str, tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    (tmp_path / "file.zip").write_bytes(HOSTILE[what])
    with pytest.raises(BundleError, match="is no bundle of VERA"):
        unpack(tmp_path / "file.zip", tmp_path / "inside")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file.zip", "inside"]
    assert not any((tmp_path / "inside").iterdir())


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file.zip").write_bytes(zipped(LOG, ("answer.md", b"1"), ("answer.md", b"2")))
    with pytest.raises(BundleError, match="twice"):
        unpack(tmp_path / "file.zip", tmp_path)


def test_members_that_share_their_bytes_are_refused(tmp_path: Path) -> None:
    """A zip whose directory names one large member many times would unpack to far more than it holds."""
    one = zipped(("trace.jsonl", bytes(5000)))
    end = one.rindex(b"PK\x05\x06")
    begin = one.index(b"PK\x01\x02")
    entry = one[begin:end]
    others = [entry.replace(b"trace.jsonl", name) for name in (b"answer.md\x2f\x2f", b"seal.json\x2f\x2f")]
    directory = entry + b"".join(others)
    tail = bytearray(one[end:])
    tail[8:12] = (3).to_bytes(2, "little") * 2
    tail[12:16] = len(directory).to_bytes(4, "little")
    (tmp_path / "file.zip").write_bytes(one[:begin] + directory + bytes(tail))
    with pytest.raises(BundleError):
        unpack(tmp_path / "file.zip", tmp_path)


def test_too_many_members_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundle, "MAX_MEMBERS", 1)
    (tmp_path / "file.zip").write_bytes(zipped(LOG, ("answer.md", b"1")))
    with pytest.raises(BundleError, match="more than 1 members"):
        unpack(tmp_path / "file.zip", tmp_path)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_changed_byte_never_becomes_another_session_that_agrees(
    packed: Path, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Bytes of the zip itself (times, attributes) say nothing; those of the session do."""
    whole = packed.read_bytes()
    position = data.draw(st.integers(0, len(whole) - 1))
    value = data.draw(st.integers(0, 255).filter(lambda byte: byte != whole[position]))
    folder = tmp_path_factory.mktemp("changed")
    (folder / "file.zip").write_bytes(whole[:position] + bytes([value]) + whole[position + 1 :])
    try:
        session = opened(folder / "file.zip", folder / "s")
        agrees = replay(session, level=1).exit_code == 0
    except (BundleError, NoSession):
        return
    assert not agrees or contents(session) == contents(opened(packed, folder / "o"))


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files(folder)}


# The commands.


def run(command: click.Command, *arguments: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(command, arguments)
    return done.exit_code, done.stdout, done.stderr


def test_a_session_is_exported_and_the_file_replayed(session: Path, tmp_path: Path, signer: Signer) -> None:
    file = tmp_path / "b.zip"
    code, out, error = run(export, str(session), "--bundle", str(file))
    assert (code, error) == (0, "")
    assert out.startswith(f"{file}: 21 files, ")
    code, out, _ = run(replay_command, str(file), "--trust", signer.keyid, "--json")
    assert code == 0
    assert json.loads(out)["session"] == str(file)


def test_what_cannot_be_exported_is_a_sentence(session: Path, tmp_path: Path) -> None:
    assert run(export, str(tmp_path / "nothing"), "--bundle", str(tmp_path / "b.zip"))[0] == 1
    code, _, error = run(export, str(session), "--bundle", str(tmp_path / "no" / "folder" / "b.zip"))
    assert code == 1
    assert "No such file or directory" in error
    assert "b.zip" in error and ".new-" not in error
    assert run(export, str(session))[0] == 2
