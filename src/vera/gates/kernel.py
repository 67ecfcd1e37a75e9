"""What a gate is: a pure function of the folded state, one action and the rules, and how many are asked.

Each action carries its own time, so no gate knows a clock. Gates are asked in the order of their registry;
the first that refuses or ends decides: where two would demand different next actions, the earlier one does.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from vera import events
from vera.evidence.moves import CallIntent
from vera.state import EngineUse, LaneState

GATHERING = ("search", "web_search", "brave_search", "brave_news", "fetch", "read", "shell", "verify")
"""Tools that bring evidence, and are known by name in gates and history. Others say it of themselves
(`ToolSpec.gathers`)."""

SEARCHING = ("search", "web_search", "brave_search", "brave_news")
"""Tools that take a query."""


class Required(msgspec.Struct, frozen=True):
    """A thesis that has to hold before files are changed: the id of its proposition, and its text."""

    thesis_id: str
    text: str


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of a run, and what is the same in all of its steps.

    Limits are the settings of the sections policy, notes, brave and budget; 0 means no limit. `tools` are
    those of the lane, `gathering` the tools that bring evidence; `brave` says whether Brave is one of its
    engines, `only_brave` whether it is the only one, `web_task` whether the task faces the web, `can_render`
    whether pages can be rendered. `names` and `official_domains` say who speaks officially on the subject
    (`vera.evidence.official`), `subject` is the task in a few words, for proposed queries. `required` theses,
    or any one where `one_required`, must have a SUPPORTED attestation before files are changed; `work_locked`
    says that until then the box itself cannot write to /work. `first_turns_limit` is that of broken turns
    while none was whole: above 0 where the host can act for the model. `limits` are those of gates without a
    separate setting, by the gate's name (`policy.gate_limits`).
    """

    tools: tuple[str, ...] = ()
    gathering: tuple[str, ...] = GATHERING
    max_steps: int = 80
    brave: bool = False
    only_brave: bool = False
    web_task: bool = False
    can_render: bool = False
    names: frozenset[str] = frozenset()
    official_domains: frozenset[str] = frozenset()
    subject: str = ""
    notes_interval: int = 3
    pre_tool_nudges: int = 1
    length_nudges: int = 2
    reminders: int = 4
    query_mutation_budget: int = 2
    query_vector_min: int = 2
    domain_shift_limit: int = 2
    source_shift_limit: int = 3
    move_repeat_limit: int = 3
    stagnation_limit: int = 3
    stuck_limit: int = 12
    failure_escalation_limit: int = 3
    source_budget: int = 12
    search_budget: int = 0
    brave_discovery_required: bool = True
    brave_max_calls: int = 0
    finalization_limit: int = 3
    parse_error_limit: int = 5
    first_turns_limit: int = 0
    negative_min_official: int = 2
    negative_min_independent: int = 1
    negative_threshold_pct: float = 0.6
    negative_max_steps: int = 40
    destructive: tuple[str, ...] = ()
    limits: Mapping[str, int] = {}
    required: tuple[Required, ...] = ()
    one_required: bool = False
    work_locked: bool = False


class State(msgspec.Struct, frozen=True, kw_only=True):
    """What gates see: the lane, and of the whole run the search engines by name and the attestations that
    were asked for, by handle."""

    lane: LaneState
    engines: Mapping[str, EngineUse] = {}
    attestations: Mapping[str, events.AttestationReceived] = {}


class ToolCall(msgspec.Struct, frozen=True, kw_only=True):
    """A turn wants a tool run. `noted`: it has a NOTE line. `ts` is Unix time, as everywhere here."""

    ts: float
    step: int
    tool: str
    args: Mapping[str, Any] = {}
    aim: CallIntent
    noted: bool = False


class Connection(msgspec.Struct, frozen=True, kw_only=True):
    """A command in the box wants to reach a host; `target` says whose it is.

    `query` is what it asks there, as its address says, and `family` that query's; '' for nothing.
    """

    ts: float
    step: int
    host: str
    target: events.Target
    query: str = ""
    family: str = ""


class FinalAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """A turn gives its answer."""

    ts: float
    step: int


