"""A run's log as a trace of OpenTelemetry: a fold that gives each span when it ends.

    invoke_agent vera                      the run
      step N                               one turn of its lane
        chat MODEL                         a model call
        invoke_agent selector              a choice among candidates (links to their calls; its judge below)
        execute_tool TOOL                  a tool call
          retrieval ENGINE                 a search engine that was asked
        gate NAME                          a policy that spoke
      exam verifier                        a model takes the exam of a judge (its calls below)
      invoke_agent verifier                a round of verification
        plan verifier                      the questions it asks (the model call below)
        execute_tool shell                 a command that was run again
        invoke_agent check                 a lane that looks one of them up, with separate steps
        chat MODEL                         the judge

Pure. Ids are made from the hash of the log's first record and the number of the record that began a span, so
that the same log always gives the same ids. At any time it holds only what is open.
"""

import msgspec

from vera import events
from vera.events import Text
from vera.export import otel_attributes as say
from vera.export.otel_attributes import Known, Message, Read
from vera.export.otel_openinference import also
from vera.export.otel_span import (
    Attributes,
    Kind,
    Span,
    SpanEvent,
    Value,
    cut,
    nanoseconds,
    span_id_of,
    trace_id_of,
)
from vera.prices import UNIT, PriceList, price_list
from vera.usage import counted

MAIN = "main"
MAX_LINKS = 64
STAGES = {"verifier_decompose": "plan", "verifier_exam": "exam"}
"""Scope of model calls → what the span above them is called."""

INTERRUPTED = "interrupted"


class _Open(msgspec.Struct, kw_only=True):
    """A span that has begun. `last_ts` is the time of the newest record that belongs to it."""

    span_id: bytes
    parent_id: bytes
    name: str
    start_ns: int
    last_ts: float
    known: dict[str, Value | None]


class _Lane(msgspec.Struct, kw_only=True):
    """What is open in a lane. `parent` is the span that its steps hang on: that of its agent or its round.

    `heard` is what the next prompt will have more than the one before; `asked` is that of step `asked_step`.
    """

    parent: bytes
    own: _Open | None = None
    takes_steps: bool = False
    step: _Open | None = None
    number: int = 0
    calls: list[bytes] = msgspec.field(default_factory=list)
    selecting: _Open | None = None
    sampled: int = 0
    plan: _Open | None = None
    tool: _Open | None = None
    started: events.ToolStarted | None = None
    model: events.Model | None = None
    heard: list[Message] = msgspec.field(default_factory=list)
    asked: tuple[Message, ...] = ()
    asked_step: int = -1
    last_ts: float = 0.0

    @property
    def inner(self) -> bytes:
        """The span that a record of the lane belongs to now."""
        return self.step.span_id if self.step else self.parent

    @property
    def open(self) -> int:
        """How many spans of the lane have begun and not ended."""
        begun = (self.tool, self.selecting, self.plan, self.step, self.own, self.model)
        return sum(each is not None for each in begun)


