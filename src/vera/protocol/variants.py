"""Which JSON objects are actions: the strict shape, and the variants that models write instead.

Strict are `{"tool": "NAME", "args": {…}}` and `{"tool": null, "final": "…"}`. Accepted besides, each under
the name it gets in `Parsed.recovered`:

| name | shape |
|---|---|
| `variant:cmd` | `{"tool": "shell", "cmd": "…"}` |
| `variant:command` | `{"tool": "shell", "command": "…"}`, also inside `args` |
| `variant:flat` | arguments of another tool beside `tool` instead of inside `args` |
| `variant:arguments`, `variant:parameters` | another name for `args` |
| `variant:args_string` | `args` as a string: the command of shell, or an object written as a JSON string |
| `variant:tool_name` | `{"tool_name": "NAME", …}` |
| `variant:name` | `{"name": "NAME", "arguments": {…}}`, the shape of native calls |
| `variant:action` | `{"action": "run", "command": "…"}`, also `"action": "shell"` |
| `variant:final` | `{"final": "…"}` alone, or a tool called `final` or an empty name instead of null |
| `no_args`, `extra_keys` | `args` left out; keys that mean nothing here |

A bare `{"command": "…"}` is no action: it is how pages quote settings. Arguments that are null count as
not given, in every form.
"""

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from vera.protocol.json_recovery import Found, read_object
from vera.protocol.turn import Action, FormatError

SHAPES = (
    'Write {"tool": "NAME", "args": {…}} to use a tool, or {"tool": null, "final": "your answer"} to finish.'
)

META = ("thought", "note", "evidence_used", "status_update")
"""Where a whole turn is JSON these keys are beside the action and are not arguments."""

FINAL = "final"
"""The function that carries the final answer in native calls; no tool may have this name."""

_NO_TOOL = frozenset({"", "null", "none", FINAL})
_ARGS = ("args", "arguments", "parameters")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """An action, and the names of its deviations from the strict shape."""

    action: Action
    deviations: tuple[str, ...] = ()


def action_of(value: Mapping[str, Any]) -> Reading | FormatError | None:
    """The action that an object is; an error where it tries to be one and fails; None where it is data."""
    if (named := _named(value)) is None:
        return None
    key, name, deviations = named
    if name is None or (isinstance(name, str) and name.strip().casefold() in _NO_TOOL):
        return _final(value, name, deviations)
    if not isinstance(name, str) or not _NAME.fullmatch(name.strip()):
        return FormatError("unknown_action_shape", f'The "{key}" of the action names no tool. {SHAPES}')
    if value.get("final") not in (None, ""):
        return FormatError(
            "both_tool_and_final",
            "The action has both a tool and a final answer, so nothing was run. Write one of them: "
            '{"tool": "NAME", "args": {…}}, or {"tool": null, "final": "your answer"}.',
        )
    return _call(value, key, name.strip(), deviations)


def unknown_shape(value: Mapping[str, Any]) -> FormatError:
    """The error for an object in the place of the action that is not an action."""
    keys = ", ".join(f'"{key[:40]}"' for key in list(value)[:5]) or "no keys"
    return FormatError("unknown_action_shape", f"A JSON object with {keys} is not an action. {SHAPES}")


def bare(action: Action) -> dict[str, Any]:
    """The action in the strict shape."""
    if action.tool is None:
        return {"tool": None, "final": action.final}
    return {"tool": action.tool, "args": action.args}


def _named(value: Mapping[str, Any]) -> tuple[str, Any, list[str]] | None:
    """The key that makes this object an action, what it calls, and the deviation's name."""
    if "tool" in value:
        return "tool", value["tool"], []
    if "tool_name" in value:
        return "tool_name", value["tool_name"], ["variant:tool_name"]
    if value.get("action") in ("run", "shell") and ("command" in value or "cmd" in value):
        return "action", "shell", ["variant:action"]
    if "name" in value and "arguments" in value:
        return "name", value["name"], ["variant:name"]
    if isinstance(value.get("final"), str):
        return "final", None, ["variant:final"]
    return None


def _final(value: Mapping[str, Any], name: str | None, deviations: list[str]) -> Reading | FormatError:
    final, known = value.get("final"), {"tool", "tool_name", "final", *META}
    if name is not None:
        deviations = ["variant:final"]
        args: dict[str, Any] = next((value[key] for key in _ARGS if isinstance(value.get(key), dict)), {})
        if final is None:
            known.update(("name", *_ARGS))
            final = next((args[key] for key in ("final", "answer", "text") if key in args), None)
    if not isinstance(final, str) or not final.strip():
        return FormatError(
            "missing_final", f'The action names no tool, and "final" is not a text with your answer. {SHAPES}'
        )
    extra = ["extra_keys"] if value.keys() - known else []
    return Reading(action=Action(final=final), deviations=(*deviations, *extra))


def _call(value: Mapping[str, Any], key: str, tool: str, deviations: list[str]) -> Reading | FormatError:
    deviations = list(deviations)
    raw = _raw_args(value, key, tool, deviations)
    if not isinstance(raw, dict):
        return FormatError(
            "bad_args", 'The "args" of the action must be a JSON object: {"tool": "NAME", "args": {…}}.'
        )
    args = {name: item for name, item in raw.items() if item is not None}
    if tool == "shell" and "cmd" not in args and "command" in args:
        args = {"cmd" if name == "command" else name: item for name, item in args.items()}
        deviations.append("variant:command")
    if tool == "shell" and not isinstance(args.get("cmd", ""), str):
        return FormatError(
            "bad_args", 'The "cmd" of shell must be one string: {"tool": "shell", "args": {"cmd": "ls -l"}}.'
        )
    return Reading(action=Action(tool=tool, args=args), deviations=tuple(dict.fromkeys(deviations)))


def _raw_args(value: Mapping[str, Any], key: str, tool: str, deviations: list[str]) -> Any:
    """The arguments of an action wherever they are in it; how that deviates is added to `deviations`."""
    holder = next((name for name in _ARGS if name in value), None)
    if holder is not None:
        raw = value[holder]
        if holder != "args":
            deviations.append(f"variant:{holder}")
        if value.keys() - {key, holder, "final", *META}:
            deviations.append("extra_keys")
    else:
        raw = {name: item for name, item in value.items() if name not in {key, "final", *META}}
        deviations.append(_flat_name(tool, raw))
    if isinstance(raw, str):
        raw = _from_string(tool, raw)
        deviations.append("variant:args_string")
    return {} if raw is None else raw


def _flat_name(tool: str, raw: Mapping[str, Any]) -> str:
    if not raw:
        return "no_args"
    if tool == "shell":
        return "variant:cmd" if "cmd" in raw else "variant:command" if "command" in raw else "variant:flat"
    return "variant:flat"


def _from_string(tool: str, raw: str) -> Any:
    """The arguments that were written as a string: an encoded object, or the command of shell."""
    text = raw.strip()
    if text.startswith("{"):
        found = read_object(text, 0)
        if isinstance(found, Found) and found.end == len(text):
            return found.value
    return {"cmd": raw} if tool == "shell" else raw
