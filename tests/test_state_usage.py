"""RunState.spent: what a run has spent, by its log."""

from typing import Any

from vera import events
from vera.state import RunState
from vera.usage import Tokens, tokens_of


def model(ts: float, scope: str = "agent", lane: str = "main", **given: Any) -> events.Model:
    return events.Model(ts=ts, lane=lane, step=1, scope=scope, latency_s=0, **given)


def said(ts: float, content: str, lane: str = "main", **given: Any) -> events.ModelIo:
    return events.ModelIo(
        ts=ts, lane=lane, step=1, scope="agent", at_seq=0, request_sha256="", request_bytes=0, parameters={},
        content=content, **given,
    )  # fmt: skip


def session(ts: float) -> events.Session:
    return events.Session(ts=ts, format=1, version="1", settings={})


def test_tokens_are_kept_apart_for_the_agent_and_the_verifier() -> None:
    spent = RunState(
        [
            model(1, prompt_tokens=100, cached_tokens=60, completion_tokens=10),
            model(2, "verifier_check", "check-1.1", prompt_tokens=7, completion_tokens=3),
            model(3, "verifier_judge", "verify-1", prompt_tokens=1, completion_tokens=1),
        ]
    ).spent
    assert spent.agent == Tokens(prompt=100, cached=60, completion=10)
    assert spent.verifier == Tokens(prompt=8, completion=4)
    assert (spent.tokens, spent.prompt_tokens, spent.completion_tokens) == (122, 108, 14)
    assert (spent.model_calls, spent.unknown_calls) == (3, 0)


def test_a_call_that_the_server_did_not_count_is_estimated() -> None:
    spent = RunState([model(1, input_bytes=350), said(2, "x" * 30, reasoning="y" * 5)]).spent
    assert spent.agent == Tokens(prompt=100, completion=10)
    assert spent.unknown_calls == 1


def test_an_answer_is_estimated_once_and_in_its_own_lane_only() -> None:
    log = [model(1, prompt_tokens=5), said(2, "x" * 35, lane="check-1.1")]
    assert RunState(log).spent.completion_tokens == 0
    counted = [model(1, prompt_tokens=5), model(2, prompt_tokens=5, completion_tokens=2), said(3, "x" * 35)]
    assert RunState(counted).spent.completion_tokens == 2


def test_a_failed_call_is_a_call_without_tokens() -> None:
    spent = RunState([model(1, input_bytes=3500, error="no")]).spent
    assert (spent.model_calls, spent.tokens, spent.unknown_calls) == (1, 0, 0)


def test_the_built_in_model_spends_no_tokens_but_a_verifiers_model_beside_it_does() -> None:
    server = events.ModelServer(kind="builtin", base_url="", model="extractive", protocol="text")
    spent = RunState([server, model(1, input_bytes=3500), model(2, "verifier_judge", prompt_tokens=9)]).spent
    assert spent.tokens == 9


def test_tokens_of_a_text_are_rounded_up() -> None:
    assert [tokens_of(size) for size in (0, 1, 7, 8, 35)] == [0, 1, 2, 3, 10]


def test_the_time_between_an_end_and_a_resume_is_not_counted() -> None:
    log: list[events.Event] = [
        session(100.0),
        model(110.0),
        events.Resumed(ts=500.0, version="1"),
        model(503.5),
    ]
    assert RunState(log[:2]).spent.seconds == 10
    assert RunState(log).spent.seconds == 13.5


def test_the_time_after_a_crash_is_not_counted_either() -> None:
    """What was torn is said before the run goes on: that record is of the new process already."""
    log = [
        session(100.0),
        model(110.0),
        events.Recovered(ts=500.0, torn_bytes=1, moved_to="x"),
        events.Resumed(ts=500.0, version="1"),
        model(503.0),
    ]
    assert RunState(log).spent.seconds == 13


def test_a_clock_that_goes_back_takes_nothing_off() -> None:
    assert RunState([session(100.0), model(90.0)]).spent.seconds == 0
    assert RunState([session(100.0), model(90.0), events.Resumed(ts=95.0, version="1")]).spent.seconds == 0


def test_searches_are_requests_to_all_engines() -> None:
    search = [
        events.Search(ts=1, engine=engine, kind="web", query="q", outcome="ok", attempts=attempts)
        for engine, attempts in (("brave", 2), ("wikipedia", 1), ("arxiv", 0))
    ]
    assert RunState(search).spent.searches == 3
