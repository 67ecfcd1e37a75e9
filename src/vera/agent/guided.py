"""Guided mode: the host searches and reads, and the model writes sentences from the lines that it found.

For a model that cannot take turns, and (`quick`) for a simple question to a strong one. The built-in model
finds the lines, as where it answers in place of another one (`vera.agent.extracts`). The model is asked once:
it sees the lines by number and gives sentences, each with the numbers of its lines. What it wrote is verified
like any answer, and counts only where it is proved at least as strongly as the extracts
(`vera.agent.research`).
"""

import asyncio
import contextlib
import re
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from vera import events
from vera.agent.extracts import Extracts, by_rule
from vera.agent.gathering import Gathering
from vera.agent.question_before import in_full
from vera.agent.stopping import LOST, OUT_OF_TIME
from vera.attestation.keys import Signer
from vera.builtin.conversation import Excerpt, understand
from vera.builtin.plan import best_windows
from vera.builtin.scoring import Window
from vera.decode_errors import DECODE_ERRORS
from vera.evidence.prompt_quoting import fence, named
from vera.extraction.marks import told, within
from vera.lane import context as lane_context
from vera.lane.answer import resolve
from vera.lane.budget import BudgetSpent
from vera.lane.tools.pages import pages_of
from vera.model.types import Model, ModelError, NotAsked, Request, wire
from vera.protocol.json_reply import read_reply
from vera.session import Session
from vera.session.calls import log_call, log_failure
from vera.text.span import Lines
from vera.usage import EXTRACTS, GUIDED
from vera.verification.context import VerifierContext

QUICK = "quick"
TEMPLATE = "guided"

UNUSABLE = "unusable"
"""Why a lane ends whose model wrote nothing that can be shown."""

SECONDS = 120.0
"""The model may take this long."""

PASSAGE_ROOM = 700
QUESTION_ROOM = 2000
"""Bytes of one numbered line and of the question that the model is shown."""

MAX_NUMBERS = 3
"""Lines that one sentence may name."""

_PAIR = re.compile(r'"lines"\s*:\s*\[([\d,\s]{0,40})\]\s*,\s*"text"\s*:\s*("(?:[^"\\\n]|\\.){0,2000}")')
_MARKED = re.compile(r"([^\n\[\](){}]{8,600}?)\s*[\[(](?:lines?\s)?\s*(\d{1,2}(?:\s?,\s?\d{1,2}){0,5})[\])]")
_BRACKETED = re.compile(r"[\[【][^\[\]【】]{0,200}[\]】]|[\[\]【】]")
_OPENS = re.compile(r"^[\s#>*|~`•-]+|^\d{1,2}[.)|]\s*")
_NEXT = re.compile(r"(?<=[.!?])\s+(?=[^\W\d_a-z])")
_MAX_REPLY_LENGTH = 20_000


class Room(msgspec.Struct, frozen=True):
    """How many passages a model sees, and how much it may write: sentences, characters of each, tokens."""

    passages: int
    sentences: int
    characters: int
    tokens: int


PAGE_LINES = 2000
"""Lines of a captured page that are looked at."""

ROOMS = {GUIDED: Room(4, 2, 240, 400), QUICK: Room(6, 6, 500, 2000)}
"""By mode. Two thousand tokens leave room for a model that thinks first."""


class Sentence(msgspec.Struct, frozen=True):
    """A sentence as the model gave it, with the numbers that it named."""

    lines: list[int]
    text: str


class GuidedReply(msgspec.Struct, frozen=True):
    """The form of a reply."""

    sentences: list[Sentence]


