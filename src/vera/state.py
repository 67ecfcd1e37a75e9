"""RunState: the memory of a run, folded from its log, lane by lane.

`RunState.apply(event)` is the only thing that changes it. What it hands out is frozen (`LaneState`) or a
read-only view, and bounded: a lane of 10,000 steps costs a step as much as a lane of ten.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

import msgspec

from vera import events
from vera.events import Event, Text, text_size
from vera.headline import OPEN, UNDER_WAY, headline
from vera.history import Constraint, History
from vera.history import fold as fold_history
from vera.usage import BYTES_PER_TOKEN, EXTRACTS, GUIDED, MAIN, PART, RunUsage, SpentFold, answers_itself

NOTES_KEPT_BYTES = 64_000
"""Notes older than the newest this many bytes are folded to counts; notes.md keeps all of them."""

NOT_RUN = "Not run: exactly one action runs per turn, the first. Ask again if you still need it."


class TailMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A message of the action tail, its text by reference where it is large. `shown` is how many of its
    characters a prompt holds (0: all)."""

    role: str
    content: Text
    tool_calls: tuple[dict[str, Any], ...] = ()
    tool_call_id: str = ""
    shown: int = 0

    @property
    def size(self) -> int:
        """Its text in a prompt, in bytes; of a text that is cut about."""
        size = text_size(self.content)
        return min(size, 2 * self.shown) if self.shown else size


class TailStep(msgspec.Struct, frozen=True, kw_only=True):
    """A turn and what came of it, as messages; `size` is their text in bytes."""

    step: int
    messages: tuple[TailMessage, ...]
    size: int


class NoteLine(msgspec.Struct, frozen=True, kw_only=True):
    """A line of notes.md: the model's own words, or (with `evidence`) what an evidence is."""

    text: str
    evidence: str = ""


class Notes(msgspec.Struct, frozen=True, kw_only=True):
    """The newest notes, and what was folded away before them."""

    lines: tuple[NoteLine, ...] = ()
    size: int = 0
    folded_notes: int = 0
    folded_first: str = ""
    folded_last: str = ""

    def add(self, line: NoteLine) -> "Notes":
        """These notes with one more; beyond NOTES_KEPT_BYTES the older half is folded to counts."""
        lines, size = (*self.lines, line), self.size + text_size(line.text)
        if size <= NOTES_KEPT_BYTES:
            return msgspec.structs.replace(self, lines=lines, size=size)
        keep = len(lines)
        kept = 0
        while keep and kept + text_size(lines[keep - 1].text) <= NOTES_KEPT_BYTES // 2:
            keep -= 1
            kept += text_size(lines[keep].text)
        return self.without_first(keep, lines, kept)

    def without_first(self, count: int, lines: tuple[NoteLine, ...], kept_size: int) -> "Notes":
        """`lines` with the first `count` folded into the counts of what went before."""
        gone = lines[:count]
        ids = [line.evidence for line in gone if line.evidence]
        return Notes(
            lines=lines[count:],
            size=kept_size,
            folded_notes=self.folded_notes + sum(1 for line in gone if not line.evidence),
            folded_first=self.folded_first or (ids[0] if ids else ""),
            folded_last=ids[-1] if ids else self.folded_last,
        )


class Failing(msgspec.Struct, frozen=True, kw_only=True):
    """A call that failed `count` times in a row, each time with the same arguments and the same error."""

    tool: str
    args: Text
    error_type: str
    count: int = 1


