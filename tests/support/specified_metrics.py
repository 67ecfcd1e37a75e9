"""The metrics that VERA's specifications name: sample names without their labels, as data.

The prefix `dra_` is that of the program the specifications describe.
"""


def _names(text: str) -> list[str]:
    return text.split()


README = _names("""
dra_verifier_scores_total dra_verifier_last_score
dra_verifier_duration_seconds_sum dra_verifier_duration_seconds_count dra_verifier_model_tokens_total
dra_model_tokens_total
dra_verifier_instruction_chars_sum dra_verifier_instruction_has_url_total
dra_verifier_instruction_has_path_total dra_verifier_instruction_has_cmd_total
dra_verifier_before_tools_total dra_model_finish_reason_length_total
dra_policy_pre_tool_nudge_total dra_policy_length_nudge_total dra_policy_reminder_total
dra_policy_choice_total dra_policy_choice_matched_total dra_policy_stagnation_total
dra_policy_domain_shift_total dra_policy_conclusion_ready_total dra_verifier_gradient_total
""")
"""Of the README, "Metrics You'll Likely Watch"."""

NEWER_PAGE = _names("""
dra_policy_query_vector_total dra_policy_source_budget_total dra_policy_brave_budget_total
dra_policy_brave_circuit_total
""")
"""What the newer page has beyond them."""

PROTOTYPE = _names("""
dra_events_total dra_tool_calls_total dra_tool_errors_total
dra_verifier_model_calls_total dra_verifier_model_latency_seconds_sum
dra_verifier_tool_calls_total dra_verifier_tool_errors_total dra_verifier_instruction_count_sum
dra_model_calls_total dra_model_latency_seconds_sum dra_max_step dra_last_event_ts
""")
"""What the prototype exposed beyond both."""

GATES = _names("""
notes_gate notes_guard pre_tool_nudge length_nudge reminder choice choice_matched query_mutation query_vector
domain_shift source_shift move_change stagnation failure_escalation source_budget brave_discovery brave_budget
brave_circuit conclusion_ready finalization_stop parse_error destructive
""")
"""The gates, of which each has an event and a metric."""

SPECIFIED = frozenset([*README, *NEWER_PAGE, *PROTOTYPE, *(f"dra_policy_{gate}_total" for gate in GATES)])

LABELS = {
    "dra_events_total": {"type"},
    "dra_tool_calls_total": {"tool", "scope"},
    "dra_model_calls_total": {"scope"},
    "dra_model_tokens_total": {"scope"},
    "dra_model_latency_seconds_sum": {"scope"},
    "dra_verifier_scores_total": {"score"},
}
"""The labels that they are named with."""
