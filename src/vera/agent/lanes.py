"""The lanes of a run that answers: how they work, and their making within what the model takes."""

import itertools
import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import msgspec

from vera import events
from vera.agent.errors import TaskTooLong
from vera.agent.question_before import before_in_words, in_full
from vera.agent.rules import for_task
from vera.agent.web import Web
from vera.config.settings import BUILT_IN
from vera.corpus import Corpus
from vera.extraction.extractor import Extractor
from vera.gates.kernel import Gate, Rules
from vera.gates.registry import CHECK_GATES, GATES
from vera.lane.at_work import AtWork
from vera.lane.budget import BudgetLimits
from vera.lane.capture import CommandPages
from vera.lane.loop import Lane
from vera.lane.notes import NAME, NotesMirror
from vera.lane.policy import Policy
from vera.lane.prompts import Prompts
from vera.lane.spec import LaneSpec
from vera.lane.tools import Tool
from vera.lane.tools.read import Read
from vera.lane.tools.registry import Toolkit, toolset
from vera.lane.tools.shell import Shell
from vera.lane.tools.submit import Submit
from vera.model.types import Model, ModelInfo
from vera.protocol import tools as functions
from vera.sandbox.types import Box
from vera.sanitize import printed_name
from vera.selection.chooser import Chooser
from vera.session import Session
from vera.usage import BYTES_PER_TOKEN, MAIN, RunUsage

LANE = MAIN

AGENT = "agent"
"""The mode of a run whose model takes turns."""

HIGH_TOKENS = 24_000
"""The prompt size at which an epoch ends, on a model that could take more (`docs/design.md`, Context)."""

FILES_LISTED = 40

HEAD_SHARE = 0.25
"""Of a context: what instructions, tools and task take of it at most, with the files that are named."""

LISTING_BYTES = 120
"""What the list of files takes beside their names."""


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


def main_lane(
    session: Session,
    head: LanePrompt,
    model: Model,
    tools: list[Tool],
    prompts: Prompts,
    policy: Policy,
    options: LaneOptions,
    chooser: Chooser | None = None,
    at_work: AtWork | None = None,
) -> Lane:
    """The main lane of a run, new or resumed, ready to `run`; with a chooser each turn is one of several.
    Commands of its sandbox reach the web through `at_work`.

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
    return Lane(session, spec, model, tools, prompts, policy, chooser, at_work)


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


class Environment(msgspec.Struct, frozen=True, kw_only=True):
    """What the lane has to work with: its box (None: no shell), its corpus of so many `files` (None: no
    input folder), what makes text of files, its way to the web (None: there is none), how the model sees the
    two folders, and the captured `pages` that are searched and read as files are, by name."""

    extractor: Extractor
    box: Box | None
    corpus: Corpus | None
    files: int = 0
    web: Web | None = None
    work_name: str = "/work"
    input_name: str = "/input"
    pages: Mapping[str, events.Evidence] = {}


def make_lane(
    session: Session,
    task: str,
    model: Model,
    place: Environment,
    prompts: Prompts,
    options: LaneOptions,
    chooser: Chooser | None = None,
    lane: str = LANE,
    scope: str = "agent",
) -> Lane:
    """The main lane of a research run, or one that answers in its place, new or resumed, ready to `run`.

    Raises TaskTooLong, PromptError.
    """
    is_built_in = model.info.kind == BUILT_IN
    tools = [*_tools(session, place, options), *(() if is_built_in else options.tools)]
    asked = in_full(session, task) if is_built_in else task
    system, message = _head(asked, model.info, tools, place, prompts)
    templates: tuple[str, ...] = ("system", "task")
    if before := "" if is_built_in else before_in_words(session, model.info.context_tokens):
        message += "\n\n" + prompts.render("follow_up", before=before, count=len(place.pages))
        templates = (*templates, "follow_up")
    rules = for_task(
        options.rules,
        task,
        [tool.spec for tool in tools],
        has_input=place.corpus is not None,
        has_web=place.web is not None,
        can_render=place.web is not None and place.web.capture.can_render(),
        engines=place.web.search.engines.names() if place.web is not None else (),
    )
    # The built-in model plans its few steps itself: there is no one to advise.
    gates = CHECK_GATES if is_built_in else (*GATES, *options.gates)
    head = LanePrompt(
        lane=lane,
        scope=scope,
        purpose="research",
        system=system,
        task_message=message,
        templates=templates,
        long_material="a file of the input folder (--input-dir)",
    )
    policy = Policy(gates=gates, rules=rules)
    at_work = place.web.at_work if place.web is not None else None
    return main_lane(session, head, model, tools, prompts, policy, options, chooser, at_work)


def _head(
    task: str, info: ModelInfo, tools: Sequence[Tool], place: Environment, prompts: Prompts
) -> tuple[str, str]:
    """The instructions of a research lane, and the message with its task."""
    system = prompts.render(
        "system",
        protocol=info.protocol,
        tools=[tool.spec for tool in tools],
        has_shell=place.box is not None,
        has_input=place.corpus is not None,
        work_name=place.work_name,
        input_name=place.input_name,
        isolation=place.box.isolation if place.box else "",
        reach=place.web.reach if place.web and place.box and place.box.backend != "host" else "",
    )
    message = prompts.render(
        "task",
        task=task.strip(),
        files=_listed(place, info, head_bytes(info.protocol, tools, system, task)),
        count=place.files + len(place.pages),
        input_name=place.input_name,
    )
    return system, message


def sources(place: Environment, web: Web | None, count: int) -> Toolkit:
    """What a lane looks for sources with: the documents of `place`, and the web, of which a search gives
    `count` hits."""
    kit = Toolkit(corpus=place.corpus, files=place.files, count=count)
    return kit if web is None else msgspec.structs.replace(kit, capture=web.capture, web=web.search)


def _tools(session: Session, place: Environment, options: LaneOptions) -> list[Tool]:
    read: Tool = Read(place.corpus, session.workspace, place.extractor, place.input_name)
    web, reads = place.web, bool(place.corpus or place.web or place.box or place.pages)
    kit = sources(place, web, options.search_count)
    if place.pages:
        from vera.lane.tools.pages import Pages, ReadPages

        pages, read = Pages(place.pages, session.store, place.corpus), ReadPages(place.pages, read)
        kit = msgspec.structs.replace(kit, corpus=pages, files=place.files + len(place.pages))
    kit = msgspec.structs.replace(kit, read=read if reads else None)
    passed = web.pages if web is not None else None
    return toolset(with_work(kit, session, place.box, options.tool_seconds, passed))


def head_bytes(protocol: str, tools: Sequence[Tool], *texts: str) -> int:
    """What stands before the first turn: the texts, and the functions where the protocol sends them."""
    sent = json.dumps(functions.definitions([tool.spec for tool in tools])) if protocol == "tools" else ""
    return sum(len(text.encode("utf-8", "replace")) for text in (*texts, sent))


def _listed(place: Environment, info: ModelInfo, taken: int) -> list[str]:
    """The input files that the task names: the first ones, as far as the head, of which so many bytes are
    taken, stays within its share of a small context."""
    files = place.corpus.names(FILES_LISTED) if place.corpus else []
    names = [printed_name(name) for name in (*files, *place.pages)][:FILES_LISTED]
    if info.context_tokens is None:
        return names
    room = info.context_tokens * HEAD_SHARE * BYTES_PER_TOKEN - taken - LISTING_BYTES
    sizes = itertools.accumulate(len(name.encode("utf-8", "replace")) + 3 for name in names)
    return [name for name, size in zip(names, sizes, strict=True) if size <= room]
