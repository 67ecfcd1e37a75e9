"""No gate shuts a lane in: in each state that a run can reach something is allowed, and a refusal's own way
forward leads out of it.

States are made by playing random turns through the real gates and folding what the loop would write down.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from support.gating import BROUGHT, NOTHING_NEW, Outcome, Trial, rules_for
from vera import events
from vera.gates import brave_discovery, domain_shift, notes_gate, query_mutation, query_vector, stagnation
from vera.gates.brave import BRAVE_TOOLS
from vera.gates.kernel import (
    ALLOW,
    GATHERING,
    Action,
    FinalAnswer,
    Gate,
    Proposal,
    Refuse,
    Rules,
    State,
    ToolCall,
    Verdict,
    ask,
)
from vera.gates.registry import GATES

STEPS_OUT = 3
"""Actions in which following a refusal must lead out of it."""

TOOLS = (
    ("read", "note"),
    ("read", "note", "search"),
    ("read", "note", "shell", "submit"),
    ("read", "note", "fetch", "web_search"),
    ("read", "note", "fetch", "brave_search", "brave_news", "web_search"),
    ("read", "note", "fetch"),
    ("shell", "read", "note", "submit", "fetch", "web_search", "brave_search", "brave_news"),
    ("shell", "read", "note", "submit", "fetch", "web_search", "brave_search", "brave_news", "search"),
)
"""What lanes really have: `read` and `note` always."""

QUERIES = (
    "Apple car launch",
    "launch of the Apple car",
    "Apple car rumor",
    "Apple car official announcement",
    "x",
)
URLS = (
    "https://www.apple.com/news",
    "https://developer.apple.com/",
    "https://www.sec.gov/filings",
    "https://www.reuters.com/a",
    "https://en.wikipedia.org/wiki/Apple_car",
    "https://www.google.com/search?q=apple+car+launch",
    "https://carbuzz.com/apple",
    "https://pypi.org/simple/x",
)
HOSTS = ("apple.com", "sec.gov", "reuters.com", "pypi.org")
COMMANDS = ("ls /work", "curl https://apple.com/a", "rm -rf /", "python x.py > /work/report.md")

OUTCOMES = (
    Outcome(),
    Outcome(found=False),
    Outcome(fresh=False, found=False),
    Outcome(fresh=False, found=False),
    Outcome(failure="http_404", fresh=False, found=False),
    Outcome(failure="timeout", fresh=False, found=False, rest_s=500.0),
    Outcome(low_signal="it has no text"),
    Outcome(fresh=False, found=False, wrote=("/work/output/report.md",)),
)

LIMITS = st.sampled_from((0, 1, 1, 2, 3, 5))
LIKELY: dict[str, st.SearchStrategy[Any]] = {
    "tools": st.sampled_from(TOOLS),
    "max_steps": st.sampled_from((0, 1, 4, 12, 80)),
    "web_task": st.sampled_from((True, True, True, False)),
    "brave": st.booleans(),
    "can_render": st.booleans(),
    "subject": st.sampled_from(("", "Apple launched car", "x")),
    "notes_interval": st.sampled_from((0, 1, 2, 3, 10)),
    "pre_tool_nudges": st.sampled_from((0, 1, 3)),
    "length_nudges": LIMITS,
    "reminders": LIMITS,
    "query_mutation_budget": LIMITS,
    "query_vector_min": st.sampled_from((0, 2, 2, 4)),
    "domain_shift_limit": LIMITS,
    "source_shift_limit": LIMITS,
    "move_repeat_limit": LIMITS,
    "stagnation_limit": LIMITS,
    "stuck_limit": LIMITS,
    "failure_escalation_limit": LIMITS,
    "source_budget": st.sampled_from((0, 1, 3, 12)),
    "search_budget": st.sampled_from((0, 0, 1, 3)),
    "brave_discovery_required": st.sampled_from((True, True, False)),
    "brave_max_calls": st.sampled_from((0, 0, 1, 2)),
    "finalization_limit": LIMITS,
    "parse_error_limit": LIMITS,
    "negative_min_official": st.sampled_from((0, 1, 2)),
    "negative_min_independent": st.sampled_from((0, 1)),
    "negative_max_steps": st.sampled_from((1, 5, 40)),
    "destructive": st.just(("rm -r /",)),
}
RULES = st.builds(rules_for, **LIKELY)
SPENT = st.builds(
    rules_for,
    **LIKELY | {"tools": st.sampled_from(TOOLS[4:8:2]), "web_task": st.just(True), "brave": st.just(True)},
)
"""Rules of lanes that have Brave's engine."""
TURNS = st.lists(st.integers(0, 2**24 - 1), min_size=1, max_size=24)


