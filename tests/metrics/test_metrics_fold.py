"""What each record adds to the metrics, and what nothing can make of them."""

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from vera import events
from vera.config.loading import defaults
from vera.evidence.finding import Finding
from vera.metrics import FAMILIES, Metrics, families

ENVELOPE = events.Blob("0" * 64, 2)


def folded(*records: events.Record, session: str = "s") -> Metrics:
    metrics = Metrics()
    for record in records:
        metrics.apply(record, session)
    return metrics


def samples(metrics: Metrics) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """Every sample of the exposition, by name and labels."""
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(metrics.render().decode())
        for sample in family.samples
    }


def value(metrics: Metrics, name: str, **labels: str) -> float | None:
    return samples(metrics).get((name, tuple(sorted(labels.items()))))


def total(metrics: Metrics, name: str) -> float:
    return sum(each for (found, _), each in samples(metrics).items() if found == name)


def tool(name: str = "read", outcome: str = "ok", lane: str = "main") -> events.Tool:
    return events.Tool(step=1, call="call_0001", tool=name, outcome=outcome, obs="", lane=lane)


def decision(score: int | None, result: str = "SUPPORTED") -> events.Verifier:
    return events.Verifier(
        round=1, answer_seq=1, result=result, reason="", attestation="", envelope=ENVELOPE, score=score,
        seconds=12.0,
    )  # fmt: skip


def ended() -> events.RunEnd:
    return events.RunEnd(status="VERIFIED", reason="", exit_code=0, steps=3, seconds=42.0)


def audit(findings: events.Text, hard: int = 1, soft: int = 2) -> events.Audit:
    return events.Audit(
        round=1, claims=3, hard=hard, soft=soft, findings=findings, claims_version="1", audit_version="1"
    )


def found(*labels: tuple[str, str]) -> str:
    made = [
        Finding(code="c", label=label, severity=severity, message="m")  # type: ignore[arg-type] # any word
        for label, severity in labels
    ]
    return msgspec.json.encode(made).decode()


def action(goal: str, *tools: str, source: str = "") -> events.NextAction:
    return events.NextAction(goal=goal, suggested_tools=tools, success_criteria="it is so.", source=source)


def feedback(*actions: events.NextAction) -> events.VerifierGradient:
    return events.VerifierGradient(
        round=1, step=1, missing=(), wrong=(), next_actions=actions, stop_when="it is enough."
    )


def test_a_refused_call_is_a_policy_event_and_no_tool_call() -> None:
    refused = folded(
        events.Move(id="mv_0001", step=1, tool="fetch", outcome="blocked"),
        events.PolicyDomainShift(step=1, effect="refuse", reason="the same domain again"),
    )
    assert value(refused, "dra_policy_domain_shift_total") == 1
    assert total(refused, "dra_tool_calls_total") == 0


@pytest.mark.parametrize("outcome", ["refused", "interrupted"])
def test_a_call_without_a_result_of_its_own_is_no_tool_call(outcome: str) -> None:
    metrics = folded(tool(outcome=outcome))
    assert total(metrics, "dra_tool_calls_total") == total(metrics, "dra_tool_errors_total") == 0
    assert value(metrics, "dra_events_total", type="tool") == 1


def test_a_tool_call_counts_once() -> None:
    metrics = folded(tool("read"), tool("shell", "failed"))
    assert total(metrics, "dra_tool_calls_total") == 2
    assert value(metrics, "dra_tool_errors_total", tool="shell", scope="agent") == 1
    assert total(metrics, "dra_tool_errors_total") == 1


def test_calls_of_check_lanes_are_the_verifiers() -> None:
    metrics = folded(tool(lane="check-1.1"), tool(outcome="failed", lane="check-1.2"), tool())
    assert value(metrics, "dra_tool_calls_total", tool="read", scope="verifier") == 2
    assert value(metrics, "dra_tool_calls_total", tool="read", scope="agent") == 1
    assert value(metrics, "dra_verifier_tool_calls_total") == 2
    assert value(metrics, "dra_verifier_tool_errors_total") == 1


