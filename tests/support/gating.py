"""A lane of a few lines between real gates and a real fold.

What a turn wants is asked, written down and folded as the loop does it. What a tool brings, a test says.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from vera import events
from vera.evidence.official import official_names
from vera.gates.kernel import (
    Action,
    FinalAnswer,
    Gate,
    Refuse,
    Rules,
    State,
    ToolCall,
    ask,
    refusal,
)
from vera.gates.registry import GATES
from vera.lane.policy import GateRunner, Policy
from vera.lane.prompts import Prompts
from vera.protocol import Turn
from vera.protocol.turn import Action as TurnAction
from vera.state import LaneState, RunState

LANE = "main"
WEB = ("shell", "read", "note", "submit", "fetch", "web_search", "brave_search", "brave_news", "search")
QUESTION = "Has Apple launched a car yet?"

PROMPTS = Prompts()
E = TypeVar("E", bound=events.Event)


class Memory:
    """A session's log without its files."""

    def __init__(self, records: Sequence[events.Event] = ()) -> None:
        self.state = RunState(records)
        self.records: list[events.Event] = list(records)
        self.ts = self.state.last_ts or 1_700_000_000.0

    def emit(self, event: E, *, lane: str = "") -> E:
        stamped = msgspec.structs.replace(event, seq=self.state.seq + 1, ts=self.ts, lane=lane)
        self.records.append(stamped)
        self.state.apply(stamped)
        return stamped

    def text(self, text: str) -> events.Text:
        return text

    def load(self, text: events.Text) -> str:
        return str(text)


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What a call brings. `fresh` lines are new, `found` ones can be cited, `visits` are hosts that a command
    reaches for, `wrote` final-like files; `rest_s` rests Brave after a search."""

    failure: str = ""
    fresh: bool = True
    found: bool = True
    visits: tuple[str, ...] = ()
    wrote: tuple[str, ...] = ()
    low_signal: str = ""
    rest_s: float = 0.0


BROUGHT = Outcome()
NOTHING_NEW = Outcome(fresh=False, found=False)
LEADS = Outcome(found=False)
FAILED = Outcome(failure="http_404", fresh=False, found=False)


class Trial:
    """A lane at work under `rules`. Each method is one turn, and says what the gates answered, '' for yes."""

    def __init__(
        self,
        rules: Rules = Rules(),  # noqa: B008 (it is frozen)
        *,
        negative: bool = False,
        gates: tuple[Gate, ...] = GATES,
        records: Sequence[events.Event] = (),
    ) -> None:
        self.rules, self.gates = rules, gates
        self.memory = Memory(records)
        policy = Policy(gates=gates, rules=rules)
        self.gate_runner = GateRunner(self.memory, LANE, policy, PROMPTS)  # type: ignore[arg-type] # all it uses of a Session
        if not records:
            self.emit(events.QuestionForm(negative=negative, form="test", reason="for the test"))
            self.gate_runner.begin()

    def copy(self) -> "Trial":
        """The same lane, to try something out on."""
        return Trial(self.rules, gates=self.gates, records=self.memory.records)

    @property
    def lane(self) -> LaneState:
        return self.memory.state.lane(LANE)

    @property
    def state(self) -> State:
        return State(lane=self.lane, engines=self.memory.state.engines)

    def emit(self, event: E) -> E:
        return self.memory.emit(event, lane=LANE)

    def spoken(self, kind: type[events.Policy], effect: str = "") -> list[events.Policy]:
        """The records of one gate."""
        return [
            each
            for each in self.memory.records
            if isinstance(each, kind) and (not effect or each.effect == effect)
        ]

    def open_constraints(self) -> dict[str, str]:
        return {each.key: each.text for each in self.lane.history.constraints}

    def goes_on(self) -> bool:
        """Whether another turn may be asked for."""
        return self.gate_runner.before_turn()

    def refused(
        self, tool: str, args: Mapping[str, Any], *, noted: bool = False
    ) -> tuple[Gate, Refuse] | None:
        """Which gate would refuse a call in the next turn, without making it."""
        return self._refused(self._call(tool, args, noted))

    def answer_refused(self) -> tuple[Gate, Refuse] | None:
        return self._refused(FinalAnswer(ts=self.memory.ts, step=self.lane.step + 1))

    def call(
        self,
        tool: str,
        args: Mapping[str, Any],
        outcome: Outcome = BROUGHT,
        *,
        note: str = "",
        status: str = "IN_PROGRESS",
    ) -> str:
        step = self._turn(TurnAction(tool=tool, args=dict(args)), note=note, status=status)
        aim = self.gate_runner.aim(tool, args)
        refused = self.gate_runner.call(step, self.memory.ts, tool, args, aim, noted=bool(note))
        if not refused and tool == "submit":
            refused = self.gate_runner.answer(step, self.memory.ts)
        if refused:
            return refused
        call = self.memory.state.next_call_id()
        self.emit(events.ToolStarted(step=step, call=call, tool=tool, args=""))
        if tool == "submit" and not outcome.failure:
            self.emit(events.Answer(step=step, text="submitted", submitted=str(args.get("path", ""))))
            return ""
        if tool == "note":
            self.emit(events.Note(step=step, text="learnt"))
        brought = self._brought(step, call, tool, args, outcome)
        move = self.gate_runner.move(
            step,
            tool,
            args,
            aim,
            outcome="failed" if outcome.failure else "ok",
            failure_type=outcome.failure,
            call=call,
            brought=brought,
            wrote=outcome.wrote,
        )
        self.gate_runner.after_call(move, brought[0][0].id if brought else "")
        low = [(each.source, each.low_signal) for each, _ in brought if each.low_signal]
        said = self.gate_runner.observed(step, tool, low)
        result = "failed" if outcome.failure else "ok"
        self.emit(events.Tool(step=step, call=call, tool=tool, outcome=result, obs="\n".join(said)))
        return ""

    def fetch(self, url: str, outcome: Outcome = BROUGHT, *, note: str = "") -> str:
        return self.call("fetch", {"url": url}, outcome, note=note)

    def search(
        self, query: str, outcome: Outcome = LEADS, *, note: str = "", tool: str = "web_search"
    ) -> str:
        return self.call(tool, {"q" if tool.startswith("brave") else "query": query}, outcome, note=note)

    def shell(self, cmd: str, outcome: Outcome = NOTHING_NEW, *, note: str = "") -> str:
        return self.call("shell", {"cmd": cmd}, outcome, note=note)

    def note(self) -> str:
        return self.call("note", {"text": "learnt"}, NOTHING_NEW)

    def answer(self, *, status: str = "IN_PROGRESS") -> str:
        """Give the answer; when it is taken, a verifier refuses it at `taken_back`."""
        step = self._turn(TurnAction(final="No."), status=status)
        refused = self.gate_runner.answer(step, self.memory.ts)
        if not refused:
            self.emit(events.Answer(step=step, text="No."))
        return refused

    def taken_back(self, *, advice: tuple[events.NextAction, ...] = ()) -> None:
        """The verifier refuses the answer that was taken."""
        step = self.lane.step
        self.emit(
            events.VerifierGradient(
                round=1, step=step, missing=(), wrong=(), next_actions=advice, stop_when="it is cited"
            )
        )
        self.emit(events.VerifierToAgent(round=1, step=step, content="not enough"))
        self.emit(events.Status(step=step, status="UNRESOLVED", reason="not verified"))

    def broken(self, *, cut: bool = False) -> None:
        """A turn that breaks the format."""
        count = self.lane.parse_errors + 1
        self.memory.ts += 1
        step = self.lane.step + 1
        self.emit(events.Assistant(step=step, content="?", finish_reason="length" if cut else "stop"))
        self.gate_runner.broken(step, self.memory.ts, cut=cut)
        self.emit(events.PolicyParseError(step=step, count=count, reply="again"))

    def _turn(self, action: TurnAction, *, note: str = "", status: str = "IN_PROGRESS") -> int:
        self.memory.ts += 1
        step = self.lane.step + 1
        self.emit(events.Assistant(step=step, content="turn"))
        if note:
            self.emit(events.Note(step=step, text=note))
        self.gate_runner.turn(step, Turn(thought="", action=action, note=note or None, status_update=status))
        return step

    def _call(self, tool: str, args: Mapping[str, Any], noted: bool) -> ToolCall:
        aim = self.gate_runner.aim(tool, args)
        return ToolCall(
            ts=self.memory.ts + 1, step=self.lane.step + 1, tool=tool, args=args, aim=aim, noted=noted
        )

    def _refused(self, action: Action) -> tuple[Gate, Refuse] | None:
        spoken = ask(self.gates, self.state, action, self.rules)
        refused = refusal(spoken)
        return (spoken[-1].gate, refused) if refused else None

    def _brought(
        self, step: int, call: str, tool: str, args: Mapping[str, Any], outcome: Outcome
    ) -> list[tuple[events.Evidence, bool]]:
        """The evidence of a call, and the records that come with it."""
        if tool in ("web_search", "brave_search", "brave_news"):
            engine = "brave" if tool.startswith("brave") else "wikipedia"
            self.emit(
                events.Search(
                    engine=engine,
                    kind="web",
                    query="",
                    outcome="failed" if outcome.failure else "ok",
                    results=0,
                    attempts=1,
                    started=self.memory.ts,
                    rest_s=outcome.rest_s if engine == "brave" else 0.0,
                )
            )
        sources = [str(args.get("url", ""))] if tool == "fetch" else []
        if tool == "shell":
            sources = [f"https://{host}/" for host in outcome.visits if not self.gate_runner.connection(host)]
        if outcome.failure or not (sources or outcome.fresh):
            return []
        kept = [
            self.emit(
                events.Evidence(
                    id=self.memory.state.next_evidence_id(),
                    call=call,
                    step=step,
                    tool=tool,
                    tier="captured" if source or tool == "search" else "observed",
                    source=source or tool,
                    summary="",
                    text=events.Blob(f"{self.memory.state.seq:064x}", 1),
                    lines=5,
                    first=1,
                    last=5,
                    lead=not outcome.found,
                    low_signal=outcome.low_signal,
                )
            )
            for source in sources or [""]
        ]
        return [(each, outcome.fresh) for each in kept]


def rules_for(question: str = QUESTION, **changes: Any) -> Rules:
    """The rules of a web task about a question, with every default; a note is never due unless asked for."""
    return msgspec.structs.replace(
        Rules(
            tools=WEB,
            brave=False,
            web_task=True,
            can_render=True,
            names=official_names(question),
            subject=question.rstrip("?"),
            notes_interval=10_000,
        ),
        **changes,
    )
