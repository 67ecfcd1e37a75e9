"""Every metric: its name, type, help, labels and buckets.

Names, types and labels follow Prometheus' conventions (prometheus.io/docs/practices/naming): a family of type
histogram gives the samples `_bucket`, `_sum` and `_count`. Label values come from the lists here, everything
else counts as `other`, so no text of a model, a page or a stranger's log can make a series.
"""

from collections.abc import Mapping
from typing import Literal, get_args

import msgspec

from vera import events
from vera.headline import STATUSES

Kind = Literal["counter", "gauge", "histogram"]

OTHER = "other"
"""The value of a label for whatever is not in its list."""

TOOLS = (
    "search",
    "web_search",
    "brave_search",
    "brave_news",
    "fetch",
    "read",
    "shell",
    "note",
    "submit",
    "verify",
)
ACTORS = ("agent", "verifier")
"""Who called a tool: the agent, or a check lane of the verifier."""

SCOPES = (
    "agent",
    "thesis",
    "verifier_question",
    "verifier_decompose",
    "verifier_check",
    "verifier_judge",
    "verifier_exam",
    "turn_exam",
    "sub_questions",
    "guided",
    "selector",
)
"""What a model was asked for (`events.Model.scope`)."""

ENGINES = ("brave", "searxng", "wikipedia", "openalex", "arxiv", "none")
"""Search engines; `none` stands for a search that found no engine to ask."""

SEARCH_OUTCOMES = ("ok", "empty", "refused", "failed", "challenge", "skipped")
TIERS = ("captured", "observed")
VERDICTS = ("allowed", "refused", "failed")
RESULTS = ("SUPPORTED", "DISPUTED", "INCONCLUSIVE", "UNSUPPORTED")
SCORES = ("1", "2", "3", "4")
CLAIMS = ("supported", "disputed", "open")
"""What became of a claim in a round; open: neither of the others."""

BACKENDS = ("docker", "bubblewrap", "host", "none")
"""What a box was made with; `none`: one was wanted, and could not be had."""

BUDGETS = ("tokens", "seconds", "searches", "steps")
DECIDERS = ("off", "only_one", "agreement", "selector", "tie_break", "fallback")
"""What decided which candidate runs (`events.Selection.decider`)."""

SEVERITIES = ("hard", "soft")
FAILURES = (
    "wrong_evidence",
    "missing_source",
    "generic_search",
    "invalid_source",
    "copied_source",
    "premature_conclusion",
    "misinterpretation",
    "overconfident",
    "fabricated",
    "misread_task",
    "goal_drift",
    "action_error",
    "max_steps",
)
"""The thirteen labels of the failure taxonomy."""

CALL_SECONDS = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 60, 150, 600)
CHOICE_SECONDS = (0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60)
SHARES = (0.25, 0.5, 0.75, 0.99)
ROUND_SECONDS = (1, 5, 15, 30, 60, 150, 300, 600, 1800)
RUN_SECONDS = (10, 30, 60, 300, 600, 1800, 3600, 7200, 21600)


class Family(msgspec.Struct, frozen=True, kw_only=True):
    """One metric. `labels` has the values of each label, none for a session's name; `buckets` are the upper
    bounds of a histogram, without the last, infinite one."""

    kind: Kind
    help: str
    labels: Mapping[str, tuple[str, ...]] = {}
    buckets: tuple[float, ...] = ()


def tag(event: type[events.Event]) -> str:
    """The event's name in the log."""
    return str(event.__struct_config__.tag)


EVENTS: tuple[type[events.Event], ...] = get_args(events.Record)

POLICIES = {event: f"dra_{tag(event)}_total" for event in EVENTS if tag(event).startswith("policy_")}
"""Record of a policy → its counter."""


def _first_sentence(event: type[events.Event]) -> str:
    return " ".join((event.__doc__ or "").split()).partition(". ")[0].rstrip(".") + "."


def _counter(meaning: str, **labels: tuple[str, ...]) -> Family:
    return Family(kind="counter", help=meaning, labels=labels)


def _gauge(meaning: str, **labels: tuple[str, ...]) -> Family:
    return Family(kind="gauge", help=meaning, labels=labels)


def _histogram(meaning: str, buckets: tuple[float, ...], **labels: tuple[str, ...]) -> Family:
    return Family(kind="histogram", help=meaning, labels=labels, buckets=buckets)


