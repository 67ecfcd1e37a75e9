"""Research: one lane that answers a question about documents, and the end of the run."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from vera import events
from vera.agent.web import Web
from vera.evidence.extractor import Extractor
from vera.lane.loop import Lane, LaneSpec
from vera.lane.notes import NAME, NotesMirror
from vera.lane.prompts import Prompts
from vera.lane.tools import Tool
from vera.lane.tools.fetch import Fetch
from vera.lane.tools.note import Note
from vera.lane.tools.read import Read
from vera.lane.tools.search import Search
from vera.lane.tools.shell import Shell
from vera.lane.tools.submit import Submit
from vera.model.types import Model
from vera.report import answer as report
from vera.sandbox.types import Box
from vera.search.corpus import Corpus
from vera.session import Session, load_text, replace_file
from vera.state import BYTES_PER_TOKEN, LaneState, RunState
from vera.store import Store

LANE = "main"
HIGH_TOKENS = 24_000
"""The prompt size at which an epoch ends, on a model that could take more (`docs/design.md`, Context)."""

FILES_LISTED = 40


class ResearchOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How the lane works. `max_steps` 0 means no limit; `max_chars` 0 no cap beside the model's own."""

    max_steps: int = 80
    temperature: float = 0.2
    answer_tokens: int = 4096
    system_role: str = "system"
    high_tokens: int = HIGH_TOKENS
    max_chars: int = 0
    tail_steps: int = 4
    tool_seconds: float = 900


class TaskTooLong(Exception):
    """The task does not fit the model's context: a sentence for the person."""


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """What the lane has to work with: its box (None: no shell), its corpus of so many `files` (None: no
    input folder), what makes text of files, its way to the web (None: there is none), and how the model
    sees the two folders."""

    extractor: Extractor
    box: Box | None
    corpus: Corpus | None
    files: int = 0
    web: Web | None = None
    work_name: str = "/work"
    input_name: str = "/input"


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """What a run came to, ready to be shown. `text` is the answer, or what is known without one."""

    status: str
    reason: str
    exit_code: int
    text: str
    quotes: list[report.Quote]
    steps: int