class Trace:
    """The spans of one log. Records come in order, each once; `finish` follows the last.

    `log` is the hash of the log's first record and `session` a name for people. `read` gives the words of a
    text; without it spans carry no content.
    """

    def __init__(self, log: str, session: str = "", read: Read | None = None) -> None:
        self.trace_id = trace_id_of(log)
        self.ended = False
        self._with_content = read is not None
        self._read: Read = read or _nothing
        self._lanes: dict[str, _Lane] = {}
        self._round: bytes = b""
        self._server: Known = {}
        self._model = self._verifier_model = ""
        self._prices: PriceList | None = None
        self._last_ts = 0.0
        root = self._id(1, "run")
        known = dict(say.agent(say.AGENT, self.trace_id.hex()))
        known |= {"vera.session": session}
        self._root = _Open(
            span_id=root,
            parent_id=b"",
            name=f"invoke_agent {say.AGENT}",
            start_ns=-1,
            last_ts=0.0,
            known=known,
        )

    @property
    def open(self) -> int:
        """How many spans have begun and not ended; none before the first record."""
        if self._root.start_ns < 0:
            return 0
        return 1 + sum(lane.open for lane in self._lanes.values())

    def apply(self, record: events.Record) -> list[Span]:
        """The spans that ended with this record."""
        if self._root.start_ns < 0:
            self._root.start_ns = nanoseconds(record.ts)
        self._last_ts = max(self._last_ts, record.ts)
        if not record.lane:
            return self._run(record)
        lane = self._lane(record.lane)
        done = [] if isinstance(record, events.ModelIo) else self._unanswered(lane)
        begins_another = isinstance(record, events.Model | events.ContextEpoch) and record.step != lane.number
        if lane.step and not begins_another:
            lane.step.last_ts = record.ts
        done += self._in_lane(lane, record)
        lane.last_ts = record.ts
        return done

    def finish(self, *, interrupted: bool = True) -> list[Span]:
        """What is still open, ended at the last record, and at last the run itself.

        Nothing more may follow. With `interrupted`, and unless the log has an end, it ends in an error.
        """
        if self._root.start_ns < 0:
            return []
        done = [span for lane in self._lanes.values() for span in self._abandon(lane)]
        self._lanes.clear()
        failed = interrupted and not self.ended
        error: Known = {"error.type": INTERRUPTED} if failed else {}
        return [*done, self._close(self._root, self._last_ts, error)]

    def _run(self, record: events.Record) -> list[Span]:
        """A record of the run as a whole."""
        known = self._root.known
        match record:
            case events.Session():
                known["gen_ai.agent.version"] = record.version
                self._prices = price_list(record.settings)
            case events.Task():
                known["gen_ai.input.messages"] = say.message("user", self._read(record.task))
            case events.Resumed():
                return self._go_on()
            case events.RunEnd():
                self.ended = True
                known.update(say.run_end(record, self._read))
            case _:
                pass
        return []

    def _go_on(self) -> list[Span]:
        """The run has no end yet, and the lanes of its checks begin again."""
        self.ended = False
        for name in ("vera.status", "vera.exit_code", "vera.reason", "error.type"):
            self._root.known.pop(name, None)
        checks = [name for name, lane in self._lanes.items() if lane.takes_steps and name != MAIN]
        return [span for name in checks for span in self._abandon(self._lanes.pop(name))]

    def _in_lane(self, lane: _Lane, record: events.Record) -> list[Span]:
        match record:
            case events.ModelServer():
                self._server, self._model = say.server(record), record.model
                self._root.known |= {**self._server, "gen_ai.request.model": record.model}
            case events.LaneStarted():
                return self._begin_lane(lane, record)
            case events.Model():
                done = self._begin_call(lane, record)
                lane.model = record
                if record.step != lane.asked_step:
                    lane.asked, lane.asked_step, lane.heard = tuple(lane.heard), record.step, []
                return done
            case events.Assistant():
                self._hear(lane, "assistant", record.content)
            case events.ModelIo():
                return self._answered(lane, record)
            case events.Candidates():
                before, lane.sampled = lane.selecting, len(record.candidates)
                lane.selecting = self._agent(record, say.SELECTOR, lane.inner)
                return self._cut_off(before)
            case events.Selection():
                return self._selected(lane, record)
            case events.Policy() | events.PolicyNotesGuard():
                if isinstance(record, events.Policy) and record.reply:
                    self._hear(lane, "user", record.reply)
                return [self._gate(lane, record)]
            case events.ToolStarted():
                before, lane.started = lane.tool, record
                lane.tool = self._begin(record, f"execute_tool {say.word(record.tool)}", lane.inner)
                return self._cut_off(before)
            case events.Tool():
                self._hear(lane, "user", record.obs)
                return [self._tool(lane, record)]
            case events.Search():
                return [self._search(lane, record)]
            case events.Answer():
                if record.lane == MAIN:
                    answer = say.message("assistant", self._read(record.text))
                    self._root.known["gen_ai.output.messages"] = answer
                return self._end_step(lane)
            case events.LaneEnded():
                return self._end_lane(lane, record)
            case _:
                return self._verifying(lane, record)
        return []

    def _verifying(self, lane: _Lane, record: events.Record) -> list[Span]:
        match record:
            case events.VerifierStarted():
                done = self._abandon(lane)
                lane.own = self._agent(record, say.VERIFIER, self._root.span_id)
                lane.own.known |= {"vera.verify.round": record.round, "vera.verify.rule": record.rule}
                lane.own.known |= {
                    "gen_ai.request.model": record.model,
                    "openinference.span.kind": "EVALUATOR",
                }
                lane.parent = self._round = lane.own.span_id
                self._verifier_model = record.model
                return done
            case events.VerifierQuestions() if lane.plan:
                plan, lane.plan = lane.plan, None
                return [self._close(plan, record.ts, {"vera.verify.questions": len(record.questions)})]
            case events.VerifierExam() if lane.plan:
                exam, lane.plan = lane.plan, None
                return [self._close(exam, record.ts, say.exam(record))]
            case events.Derivation():
                again = self._begin(record, "execute_tool shell", lane.parent, start=lane.last_ts)
                return [self._close(again, record.ts, say.derivation(record, self._read))]
            case events.Verifier() if lane.own:
                return self._decided(lane, lane.own, record)
            case _:
                return []

    def _lane(self, name: str) -> _Lane:
        if (lane := self._lanes.get(name)) is None:
            parent = self._round if name.startswith("check-") and self._round else self._root.span_id
            lane = self._lanes[name] = _Lane(parent=parent, last_ts=self._last_ts)
        return lane

    def _begin_lane(self, lane: _Lane, record: events.LaneStarted) -> list[Span]:
        parent = lane.own.parent_id if lane.own else lane.parent
        done = self._abandon(lane)
        lane.takes_steps = True
        lane.heard = []
        self._hear(lane, "user", record.task_message)
        system = say.instructions(self._read(record.system))
        if record.lane == MAIN:
            self._root.known |= {"gen_ai.system_instructions": system, "vera.purpose": record.purpose}
            return done
        lane.own = self._agent(record, say.word(record.purpose), parent)
        lane.own.known["gen_ai.system_instructions"] = system
        lane.own.known["vera.lane"] = record.lane
        lane.parent = lane.own.span_id
        return done

    def _end_lane(self, lane: _Lane, record: events.LaneEnded) -> list[Span]:
        own, lane.own = lane.own, None
        if own is None:
            return self._end_step(lane)
        del self._lanes[record.lane]
        failed = record.reason in ("failed", INTERRUPTED)
        ended: Known = {"vera.lane.end": record.reason, "error.type": record.reason if failed else None}
        return [*self._abandon(lane), self._close(own, record.ts, ended)]

    def _begin_call(self, lane: _Lane, call: events.Model) -> list[Span]:
        """Open what a model call is the first record of: a step, or the verifier's plan or exam."""
        done: list[Span] = []
        begun = max(0.0, call.ts - max(0.0, call.latency_s))
        if (stage := STAGES.get(call.scope)) and not lane.takes_steps:
            if lane.plan is None:
                lane.plan = self._begin(call, f"{stage} {say.VERIFIER}", lane.parent, start=begun)
                lane.plan.known["gen_ai.agent.name"] = say.VERIFIER
                lane.plan.known["gen_ai.operation.name"] = "plan" if stage == "plan" else None
            first = max(self._root.start_ns, nanoseconds(begun))  # of calls at once the first may end last
            lane.plan.start_ns = min(lane.plan.start_ns, first)
        elif lane.takes_steps and call.step > 0 and (lane.step is None or lane.number != call.step):
            done = self._end_step(lane)
            lane.step = self._begin(call, f"step {call.step}", lane.parent, start=begun)
            lane.step.known |= say.step(call.step)
            lane.number = call.step
        return done

    def _end_step(self, lane: _Lane) -> list[Span]:
        step, lane.step, lane.calls = lane.step, None, []
        return [self._close(step, step.last_ts)] if step else []

    def _unanswered(self, lane: _Lane) -> list[Span]:
        """The call before, when its answer is not the next record of its lane."""
        call, lane.model = lane.model, None
        return [self._call(lane, call, None)] if call else []

    def _answered(self, lane: _Lane, said: events.ModelIo) -> list[Span]:
        call, lane.model = lane.model, None
        return [self._call(lane, call, said)] if call else []

    def _call(self, lane: _Lane, call: events.Model, said: events.ModelIo | None) -> Span:
        judged = call.scope.startswith("verifier") and bool(self._verifier_model)
        model = say.model_of(said) or (self._verifier_model if judged else self._model)
        asked: Known = {"gen_ai.request.model": model}
        # Of another model than the run's the log does not say where it is served, only by which interface.
        here: Known = self._server if model == self._model else {"gen_ai.provider.name": "openai"}
        within = lane.selecting or (lane.plan if not lane.takes_steps else None)
        parent = within.span_id if within else lane.inner
        span = self._begin(call, f"chat {model}".strip(), parent, start=call.ts - max(0.0, call.latency_s))
        if lane.selecting is None and len(lane.calls) < MAX_LINKS:
            lane.calls.append(span.span_id)
        return self._close(
            span,
            call.ts,
            {**here, **asked, **say.chat(call, said, self._read, lane.asked), **self._cost(call)},
            kind=Kind.CLIENT,
            message=self._read(call.error),
        )

    def _hear(self, lane: _Lane, role: str, text: Text) -> None:
        """What the next prompt of a lane has more than the one before; nothing is kept where no content is
        sent, and of a lane that is not asked any more only the newest."""
        if self._with_content and lane.takes_steps:
            lane.heard = [*lane.heard[-say.MAX_MESSAGES :], (role, text)]

    def _cost(self, call: events.Model) -> Known:
        """What a call cost by the prices in the log, where there are any and its server counted."""
        if self._prices is None or call.prompt_tokens is None:
            return {}
        tokens = counted(call.prompt_tokens, call.cached_tokens, call.completion_tokens, call.input_bytes)
        return {"gen_ai.usage.cost": self._prices.of_scope(call.scope).of(tokens) / UNIT}

    def _selected(self, lane: _Lane, record: events.Selection) -> list[Span]:
        choice, lane.selecting = lane.selecting, None
        if choice is None:
            choice = self._agent(record, say.SELECTOR, lane.inner, start=record.ts - max(0.0, record.seconds))
        known = say.selection(record, lane.sampled)
        return [self._close(choice, record.ts, known, links=tuple(lane.calls))]

    def _gate(self, lane: _Lane, record: events.Policy | events.PolicyNotesGuard) -> Span:
        name = events.gate_name(record).removeprefix("policy_")
        spoke = self._begin(record, f"gate {name}", lane.inner)
        return self._close(spoke, record.ts, say.gate(name, record, self._read))

    def _tool(self, lane: _Lane, record: events.Tool) -> Span:
        call, started = lane.tool, lane.started
        lane.tool = lane.started = None
        if call is None or started is None or started.call != record.call:
            name, begun = f"execute_tool {say.word(record.tool)}", record.ts - max(0.0, record.seconds)
            call, started = self._begin(record, name, lane.inner, start=begun), None
        return self._close(call, record.ts, say.tool(record, started, self._read))

    def _search(self, lane: _Lane, record: events.Search) -> Span:
        parent = lane.tool.span_id if lane.tool else lane.inner
        start = record.started or record.ts
        name = f"retrieval {say.word(record.engine)}"
        asked = self._begin(record, name, parent, start=start)
        end = start + max(0.0, record.seconds)
        return self._close(asked, end, say.retrieval(record, self._read), kind=Kind.CLIENT)

    def _decided(self, lane: _Lane, round_: _Open, record: events.Verifier) -> list[Span]:
        lane.own = None
        done = self._abandon(lane)
        verdict = say.evaluation(record, self._read)
        judged = SpanEvent(
            name=say.EVALUATION, at_ns=nanoseconds(record.ts), attributes=self._bounded(verdict)
        )
        known = {**verdict, **say.verification(record)}
        done.append(self._close(round_, record.ts, known, happened=(judged,)))
        del self._lanes[record.lane]
        return done

    def _abandon(self, lane: _Lane) -> list[Span]:
        """End what is open in a lane that goes no further. All but its step was interrupted by that."""
        done = self._unanswered(lane)
        last = lane.last_ts
        for each in (lane.tool, lane.selecting, lane.plan):
            done += self._cut_off(each, last)
        done += self._end_step(lane)
        done += self._cut_off(lane.own, last)
        lane.tool = lane.started = lane.selecting = lane.plan = lane.own = None
        return done

    def _cut_off(self, span: _Open | None, last: float = 0.0) -> list[Span]:
        """The span, if there is one, ended without a result, with the last that is known of it."""
        if span is None:
            return []
        return [self._close(span, max(span.last_ts, last), {"error.type": INTERRUPTED})]

    def _agent(self, record: events.Event, name: str, parent: bytes, start: float | None = None) -> _Open:
        began = self._begin(record, f"invoke_agent {name}", parent, start=start)
        began.known |= say.agent(name, self.trace_id.hex())
        return began

    def _begin(self, record: events.Event, name: str, parent: bytes, start: float | None = None) -> _Open:
        """A span begun by a record, at its time unless another `start` is known; never before the run."""
        return _Open(
            span_id=self._id(record.seq, name.partition(" ")[0]),
            parent_id=parent,
            name=name,
            start_ns=max(self._root.start_ns, nanoseconds(record.ts if start is None else start)),
            last_ts=record.ts,
            known={},
        )

    def _close(
        self,
        span: _Open,
        end: float,
        known: Known | None = None,
        *,
        kind: Kind = Kind.INTERNAL,
        message: str = "",
        happened: tuple[SpanEvent, ...] = (),
        links: tuple[bytes, ...] = (),
    ) -> Span:
        """The span, ended at Unix time `end`. It failed when an `error.type` is known."""
        attributes = also(self._bounded({**span.known, **(known or {})}), self.trace_id.hex())
        return Span(
            trace_id=self.trace_id,
            span_id=span.span_id,
            parent_id=span.parent_id,
            name=cut(span.name),
            kind=kind,
            start_ns=span.start_ns,
            end_ns=max(span.start_ns, nanoseconds(end)),
            attributes=attributes,
            failed="error.type" in attributes,
            message=cut(message),
            events=happened,
            links=links,
        )

    def _bounded(self, known: Known) -> Attributes:
        return say.bounded(known, self._with_content)

    def _id(self, seq: int, role: str) -> bytes:
        return span_id_of(self.trace_id, seq, role)


def _nothing(text: Text) -> str:
    """No content is read where none was asked for."""
    return ""
