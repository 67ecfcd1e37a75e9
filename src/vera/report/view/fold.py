"""The page of a run, folded from its log: every part of it is cheap at any time, however long the log is."""

from collections import deque
from collections.abc import Iterator, Mapping

import msgspec

from vera import events
from vera.prices import money, price_list
from vera.report.headings import Headed
from vera.report.search_summary import reached_in
from vera.report.view.attestation import attestation_view
from vera.report.view.attested import Verdict, verdict_of
from vera.report.view.bars import Bars
from vera.report.view.budgets import LANE, budgets_of
from vera.report.view.changes import BY_TYPE, EACH, PARTS
from vera.report.view.choices import Choices
from vera.report.view.cited_sources import cited_sources
from vera.report.view.claims import claims_of_page
from vera.report.view.coverage import coverage_of
from vera.report.view.current import carried, decision_shown, last_answer, shown_round
from vera.report.view.files import file_views
from vera.report.view.gates import Gates
from vera.report.view.header import Counts, header_of
from vera.report.view.model import (
    AttestationView,
    Bar,
    ChoiceView,
    ClaimView,
    Coverage,
    EventLine,
    FileView,
    GateView,
    Header,
    RoundView,
    RunPage,
    ScorePoint,
    Timeline,
)
from vera.report.view.parent import parent_view
from vera.report.view.recent_events import NewestLines
from vera.report.view.rounds import ANSWER_SHOWN, round_views
from vera.report.view.versioned_cache import VersionedCache
from vera.report.view.words import Load, call_line, cut, one_line, read
from vera.state import RunState
from vera.store import Store

EVENTS_SHOWN = 200
"""Lines of the event log that a page begins with."""

MAX_SCORES = 200
MAX_OPEN = 40
"""Calls and rounds under way that are remembered: there are as many as lanes."""

MAX_CONSTRAINTS = 100
LARGE_CHOICE = 1 << 20
"""Bytes of a record of candidates that is not shown: ours keep long texts in the store."""


