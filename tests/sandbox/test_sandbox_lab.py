"""The lab: root inside, and files that belong to the person outside all the same."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from sandbox_machine import Machine

from support.box_image import image
from vera.sandbox.backends import chown_back, docker
from vera.sandbox.spec import BoxSpec

pytestmark = pytest.mark.needs("docker")

PROGRAM = Path(__file__).with_name("sandbox_host_process.py")


@pytest.fixture
def person(work: Path) -> int:
    """Makes the work folder a person's who is not root, and returns who that is."""
    if os.getuid() == 0:
        os.chown(work, 4321, 4322)
    return work.stat().st_uid


def owners(work: Path) -> set[int]:
    return {path.lstat().st_uid for path in [work, *work.rglob("*")]}


def test_what_root_made_belongs_to_the_person_after_each_command(
    start: Callable[..., Machine], person: int, work: Path
) -> None:
    started = start("docker", profile="lab")
    done = started.run(
        "id -u; mkdir -p a/b && touch a/b/c && ln -s /etc/passwd a/link && mkfifo a/pipe && chmod 0 a/b/c; "
        "touch set && chmod 4755 set; chown 77:77 /work; umask 077; mkdir deep && touch deep/file; seq 1 9999"
    )
    assert done.head.startswith(b"0\n")
    assert owners(work) == {person}
    assert (work / "a" / "b" / "c").stat().st_gid == work.stat().st_gid != 77
    assert not (work / "set").stat().st_mode & 0o6000
    assert started.output("stat -c %u /etc/passwd") == "0\n"


def test_what_a_background_job_made_belongs_to_the_person_at_the_end(
    start: Callable[..., Machine], person: int, work: Path
) -> None:
    started = start("docker", profile="lab")
    started.run("(sleep 0.2; touch late; sleep 1000) &")
    started.run("sleep 0.4")
    started.run("(sleep 0.2; touch later; echo > done; sleep 1000) &")
    while not (work / "done").exists():
        pass
    started.close_box()
    assert (work / "later").exists()
    assert owners(work) == {person}


def test_a_box_starts_by_giving_back_what_a_crash_left(
    start: Callable[..., Machine], person: int, work: Path
) -> None:
    docker.client(
        *("run", "--rm", "--user=0", docker.bind(work, "/work"), image(), "touch", "/work/left"),
    )
    assert (work / "left").exists()
    start("docker", profile="lab")
    assert owners(work) == {person}


def test_giving_back_goes_through_no_link_and_ends_in_time(
    start: Callable[..., Machine], person: int, work: Path
) -> None:
    started = start("docker", profile="lab")
    started.run("mkdir /outside && touch /outside/file && ln -s /outside linked && ln -s / root")
    assert started.output("stat -c %u /outside /outside/file") == "0\n0\n"
    deep = started.run(
        'python3 -c \'import os\nfor _ in range(150):\n os.mkdir("d"); os.chdir("d")\'', timeout=60
    )
    assert deep.exit_code == 0
    assert started.run("true").exit_code == 0
    started.run("rm -r d")


def test_the_reaper_gives_back_what_a_killed_box_left(person: int, work: Path) -> None:
    holder = subprocess.Popen(
        [sys.executable, str(PROGRAM), "docker", str(work), image(), "touch /work/left; sleep 1000", "lab"],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"READY\n"
        while not (work / "left").exists():
            pass
        shown = docker.client("ps", f"--filter=label={docker.LABEL}", "--format={{.Names}}")
        assert shown is not None
        (name,) = [name for name in shown.stdout.split() if f".{holder.pid}." in name]
        # Frozen, the supervisor cannot tidy up when its holder is gone.
        docker.client("pause", name)
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        assert owners(work) != {person} or person == 0
        assert docker.Docker().reap() == 1
        assert owners(work) == {person}
    finally:
        with contextlib.suppress(ProcessLookupError):
            holder.kill()
        holder.wait()
        assert holder.stdout is not None
        holder.stdout.close()


def test_only_root_in_a_rooted_engine_has_something_to_give_back(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = BoxSpec(work=work, image="image:1", profile="lab", uid=12, gid=34)
    monkeypatch.setattr(docker, "engine", lambda: docker.Engine(rootless=False, selinux=False))
    assert docker.Docker().launch(spec).argv[-2] == "12:34"
    assert f"--label={chown_back.LABEL}=12:34" in docker.Docker().launch(spec).argv
    research = BoxSpec(work=work, image="image:1", uid=12, gid=34)
    assert docker.Docker().launch(research).argv[-2] == ""
    monkeypatch.setattr(docker, "engine", lambda: docker.Engine(rootless=True, selinux=False))
    assert docker.Docker().launch(spec).argv[-2] == ""