class Dice:
    """Choices read off one number, so that a turn is one number and shrinks as one."""

    def __init__(self, number: int) -> None:
        self._number = number

    def one(self, of: Any) -> Any:
        self._number, at = divmod(self._number, len(of))
        return of[at]


def arguments(tool: str, dice: Dice) -> Mapping[str, Any]:
    if tool == "fetch":
        return {"url": dice.one(URLS)}
    if tool == "shell":
        return {"cmd": dice.one(COMMANDS)}
    if tool in ("read", "submit"):
        return {"path": "/work/output/report.md"}
    if tool == "note":
        return {"text": "x"}
    return {"q" if tool.startswith("brave") else "query": dice.one(QUERIES)}


def play(trial: Trial, number: int) -> tuple[Proposal, Gate, Refuse] | None:
    """One random turn, and what refused it."""
    dice = Dice(number)
    kind = dice.one(("call",) * 6 + ("answer", "answer", "broken", "others"))
    if kind == "broken":
        trial.broken(cut=dice.one((True, False)))
    elif kind == "others":
        # Another lane of the run searched: its requests count for the run.
        trial.memory.emit(
            events.Search(engine="brave", kind="web", query="", outcome="ok", results=1, attempts=2),
            lane="check-1",
        )
    elif kind == "answer":
        refused = trial.answer_refused()
        if not trial.answer(status=dice.one(("UNRESOLVED", "IN_PROGRESS"))):
            trial.taken_back()
        if refused:
            return Proposal(tool=""), *refused
    else:
        tool = dice.one(trial.rules.tools)
        args, outcome = arguments(tool, dice), dice.one(OUTCOMES)
        if tool == "shell":
            outcome = msgspec.structs.replace(outcome, visits=dice.one(((), (), HOSTS[:1], HOSTS)))
        note, status = dice.one(("", "learnt")), dice.one(("IN_PROGRESS", "UNRESOLVED", "BLOCKED: x"))
        refused = trial.refused(tool, args, noted=bool(note))
        said = trial.call(tool, args, outcome, note=note, status=status)
        if said and refused:
            return Proposal(tool=tool, args=args), *refused
        if said == "" and trial.lane.answer is not None:
            trial.taken_back()
    return None


def is_refused(trial: Trial, wanted: Proposal) -> tuple[Gate, Refuse] | None:
    return trial.refused(wanted.tool, wanted.args, noted=True) if wanted.tool else trial.answer_refused()


def follow_out(
    trial: Trial, wanted: Proposal, gate: Gate, refused: Refuse, outcomes: Callable[[], Outcome]
) -> str:
    """Do what the refusal says until it leads out; what is wrong when it does not."""
    trail, cause = [], gate
    for _ in range(STEPS_OUT):
        assert refused.way_forward, f"{gate.name} names no way forward"
        proposal = refused.proposal
        assert proposal.tool in trial.rules.tools, f"{gate.name} proposes {proposal.tool}, which is not there"
        trail.append(f"{gate.name} → {proposal.tool} {dict(proposal.args)}")
        blocked = trial.refused(proposal.tool, proposal.args, noted=True)
        trial.call(proposal.tool, proposal.args, outcomes(), note="learnt")
        if blocked is not None:
            gate, refused = blocked
            continue
        still = is_refused(trial, wanted)
        if still is None or (wanted.tool and for_good(cause)):
            return ""
        gate, refused = still
        cause = gate
    return f"still refused after {trail}: {gate.name} ({refused.reason})"


def for_good(gate: Gate) -> bool:
    """Whether the gate refuses this very call for good or for a time, and sends the lane elsewhere."""
    return gate.name in {
        "policy_query_mutation",
        "policy_domain_shift",
        "policy_search_budget",
        "policy_brave_budget",
        "policy_brave_circuit",
        "policy_destructive",
    }


def menu(tools: tuple[str, ...]) -> Iterator[Proposal]:
    """An action of each kind."""
    dice = Dice(0)
    for tool in tools:
        if tool not in ("note", "submit"):
            yield Proposal(tool=tool, args=arguments(tool, dice))
    if "fetch" in tools:
        yield Proposal(tool="fetch", args={"url": "https://never-visited.example/"})
    yield Proposal(tool="")


