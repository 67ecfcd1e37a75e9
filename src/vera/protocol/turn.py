"""The turn: what a model says in one step, whatever wire form carried it."""

from collections.abc import Mapping
from typing import Any

import msgspec


class Action(msgspec.Struct, frozen=True, kw_only=True):
    """The one thing a turn asks for: a tool call, or the final answer.

    Exactly one of the two is set: `tool` with its `args`, or `final` with `tool` None.
    """

    tool: str | None = None
    args: dict[str, Any] = {}
    final: str | None = None


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """A complete turn in the order in which the text form writes it.

    `evidence_used` holds evidence ids (`ev_0003`); `status_update` the model's own view of its state,
    which decides nothing; `note` a line for notes.md.
    """

    thought: str
    action: Action
    note: str | None = None
    evidence_used: tuple[str, ...] = ()
    status_update: str = "IN_PROGRESS"


class FormatError(msgspec.Struct, frozen=True):
    """One thing that is wrong with a turn: a stable `code` and a sentence for the model."""

    code: str
    message: str


class Parsed(msgspec.Struct, frozen=True, kw_only=True):
    """The result of parsing a model's message.

    `turn` is None exactly when `errors` is not empty; then nothing runs. `ignored_actions` counts further
    actions found in the same message: one runs, the rest are reported to the model. `recovered` names each
    accepted deviation from the strict form (`fenced`, `multi_line`, `variant:command`, …).
    """

    turn: Turn | None
    errors: tuple[FormatError, ...] = ()
    ignored_actions: int = 0
    recovered: tuple[str, ...] = ()


class ToolSpec(msgspec.Struct, frozen=True, kw_only=True):
    """A tool as the model is told of it: `properties` are JSON Schemas by argument name.

    `gathers`: it brings evidence that can be cited, so gates that wait for some look at it too.
    """

    name: str
    description: str
    properties: Mapping[str, Mapping[str, Any]]
    required: tuple[str, ...] = ()
    gathers: bool = False
