"""The store: files named by the sha256 of their bytes."""

import hashlib
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vera.store import Store, StoreError, whole_file


def test_bytes_come_back_under_the_hash_that_sha256sum_prints(tmp_path: Path) -> None:
    store = Store(tmp_path)
    sha256 = store.put(b"three years\n")
    assert store.get(sha256) == b"three years\n"
    printed = subprocess.run(
        ["sha256sum", str(store.path(sha256))], capture_output=True, text=True, check=True
    )
    assert printed.stdout.split()[0] == sha256 == store.path(sha256).name


def test_the_same_bytes_are_kept_once_and_read_only(tmp_path: Path) -> None:
    store = Store(tmp_path)
    path = store.path(store.put(b"x"))
    before = path.stat()
    store.put(b"x")
    assert path.stat().st_ino == before.st_ino
    assert path.stat().st_mode & 0o777 == 0o400
    assert [file.name for file in tmp_path.rglob("*") if file.is_file()] == [path.name]


def test_altered_bytes_are_never_handed_out(tmp_path: Path) -> None:
    store = Store(tmp_path)
    sha256 = store.put(b"three years")
    path = store.path(sha256)
    path.chmod(0o644)
    path.write_bytes(b"seven years")
    with pytest.raises(StoreError, match="was altered"):
        store.get(sha256)


def test_a_missing_blob_and_a_name_that_is_no_hash_are_errors(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with pytest.raises(StoreError, match="has no blob"):
        store.get("0" * 64)
    for name in ("../../etc/passwd", "A" * 64, "", "0" * 63):
        with pytest.raises(StoreError, match="is not a sha256"):
            store.get(name)


def test_a_failed_write_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    store = Store(tmp_path)
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        store.put(b"lost")
    assert [file for file in tmp_path.rglob("*") if file.is_file()] == []


@pytest.mark.parametrize("nameless", [True, False])
def test_a_whole_file_has_no_name_before_it_is_whole_and_never_replaces_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nameless: bool
) -> None:
    if not nameless:
        monkeypatch.delattr("os.O_TMPFILE", raising=False)
    with whole_file(tmp_path / "a", 0o640) as file:
        file.write(b"whole")
        assert not (tmp_path / "a").exists()
    assert ((tmp_path / "a").read_bytes(), (tmp_path / "a").stat().st_mode & 0o777) == (b"whole", 0o640)
    with pytest.raises(FileExistsError), whole_file(tmp_path / "a", 0o640) as file:
        file.write(b"another")
    assert (tmp_path / "a").read_bytes() == b"whole" and len(list(tmp_path.iterdir())) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a file without a name is not to be had")
@pytest.mark.parametrize(
    ("where", "call"),
    [
        ("vera.store", "with whole_file(place / 'a', 0o400) as file: file.write(bytes(100_000))"),
        ("vera.batch.runs", "write_once(place / 'a', b'{}')"),
        ("vera.batch.runs", "write_once(place / 'a', b'{}', sync=True)"),
        ("vera.agent.verdict_index", "write_whole(place, (), 'a', b'{}')"),
    ],
)
def test_a_writer_that_is_killed_before_it_gives_the_name_leaves_nothing(
    tmp_path: Path, where: str, call: str
) -> None:
    script = (
        f"import os, signal, sys\nfrom pathlib import Path\nfrom {where} import *\n"
        "place = Path(sys.argv[1])\n"
        f"os.link = lambda *names, **folders: os.kill(os.getpid(), signal.SIGKILL)\n{call}\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=False)
    assert (done.returncode, list(tmp_path.iterdir())) == (-signal.SIGKILL, [])


def test_what_a_killed_writer_left_elsewhere_is_swept(tmp_path: Path) -> None:
    store = Store(tmp_path)
    kept = store.path(store.put(b"x"))
    (kept.parent / ".new-abc").write_bytes(b"half")
    store.sweep()
    assert list(kept.parent.iterdir()) == [kept]


@given(st.binary(max_size=2000))
def test_whatever_goes_in_comes_out(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    store = Store(tmp_path_factory.mktemp("store"))
    assert store.put(data) == hashlib.sha256(data).hexdigest()
    assert store.get(hashlib.sha256(data).hexdigest()) == data
