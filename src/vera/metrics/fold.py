"""The fold: what each record of a log adds to the metrics."""

import itertools
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache

import msgspec

from vera import events
from vera.decode_errors import DECODE_ERRORS
from vera.events import Blob, Text
from vera.evidence.finding import Finding
from vera.headline import STATUSES
from vera.metrics.budgets import Budgets
from vera.metrics.families import EVENTS, FAMILIES, OTHER, POLICIES, SCORES, tag
from vera.metrics.values import Distribution, Distributions, Values
from vera.prices import UNIT, PriceList, price_list
from vera.usage import SpentFold, Tokens

MAIN = "main"
"""The lane that answers the question; those of checks are named `check-…`."""

MAX_VALUE = 2.0**53
"""Of what one record may add: a log may come from anyone, and sums of larger floats are not exact."""

Load = Callable[[str, Blob], bytes | None]
"""(session, blob) → its bytes, None when they cannot be had."""

_QUOTED = re.compile(r"“[^“”]{0,2000}”")
_URL = re.compile(r"https?://\S*", re.IGNORECASE)
_PLACE = re.compile(r"\bev_\d{4}|/(?:input|work)/|\w\.\w{1,5}\b")
"""Lines of an evidence, a path of the sandbox, or a file's name with its suffix."""


