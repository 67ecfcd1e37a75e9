"""Between a lane and its gates: asks them, and writes down what they say and what follows from it.

What the gates see is the folded log.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import msgspec

from vera import events
from vera.evidence import moves
from vera.evidence.hosts import host_of
from vera.evidence.queries import is_package_index, query_of_url
from vera.gates import contract
from vera.gates.kernel import (
    Action,
    BrokenTurn,
    Connection,
    End,
    FinalAnswer,
    Gate,
    GateVerdict,
    NextTurn,
    Nudge,
    Observed,
    Refuse,
    Rules,
    State,
    ToolCall,
    ask,
)
from vera.gates.registry import CHECK_GATES
from vera.lane.prompts import Prompts
from vera.protocol import Turn
from vera.sanitize import one_line
from vera.session import Session
from vera.state import LaneState

DRAFT_SAYS = 3
"""Lines that a command which writes a final-like file may print without their being a new result."""

URL_SHOWN = 2000

NOTES = "/work/notes.md"
"""What the agent wrote down itself: reading it brings nothing new."""


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """The gates of a lane, in order, and their rules."""

    gates: tuple[Gate, ...] = CHECK_GATES
    rules: Rules = Rules()


class GateRunner:
    """Asks the gates of one lane. What it returns is for the model; '' or nothing means: go on.

    Beside the log it knows only what the call of now is about and the domains that it was let through to,
    until its move is written down.
    """

    def __init__(self, session: Session, lane: str, policy: Policy, prompts: Prompts) -> None:
        self._session = session
        self._lane = lane
        self._gates = policy.gates
        self._rules = policy.rules
        self._prompts = prompts
        self._visited: dict[str, None] = {}
        self._called: moves.CallIntent | None = None

    @property
    def _state(self) -> LaneState:
        return self._session.state.lane(self._lane)

    def aim(self, tool: str, args: Mapping[str, Any]) -> moves.CallIntent:
        """What a call is about."""
        return moves.aim(
            tool,
            args,
            names=self._rules.names,
            official_domains=self._rules.official_domains,
            families=self._state.history.families,
        )

    def begin(self) -> None:
        """What stands open before the first turn."""
        self._settle(0, self._demanded())

    def before_turn(self) -> bool:
        """Whether the lane may ask for another turn; if not, `History.ending` says why."""
        spoken = self._ask(NextTurn(ts=self._session.state.last_ts, step=self._state.step + 1))
        for each in spoken:
            self._emit(self._record(each, self._state.step))
        return not any(isinstance(each.verdict, End) for each in spoken)

    def turn(self, step: int, turn: Turn) -> list[str]:
        """Take down what a turn says of itself: the evidence it rests on, and how far it is. What is said to
        it beside whatever comes of its action."""
        known = self._session.state.evidence
        open_now = contract.unknown_ids([one_line(name, 40) for name in turn.evidence_used], known)
        said = self._settle(step, {contract.EVIDENCE_USED: open_now})
        if turn.action.final is None:  # how an answer stands is for its verification to say
            self._change(step, contract.after_turn(self._gate_state(), turn.status_update))
        return said

    def call(
        self,
        step: int,
        ts: float,
        tool: str,
        args: Mapping[str, Any],
        aim: moves.CallIntent,
        *,
        noted: bool,
        said: Sequence[str] = (),
    ) -> str:
        """What is said, after `said`, in place of a call that may not run. It closes the step."""
        self._visited.clear()
        self._called = aim
        action = ToolCall(ts=ts, step=step, tool=tool, args=args, aim=aim, noted=noted)
        spoken = self._ask(action)
        if not any(isinstance(each.verdict, Refuse) for each in spoken):
            return ""
        if self._state.history.blocked_step != step:  # else the run was killed behind this record
            self._emit(self.move(step, tool, args, aim, outcome="blocked", failure_type=spoken[-1].gate.name))
        return self._send_back(step, tool, spoken, said)

    def answer(self, step: int, ts: float, said: Sequence[str] = ()) -> str:
        """What is said, after `said`, in place of an answer that is not taken yet. It closes the step."""
        spoken = self._ask(FinalAnswer(ts=ts, step=step))
        return self._send_back(step, "", spoken, said) if spoken else ""

    def would_call(self, step: int, tool: str, args: Mapping[str, Any], *, noted: bool) -> tuple[str, str]:
        """The gate that would refuse this call, and what it would say; ('', '') for none. Nothing is written
        down."""
        ts = self._session.state.last_ts
        action = ToolCall(ts=ts, step=step, tool=tool, args=args, aim=self.aim(tool, args), noted=noted)
        spoken = self._ask(action)
        if not spoken or not isinstance(spoken[-1].verdict, Refuse):
            return "", ""
        return spoken[-1].gate.name, _words(spoken[-1].verdict)

    def would_answer(self, step: int) -> tuple[str, str]:
        """The same of an answer, which a nudge sends back too."""
        spoken = self._ask(FinalAnswer(ts=self._session.state.last_ts, step=step))
        return (spoken[-1].gate.name, _words(spoken[-1].verdict)) if spoken else ("", "")

    def broken(self, step: int, ts: float, *, cut: bool) -> list[str]:
        """What is said beside the errors of a broken turn."""
        return self._nudges(step, "", self._ask(BrokenTurn(ts=ts, step=step, cut=cut)))

    def observed(self, step: int, tool: str, low_signal: Sequence[tuple[str, str]] = ()) -> list[str]:
        """What is said under the observation of a call that is over: nudges, and constraints that came and
        went."""
        action = Observed(ts=self._session.state.last_ts, step=step, tool=tool, low_signal=tuple(low_signal))
        spoken = self._ask(action)
        lasting = {
            each.gate.name: _words(each.verdict)
            for each in spoken
            if isinstance(each.verdict, Nudge) and each.verdict.constraint
        }
        momentary = [each for each in spoken if each.gate.name not in lasting]
        newly = {name: words for name, words in lasting.items() if not self._is_open(name)}
        known = lasting.keys() - newly.keys()
        gone = {
            gate.name: "" for gate in self._gates if gate.name not in lasting and self._is_open(gate.name)
        }
        for each in spoken:
            if each.gate.name not in known:
                self._emit(self._record(each, step, tool))
        return [
            *(f"POLICY {each.gate.name}: {_words(each.verdict)}" for each in momentary),
            *self._settle(step, {**self._demanded(), **newly, **gone}),
        ]

    def connection(self, host: str, url: str = "") -> str:
        """Why a command in the box may not reach a host now, and what to do instead; '' when it may.

        The address of a page inside TLS is read in the command.
        """
        aim = self.aim("fetch", {"url": url or self._named(host) or f"https://{host}/"})
        return self._connection(host, aim, asks=True)

    def _named(self, host: str) -> str:
        """The first address of this host with a query that the call of now names; '' for none."""
        asking = _asking(self._called) if self._called else ()
        return next((each.url for each in asking if host_of(each.url) == host), "")

    def _asked_at(self, aim: moves.CallIntent) -> str:
        """The domain that a command asked its query; '' when it was not connected there."""
        domain = next((each.domain for each in _asking(aim)), "")
        return domain if domain in self._visited else ""

    def _connection(self, host: str, aim: moves.CallIntent, *, asks: bool) -> str:
        if not aim.targets or is_package_index(host):
            return ""
        state, step, targets = self._session.state, self._state.step, aim.targets
        action = Connection(ts=state.last_ts, step=step, host=host, target=_target(targets[0]))
        if asks:
            action = msgspec.structs.replace(action, query=aim.query, family=aim.family)
        spoken = self._ask(action)
        if not spoken or not isinstance(spoken[-1].verdict, Refuse):
            if len(self._visited) < moves.MAX_TARGETS:
                self._visited[targets[0].domain] = None
            return ""
        said = _words(spoken[-1].verdict)
        if said not in self._state.history.turned_away:
            self._emit(self._record(spoken[-1], step, "shell"))
        return said

    def connect(self, url: str) -> str:
        """The same, of the box's command `fetch URL`."""
        host = urlsplit(url if "://" in url else f"https://{url}").hostname or ""
        return self._connection(host, self.aim("fetch", {"url": url or f"https://{host}/"}), asks=False)

    def move(
        self,
        step: int,
        tool: str,
        args: Mapping[str, Any],
        aim: moves.CallIntent,
        *,
        outcome: str,
        failure_type: str = "",
        call: str = "",
        brought: Sequence[tuple[events.Evidence, bool]] = (),
        wrote: Sequence[str] = (),
    ) -> events.Move:
        """The record of a call as a move. `brought` is the evidence of the call, and whether its lines were
        new."""
        news = self._news(brought)
        in_box = tool == "shell"
        return events.Move(
            id=self._session.state.next_move_id(),
            step=step,
            tool=tool,
            call=call,
            cmd=self._session.text(str(args.get("cmd", ""))) if in_box else "",
            targets=tuple(_target(each) for each in aim.targets),
            query=aim.query,
            query_family=aim.family,
            query_vector=aim.vector if aim.query or aim.targets else "",
            move_type=moves.move_type(aim, self._state.history.moves),
            outcome=outcome,
            failure_type=failure_type,
            reached=self._reached([each for each, _ in brought if _has_content(each)]),
            visited=tuple(self._visited) if in_box else (),
            asked_at=self._asked_at(aim) if in_box else "",
            fresh=any(not (wrote and evidence.lines <= DRAFT_SAYS) for evidence in news),
            found=any(map(_is_capture, news)),
            wrote=tuple(wrote),
        )

    def _news(self, brought: Sequence[tuple[events.Evidence, bool]]) -> list[events.Evidence]:
        """The evidence that brings something new. What a command prints that was let through to no host is
        our own refusal."""
        cut_off = bool(self._state.history.turned_away) and not self._visited
        return [
            evidence
            for evidence, new in brought
            if new
            and _says_something(evidence)
            and evidence.source != NOTES
            and not (cut_off and evidence.tier == "observed")
        ]

    def after_call(self, move: events.Move, evidence: str) -> None:
        """Write the move down, and the status that follows from it."""
        self._emit(move)
        self._change(move.step, contract.after_call(self._gate_state(), move, evidence, self._rules))

    def _reached(self, pages: Sequence[events.Evidence]) -> tuple[events.Target, ...]:
        aims = (self.aim("fetch", {"url": each.source}) for each in pages)
        return tuple(_target(each.targets[0]) for each in aims if each.targets)

    def _gate_state(self) -> State:
        state = self._session.state
        return State(lane=self._state, engines=state.engines, attestations=state.attestations)

    def _ask(self, action: Action) -> tuple[GateVerdict, ...]:
        return ask(self._gates, self._gate_state(), action, self._rules)

    def _demanded(self) -> Mapping[str, str]:
        return contract.negative_constraints(self._gate_state(), self._rules)

    def _is_open(self, key: str) -> bool:
        return any(each.key == key for each in self._state.history.constraints)

    def _settle(self, step: int, wanted: Mapping[str, str]) -> list[str]:
        """Open and close constraints: '' closes one. What changed, in words."""
        open_now = {each.key: each.text for each in self._state.history.constraints}
        said = []
        for key, text in wanted.items():
            if text and open_now.get(key) != text:
                self._emit(events.ConstraintAdded(step=step, key=key, text=text))
                said.append(f"OPEN CONSTRAINT {key}: {text}")
            elif not text and key in open_now:
                self._emit(events.ConstraintResolved(step=step, key=key, reason="met"))
                said.append(f"CONSTRAINT MET {key}")
        return said

    def _change(self, step: int, status: tuple[str, str] | None) -> None:
        if status is not None:
            self._emit(events.Status(step=step, status=status[0], reason=one_line(status[1], 300)))

    def _nudges(self, step: int, tool: str, spoken: Sequence[GateVerdict]) -> list[str]:
        """What they say. One that is written down already is of a run that was killed behind it."""
        for each in spoken:
            if self._state.history.last_spoke(each.gate.key) != step:
                self._emit(self._record(each, step, tool))
        return [f"POLICY {each.gate.name}: {_words(each.verdict)}" for each in spoken]

    def _send_back(self, step: int, tool: str, spoken: Sequence[GateVerdict], said: Sequence[str]) -> str:
        """Tell the model why its turn did not count, which closes the step."""
        *before, last = spoken
        lines = self._nudges(step, tool, before)
        reply = self._prompts.render(
            "policy",
            gate=last.gate.name,
            ran=not isinstance(last.verdict, Refuse),
            said=_words(last.verdict),
            lines=[*said, *lines, *self._settle(step, self._demanded())],
        )
        self._emit(self._record(last, step, tool, reply=self._session.text(reply)))
        return reply

    def _record(
        self, spoken: GateVerdict, step: int, tool: str = "", reply: events.Text = ""
    ) -> events.Policy:
        verdict = spoken.verdict
        effect = {Refuse: "refuse", Nudge: "nudge", End: "end"}[type(verdict)]
        record = spoken.gate.event(
            step=step,
            effect=effect,
            reason=verdict.reason,
            way_forward="" if isinstance(verdict, End) else verdict.way_forward,
            tool=tool,
            subject=verdict.facts.subject,
            count=verdict.facts.count,
            limit=verdict.facts.limit,
            reply=reply,
        )
        if isinstance(record, events.PolicyGate):
            return msgspec.structs.replace(record, gate=spoken.gate.called)
        return record

    def _emit(self, event: events.Event) -> None:
        self._session.emit(event, lane=self._lane)