def check(rules: Rules, negative: bool, turns: list[int], gates: tuple[Gate, ...] = GATES) -> None:
    trial = Trial(rules, negative=negative, gates=gates)
    dice = Dice(sum(turns) or 1)
    for number in turns:
        if not trial.goes_on():
            return
        something_is_allowed(trial)
        met = play(trial, number)
        if met is not None:
            problem = follow_out(trial.copy(), *met, lambda: dice.one(OUTCOMES[2:5]))
            assert not problem, problem
    if trial.goes_on():
        for wanted in menu(rules.tools):
            refused = is_refused(trial, wanted)
            if refused is not None:
                tried = trial.copy()
                tried.call(wanted.tool, wanted.args, note="learnt") if wanted.tool else tried.answer()
                problem = follow_out(tried, wanted, *refused, lambda: dice.one(OUTCOMES))
                assert not problem, f"{wanted}: {problem}"


def something_is_allowed(trial: Trial) -> None:
    """A gathering call (with a note on its turn, which no tool is needed for) is, and on the last turn the
    answer."""
    gathering = (each for each in menu(trial.rules.tools) if each.tool in GATHERING)
    assert any(is_refused(trial, each) is None for each in gathering), f"no tool: {trial.lane.history}"
    if trial.rules.max_steps and trial.lane.step + 1 >= trial.rules.max_steps:
        last = FinalAnswer(ts=trial.memory.ts, step=trial.lane.step + 1)
        assert not ask(trial.gates, trial.state, last, trial.rules), "the last answer is sent back and lost"


@settings(max_examples=2000, deadline=None, suppress_health_check=list(HealthCheck))
@given(rules=RULES, negative=st.sampled_from((True, True, False)), turns=TURNS)
def test_something_is_always_allowed_and_following_a_refusal_leads_out_of_it(
    rules: Rules, negative: bool, turns: list[int]
) -> None:
    check(rules, negative, turns)


def test_no_search_is_demanded_when_the_files_were_asked_all_that_could_be_asked() -> None:
    """Found by the property above: a task of one word, searched in the files, and Brave to be asked first."""
    trial = Trial(
        rules_for(brave=True, web_task=True, subject="x", query_mutation_budget=1, notes_interval=0)
    )
    fetch = Proposal(tool="fetch", args={"url": "https://www.apple.com/news"})
    assert is_refused(trial, fetch) is not None
    trial.call("search", {"query": "x"}, OUTCOMES[3], note="learnt")
    assert is_refused(trial, fetch) is None


Judge = Callable[[State, Action, Rules], Verdict]


def replaced(**judges: Judge) -> tuple[Gate, ...]:
    """The registry with other judges in it, by the gate's name."""
    return tuple(
        msgspec.structs.replace(gate, judge=judges.get(gate.name.removeprefix("policy_"), gate.judge))
        for gate in GATES
    )


def refuse_as(way: Proposal) -> Refuse:
    return Refuse(reason="as the prototype did", way_forward="do that", proposal=way)


def prototype_notes_gate(state: State, action: Action, rules: Rules) -> Verdict:
    """Every third step each call but a note waits for one, a NOTE line does not count."""
    if not isinstance(action, ToolCall) or action.tool == "note" or action.step % 3:
        return ALLOW
    if action.step - state.lane.history.noted_step < 3:
        return ALLOW
    return refuse_as(Proposal(tool="note", args={"text": "x"}))


def prototype_discovery(state: State, action: Action, rules: Rules) -> Verdict:
    """Every call but Brave's waits for Brave's."""
    if not (rules.brave and rules.web_task and isinstance(action, ToolCall)):
        return ALLOW
    if action.tool in BRAVE_TOOLS or BRAVE_TOOLS[0] not in rules.tools or state.lane.history.searched:
        return ALLOW
    return refuse_as(Proposal(tool=BRAVE_TOOLS[0], args={"q": "Apple car"}))


def discovery_whatever_brave_can(state: State, action: Action, rules: Rules) -> Verdict:
    """A search is demanded of an engine that may not be asked any more."""
    return brave_discovery.judge(
        msgspec.structs.replace(state, engines={}),
        action,
        msgspec.structs.replace(rules, search_budget=0, brave_max_calls=0),
    )


def notes_only_by_the_tool(state: State, action: Action, rules: Rules) -> Verdict:
    """The note itself waits for a note."""
    if isinstance(action, ToolCall) and action.tool == "note":
        action = msgspec.structs.replace(action, tool="read", noted=False)
    elif isinstance(action, ToolCall):
        action = msgspec.structs.replace(action, noted=False)
    return notes_gate.judge(state, action, rules)