class Metrics:
    """The metrics of any number of sessions, each record counted once.

    Counters and histograms have no label `session`: they add up all sessions that were folded in, so the
    number of series stays the same however many sessions there are, and who wants those of one session folds
    that one alone. Gauges have it: they say how an *active* run stands, one whose log has no end yet, and
    go with its last record (a resume brings them back). A run that was killed stays active until it is
    resumed: the age of `dra_last_event_ts` tells.

    Every series of a counter exists from the start with 0, so that Prometheus sees the first increment.
    """

    def __init__(self, load: Load = lambda session, blob: None) -> None:
        self._load = load
        self._runs: dict[str, _Run] = {}
        self._counters: dict[str, dict[tuple[str, ...], float]] = {}
        self._histograms: dict[str, dict[tuple[str, ...], Distribution]] = {}
        for name, family in FAMILIES.items():
            keys = itertools.product(*family.labels.values())
            if family.kind == "counter":
                self._counters[name] = dict.fromkeys(keys, 0.0)
            elif family.kind == "histogram":
                self._histograms[name] = {key: Distribution(len(family.buckets)) for key in keys}
        self._records = self._counters["dra_events_total"]

    @property
    def counters(self) -> Values:
        """Of each counter the values by label values."""
        return self._counters

    @property
    def histograms(self) -> Distributions:
        """Of each histogram the distributions by label values."""
        return self._histograms

    @property
    def gauges(self) -> Values:
        """Of each gauge the values by label values, as things stand."""
        active = {label(session): run for session, run in self._runs.items() if run.active}
        return {
            "dra_runs_active": {(): float(len(active))},
            "dra_run_status": {
                (session, status): float(status == run.status)
                for session, run in active.items()
                for status in STATUSES
            },
            "dra_max_step": {(session,): float(run.max_step) for session, run in active.items()},
            "dra_last_event_ts": {(session,): run.last_ts for session, run in active.items()},
            "dra_budget_used_ratio": {
                (session, budget): share
                for session, run in active.items()
                for budget, share in run.budgets.used(run.tokens, run.max_step, run.last_ts).items()
            },
            "dra_verifier_last_score": {
                (session,): run.score / 100 for session, run in active.items() if run.score is not None
            },
        }

    def forget(self, session: str) -> None:
        """The session is gone: what it did stays counted, its gauges go."""
        self._runs.pop(session, None)

    @property
    def is_empty(self) -> bool:
        """Whether no record has been counted yet."""
        return not self._runs

    def render(self) -> bytes:
        """The exposition in Prometheus' text format 0.0.4."""
        from vera.metrics.exposition import exposition

        return exposition({**self.counters, **self.gauges}, self.histograms)

    def apply(self, record: events.Record, session: str) -> None:
        """Count one record of the session of that name. Records of a session come in order, each once."""
        self.apply_all((record,), session)

    def apply_all(self, records: Sequence[events.Record], session: str) -> None:
        """Count several, which takes less than one at a time."""
        if not records:
            return
        if (run := self._runs.get(session)) is None:
            run = self._runs[session] = _Run()
        for kind, number in Counter(map(type, records)).items():
            self._records[_EVENT_KEYS[kind]] += number
            if kind in POLICIES:
                self._count(POLICIES[kind], by=number)
        run.go_on(records)
        for record in records:
            if (kind := type(record)) in _PLAIN or (
                kind is events.ModelIo and not run.spending.awaits(record.lane)
            ):
                continue
            if kind not in _STEADY:
                run.see(record)
            self._count_details(record, run, session)

    def _count_details(self, record: events.Record, run: "_Run", session: str) -> None:
        match record:
            case events.Tool():
                self._tool(record, run)
            case events.Model():
                self._model(record)
                self._tokens(record, run)
            case events.ModelIo():
                self._tokens(record, run)
            case events.ModelServer():
                run.spending.apply(record)
            case events.Candidates():
                self._count("dra_candidates_total", by=len(record.candidates))
            case events.Selection():
                self._selection(record)
            case events.Evidence():
                self._count("dra_evidence_total", record.tier)
            case events.Search():
                engine = record.engine or "none"
                self._count("dra_searches_total", engine, record.outcome)
                self._count("dra_search_requests_total", engine, by=record.attempts)
            case events.Sandbox():
                self._count("dra_sandboxes_total", record.backend)
            case events.Egress():
                self._count("dra_egress_total", record.verdict)
                self._count("dra_egress_bytes_total", "up", by=record.bytes_up)
                self._count("dra_egress_bytes_total", "down", by=record.bytes_down)
            case events.Audit():
                self._findings(record, session)
            case events.Verifier():
                self._round(record, run)
            case events.VerifierGradient():
                self._count("dra_verifier_gradient_total")
                self._instructions(record.next_actions)
            case events.PolicyChoice() if record.matched:
                self._count("dra_policy_choice_matched_total")
            case events.RunEnd():
                self._count("dra_runs_ended_total", record.status)
                self._observe("dra_run_seconds", record.seconds)
            case _:
                pass

    def _tool(self, call: events.Tool, run: "_Run") -> None:
        if call.outcome not in ("ok", "failed"):
            return
        failed = call.outcome == "failed"
        by_verifier = call.lane.startswith("check-")
        scope = "verifier" if by_verifier else "agent"
        self._count("dra_tool_calls_total", call.tool, scope)
        if failed:
            self._count("dra_tool_errors_total", call.tool, scope)
        if by_verifier:
            self._count("dra_verifier_tool_calls_total")
            self._count("dra_verifier_tool_errors_total", by=failed)
        else:
            run.has_called_a_tool = True

    def _model(self, call: events.Model) -> None:
        self._count("dra_model_calls_total", call.scope)
        if call.error:
            self._count("dra_model_errors_total", call.scope)
        if call.attempts > 1:
            self._count("dra_model_retries_total", call.scope, by=call.attempts - 1)
        if call.finish_reason == "length":
            self._count("dra_model_finish_reason_length_total", call.scope)
        self._observe("dra_model_latency_seconds", call.latency_s, call.scope)
        if call.scope.startswith("verifier"):
            self._count("dra_verifier_model_calls_total")
            self._observe("dra_verifier_model_latency_seconds", call.latency_s)

    def _tokens(self, record: events.Model | events.ModelIo, run: "_Run") -> None:
        """The tokens by which the record adds to those that the run's budget counts."""
        tokens = run.spending.apply(record)
        if tokens is None:
            return
        scope = record.scope
        self._count("dra_model_cost_total", scope, by=run.cost(tokens, scope))
        self._count("dra_model_cached_tokens_total", scope, by=tokens.cached)
        for kind, number in (("prompt", tokens.prompt), ("completion", tokens.completion)):
            self._count("dra_model_tokens_total", scope, kind, by=number)
            if scope.startswith("verifier"):
                self._count("dra_verifier_model_tokens_total", kind, by=number)

    def _selection(self, made: events.Selection) -> None:
        self._count("dra_selections_total", made.decider)
        self._observe("dra_selection_seconds", made.seconds)
        self._count("dra_selector_calls_total", by=made.judge_calls)
        if 0 <= made.selected < len(made.weighed):
            groups = [each.group for each in made.weighed]
            agreed = max(1, groups.count(groups[made.selected])) if groups[made.selected] else 1
            self._observe("dra_selection_agreement_ratio", agreed / len(groups))

    def _findings(self, audit: events.Audit, session: str) -> None:
        """Count each finding; where they cannot be read, their number is known all the same."""
        findings = self._read(audit.findings, session)
        of_plugins = self._read(audit.plugin_findings, session) if audit.plugin_findings else ()
        if findings is None or of_plugins is None:
            self._count("dra_findings_total", OTHER, "hard", by=audit.hard)
            self._count("dra_findings_total", OTHER, "soft", by=audit.soft)
            return
        for finding in (*findings, *of_plugins):
            self._count("dra_findings_total", finding.label, finding.severity)

    def _read(self, text: Text, session: str) -> Sequence[Finding] | None:
        data = self._load(session, text) if isinstance(text, Blob) else text
        try:
            return None if data is None else msgspec.json.decode(data, type=tuple[Finding, ...])
        except DECODE_ERRORS:
            return None

    def _round(self, decision: events.Verifier, run: "_Run") -> None:
        self._count("dra_verifier_rounds_total", decision.result)
        self._observe("dra_verifier_duration_seconds", decision.seconds)
        open_claims = decision.claims - decision.supported - decision.disputed
        self._count("dra_verifier_claims_total", "supported", by=decision.supported)
        self._count("dra_verifier_claims_total", "disputed", by=decision.disputed)
        self._count("dra_verifier_claims_total", "open", by=open_claims)
        self._count("dra_verifier_before_tools_total", by=not run.has_called_a_tool)
        if decision.score is not None:
            self._count("dra_verifier_scores_total", str(possible(decision.score) // 100))

    def _instructions(self, actions: Sequence[events.NextAction]) -> None:
        chars = sum(len(action.goal) + len(action.success_criteria) for action in actions)
        self._observe("dra_verifier_instruction_count", len(actions))
        self._observe("dra_verifier_instruction_chars", chars)
        for action in actions:
            own = _QUOTED.sub("", action.goal)  # without the text of the claim
            rest, urls = _URL.subn("", f"{own} {action.source}")
            self._count("dra_verifier_instruction_has_url_total", by=urls > 0)
            self._count("dra_verifier_instruction_has_path_total", by=bool(_PLACE.search(rest)))
            self._count("dra_verifier_instruction_has_cmd_total", by="shell" in action.suggested_tools)

    def _count(self, name: str, *labels: str, by: float = 1.0) -> None:
        if not by:
            return
        series, key = self._counters[name], bounded(name, labels)
        series[key] = series.get(key, 0.0) + (by if 0 <= by <= MAX_VALUE else min(max(by, 0), MAX_VALUE))

    def _observe(self, name: str, value: float, *labels: str) -> None:
        family = FAMILIES[name]
        series, key = self._histograms[name], bounded(name, labels)
        value = min(max(value, 0.0), MAX_VALUE)
        if (found := series.get(key)) is None:
            found = series[key] = Distribution(len(family.buckets))
        found.counts[bisect_left(family.buckets, value)] += 1
        found.sum += value


class _Run:
    """What the metrics know of one session. `score` is in hundredths, None before the first; `spending` is
    told of the model's records alone: only its tokens are those of the run. `prices` are those of its
    settings, None where they have none."""

    __slots__ = (
        "active",
        "budgets",
        "has_called_a_tool",
        "last_ts",
        "max_step",
        "prices",
        "score",
        "spending",
        "status",
    )

    def __init__(self) -> None:
        self.active = True
        self.status = STATUSES[0]
        self.max_step = 0
        self.last_ts = 0.0
        self.score: int | None = None
        self.has_called_a_tool = False
        self.budgets = Budgets()
        self.prices: PriceList | None = None
        self.spending = SpentFold()

    def go_on(self, records: Sequence[events.Record]) -> None:
        """How far the run is after these records."""
        self.last_ts = records[-1].ts
        steps = [each.step for each in records if type(each) in _STEPPED and each.lane == MAIN]  # type: ignore[union-attr] # these have one
        self.max_step = min(max(self.max_step, *steps, 0), int(MAX_VALUE))

    def see(self, record: events.Record) -> None:
        """How the run stands after the record, where that says more than _STEADY ones."""
        self.budgets.see(record)
        match record:
            case events.Session():
                self.prices = price_list(record.settings)
            case events.RunEnd():
                self.active = False
            case events.Resumed():
                self.active = True
                self.status = STATUSES[0]
            case events.Status() if record.lane == MAIN:
                self.status = record.status
            case events.Verifier() if record.score is not None:
                self.score = possible(record.score)
            case _:
                pass

    def cost(self, tokens: Tokens, scope: str) -> float:
        """What these tokens of a call in that scope cost, 0 where no price is known."""
        return 0.0 if self.prices is None else min(self.prices.of_scope(scope).of(tokens) / UNIT, MAX_VALUE)

    @property
    def tokens(self) -> int:
        """Tokens of the run's own model calls."""
        return self.spending.now(0).tokens


_EVENT_KEYS = {kind: (tag(kind),) for kind in EVENTS}

_PLAIN = frozenset(
    {
        events.Assistant,
        events.AttestationReceived,
        events.ConstraintAdded,
        events.ConstraintResolved,
        events.ContainerEvent,
        events.ContextEpoch,
        events.Derivation,
        events.LaneEnded,
        events.LaneStarted,
        events.Move,
        events.Note,
        events.Output,
        events.ToolStarted,
        events.VerifierVersions,
    }
) | (POLICIES.keys() - {events.PolicyChoice})
"""Of these, which are most of a log, there is nothing to count but that they came."""

_STEPPED = frozenset(kind for kind in EVENTS if "step" in kind.__struct_fields__)

_STEADY = _PLAIN | {events.Evidence, events.Model, events.ModelIo, events.Tool}
"""What says nothing of how the run stands but its step and time."""


def possible(score: int) -> int:
    """The score, in hundredths, within 1 to 4."""
    return min(max(score, 100), 100 * len(SCORES))


@lru_cache(4096)
def bounded(name: str, labels: tuple[str, ...]) -> tuple[str, ...]:
    """The label values of the family with `other` in place of each that is not in its list."""
    known = zip(labels, FAMILIES[name].labels.values(), strict=True)
    return tuple(value if value in values else OTHER for value, values in known)


def label(session: str) -> str:
    """The session's name as UTF-8 text: the bytes of a path that are none are written out."""
    return session.encode("utf-8", "backslashreplace").decode()