class Guided:
    """Answers the run in the extracts' place, where its mode is guided, or becomes so (`auto`) because the
    turns of its model broke the format. `judged`: what it wrote goes to the judge of the run, not only to the
    rule that needs no model."""

    def __init__(
        self,
        session: Session,
        task: str,
        model: Model,
        extracts: Extracts,
        gathering: Gathering,
        *,
        auto: bool,
        judged: bool,
        now: Callable[[str], None],
    ) -> None:
        self._session = session
        self._task = task
        self._model = model
        self._extracts = extracts
        self._gathering = gathering
        self._auto = auto
        self._judged = judged
        self._now = now
        self._stopped = ""
        self._work: asyncio.Task[events.Verifier | None] | None = None

    def stop(self, reason: str) -> None:
        """End the writing, and the extracts as they say."""
        self._stopped = self._stopped or reason
        self._gathering.stop(reason)
        self._extracts.stop(reason)
        if self._work is not None:
            self._work.cancel()

    async def answer(self, context: VerifierContext, signer: Signer) -> events.Verifier | None:
        """The decision on what the model wrote, else on the extracts; None where there is nothing to answer
        from."""
        state = self._session.state
        ending = state.lane(state.acting).history.ending
        if self._auto and isinstance(ending, events.PolicyParseError):
            self._take_over(ending)
        if self._mode:
            await self._gathering.run(context.prompts)
            if self._stopped not in ("", OUT_OF_TIME):
                return None
        extracted = await self._extracts.answer(context, signer)
        if extracted is None or self._was_stopped() or not self._mode:
            return extracted
        return await self._written(context, signer, self._mode) or extracted

    @property
    def _mode(self) -> str:
        """The mode of now where the model writes from the lines, '' for another."""
        mode = self._session.state.mode
        return mode.mode if mode is not None and mode.mode in ROOMS else ""

    async def _written(self, context: VerifierContext, signer: Signer, mode: str) -> events.Verifier | None:
        """The decision on what the model wrote; None where that is nothing, or the writing was stopped."""
        self._work = asyncio.ensure_future(self._verified(context, signer, mode))
        try:
            return await self._work
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if not self._was_stopped() or (task is not None and task.cancelling() > 0):
                raise
            return None
        finally:
            self._work = None

    def _was_stopped(self) -> bool:
        return bool(self._stopped)

    def _take_over(self, ending: events.PolicyParseError) -> None:
        if self._session.state.mode is None:
            reason = f"{self._name} cannot take turns: {ending.reason}; guided mode"
            self._session.emit(events.Mode(mode=GUIDED, reason=reason), lane="")

    @property
    def _name(self) -> str:
        return self._model.info.name or self._model.info.kind

    async def _verified(self, context: VerifierContext, signer: Signer, mode: str) -> events.Verifier | None:
        """The decision on what the model wrote; None where that is nothing."""
        state = self._session.state
        if state.written is None:
            await self._write(context, ROOMS[mode])
        if state.written is None:
            return None
        for done in state.rounds.values():
            if done.decision and done.started.answer_seq == state.written.seq:
                return done.decision
        from vera.verification.verifier import verify

        judging = context if self._judged or mode == QUICK else by_rule(context)
        return await verify(judging, signer, last=True, now=self._now)

    async def _write(self, context: VerifierContext, room: Room) -> None:
        """Have the model write, in a lane beside that of the extracts. A reply that was logged stands."""
        session, extracts = self._session, self._session.state.extracts
        assert extracts is not None
        lane = extracts.lane.replace(EXTRACTS, GUIDED, 1)
        finding = lane_context.assemble(session.state.lane(extracts.lane), session.load)
        found = understand(finding)
        found = msgspec.structs.replace(found, reads=(*found.reads, *self._unread(found.reads)))
        shown = best_windows(found)[: room.passages]
        if not shown:
            return
        if session.state.lane(lane).started is None:
            session.emit(self._started(context, shown, room), lane=lane)
        if session.state.lane(lane).pending is None and not await self._ask(lane, len(shown), room):
            return
        pending = session.state.lane(lane).pending
        assert pending is not None
        text = answer_text(read(session.load(pending.content), room), shown)
        if not text:
            detail = f"{self._name} wrote no sentence with the number of a line"
            session.emit(events.LaneEnded(reason=UNUSABLE, detail=detail), lane=lane)
            return
        cited = resolve(text, session.state.evidence, session.store)
        session.emit(events.Answer(step=1, text=session.text(text), citations=cited, by="model"), lane=lane)
        session.emit(events.LaneEnded(reason="answered"), lane=lane)

    def _unread(self, reads: Sequence[Excerpt]) -> Iterator[Excerpt]:
        """The captured pages that the extracts did not read: what is said on the web needs a second page."""
        known = {read.path for read in reads}
        for name, page in pages_of(self._session.state).items():
            if name not in known:
                last = min(page.lines, PAGE_LINES)
                lines = dict(enumerate(self._seen(page, 1, last).removesuffix("\n").split("\n"), 1))
                yield Excerpt(name, page.lines, lines, 1, last, page.id)

    def _started(self, context: VerifierContext, shown: Sequence[Window], room: Room) -> events.LaneStarted:
        session, prompts = self._session, context.prompts
        rows = [(str(number), self._passage(window)) for number, window in enumerate(shown, 1)]
        lines = fence("lines", rows, PASSAGE_ROOM * len(rows)).text
        asked = [*named("question", in_full(self._session, self._task))]
        task = fence("question", asked, QUESTION_ROOM).text
        return events.LaneStarted(
            purpose="write",
            system=session.text(prompts.render(TEMPLATE, part="system", most=room.sentences)),
            task_message=session.text(prompts.render(TEMPLATE, part="data", lines=lines, task=task)),
            tools=(),
            protocol=self._model.info.protocol,
            system_role=context.options.system_role,
            prompt_sha256=prompts.sha256(TEMPLATE),
            high_tokens=context.options.high_tokens,
            max_bytes=0,
            tail_steps=1,
        )

    def _passage(self, window: Window) -> str:
        """The lines of a window as one."""
        evidence = self._session.state.evidence[window.evidence]
        return " ".join(self._seen(evidence, window.first, window.last).split())[:PASSAGE_ROOM]

    def _seen(self, evidence: events.Evidence, first: int, last: int) -> str:
        """Lines as a reader sees them, cut out of the store."""
        lines = Lines(self._session.store.get(evidence.text.sha256))
        marks = within(evidence.marks, *lines.bounds(first, last))
        return told(lines.cut(first, last), marks).decode("utf-8", "replace")

    async def _ask(self, lane: str, count: int, room: Room) -> bool:
        """Ask once and log the reply; whether there is one. Why there is none ends the lane."""
        session, info = self._session, self._model.info
        request = Request(
            messages=lane_context.assemble(session.state.lane(lane), session.load),
            temperature=0.0,
            max_tokens=room.tokens,
            schema=schema(room, count) if info.protocol == "json_schema" else None,
        )
        at_seq, sent, started = session.state.seq, wire(request.messages), time.monotonic()
        self._now(f"{self._name} writes from {count} passages")
        try:
            async with asyncio.timeout(SECONDS):
                completion = await self._model.complete(request)
        except NotAsked as why:
            reason = why.limit if isinstance(why, BudgetSpent) else LOST
            session.emit(events.LaneEnded(reason=reason, detail=str(why)), lane=lane)
            return False
        except (ModelError, TimeoutError) as error:
            problem = str(error) or f"it wrote nothing whole within {SECONDS:.0f} seconds"
            took = time.monotonic() - started
            said = log_failure(session, lane, 1, GUIDED, request, problem, latency_s=took, sent=sent)
            session.emit(events.LaneEnded(reason=LOST, detail=said), lane=lane)
            return False
        content = log_call(
            session,
            lane,
            1,
            GUIDED,
            info.name,
            request,
            completion,
            at_seq=at_seq,
            sent=sent,
            parameters={"schema": request.schema is not None},
            keep_request=False,
        )
        finish = completion.choices[0].finish_reason
        session.emit(events.Assistant(step=1, content=content, finish_reason=finish), lane=lane)
        return True