class BrokenTurn(msgspec.Struct, frozen=True, kw_only=True):
    """A turn broke the format, and the model is about to be told. The state has not counted it yet; `cut`
    says that it ended at the model's limit."""

    ts: float
    step: int
    cut: bool


class Observed(msgspec.Struct, frozen=True, kw_only=True):
    """A call is over and folded in; its observation is about to be shown. `low_signal` are pages it got that
    have too little text: (url, why)."""

    ts: float
    step: int
    tool: str
    low_signal: tuple[tuple[str, str], ...] = ()


class NextTurn(msgspec.Struct, frozen=True, kw_only=True):
    """The model is about to be asked for another turn."""

    ts: float
    step: int


Action = ToolCall | Connection | FinalAnswer | BrokenTurn | Observed | NextTurn


def is_among_the_last(action: Action, rules: Rules, steps: int) -> bool:
    """Whether the lane may take fewer than `steps` more turns after this one: an answer that is sent back now
    may be lost."""
    return bool(rules.max_steps) and action.step > rules.max_steps - steps


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """A call that would be allowed next."""

    tool: str
    args: Mapping[str, Any] = {}


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What a gate counted: of `subject`, `count` where `limit` may be."""

    subject: str = ""
    count: int = 0
    limit: int = 0


class Allow(msgspec.Struct, frozen=True):
    """Nothing speaks against it."""


class Refuse(msgspec.Struct, frozen=True, kw_only=True):
    """It does not run. `way_forward` says what to do instead; `proposal` is such a call."""

    reason: str
    way_forward: str
    proposal: Proposal
    facts: Facts = Facts()


class Nudge(msgspec.Struct, frozen=True, kw_only=True):
    """The model is told. For a turn that answers or broke the format, it is asked again; otherwise the words
    are in the observation. With `constraint` they also stand open until the gate no longer says so."""

    reason: str
    way_forward: str = ""
    constraint: bool = False
    facts: Facts = Facts()


class End(msgspec.Struct, frozen=True, kw_only=True):
    """The run ends. `submit` is a file that is handed in as the answer first, '' for none."""

    reason: str
    submit: str = ""
    facts: Facts = Facts()


Verdict = Allow | Refuse | Nudge | End
ALLOW = Allow()


Judge = Callable[[State, Action, Rules], Verdict]


class Gate(msgspec.Struct, frozen=True):
    """A policy: the record of its verdicts, and the function that gives them.

    One without a separate record is `called` by a name, and its verdicts are `events.PolicyGate`.
    """

    event: type[events.Policy]
    judge: Judge
    called: str = ""

    @property
    def name(self) -> str:
        """As the model and the log have it: `policy_domain_shift`."""
        return f"policy_{self.called}" if self.called else str(self.event.__struct_config__.tag)

    @property
    def key(self) -> type[events.Policy] | str:
        """By what the history counts its verdicts."""
        return self.called or self.event


def named_gate(name: str, judge: Judge) -> Gate:
    """A gate that needs nothing outside its own file but a line in the registry."""
    return Gate(events.PolicyGate, judge, name)


def limit_of(rules: Rules, name: str, usual: int) -> int:
    """How often a gate of this name lets something happen: what the person set, else the usual number."""
    return rules.limits.get(name, usual)


class GateVerdict(msgspec.Struct, frozen=True):
    """A verdict that is not Allow, and whose it is."""

    gate: Gate
    verdict: Refuse | Nudge | End


def ask(gates: Sequence[Gate], state: State, action: Action, rules: Rules) -> tuple[GateVerdict, ...]:
    """What the gates say of an action, in order, up to the first that refuses it or ends the run."""
    spoken: list[GateVerdict] = []
    for gate in gates:
        verdict = gate.judge(state, action, rules)
        if isinstance(verdict, Allow):
            continue
        spoken.append(GateVerdict(gate, verdict))
        if not isinstance(verdict, Nudge):
            break
    return tuple(spoken)


def refusal(spoken: Sequence[GateVerdict]) -> Refuse | None:
    """The refusal among them, which is the last."""
    last = spoken[-1].verdict if spoken else None
    return last if isinstance(last, Refuse) else None
