"""Notices of a file that is written to, where the kernel gives any."""

import asyncio
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest

from vera.dashboard import notice
from vera.dashboard.notice import Notice

LONG = 30.0
"""Seconds that no test waits."""

pytestmark = pytest.mark.timeout(LONG)

on_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="inotify is Linux's")


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(work)


def append(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"more\n")


@on_linux
def test_what_was_written_before_and_while_one_waits_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.touch()

    async def work() -> None:
        with Notice(str(path)) as given:
            assert given.is_given
            append(path)
            await given.wait(2 * LONG)
            asyncio.get_running_loop().call_later(0.05, append, path)
            await given.wait(2 * LONG)

    run(work())


@on_linux
@pytest.mark.parametrize("what", ["removed", "moved"])
def test_a_file_that_goes_is_noticed(tmp_path: Path, what: str) -> None:
    path = tmp_path / "log"
    path.touch()

    async def work() -> None:
        with Notice(str(path)) as given:
            if what == "removed":
                path.unlink()
            else:
                path.rename(tmp_path / "other")
            await given.wait(2 * LONG)
            await given.wait(0.01)

    run(work())


@on_linux
def test_a_file_that_comes_later_is_noticed_from_then_on(tmp_path: Path) -> None:
    path = tmp_path / "log"

    async def work() -> None:
        with Notice(str(path)) as given:
            was_given = given.is_given
            path.touch()
            await given.wait(0.01)
            assert (was_given, given.is_given) == (False, True)
            append(path)
            await given.wait(2 * LONG)

    run(work())


def test_without_inotify_one_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log"
    path.touch()

    async def work() -> None:
        with Notice(str(path)) as given:
            assert not given.is_given
            await given.wait(0.01)
            assert not given.is_given

    monkeypatch.setattr(notice, "_libc", lambda: None)
    run(work())


@on_linux
def test_nothing_is_left_open(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.touch()

    async def work() -> None:
        before = sorted(Path("/proc/self/fd").iterdir())
        for _ in range(3):
            with Notice(str(path)) as given:
                append(path)
                await given.wait(2 * LONG)
        assert sorted(Path("/proc/self/fd").iterdir()) == before

    run(work())
