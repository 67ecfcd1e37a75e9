"""A model with a small context: what stands before its first turn takes at most a quarter of it."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pytest

from support.cli import records
from support.lanes import FunctionModel, new_session
from vera import events
from vera.agent.lanes import Environment, LaneOptions, head_bytes, make_lane
from vera.corpus import Corpus
from vera.extraction.extractor import Extractor
from vera.lane.prompts import Prompts
from vera.lane.tools import Call, Outcome, fetch, note, read, search, shell, submit
from vera.lane.tools.web_search import AnyEngine, BraveNews, BraveSearch
from vera.model.types import ModelInfo
from vera.protocol.turn import ToolSpec
from vera.session import load_text
from vera.store import Store
from vera.usage import BYTES_PER_TOKEN
from vera.websearch import WebSearch

SMALL = 8192
TASK = "What is the longest time for which the permission may be withdrawn, and who decides it? " * 4


class Engines:
    def names(self, kind: str = "") -> tuple[str, ...]:
        return ("searxng", "brave", "duckduckgo", "mojeek", "wikipedia")


class Search:
    engines = Engines()


class Named:
    """A tool that is only listed."""

    def __init__(self, spec: ToolSpec) -> None:
        self.spec = spec

    async def run(self, args: Mapping[str, Any], call: Call) -> Outcome:
        raise AssertionError("it is not run")


class Folder:
    """An input folder of 400 files with long names."""

    def names(self, most: int) -> list[str]:
        return [
            f"minutes/of the committee/2019 to 2024/{number:03d} {'long ' * 12}.md" for number in range(most)
        ]


def every_tool() -> list[Named]:
    web = cast(WebSearch, Search())
    modules = (search.SPEC, fetch.SPEC, read.SPEC, shell.SPEC, note.SPEC, submit.SPEC)
    return [
        Named(spec) for spec in (*modules, *(kind(web).spec for kind in (AnyEngine, BraveSearch, BraveNews)))
    ]


@pytest.mark.parametrize("protocol", ["text", "json_schema"])
def test_instructions_tools_and_task_take_at_most_a_quarter_of_8k_tokens(protocol: str) -> None:
    tools = every_tool()
    system = Prompts().render(
        "system",
        protocol=protocol,
        tools=[tool.spec for tool in tools],
        has_shell=True,
        has_input=True,
        work_name="/work",
        input_name="/input",
        isolation="Isolated by Docker: no network device; web access passes a proxy of the host. " * 3,
        reach="every public host, on ports 80 and 443",
    )
    task = Prompts().render("task", task=TASK, files=[], count=400, input_name="/input")
    assert "400 under /input, which search finds" in task and "\n- " not in task
    assert head_bytes(protocol, tools, system, task) / BYTES_PER_TOKEN <= SMALL / 4


def started(folder: Path, context: int | None, count: int = 400) -> tuple[str, str, events.LaneStarted]:
    model = FunctionModel(lambda messages: "?")
    model.info = ModelInfo(kind="openai", name="m", context_tokens=context)
    session = new_session(folder)
    corpus = cast(Corpus, Folder()) if count else None
    place = Environment(extractor=Extractor(), box=None, corpus=corpus, files=count, web=None)
    asyncio.run(make_lane(session, TASK, model, place, Prompts(), LaneOptions(max_steps=1)).run())
    session.close()
    store = Store(folder / "store")
    (lane,) = (each for each in records(folder) if isinstance(each, events.LaneStarted))
    return load_text(store, lane.system), load_text(store, lane.task_message), lane


def test_as_many_files_are_named_as_a_small_context_has_room_for(tmp_path: Path) -> None:
    system, task, _ = started(tmp_path / "small", SMALL)
    assert len((system + task).encode()) / BYTES_PER_TOKEN <= SMALL / 4
    assert 1 < task.count("\n- minutes/") < 40 and "more: search finds them" in task
    _, task, _ = started(tmp_path / "large", 32_768)
    assert task.count("\n- minutes/") == 40
    _, task, _ = started(tmp_path / "unknown", None)
    assert task.count("\n- minutes/") == 40


def test_a_tool_that_has_nothing_to_work_on_is_not_listed(tmp_path: Path) -> None:
    system, task, lane = started(tmp_path, SMALL, count=0)
    assert lane.tools == ("note",)
    assert "- read(" not in system and "- search(" not in system and "INPUT FILES: none" in task
