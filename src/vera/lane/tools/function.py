"""A plain Python function as a tool: its signature and docstring are the spec, what it returns is observed.

The function runs on the host, in a thread, for a bounded time. What it returns proves nothing: it is evidence
of the tier `observed` that no clean box can print again, so no claim is supported by it. What is to be cited
has to be fetched or read by VERA itself.
"""

import asyncio
import inspect
import json
import types
import typing
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any, Union, get_args, get_origin

from vera.extraction.canonical.text import canonical
from vera.lane.tools import Call, EvidenceDraft, Outcome, failed
from vera.plugins import PluginError
from vera.plugins.calling import PluginFailed, begun, described, finished, late
from vera.plugins.installed import NAME
from vera.protocol import fields
from vera.protocol.turn import ToolSpec
from vera.sanitize import one_line
from vera.text.span import Lines

EXTRACTOR = "plugin/"
"""How the extractor of what a plugin returned begins; the tool's name follows."""

MAX_OUTPUT = 1_000_000
"""Characters that one call may return, as many as a message of a model may have. More is a failure: half of a
list would be taken for the whole."""

MAX_DESCRIPTION = 500
"""Characters of a docstring that a prompt holds: every turn pays for them."""

MAX_ARGUMENTS = 12

_KINDS: Mapping[object, str] = {str: "string", int: "integer", bool: "boolean", float: "number"}
_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


class FunctionTool:
    """The tool `spec.name`, which calls `function` with the model's arguments by name."""

    def __init__(self, function: Callable[..., Any], name: str = "", *, seconds: float = 60.0) -> None:
        """`name` is '' for the function's own. Raises PluginError for a function that makes no tool."""
        self.spec = spec_of(function, name)
        self._function = function
        self._seconds = seconds
        self._running: Future[str] | None = None

    async def run(self, args: Mapping[str, Any], call: Call) -> Outcome:
        name = self.spec.name
        if self._running is not None and not self._running.done():
            return failed(name, "busy", "the call of before has not ended; go on without this tool")
        self._running = begun(lambda: _text_of(self._function, args, self._seconds))
        try:
            said = await finished(self._running, self._seconds)
        except PluginFailed as error:
            return failed(name, "plugin", f"{error}; go on without it, or call it with other arguments")
        return _observed(name, args, said)


def spec_of(function: Callable[..., Any], name: str = "") -> ToolSpec:
    """What the model is told of a function: its name, the first paragraph of its docstring, and arguments of
    the types str, int, float and bool, each also with None as its default. Raises PluginError."""
    name = name or str(getattr(function, "__name__", ""))
    if not callable(function) or not NAME.fullmatch(name):
        raise PluginError(
            f"{one_line(name, 60)!a} is no name of a tool. Give a function whose name has small letters, "
            "digits and _ only, and at most 48 of them."
        )
    described_as = _description(function, name)
    try:
        parameters = inspect.signature(function).parameters
        hints = typing.get_type_hints(function)
    except Exception as error:  # noqa: BLE001 (annotations are evaluated, and may raise anything)
        raise PluginError(f"The signature of the tool {name} cannot be read: {described(error)}.") from None
    if len(parameters) > MAX_ARGUMENTS:
        raise PluginError(f"The tool {name} has more than {MAX_ARGUMENTS} arguments.")
    spec = ToolSpec(
        name=name,
        description=one_line(described_as, MAX_DESCRIPTION),
        properties={each.name: {"type": _kind(name, each, hints)} for each in parameters.values()},
        required=tuple(each.name for each in parameters.values() if each.default is inspect.Parameter.empty),
    )
    try:
        fields.refuse_reserved([spec])
    except ValueError as error:
        raise PluginError(str(error)) from None
    return spec


def _description(function: Callable[..., Any], name: str) -> str:
    """The first paragraph of its docstring, on one line. Raises PluginError for none, and for a long one."""
    paragraph = " ".join((inspect.getdoc(function) or "").partition("\n\n")[0].split())
    if not paragraph or len(paragraph) > MAX_DESCRIPTION:
        raise PluginError(
            f"The tool {name} needs a docstring whose first paragraph has 1 to {MAX_DESCRIPTION} characters: "
            "it is what the model is told."
        )
    return paragraph


def _kind(tool: str, parameter: inspect.Parameter, hints: Mapping[str, Any]) -> str:
    """The JSON type of an argument. Raises PluginError for one that cannot be asked of a model."""
    if parameter.kind not in _BY_NAME:
        raise PluginError(f"The tool {tool} takes {parameter}; a tool has arguments with a name each.")
    annotation = hints.get(parameter.name)
    if get_origin(annotation) in (Union, types.UnionType):
        known = [each for each in get_args(annotation) if each is not types.NoneType]
        annotation = known[0] if len(known) == 1 and parameter.default is None else annotation
    if annotation not in _KINDS:
        raise PluginError(
            f"The argument {parameter.name!a} of the tool {tool} must be annotated as str, int, float or "
            "bool, or as one of these with None, and None its default."
        )
    return _KINDS[annotation]


def _text_of(function: Callable[..., Any], args: Mapping[str, Any], seconds: float) -> str:
    """What a function returns, as text: JSON for what is no string. An async function gets a separate loop,
    in which it is cancelled when its time is over. Raises PluginFailed for too much."""
    result = function(**args)
    if inspect.isawaitable(result):
        result = asyncio.run(_within(result, seconds))
    text = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False, indent=1)
    if len(text) > MAX_OUTPUT:
        raise PluginFailed(f"it returned {len(text)} characters, and at most {MAX_OUTPUT} are taken")
    return text


async def _within(result: Any, seconds: float) -> Any:
    try:
        async with asyncio.timeout(seconds) as limit:
            return await result
    except TimeoutError:
        if limit.expired():
            raise PluginFailed(late(seconds)) from None
        raise


def _observed(name: str, args: Mapping[str, Any], said: str) -> Outcome:
    text = canonical(said.encode("utf-8", "replace"))
    lines = Lines(text)
    about = one_line(f"{name} {json.dumps(args, ensure_ascii=False)}", 120)
    return Outcome(
        header=f"{about} · a plugin's words: observed, they support no statement",
        evidence=EvidenceDraft(
            tier="observed",
            source=f"plugin {name}",
            summary=about,
            text=text,
            first=1,
            last=len(lines),
            lines=len(lines),
            media_type="text/plain",
            extractor=f"{EXTRACTOR}{name}",
        ),
    )
