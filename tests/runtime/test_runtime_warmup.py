"""What a process makes ahead for its forks."""

import tempfile
import threading
from pathlib import Path

import pytest

from vera.lane import prompts
from vera.runtime.warmup import rehearse


def test_where_there_is_no_place_for_temporary_files_it_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    rehearse()


def test_it_leaves_no_thread_and_no_file_and_has_every_prompt_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    threads = threading.active_count()
    rehearse()
    assert threading.active_count() == threads
    assert list(tmp_path.iterdir()) == []
    folder = prompts.PACKAGED / prompts.DEFAULT_PROFILE
    environment = prompts._environment((folder, folder))
    assert environment.cache is not None
    assert {name for _, name in environment.cache} == {path.name for path in folder.iterdir()}