class LaneState(msgspec.Struct, frozen=True, kw_only=True):
    """What one lane knows. `step` counts its turns.

    `sampled` are candidates of which none is the turn yet, `selected` the choice among them once it was made;
    `pending` is a turn not yet acted on (`pending_noted`: its NOTE line already is in the notes); `open_call`
    a started effect without a result.
    `notes` are those of now, `epoch_notes` those that the prompt shows until the next epoch; the last one
    began before step `epoch_step`. `bytes_per_token` shrinks when the server counts more tokens than assumed.
    `broken` counts broken turns in a row, `parse_errors` the same with those twice that repeat the turn
    before; `acted`: some turn was whole. `answer_turn` is the turn that gave `answer`; `feedback` what the
    verifier said of the last one that it took back, `epoch_feedback` the same once the epoch's tail no longer
    holds it, `epoch_constraints` what stood open when the epoch began.
    `advice` is what it proposed, until the next tool call, `open_advice` the same until it is followed or
    replaced. `history` is what the gates know of the lane.
    """

    name: str
    started: events.LaneStarted | None = None
    step: int = 0
    sampled: events.Candidates | None = None
    selected: events.Selection | None = None
    pending: events.Assistant | None = None
    pending_noted: bool = False
    open_call: events.ToolStarted | None = None
    tail: tuple[TailStep, ...] = ()
    tail_size: int = 0
    epoch_step: int = 0
    notes: Notes = Notes()
    epoch_notes: Notes = Notes()
    bytes_per_token: float = BYTES_PER_TOKEN
    parse_errors: int = 0
    broken: int = 0
    acted: bool = False
    failing: Failing | None = None
    status: str = "IN_PROGRESS"
    status_reason: str = ""
    answer: events.Answer | None = None
    answer_turn: events.Assistant | None = None
    feedback: events.VerifierToAgent | None = None
    epoch_feedback: Text = ""
    epoch_constraints: tuple[Constraint, ...] = ()
    advice: events.VerifierGradient | None = None
    open_advice: events.VerifierGradient | None = None
    ended: events.LaneEnded | None = None
    history: History = History()

    @property
    def high_bytes(self) -> int:
        """The prompt size in bytes at which an epoch ends."""
        if self.started is None:
            return 0
        limit = int(self.started.high_tokens * self.bytes_per_token)
        return min(limit, self.started.max_bytes) if self.started.max_bytes else limit

    @property
    def head_bytes(self) -> int:
        """The size of what begins each prompt: system and task message."""
        if self.started is None:
            return 0
        return text_size(self.started.system) + text_size(self.started.task_message)

    @property
    def notes_bytes(self) -> int:
        """How much of a prompt its notes may be: two fifths, less beside a long task."""
        return max(0, min(self.high_bytes * 40 // 100, self.high_bytes * 80 // 100 - self.head_bytes))


class EngineUse(msgspec.Struct, frozen=True, kw_only=True):
    """A search engine in this run: how many requests it got, and until when (Unix time) it is left alone."""

    calls: int = 0
    rests_until: float = 0.0


class Round(msgspec.Struct, frozen=True, kw_only=True):
    """One round of verification, as far as it has come. `decision` ends it, `advice` is what was told then.

    `model_calls`, tokens and `tool_calls` are those of the verifier and its check lanes.
    """

    started: events.VerifierStarted
    derivations: tuple[events.Derivation, ...] = ()
    versions: events.VerifierVersions | None = None
    audit: events.Audit | None = None
    questions: events.VerifierQuestions | None = None
    checks: tuple[events.VerifierCheck, ...] = ()
    labels: tuple[events.VerifierLabels, ...] = ()
    probes: tuple[events.VerifierProbe, ...] = ()
    score: events.VerifierScore | None = None
    decision: events.Verifier | None = None
    advice: events.VerifierGradient | None = None
    model_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    tool_calls: int = 0

    @property
    def word(self) -> str:
        """How strongly the round proved its answer (`vera.headline`), '' while it has not decided."""
        made = self.decision
        return headline(made.result, made.reason, self.started.rule) if made else ""


class RunState:
    """The fold of a log. `apply` takes the records in order; everything else only looks."""

    __slots__ = (
        "_answers",
        "_attestations",
        "_calls",
        "_chosen",
        "_earlier_exams",
        "_ended",
        "_engines",
        "_evidence",
        "_exams",
        "_execution",
        "_extracts",
        "_lanes",
        "_last_ts",
        "_mode",
        "_model_server",
        "_moves",
        "_outputs",
        "_parent",
        "_requested",
        "_rounds",
        "_seq",
        "_session",
        "_shown",
        "_spent",
        "_started_ts",
        "_sub_answers",
        "_sub_questions",
        "_task",
        "_written",
    )

    def __init__(self, records: Iterable[Event] = ()) -> None:
        self._seq = 0
        self._started_ts = 0.0
        self._last_ts = 0.0
        self._calls = 0
        self._moves = 0
        self._session: events.Session | None = None
        self._task: events.Task | None = None
        self._parent: events.ParentSession | None = None
        self._ended: events.RunEnd | None = None
        self._evidence: dict[str, events.Evidence] = {}
        self._lanes: dict[str, LaneState] = {}
        self._model_server: events.ModelServer | None = None
        self._outputs: dict[str, events.Output] = {}
        self._answers: dict[int, events.Answer] = {}
        self._attestations: dict[str, events.AttestationReceived] = {}
        self._execution: events.ExecutionVerdict | None = None
        self._rounds: dict[int, Round] = {}
        self._engines: dict[str, EngineUse] = {}
        self._shown: dict[str, tuple[tuple[int, int], ...]] = {}
        self._extracts: events.Answer | None = None
        self._written: events.Answer | None = None
        self._mode: events.Mode | None = None
        self._sub_questions: events.SubQuestions | None = None
        self._sub_answers: dict[int, events.SubAnswer] = {}
        self._chosen: events.AnswerChosen | None = None
        self._requested: events.VerifyRequested | None = None
        self._exams: list[events.VerifierExam] = []
        self._earlier_exams = 0
        self._spent = SpentFold()
        for record in records:
            self.apply(record)

    @property
    def seq(self) -> int:
        """The number of the last record that was folded in."""
        return self._seq

    @property
    def started_ts(self) -> float:
        return self._started_ts

    @property
    def last_ts(self) -> float:
        return self._last_ts

    @property
    def session(self) -> events.Session | None:
        return self._session

    @property
    def task(self) -> events.Task | None:
        return self._task

    @property
    def parent(self) -> events.ParentSession | None:
        """The session that this one goes on from."""
        return self._parent

    @property
    def ended(self) -> events.RunEnd | None:
        return self._ended

    @property
    def evidence(self) -> Mapping[str, events.Evidence]:
        """Every evidence of the session by id, in order."""
        return MappingProxyType(self._evidence)

    @property
    def lanes(self) -> Mapping[str, LaneState]:
        return MappingProxyType(self._lanes)

    @property
    def outputs(self) -> tuple[events.Output, ...]:
        """The files that were handed in with an answer, each path once."""
        return tuple(self._outputs.values())

    @property
    def answers(self) -> Mapping[int, events.Answer]:
        """Every answer of the main lane, of those that answered in its place, and of those of sub-questions,
        by the number of its record."""
        return MappingProxyType(self._answers)

    @property
    def extracts(self) -> events.Answer | None:
        """The built-in model's answer in place of one that the main lane did not reach; None once that lane
        has taken another turn."""
        return self._extracts

    @property
    def written(self) -> events.Answer | None:
        """What the model wrote from the lines that were found, in guided mode; None as for `extracts`."""
        return self._written

    @property
    def mode(self) -> events.Mode | None:
        """Who acts, and why; None for a run whose model takes turns as ever."""
        return self._mode

    @property
    def answer(self) -> events.Answer | None:
        """What the run answers so far; of a report the sub-question of now."""
        return self._written or self._extracts or self.lane(self.acting).answer

    @property
    def sub_questions(self) -> events.SubQuestions | None:
        """What a report answers; None for a run that answers its task at once."""
        return self._sub_questions

    @property
    def sub_answers(self) -> Mapping[int, events.SubAnswer]:
        """What came of the sub-questions that are done, by number from 1."""
        return MappingProxyType(self._sub_answers)

    @property
    def part(self) -> int:
        """The number of the sub-question that is to be answered now; 0 for none."""
        asked = self._sub_questions.questions if self._sub_questions else ()
        return next((each for each in range(1, len(asked) + 1) if each not in self._sub_answers), 0)

    @property
    def acting(self) -> str:
        """The lane that answers now: that of a sub-question, else the main one."""
        return f"{PART}{self.part}" if self.part else MAIN

    @property
    def question(self) -> Text | None:
        """What is to be answered now: a sub-question, else the task; None before there is one."""
        if self._sub_questions is not None and self.part:
            return self._sub_questions.questions[self.part - 1]
        return self._task.task if self._task else None

    @property
    def histories(self) -> tuple[History, ...]:
        """What the gates know of the main lane, and of those that answer sub-questions."""
        return tuple(lane.history for name, lane in self._lanes.items() if answers_itself(name))

    @property
    def steps(self) -> int:
        """Turns of the main lane, and of those that answer sub-questions."""
        return sum(lane.step for name, lane in self._lanes.items() if answers_itself(name))

    @property
    def attestations(self) -> Mapping[str, events.AttestationReceived]:
        """The verdicts that a lane that may not search has asked for, by the handle that it cites."""
        return MappingProxyType(self._attestations)

    @property
    def execution(self) -> events.ExecutionVerdict | None:
        """The verdict on the last answer of an execution."""
        return self._execution

    @property
    def rounds(self) -> Mapping[int, Round]:
        """The rounds of verification by number, from 1."""
        return MappingProxyType(self._rounds)

    @property
    def holds_work(self) -> bool:
        """Whether there is more than a beginning: evidence, an answer, an exam or a step."""
        steps = any(lane.step for lane in self._lanes.values())
        return bool(steps or self._evidence or self._answers or self._exams)

    @property
    def own_exams(self) -> tuple[events.VerifierExam, ...]:
        """Those of them since the run was begun or resumed last: what was in the log before may be of
        someone else."""
        return tuple(self._exams[self._earlier_exams :])

    @property
    def exams(self) -> tuple[events.VerifierExam, ...]:
        """The exams that the models sat which were to judge, in order."""
        return tuple(self._exams)

    @property
    def engines(self) -> Mapping[str, EngineUse]:
        """What each search engine was asked."""
        return MappingProxyType(self._engines)

    @property
    def searches(self) -> Mapping[str, int]:
        """How many requests each search engine got."""
        return {name: use.calls for name, use in self._engines.items()}

    def engine(self, name: str) -> EngineUse:
        """What this engine was asked; nothing for one that never was."""
        return self._engines.get(name) or EngineUse()

    @property
    def requested(self) -> events.VerifyRequested | None:
        """The request to verify a thesis, which a session has that was made for one."""
        return self._requested

    @property
    def chosen(self) -> events.AnswerChosen | None:
        """The best verified answer, once it was chosen."""
        return self._chosen

    @property
    def status(self) -> str:
        """Where the run stands, in one of `vera.headline.STATUSES`.

        A run that has decided gets the word of its chosen round: an older VERA wrote VERIFIED also for what
        was only quoted.
        """
        lane = self.lane("main")
        if lane.status in UNDER_WAY or self._chosen is None or self._execution is not None:
            return lane.status
        done = self._rounds.get(self._chosen.round)
        return (done.word if done else "") or lane.status

    @property
    def spent(self) -> RunUsage:
        """What the run has spent up to the last record."""
        return self._spent.now(sum(self.searches.values()))

    @property
    def model_server(self) -> events.ModelServer | None:
        """The model that was asked last."""
        return self._model_server

    def lane(self, name: str) -> LaneState:
        """The lane's state; an empty one before its first event."""
        return self._lanes.get(name) or LaneState(name=name)

    def next_evidence_id(self) -> str:
        """Session-wide: ids of two lanes never meet."""
        return f"ev_{len(self._evidence) + 1:04d}"

    def next_call_id(self) -> str:
        return f"call_{self._calls + 1:04d}"

    def next_attestation_handle(self) -> str:
        return f"att_{len(self._attestations) + 1:04d}"

    def next_move_id(self) -> str:
        return f"mv_{self._moves + 1:04d}"

    def was_seen(self, sha256: str, first: int, last: int) -> bool:
        """Whether each of these lines of these bytes was shown before; of an empty text, whether it was."""
        shown = self._shown.get(sha256)
        return shown is not None and (
            last < first or any(start <= first and last <= end for start, end in shown)
        )

    def apply(self, event: Event) -> None:
        """Fold one record in."""
        self._seq = event.seq
        self._spent.apply(event)
        self._last_ts = event.ts
        match event:
            case events.Session():
                self._session = event
                self._started_ts = event.ts
            case events.Task():
                self._task = event
            case events.ParentSession():
                self._parent = self._parent or event
            case events.RunEnd():
                self._ended = event
            case events.Resumed():
                self._ended = self._chosen = None
                self._earlier_exams = len(self._exams)
                self._lanes = {name: _reopened(lane) for name, lane in self._lanes.items()}
                self._sub_answers = {
                    number: each for number, each in self._sub_answers.items() if not each.unfinished
                }
            case events.SubQuestions():
                self._sub_questions = event
            case events.SubAnswer():
                self._sub_answers[event.number] = event
                self._extracts = self._written = None
            case events.ModelServer():
                self._model_server = event
            case events.Output():
                self._outputs[event.path] = event
            case events.Evidence():
                self._evidence[event.id] = event
                before = self._shown.get(event.text.sha256, ())
                self._shown[event.text.sha256] = _with_lines(before, event.first, event.last)
            case events.ToolStarted():
                self._calls += 1
            case events.Move():
                self._moves += 1
            case events.Answer() if answers_itself(event.lane):
                self._answers[event.seq] = event
            case events.Answer() if event.lane.startswith(EXTRACTS):
                self._answers[event.seq] = self._extracts = event
            case events.Answer() if event.lane.startswith(GUIDED):
                self._answers[event.seq] = self._written = event
            case events.Assistant() if answers_itself(event.lane):
                self._extracts = self._written = None
            case events.Mode():
                self._mode = event
            case events.VerifyRequested():
                self._requested = event
            case events.VerifierExam():
                self._exams.append(event)
            case events.AttestationReceived():
                self._attestations[event.handle] = event
            case events.ExecutionVerdict():
                self._execution = event
            case events.AnswerChosen():
                self._chosen = event if self._is_decided(event) else None
            case events.Search():
                self._engines[event.engine] = _used(self.engine(event.engine), event)
            case events.VerifierStarted():
                self._rounds[event.round] = Round(started=event)
            case _:
                self._fold_round(event)
        if event.lane:
            self._lanes[event.lane] = fold_lane(self.lane(event.lane), event)

    def _is_decided(self, chosen: events.AnswerChosen) -> bool:
        """Whether the choice names a round with a verdict and an answer: a log may come from anyone."""
        known = self._rounds.get(chosen.round)
        return known is not None and known.decision is not None and chosen.answer_seq in self._answers

    def _fold_round(self, event: Event) -> None:
        """What happened in a round of verification, and what it cost. One that never began is passed over."""
        match event:
            case events.Model() if event.scope.startswith("verifier") and self._rounds:
                number, last = next(reversed(self._rounds.items()))
                self._rounds[number] = msgspec.structs.replace(
                    last,
                    model_calls=last.model_calls + 1,
                    prompt_tokens=last.prompt_tokens + (event.prompt_tokens or 0),
                    completion_tokens=last.completion_tokens + (event.completion_tokens or 0),
                )
            case events.Tool() if event.lane.startswith("check-") and self._rounds:
                number, last = next(reversed(self._rounds.items()))
                self._rounds[number] = msgspec.structs.replace(last, tool_calls=last.tool_calls + 1)
            case (
                events.Derivation()
                | events.VerifierVersions()
                | events.Audit()
                | events.VerifierQuestions()
                | events.VerifierCheck()
                | events.VerifierLabels()
                | events.VerifierProbe()
                | events.VerifierScore()
                | events.Verifier()
                | events.VerifierGradient()
            ) if event.round in self._rounds:
                self._rounds[event.round] = _fold_into(self._rounds[event.round], event)
            case _:
                pass


def _fold_into(done: Round, event: Event) -> Round:
    """The round after one of its records. Pure."""
    replace = msgspec.structs.replace
    match event:
        case events.Derivation():
            return replace(done, derivations=(*done.derivations, event))
        case events.VerifierVersions():
            return replace(done, versions=event)
        case events.Audit():
            return replace(done, audit=event)
        case events.VerifierQuestions():
            return replace(done, questions=event)
        case events.VerifierCheck():
            return replace(done, checks=(*done.checks, event))
        case events.VerifierLabels():
            return replace(done, labels=(*done.labels, event))
        case events.VerifierProbe():
            return replace(done, probes=(*done.probes, event))
        case events.VerifierScore():
            return replace(done, score=event)
        case events.Verifier():
            return replace(done, decision=event)
        case events.VerifierGradient():
            return replace(done, advice=event)
        case _:
            return done


def _with_lines(shown: tuple[tuple[int, int], ...], first: int, last: int) -> tuple[tuple[int, int], ...]:
    """The ranges of lines that were shown, with one more, in order; those that touch are one. Pure."""
    apart = []
    for start, end in shown if first <= last else ():
        if end < first - 1 or last + 1 < start:
            apart.append((start, end))
        else:
            first, last = min(first, start), max(last, end)
    return tuple(sorted([*apart, (first, last)])) if first <= last else shown


def _used(before: EngineUse, search: events.Search) -> EngineUse:
    """The use of an engine after one more search. Pure."""
    until = search.started + search.seconds + search.rest_s if search.rest_s else before.rests_until
    return EngineUse(calls=before.calls + search.attempts, rests_until=max(before.rests_until, until))


def _reopened(lane: LaneState) -> LaneState:
    """A lane that ended without an answer goes on when its run is resumed, unless a gate ended it."""
    if lane.ended is None or lane.answer is not None or lane.history.ending is not None:
        return lane
    return msgspec.structs.replace(
        lane,
        ended=None,
        parse_errors=0,
        broken=0,
        failing=None,
        status="IN_PROGRESS",
        status_reason="resumed",
        history=lane.history.reopened(lane.step),
    )


def fold_lane(lane: LaneState, event: Event) -> LaneState:
    """The lane after one of its events. Pure."""
    folded = _fold_lane(lane, event)
    unresolved, in_call = folded.status in OPEN, lane.open_call is not None
    history = fold_history(folded.history, event, unresolved=unresolved, in_call=in_call)
    if history is folded.history:
        return folded
    if folded.step == 0:
        return msgspec.structs.replace(folded, history=history, epoch_constraints=history.constraints)
    return msgspec.structs.replace(folded, history=history)


def _is_choice(selection: events.Selection, sampled: events.Candidates | None) -> bool:
    """Whether it names a candidate of the step that waits: a log may come from anyone."""
    return (
        sampled is not None
        and selection.step == sampled.step
        and 0 <= selection.selected < len(sampled.candidates)
    )


def _fold_lane(lane: LaneState, event: Event) -> LaneState:
    replace = msgspec.structs.replace
    match event:
        case events.LaneStarted():
            return replace(lane, started=event)
        case events.Model():
            return _calibrate(lane, event)
        case events.Candidates():
            return replace(lane, sampled=event, selected=None)
        case events.Selection() if _is_choice(event, lane.sampled):
            return replace(lane, selected=event)
        case events.Assistant():
            return replace(
                lane, pending=event, pending_noted=False, step=event.step, sampled=None, selected=None
            )
        case events.Note():
            notes = lane.notes.add(NoteLine(text=event.text))
            return replace(lane, notes=notes, pending_noted=lane.pending_noted or event.by == "model")
        case events.Evidence():
            line = NoteLine(text=f"{event.id} · {event.summary}", evidence=event.id)
            return replace(lane, notes=lane.notes.add(line))
        case events.ToolStarted():
            return replace(lane, open_call=event)
        case events.PolicyChoice():
            return replace(lane, advice=None, open_advice=None if event.matched else lane.open_advice)
        case events.Tool():
            failing = _failing(lane, event)
            return replace(
                _close_step(lane, event.obs),
                open_call=None,
                parse_errors=0,
                broken=0,
                acted=True,
                failing=failing,
            )
        case events.PolicyParseError():
            closed = _close_step(lane, event.reply, broken=True) if event.reply else lane
            return replace(closed, parse_errors=event.count, broken=lane.broken + bool(event.reply))
        case events.Policy() if event.reply:
            return replace(_close_step(lane, event.reply), parse_errors=0, broken=0, acted=True)
        case events.ContextEpoch():
            return _begin_epoch(lane, event)
        case events.Status():
            return replace(lane, status=event.status, status_reason=event.reason)
        case events.Answer():
            return replace(
                lane, answer=event, answer_turn=lane.pending, pending=None, open_call=None, open_advice=None
            )
        case events.VerifierGradient():
            return replace(lane, advice=event, open_advice=event)
        case events.VerifierToAgent():
            return _take_back(lane, event)
        case events.LaneEnded():
            return replace(lane, ended=event, pending=None, sampled=None, selected=None)
        case _:
            return lane


def _failing(lane: LaneState, event: events.Tool) -> Failing | None:
    """The failure that the lane repeats, after the result of its open call."""
    started, before = lane.open_call, lane.failing
    if started is None or event.outcome != "failed":
        return None
    now = Failing(tool=started.tool, args=started.args, error_type=event.error_type)
    if before is None or msgspec.structs.replace(before, count=1) != now:
        return now
    return msgspec.structs.replace(now, count=before.count + 1)


def _calibrate(lane: LaneState, event: events.Model) -> LaneState:
    """The lane's bytes per token never grow: a prompt is rather too short than cut by the server."""
    if not event.prompt_tokens or not event.input_bytes:
        return lane
    ratio = max(0.5, min(lane.bytes_per_token, event.input_bytes / event.prompt_tokens))
    return msgspec.structs.replace(lane, bytes_per_token=ratio)


def _take_back(lane: LaneState, event: events.VerifierToAgent) -> LaneState:
    """The answer was refused: its turn and the feedback become a step of the tail, and the lane goes on."""
    reopened = msgspec.structs.replace(
        lane,
        pending=lane.answer_turn,
        answer=None,
        answer_turn=None,
        ended=None,
        parse_errors=0,
        broken=0,
        acted=True,
        feedback=event,
        # An answer that no turn gave has no step that the feedback could close: it is in the head.
        epoch_feedback="" if lane.answer_turn else event.content,
    )
    return _close_step(reopened, event.content)


def _close_step(lane: LaneState, reply: Text, *, broken: bool = False) -> LaneState:
    """The pending turn and its reply become a step of the tail. One that broke the format is shown in part,
    and without its calls."""
    turn = lane.pending
    if turn is None:
        return lane
    shown = lane.started.broken_shown if broken and lane.started else 0
    calls = () if shown else turn.tool_calls
    said = TailMessage(role="assistant", content=turn.content, tool_calls=calls, shown=shown)
    if calls:
        ids = [str(call.get("id", "")) for call in calls]
        replies = (
            TailMessage(role="tool", content=reply, tool_call_id=ids[0]),
            *(TailMessage(role="tool", content=NOT_RUN, tool_call_id=other) for other in ids[1:]),
        )
    else:
        replies = (TailMessage(role="user", content=reply),)
    messages = (said, *replies)
    size = sum(message.size for message in messages)
    step = TailStep(step=turn.step, messages=messages, size=size)
    return msgspec.structs.replace(
        lane, pending=None, tail=(*lane.tail, step), tail_size=lane.tail_size + size
    )


def _begin_epoch(lane: LaneState, event: events.ContextEpoch) -> LaneState:
    """Keep the newest step, and older ones while they are few and small enough; show the notes of now."""
    notes = min(lane.notes.size + 3 * len(lane.notes.lines), lane.notes_bytes)
    pinned = lane.feedback.content if lane.feedback else ""
    constraints = lane.history.constraints
    standing = text_size(pinned) + sum(text_size(each.text) for each in constraints)
    budget = lane.high_bytes * 60 // 100 - lane.head_bytes - notes - standing
    kept = lane.tail[-1:]
    size = sum(step.size for step in kept)
    for step in reversed(lane.tail[:-1]):
        if len(kept) >= event.tail_steps or size + step.size > budget:
            break
        kept = (step, *kept)
        size += step.size
    if lane.feedback and any(step.step == lane.feedback.step for step in kept):
        pinned = ""
    return msgspec.structs.replace(
        lane,
        tail=kept,
        tail_size=size,
        epoch_step=event.step,
        epoch_notes=lane.notes,
        epoch_feedback=pinned,
        epoch_constraints=constraints,
    )