class ViewFold:
    """The fold. `apply` takes the records in order, each with the byte offset behind it, as
    `vera.session.Reader` gives them; the state and store that the parts take are those of the same log.

    `load` gives the string of a text. Whatever is missing or altered is said in words: no part raises.
    """

    def __init__(self, load: Load) -> None:
        self._load = load
        self.offset = 0
        """The byte behind the last record: the cursor of a page."""
        self._changed = dict.fromkeys(PARTS, 0)
        self._counts = Counts()
        self._newest = NewestLines(load)
        self._bars = Bars()
        self._open_calls: dict[str, Bar] = {}
        self._open_round: tuple[events.VerifierStarted, int] | None = None
        self._scores: deque[ScorePoint] = deque(maxlen=MAX_SCORES)
        self._choices = Choices(load)
        self._gates = Gates()
        self._first_ts = self._last_ts = 0.0
        self._made = VersionedCache()
        self._opened = VersionedCache(8)

    @property
    def changed(self) -> Mapping[str, int]:
        """By part of the page (`vera.report.view.changes.PARTS`) a number that grows when it changes."""
        return {**self._changed, **dict.fromkeys(EACH, self._counts.records)}

    def apply(self, record: events.Record, offset: int) -> None:
        """Fold one record in; `offset` is the byte behind its line."""
        begin, self.offset = self.offset, offset
        if not self._counts.records:
            self._first_ts = record.ts
        self._counts.records += 1
        self._last_ts = record.ts
        self._newest.add(record, begin, offset - begin)
        for part in BY_TYPE.get(type(record), ()):
            self._changed[part] += 1
        self._count(record, begin, offset - begin)

    def page(self, state: RunState, store: Store, *, session: str, alive: bool, now: float) -> RunPage:
        """All of the page. `alive`: a process works on the run; `now` is Unix time."""
        answer = last_answer(state)
        lines = self.event_lines()
        return RunPage(
            offset=self.offset,
            header=self.header(state, session=session, alive=alive),
            timeline=self.timeline(),
            claims=self.claims(state, store),
            coverage=self.coverage(state, store),
            rounds=self.rounds(state, store),
            choices=self.choices(),
            choices_left_out=self._choices.left_out,
            gates=self.gates(),
            constraints=self.constraints(state),
            budgets=self.budgets(state, alive=alive, now=now),
            files=self.files(state, store),
            attestation=self.attestation(state, store),
            answer=cut(_headed(answer, self._load), ANSWER_SHOWN) if answer else "",
            thesis=state.requested is not None,
            parent=parent_view(state, self._load),
            sources=cited_sources(state),
            events=lines,
            events_left_out=self._counts.records - len(lines),
        )

    def header(self, state: RunState, *, session: str, alive: bool) -> Header:
        """Where the run stands."""
        asked, call = state.task, self._counts.last_call
        return header_of(
            state,
            self._counts,
            session=session,
            task=self._made.once(("task",), asked, lambda: read(asked.task, self._load) if asked else ""),
            alive=alive,
            cost=self._cost(state),
            last_call=self._made.once(
                ("call",), call, lambda: call_line(call.tool, call.args, self._load) if call else ""
            ),
        )

    def timeline(self) -> Timeline:
        """From the first record to the last; what is under way reaches to the last."""
        return Timeline(
            start=self._first_ts,
            end=max(self._first_ts, self._last_ts),
            bars=(*self._bars, *self._under_way()),
            scores=tuple(self._scores),
        )

    def event_lines(self, after: int = 0, limit: int = EVENTS_SHOWN) -> tuple[EventLine, ...]:
        """The newest lines of records that begin at byte `after` or behind it, the oldest first."""
        return self._newest.lines(after, limit)

    def choices(self) -> tuple[ChoiceView, ...]:
        """The newest steps for which several turns were sampled."""
        return self._choices.views()

    def gates(self) -> tuple[GateView, ...]:
        """The gates that fired."""
        return self._gates.views()

    def constraints(self, state: RunState) -> tuple[tuple[str, str], ...]:
        """What stands open: (key, what it says)."""
        opened = [each for past in state.histories for each in past.constraints][:MAX_CONSTRAINTS]
        return tuple((one_line(each.key), one_line(each.text, 600)) for each in opened)

    def budgets(self, state: RunState, *, alive: bool, now: float) -> tuple[tuple[str, str, str], ...]:
        """(name, used, limit), in words."""
        idle = max(0.0, now - state.last_ts) if alive and state.ended is None else 0.0
        return budgets_of(state, self._cost(state), idle=idle)

    def files(self, state: RunState, store: Store) -> tuple[FileView, ...]:
        """The files that were handed in."""
        version = self._changed["files"]
        return self._made.once(("files", store.root), version, lambda: file_views(state.outputs, store))

    def claims(self, state: RunState, store: Store, number: int = 0) -> tuple[ClaimView, ...]:
        """The claims with their cards of round `number`; 0 for those that the page shows."""
        if not number and carried(state) is None:
            number = _number(state)
        if number and number not in state.rounds:
            return ()
        return self._made.once(
            ("claims", number, store.root),
            self._version(state, number),
            lambda: claims_of_page(state, store, self._load, number, lambda name: self._open(name, store)),
        )

    def rounds(self, state: RunState, store: Store) -> tuple[RoundView, ...]:
        """The rounds of verification; their claims come without cards, which `claims` has."""
        return self._made.once(
            ("rounds", store.root),
            self._changed["rounds"],
            lambda: round_views(
                state,
                self._load,
                lambda number: self._verdict(state, store, number),
                lambda number: self.claims(state, store, number),
            ),
        )

    def coverage(self, state: RunState, store: Store) -> Coverage:
        """Claims by classes of source, of the round that the page shows."""

        def make() -> Coverage:
            covered = self._verdict(state, store, _number(state)).coverage
            omissions = covered.omissions if covered else ()
            return coverage_of(self.claims(state, store), reached_in(state), omissions)

        return self._made.once(("coverage", store.root), self._changed["coverage"], make)

    def attestation(self, state: RunState, store: Store) -> AttestationView | None:
        """The signed verdict of the chosen answer, else the newest there is; None before there is one."""
        decision = decision_shown(state)
        if decision is None:
            return None
        number, done = decision.round, state.rounds[decision.round]
        return self._made.once(
            ("attestation", number, store.root),
            self._version(state, number),
            lambda: attestation_view(done, self._verdict(state, store, number), store),
        )

    def _cost(self, state: RunState) -> str:
        """What the run has cost, '' where no price is known."""
        asked = state.session
        prices = self._made.once(("prices",), asked, lambda: price_list(asked.settings) if asked else None)
        return money(prices.of(state.spent)) if prices else ""

    def _version(self, state: RunState, number: int) -> tuple[str, int]:
        """What is shown of a decided round never changes."""
        done = state.rounds.get(number)
        if done is None or done.decision is None:
            return "open", self._changed["claims"]
        return "decided", done.decision.seq

    def _verdict(self, state: RunState, store: Store, number: int) -> Verdict:
        """The verdict of a round; an empty one while there is none."""
        done = state.rounds.get(number)
        if done is None or done.decision is None:
            return Verdict()
        return self._open(done.decision.attestation, store)

    def _open(self, name: str, store: Store) -> Verdict:
        return self._opened.once((name, store.root), None, lambda: verdict_of(name, store))

    def _count(self, record: events.Record, begin: int, size: int) -> None:
        """What the counts, the timeline, the choices and the gates take of a record."""
        match record:
            case events.Model():
                self._counts.model_error = record.error
                self._counts.step = max(self._counts.step, record.step if record.lane == LANE else 0)
                self._add_bar(
                    "model", record, record.latency_s, _asked(record), begin, failed=bool(record.error)
                )
            case events.ToolStarted():
                self._starts(record, begin)
            case events.Tool():
                self._ends(record, begin)
            case events.Policy() | events.PolicyNotesGuard():
                stopped = isinstance(record, events.Policy) and record.effect != "nudge"
                self._add_bar("gate", record, 0.0, events.gate_name(record), begin, failed=stopped)
                self._gates.add(record)
            case events.LaneStarted():
                self._choices.add(record)
            case events.Candidates() | events.Selection() if size <= LARGE_CHOICE:
                self._choices.add(record)
            case events.VerifierStarted():
                self._open_round = (record, begin)
            case events.Verifier():
                self._decides(record, begin)
            case events.LaneEnded():
                self._open_calls.pop(record.lane, None)
            case events.Resumed() | events.RunEnd():
                self._open_calls.clear()
                self._open_round = None
            case _:
                pass

    def _starts(self, call: events.ToolStarted, begin: int) -> None:
        self._open_calls.pop(call.lane, None)
        if len(self._open_calls) >= MAX_OPEN:
            del self._open_calls[next(iter(self._open_calls))]
        label = f"{one_line(call.tool, 100)}, under way"
        self._open_calls[call.lane] = Bar(row="tool", start=call.ts, end=call.ts, label=label, offset=begin)
        self._counts.last_call = call

    def _ends(self, result: events.Tool, begin: int) -> None:
        self._open_calls.pop(result.lane, None)
        self._counts.tool_calls += 1
        self._counts.model_error = ""
        self._counts.tool_errors += result.outcome == "failed"
        label, failed = result.tool[:100], result.outcome != "ok"
        self._add_bar("tool", result, result.seconds, label, begin, failed=failed)

    def _decides(self, decision: events.Verifier, begin: int) -> None:
        started, self._open_round = self._open_round, None
        seconds = decision.seconds
        if started is not None and started[0].round == decision.round:
            seconds, begin = decision.ts - started[0].ts, started[1]
        self._add_bar("verify", decision, seconds, f"round {decision.round}", begin, failed=False)
        self._scores.append(
            ScorePoint(
                ts=decision.ts, round=decision.round, score=decision.score, result=one_line(decision.result)
            )
        )

    def _add_bar(
        self, row: str, record: events.Record, seconds: float, label: str, begin: int, *, failed: bool
    ) -> None:
        """A bar that ends with its record; none begins before the log."""
        start = max(self._first_ts, record.ts - max(0.0, seconds))
        step = getattr(record, "step", 0)
        self._bars.add(
            Bar(
                row=row,
                start=start,
                end=record.ts,
                label=label,
                failed=failed,
                offset=begin,
                step=step,
                lane=record.lane,
            )
        )

    def _under_way(self) -> Iterator[Bar]:
        """Calls without a result and a round without a verdict."""
        end = self._last_ts
        for call in self._open_calls.values():
            yield msgspec.structs.replace(call, end=max(call.start, end))
        if self._open_round is not None:
            started, begin = self._open_round
            label = f"round {started.round}, under way"
            yield Bar(row="verify", start=min(started.ts, end), end=end, label=label, offset=begin)


def _number(state: RunState) -> int:
    """The number of the round that the page shows, 0 for none."""
    done = shown_round(state)
    return done.started.round if done else 0


def _asked(call: events.Model) -> str:
    """Who was asked, and for which step."""
    who = "" if call.scope in ("", "agent", "main") else f"{call.scope[:60]}, "
    return f"{who}step {call.step}"


def _headed(answer: events.Answer, load: Load) -> str:
    """The text of an answer, with the headings of a report in it."""
    return Headed(read(answer.text, load), answer.headings).text
