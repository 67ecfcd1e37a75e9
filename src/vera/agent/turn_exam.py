"""The turn exam: can a model act at all? Three short turns on a toy task, asked as in a run.

The prompt, the tools and the form of a turn are those of a run over an input folder. A turn is right when it
does what brings the answer nearer: it searches, then reads what was found, then answers with the line that
says it. What came out is kept for a week under the server's address, the model with its file or quantisation,
and the prompt, beside the exams of judges.
"""

import asyncio
import hashlib
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from vera import events
from vera.agent.lanes import AGENT
from vera.lane import context
from vera.lane.prompts import Prompts
from vera.lane.tools.note import SPEC as NOTE
from vera.lane.tools.read import SPEC as READ
from vera.lane.tools.search import SPEC as SEARCH
from vera.model.types import Model, ModelError, ModelInfo, NotAsked, Request, wire
from vera.protocol import Parsed, Turn, forms, json_schema, text, tools
from vera.protocol.turn import Action
from vera.session import Session
from vera.session.calls import log_call, log_failure
from vera.state import LaneState, TailMessage, TailStep
from vera.usage import GUIDED, MAIN
from vera.verification.kept_exams import keep, load

VERSION = "turns/1"
"""Changes with the task and the way that turns are judged."""

AUTO = "auto"
"""The mode that is settled by the exam."""

LANE = "exam-turns"
SCOPE = "turn_exam"

MIN_RIGHT = 2
SHEETS = 3

TOKENS = 500
SECONDS = 60.0
"""Of one turn, and of the exam."""

TOO_SLOW = f"it took longer than {SECONDS:.0f} seconds"

KEPT_SECONDS = 7 * 86_400.0

SMALL = 10e9
"""Weights below which a model takes the exam: of larger ones nearly all take turns."""

_WEIGHTS = re.compile(r"(?<![\w.])(\d{1,4}(?:\.\d{1,3})?)([bm])(?![a-z0-9])")

TASK = "For how many days does the Harbour Library lend a map?"
FILE = "harbour-library.txt"
_SEARCHED = f"""OBSERVATION ev_0001 · search "Harbour Library lend map days" · captured
1 files indexed; 1 hits, best first; read a hit to cite it.
[1] {FILE} lines 7-8 of 12 (score 1.000)
7| Books may be kept for four weeks.
8| Maps are lent for 21 days, and not renewed.
Step 1 of 80."""
_READ = f"""OBSERVATION ev_0002 · read {FILE} · lines 5-9 of 12 · captured
5| Loans
6|
7| Books may be kept for four weeks.
8| Maps are lent for 21 days, and not renewed.
9| Newspapers are not lent.
Step 2 of 80."""
_ANSWERS = re.compile(r"\b(?:21|twenty[- ]one)\b", re.IGNORECASE)
_CITES = re.compile(r"\[ev_0002:(?:[5-8]-)?8\b|\[ev_0002:[5-8]-9\]")

Say = Callable[[str], None]


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """An exam in the cache: of `of` turns `right` ones, at `sat_at` (seconds since 1970)."""

    sat_at: float
    right: int
    of: int


def weights_of(name: str) -> float:
    """How many weights a model has by its name (`qwen2.5-7b`, `smollm2-135m`); 0 where it does not say."""
    found = _WEIGHTS.findall(name.lower().replace("_", "-"))
    return max((float(number) * (1e9 if unit == "b" else 1e6) for number, unit in found), default=0.0)


def is_due(info: ModelInfo) -> bool:
    """Whether a model should sit the exam: one in a file that VERA serves itself, or a small one by its name.
    Another one is asked for its first turns at once; its own run is its exam."""
    return info.own or 0 < weights_of(info.name) < SMALL


async def examined(
    session: Session, model: Model, prompts: Prompts, system_role: str, folder: Path | None, now: Say
) -> events.TurnExam:
    """The exam of a model, kept from another session or sat now. It is logged. Never raises for a model."""
    info, prompt = model.info, prompts.sha256("system", "task")
    name = info.name or info.kind
    path = folder / f"turns-{_key(info, prompt)}.json" if folder else None
    kept = _load(path) if path else None
    known, problem = kept, ""
    if known is None:
        now(f"examining {name}: can it take turns?")
        known, problem = await _sit(session, model, prompts, system_role)
        if path is not None and not problem:
            keep(path, known)
    return session.emit(
        events.TurnExam(
            model=name,
            version=VERSION,
            prompt_sha256=prompt,
            sat_at=known.sat_at,
            server=info.base_url,
            weights=info.weights,
            kept=kept is not None,
            right=known.right,
            of=known.of,
            passed=known.right >= MIN_RIGHT,
            problem=problem,
        ),
        lane="",
    )


async def _sit(session: Session, model: Model, prompts: Prompts, system_role: str) -> tuple[Kept, str]:
    """What came out, and why the exam could not be finished ('' when it was). It ends when it is decided."""
    right = of = 0
    problem = ""
    try:
        async with asyncio.timeout(SECONDS):
            while right < MIN_RIGHT and of - right <= SHEETS - MIN_RIGHT and not problem:
                lane = _lane(model.info.protocol, prompts, system_role, of)
                turn, problem = await _answer(session, model, lane, of + 1)
                if not problem:
                    right += turn is not None and is_right(of, turn)
                    of += 1
    except TimeoutError:
        problem = TOO_SLOW
    return Kept(sat_at=time.time(), right=right, of=of), problem


