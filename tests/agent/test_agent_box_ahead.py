"""A box that waits: its folder moves to a workspace, and it is taken only as what is asked for."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from support.batches import until
from support.box_image import base_image, containers, image
from vera.agent.box_ahead import begin_ahead, end_ahead, research_spec, take_ahead
from vera.agent.web import network_policy
from vera.config import load
from vera.config.settings import Settings
from vera.sandbox import leftovers
from vera.sandbox.box import SupervisedBox
from vera.sandbox.types import BoxError

DOCKER = pytest.param("docker", marks=pytest.mark.needs("docker"))
BACKENDS = pytest.mark.parametrize(
    "backend", [DOCKER, pytest.param("bubblewrap", marks=pytest.mark.needs("bubblewrap"))]
)
CLOSED = ("egress.mode=none",)


@pytest.fixture
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder that others may reach, as a box's user is another one where the tests run as root."""
    folder = tmp_path_factory.mktemp("ahead")
    for each in (folder, *folder.parents[:2]):
        if each.stat().st_uid == os.getuid():
            each.chmod(0o755)
    yield folder
    end_ahead()


def settings_of(backend: str, *more: str) -> Settings:
    if backend == "docker":
        image()
    return load([f"sandbox.backend={backend}", f"sandbox.base_image={base_image()}", *more]).settings


def begin(settings: Settings, base: Path) -> Path:
    """Start a box ahead; the folder that it has."""
    folder = base / "waits"
    folder.mkdir()
    begin_ahead(settings, folder)
    return folder


def workspace(base: Path) -> Path:
    work = base / "session" / "workspace"
    work.mkdir(parents=True)
    return work


def taken(
    settings: Settings,
    work: Path,
    use: Callable[[SupervisedBox], Awaitable[None]],
    input_dir: Path | None = None,
) -> bool:
    """Ask for a box on this workspace and use the one that waited; False when none did."""

    async def whole() -> bool:
        spec = research_spec(settings.sandbox, work, input_dir)
        box = await take_ahead(settings.sandbox, spec, said.append, None, lambda *_: told.append(_))
        if box is None:
            return False
        try:
            await use(box)
        finally:
            await box.close()
        return True

    said: list[bytes] = []
    told: list[tuple[str, str]] = []
    return asyncio.run(whole())


async def nothing(box: SupervisedBox) -> None:
    """It is only opened."""


def left_of(pid: int, base: Path) -> list[str]:
    """The boxes that a process had and that are still there."""
    names = {name for _, found in leftovers.named_processes() for name in found} | set(containers(base))
    return [name for name in names if f".{pid}." in name]


@BACKENDS
def test_its_folder_is_the_workspace_after_the_move_seen_from_both_sides(backend: str, base: Path) -> None:
    settings = settings_of(backend, *CLOSED)
    waits, work = begin(settings, base), workspace(base)

    async def use(box: SupervisedBox) -> None:
        (work / "from_outside").write_text("outside\n")
        result = await box.run("cat from_outside; echo inside > from_inside", timeout=20)
        assert result.head == b"outside\n"
        assert (work / "from_inside").read_text() == "inside\n"
        assert box.isolation.startswith(backend)

    assert taken(settings, work, use)
    assert not waits.exists()
    assert sorted(path.name for path in work.iterdir() if path.name != ".vera") == [
        "from_inside",
        "from_outside",
    ]


@BACKENDS
def test_it_sees_the_input_folder_it_was_started_for(backend: str, base: Path) -> None:
    papers = base / "papers"
    papers.mkdir()
    (papers / "a.txt").write_text("a line\n")
    settings = settings_of(backend, *CLOSED)
    settings = settings.model_copy(update={"run": settings.run.model_copy(update={"input_dir": papers})})
    begin(settings, base)

    async def use(box: SupervisedBox) -> None:
        assert (await box.run("cat /input/a.txt", timeout=20)).head == b"a line\n"

    assert taken(settings, workspace(base), use, papers)


@pytest.mark.needs("docker")
@pytest.mark.parametrize(
    "asked", ["another input folder", "other settings", "another way out", "a used work"]
)
def test_what_is_asked_for_differently_is_not_taken_and_the_box_is_ended(asked: str, base: Path) -> None:
    settings = settings_of("docker", *CLOSED)
    begun = settings_of("docker") if asked == "another way out" else settings
    begin(begun, base)
    work, papers = workspace(base), None
    match asked:
        case "another input folder":
            papers = base
        case "other settings":
            settings = settings_of("docker", *CLOSED, "sandbox.max_tool_seconds=7")
        case "a used work":
            (work / "notes.md").write_text("mine\n")
    assert not taken(settings, work, nothing, papers)
    assert left_of(os.getpid(), base) == []
    assert [path.read_text() for path in work.iterdir()] == ["mine\n"] * (asked == "a used work")


@pytest.mark.needs("docker")
def test_one_that_died_while_it_waited_is_not_taken(base: Path) -> None:
    settings = settings_of("docker", *CLOSED)
    begin(settings, base)
    until(lambda: containers(base), "the container")
    subprocess.run(["docker", "rm", "--force", *containers(base)], check=True)
    assert not taken(settings, workspace(base), nothing)


@pytest.mark.needs("docker")
def test_each_is_taken_once(base: Path) -> None:
    settings = settings_of("docker", *CLOSED)
    begin(settings, base)
    work = workspace(base)
    assert taken(settings, work, nothing)
    assert not taken(settings, work, nothing)


@pytest.mark.parametrize(
    "asked",
    [
        ("sandbox.backend=host",),
        ("sandbox.backend=none",),
        ("sandbox.profile=lab",),
        ("sandbox.base_image=vera-test-nonesuch:1", "sandbox.backend=docker"),
        ("run.lane=execute",),
    ],
    ids=str,
)
def test_there_is_none_where_a_run_must_start_its_own(asked: tuple[str, ...], base: Path) -> None:
    (base / "waits").mkdir()
    with pytest.raises(BoxError):
        begin_ahead(load([*CLOSED, *asked]).settings, base / "waits")
    assert left_of(os.getpid(), base) == []


WAITING = """
import sys, time
from pathlib import Path
from vera.agent.box_ahead import begin_ahead
from vera.config import load
begin_ahead(load(sys.argv[2:]).settings, Path(sys.argv[1]))
print("it waits", flush=True)
time.sleep(600)
"""


@BACKENDS
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_it_dies_with_the_process_that_waits(backend: str, number: signal.Signals, base: Path) -> None:
    settings_of(backend)
    (base / "waits").mkdir()
    words = [f"sandbox.backend={backend}", f"sandbox.base_image={base_image()}"]
    with subprocess.Popen(
        [sys.executable, "-c", WAITING, str(base / "waits"), *words], stdout=subprocess.PIPE, cwd=base
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"it waits\n"
        until(lambda: left_of(process.pid, base), "the box")
        process.send_signal(number)
    until(lambda: not left_of(process.pid, base), "its end")


def test_a_way_out_is_what_the_settings_of_a_run_open() -> None:
    assert network_policy(load([]).settings.egress, closed=True) is None
    assert network_policy(load([]).settings.egress) is not None
