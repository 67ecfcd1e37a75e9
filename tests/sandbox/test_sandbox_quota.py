"""What the work folder may hold: a command that passes it is stopped, one that frees some is not."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from sandbox_machine import BUBBLEWRAP, DOCKER, HOST, Machine

from vera.sandbox import boxd
from vera.sandbox.spec import MiB, Quota
from vera.sandbox.types import BoxError

BACKENDS = pytest.mark.parametrize("backend", [HOST, DOCKER, BUBBLEWRAP])
SMALL = Quota(20 * MiB, 500)
GROWING = "i=0; n=$RANDOM; while :; do i=$((i+1)); head -c 1000000 /dev/zero >big$n-$i; sleep 0.02; done"
"""New files each time it runs: one that wrote over those of before would make nothing larger for long."""
MANY = "i=0; while :; do i=$((i+1)); : >empty$i; done"


def held(work: Path) -> int:
    return sum(os.lstat(path).st_blocks * 512 for path in work.rglob("*"))


@BACKENDS
def test_a_command_that_fills_the_work_folder_is_stopped(backend: str, start: Callable[..., Machine]) -> None:
    started = start(backend, quota=SMALL)
    result = started.run(GROWING)
    assert (result.reason, result.exit_code, result.shell) == ("work_limit", None, "restored")
    assert "may hold 20971520 in 500: delete some" in result.room
    assert held(started.work) < 200 * MiB
    freed = started.run("rm -f big*; echo done")
    assert (freed.head, freed.reason) == (b"done\n", "exited")
    assert started.run("head -c 1000000 /dev/zero >again; echo on").room == ""


@BACKENDS
def test_a_command_that_makes_too_many_files_is_stopped(backend: str, start: Callable[..., Machine]) -> None:
    started = start(backend, quota=SMALL)
    result = started.run(MANY)
    assert result.reason == "work_limit"
    assert started.run("rm -f empty*").reason == "exited"
    assert started.run("echo on").room == ""


@BACKENDS
def test_a_slow_command_that_frees_some_is_left_alone(backend: str, start: Callable[..., Machine]) -> None:
    started = start(backend, quota=SMALL)
    assert started.run(GROWING).reason == "work_limit"
    assert started.run("for file in big*; do rm $file; sleep 0.1; done", timeout=60).reason == "exited"


@BACKENDS
def test_three_commands_that_make_it_larger_still_are_the_last(
    backend: str, start: Callable[..., Machine]
) -> None:
    started = start(backend, quota=SMALL)
    assert [started.run(GROWING).reason for _ in range(3)] == ["work_limit"] * 3
    with pytest.raises(BoxError, match="3 commands made it larger still; none runs until files are deleted"):
        started.run("echo on")
    for path in started.work.glob("big*"):
        path.unlink()
    assert started.output("echo on") == "on\n"


@BACKENDS
@pytest.mark.parametrize(
    "command",
    {
        "a folder that cannot be read": "mkdir shut; chmod 300 shut; cd shut; ",
        "a file that was deleted": "exec 7>gone; rm gone; head -c 19000000 /dev/zero >&7; ",
        "links to one file": "head -c 9000000 /dev/zero >one; for i in {1..400}; do ln one link$i; done; ",
    }.values(),
)
def test_no_way_of_hiding_files_is_left_out(
    command: str, backend: str, start: Callable[..., Machine]
) -> None:
    started = start(backend, quota=SMALL)
    assert started.run(f"({command} {GROWING})").reason == "work_limit"
    started.run("chmod 700 shut; rm -rf shut")


def test_links_to_one_file_count_their_bytes_once(start: Callable[..., Machine]) -> None:
    started = start("host", quota=SMALL)
    made = started.run("head -c 9000000 /dev/zero >one; for i in {1..400}; do ln one link$i; done; sleep 1")
    assert (made.reason, made.room) == ("exited", "")


@BACKENDS
def test_what_was_there_before_stops_no_command(
    backend: str, start: Callable[..., Machine], work: Path
) -> None:
    (work / "large").write_bytes(bytes(30 * MiB))
    started = start(backend, quota=SMALL)
    result = started.run("sleep 1; echo on")
    assert result.head == b"on\n"
    assert "may hold 20971520 in 500" in result.room
    assert started.run(GROWING).reason == "work_limit"


@BACKENDS
def test_a_background_job_that_fills_the_work_folder_is_stopped(
    backend: str, start: Callable[..., Machine]
) -> None:
    started = start(backend, quota=SMALL)
    started.run(f"({GROWING}) >/dev/null 2>&1 &")
    deadline = time.monotonic() + 30
    while True:
        time.sleep(0.5)
        before = held(started.work)
        time.sleep(1.5)
        if before > SMALL.bytes and held(started.work) == before:
            break
        assert time.monotonic() < deadline


@BACKENDS
def test_without_a_limit_nothing_is_counted(backend: str, start: Callable[..., Machine]) -> None:
    result = start(backend, quota=Quota(0, 0)).run("head -c 30000000 /dev/zero >big; sleep 0.6")
    assert (result.reason, result.room) == ("exited", "")


def counted(work: Path, limit: boxd.Held | None = None) -> boxd.Held:
    return list(boxd.held_by(str(work), limit, list))[-1]


def test_a_count_is_what_du_says(tmp_path: Path) -> None:
    for folder in range(5):
        below = tmp_path / f"{folder}/a/b"
        below.mkdir(parents=True)
        for number in range(300):
            (below / str(number)).write_bytes(bytes(5000))
    (tmp_path / "outside").symlink_to("/usr")
    size = sum(os.lstat(path).st_blocks * 512 for path in tmp_path.rglob("*"))
    assert counted(tmp_path) == boxd.Held(size, 5 * 303 + 1)


def test_a_count_ends_early_above_the_limit(tmp_path: Path) -> None:
    for number in range(3000):
        (tmp_path / str(number)).touch()
    assert 500 < counted(tmp_path, boxd.Held(0, 500)).files < 1100


def test_folders_without_end_count_as_more_than_may_be_there(tmp_path: Path) -> None:
    for name in range(300):
        os.mkdir(str(name), dir_fd=(at := os.open(tmp_path, os.O_RDONLY)))
        os.close(at)
        tmp_path = tmp_path / str(name)
    top = tmp_path.parents[299]
    assert counted(top, boxd.Held(0, 1000)).exceeds(boxd.Held(0, 1000))