def schema(room: Room, count: int) -> dict[str, Any]:
    """The JSON Schema of a reply: so many sentences of such a length, with numbers of the lines shown."""
    sentence = {
        "type": "object",
        "properties": {
            "lines": {
                "type": "array",
                "items": {"type": "integer", "enum": list(range(1, count + 1))},
                "minItems": 1,
                "maxItems": min(MAX_NUMBERS, count),
            },
            "text": {"type": "string", "maxLength": room.characters},
        },
        "required": ["lines", "text"],
        "additionalProperties": False,
    }
    sentences = {"type": "array", "items": sentence, "minItems": 0, "maxItems": room.sentences}
    return {
        "type": "object",
        "properties": {"sentences": sentences},
        "required": ["sentences"],
        "additionalProperties": False,
    }


def read(content: str, room: Room) -> list[Sentence]:
    """The sentences of a reply: of one JSON object, of the whole objects in a broken one, or of plain text
    that names numbers in brackets. Those that were cut off or are too long are left out. Never raises."""
    content = content[:_MAX_REPLY_LENGTH]
    reply = read_reply(content, GuidedReply)
    found = reply.sentences if isinstance(reply, GuidedReply) else [*_whole_objects(content)]
    if "{" not in content:
        found = [Sentence(_numbers(named), text) for text, named in _MARKED.findall(content)]
    whole = [each for each in found if len(each.text) < room.characters or _ends(each.text, room)]
    return whole[: room.sentences]


def _whole_objects(content: str) -> Iterator[Sentence]:
    for numbers, text in _PAIR.findall(content):
        with contextlib.suppress(*DECODE_ERRORS):
            yield Sentence(_numbers(numbers), msgspec.json.decode(text, type=str))


def _numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d{1,2}", text)]


def _ends(text: str, room: Room) -> bool:
    """Whether a text that took all its room ends as a sentence does: else the schema cut it."""
    return len(text) == room.characters and text.endswith((".", "!", "?", "。", "！", "？"))


def answer_text(sentences: Sequence[Sentence], shown: Sequence[Window]) -> str:
    """The answer: a line for each sentence, which ends with the lines that it names; '' for none.

    A sentence that names no line shown is left out. Nothing that the model typed is a citation, a heading or
    a list.
    """
    said: list[str] = []
    for sentence in sentences:
        cites = [
            f"[{window.evidence}:{window.first}-{window.last}]"
            for number in dict.fromkeys(sentence.lines[:MAX_NUMBERS])
            if 0 < number <= len(shown)
            for window in [shown[number - 1]]
        ]
        text = _plain(sentence.text)
        if cites and text:
            said += [f"{part} {' '.join(cites)}" for part in _NEXT.split(text)]
    return "\n\n".join(dict.fromkeys(said))


def _plain(text: str) -> str:
    """One line of text without citations and marks of Markdown; '' for what says nothing."""
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    line = _BRACKETED.sub("", line)
    while (shorter := _OPENS.sub("", line, count=1)) != line:
        line = shorter
    line = " ".join(line.split())
    return line if any(map(str.isalnum, line)) else ""