def test_a_round_before_the_first_tool_call_of_the_agent_is_counted() -> None:
    early = folded(events.Note(step=1, text="n", lane="main"), tool(lane="check-1.1"), decision(300))
    assert value(early, "dra_verifier_before_tools_total") == 1
    assert value(folded(tool(), decision(300)), "dra_verifier_before_tools_total") == 0


@pytest.mark.parametrize(
    ("hundredths", "score"), [(100, "1"), (199, "1"), (200, "2"), (350, "3"), (399, "3"), (400, "4")]
)
def test_a_score_is_rounded_down(hundredths: int, score: str) -> None:
    metrics = folded(decision(hundredths))
    assert value(metrics, "dra_verifier_scores_total", score=score) == 1
    assert total(metrics, "dra_verifier_scores_total") == 1
    assert value(metrics, "dra_verifier_last_score", session="s") == hundredths / 100


def test_the_last_score_is_there_while_the_run_is_active() -> None:
    run = [decision(200), decision(300), decision(None), ended(), events.Resumed(version="1")]
    after = [folded(*run[:count]) for count in range(len(run) + 1)]
    assert [value(each, "dra_verifier_last_score", session="s") for each in after] == [
        None, 2, 3, 3, None, 3,
    ]  # fmt: skip
    assert [value(each, "dra_runs_active") for each in after] == [0, 1, 1, 1, 0, 1]


def test_each_active_run_has_gauges_of_its_own_and_counters_add_up() -> None:
    metrics = folded(decision(200), session="one")
    for record in (decision(400), events.Status(step=2, status="BLOCKED", lane="main")):
        metrics.apply(record, "two")
    assert value(metrics, "dra_verifier_last_score", session="one") == 2
    assert value(metrics, "dra_verifier_last_score", session="two") == 4
    assert value(metrics, "dra_run_status", session="two", status="BLOCKED") == 1
    assert value(metrics, "dra_run_status", session="two", status="IN_PROGRESS") == 0
    assert value(metrics, "dra_max_step", session="two") == 2
    assert total(metrics, "dra_verifier_scores_total") == 2


def test_findings_count_by_label_and_severity() -> None:
    metrics = folded(audit(found(("fabricated", "hard"), ("overconfident", "soft"), ("no such", "soft"))))
    assert value(metrics, "dra_findings_total", label="fabricated", severity="hard") == 1
    assert value(metrics, "dra_findings_total", label="overconfident", severity="soft") == 1
    assert value(metrics, "dra_findings_total", label="other", severity="soft") == 1


def test_stored_findings_are_loaded() -> None:
    asked = []

    def load(session: str, blob: events.Blob) -> bytes:
        asked.append((session, blob))
        return found(("fabricated", "hard")).encode()

    metrics = Metrics(load)
    metrics.apply(audit(ENVELOPE), "s")
    assert value(metrics, "dra_findings_total", label="fabricated", severity="hard") == 1
    assert asked == [("s", ENVELOPE)]


@pytest.mark.parametrize("stored", [None, b"", b"[{}]", b"\xff", b"[" * 100_000])
def test_findings_that_cannot_be_read_count_without_their_label(stored: bytes | None) -> None:
    metrics = Metrics(lambda session, blob: stored)
    metrics.apply(audit(ENVELOPE, hard=1, soft=2), "s")
    assert value(metrics, "dra_findings_total", label="other", severity="hard") == 1
    assert value(metrics, "dra_findings_total", label="other", severity="soft") == 2


def test_instructions_are_measured_without_the_claim_that_they_quote() -> None:
    metrics = folded(
        feedback(
            action("Read [ev_0003:12-14] again instead of “see https://a.example/x.html, run.sh”.", "read"),
            action("Fetch a page for “it”, in place of https://b.example/work/x.html.", "fetch"),
            action("Work out “it” with one command from terms.txt.", "shell"),
        )
    )
    assert value(metrics, "dra_verifier_gradient_total") == 1
    assert value(metrics, "dra_verifier_instruction_count_sum") == 3
    assert value(metrics, "dra_verifier_instruction_count_bucket", le="2.0") == 0
    assert value(metrics, "dra_verifier_instruction_has_url_total") == 1
    assert value(metrics, "dra_verifier_instruction_has_path_total") == 2
    assert value(metrics, "dra_verifier_instruction_has_cmd_total") == 1


