"""The turn protocol: what a model says in one step, in three wire forms of one `Turn`.

`text` is labelled lines and one JSON object, `json_schema` one object under a schema, `tools` one native
function call. Each has `parse`, which never raises, and `render`, its inverse.
"""

from vera.protocol import json_schema, text, tools
from vera.protocol.turn import Action, FormatError, Parsed, ToolSpec, Turn

__all__ = ["Action", "FormatError", "Parsed", "ToolSpec", "Turn", "json_schema", "text", "tools"]