def stagnation_until_new_evidence(state: State, action: Action, rules: Rules) -> Verdict:
    """Only new evidence ends it, however often it was tried."""
    if isinstance(action, FinalAnswer):
        spoke = state.lane.history.times(events.PolicyStagnation)
        if spoke and rules.stagnation_limit and not state.lane.history.reached:
            return refuse_as(Proposal(tool="read", args={"path": "/work/notes.md"}))
    return stagnation.judge(state, action, rules)


def stagnation_to_the_last_step(state: State, action: Action, rules: Rules) -> Verdict:
    """The last answer is sent back too."""
    return stagnation.judge(state, action, msgspec.structs.replace(rules, max_steps=0))


def vector_that_proposes_the_same(state: State, action: Action, rules: Rules) -> Verdict:
    """What is proposed has the intent that is refused."""
    verdict = query_vector.judge(state, action, rules)
    if isinstance(verdict, Refuse) and isinstance(action, ToolCall):
        return refuse_as(Proposal(tool=action.tool, args=action.args))
    return verdict


def mutation_that_proposes_the_same(state: State, action: Action, rules: Rules) -> Verdict:
    """What is proposed is the query that is refused."""
    verdict = query_mutation.judge(state, action, rules)
    if isinstance(verdict, Refuse) and isinstance(action, ToolCall):
        return refuse_as(Proposal(tool=action.tool, args=action.args))
    return verdict


def domain_shift_that_proposes_the_domain(state: State, action: Action, rules: Rules) -> Verdict:
    """What is proposed is the domain that is refused."""
    verdict = domain_shift.judge(state, action, rules)
    if isinstance(verdict, Refuse) and isinstance(action, ToolCall):
        return refuse_as(Proposal(tool=action.tool, args=action.args))
    return verdict


MUTANTS = {
    "the prototype": {"notes_gate": prototype_notes_gate, "brave_discovery": prototype_discovery},
    "discovery of a spent engine": {"brave_discovery": discovery_whatever_brave_can},
    "notes that wait for a note": {"notes_gate": notes_only_by_the_tool},
    "stagnation without an end": {"stagnation": stagnation_until_new_evidence},
    "a last answer that is lost": {"stagnation": stagnation_to_the_last_step},
    "the same intent again": {"query_vector": vector_that_proposes_the_same},
    "the same query again": {"query_mutation": mutation_that_proposes_the_same},
    "the same domain again": {"domain_shift": domain_shift_that_proposes_the_domain},
}


@pytest.mark.parametrize("judges", MUTANTS.values(), ids=MUTANTS)
def test_gates_that_shut_a_lane_in_are_found(judges: dict[str, Judge]) -> None:
    gates = replaced(**judges)

    @settings(
        max_examples=4000,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(
        rules=SPENT if judges.keys() == {"brave_discovery"} else RULES,
        negative=st.sampled_from((True, True, False)),
        turns=TURNS,
    )
    def nothing_is_found(rules: Rules, negative: bool, turns: list[int]) -> None:
        check(rules, negative, turns, gates)

    with pytest.raises(AssertionError):
        nothing_is_found()


def with_a_key_for_brave(**changes: Any) -> Rules:
    return rules_for(brave=True, notes_interval=3, **changes)


def idle_until_a_note_is_due(gates: tuple[Gate, ...] = GATES) -> Trial:
    """Three commands without a note and without a search: the state in which the prototype was shut in."""
    trial = Trial(with_a_key_for_brave(), gates=gates)
    for _ in range(3):
        trial.call("shell", {"cmd": "ls"}, BROUGHT)
    return trial


def test_with_a_brave_key_and_no_search_before_the_notes_step_a_lane_goes_on() -> None:
    trial = idle_until_a_note_is_due()
    query, page = {"q": "Apple car"}, {"url": "https://apple.com/"}
    assert trial.refused("brave_search", query) is not None, "a note is due"
    assert trial.refused("note", {"text": "x"}) is None, "and may be written before any search"
    assert trial.refused("brave_search", query, noted=True) is None, "or stand on the turn of the search"
    assert trial.answer_refused() is None
    assert not trial.call("note", {"text": "x"}, NOTHING_NEW)
    assert not trial.call("brave_search", query, Outcome(failure="timeout", fresh=False, found=False))
    assert trial.refused("fetch", page) is None, "an attempt that failed is one"


def test_the_prototype_was_shut_in_there() -> None:
    trial = idle_until_a_note_is_due(replaced(**MUTANTS["the prototype"]))
    trial.shell("ls")
    while (trial.lane.step + 1) % 3:
        trial.shell("ls")
    assert trial.refused("brave_search", {"q": "Apple car"}) is not None
    assert trial.refused("note", {"text": "x"}) is not None
    assert trial.refused("shell", {"cmd": "ls"}, noted=True) is not None