def _target(target: moves.Target) -> events.Target:
    return events.Target(
        url=one_line(target.url, URL_SHOWN),
        domain=target.domain,
        source_class=target.source_class,
        official=target.official,
        reason=target.reason,
    )


def _asking(aim: moves.CallIntent) -> tuple[moves.Target, ...]:
    """The addresses that carry a query."""
    return tuple(each for each in aim.targets if query_of_url(each.url))


def _words(verdict: Refuse | Nudge | End) -> str:
    way = "" if isinstance(verdict, End) else verdict.way_forward
    return f"{verdict.reason} {way}".strip()


def _says_something(evidence: events.Evidence) -> bool:
    """Whether there is anything to learn from it: an empty output, an error page and a page without its text
    bring nothing."""
    return evidence.lines > 0 and not evidence.low_signal and (evidence.http_status or 200) < 400


def _is_capture(evidence: events.Evidence) -> bool:
    """Whether the host took it and it can be cited."""
    return evidence.tier == "captured" and not evidence.lead


def _has_content(evidence: events.Evidence) -> bool:
    """Whether a page of the web answered with its content."""
    return (
        _says_something(evidence)
        and _is_capture(evidence)
        and evidence.source.lower().startswith(("http://", "https://"))
        and 200 <= (evidence.http_status or 200) < 300
    )
