"""The wire form of a lane's turns by its name: `text`, `json_schema` or `tools`."""

from collections.abc import Sequence
from typing import Any

from vera.protocol import json_schema, text, tools
from vera.protocol.turn import Parsed


def parse(form: str, content: str, tool_calls: Sequence[dict[str, Any]]) -> Parsed:
    """The turn that a model's message is in this form; never raises."""
    if form == "json_schema":
        return json_schema.parse(content)
    if form == "tools":
        return tools.parse(content, tool_calls)
    return text.parse(content)
