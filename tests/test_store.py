"""The store: files named by the sha256 of their bytes."""

import hashlib
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vera.store import Store, StoreError


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


@given(st.binary(max_size=2000))
def test_whatever_goes_in_comes_out(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    store = Store(tmp_path_factory.mktemp("store"))
    assert store.put(data) == hashlib.sha256(data).hexdigest()
    assert store.get(hashlib.sha256(data).hexdigest()) == data
