"""The warm pool: the box of the next task waits while others run, and whatever happens nothing is left."""

import asyncio
import json
import os
import signal
import subprocess
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from support import postgres
from support.batches import (
    BLUE,
    SHORT,
    allowed,
    batch,
    commits,
    outcomes,
    processes_of,
    said,
    soon,
    started,
    trail,
    until,
)
from support.box_image import base_image, containers, image
from support.cli import folded, vera
from support.scripted_server import ScriptedServer, Slow
from support.turns import answered_turns, observation, turn
from vera.batch.children import Children, Exit, open_children
from vera.batch.parked import COLD
from vera.batch.warm import FOLDER
from vera.config.handed import Handed
from vera.protocol import text

DOCKER = pytest.mark.needs("docker")
pytestmark = pytest.mark.timeout(240)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder for a batch with docker boxes, of which there is nothing more at the end."""
    image()
    yield tmp_path
    until(lambda: not containers(tmp_path), "the end of every box")
    assert list((tmp_path / "runs").glob(f"{FOLDER}*")) == []
    assert processes_of(tmp_path / "runs") == []


def question(number: int, base_url: str, **settings: Any) -> dict[str, Any]:
    boxed = {"sandbox.backend": "docker", "sandbox.base_image": base_image()}
    return {
        "task": f"What colour is sky number {number}?",
        "name": f"sky {number}",
        "settings": {**SHORT, **boxed, "model.base_url": base_url, **settings},
    }


def write(folder: Path, *lines: dict[str, Any]) -> Path:
    path = folder / "tasks.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


class Model:
    """Says `turns` one after the other and then answers, each after `seconds`. At the first call of a task it
    asks what `look` sees (`seen`)."""

    def __init__(self, look: Callable[[], Any] = lambda: None, *turns: str, seconds: float = 0.0) -> None:
        self.look, self.turns, self.seconds = look, turns, seconds
        self.seen: list[Any] = []
        self.told: list[str] = []

    def __call__(self, index: int, body: dict[str, Any]) -> Any:
        step = answered_turns(body)
        if step == 0:
            self.seen.append(self.look())
        self.told.append(observation(body))
        return Slow(self.seconds, self.turns[step] if step < len(self.turns) else BLUE)


def shell(command: str) -> str:
    return text.render(turn("shell", command=command))


def waiting_for(count: int, folder: Path, seconds: float = 8.0) -> Callable[[], list[str]]:
    """Looks at the boxes of this folder until there are so many, or the time is over."""

    def look() -> list[str]:
        ends = time.monotonic() + seconds
        while len(found := containers(folder)) < count and time.monotonic() < ends:
            time.sleep(0.05)
        return found

    return look


def idle_among(names: list[str], folder: Path) -> list[str]:
    """The boxes whose process runs no attempt."""
    busy = processes_of(folder / "runs" / trail(folder)[0][0].task)
    return [name for name in names if int(name.split(".")[3]) not in busy]


@DOCKER
def test_the_box_of_the_next_task_waits_while_one_runs_and_is_the_one_that_it_gets(folder: Path) -> None:
    model = Model(waiting_for(2, folder), shell("echo $HOSTNAME > made_inside; cat /work/made_inside"))
    with ScriptedServer(model) as server:
        write(folder, *(question(number, server.base_url) for number in range(2)))
        done = batch("tasks.jsonl", "--slots", 1, "--warm", 1, "--json", cwd=folder)
    assert said(done)["states"] == {"done": 2}, done.stderr
    during_first, during_second = model.seen
    assert len(during_first) == 2
    assert len(during_second) == 1
    assert set(during_second) < set(during_first)
    for row in said(done)["tasks"]:
        session = Path(row["session"])
        assert (session / "workspace" / "made_inside").read_text() == "vera\n"
        events = (session / "container_events.log").read_text()
        assert [name for name in ("create", "start", "started", "closed") if f'"{name}"' not in events] == []
        assert row["id"] in vera("replay", str(session), cwd=folder).stdout or folded(session).ended


@DOCKER
def test_with_warm_0_each_box_is_started_with_its_task(folder: Path) -> None:
    model = Model(waiting_for(2, folder, 2.0))
    with ScriptedServer(model) as server:
        write(folder, *(question(number, server.base_url) for number in range(3)))
        batch("tasks.jsonl", "--slots", 1, "--warm", 0, cwd=folder)
    assert {len(found) for found in model.seen} == {1}


@DOCKER
def test_no_more_wait_than_were_asked_for_and_none_for_a_task_that_is_not_there(folder: Path) -> None:
    model = Model(waiting_for(4, folder, 3.0))
    with ScriptedServer(model) as server:
        write(folder, *(question(number, server.base_url) for number in range(4)))
        batch("tasks.jsonl", "--slots", 1, "--warm", 2, cwd=folder)
    assert [len(found) for found in model.seen] == [3, 3, 2, 1]


@DOCKER
def test_nothing_waits_for_tasks_without_a_box(folder: Path) -> None:
    model = Model(waiting_for(1, folder, 1.0))
    with ScriptedServer(model) as server:
        closed = {"sandbox.backend": "none"}
        write(folder, *(question(number, server.base_url, **closed) for number in range(3)))
        batch("tasks.jsonl", "--slots", 1, "--warm", 2, cwd=folder)
    assert model.seen == [[]] * 3


@DOCKER
def test_a_box_waits_for_the_folder_and_the_settings_of_its_task(folder: Path) -> None:
    for name in ("a", "b"):
        (folder / name).mkdir()
        (folder / name / "said.txt").write_text(f"the folder {name}\n")
    model = Model(waiting_for(2, folder), shell("cat /input/said.txt"))
    with ScriptedServer(model) as server:
        lines = [question(number, server.base_url) for number in range(4)]
        lines = [{**line, "input_dir": "ab"[number % 2]} for number, line in enumerate(lines)]
        lines[3]["settings"]["sandbox.profile"] = "sealed"
        write(folder, *lines)
        done = batch("tasks.jsonl", "--slots", 1, "--warm", 2, "--json", cwd=folder)
    assert said(done)["states"] == {"done": 4}, done.stderr
    shown = [told for told in model.told if "the folder" in told]
    assert [name for told in shown for name in "ab" if f"the folder {name}" in told][:4] == list("abab")


@DOCKER
def test_ctrl_c_ends_what_waits_and_it_counts_as_no_attempt(folder: Path) -> None:
    model = Model(waiting_for(3, folder), seconds=2.0)
    with ScriptedServer(model) as server:
        tasks = write(folder, *(question(number, server.base_url) for number in range(4)))
        with started(tasks, "--slots", 1, "--warm", 2, cwd=folder) as process:
            until(lambda: model.seen, "the boxes")
            assert len(model.seen[0]) == 3
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)
    assert process.returncode == 130
    assert len(trail(folder)) == 1


@DOCKER
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_an_ended_batch_ends_what_waits_and_the_next_one_goes_on(
    folder: Path, number: signal.Signals
) -> None:
    model = Model(waiting_for(3, folder), seconds=1.0)
    with ScriptedServer(model) as server:
        tasks = write(folder, *(question(number, server.base_url) for number in range(3)))
        with started(tasks, "--slots", 1, "--warm", 2, cwd=folder) as process:
            until(lambda: model.seen, "the boxes")
            assert len(model.seen[0]) == 3
            process.send_signal(number)
            process.communicate(timeout=60)
        until(lambda: not containers(folder), "the end of every box")
        assert len(trail(folder)) == 1
        model.look = lambda: None
        done = batch(tasks, "--slots", 1, "--json", cwd=folder)
    assert said(done)["states"] == {"done": 3}, done.stderr
    assert [row["attempts"] for row in said(done)["tasks"]] == [2, 1, 1]


@DOCKER
def test_a_process_that_is_killed_while_it_waits_costs_nobody_an_attempt(folder: Path) -> None:
    def kill() -> None:
        names = idle_among(look(), folder)
        if not killed and names:
            killed.append(int(names[0].split(".")[3]))
            os.kill(killed[0], signal.SIGKILL)

    killed: list[int] = []
    look = waiting_for(2, folder, 3.0)
    model = Model(kill)
    with ScriptedServer(model) as server:
        write(folder, *(question(number, server.base_url) for number in range(3)))
        done = batch("tasks.jsonl", "--slots", 1, "--warm", 1, "--json", cwd=folder)
    assert len(killed) == 1
    assert said(done)["states"] == {"done": 3}, done.stderr
    assert outcomes(folder) == ["committed"] * 3
    assert len(commits(folder)) == 3


@DOCKER
def test_a_box_that_is_gone_when_it_is_wanted_is_replaced_by_one_of_its_own(folder: Path) -> None:
    def remove() -> None:
        names = idle_among(look(), folder)
        if not removed and names:
            removed.extend(names)
            subprocess.run(["docker", "rm", "--force", *names], check=True, capture_output=True)

    removed: list[str] = []
    look = waiting_for(2, folder, 3.0)
    model = Model(remove, shell("echo it works"))
    with ScriptedServer(model) as server:
        write(folder, *(question(number, server.base_url) for number in range(2)))
        done = batch("tasks.jsonl", "--slots", 1, "--warm", 1, "--json", cwd=folder)
    assert len(removed) == 1
    assert said(done)["states"] == {"done": 2}, done.stderr
    assert sum("it works" in told for told in model.told) >= 2


NONE_HANDED = Handed(source="task", where="the task of a test")
Use = Callable[[Callable[[Children], Awaitable[None]]], None]
PROGRAM = """
import sys
print(sys.argv[1], sys.stdin.read(), file=sys.stderr, end="")
sys.exit(3)
"""


@pytest.fixture
def use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Callable[[Children], Awaitable[None]]], None]:
    """Runs a function with children that say their argument and their input."""
    (tmp_path / "a_warm_program_of_a_test.py").write_text(PROGRAM)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setattr("vera.batch.children.MODULE", "a_warm_program_of_a_test")

    async def whole(work: Callable[[Children], Awaitable[None]]) -> None:
        async with open_children(fork=True) as children:
            await work(children)

    return lambda work: asyncio.run(whole(work))


def test_one_that_can_have_no_box_ends_and_an_attempt_that_is_already_its_own_runs(
    use: Use, tmp_path: Path
) -> None:
    async def work(children: Children) -> None:
        nothing = ["sandbox.backend=none"]
        alone = children.park(tmp_path / "w" / "1", nothing, NONE_HANDED)
        assert (await asyncio.wait_for(alone.ended, 60)).code == COLD
        assert await ran(children, "late", tmp_path, alone) == (3, "late what is asked")
        for number in range(20):  # sometimes it comes before the process knows, sometimes after
            parked = children.park(tmp_path / "w" / str(number + 2), nothing, NONE_HANDED)
            await asyncio.sleep(number * 0.02)
            assert await ran(children, "at once", tmp_path, parked) == (3, "at once what is asked")
        await soon(lambda: not list((tmp_path / "w").iterdir()), "the end of their folders")

    use(work)


async def ran(children: Children, word: str, folder: Path, parked: Any) -> tuple[int, str]:
    child = children.start([word], stdin="what is asked", stderr=folder / "e", parked=parked)
    ended: Exit = await asyncio.wait_for(child.ended, 60)
    return ended.code, (folder / "e").read_text()


@DOCKER
def test_a_parked_process_becomes_the_attempt_and_others_do_not_keep_it_from_its_end(
    use: Use, tmp_path: Path
) -> None:
    image()
    words = ["sandbox.backend=docker", f"sandbox.base_image={base_image()}"]

    async def work(children: Children) -> None:
        first, second, third = (children.park(tmp_path / "w" / str(n), words, NONE_HANDED) for n in range(3))
        assert await ran(children, "taken", tmp_path, second) == (3, "taken what is asked")
        first.release()
        assert (await asyncio.wait_for(first.ended, 60)).code == 0
        assert not third.ended.done()

    use(work)
    until(lambda: not containers(tmp_path))


@pytest.mark.needs("docker", "postgres")
def test_a_worker_of_a_cluster_has_boxes_that_wait_too(folder: Path) -> None:
    model = Model(waiting_for(2, folder), shell("echo made > made_inside"))
    with postgres.server() as server, ScriptedServer(model) as answers:
        url = server.url(server.create_database())
        write(folder, *(question(number, answers.base_url) for number in range(3)))
        queued = ("--engine", url, "--base-dir", folder, "--no-wait")
        assert batch("tasks.jsonl", *queued, cwd=folder).returncode == 0
        words = ["--engine", url, "--store", str(folder), "--slots", "1", "--warm", "1", "--drain"]
        words += allowed(folder / "tasks.jsonl")
        assert vera("worker", *words, cwd=folder).returncode == 0
    assert outcomes(folder) == ["committed"] * 3
    assert [len(found) for found in model.seen] == [2, 2, 1]
    assert set(model.seen[2]) < set(model.seen[1])
    assert len(list((folder / "runs").glob("*/1/workspace/made_inside"))) == 3
