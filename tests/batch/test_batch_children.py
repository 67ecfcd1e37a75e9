"""The processes of attempts: started by one fork server, reached through it, and none left when it ends."""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from support.batches import soon
from vera.batch import children as under_test
from vera.batch.children import Children, Exit, open_children
from vera.batch.errors import BatchError

PROGRAM = """
import os, signal, subprocess, sys, time
match sys.argv[1]:
    case "say":
        print(sys.stdin.read(), file=sys.stderr, end="")
        sys.exit(3)
    case "break":
        raise RuntimeError("broken")
    case "sentence":
        sys.exit("a sentence")
    case "leave":
        child = subprocess.Popen(["sleep", "600"])
        print(child.pid, file=sys.stderr, flush=True)
        os._exit(0)
    case "die":
        os.kill(os.getpid(), signal.SIGKILL)
    case "wait":
        print(os.getpid(), file=sys.stderr, flush=True)
        time.sleep(600)
    case "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        print(os.getpid(), file=sys.stderr, flush=True)
        time.sleep(600)
"""

Use = Callable[[Children], Awaitable[None]]


@pytest.fixture(params=[True, False], ids=["fork", "spawn"])
def use(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Use], None]:
    """Runs a function with children that run PROGRAM."""
    (tmp_path / "a_program_of_a_test.py").write_text(PROGRAM)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(under_test, "MODULE", "a_program_of_a_test")

    async def whole(work: Use) -> None:
        async with open_children(fork=request.param) as children:
            await work(children)

    return lambda work: asyncio.run(whole(work))


async def ran(children: Children, what: str, stderr: Path, stdin: str = "") -> Exit:
    return await asyncio.wait_for(children.start([what], stdin=stdin, stderr=stderr).ended, 60)


async def text_of(path: Path) -> str:
    """What a process has said, once it said something."""
    await soon(lambda: path.exists() and path.read_text().endswith("\n"))
    return path.read_text().strip()


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_it_gets_its_input_and_its_exit_code_comes_back(use: Callable[[Use], None], tmp_path: Path) -> None:
    async def work(children: Children) -> None:
        ended = await ran(children, "say", tmp_path / "e", "héllo " * 100_000)
        assert ended.code == 3
        assert ended.cpu_s > 0
        assert (tmp_path / "e").read_text() == "héllo " * 100_000

    use(work)


@pytest.mark.parametrize(
    ("what", "code", "said"),
    [("break", 1, "RuntimeError: broken\n"), ("sentence", 1, "a sentence\n"), ("die", -9, "")],
)
def test_it_ends_as_an_interpreter_does(
    use: Callable[[Use], None], tmp_path: Path, what: str, code: int, said: str
) -> None:
    async def work(children: Children) -> None:
        assert (await ran(children, what, tmp_path / "e")).code == code
        assert (tmp_path / "e").read_text().endswith(said)

    use(work)


def test_what_it_leaves_in_its_group_is_killed(use: Callable[[Use], None], tmp_path: Path) -> None:
    async def work(children: Children) -> None:
        assert (await ran(children, "leave", tmp_path / "e")).code == 0
        left = int(await text_of(tmp_path / "e"))
        await soon(lambda: not is_alive(left))

    use(work)


@pytest.mark.parametrize(("how", "codes"), [("finish", {-2}), ("terminate", {-15}), ("kill", {-9})])
def test_signals_reach_it(use: Callable[[Use], None], tmp_path: Path, how: str, codes: set[int]) -> None:
    async def work(children: Children) -> None:
        child = children.start(["wait"], stdin="", stderr=tmp_path / "e")
        await text_of(tmp_path / "e")
        getattr(child, how)()
        assert (await asyncio.wait_for(child.ended, 60)).code in codes
        getattr(child, how)()  # to one that has ended: nobody gets it

    use(work)


def test_one_that_cannot_be_started_is_told(use: Callable[[Use], None], tmp_path: Path) -> None:
    async def work(children: Children) -> None:
        ended = await ran(children, "say", tmp_path / "no-such-folder" / "e")
        assert ended.error == "No such file or directory"

    use(work)


def test_the_end_of_the_server_is_the_end_of_all(use: Callable[[Use], None], tmp_path: Path) -> None:
    pids = []

    async def work(children: Children) -> None:
        for number in range(3):
            children.start(["wait"], stdin="", stderr=tmp_path / str(number))
            pids.append(int(await text_of(tmp_path / str(number))))

    use(work)
    assert not any(map(is_alive, pids))


def test_a_stubborn_one_is_killed_at_the_end(use: Callable[[Use], None], tmp_path: Path) -> None:
    pids = []

    async def work(children: Children) -> None:
        children.start(["stubborn"], stdin="", stderr=tmp_path / "e")
        pids.append(int(await text_of(tmp_path / "e")))

    use(work)
    assert not any(map(is_alive, pids))


def test_children_die_with_a_server_that_is_killed(use: Callable[[Use], None], tmp_path: Path) -> None:
    async def work(children: Children) -> None:
        child = children.start(["wait"], stdin="", stderr=tmp_path / "e")
        pid = int(await text_of(tmp_path / "e"))
        os.kill(int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]), signal.SIGKILL)
        assert (await asyncio.wait_for(child.ended, 60)).error == "its fork server was killed"
        await soon(lambda: not is_alive(pid))
        with pytest.raises(BatchError, match="has ended"):
            while True:  # until the loop has seen the end of the process
                children.start(["say"], stdin="", stderr=tmp_path / "f")
                await asyncio.sleep(0.01)

    use(work)


def test_many_at_once_are_told_apart(use: Callable[[Use], None], tmp_path: Path) -> None:
    async def work(children: Children) -> None:
        ends = await asyncio.gather(
            *(ran(children, "say", tmp_path / str(number), f"{number}") for number in range(24))
        )
        assert {end.code for end in ends} == {3}
        assert [(tmp_path / str(number)).read_text() for number in range(24)] == [str(n) for n in range(24)]

    use(work)
