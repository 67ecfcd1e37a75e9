"""Turns as a model writes them, in each of the three forms."""

import json
from typing import Any

from vera.protocol import Action, Turn, json_schema, text, tools


def turn(tool: str, note: str | None = None, thought: str = "Next.", **args: Any) -> Turn:
    """A turn that calls a tool."""
    return Turn(thought=thought, action=Action(tool=tool, args=args), note=note)


def final(answer: str, thought: str = "Done.") -> Turn:
    """A turn that answers."""
    return Turn(thought=thought, action=Action(final=answer))


def as_reply(said: Turn, form: str) -> str | dict[str, Any]:
    """The turn as a scripted server sends it in a form: text, json_schema or tools."""
    match form:
        case "text":
            return text.render(said)
        case "json_schema":
            return json_schema.render(said)
        case _:
            content, calls = tools.render(said)
            return {"content": content, "tool_calls": calls, "finish_reason": "tool_calls"}


def answered_turns(body: dict[str, Any]) -> int:
    """How many turns of the model the prompt of a request holds: where its script stands."""
    return sum(message["role"] == "assistant" for message in body["messages"])


def observation(body: dict[str, Any]) -> str:
    """The newest message of a request."""
    return str(body["messages"][-1]["content"])


def pretty(body: dict[str, Any]) -> str:
    """A request's messages, for the message of a failed assertion."""
    return json.dumps(body["messages"], indent=1)[-3000:]
