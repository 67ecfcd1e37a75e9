"""A lane to play with: a session in a folder, a model that is a function, a tool that prints."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from vera.lane.loop import Lane
from vera.lane.policy import Policy
from vera.lane.prompts import Prompts
from vera.lane.spec import LaneSpec
from vera.lane.tools import Call, EvidenceDraft, Outcome, Tool
from vera.lane.tools.note import Note
from vera.model.types import Choice, Completion, Message, Model, ModelInfo, Request
from vera.protocol.turn import ToolSpec
from vera.session import Session

INFO = ModelInfo(kind="openai", name="function", protocol="text")


class FunctionModel:
    """A model whose answer is a function of the messages; it keeps the size of every prompt."""

    info = INFO

    def __init__(self, answer: Callable[[Sequence[Message]], str]) -> None:
        self._answer = answer

    async def complete(self, request: Request) -> Completion:
        return Completion(choices=(Choice(content=self._answer(request.messages)),))

    async def close(self) -> None:
        """Nothing to close."""


class Print:
    """A tool that prints `size` bytes."""

    spec = ToolSpec(
        name="print", description="Print.", properties={"size": {"type": "integer"}}, required=("size",)
    )

    async def run(self, args: Mapping[str, Any], call: Call) -> Outcome:
        await asyncio.sleep(0)
        text = b"x" * (args["size"] - 1) + b"\n"
        return Outcome(
            header="print",
            evidence=EvidenceDraft(
                tier="observed", source="print", summary="print", text=text, first=1, last=1, lines=1
            ),
        )


def open_lane(
    session: Session,
    model: Model,
    *,
    name: str = "main",
    tools: Sequence[Tool] | None = None,
    policy: Policy = Policy(),  # noqa: B008 (it is frozen)
    **limits: Any,
) -> Lane:
    """A lane with the real prompts and limits, and these tools (by default Print and note)."""
    prompts = Prompts()
    tools = [Print(), Note()] if tools is None else tools
    system = prompts.render(
        "system",
        protocol=model.info.protocol,
        tools=[tool.spec for tool in tools],
        has_shell=False,
        has_input=False,
        work_name="/work",
        input_name="/input",
        isolation="",
    )
    message = prompts.render(
        "task", task="Print until you are told to stop.", files=[], count=0, input_name=""
    )
    spec = LaneSpec(
        name=name,
        purpose="test",
        system=system,
        task_message=message,
        protocol=model.info.protocol,
        **{"max_steps": 200, **limits},
    )
    return Lane(session, spec, model, tools, prompts, policy)


def new_session(folder: Path) -> Session:
    """A session in an empty folder."""
    return Session.create(folder, {})
