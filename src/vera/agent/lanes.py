"""The main lane of a run, whatever its purpose: how it works, and its making within what the model takes."""

from functools import partial
from pathlib import Path

import msgspec

from vera.agent.errors import TaskTooLong
from vera.agent.rules import rules_of
from vera.config import Settings
from vera.gates.kernel import Gate, Rules
from vera.lane.budget import BudgetLimits
from vera.lane.capture import CommandPages
from vera.lane.loop import Lane
from vera.lane.notes import NAME, NotesMirror
from vera.lane.policy import Policy
from vera.lane.prompts import Prompts
from vera.lane.spec import LaneSpec
from vera.lane.tools import Tool
from vera.lane.tools.registry import Toolkit
from vera.lane.tools.shell import Shell
from vera.lane.tools.submit import Submit
from vera.model.types import Model
from vera.sandbox.types import Box
from vera.selection.chooser import Chooser
from vera.session import Session
from vera.usage import BYTES_PER_TOKEN, MAIN, RunUsage

LANE = MAIN

HIGH_TOKENS = 24_000
"""The prompt size at which an epoch ends, on a model that could take more (`docs/design.md`, Context)."""


class LaneOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How the lane works. `max_steps` 0 means no limit; `max_chars` 0 no cap beside the model's own. `limits`
    are those of the run's budget, or a share of it that counts from what was spent `before`. `tools` and
    `gates` are those of plugins, beside ours."""

    max_steps: int = 80
    temperature: float = 0.2
    answer_tokens: int = 4096
    system_role: str = "system"
    high_tokens: int = HIGH_TOKENS
    max_chars: int = 0
    tail_steps: int = 4
    tool_seconds: float = 900
    search_count: int = 12
    rules: Rules = Rules()
    limits: BudgetLimits = BudgetLimits()
    before: RunUsage = RunUsage()
    tools: tuple[Tool, ...] = ()
    gates: tuple[Gate, ...] = ()


class LanePrompt(msgspec.Struct, frozen=True, kw_only=True):
    """What the lane `lane` is told before its first turn, and the templates that made it.

    `scope` says in the log who asks the model, `long_material` where a task's long material should go
    instead, for the person whose task is too long.
    """

    purpose: str
    system: str
    task_message: str
    templates: tuple[str, ...]
    long_material: str
    lane: str = LANE
    scope: str = "agent"


def options_of(settings: Settings, limits: BudgetLimits) -> LaneOptions:
    """How the main lane works, by the settings."""
    return LaneOptions(
        max_steps=settings.run.max_steps,
        temperature=settings.model.temperature,
        answer_tokens=settings.model.max_tokens,
        system_role=settings.model.system_role,
        high_tokens=settings.context.high_tokens,
        max_chars=settings.context.max_chars or 0,
        tail_steps=settings.context.tail_steps,
        tool_seconds=settings.sandbox.max_tool_seconds,
        search_count=settings.brave.default_count,
        rules=rules_of(settings),
        limits=limits,
    )


def main_lane(
    session: Session,
    head: LanePrompt,
    model: Model,
    tools: list[Tool],
    prompts: Prompts,
    policy: Policy,
    options: LaneOptions,
    chooser: Chooser | None = None,
) -> Lane:
    """The main lane of a run, new or resumed, ready to `run`; with a chooser each turn is one of several.

    Raises TaskTooLong when the head leaves too little of the model's context for the work.
    """
    answer_tokens, high_tokens = context_limits(model.info.context_tokens, options)
    high_bytes = int(high_tokens * BYTES_PER_TOKEN)
    size, most = len((head.system + head.task_message).encode("utf-8", "replace")), high_bytes * 6 // 10
    if size > most:
        raise TaskTooLong(
            f"The task and instructions take {size} bytes; this model's context leaves room for {most}. "
            f"Put long material into {head.long_material}."
        )
    spec = LaneSpec(
        name=head.lane,
        purpose=head.purpose,
        system=head.system,
        task_message=head.task_message,
        protocol=model.info.protocol,
        system_role=options.system_role,
        temperature=options.temperature,
        max_steps=options.max_steps,
        answer_tokens=answer_tokens,
        high_tokens=high_tokens,
        max_bytes=options.max_chars,
        tail_steps=options.tail_steps,
        room=max(1500, min(8000, high_bytes // 6)),
        scope=head.scope,
        templates=head.templates,
        limits=options.limits,
        before=options.before,
    )
    return Lane(session, spec, model, tools, prompts, policy, chooser)


def context_limits(context_tokens: int | None, options: LaneOptions) -> tuple[int, int]:
    """Tokens for one answer and for the prompt, within the model's real context where it is known."""
    if context_tokens is None:
        return options.answer_tokens, options.high_tokens
    answer = min(options.answer_tokens, context_tokens // 4)
    return answer, min(options.high_tokens, int(0.7 * context_tokens) - answer)


def with_work(
    kit: Toolkit, session: Session, box: Box | None, seconds: float, pages: CommandPages | None = None
) -> Toolkit:
    """The toolkit with what every main lane works with beside its sources: notes, and with a box commands of
    at most so many seconds, whose `pages` are evidence, and files to hand in."""
    kit = msgspec.structs.replace(kit, notes=True)
    if box is None:
        return kit
    mirror = NotesMirror(session.root / NAME, session.workspace)
    return msgspec.structs.replace(
        kit,
        shell=Shell(box, session.workspace, mirror, seconds, pages),
        submit=Submit(session.workspace, partial(_keep_output, session.root)),
    )


def _keep_output(root: Path, name: str, data: bytes) -> None:
    """Keep a submitted file under the session's `output/`. `name` is relative and has no `..` in it."""
    path = root / "output" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
