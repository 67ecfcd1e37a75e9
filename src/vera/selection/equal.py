"""When two actions are the same: the normal form of an action, and the form in which a judge sees it.

What a turn says beside its action (thought, note) does not count. White space counts wherever it may mean
something: inside quotes and here-documents, after a backslash.
"""

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from vera.evidence.moves import SEARCH_TOOLS
from vera.evidence.queries import family
from vera.protocol import Action

_BLANKS = " \t"
_SPACE = " \t\r\n"
_QUOTING = ("'", '"', "\\", "`")


def normal_form(action: Action) -> str:
    """The action as canonical JSON: equal for actions that do the same, and for no others that we know of.

    A command is without blanks at its ends and at the ends of its lines, a search query is its family
    (`vera.evidence.queries`), an address has no fragment and its host in lower case, a final answer has its
    white space collapsed.
    """
    if action.tool is None:
        return _json({"final": " ".join((action.final or "").split()), "tool": None})
    return _json({"args": _arguments(action.tool, action.args), "tool": action.tool})


def shown(action: Action) -> str:
    """The action as a person reads it: the tool, and below it what it is called with."""
    if action.tool is None:
        return f"final answer\n{action.final or ''}".rstrip()
    command = action.args.get("cmd")
    if action.tool == "shell" and isinstance(command, str) and len(action.args) == 1:
        return f"shell\n{command}".rstrip()
    return f"{action.tool}\n{_json(action.args)}" if action.args else action.tool


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _arguments(tool: str, args: dict[str, Any]) -> dict[str, Any]:
    if tool == "shell":
        return _changed(args, ("cmd",), _command)
    if tool == "fetch":
        return _changed(args, ("url",), _address)
    return _changed(args, ("query", "q"), _query) if tool in SEARCH_TOOLS else args


def _changed(args: dict[str, Any], names: tuple[str, ...], change: Callable[[str], str]) -> dict[str, Any]:
    return {
        name: change(value) if name in names and isinstance(value, str) else value
        for name, value in args.items()
    }


def _command(text: str) -> str:
    text = text.replace("\r\n", "\n")
    if "<<" in text:
        return text.strip("\n")  # the blanks of a here-document are its content
    if not any(mark in text for mark in _QUOTING):
        text = "\n".join(line.rstrip(_BLANKS) for line in text.split("\n"))
    bare = text.strip(_SPACE)
    escapes = len(bare) - len(bare.rstrip("\\"))
    return f"{bare} " if escapes % 2 and not text.endswith(bare) else bare


def _address(url: str) -> str:
    try:
        split = urlsplit(url.strip())
    except ValueError:
        return url.strip()
    if not split.netloc:
        return url.strip()
    user, at, host = split.netloc.rpartition("@")
    return urlunsplit((split.scheme, f"{user}{at}{host.lower()}", split.path or "/", split.query, ""))


def _query(text: str) -> str:
    return family(text, ()) or " ".join(text.split())