def test_the_choice_after_feedback_is_counted_and_whether_it_followed() -> None:
    metrics = folded(
        events.PolicyChoice(step=1, tool="read", matched=True),
        events.PolicyChoice(step=2, tool="read", matched=False),
    )
    assert value(metrics, "dra_policy_choice_total") == 2
    assert value(metrics, "dra_policy_choice_matched_total") == 1


def test_a_search_counts_by_engine_and_outcome_and_its_requests_by_engine() -> None:
    metrics = folded(
        events.Search(engine="brave", kind="web", query="q", outcome="refused", attempts=3),
        events.Search(engine="", kind="web", query="q", outcome="skipped"),
    )
    assert value(metrics, "dra_searches_total", engine="brave", outcome="refused") == 1
    assert value(metrics, "dra_search_requests_total", engine="brave") == 3
    assert value(metrics, "dra_searches_total", engine="none", outcome="skipped") == 1


def test_claims_count_by_what_became_of_them() -> None:
    decided = msgspec.structs.replace(decision(300), claims=5, supported=3, disputed=1)
    metrics = folded(decided)
    assert [
        value(metrics, "dra_verifier_claims_total", verdict=verdict)
        for verdict in ("supported", "disputed", "open")
    ] == [3, 1, 1]


def test_a_box_that_could_not_be_had_counts_as_none() -> None:
    metrics = folded(
        events.Sandbox(backend="docker", isolation=""), events.Sandbox(backend="none", isolation="no docker")
    )
    assert value(metrics, "dra_sandboxes_total", backend="none") == 1
    assert value(metrics, "dra_sandboxes_total", backend="docker") == 1


def begun(**settings: object) -> events.Session:
    return events.Session(format=1, version="1", settings=settings, ts=1000.0)


def test_the_share_of_each_limited_budget_is_there_until_the_run_is_resumed() -> None:
    run = [
        begun(budget={"tokens": 1000, "seconds": 100, "searches": 0, "cost": 1}, run={"max_steps": 10}),
        events.Model(
            step=5, scope="agent", latency_s=1.0, prompt_tokens=400, completion_tokens=50, lane="main"
        ),
        events.LookUpSpent(session="s", agent_prompt=250, searches=3, ts=1025.0),
    ]
    metrics = folded(*run)
    shares = [value(metrics, "dra_budget_used_ratio", session="s", budget=b) for b in families.BUDGETS]
    assert shares == [0.7, 0.25, None, 0.5]
    assert total(folded(*run, events.Resumed(version="1")), "dra_budget_used_ratio") == 0


@pytest.mark.parametrize("limit", ["1", None, True, -1, float("inf"), float("nan"), 10**400, [], {}])
def test_a_limit_that_is_none_gives_no_share(limit: object) -> None:
    metrics = folded(begun(budget={"tokens": limit}, run=limit))
    assert total(metrics, "dra_budget_used_ratio") == 0


def test_a_histogram_has_the_sum_and_the_number_of_what_was_seen() -> None:
    metrics = folded(decision(300), decision(300))
    assert value(metrics, "dra_verifier_duration_seconds_sum") == 24
    assert value(metrics, "dra_verifier_duration_seconds_count") == 2
    assert value(metrics, "dra_verifier_duration_seconds_bucket", le="5.0") == 0
    assert value(metrics, "dra_verifier_duration_seconds_bucket", le="15.0") == 2


