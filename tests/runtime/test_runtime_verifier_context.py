"""The context of a run: tools and boxes of check lanes, in real sandboxes."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from support.workers import Workplace, verifier_context_of, workplace
from vera.agent.lanes import Environment
from vera.extraction.extractor import Extractor
from vera.lane.tools import Call, Outcome, Tool
from vera.runtime.verifier_context import _clear_away
from vera.sandbox.backends import open_box
from vera.sandbox.spec import BoxSpec
from vera.verification.context import VerifierContext

needs_bubblewrap = pytest.mark.needs("bubblewrap")
LANE = "check-1.1"


@asynccontextmanager
async def desk_at(work: Workplace) -> AsyncIterator[VerifierContext]:
    """The context of a run whose worker has left a file in /work."""
    (work.session.workspace / "secret.txt").write_text("42\n")
    with Extractor() as extractor:
        box = await open_box(work.backend, BoxSpec(work=work.session.workspace, input=work.input))
        try:
            yield verifier_context_of(work.session, Environment(extractor=extractor, box=box, corpus=None))
        finally:
            await box.close()


async def use(context: VerifierContext, tool: Tool, args: Mapping[str, Any]) -> Outcome:
    session = context.session
    return await tool.run(args, Call(room=4000, store=session.store, evidence=session.state.evidence))


def printed(outcome: Outcome) -> str:
    return outcome.evidence.text.decode() if outcome.evidence else outcome.header


@needs_bubblewrap
def test_a_check_lane_has_a_shell_over_its_own_work_and_the_same_input() -> None:
    async def run(work: Workplace) -> list[str]:
        async with desk_at(work) as context, context.open_tools(LANE) as tools:
            shell = {tool.spec.name: tool for tool in tools}["shell"]
            commands = ("ls /work", "cat /input/a.txt", "touch x; ls /work", "touch /input/x")
            return [printed(await use(context, shell, {"cmd": command})) for command in commands]

    with workplace("bubblewrap", {"a.txt": "given\n"}) as work:
        listed, given, after, refused = asyncio.run(run(work))
        assert "secret.txt" not in listed
        assert given == "given\n"
        assert "x" in after
        assert "Read-only" in refused
        assert not (work.session.root / "checks").exists()


@needs_bubblewrap
def test_the_box_of_a_check_lane_starts_with_its_first_command() -> None:
    async def run(work: Workplace) -> tuple[bool, bool]:
        log = work.session.root / "container.log"
        async with desk_at(work) as context, context.open_tools(LANE) as tools:
            before = log.exists()
            shell = {tool.spec.name: tool for tool in tools}["shell"]
            await use(context, shell, {"cmd": "true"})
            return before, log.exists()

    with workplace("bubblewrap", {}) as work:
        assert asyncio.run(run(work)) == (False, True)


@needs_bubblewrap
def test_read_of_a_check_lane_sees_no_file_of_the_worker() -> None:
    async def run(work: Workplace) -> Outcome:
        async with desk_at(work) as context, context.open_tools(LANE) as tools:
            read = {tool.spec.name: tool for tool in tools}["read"]
            return await use(context, read, {"path": "/work/secret.txt"})

    with workplace("bubblewrap", {}) as work:
        assert asyncio.run(run(work)).error_type == "unreadable"


@needs_bubblewrap
def test_a_clean_box_has_the_input_or_another_folder_and_no_way_out() -> None:
    async def run(work: Workplace) -> list[str]:
        said = []
        async with desk_at(work) as context:
            assert context.open_box is not None
            empty = work.session.root / "empty"
            for number, instead in enumerate((None, empty)):
                clean = work.session.root / f"clean-{number}"
                for folder in (clean, empty):
                    folder.mkdir(exist_ok=True)
                async with context.open_box(clean, instead) as box:
                    result = await box.run("ls /input /work; env | grep -ic proxy", timeout=20)
                    said.append((result.head + result.tail).decode())
        return said

    with workplace("bubblewrap", {"a.txt": "given\n"}) as work:
        full, empty = asyncio.run(run(work))
        assert full.split() == ["/input:", "a.txt", "/work:", "0"]
        assert empty.split() == ["/input:", "/work:", "0"]


def test_a_run_without_a_box_has_no_shell_and_no_clean_box() -> None:
    async def run(work: Workplace) -> tuple[set[str], bool]:
        with Extractor() as extractor:
            context = verifier_context_of(
                work.session, Environment(extractor=extractor, box=None, corpus=None)
            )
            async with context.open_tools(LANE) as tools:
                return {tool.spec.name for tool in tools}, context.open_box is None

    with workplace("host", {}) as work:
        assert asyncio.run(run(work)) == ({"read"}, True)


@needs_bubblewrap
def test_a_box_that_cannot_start_is_an_answer_not_an_exception() -> None:
    async def run(work: Workplace) -> list[Outcome]:
        async with desk_at(work) as context, context.open_tools(LANE) as tools:
            shell = {tool.spec.name: tool for tool in tools}["shell"]
            folder = work.session.root / "checks" / LANE / "work"
            folder.rmdir()
            return [await use(context, shell, {"cmd": "true"}) for _ in range(2)]

    with workplace("bubblewrap", {}) as work:
        first, second = asyncio.run(run(work))
        assert first.error_type == second.error_type == "sandbox"


def test_what_a_killed_round_left_in_its_session_is_cleared_away(tmp_path: Path) -> None:
    for name in (".derive-x", ".empty-x", ".input-x", "checks", "workspace"):
        (tmp_path / name / "folder").mkdir(parents=True)
    _clear_away(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["workspace"]
