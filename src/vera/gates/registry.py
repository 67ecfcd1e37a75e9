"""Every gate, in the order in which they are asked: where two disagree, the earlier one decides."""

from vera.gates import (
    assert_first,
    brave_budget,
    brave_circuit,
    brave_discovery,
    conclusion_ready,
    destructive,
    domain_shift,
    failure_escalation,
    finalization_stop,
    length_nudge,
    move_change,
    notes_gate,
    parse_error,
    pre_tool_nudge,
    query_mutation,
    query_vector,
    reminder,
    render_nudge,
    search_budget,
    source_budget,
    source_shift,
    stagnation,
    stuck,
)

GATES = (
    stuck.GATE,
    notes_gate.GATE,
    pre_tool_nudge.GATE,
    length_nudge.GATE,
    reminder.GATE,
    query_mutation.GATE,
    query_vector.GATE,
    domain_shift.GATE,
    source_shift.GATE,
    move_change.GATE,
    stagnation.GATE,
    failure_escalation.GATE,
    source_budget.GATE,
    search_budget.GATE,
    brave_discovery.GATE,
    brave_budget.GATE,
    brave_circuit.GATE,
    render_nudge.GATE,
    conclusion_ready.GATE,
    finalization_stop.GATE,
    parse_error.GATE,
    destructive.GATE,
)
"""The gates of a research lane."""

CHECK_GATES = (
    search_budget.GATE,
    brave_budget.GATE,
    brave_circuit.GATE,
    parse_error.GATE,
    destructive.GATE,
)
"""The gates of a lane that looks up one question for the verifier."""

EXECUTE_GATES = (
    notes_gate.GATE,
    length_nudge.GATE,
    failure_escalation.GATE,
    assert_first.GATE,
    parse_error.GATE,
    destructive.GATE,
)
"""The gates of a lane that may not search: it asks, so those of the search have nothing to judge."""