def test_latency_and_tokens_of_a_call_count_by_scope() -> None:
    call = events.Model(
        step=1, scope="verifier_judge", latency_s=2.0, prompt_tokens=100, cached_tokens=60,
        completion_tokens=7, finish_reason="length", attempts=3,
    )  # fmt: skip
    metrics = folded(call)
    assert value(metrics, "dra_model_tokens_total", scope="verifier_judge", kind="prompt") == 100
    assert value(metrics, "dra_verifier_model_tokens_total", kind="completion") == 7
    assert value(metrics, "dra_model_cached_tokens_total", scope="verifier_judge") == 60
    assert value(metrics, "dra_model_latency_seconds_sum", scope="verifier_judge") == 2
    assert value(metrics, "dra_verifier_model_latency_seconds_count") == 1
    assert value(metrics, "dra_model_finish_reason_length_total", scope="verifier_judge") == 1
    assert value(metrics, "dra_model_retries_total", scope="verifier_judge") == 2
    assert total(metrics, "dra_model_calls_total") == value(metrics, "dra_verifier_model_calls_total") == 1


def test_cost_is_by_the_prices_in_the_runs_settings_and_by_who_is_asked() -> None:
    prices = {"input_price": 2.0, "cached_price": 0.5, "output_price": 10.0, "verifier_output_price": 30.0}
    priced = begun(budget={**defaults().budget.model_dump(), **prices})
    call = events.Model(
        step=1, scope="agent", latency_s=1, prompt_tokens=1000, cached_tokens=400, completion_tokens=100
    )  # fmt: skip
    metrics = folded(priced, call, msgspec.structs.replace(call, scope="verifier_judge"))
    agent = (600 * 2 + 400 * 0.5 + 100 * 10) / 1e6
    assert value(metrics, "dra_model_cost_total", scope="agent") == pytest.approx(agent)
    judge = (600 * 2 + 400 * 0.5 + 100 * 30) / 1e6
    assert value(metrics, "dra_model_cost_total", scope="verifier_judge") == pytest.approx(judge)
    assert total(folded(begun(), call), "dra_model_cost_total") == 0


hostile = st.text() | st.sampled_from(['"} 1\ndra_x{a="', "\\", "\n", "\r\0\x85\u2028", "\udcff", "other"])


def written(session: str) -> str:
    return session.encode("utf-8", "backslashreplace").decode()


@settings(deadline=None, max_examples=50)
@given(name=hostile, session=hostile, number=st.integers(-(2**63), 2**64 - 1))
def test_no_text_of_a_log_makes_a_series(name: str, session: str, number: int) -> None:
    strange: dict[str, Any] = {"step": number, "lane": name, "ts": float(number)}
    ids: dict[str, Any] = {"id": name, "call": name, "tool": name, "source": name, "summary": name}
    metrics = folded(
        events.Tool(call=name, tool=name, outcome="failed", obs=name, **strange),
        events.Model(scope=name, latency_s=float(number), finish_reason=name, attempts=number, **strange),
        events.Evidence(tier=name, text=ENVELOPE, lines=1, first=1, last=1, **{**strange, **ids}),
        events.Search(engine=name, kind=name, query=name, outcome=name, attempts=number),
        events.Egress(by=name, host=name, port=1, method=name, verdict=name, bytes_up=number),
        events.Status(status=name, **strange),
        audit(found((name.encode("utf-8", "replace").decode(), "hard"))),
        decision(number, result=name),
        feedback(action(name, name, source=name)),
        session=session,
    )
    known = {each for family in FAMILIES.values() for values in family.labels.values() for each in values}
    for (sample, labels), measured in samples(metrics).items():
        values = dict(labels)
        assert values.pop("session", written(session)) == written(session)
        assert {each for label, each in values.items() if label != "le"} <= {*known, "other"}
        assert measured >= 0 or sample == "dra_last_event_ts"


@settings(deadline=None, max_examples=50)
@given(st.lists(hostile, min_size=1, max_size=3, unique=True))
def test_the_name_of_a_session_is_read_back_as_it_was(sessions: list[str]) -> None:
    metrics = Metrics()
    for session in sessions:
        metrics.apply(decision(300), session)
    read = {dict(labels)["session"] for name, labels in samples(metrics) if name == "dra_max_step"}
    assert read == set(map(written, sessions))