def make_lane(
    session: Session, task: str, model: Model, place: Place, prompts: Prompts, options: ResearchOptions
) -> Lane:
    """The main lane of a research run, new or resumed, ready to `run`.

    Raises TaskTooLong, PromptError.
    """
    tools = _tools(session, place, options)
    answer_tokens, high_tokens = context_limits(model.info.context_tokens, options)
    files = place.corpus.names(FILES_LISTED) if place.corpus else []
    system = prompts.render(
        "system",
        protocol=model.info.protocol,
        tools=[tool.spec for tool in tools],
        has_shell=place.box is not None,
        has_input=place.corpus is not None,
        work_name=place.work_name,
        input_name=place.input_name,
        isolation=place.box.isolation if place.box else "",
    )
    message = prompts.render(
        "task",
        task=task.strip(),
        files=files,
        count=place.files,
        input_name=place.input_name,
    )
    high_bytes = int(high_tokens * BYTES_PER_TOKEN)
    head = len((system + message).encode("utf-8", "replace"))
    if head > high_bytes * 6 // 10:
        raise TaskTooLong(
            f"The task and instructions take {head} bytes; this model's context leaves room for "
            f"{high_bytes * 6 // 10}. Put long material into a file of the input folder (--input-dir)."
        )
    spec = LaneSpec(
        name=LANE,
        purpose="research",
        system=system,
        task_message=message,
        protocol=model.info.protocol,
        system_role=options.system_role,
        temperature=options.temperature,
        max_steps=options.max_steps,
        answer_tokens=answer_tokens,
        high_tokens=high_tokens,
        max_bytes=options.max_chars,
        tail_steps=options.tail_steps,
        room=max(1500, min(8000, high_bytes // 6)),
    )
    lane = Lane(session, spec, model, tools, prompts)
    if place.web is not None:
        place.web.command.record = lane.record
    return lane


def context_limits(context_tokens: int | None, options: ResearchOptions) -> tuple[int, int]:
    """Tokens for one answer and for the prompt, within the model's real context where it is known."""
    if context_tokens is None:
        return options.answer_tokens, options.high_tokens
    answer = min(options.answer_tokens, context_tokens // 4)
    return answer, min(options.high_tokens, int(0.7 * context_tokens) - answer)


def conclude(session: Session, clock: Callable[[], float] = time.time) -> Result:
    """End the run of a lane that has ended: its status, answer.md, the last record and the seal."""
    state = session.state
    lane = state.lane(LANE)
    status, reason, exit_code = _verdict(lane)
    session.emit(events.Status(step=lane.step, status=status, reason=reason), lane=LANE)
    text, quotes = _text(state, session.store)
    task = session.load(state.task.task) if state.task else ""
    content = report.markdown(state, task, text, quotes)
    replace_file(session.root / "answer.md", content.encode("utf-8", "replace"))
    session.finish(
        events.RunEnd(
            status=status,
            reason=reason,
            exit_code=exit_code,
            steps=lane.step,
            seconds=round(max(0.0, clock() - state.started_ts), 3),
        )
    )
    return Result(
        status=status, reason=reason, exit_code=exit_code, text=text, quotes=quotes, steps=lane.step
    )


def result_of(state: RunState, store: Store) -> Result:
    """The result of a run as its log has it so far.

    Raises StoreError when a part of the answer is missing or altered in the store.
    """
    lane = state.lane(LANE)
    text, quotes = _text(state, store)
    return Result(
        status=lane.status,
        reason=lane.status_reason,
        exit_code=state.ended.exit_code if state.ended else 3,
        text=text,
        quotes=quotes,
        steps=lane.step,
    )


def _tools(session: Session, place: Place, options: ResearchOptions) -> Sequence[Tool]:
    tools: list[Tool] = []
    if place.corpus is not None:
        tools.append(Search(place.corpus, place.files))
    if place.web is not None:
        tools.append(Fetch(place.web.capture))
    tools.append(Read(place.corpus, session.workspace, place.extractor, place.input_name))
    if place.box is not None:
        mirror = NotesMirror(session.root / NAME, session.workspace)
        tools.append(Shell(place.box, session.workspace, mirror, options.tool_seconds))
    tools.append(Note())
    if place.box is not None:
        tools.append(Submit(session.workspace, lambda name, data: keep_output(session.root, name, data)))
    return tools


def keep_output(root: Path, name: str, data: bytes) -> None:
    """Keep a submitted file under the session's `output/`. `name` is relative and has no `..` in it."""
    path = root / "output" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def _verdict(lane: LaneState) -> tuple[str, str, int]:
    """Status, reason and exit code. Without verification nothing is better than UNRESOLVED."""
    ended = lane.ended
    if lane.answer is not None:
        bad = sum(1 for cited in lane.answer.citations if cited.problem)
        if bad:
            return "UNRESOLVED", f"{bad} of {len(lane.answer.citations)} citations point at nothing", 3
        if lane.answer.citations:
            return "UNRESOLVED", "the answer is cited, but not yet verified", 3
        return "UNRESOLVED", "the answer cites nothing", 3
    reason = ended.reason if ended else ""
    match reason:
        case "interrupted":
            return "UNRESOLVED", "interrupted before an answer was reached", 130
        case "steps":
            return "UNRESOLVED", f"{ended.detail if ended else ''} and no answer was reached", 6
        case _:
            return "UNRESOLVED", f"no answer was reached: {ended.detail if ended else 'unknown'}", 3


def _text(state: RunState, store: Store) -> tuple[str, list[report.Quote]]:
    lane = state.lane(LANE)
    if lane.answer is not None:
        text = load_text(store, lane.answer.text)
        return text, report.quotes(lane.answer, state.evidence, store)
    noted = [f"- {line.text}" for line in lane.notes.lines if not line.evidence]
    so_far = "No answer was reached" if lane.ended else "The run has not ended"
    if not noted:
        return f"{so_far}, and nothing was noted.", []
    return "\n".join([f"{so_far}. What was noted on the way:", "", *noted]), []