async def _answer(session: Session, model: Model, lane: LaneState, number: int) -> tuple[Turn | None, str]:
    """The turn that the model takes, None for a broken one; and why there is no reply."""
    protocol, specs = model.info.protocol, (SEARCH, READ, NOTE)
    request = Request(
        messages=context.assemble(lane, session.load),
        temperature=0.0,
        max_tokens=TOKENS,
        schema=json_schema.schema(specs) if protocol == "json_schema" else None,
        tools=tuple(tools.definitions(specs)) if protocol == "tools" else (),
    )
    at_seq, sent, started = session.state.seq, wire(request.messages), time.monotonic()
    try:
        completion = await model.complete(request)
    except NotAsked as why:
        return None, str(why)
    except ModelError as error:
        took = time.monotonic() - started
        return None, log_failure(session, LANE, number, SCOPE, request, str(error), latency_s=took, sent=sent)
    log_call(session, LANE, number, SCOPE, model.info.name, request, completion, at_seq=at_seq, sent=sent)
    choice = completion.choices[0]
    if choice.finish_reason == "length" and choice.reasoning:
        return None, f"it thinks for longer than {TOKENS} tokens"
    parsed: Parsed = forms.parse(protocol, choice.content, choice.tool_calls)
    return parsed.turn, ""


def is_right(sheet: int, turn: Turn) -> bool:
    """Whether a turn brings the answer nearer: on sheet 0 nothing was done yet, on 1 the file was found, on 2
    its lines were read."""
    action = turn.action
    if action.final is not None:
        return sheet == 2 and bool(_ANSWERS.search(action.final) and _CITES.search(action.final))
    reads = action.tool == READ.name and FILE in str(action.args.get("path"))
    asked = str(action.args.get("query")).lower()
    return reads or (sheet == 0 and action.tool == SEARCH.name and ("map" in asked or "library" in asked))


def _lane(protocol: str, prompts: Prompts, system_role: str, sheet: int) -> LaneState:
    """A lane that is so far as the sheet says, for the prompt that it gives."""
    specs = (SEARCH, READ, NOTE)
    system = prompts.render(
        "system",
        protocol=protocol,
        tools=specs,
        has_shell=False,
        has_input=True,
        work_name="/work",
        input_name="/input",
        isolation="",
    )
    message = prompts.render("task", task=TASK, files=[FILE], count=1, input_name="/input")
    started = events.LaneStarted(
        purpose="research",
        system=system,
        task_message=message,
        tools=tuple(spec.name for spec in specs),
        protocol=protocol,
        system_role=system_role,
        prompt_sha256="",
        high_tokens=24_000,
        max_bytes=0,
        tail_steps=SHEETS,
    )
    steps = [
        (Action(tool="search", args={"query": "Harbour Library lend map days"}), _SEARCHED),
        (Action(tool="read", args={"path": FILE, "first": 5, "last": 9}), _READ),
    ]
    tail = tuple(_step(protocol, number, *step) for number, step in enumerate(steps[:sheet], 1))
    return LaneState(name=LANE, started=started, step=sheet, tail=tail)


def _step(protocol: str, number: int, action: Action, seen: str) -> TailStep:
    turn = Turn(thought="Look for the days that a map is lent.", action=action, status_update="IN_PROGRESS")
    if protocol == "tools":
        content, calls = tools.render(turn)
        said = TailMessage(role="assistant", content=content, tool_calls=tuple(calls))
        reply = TailMessage(role="tool", content=seen, tool_call_id=str(calls[0]["id"]))
    else:
        content = json_schema.render(turn) if protocol == "json_schema" else text.render(turn)
        said = TailMessage(role="assistant", content=content)
        reply = TailMessage(role="user", content=seen)
    return TailStep(step=number, messages=(said, reply), size=0)


def _key(info: ModelInfo, prompt: str) -> str:
    """The name of an exam in the cache. A file that VERA serves itself has another address each time."""
    address = "" if info.own else info.base_url
    parts: Sequence[str] = (info.kind, info.protocol, info.name, address, info.weights, prompt, VERSION)
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _load(path: Path) -> Kept | None:
    """A kept exam that is fresh; None for none."""
    kept = load(path, Kept)
    return kept if kept and 0 <= time.time() - kept.sat_at <= KEPT_SECONDS else None


async def settle(
    asked: str,
    session: Session,
    model: Model,
    prompts: Prompts,
    system_role: str,
    exams: Path | None,
    now: Callable[[str], None],
) -> None:
    """Log the mode where it is not that of a model that takes turns as ever, or no longer.

    With `auto` a small model sits the turn exam before its first turn; one that cannot finish it in time
    cannot act in time either. What a run was settled on stays when it is resumed.
    """
    known = session.state.mode
    if asked != AUTO:
        if asked != (known.mode if known else AGENT):
            session.emit(events.Mode(mode=asked, reason=f"asked for: --mode {asked}", asked=True), lane="")
        return
    if known is not None or session.state.lane(MAIN).started or not is_due(model.info):
        return
    sat = await examined(session, model, prompts, system_role, exams, now)
    if sat.problem == TOO_SLOW:
        why = f"{sat.model} is too slow to take turns: {sat.problem} for {SHEETS} short ones"
    elif sat.problem or sat.passed:
        return
    else:
        why = f"{sat.model} cannot take turns: {sat.right} of {sat.of}"
    session.emit(events.Mode(mode=GUIDED, reason=f"{why}; guided mode"), lane="")
