"""Where two gates would demand different next actions, the one that the registry names first decides."""

from support.gating import NOTHING_NEW, Outcome, Trial, rules_for
from vera import events
from vera.gates.kernel import NextTurn, ask
from vera.gates.registry import CHECK_GATES, GATES

TABLE = (
    "stuck notes_gate pre_tool_nudge length_nudge reminder query_mutation query_vector domain_shift "
    "source_shift move_change stagnation failure_escalation source_budget search_budget brave_discovery "
    "brave_budget brave_circuit render_nudge conclusion_ready finalization_stop parse_error destructive"
)


def test_the_registry_is_the_table_in_its_order() -> None:
    assert " ".join(gate.name.removeprefix("policy_") for gate in GATES) == TABLE
    assert set(CHECK_GATES) <= set(GATES)


def refusing(trial: Trial, tool: str, args: dict[str, str], *, noted: bool = False) -> str:
    refused = trial.refused(tool, args, noted=noted)
    return refused[0].name if refused else ""


def reversed_gates(trial: Trial) -> Trial:
    return Trial(trial.rules, gates=tuple(reversed(GATES)), records=trial.memory.records)


def test_a_note_that_is_due_comes_before_the_search_that_is_due() -> None:
    trial = Trial(rules_for(brave=True, notes_interval=1))
    trial.shell("ls")
    page = {"url": "https://apple.com"}
    assert refusing(trial, "fetch", page) == "policy_notes_gate"
    assert refusing(trial, "fetch", page, noted=True) == "policy_brave_discovery"
    assert refusing(reversed_gates(trial), "fetch", page) == "policy_brave_discovery"


def test_other_words_come_before_another_intent() -> None:
    trial = Trial(rules_for(query_mutation_budget=1), negative=True)
    trial.search("Apple car")
    query = {"query": "Apple car"}
    assert refusing(trial, "web_search", query) == "policy_query_mutation"
    assert refusing(reversed_gates(trial), "web_search", query) == "policy_query_vector"


def test_another_domain_comes_before_a_first_search() -> None:
    trial = Trial(rules_for(brave=True, domain_shift_limit=1), negative=True)
    trial.shell("python crawl.py", Outcome(visits=("apple.com",)))
    trial.emit(
        events.Move(id="m", step=1, tool="fetch", targets=(events.Target(url="", domain="apple.com"),))
    )
    page = {"url": "https://apple.com"}
    assert refusing(trial, "fetch", page) == "policy_domain_shift"
    assert refusing(reversed_gates(trial), "fetch", page) == "policy_brave_discovery"


def test_the_spent_searches_come_before_the_spent_calls_of_one_engine_and_its_breaker() -> None:
    trial = Trial(rules_for(search_budget=1, brave_max_calls=1))
    trial.search("Apple car", Outcome(failure="http_429", fresh=False, rest_s=900), tool="brave_search")
    query = {"q": "battery recycling"}
    assert refusing(trial, "brave_search", query) == "policy_search_budget"
    assert refusing(reversed_gates(trial), "brave_search", query) == "policy_brave_circuit"


def test_the_first_that_ends_a_run_gives_the_reason() -> None:
    trial = Trial(rules_for(source_budget=1, finalization_limit=1))
    trial.fetch("https://apple.com")
    trial.shell("write", Outcome(fresh=False, found=False, wrote=("/work/report.md",)))
    action = NextTurn(ts=trial.memory.ts, step=trial.lane.step + 1)
    assert [each.gate.name for each in ask(GATES, trial.state, action, trial.rules)] == [
        "policy_source_budget"
    ]


def test_nudges_are_all_heard_and_none_hides_a_refusal() -> None:
    trial = Trial(rules_for(failure_escalation_limit=1, source_shift_limit=1))
    trial.fetch("https://reuters.com", Outcome(failure="http_404", fresh=False))
    assert {"policy_source_shift", "policy_failure_escalation"} <= trial.open_constraints().keys()


def test_a_check_lane_is_asked_for_no_notes_and_no_discovery() -> None:
    trial = Trial(rules_for(brave=True, notes_interval=1), gates=CHECK_GATES)
    for _ in range(3):
        assert not trial.fetch("https://apple.com", NOTHING_NEW)
