"""What a command wrote: bounded in memory, whole in a file, hashed."""

import hashlib
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from sandbox_machine import BUBBLEWRAP, DOCKER, HOST, Machine

from vera.sandbox.box import BoxLimits

BACKENDS = pytest.mark.parametrize("backend", [HOST, DOCKER, BUBBLEWRAP])

SMALL = BoxLimits(head=10, tail=5, spool=1000, output=1 << 20)


def spooled(started: Machine, path: str) -> Path:
    """The spool file as the host sees it."""
    return started.work / Path(path).relative_to(started.box.work)


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@BACKENDS
def test_output_that_fits_is_whole_and_leaves_no_file(backend: str, start: Callable[..., Machine]) -> None:
    result = start(backend, limits=SMALL).run("printf 123456789012345")
    assert (result.head, result.tail, result.size, result.spool) == (b"1234567890", b"12345", 15, "")
    assert result.sha256 == sha256(b"123456789012345")


@BACKENDS
def test_longer_output_is_cut_in_the_middle_and_whole_in_its_file(
    backend: str, start: Callable[..., Machine]
) -> None:
    started = start(backend, limits=SMALL)
    result = started.run("printf 1234567890; sleep 0.05; printf abcdefgh")
    assert (result.head, result.tail, result.size) == (b"1234567890", b"defgh", 18)
    assert spooled(started, result.spool).read_bytes() == b"1234567890abcdefgh"
    assert result.sha256 == sha256(b"1234567890abcdefgh")


@BACKENDS
def test_a_megabyte_of_noise_is_the_same_on_both_sides(backend: str, start: Callable[..., Machine]) -> None:
    started = start(backend)
    result = started.run("head -c 1000003 /dev/urandom")
    data = spooled(started, result.spool).read_bytes()
    assert result.sha256 == sha256(data)
    assert result.size == len(data) == 1000003
    assert result.head == data[:8192]
    assert result.tail == data[-8192:]


@BACKENDS
def test_the_file_stops_at_its_cap_and_the_hash_covers_everything(
    backend: str, start: Callable[..., Machine]
) -> None:
    started = start(backend, limits=SMALL)
    result = started.run("head -c 5000 /dev/zero")
    assert spooled(started, result.spool).stat().st_size == 1000
    assert (result.size, result.sha256) == (5000, sha256(bytes(5000)))


@BACKENDS
def test_a_command_over_the_output_limit_is_ended(backend: str, start: Callable[..., Machine]) -> None:
    started = start(backend, limits=SMALL)
    result = started.run("yes")
    assert (result.reason, result.shell, result.exit_code) == ("output_limit", "restored", None)
    assert started.output("echo on") == "on\n"


@BACKENDS
def test_what_a_background_job_writes_later_goes_to_the_file_of_its_command(
    backend: str, start: Callable[..., Machine]
) -> None:
    started = start(backend)
    started.run("(until [ -e go ]; do sleep 0.01; done; echo late; touch done) & echo early")
    assert started.output("touch go; until [ -e done ]; do sleep 0.01; done; echo now") == "now\n"
    (file,) = (started.work / ".vera/out").iterdir()
    until(lambda: file.read_text() == "early\nlate\n")


def test_a_link_planted_in_place_of_the_output_folder_is_not_followed(
    start: Callable[..., Machine], tmp_path: Path
) -> None:
    started = start("host", limits=SMALL)
    started.run(f"ln -s {tmp_path} .vera")
    result = started.run("printf 12345678901234567890")
    assert (result.size, result.spool, list(tmp_path.iterdir())) == (20, "", [])


def test_more_background_jobs_than_are_followed_do_not_stop_the_box(start: Callable[..., Machine]) -> None:
    started = start("host")
    for _ in range(70):
        started.run("sleep 300 &")
    assert started.output("echo on") == "on\n"


@pytest.mark.needs("bubblewrap")
def test_a_full_disk_costs_the_file_and_not_the_command(start: Callable[..., Machine]) -> None:
    started = start("bubblewrap", fsize=4096, limits=BoxLimits(head=10, tail=5))
    result = started.run("head -c 100000 /dev/zero")
    assert (result.size, result.reason) == (100000, "exited")