FAMILIES: Mapping[str, Family] = {
    "dra_events_total": _counter("Records of the logs.", type=tuple(map(tag, EVENTS))),
    "dra_runs_active": _gauge("Runs whose log has no end yet."),
    "dra_runs_ended_total": _counter(
        "Ends of runs, by final status. A resumed run ends again.", status=STATUSES
    ),
    "dra_run_seconds": _histogram("Seconds from the start of a run to its end.", RUN_SECONDS),
    "dra_run_status": _gauge(
        "1 for the epistemic status that an active run has now, 0 for the others.",
        session=(),
        status=STATUSES,
    ),
    "dra_max_step": _gauge("The step that an active run has reached.", session=()),
    "dra_last_event_ts": _gauge("Unix time of the newest record of an active run.", session=()),
    "dra_budget_used_ratio": _gauge(
        "Share of a limited budget that an active run has used, until it is resumed.",
        session=(),
        budget=BUDGETS,
    ),
    "dra_tool_calls_total": _counter(
        "Tool calls with a result, ok or failed. Refused and interrupted ones do not count.",
        tool=TOOLS,
        scope=ACTORS,
    ),
    "dra_tool_errors_total": _counter("Tool calls that failed.", tool=TOOLS, scope=ACTORS),
    "dra_model_calls_total": _counter("Calls of a model, failed ones too.", scope=SCOPES),
    "dra_model_errors_total": _counter("Calls of a model that failed for good.", scope=SCOPES),
    "dra_model_retries_total": _counter("Attempts behind the first of calls of a model.", scope=SCOPES),
    "dra_model_latency_seconds": _histogram(
        "Seconds that calls of a model took, attempts and waits included.", CALL_SECONDS, scope=SCOPES
    ),
    "dra_model_tokens_total": _counter(
        "Tokens as the budget counts them: the server's count, or an estimate where it gave none.",
        scope=SCOPES,
        kind=("prompt", "completion"),
    ),
    "dra_model_cached_tokens_total": _counter(
        "Those of the prompt tokens that a server had in its cache.", scope=SCOPES
    ),
    "dra_model_cost_total": _counter(
        "What those tokens cost by the prices in the run's settings, in their currency; 0 without prices.",
        scope=SCOPES,
    ),
    "dra_model_finish_reason_length_total": _counter(
        "Answers of a model that were cut off at its limit.", scope=SCOPES
    ),
    "dra_candidates_total": _counter("Candidate turns that were sampled for steps."),
    "dra_selections_total": _counter("Choices among the candidates of a step.", decider=DECIDERS),
    "dra_selection_seconds": _histogram("Seconds that choosing among candidates took.", CHOICE_SECONDS),
    "dra_selection_agreement_ratio": _histogram(
        "Share of a step's candidates that take the action of the chosen one.", SHARES
    ),
    "dra_selector_calls_total": _counter("Calls of a model to choose among candidates."),
    "dra_evidence_total": _counter("Evidence that was kept.", tier=TIERS),
    "dra_searches_total": _counter(
        "Search engines that were asked or passed over.", engine=ENGINES, outcome=SEARCH_OUTCOMES
    ),
    "dra_search_requests_total": _counter("Requests to search engines, repeated ones too.", engine=ENGINES),
    "dra_egress_total": _counter("Connections to the outside.", verdict=VERDICTS),
    "dra_egress_bytes_total": _counter(
        "Bytes passed on to (up) and from (down) the outside.", direction=("up", "down")
    ),
    "dra_sandboxes_total": _counter(
        "Sandboxes that were started for a lane, or could not be.", backend=BACKENDS
    ),
    "dra_findings_total": _counter(
        "Findings of the audits of all rounds, by label of the failure taxonomy.",
        label=FAILURES,
        severity=SEVERITIES,
    ),
    "dra_verifier_rounds_total": _counter("Rounds of verification that were decided.", result=RESULTS),
    "dra_verifier_claims_total": _counter(
        "Claims that must hold, of all rounds, by what became of them.", verdict=CLAIMS
    ),
    "dra_verifier_scores_total": _counter(
        "Scores of rounds, after the caps and rounded down: 3.5 counts as 3.", score=SCORES
    ),
    "dra_verifier_last_score": _gauge(
        "The newest score of an active run, from 1 to 4, after the caps.", session=()
    ),
    "dra_verifier_duration_seconds": _histogram("Seconds that rounds of verification took.", ROUND_SECONDS),
    "dra_verifier_before_tools_total": _counter(
        "Rounds that were decided before the agent's first tool call."
    ),
    "dra_verifier_gradient_total": _counter("Rounds whose feedback was given to the agent."),
    "dra_verifier_model_calls_total": _counter("Calls of a model by the verifier."),
    "dra_verifier_model_latency_seconds": _histogram(
        "Seconds that the verifier's calls of a model took.", CALL_SECONDS
    ),
    "dra_verifier_model_tokens_total": _counter(
        "Tokens of the verifier's calls: questions, checks and judge.", kind=("prompt", "completion")
    ),
    "dra_verifier_tool_calls_total": _counter("Tool calls of check lanes."),
    "dra_verifier_tool_errors_total": _counter("Tool calls of check lanes that failed."),
    "dra_verifier_instruction_count": _histogram("Instructions of a round's feedback.", (0, 1, 2, 3)),
    "dra_verifier_instruction_chars": _histogram(
        "Characters of all instructions of a round's feedback.", (100, 200, 400, 800, 1600)
    ),
    "dra_verifier_instruction_has_url_total": _counter("Instructions that name a URL."),
    "dra_verifier_instruction_has_path_total": _counter(
        "Instructions that name lines of an evidence, or a file."
    ),
    "dra_verifier_instruction_has_cmd_total": _counter("Instructions that ask for a command."),
    **{name: _counter(_first_sentence(event)) for event, name in POLICIES.items()},
    "dra_policy_choice_matched_total": _counter(
        "Tool calls that were the first after a round's feedback to follow one of its proposed actions."
    ),
}
"""Name → family. A counter's name is that of its sample."""
